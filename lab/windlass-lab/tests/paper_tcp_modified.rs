//! The paper TCP Modified: its plan, claims and notes are consistent, and a quick reproduction judges
//! every claim.

use crate::paper_support::{self, Setup, within};
use windlass_lab::claims::Verdict;
use windlass_lab::papers::{FINDINGS, LONG, Traces};
use windlass_lab::report::model::Block;
use windlass_lab::report::text;
use windlass_lab::reproduce::Outcome;

fn setup() -> Setup {
    paper_support::setup("TCP-Modified")
}

#[test]
fn every_stated_number_of_the_paper_is_a_claim() {
    let s = setup();
    let printed: Vec<f64> = s.claims.iter().filter_map(|c| c.paper).collect();
    for number in [0.165, 0.179, 0.6, -0.3, -0.4, 0.1] {
        assert!(printed.contains(&number), "{number} is not claimed");
    }
}

/// The algorithm of a flow at a point, after all overrides.
fn algorithm(s: &Setup, experiment: &str, overrides: &[(String, String)], flow: &str) -> String {
    let file = &s.plan.experiment(experiment).expect("known experiment").scenario;
    let text = s.paper.scenario(file).expect("a scenario");
    let mut found = String::new();
    let base: toml::Table = text.parse().unwrap();
    for entry in base["flow"].as_array().unwrap() {
        if entry["name"].as_str() == Some(flow) {
            found = entry["algorithm"].as_str().unwrap().to_owned();
        }
    }
    let key = format!("flow.{flow}.algorithm");
    overrides.iter().filter(|(k, _)| *k == key).for_each(|(_, v)| found.clone_from(v));
    found
}

#[test]
fn flows_run_the_algorithms_that_the_point_names() {
    let s = setup();
    for experiment in &s.plan.experiments {
        for point in experiment.points() {
            let run: Vec<String> = ["f1", "f2", "f3", "f4"]
                .map(|flow| algorithm(&s, &experiment.id, &point.overrides, flow))
                .into();
            let label = |axis: &str| {
                let found = point.coordinates.iter().find(|(name, _)| name == axis);
                found.map(|(_, label)| label.as_str()).unwrap_or_default()
            };
            let ours = "tcp-modified";
            let expected = match experiment.id.as_str() {
                "three-one" => [ours, ours, ours, label("other")],
                "two-two" | "wifi-two-two" => [ours, ours, label("other"), label("other")],
                "same" | "wifi-same" | "far" => {
                    let all = label("all");
                    [if all.starts_with(ours) { ours } else { all }; 4]
                }
                "assumptions" | "long" => [ours, ours, ours, "newreno"],
                "ablation" => {
                    let known = ["htcp", "cubic", "newreno"];
                    let tested = label("variant");
                    let tested = if known.contains(&tested) { tested } else { ours };
                    [tested, tested, "newreno", "newreno"]
                }
                other => panic!("unexpected experiment {other}"),
            };
            assert_eq!(run, expected, "{}/{}", experiment.id, point.id);
        }
    }
}

/// The paper states that an increase in delay decreases the sharpness of alpha. Its own formula gives an increase.
#[test]
fn only_the_claim_about_delay_and_alpha_is_contradicted_without_a_run() {
    let s = setup();
    let judged = s.paper.judge(&s.plan, &s.claims, &[], &Traces::new()).unwrap();
    let wrong = judged.iter().filter(|j| j.verdict == Verdict::Contradicted);
    assert_eq!(wrong.map(|j| j.id.as_str()).collect::<Vec<_>>(), ["sec3.delay"]);
    let right = judged.iter().filter(|j| j.verdict == Verdict::Reproduced);
    assert_eq!(right.map(|j| j.id.as_str()).collect::<Vec<_>>(), ["sec3.flattened"]);
}

#[test]
fn a_quick_reproduction_measures_every_claim_and_writes_its_findings() {
    let s = setup();
    let dir = tempfile::tempdir().unwrap();
    let outcome = within(s.paper, dir.path(), 20.0);
    assert_eq!(outcome.judgements.len(), s.claims.len());
    for (claim, j) in s.claims.iter().zip(&outcome.judgements) {
        assert_eq!(claim.id, j.id);
        assert_eq!(j.measured.is_some(), claim.measure.is_some(), "{}: {}", j.id, j.note);
        if claim.not_comparable.is_none() {
            assert_ne!(j.verdict, Verdict::NotComparable, "{}: {}", j.id, j.note);
        }
    }
    findings_tell_what_was_measured(&outcome);
    tables_are_full_and_fit_the_terminal(&outcome);
    every_chart_has_data(&outcome);
}

fn findings_tell_what_was_measured(outcome: &Outcome) {
    let findings = outcome.sections.first().expect("sections");
    assert_eq!(findings.id, FINDINGS);
    let told = text::prose(findings, usize::MAX);
    for sentence in [
        "one NewReno flow against three of TCP Modified gets ",
        "pairings on wires",
        "pairings over Wi-Fi",
        "TCP Modified loses more packets: ",
        "with a single correction: ",
        "of the congestion events reduced ssthresh",
        "with minimum, bounds, RTTmin and alpha corrected together",
        "The closest to the published 16.5 % and 17.9 % are ",
        " statements contradicted",
        "Not comparable (",
    ] {
        assert!(told.contains(sentence), "{sentence} is not in {told}");
    }
}

fn tables_are_full_and_fit_the_terminal(outcome: &Outcome) {
    let mut rows = 0;
    for block in outcome.sections.iter().flat_map(|s| &s.blocks) {
        let Block::Table(table) = block else { continue };
        assert!(!table.rows.is_empty(), "{} is empty", table.id);
        for row in &table.rows {
            rows += 1;
            assert_eq!(row.cells.len(), table.columns.len(), "{}: {:?}", table.id, row.cells);
            let missing =
                |c: &String| c == "not judged" || (c == "–" && table.id != "claims-table");
            assert!(!row.cells.iter().any(missing), "{}: {:?}", table.id, row.cells);
        }
    }
    assert!(rows > 150, "{rows} rows");
    let short = || outcome.sections.iter().filter(|s| !LONG.contains(&s.id.as_str()));
    for line in text::tables(short(), text::WIDTH).lines() {
        assert!(line.chars().count() <= text::WIDTH, "too wide: {line}");
    }
}

fn every_chart_has_data(outcome: &Outcome) {
    let mut charts = 0;
    for block in outcome.sections.iter().flat_map(|s| &s.blocks) {
        let Block::Chart(chart) = block else { continue };
        charts += 1;
        assert!(chart.series.iter().all(|s| !s.points.is_empty()), "{}", chart.id);
    }
    assert!(charts >= 10, "{charts} charts");
}
