//! Tests of verdicts.

use super::*;
use crate::claims::fixtures::run;
use crate::claims::{LeastEffect, parse};
use crate::experiment::Plan;
use crate::run::RunRecord;

mod notes;

fn records() -> Vec<RunRecord> {
    let mut all = Vec::new();
    for seed in 1..=20 {
        let s = seed as f64;
        all.push(run("e", "slow", seed, 20.0 + s));
        all.push(run("e", "fast", seed, 10.0 + s));
        // Alternates about `fast`, without a significant effect.
        all.push(run("e", "same", seed, 10.0 + s + if seed % 2 == 0 { 1.0 } else { -1.0 }));
        all.push(run("e", "hardly", seed, 10.1 + s));
        all.push(run("e", "stuck", seed, if seed < 5 { s } else { f64::INFINITY }));
        all.push(equal("fixed", seed));
        all.push(equal("copy", seed));
    }
    for seed in 1..=5 {
        all.push(run("e", "few", seed, 2.0 + seed as f64 / 10.0));
        all.push(equal("few-fixed", seed));
    }
    all
}

/// A run that does not depend on the seed.
fn equal(point: &str, seed: u64) -> RunRecord {
    RunRecord { seed, ..run("e", point, 1, 7.0) }
}

const PLAN: &str = "[[experiment]]\nid='e'\ntitle='t'\nscenario='s.toml'\nseeds=20\nquick_seeds=0\n\
    [[experiment.axis]]\nname='p'\n[[experiment.axis.value]]\nlabel='later'\n\
    [[experiment.axis.value]]\nlabel='kernel'\non='linux'\n";

fn judge_all(text: &str, records: &[RunRecord]) -> Vec<Judgement> {
    let claims = parse(text, "claims.toml").unwrap_or_else(|e| panic!("{e}"));
    let models = BTreeMap::from([("eq".to_owned(), 45.662)]);
    let traces = BTreeMap::from([
        ("dup".to_owned(), Value::Exact { value: 3.0, n: 1 }),
        ("once".to_owned(), Value::Runs([(1, 3.0)].into())),
    ]);
    let plan = Plan::parse(PLAN, "experiments.toml").unwrap_or_else(|e| panic!("{e}"));
    let least = LeastEffect { relative: 0.02, ..LeastEffect::default() };
    let planned = Some((&plan, "windlass reproduce x"));
    judge(&claims, &Evidence { records, models: &models, traces: &traces, least: &least, planned })
}

fn judged(body: &str) -> Judgement {
    let text = format!("[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n{body}");
    judge_all(&text, &records()).remove(0)
}

fn metric(point: &str) -> String {
    format!("{{ metric = {{ path = 'flow.f.completion_s', at = 'e/{point}' }} }}")
}

/// A claim on the size of a point's median.
fn size(point: &str, paper: f64, absolute: f64) -> Judgement {
    judged(&format!(
        "paper = {paper:?}\nmeasure = {}\ntolerance = {{ absolute = {absolute:?}, reason = 'r' }}",
        metric(point)
    ))
}

/// A claim that one point's median is more, or less, than another's.
fn order(point: &str, word: &str, other: &str) -> Judgement {
    judged(&format!("measure = {}\ndirection = {{ {word} = {} }}", metric(point), metric(other)))
}

#[test]
fn an_interval_inside_the_band_is_reproduced_outside_contradicted_across_an_edge_undecided() {
    let j = size("slow", 30.0, 9.0);
    assert_eq!((j.verdict, j.measured, j.n), (Verdict::Reproduced, Some(30.5), 20));
    assert_eq!(j.ci95, Some([26.0, 35.0]));
    assert_eq!(
        j.note,
        "Reproduced. Measured 30.5 s (90 % CI 26.0 to 35.0; 20 runs); the claim is 30 s ± 9."
    );
    assert_eq!(size("slow", 50.0, 9.0).verdict, Verdict::Contradicted);
    // The median is inside the band, but a wider interval must not make the verdict `reproduced`.
    let j = size("slow", 30.0, 2.0);
    assert_eq!(j.verdict, Verdict::Undecided);
    assert!(j.note.contains("runs of each point would decide it"), "{}", j.note);
}

