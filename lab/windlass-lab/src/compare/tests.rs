//! Tests of comparisons with known results.

use super::harm::{Bar, Series, cells};
use super::ranking::{Extent, Outcome, rank};
use super::*;
use crate::run::{RunError, Runner};
use std::sync::Mutex;

/// Two flows over a link of 4 Mbit/s with an RTT of 40 ms. The queue holds five bandwidth-delay products, 100 kB or
/// 200 ms.
const DEEP: &str = r#"
duration = "20s"
[topology]
kind = "dumbbell"
pairs = 2
access = { rate = "100Mbps", delay = "1ms" }
bottleneck = { rate = "4Mbps", delay = "18ms", queue = "5bdp" }
[[flow]]
name = "f"
from = "s*"
to = "d*"
algorithm = "reno"
jitter = "500ms"
"#;

/// One transfer over a lossy link.
const LOSSY: &str = r#"
duration = "30s"
[[link]]
between = ["a", "b"]
rate = "2Mbps"
delay = "20ms"
loss = { model = "drop", probability = "2%" }
[[flow]]
name = "transfer"
from = "a"
to = "b"
algorithm = "reno"
traffic = { kind = "bulk", bytes = "200kB" }
"#;

fn question(text: &str, algorithms: &[&str], seeds: u64) -> Question {
    let scenario = Scenario::from_str(text, "case.toml").unwrap();
    let flows = Flows::of(&scenario, &[]).unwrap();
    let candidates = algorithms.iter().map(|a| Candidate::parse(a).unwrap()).collect();
    let (baseline, measure, world) = (None, Measure::Goodput, World::Sim);
    Question { scenario, candidates, flows, seeds, baseline, measure, harm: true, world }
}

/// Bounds of long runs without counted events.
fn unbounded() -> Extent {
    Extent { longest_s: 1e6, events: vec![None; 4] }
}

fn runs(question: &Question) -> Vec<RunRecord> {
    let records = Mutex::new(Vec::new());
    Runner::new(0)
        .execute(&question.tasks(), |task, ran, _| {
            records.lock().unwrap().push(task.record(&ran));
            Ok::<(), RunError>(())
        })
        .unwrap();
    records.into_inner().unwrap()
}

fn ranking_by(findings: &Findings, measure: Measure) -> &Ranking {
    findings.rankings.iter().find(|r| r.measure == measure).unwrap()
}

fn cell(findings: &Findings, measure: Measure, by: usize, to: usize) -> &super::harm::Cell {
    let harm = findings.harm.iter().find(|h| h.measure == measure).unwrap();
    harm.cells.iter().find(|c| (c.by, c.to) == (by, to)).unwrap()
}

/// Reno fills any queue, so that competing flows wait. Vegas keeps a few packets queued.
#[test]
fn reno_harms_the_rtt_of_vegas_over_a_deep_queue_and_not_the_reverse() {
    let question = question(DEEP, &["reno", "vegas"], 4);
    let findings = question.answer(&runs(&question));
    let harm = |by, to| cell(&findings, Measure::RoundTrip, by, to);
    assert_eq!((harm(0, 1).bar, harm(1, 0).bar), (Bar::More, Bar::Less));
    // Alone, Vegas waits for a few packets of 3 ms. In competition with Reno it waits for most of a queue of 200
    // ms.
    assert!(harm(0, 1).harm.unwrap() > 0.5, "{:?}", harm(0, 1));
    assert!(harm(1, 1).harm.unwrap() < 0.3, "{:?}", harm(1, 1));
    let goodput = |by, to| cell(&findings, Measure::Goodput, by, to);
    assert_eq!(goodput(0, 1).bar, Bar::More);
    assert!(goodput(0, 1).harm.unwrap() > 0.6, "{:?}", goodput(0, 1));
    // Two flows with the same algorithm share the link, which a single flow would have alone.
    assert!((goodput(0, 0).harm.unwrap() - 0.5).abs() < 0.1, "{:?}", goodput(0, 0));
    assert_eq!(goodput(0, 0).bar, Bar::Own);
    let delay = ranking_by(&findings, Measure::QueueingDelay);
    assert_eq!((delay.entries[0].algorithm, delay.entries[0].rank), (1, Some(1)));
    let reno = delay.entries[1].versus.as_ref().unwrap();
    assert_eq!((reno.outcome, reno.algorithm), (Outcome::Worse, 1));
    assert!(reno.ci.unwrap()[0] > 0.0 && !findings.seedless);
}

