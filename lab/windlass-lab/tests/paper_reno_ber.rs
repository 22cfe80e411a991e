//! The data of the paper Reno-BER: references are valid, and its arithmetic agrees with the notes.

use crate::paper_support::{self, Setup, quick};
use std::collections::{BTreeMap, BTreeSet};
use windlass_lab::claims::{Basis, Judgement, Quantity, Statement, Verdict, statements};
use windlass_lab::papers::{FINDINGS, LONG, Material, Traces};
use windlass_lab::report::model::Block;
use windlass_lab::report::text;
use windlass_lab::reproduce::Outcome;
use windlass_lab::run::World;
use windlass_lab::scenario::Scenario;

fn setup() -> Setup {
    paper_support::setup("Reno-BER")
}

impl Setup {
    fn scenario(&self, experiment: &str) -> toml::Table {
        let file = &self.plan.experiment(experiment).expect("known experiment").scenario;
        let text = self.paper.scenario(file).unwrap_or_else(|| panic!("no scenario {file}"));
        text.parse().unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// Verdicts without runs. Only arithmetic can be judged.
    fn on_paper(&self) -> Vec<Judgement> {
        self.paper.judge(&self.plan, &self.claims, &[], &Traces::new()).unwrap()
    }
}

fn entries<'a>(scenario: &'a toml::Table, list: &str) -> impl Iterator<Item = &'a toml::Table> {
    let list = scenario[list].as_array().expect("a list of tables");
    list.iter().filter_map(toml::Value::as_table)
}

#[test]
fn every_override_changes_a_table_that_its_scenario_has() {
    let s = setup();
    for experiment in &s.plan.experiments {
        let scenario = s.scenario(&experiment.id);
        for key in experiment.axes.iter().flat_map(|a| &a.values).flat_map(|v| v.set.keys()) {
            let parts: Vec<&str> = key.split('.').collect();
            let named = |e: &&toml::Table| e["name"].as_str() == Some(parts[1]);
            let (root, inside) = match parts[0] {
                list @ ("link" | "flow") => {
                    let entry = entries(&scenario, list).find(named);
                    (entry.unwrap_or_else(|| panic!("{key}: no such entry")), &parts[2..])
                }
                // A scenario without this table uses its defaults, and the override creates the table.
                "testbed" => continue,
                _ => (&scenario, &parts[..]),
            };
            let mut parents = inside[..inside.len() - 1].iter();
            let table = parents.try_fold(root, |t, part| t.get(*part)?.as_table());
            assert!(table.is_some(), "{}: {key} has no parent table", experiment.id);
        }
    }
}

#[test]
fn every_traced_run_belongs_to_a_scenario_that_can_record() {
    let s = setup();
    for trace in &s.plan.traces {
        let scenario = s.scenario(&trace.experiment);
        assert!(scenario.contains_key("record"), "{} has no [record]", trace.experiment);
        let links: Vec<&str> =
            entries(&scenario, "link").filter_map(|l| l["name"].as_str()).collect();
        for link in &trace.capture {
            assert!(links.contains(&link.as_str()), "{}: no link {link}", trace.id);
        }
    }
}

#[test]
fn random_points_have_at_least_thirty_seeds() {
    let s = setup();
    for experiment in &s.plan.experiments {
        for point in experiment.points() {
            // A kernel's run takes seconds. Fewer runs are sufficient for Table 8.
            let fixed = ["one-loss", "exchange"].contains(&experiment.id.as_str())
                || experiment.world(&point) != World::Sim
                || point.id.ends_with("p=0%");
            let seeds = experiment.seeds(&point, false);
            assert!(fixed || seeds.count() >= 30, "{}/{}", experiment.id, point.id);
        }
    }
}

