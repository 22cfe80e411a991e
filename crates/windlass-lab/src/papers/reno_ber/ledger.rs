//! The assumption ledger: what the paper does not say, what was chosen, and what choosing
//! otherwise would change.

use super::section as titled;
use crate::claims::{Metric, number};
use crate::experiment::{AxisValue, Experiment};
use crate::papers::Material;
use crate::report::model::{Block, Row, Section, Table};
use crate::stats::Summary;
use std::collections::BTreeMap;

const EXPERIMENT: &str = "assumptions";
const BASE: &str = "as-assumed";
/// Drop probabilities at which the choices are compared.
const AT: [&str; 2] = ["1%", "10%"];

/// The ledger as a section.
pub(super) fn section(m: &Material) -> Section {
    let choices = m.plan.experiment(EXPERIMENT).map(choices).unwrap_or_default();
    let rows = choices.iter().filter(|v| v.label != BASE).map(|v| Row {
        cells: [vec![v.label.clone(), v.about.clone()], AT.map(|p| change(m, &v.label, p)).into()]
            .concat(),
        ..Row::default()
    });
    let base = AT.map(|p| {
        let times: Vec<f64> = runs(m, BASE, p).into_values().collect();
        let median = Summary::of(&times).map_or("–".to_owned(), |s| number(s.median));
        format!("{median} s at {p}")
    });
    let table = Table {
        id: "ledger-table".to_owned(),
        caption: "Change of the response time, per cent, when one choice is made otherwise: \
            medians of the changes seed by seed, with 95 % intervals"
            .to_owned(),
        columns: ["choice", "what it means", "at 1 %", "at 10 %"].map(str::to_owned).to_vec(),
        rows: rows.collect(),
        notes: vec![
            format!("As assumed: {}.", base.join(", ")),
            "Both sides of a change draw the same losses (the same seed).".to_owned(),
        ],
    };
    titled("assumptions", "Assumption ledger", vec![Block::Table(table)])
}

fn choices(experiment: &Experiment) -> Vec<AxisValue> {
    let axis = experiment.axes.iter().find(|a| a.name == "choice");
    axis.map(|a| a.values.clone()).unwrap_or_default()
}

/// Response times by seed.
fn runs(m: &Material, choice: &str, p: &str) -> BTreeMap<u64, f64> {
    let point = format!("choice={choice},p={p}");
    let Ok(metric) = Metric::parse("flow.download.completion_s") else { return BTreeMap::new() };
    let here = m.records.iter().filter(|r| r.experiment == EXPERIMENT && r.point == point);
    here.filter_map(|r| Some((r.seed, metric.of(r)?))).collect()
}

fn change(m: &Material, choice: &str, p: &str) -> String {
    let base = runs(m, BASE, p);
    let matched = |(seed, time): (&u64, &f64)| {
        let base = base.get(seed)?;
        Some((time - base) / base * 100.0)
    };
    let changes: Vec<f64> = runs(m, choice, p).iter().filter_map(matched).collect();
    match Summary::of(&changes) {
        None => "–".to_owned(),
        Some(s) => match s.ci95_median {
            Some([low, high]) if low < high => {
                format!("{} [{}, {}]", one(s.median), one(low), one(high))
            }
            _ => one(s.median),
        },
    }
}

/// One decimal with its sign.
fn one(v: f64) -> String {
    let rounded = format!("{v:+.1}");
    if rounded == "-0.0" { "+0.0".to_owned() } else { rounded }
}