/// Common random numbers: an algorithm with another spelling has the same losses and start times.
#[test]
fn the_same_algorithm_in_two_spellings_has_a_difference_of_exactly_zero() {
    for text in [DEEP, LOSSY] {
        let question = question(text, &["newreno", "newreno:initial_ssthresh=1TiB"], 3);
        let [a, b] = [0, 1].map(|i: usize| question.candidates[i].controller);
        assert_eq!(a, b, "the parameter's default");
        let findings = question.answer(&runs(&question));
        assert!(findings.rankings.len() >= 4);
        for ranking in &findings.rankings {
            let versus = ranking.entries[1].versus.as_ref().unwrap();
            assert_eq!((versus.outcome, versus.difference), (Outcome::Identical, 0.0));
            assert_eq!(versus.ci, Some([0.0, 0.0]));
            assert!(ranking.entries.iter().all(|e| e.rank == Some(1)));
        }
        for harm in &findings.harm {
            assert!(harm.cells.iter().all(|c| c.harm == harm.cells[0].harm));
            assert_eq!(harm.cells[1].excess, Some(0.0));
            assert_eq!(harm.cells[1].bar, Bar::Alike);
        }
    }
}

/// Ranks and intervals of made-up values. Algorithms 0 and 2 differ by noise, algorithm 1 by its level.
#[test]
fn a_rank_counts_the_significantly_better_algorithms() {
    let noise = [0.3, -0.2, 0.1, -0.4, 0.2, 0.0, -0.1, 0.1];
    let values = |level: f64, sign: f64| -> Vec<Option<f64>> {
        noise.iter().map(|n| Some(level + sign * n)).collect()
    };
    let all = [values(10.0, 1.0), values(5.0, 1.0), values(10.02, -1.0)];
    let ranking = rank(&all, Measure::Goodput, &unbounded(), None);
    let order: Vec<(usize, Option<usize>)> =
        ranking.entries.iter().map(|e| (e.algorithm, e.rank)).collect();
    assert_eq!(order, [(2, Some(1)), (0, Some(1)), (1, Some(3))]);
    assert_eq!(ranking.comparisons, 3);
    let versus: Vec<_> = ranking.entries.iter().filter_map(|e| e.versus.as_ref()).collect();
    assert_eq!([versus[0].outcome, versus[1].outcome], [Outcome::Tie, Outcome::Worse]);
    for v in versus {
        let [low, high] = v.ci.unwrap();
        assert_eq!(low <= 0.0 && 0.0 <= high, v.outcome == Outcome::Tie);
    }
    // Less delay is better. A baseline reduces the number of comparisons and removes the ranks.
    let ranking = rank(&all, Measure::QueueingDelay, &unbounded(), Some(0));
    assert_eq!((ranking.comparisons, ranking.entries[0].algorithm), (2, 1));
    assert_eq!(ranking.entries[0].versus.as_ref().unwrap().outcome, Outcome::Better);
    assert!(ranking.entries.iter().all(|e| e.rank.is_none()));
}

#[test]
fn unfinished_runs_are_counted_and_not_compared() {
    let done = vec![Some(3.0), Some(4.0), Some(5.0)];
    let hung = vec![Some(1.0), Some(f64::INFINITY), None];
    let ranking = rank(&[hung, done], Measure::Completion, &unbounded(), None);
    let [first, last] = &ranking.entries[..] else { panic!("two entries") };
    assert_eq!((first.algorithm, first.missing, first.rank), (1, 0, Some(1)));
    assert_eq!((last.algorithm, last.missing, last.rank, last.mean), (0, 2, None, None));
    assert!(last.versus.is_none() && ranking.reference == Some(1));
}

#[test]
fn an_algorithm_with_more_infinite_latencies_is_ranked_lower() {
    let never = Some(f64::INFINITY);
    let all =
        [vec![never, never, Some(1.0)], vec![Some(90.0); 3], vec![Some(50.0), never, Some(50.0)]];
    let ranking = rank(&all, Measure::Latency, &unbounded(), None);
    let order: Vec<usize> = ranking.entries.iter().map(|e| e.algorithm).collect();
    assert_eq!(order, [1, 2, 0]);
}

#[test]
fn intervals_of_a_ranking_stay_within_the_range_of_the_measure() {
    let fair = vec![Some(0.5), Some(1.0), Some(1.0), Some(1.0)];
    let [low, high] =
        rank(&[fair], Measure::Jain, &unbounded(), None).entries[0].ci95.expect("an interval");
    assert!(low > 0.0 && high < 1.0, "{low} {high}");
    let quick = vec![Some(1.0), Some(1.0), Some(1.0), Some(900.0)];
    let [low, high] =
        rank(&[quick], Measure::Latency, &unbounded(), None).entries[0].ci95.expect("an interval");
    assert!(low > 0.0 && high > 900.0, "{low} {high}");
}

