//! The paper MFVL: its plan, claims and notes are consistent, and a reproduction with a budget judges the claims that
//! it runs.

use crate::paper_support::{self, Setup, within};
use windlass_lab::claims::{Judgement, Verdict};
use windlass_lab::papers::{FINDINGS, Traces};
use windlass_lab::run::simulate;
use windlass_lab::scenario::Scenario;

fn setup() -> Setup {
    paper_support::setup("MFVL")
}

#[test]
fn every_stated_number_of_the_paper_is_a_claim() {
    let s = setup();
    let printed: Vec<f64> = s.claims.iter().filter_map(|c| c.paper).collect();
    for number in [30.0, -50.0, 100.0, 80.0, 75.0, 7.0] {
        assert!(printed.contains(&number), "{number} is not claimed");
    }
}

/// The scenario of a point, and the meter's result in its first run.
fn meter(s: &Setup, experiment: &str, point: &str) -> (Scenario, windlass_sim::FlowResult) {
    let found = s.plan.experiment(experiment).expect("known experiment");
    let text = s.paper.scenario(&found.scenario).expect("a scenario");
    let point = found.points().into_iter().find(|p| p.id == point).expect("known point");
    let scenario = Scenario::with_overrides(text, &found.scenario, &point.overrides).unwrap();
    let result = simulate(&scenario, 1).unwrap();
    (scenario, result.flows[0].clone())
}

/// MFVL with the initial choice of set-up 3 runs MFast on one path and MVegas on the other. All data arrives
/// over these two paths, and each path has its own bottleneck.
#[test]
fn the_hybrid_runs_mfast_on_one_path_and_mvegas_on_the_other() {
    let s = setup();
    let (_, flow) = meter(&s, "setups", "cc=mfvl");
    let paths = flow.multipath.expect("a multipath connection").subflows;
    assert_eq!(paths.len(), 2);
    assert_eq!([paths[0].mode, paths[1].mode], [1, 0]);
    assert!(paths[0].goodput_bps > paths[1].goodput_bps);
    assert!(paths[0].goodput_bps < 3e6 && paths[1].goodput_bps < 1e6);
    let arrived = paths[0].delivered_bytes + paths[1].delivered_bytes;
    assert!(arrived >= flow.delivered_bytes);
    let energy = flow.radio.expect("stations").sender_j.expect("powers");
    // Two cards use 74 J in 50 s if idle, and a card draws at most 1.35 W.
    assert!((73.9..135.0).contains(&energy), "{energy}");
}

#[test]
fn a_small_budget_judges_the_claims_with_runs_and_leaves_the_others_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let s = setup();
    let outcome = within(s.paper, dir.path(), 4.5);
    assert_eq!(outcome.judgements.len(), s.claims.len());
    let paid = |j: &&Judgement| j.n >= 12;
    let judged = |j: &&Judgement| paid(j) && j.verdict != Verdict::NotRun;
    assert!(outcome.judgements.iter().filter(judged).count() > 0);
    for j in outcome.judgements.iter().filter(paid) {
        // The note of a comparison with a point outside the budget names this point.
        let lacks = j.verdict == Verdict::NotRun;
        assert!(!lacks || j.note.contains("was not run"), "{}: {}", j.id, j.note);
    }
    assert!(outcome.judgements.iter().any(|j| j.verdict == Verdict::NotRun));
    assert!(outcome.sections.iter().any(|section| section.id == FINDINGS));
}

#[test]
fn without_runs_every_claim_of_a_run_is_not_run() {
    let s = setup();
    for judgement in s.paper.judge(&s.plan, &s.claims, &[], &Traces::new()).unwrap() {
        let arithmetic = judgement.n == 0 && judgement.measured.is_some();
        let open = [Verdict::NotRun, Verdict::NotComparable].contains(&judgement.verdict);
        assert!(arithmetic || open, "{}", judgement.id);
    }
}
