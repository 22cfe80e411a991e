//! The assumption ledger: what the paper does not say, what was chosen, and what choosing
//! otherwise would change.

use crate::claims::Metric;
use crate::experiment::{AxisValue, Experiment};
use crate::papers::Material;
use crate::papers::parts::cells::{NONE, signed};
use crate::papers::parts::{commands, tables::section as titled};
use crate::report::model::{Block, Row, Section, Table};
use crate::report::numbers::number;
use crate::stats::Summary;
use std::collections::BTreeMap;

const EXPERIMENT: &str = "assumptions";
const BASE: &str = "as-assumed";
/// Drop probabilities at which the choices are compared.
const AT: [&str; 3] = ["0%", "1%", "10%"];

/// The ledger as a section.
pub(super) fn section(m: &Material) -> Section {
    let choices = m.plan.experiment(EXPERIMENT).map(choices).unwrap_or_default();
    let rows = choices.iter().filter(|v| v.label != BASE).map(|v| Row {
        cells: [
            vec![v.label.clone(), v.about.clone()],
            AT.map(|p| change_cell(change(m, &v.label, p))).into(),
        ]
        .concat(),
        ..Row::default()
    });
    let base = AT.map(|p| {
        let median = time(m, BASE, p).map_or(NONE.to_owned(), number);
        format!("{median} s at {p}")
    });
    let table = Table {
        id: "ledger-table".to_owned(),
        caption: "Change of the response time, per cent, when one choice is made otherwise: \
            medians of the changes seed by seed, with 95 % intervals"
            .to_owned(),
        columns: [
            "choice",
            "what it means",
            "at\u{a0}0\u{a0}%",
            "at\u{a0}1\u{a0}%",
            "at\u{a0}10\u{a0}%",
        ]
        .map(str::to_owned)
        .to_vec(),
        rows: rows.collect(),
        notes: vec![
            format!("As assumed: {}.", base.join(", ")),
            "Both sides of a change draw the same losses (the same seed).".to_owned(),
        ],
    };
    let example = "choice=limited-transmit,p=1%";
    let commands = [
        commands::runs(m, "As assumed, at 1 %:", EXPERIMENT, &format!("choice={BASE},p=1%")),
        commands::runs(m, "With one choice made otherwise:", EXPERIMENT, example),
    ];
    titled(
        "assumptions",
        "Assumption ledger",
        vec![Block::Table(table)],
        commands.into_iter().flatten(),
    )
}

/// What one choice made otherwise does.
pub(super) struct Effect {
    /// Label of the choice.
    pub(super) choice: String,
    /// Median change of the response time, seed by seed, per cent.
    pub(super) change: f64,
    /// Median response time with it, seconds.
    pub(super) time_s: f64,
}

/// The effects of all choices at a drop probability, in the order of the plan.
pub(super) fn effects(m: &Material, p: &str) -> Vec<Effect> {
    let choices = m.plan.experiment(EXPERIMENT).map(choices).unwrap_or_default();
    let effect = |v: AxisValue| {
        let (change, time_s) = (change(m, &v.label, p)?.median, time(m, &v.label, p)?);
        Some(Effect { choice: v.label, change, time_s })
    };
    choices.into_iter().filter(|v| v.label != BASE).filter_map(effect).collect()
}

/// Median response time with a choice at a drop probability, seconds.
pub(super) fn time(m: &Material, choice: &str, p: &str) -> Option<f64> {
    let times: Vec<f64> = runs(m, choice, p).into_values().collect();
    Some(Summary::of(&times)?.median)
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

fn change(m: &Material, choice: &str, p: &str) -> Option<Summary> {
    let base = runs(m, BASE, p);
    let matched = |(seed, time): (&u64, &f64)| {
        let base = base.get(seed)?;
        Some((time - base) / base * 100.0)
    };
    let changes: Vec<f64> = runs(m, choice, p).iter().filter_map(matched).collect();
    Summary::of(&changes)
}

fn change_cell(change: Option<Summary>) -> String {
    match change {
        None => NONE.to_owned(),
        Some(Summary { median, ci95_median: Some([low, high]), .. }) if low < high => {
            format!("{} [{}, {}]", signed(median), signed(low), signed(high))
        }
        Some(s) => signed(s.median),
    }
}