#[test]
fn one_seed_has_an_unknown_outcome() {
    let ranking = rank(&[vec![Some(1.0)], vec![Some(2.0)]], Measure::Goodput, &unbounded(), None);
    let versus = ranking.entries[1].versus.as_ref().unwrap();
    assert_eq!((versus.outcome, versus.difference), (Outcome::Unknown, -1.0));
    assert_eq!((versus.ci, versus.p_t, versus.p_wilcoxon), (None, None, None));
}

/// Ware and others: (x − y) / x if more is better, (y − x) / y if less is better.
#[test]
fn harm_has_the_definition_of_ware_and_others() {
    // Two algorithms; only the first harms the second.
    let two = |alone: &[f64], beside: &[f64], more: bool| {
        let series = |(by, to, y)| Series::new(by, to, alone, y, more);
        let all = [(0, 0, alone), (0, 1, beside), (1, 0, alone), (1, 1, alone)];
        cells(&all.map(series), 2)
    };
    let goodput = two(&[8.0, 10.0, 9.0], &[6.0, 5.0, 9.0], true);
    assert_eq!((goodput[0].harm, goodput[0].bar), (Some(0.0), Bar::Own));
    assert_eq!(goodput[1].harm, Some((0.25 + 0.5 + 0.0) / 3.0));
    assert_eq!((goodput[1].alone, goodput[1].beside), (Some(9.0), Some(20.0 / 3.0)));
    assert_eq!((goodput[1].excess, goodput[1].bar), (goodput[1].harm, Bar::Alike));
    assert_eq!((goodput[2].excess, goodput[2].p), (Some(0.0), Some(1.0)));
    let delay = two(&[10.0, 10.0], &[40.0, 20.0], false);
    assert_eq!(delay[1].harm, Some((0.75 + 0.5) / 2.0));
    // A performance of zero has no defined harm.
    let nothing = two(&[0.0, 1.0], &[0.0, 1.0], true);
    assert_eq!((nothing[1].harm, nothing[1].bar), (None, Bar::Unknown));
}

#[test]
fn every_pair_of_algorithms_runs_in_both_assignments() {
    let question = question(DEEP, &["reno", "cubic", "vegas"], 1);
    let ids: Vec<String> = question.tasks().into_iter().map(|t| t.point).collect();
    // k with one algorithm, k(k − 1) mixtures, 2k halves.
    assert_eq!(ids.len(), 3 + 6 + 6);
    for id in ["all=vegas", "odd=reno,even=cubic", "odd=cubic,even=reno", "odd=none,even=reno"] {
        assert!(ids.iter().any(|i| i == id), "{id} is not in {ids:?}");
    }
    let mix = question.tasks().into_iter().find(|t| t.point == "odd=reno,even=cubic").unwrap();
    let cast: Vec<String> =
        mix.scenario.flows.iter().map(|f| format!("{} {}", f.name, f.algorithm())).collect();
    assert_eq!(cast, ["f-1 reno", "f-2 cubic"]);
}

/// The length of a queue in bandwidth-delay products does not change if the flows that determine it are absent.
#[test]
fn absent_flows_do_not_change_the_queue_limit() {
    let text = DEEP.replace("to = \"d*\"", "to = \"d*\"\ncount = 2");
    let long = format!(
        "{text}\n[[link]]\nname = 'far'\nbetween = ['far', 's1']\nrate = '100Mbps'\n\
         delay = '100ms'\n[[flow]]\nname = 'long'\nfrom = 'far'\nto = 'd1'\nalgorithm = 'reno'\n"
    );
    let question = question(&long, &["reno", "cubic"], 1);
    let limit = |point: &str| {
        let task = question.tasks().into_iter().find(|t| t.point == point).unwrap();
        let link = task.scenario.links.iter().position(|l| l.rate_bps == 4_000_000).unwrap();
        let config = crate::compile::compile(&task.scenario, 1).unwrap();
        (task.scenario.flows.len(), format!("{:?}", config.links[link].queue))
    };
    let (flows, whole) = limit("all=reno");
    let (left, alone) = limit("odd=none,even=reno");
    assert_eq!((flows, left), (3, 1));
    assert_eq!(whole, alone);
}

