//! The data of the paper CCM-SS: references are valid, its arithmetic agrees with the notes, and its
//! report shows the runs. The paper's own runs last minutes, and the runs in these tests are shorter.

use crate::paper_support::{self, Setup};
use std::collections::BTreeSet;
use windlass_lab::claims::{Judgement, Quantity, Verdict};
use windlass_lab::compile::compile;
use windlass_lab::experiment::Experiment;
use windlass_lab::papers::{Material, Traces};
use windlass_lab::report::model::{Block, Chart, Section};
use windlass_lab::report::text;
use windlass_lab::run::RunRecord;

fn setup() -> Setup {
    paper_support::setup("ccm-ss")
}

impl Setup {
    fn judged(&self, records: &[RunRecord]) -> Vec<Judgement> {
        self.paper.judge(&self.plan, &self.claims, records, &Traces::new()).unwrap()
    }

    fn sections(&self, records: &[RunRecord]) -> Vec<Section> {
        let judgements = self.judged(records);
        self.paper
            .sections(&Material {
                paper: self.paper,
                plan: &self.plan,
                claims: &self.claims,
                records,
                judgements: &judgements,
                traces: &Traces::new(),
            })
            .unwrap()
    }

    /// A run of a point with a tenth of the rate and of the duration.
    fn tenth_run(&self, experiment: &str, point: &str, seed: u64) -> RunRecord {
        let short = [("link.bottleneck.rate", "25Mbps"), ("duration", "40s")];
        self.run_at(experiment, point, &short, seed)
    }
}

#[test]
fn arithmetic_is_reproduced_except_for_the_errors_in_the_fidelity_notes() {
    let judged = setup().judged(&[]);
    let with = |v| -> BTreeSet<&str> {
        judged.iter().filter(|j| j.verdict == v).map(|j| j.id.as_str()).collect()
    };
    let slips = ["eq3.growth", "eq5.least", "eq17.rate", "eq19.flexibility"];
    assert_eq!(with(Verdict::Contradicted), slips.into());
    assert_eq!(with(Verdict::Reproduced), ["eq20.lower"].into());
    for j in judged.iter().filter(|j| j.verdict == Verdict::Contradicted) {
        assert!(j.note.contains("CS-"), "{} cites no note: {}", j.id, j.note);
    }
}

#[test]
fn every_claim_reads_points_that_are_run() {
    let s = setup();
    let points = |e: &Experiment| -> Vec<String> {
        e.points().iter().map(|p| format!("{}/{}", e.id, p.id)).collect()
    };
    let runs: BTreeSet<String> = s.plan.experiments.iter().flat_map(points).collect();
    for claim in &s.claims {
        for quantity in claim.quantities() {
            let Quantity::Metric(at) = quantity else { continue };
            assert!(runs.contains(&at.at), "{}: {} is not run", claim.id, at.at);
        }
    }
}

#[test]
fn the_queue_is_a_fraction_of_the_bdp_of_flow_one_for_any_rtt_of_flow_two() {
    let s = setup();
    let product = |point: &str| {
        let scenario = s.scenario_at("long", point, &[]);
        let place =
            scenario.links.iter().position(|l| l.name == "bottleneck").expect("a bottleneck");
        scenario.bdp_bytes()[place]
    };
    // 250 Mbps times 100 ms, for RTTs of 50 and 190 ms of flow two.
    assert_eq!(product("start=hystart,path=100-50"), 3_125_000);
    assert_eq!(product("start=hystart,path=100-190"), 3_125_000);
}

#[test]
fn rtts_equal_the_values_in_the_names_of_the_paths() {
    let s = setup();
    for (experiment, path, expected) in [
        ("long", "100-190", [100.0, 190.0]),
        ("short", "50-2", [50.0, 2.0]),
        ("similar", "16-8", [16.0, 8.0]),
    ] {
        let run = s.tenth_run(experiment, &format!("start=hystart,path={path}"), 1);
        for (flow, rtt) in run.flows.iter().zip(expected) {
            let least = flow.min_rtt_ms.expect("samples");
            // A packet's transmission time on four links at 25 Mbps or more is below a millisecond. Some
            // packets of other flows may always be in the queue.
            assert!(least >= rtt && least < rtt + 6.0, "{path}: {least}");
        }
    }
}

#[test]
fn the_starts_of_flows_depend_on_the_seed_and_not_on_the_slow_start() {
    let s = setup();
    let active = |start: &str, seed: u64| {
        let run = s.tenth_run("long", &format!("start={start},path=100-90"), seed);
        run.flows.iter().map(|f| f.active_s).collect::<Vec<f64>>()
    };
    let one = active("hystart", 1);
    assert_eq!(one, active("ccm-ss", 1));
    assert_ne!(one, active("hystart", 2));
    for (active, start) in one.iter().zip([1.0, 2.0]) {
        let late = 40.0 - start - active;
        assert!((0.0..=0.1).contains(&late), "{late}");
    }
}