#[test]
fn fewer_than_six_runs_decide_nothing_that_is_random() {
    let j = size("few", 2.3, 1.0);
    assert_eq!((j.verdict, j.n), (Verdict::Undecided, 5));
    assert!(
        j.note.ends_with("At least 6 runs of each point are needed to decide it."),
        "{}",
        j.note
    );
    assert_eq!(size("few-fixed", 7.0, 1.0).verdict, Verdict::Undecided);
    let j = judged(
        "paper = 3.0\nmeasure = { trace = 'once' }\ntolerance = { absolute = 1.0, reason = 'r' }",
    );
    assert_eq!((j.verdict, j.n), (Verdict::Undecided, 1));
}

#[test]
fn the_note_describes_a_difference_with_missing_values_in_words() {
    let j = order("stuck", "greater_than", "fast");
    assert!(j.note.contains("the measured difference to 20.5 s is infinite"), "{}", j.note);
}

#[test]
fn runs_with_equal_records_give_one_exact_value() {
    let j = size("fixed", 7.0, 0.0);
    assert_eq!((j.verdict, j.ci95, j.n), (Verdict::Reproduced, None, 20));
    assert_eq!(size("fixed", 7.1, 0.01).verdict, Verdict::Contradicted);
}

#[test]
fn a_size_needs_its_direction_and_a_direction_alone_is_same_direction() {
    let body = |paper: f64, word: &str| {
        judged(&format!(
            "paper = {paper:?}\nmeasure = {}\ntolerance = {{ relative = 0.3, reason = 'r' }}\n\
             direction = {{ {word} = {} }}",
            metric("slow"),
            metric("fast")
        ))
    };
    assert_eq!(body(30.0, "greater_than").verdict, Verdict::Reproduced);
    assert_eq!(body(30.0, "less_than").verdict, Verdict::Contradicted);
    assert_eq!(body(99.0, "greater_than").verdict, Verdict::SameDirection);
    assert_eq!(body(99.0, "less_than").verdict, Verdict::Contradicted);
}

#[test]
fn the_note_of_an_undecided_claim_names_the_question_that_is_open() {
    // `slow` is 30.5 s with an interval of some seconds, and `same` is not different from `fast`.
    let body = |point: &str, paper: f64, absolute: f64| {
        judged(&format!(
            "paper = {paper:?}\nmeasure = {}\ntolerance = {{ absolute = {absolute:?}, reason = 'r' }}\n\
             direction = {{ greater_than = {} }}",
            metric(point),
            metric("fast")
        ))
    };
    let open = |j: Judgement| {
        assert_eq!(j.verdict, Verdict::Undecided);
        ["The direction holds; the size is open.", "The size agrees; the direction is open."]
            .map(|part| j.note.contains(part))
    };
    assert_eq!(open(body("slow", 30.0, 1.0)), [true, false]);
    assert_eq!(open(body("same", 20.0, 9.0)), [false, true]);
    assert_eq!(open(body("same", 20.0, 1.0)), [false, false]);
    assert_eq!(open(order("same", "greater_than", "fast")), [false, false]);
}

#[test]
fn an_insignificant_effect_is_undecided_and_a_significant_small_effect_is_contradicted() {
    assert_eq!(order("same", "greater_than", "fast").verdict, Verdict::Undecided);
    assert_eq!(order("slow", "greater_than", "fast").verdict, Verdict::Reproduced);
    // 0.1 s in each pair is significant. The smallest effect that matters is 2 % of 20.5 s, which is 0.41 s.
    let j = order("hardly", "greater_than", "fast");
    assert_eq!(j.verdict, Verdict::Contradicted);
    assert_eq!(
        j.note,
        "Contradicted. The claim holds at 20.91 s or more; the measured difference to 20.5 s is 0.1 s."
    );
}

#[test]
fn the_smallest_effect_that_matters_is_at_most_half_of_the_published_effect() {
    let body = |more: &str| {
        judged(&format!(
            "measure = {}\ndirection = {{ greater_than = {} }}\n{more}",
            metric("hardly"),
            metric("fast")
        ))
    };
    let own = "least_effect = { absolute = 0.05, reason = 'r' }";
    assert_eq!(body(own).verdict, Verdict::Reproduced);
    assert_eq!(body("paper = 20.6").verdict, Verdict::SameDirection);
}