#[test]
fn a_single_flow_is_copied_for_mixtures_only() {
    let question = question(LOSSY, &["reno", "cubic"], 1);
    for task in question.tasks() {
        let names: Vec<&str> = task.scenario.flows.iter().map(|f| f.name.as_str()).collect();
        let mixed = task.point.starts_with("odd=");
        let expected: &[&str] = if mixed { &["transfer", "transfer-twin"] } else { &["transfer"] };
        assert_eq!(names, expected, "{}", task.point);
    }
    assert_eq!(question.tasks().len(), 2 + 4);
}

#[test]
fn unknown_duplicate_and_datagram_flows_are_refused() {
    let udp = format!(
        "{LOSSY}[[flow]]\nname = \"voice\"\nfrom = \"a\"\nto = \"b\"\n\
         traffic = {{ kind = \"cbr\", rate = \"64kbps\", packet = \"160B\", transport = \"udp\" }}\n"
    );
    let scenario = Scenario::from_str(&udp, "case.toml").unwrap();
    let of = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
        Flows::of(&scenario, &names)
    };
    assert_eq!(of(&[]).unwrap().names(&scenario), ["transfer"]);
    for (names, expected) in [
        (&["voice"][..], "flow `voice` sends datagrams"),
        (&["transfr"], "no flow `transfr`; did you mean `transfer`?"),
        (&["transfer", "transfer"], "named twice"),
    ] {
        let message = of(names).unwrap_err().to_string();
        assert!(message.contains(expected), "{message} does not contain {expected}");
    }
}

/// A flow's jitter is drawn for the flow itself, is at most its bound, and changes with the seed.
#[test]
fn jitter_belongs_to_the_flow_and_the_seed() {
    let question = question(DEEP, &["reno", "cubic"], 1);
    let starts = |point: &str, seed: u64| -> Vec<(String, u64)> {
        let task = question.tasks().into_iter().find(|t| t.point == point).unwrap();
        let config = crate::compile::compile(&task.scenario, seed).unwrap();
        config.flows.iter().map(|f| (f.name.clone(), f.start.0)).collect()
    };
    let all = starts("all=reno", 1);
    assert_eq!(all, starts("odd=cubic,even=reno", 1));
    assert_eq!(all[1..], starts("odd=none,even=cubic", 1));
    assert_ne!(all, starts("all=reno", 2));
    assert_ne!(all[0].1, all[1].1);
    assert!((1..50).all(|seed| starts("all=reno", seed).iter().all(|s| s.1 <= 500_000_000)));
}

#[test]
fn report_and_tables_have_their_provenance() {
    let question = question(LOSSY, &["reno", "cubic"], 3);
    let findings = question.answer(&runs(&question));
    let page = crate::report::html::render(&report(&findings, "windlass compare x")).unwrap();
    for part in [&findings.scenario_hash, &findings.version, "1 2 3", "windlass compare x"] {
        assert!(page.contains(part), "the report does not contain {part}");
    }
    let tables = files::tables(&findings);
    assert_eq!(tables.iter().map(|t| t.name).collect::<Vec<_>>(), ["ranking", "harm"]);
    // Five measures of one finite flow (no Jain's index). Three harm measures have four pairs each.
    assert_eq!((tables[0].rows(), tables[1].rows()), (5 * 2, 3 * 4));
    for table in &tables {
        assert!(table.columns.iter().all(|c| c.values.len() == table.rows()), "{}", table.name);
    }
    let printed = text(&findings, 120);
    for part in ["completion (s)", "Ranking by goodput", "to cubic", "3 seeds, 1 to 3"] {
        assert!(printed.contains(part), "{printed} does not contain {part}");
    }
    assert!(printed.lines().all(|l| l.chars().count() <= 120), "{printed}");
}

#[test]
fn every_column_is_explained_in_the_documentation() {
    let page = include_str!("../../../../docs/src/guides/compare.md");
    let question = question(LOSSY, &["reno", "cubic"], 2);
    for table in files::tables(&question.answer(&runs(&question))) {
        for column in table.columns {
            let row = format!("| `{}` | {} |", column.name, column.meaning);
            let shared = ["scenario", "scenario_hash", "version", "world", "first_seed", "seeds"];
            let shared = shared.contains(&&*column.name);
            assert!(shared || page.contains(&row), "{}: {row}", table.name);
        }
    }
    for (name, _) in Measure::ALL {
        assert!(page.contains(&format!("| `{name}` |")), "{name}");
    }
}