/// Compares the runs of the baseline of the folder with the built-in slow start of the same name (CS-27).
#[test]
fn the_hystart_baseline_of_the_folder_equals_the_built_in_hystart() {
    let s = setup();
    let outcome = |start: &str, more: &[(&str, &str)]| {
        let short = [("link.bottleneck.rate", "25Mbps"), ("duration", "20s")];
        let run =
            s.run_at("long", &format!("start={start},path=100-90"), &[&short, more].concat(), 1);
        serde_json::to_value((&run.flows, &run.links)).unwrap()
    };
    let built_in = [("flow.one.slow_start", "hystart"), ("flow.two.slow_start", "hystart")];
    let written = outcome("hystart", &[]);
    assert_eq!(written, outcome("hystart", &built_in));
    assert_ne!(written, outcome("ccm-ss", &[]));
}

fn chart<'a>(sections: &'a [Section], id: &str) -> &'a Chart {
    let blocks = sections.iter().flat_map(|s| &s.blocks);
    let found = blocks.filter_map(|b| if let Block::Chart(c) = b { Some(c) } else { None });
    let mut found = found.filter(|c| c.id == id);
    found.next().unwrap_or_else(|| panic!("no chart {id}"))
}

#[test]
fn the_charts_of_the_report_show_the_values_of_the_runs() {
    let s = setup();
    let mut records = Vec::new();
    for seed in 1..=2 {
        for start in ["hystart", "ccm-ss"] {
            records.push(s.tenth_run("long", &format!("start={start},path=100-50"), seed));
            records.push(s.tenth_run(
                "queue",
                &format!("start={start},queue=0.1,path=100-50"),
                seed,
            ));
        }
    }
    let dropped: u64 = records
        .iter()
        .filter(|r| r.experiment == "long" && r.point.starts_with("start=ccm-ss"))
        .map(|r| r.links.iter().map(|l| l.drops).sum::<u64>())
        .sum();
    assert!(dropped > 0, "the runs lose packets");
    let sections = s.sections(&records);
    // Mean drops per second in steps of 10 s, over two runs.
    let losses = chart(&sections, "fig-12a");
    let ccm_ss = losses.series.iter().find(|s| s.name == "CCM-SS").expect("its curve");
    let sum: f64 = ccm_ss.points.iter().map(|p| p.y * 10.0 * 2.0).sum();
    assert!((sum - dropped as f64).abs() < 1e-6, "{sum} {dropped}");
    let forest = chart(&sections, "forest");
    assert_eq!(forest.series.len(), 1);
    assert!(forest.series[0].points[0].lo.is_some(), "two seeds have an interval");
    let maps = sections.iter().flat_map(|s| &s.blocks);
    let maps: Vec<_> =
        maps.filter_map(|b| if let Block::Heat(m) = b { Some(m) } else { None }).collect();
    assert_eq!(maps.iter().filter(|m| m.cells.len() == 1).count(), 2);
    let printed = text::tables(&sections, text::WIDTH);
    assert!(printed.contains("Convergence time"), "{printed}");
}

#[test]
fn a_report_without_runs_has_complete_tables() {
    let s = setup();
    let sections = s.sections(&[]);
    let printed = text::tables(&sections, text::WIDTH);
    assert!(printed.contains("All claims"), "{printed}");
    for table in sections.iter().flat_map(|s| &s.blocks) {
        let Block::Table(table) = table else { continue };
        assert!(table.rows.iter().all(|r| r.cells.len() == table.columns.len()), "{}", table.id);
    }
}

#[test]
fn quick_start_sends_at_the_approved_rate_after_one_rtt() {
    let s = setup();
    let early = |start: &str| {
        let point = format!("algorithm=cubic-{start},path=100-90");
        let cut = [
            ("flow.two.start", "1440ms"),
            ("duration", "1450ms"),
            ("flow.one.jitter", "0s"),
            ("flow.two.jitter", "0s"),
        ];
        let scenario = s.scenario_at("context", &point, &cut);
        let mut run = windlass_sim::Simulation::new(compile(&scenario, 1).unwrap()).unwrap();
        run.run();
        run.finish().expect("closed books").flows[0].delivered_bytes
    };
    // From 1 s on: a handshake of 100 ms, and 250 ms in which data arrive.
    let [told, standard] = ["quick-start", "standard"].map(early);
    assert!(told > 163_840_000 / 8 / 5, "two RTTs at the approved rate: {told}");
    assert!(told > 20 * standard, "{told} {standard}");
}