#[test]
fn a_trend_is_the_share_of_rising_pairs_minus_the_share_of_falling_pairs() {
    let of = |points: [&str; 3]| {
        let all = points.map(metric).join(", ");
        judged(&format!(
            "measure = {{ trend = [{all}] }}\ndirection = {{ greater_than = {{ constant = 0.0 }} }}"
        ))
    };
    assert_eq!(of(["fixed", "fast", "slow"]).measured, Some(1.0));
    assert_eq!(of(["fast", "slow", "fast"]).measured, Some(0.0));
    assert_eq!(of(["slow", "fast", "fixed"]).verdict, Verdict::Contradicted);
}

#[test]
fn pairs_by_seed_give_the_exact_difference() {
    for (operation, expected) in [("difference", 10.0), ("ratio", 30.5 / 20.5)] {
        let j = judged(&format!(
            "paper = {expected}\nmeasure = {{ {operation} = [{}, {}] }}\n\
             tolerance = {{ relative = 0.1, reason = 'r' }}",
            metric("slow"),
            metric("fast")
        ));
        assert_eq!((j.verdict, j.n), (Verdict::Reproduced, 20), "{operation}: {}", j.note);
    }
}

#[test]
fn a_wrong_calculation_is_contradicted_with_the_recomputed_value_and_no_runs() {
    let slip = |paper: f64| {
        judged(&format!(
            "paper = {paper}\nmeasure = {{ model = 'eq' }}\n\
             tolerance = {{ absolute = 0.005, reason = 'half a unit of the last digit' }}"
        ))
    };
    let right = slip(45.66);
    assert_eq!((right.verdict, right.n, right.kind), (Verdict::Reproduced, 0, Basis::Arithmetic));
    let wrong = slip(46.66);
    assert_eq!((wrong.verdict, wrong.ci95), (Verdict::Contradicted, None));
    assert_eq!(wrong.note, "Contradicted. Recomputed 45.662 s; the claim is 46.66 s ± 0.005.");
}

#[test]
fn the_measured_value_is_compared_with_the_corrected_value_and_the_note_gives_the_reason() {
    let j = judged(
        "paper = 13.0\ncompare_with = { value = 3.0, reason = 'less 10' }\n\
         measure = { trace = 'dup' }\ntolerance = { absolute = 0.0, reason = 'r' }\nnote = 'N.'",
    );
    assert_eq!((j.verdict, j.paper, j.n), (Verdict::Reproduced, Some(13.0), 1));
    assert_eq!(
        j.note,
        "Reproduced. Measured 3 s; the claim is 3 s ± 0. Compared with 3 (printed 13: less 10). N."
    );
}

#[test]
fn unfinished_runs_count_as_later_than_all_finished_runs() {
    let j = order("stuck", "greater_than", "fast");
    assert_eq!((j.verdict, j.measured), (Verdict::Reproduced, None));
    assert!(serde_json::to_string(&j).unwrap().contains("\"measured\":null"));
    assert_eq!(order("stuck", "less_than", "fast").verdict, Verdict::Contradicted);
    assert_eq!(size("stuck", 2.0, 2.0).verdict, Verdict::Contradicted);
}

/// A missing value is not left out. It counts as the worst value.
#[test]
fn a_run_without_a_value_counts_as_the_worst() {
    let mut all = Vec::new();
    for seed in 1..=12 {
        let mut one = run("e", "p", seed, 10.0);
        one.flows[0].srtt_ms = (seed > 10).then_some(1.0);
        all.push(one);
    }
    let text = "[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='ms'\n\
        measure = { metric = { path = 'flow.f.srtt_ms', at = 'e/p' } }\n\
        direction = { less_than = { constant = 2.0 } }";
    assert_eq!(judge_all(text, &all)[0].verdict, Verdict::Contradicted);
}