/// Without runs, only the paper's errors of arithmetic are contradicted.
#[test]
fn arithmetic_is_reproduced_except_for_the_errors_in_the_fidelity_notes() {
    let s = setup();
    let mut slips: BTreeSet<String> = [
        "sec2.1.all-lost",
        "sec2.1.small-only",
        "table4.difference.p0.01",
        "table4.difference.p0.1",
        "table4.difference.p1",
        "table4.difference.p10",
        "sec3.3.retransmitted",
        "table8.percent.p1",
        "table9.6",
        "sec5.sum",
        "sec5.2.same-range",
    ]
    .map(str::to_owned)
    .into();
    for decade in 1..=4 {
        slips.extend([1250, 1500].map(|bytes| format!("table1.1e-{decade}.{bytes}")));
    }
    let judged = s.on_paper();
    let verdict = |v| -> BTreeSet<String> {
        judged.iter().filter(|j| j.verdict == v).map(|j| j.id.clone()).collect()
    };
    assert_eq!(verdict(Verdict::Contradicted), slips);
    assert!(verdict(Verdict::SameDirection).is_empty());
    assert!(verdict(Verdict::Reproduced).len() >= 50, "{:?}", verdict(Verdict::Reproduced));
    for j in judged.iter().filter(|j| j.verdict == Verdict::Contradicted) {
        assert!(j.n == 0 && j.note.contains("RB-"), "{} cites no note: {}", j.id, j.note);
    }
}

#[test]
fn claims_without_runs_are_not_run_and_their_notes_name_the_missing_runs() {
    let s = setup();
    let judged: BTreeMap<String, Judgement> =
        s.on_paper().into_iter().map(|j| (j.id.clone(), j)).collect();
    let time = &judged["table4.p1"];
    assert_eq!((time.verdict, time.n, time.paper), (Verdict::NotRun, 0, Some(76.83)));
    assert!(
        time.note
            .contains("download/mode=both,p=1% was not run; `windlass reproduce reno-ber` does.")
    );
    assert!(judged["table8.p1"].note.contains("testbed"));
}

#[test]
fn tables_refer_to_claims_that_exist_and_print() {
    let s = setup();
    let judgements = s.on_paper();
    let traces = Traces::new();
    let sections = s
        .paper
        .sections(&Material {
            paper: s.paper,
            plan: &s.plan,
            claims: &s.claims,
            records: &[],
            judgements: &judgements,
            traces: &traces,
        })
        .unwrap();
    let mut tables = 0;
    for block in sections.iter().flat_map(|s| &s.blocks) {
        let Block::Table(table) = block else { continue };
        tables += 1;
        assert!(!table.rows.is_empty(), "{} is empty", table.id);
        for row in &table.rows {
            assert!(row.cells.len() <= table.columns.len(), "{}: {:?}", table.id, row.cells);
            assert!(row.cells.iter().all(|c| c != "not judged"), "{}: {:?}", table.id, row.cells);
        }
    }
    assert!(tables >= 13, "{tables} tables");
    let printed = text::tables(&sections, text::WIDTH);
    assert!(printed.contains("Table 4: response time"));
    assert!(
        printed.lines().any(|l| l.contains("7762") && l.ends_with("contradicted")),
        "{printed}"
    );
}

#[test]
fn a_quick_reproduction_measures_every_claim_and_writes_its_findings() {
    let s = setup();
    let dir = tempfile::tempdir().unwrap();
    let outcome = quick(s.paper, dir.path());
    assert_eq!(outcome.judgements.len(), s.claims.len());
    for (claim, j) in s.claims.iter().zip(&outcome.judgements) {
        assert_eq!(claim.id, j.id);
        let kernel = claim.quantities().iter().any(|q| on_a_kernel(&s, q));
        assert_eq!(
            j.measured.is_some(),
            claim.measure.is_some() && !kernel,
            "{}: {}",
            j.id,
            j.note
        );
        if kernel {
            assert_eq!(j.verdict, Verdict::NotRun, "{}: no kernel was requested", j.id);
        } else if claim.not_comparable.is_none() {
            assert_ne!(j.verdict, Verdict::NotComparable, "{}: {}", j.id, j.note);
        }
    }
    findings_name_what_was_judged(&outcome);
    the_terminal_shows_no_line_wider_than_asked(&outcome);
    commands_make_the_runs_of_their_section(&s, &outcome, dir.path());
}

