//! The assumption ledger: what the paper does not say, chosen otherwise.

use super::mixtures::THREE_ONE;
use super::values::{BySeed, RATES, by_seed, cell, jain, queue_loss, share, spaced};
use crate::experiment::AxisValue;
use crate::papers::Material;
use crate::papers::parts::commands;
use crate::papers::parts::tables::{columns, section as titled};
use crate::report::model::{Block, Row, Section, Table};
use crate::run::RunRecord;

const EXPERIMENT: &str = "assumptions";
/// Everything as assumed.
pub(super) const BASE: &str = "as-assumed";

/// The choices in the order of the plan.
pub(super) fn choices(m: &Material) -> Vec<AxisValue> {
    let experiment = m.plan.experiment(EXPERIMENT);
    let axis = experiment.and_then(|e| e.axes.iter().find(|a| a.name == "choice"));
    axis.map(|a| a.values.clone()).unwrap_or_default()
}

fn at(m: &Material, choice: &str, rate: &str, f: impl Fn(&RunRecord) -> Option<f64>) -> BySeed {
    by_seed(m, (EXPERIMENT, &format!("choice={choice},rate={rate}")), f)
}

/// Share of the NewReno flow with a choice, per cent.
pub(super) fn share_of(m: &Material, choice: &str, rate: &str) -> BySeed {
    at(m, choice, rate, |r| share(r, THREE_ONE.others))
}

/// The section.
pub(super) fn section(m: &Material) -> Section {
    let tables = RATES.iter().map(|rate| Block::Table(table(m, rate)));
    let made = [BASE, "rtt-max"].map(|choice| {
        let about = format!("`{choice}` at 1 Mbit/s:");
        commands::runs(m, &about, EXPERIMENT, &format!("choice={choice},rate=1Mbps"))
    });
    titled("assumptions", "Assumption ledger", tables.collect(), made.into_iter().flatten())
}

fn table(m: &Material, rate: &str) -> Table {
    let rows = choices(m).into_iter().map(|v| Row {
        cells: vec![
            v.label.clone(),
            v.about.clone(),
            cell(&share_of(m, &v.label, rate)),
            cell(&at(m, &v.label, rate, jain)),
            cell(&at(m, &v.label, rate, queue_loss)),
        ],
        ..Row::default()
    });
    let paper = if rate == RATES[0] { "16.5" } else { "17.9" };
    Table {
        id: format!("ledger-table-{}", rate.to_lowercase()),
        caption: format!(
            "One NewReno flow beside three of TCP Modified at {}, one choice made otherwise at a \
             time: medians with 95 % intervals",
            spaced(rate)
        ),
        columns: columns(&[
            "choice",
            "what it means",
            "share of NewReno (%)",
            "Jain's index",
            "dropped by the queue (%)",
        ]),
        rows: rows.collect(),
        notes: vec![format!("The paper has {paper} % of the link; a fair share is 25 %.")],
    }
}