#[test]
fn two_sides_with_0_in_every_run_are_a_tie() {
    let drops =
        |point: &str| format!("{{ metric = {{ path = 'flow.f.rto_count', at = 'e/{point}' }} }}");
    for body in [
        format!("measure = {}\ndirection = {{ less_than = {} }}", drops("slow"), drops("fast")),
        format!(
            "measure = {{ percent_change = [{}, {}] }}\ndirection = {{ less_than = {{ constant = 0.0 }} }}",
            drops("slow"),
            drops("fast")
        ),
    ] {
        let j = judged(&body);
        assert_eq!(
            (j.verdict, j.note.as_str()),
            (Verdict::Undecided, "A tie: both are 0 in each of 20 runs.")
        );
    }
    // Compared with a number, 0 in every run contradicts the claim.
    let body = format!(
        "measure = {}\ndirection = {{ greater_than = {{ constant = 0.0 }} }}",
        drops("slow")
    );
    assert_eq!(judged(&body).verdict, Verdict::Contradicted);
}

#[test]
fn two_sides_without_a_value_in_any_run_are_a_tie() {
    let mut all = records();
    for seed in 1..=12 {
        all.push(run("e", "never", seed, f64::INFINITY));
        all.push(run("e", "nor", seed, f64::INFINITY));
    }
    let text = format!(
        "[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n\
         measure = {}\ndirection = {{ less_than = {} }}",
        metric("never"),
        metric("nor")
    );
    all.iter_mut().filter(|r| r.point == "nor").for_each(|r| r.packet_hops += 1);
    let j = judge_all(&text, &all).remove(0);
    let tie = "A tie: neither side has a value in any of 12 runs.";
    assert_eq!((j.verdict, j.note.as_str()), (Verdict::Undecided, tie));
}

#[test]
fn value_sides_and_number_of_runs_are_of_the_runs_that_both_sides_have() {
    let mut all = records();
    all.retain(|r| r.point != "fast" || r.seed <= 8);
    let text = format!(
        "[[claim]]\nid='c'\nsource='s'\nquantity='q'\nunit='s'\n\
         measure = {}\ndirection = {{ greater_than = {} }}",
        metric("slow"),
        metric("fast")
    );
    let j = judge_all(&text, &all).remove(0);
    // Medians over the seeds 1 to 8; those of all runs of `slow` would be 30.5.
    assert_eq!((j.verdict, j.measured, j.n), (Verdict::Reproduced, Some(24.5), 8));
    let sides: Vec<(&str, f64)> = j.sides.iter().map(|s| (s.name.as_str(), s.value)).collect();
    assert_eq!(sides, [("slow", 24.5), ("fast", 14.5)]);
}

#[test]
fn two_constants_have_a_difference_a_ratio_and_a_change_in_percent() {
    let of = |key: &str| {
        let measure = format!("{{ {key} = [{{ constant = 30.0 }}, {{ constant = 20.0 }}] }}");
        let rest = "direction = { greater_than = { constant = 1.0 } }\nkind = 'arithmetic'";
        judged(&format!("measure = {measure}\n{rest}"))
    };
    let all = ["difference", "ratio", "percent_change"].map(of);
    assert_eq!(all.each_ref().map(|j| j.measured), [Some(10.0), Some(1.5), Some(50.0)]);
    assert!(all.iter().all(|j| j.verdict == Verdict::Reproduced && j.kind == Basis::Arithmetic));
}

/// A trace has no unit, and the sides of a quotient may have another unit than the claim.
#[test]
fn sides_without_a_unit_have_the_unit_of_the_claim_except_in_a_quotient() {
    let units = |measure: &str| {
        let sides = judged(measure).sides;
        sides.into_iter().map(|side| side.unit).collect::<Vec<_>>()
    };
    let [dup, once] = ["{ trace = 'dup' }", "{ trace = 'once' }"];
    assert_eq!(
        units(&format!("measure = {dup}\ndirection = {{ less_than = {once} }}")),
        ["s", "s"]
    );
    let ratio = format!("measure = {{ ratio = [{dup}, {once}] }}");
    assert_eq!(
        units(&format!("{ratio}\ndirection = {{ less_than = {{ constant = 1.0 }} }}")),
        ["", ""]
    );
}

