//! The paper Reno-BER as data: nothing dangles, and its arithmetic stands as the notes say.

use std::collections::{BTreeMap, BTreeSet};
use windlass_lab::claims::{Claim, Judgement, Kind, Metric, Quantity, Verdict};
use windlass_lab::experiment::Plan;
use windlass_lab::papers::{Material, Paper, Traces, text};
use windlass_lab::report::model::Block;

struct Setup {
    paper: &'static Paper,
    plan: Plan,
    claims: Vec<Claim>,
}

fn setup() -> Setup {
    let paper = Paper::by_id("Reno-BER").expect("the paper is built in");
    let plan = paper.plan().unwrap_or_else(|e| panic!("{e}"));
    let claims = paper.parsed_claims().unwrap_or_else(|e| panic!("{e}"));
    Setup { paper, plan, claims }
}

impl Setup {
    fn scenario(&self, experiment: &str) -> toml::Table {
        let file = &self.plan.experiment(experiment).expect("known experiment").scenario;
        let text = self.paper.scenario(file).unwrap_or_else(|| panic!("no scenario {file}"));
        text.parse().unwrap_or_else(|e| panic!("{file}: {e}"))
    }

    /// Verdicts without a single run: only arithmetic can be judged.
    fn on_paper(&self) -> Vec<Judgement> {
        self.paper.judge(&self.claims, &[], &Traces::new())
    }
}

fn entries<'a>(scenario: &'a toml::Table, list: &str) -> impl Iterator<Item = &'a toml::Table> {
    let list = scenario[list].as_array().expect("a list of tables");
    list.iter().filter_map(toml::Value::as_table)
}

fn names(scenario: &toml::Table, kind: Kind) -> BTreeSet<String> {
    let text = |t: &toml::Table, key: &str| t[key].as_str().expect("text").to_owned();
    match kind {
        Kind::Flow => entries(scenario, "flow").map(|f| text(f, "name")).collect(),
        Kind::Link => entries(scenario, "link")
            .flat_map(|l| {
                let ends = l["between"].as_array().expect("two ends");
                let end = |k: usize| ends[k].as_str().expect("a node").to_owned();
                let name = text(l, "name");
                [(0, 1), (1, 0)].map(|(a, b)| format!("{name}:{}>{}", end(a), end(b)))
            })
            .collect(),
    }
}

#[test]
fn every_measure_names_a_point_and_a_flow_or_link_that_exist() {
    let s = setup();
    let mut metrics = 0;
    for claim in &s.claims {
        for quantity in claim.quantities() {
            let Quantity::Metric(at) = quantity else { continue };
            let (experiment, point) = at.place().unwrap();
            let found = s.plan.experiment(experiment).expect("known experiment");
            assert!(found.points().iter().any(|p| p.id == point), "{}: {}", claim.id, at.at);
            let metric = Metric::parse(&at.path).unwrap();
            let known = names(&s.scenario(experiment), metric.kind);
            assert!(known.contains(&metric.name), "{}: {} not in {known:?}", claim.id, at.path);
            metrics += 1;
        }
    }
    assert!(metrics > 50, "only {metrics} metrics were looked at");
}

#[test]
fn every_model_that_a_claim_names_is_computed() {
    let s = setup();
    let models = s.paper.models();
    for claim in &s.claims {
        for quantity in claim.quantities() {
            if let Quantity::Model(name) = quantity {
                let value = models.get(name).unwrap_or_else(|| panic!("{}: no {name}", claim.id));
                assert!(value.is_finite(), "{name} is {value}");
            }
        }
    }
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
fn points_have_thirty_seeds_unless_no_chance_is_involved() {
    let s = setup();
    for experiment in &s.plan.experiments {
        for point in experiment.points() {
            let fixed = ["one-loss", "exchange"].contains(&experiment.id.as_str())
                || point.id.ends_with("p=0%");
            let seeds = experiment.seeds(&point, false);
            assert!(fixed || seeds.count() >= 30, "{}/{}", experiment.id, point.id);
        }
    }
}

/// The paper's slips of arithmetic, and nothing else, are contradicted without a run.
#[test]
fn arithmetic_is_reproduced_but_for_the_slips_in_the_fidelity_notes() {
    let s = setup();
    let mut slips: BTreeSet<String> = [
        "sec2.1.all-lost",
        "sec2.1.small-only",
        "sec2.1.factor",
        "table4.difference.p0.01",
        "table4.difference.p0.1",
        "table4.difference.p1",
        "table4.difference.p10",
        "sec3.3.retransmitted",
        "table8.percent.p1",
        "table9.6",
        "eq16",
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
fn claims_without_evidence_are_not_comparable_and_say_what_is_missing() {
    let s = setup();
    let judged: BTreeMap<String, Judgement> =
        s.on_paper().into_iter().map(|j| (j.id.clone(), j)).collect();
    let time = &judged["table4.p1"];
    assert_eq!((time.verdict, time.n, time.paper), (Verdict::NotComparable, 0, Some(76.83)));
    assert!(time.note.contains("There is no run of download/mode=data-only,p=1%"));
    assert!(judged["table8.p1"].note.contains("testbed"));
}

#[test]
fn every_note_that_is_cited_exists() {
    let s = setup();
    let number = |part: &str| part.chars().take_while(char::is_ascii_digit).collect::<String>();
    let scenarios: String = s.paper.scenarios.iter().map(|(_, text)| *text).collect();
    let all = [s.paper.claims, s.paper.experiments, &scenarios].concat();
    let cited: BTreeSet<String> = all.split("RB-").skip(1).map(number).collect();
    assert!(cited.len() > 15, "{cited:?}");
    for id in cited {
        assert!(s.paper.fidelity.contains(&format!("\n## RB-{id}: ")), "RB-{id} is not explained");
    }
}

#[test]
fn tables_refer_to_claims_that_exist_and_print() {
    let s = setup();
    let judgements = s.on_paper();
    let traces = Traces::new();
    let sections = s.paper.sections(&Material {
        plan: &s.plan,
        claims: &s.claims,
        records: &[],
        judgements: &judgements,
        traces: &traces,
        fidelity: s.paper.fidelity,
    });
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