/// True if a quantity is read from runs of a kernel.
fn on_a_kernel(s: &Setup, quantity: &Quantity) -> bool {
    let Quantity::Metric(at) = quantity else { return false };
    let Some((experiment, point)) = at.place() else { return false };
    let Some(experiment) = s.plan.experiment(experiment) else { return false };
    let points = experiment.points();
    points.iter().any(|p| p.id == point && experiment.world(p) != World::Sim)
}

fn findings_name_what_was_judged(outcome: &Outcome) {
    let findings = outcome.sections.first().expect("sections");
    assert_eq!(findings.id, FINDINGS);
    let told = text::prose(findings, usize::MAX);
    let all = statements(&outcome.judgements);
    let measured = all.iter().filter(|s| s.kind == Basis::Measured).count();
    let wrong = |s: &&Statement| (s.kind, s.verdict) == (Basis::Measured, Verdict::Contradicted);
    let apart = all.iter().filter(|s| s.verdict == Verdict::NotComparable).count();
    for sentence in [
        "Up to 0.1 % the response times are within ".to_owned(),
        "Assumptions that change it by 5 % or more".to_owned(),
        "With drops in both directions it takes ".to_owned(),
        "A fast retransmit began ".to_owned(),
        "One loss repaired by fast retransmit adds ".to_owned(),
        format!(
            "{} of {measured} measured statements contradicted",
            all.iter().filter(wrong).count()
        ),
        format!("Not comparable ({apart} statements):"),
    ] {
        assert!(told.contains(&sentence), "{sentence} is not in {told}");
    }
}

fn the_terminal_shows_no_line_wider_than_asked(outcome: &Outcome) {
    let short = || outcome.sections.iter().filter(|s| !LONG.contains(&s.id.as_str()));
    for width in [100, text::WIDTH] {
        let tables = text::tables(short(), width);
        let prose = text::prose(&outcome.sections[0], width);
        for line in tables.lines().chain(prose.lines()) {
            assert!(line.chars().count() <= width, "wider than {width}: {line}");
        }
    }
}

/// Checks that each `windlass run` command of the report is a run of the batch, or records series or packets.
fn commands_make_the_runs_of_their_section(s: &Setup, outcome: &Outcome, dir: &std::path::Path) {
    let journal = std::fs::read_to_string(dir.join(&s.paper.id).join("journal.jsonl")).unwrap();
    let commands = outcome.sections.iter().flat_map(|s| &s.blocks).filter_map(|b| match b {
        Block::Command { command, .. } => command.strip_prefix("windlass run papers/reno-ber/"),
        _ => None,
    });
    let mut seen = 0;
    for command in commands {
        let mut words = command.split(' ');
        let file = words.next().expect("a scenario");
        let mut overrides = Vec::new();
        for set in command.split(" --set ").skip(1) {
            let set = set.split(" --").next().unwrap_or(set).trim_matches('\'');
            let (key, value) = set.split_once('=').expect("KEY=VALUE");
            overrides.push((key.to_owned(), value.to_owned()));
        }
        let text = s.paper.scenario(file).unwrap_or_else(|| panic!("no scenario {file}"));
        let scenario = Scenario::with_overrides(text, file, &overrides);
        let scenario = scenario.unwrap_or_else(|e| panic!("{command}: {e}"));
        let records = !scenario.record.series.is_empty() || !scenario.record.capture.is_empty();
        assert!(records || journal.contains(&scenario.hash()), "not of this batch: {command}");
        assert_eq!(records, command.ends_with(" --out out"), "{command}");
        seen += 1;
    }
    assert!(seen > 10, "{seen} commands");
}