/// Sides with equal packets are a tie for "less than 1 times", but satisfy "less than 1.05 times".
#[test]
fn identical_packets_are_a_tie_unless_equality_is_enough() {
    let ratio = format!("measure = {{ ratio = [{}, {}] }}", metric("fixed"), metric("copy"));
    let of = |baseline: f64| {
        judged(&format!("{ratio}\ndirection = {{ less_than = {{ constant = {baseline:?} }} }}"))
    };
    let tie = of(1.0);
    assert_eq!(tie.verdict, Verdict::Undecided);
    assert_eq!(tie.open, "A tie: both sides have identical packets in all 20 pairs of runs.");
    let most = of(1.05);
    assert_eq!((most.verdict, most.open.as_str()), (Verdict::Reproduced, ""));
}

/// Equal sides are a tie for "more than 0 s longer", and contradict "more than 1 s longer".
#[test]
fn identical_packets_contradict_a_difference_above_a_number() {
    let difference =
        format!("measure = {{ difference = [{}, {}] }}", metric("fixed"), metric("copy"));
    let of = |baseline: f64| {
        judged(&format!(
            "{difference}\ndirection = {{ greater_than = {{ constant = {baseline:?} }} }}"
        ))
    };
    let tie = of(0.0);
    assert!(tie.open.starts_with("A tie: both sides have identical packets"), "{}", tie.open);
    assert_eq!((tie.verdict, of(1.0).verdict), (Verdict::Undecided, Verdict::Contradicted));
}

#[test]
fn a_judgement_of_not_comparable_has_the_measured_value_and_the_reason() {
    let j = judged(&format!(
        "paper = 1.0\nmeasure = {}\nnot_comparable = 'Needs the testbed.'",
        metric("slow")
    ));
    assert_eq!((j.verdict, j.measured), (Verdict::NotComparable, Some(30.5)));
    assert_eq!(j.note, "Needs the testbed.");
}

#[test]
fn the_note_names_missing_evidence_and_the_command_for_missing_runs() {
    let cases = [
        (metric("p=later"), Verdict::NotRun, "e/p=later was not run; `windlass reproduce x` does."),
        (
            metric("p=kernel"),
            Verdict::NotRun,
            "e/p=kernel was not run; `windlass reproduce x --on linux` does.",
        ),
        (
            "{ metric = { path = 'flow.g.rto_count', at = 'e/slow' } }".to_owned(),
            Verdict::NotComparable,
            "No run of e/slow has this metric.",
        ),
        ("{ model = 'eq99' }".to_owned(), Verdict::NotComparable, "Closed form `eq99` not found."),
        ("{ trace = 'x' }".to_owned(), Verdict::NotComparable, "No traced run yields `x`."),
    ];
    for (measure, verdict, note) in cases {
        let j = judged(&format!(
            "measure = {measure}\ndirection = {{ greater_than = {{ constant = 1.0 }} }}"
        ));
        assert_eq!((j.verdict, j.note.as_str()), (verdict, note));
    }
}

/// Ten runs on one side of the bound: p is 2⁻¹⁰ for the median. This decides a single statement. With a
/// hundred other open statements it does not decide it. If the others are one statement, it does.
#[test]
fn a_claim_that_is_decided_alone_may_be_undecided_in_a_large_family() {
    let records: Vec<RunRecord> =
        (1..=10).map(|seed| run("e", "p", seed, 10.0 + seed as f64)).collect();
    let claim = |id: usize, bound: f64, more: &str| {
        format!(
            "[[claim]]\nid='c{id}'\nsource='s'\nquantity='q'\nunit='s'\nmeasure = {}\n\
             direction = {{ greater_than = {{ constant = {bound:?} }} }}\n{more}\n",
            metric("p")
        )
    };
    let family = |more: &str| {
        let others: String = (1..=100).map(|id| claim(id, 15.4, more)).collect();
        judge_all(&format!("{}{others}", claim(0, 8.0, "")), &records).remove(0)
    };
    let j = family("");
    assert_eq!(j.verdict, Verdict::Undecided);
    assert!(
        j.note.contains(
            "p = 0.00098 alone; not significant after Holm correction for 101 statements."
        ),
        "{}",
        j.note
    );
    assert!(j.note.ends_with("About 11 runs of each point would decide it."), "{}", j.note);
    assert_eq!(family("statement = 'the same'").verdict, Verdict::Reproduced);
    // Statements that no run decides do not count.
    let given = family("kind = 'given'");
    assert_eq!(given.verdict, Verdict::Reproduced, "{}", given.note);
}
