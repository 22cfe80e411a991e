//! Failed flows, and the slowest flows of scenarios with many flows.

use super::listing::{Told, cell, masked};
use crate::report::model::{Row, Table};
use crate::scenario::Scenario;
use windlass_sim::FlowResult;

/// Maximum number of flows that a note names one by one.
const NAMED: usize = 3;
/// Number of slowest flows in the table.
const SLOWEST: usize = 10;

/// A flow that failed, the number of runs in which it failed, and the seed and the reason of the first of
/// these runs.
type Failed<'a> = (usize, usize, u64, &'a str);

/// A sentence for each flow that failed; one sentence if many flows failed for the same reason. Reasons are
/// the same if they differ only in numbers, such as those in the names of nodes.
pub(super) fn notes(scenario: &Scenario, told: &Told<'_>) -> Vec<String> {
    let runs = told.records.len();
    let mut reasons: Vec<(String, Vec<Failed>)> = Vec::new();
    for i in 0..scenario.flows.len() {
        for run in told.records {
            let Some(reason) = run.flows.get(i).and_then(|f| f.failure.as_deref()) else {
                continue;
            };
            let kind = masked(reason);
            let at = reasons.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
                reasons.push((kind, Vec::new()));
                reasons.len() - 1
            });
            match reasons[at].1.last_mut() {
                Some((flow, times, ..)) if *flow == i => *times += 1,
                _ => reasons[at].1.push((i, 1, run.seed, reason)),
            }
        }
    }
    let name = |i: usize| scenario.flows[i].name.as_str();
    let mut notes = Vec::new();
    for (kind, flows) in reasons {
        let one = |(i, times, seed, reason): &Failed| match runs {
            1 => format!("{}: {reason}", name(*i)),
            n => format!("{}: {reason} (in {times} of {n} runs, first with seed {seed})", name(*i)),
        };
        if flows.len() <= NAMED || told.longest == usize::MAX {
            notes.extend(flows.iter().map(one));
            continue;
        }
        let first: Vec<&str> = flows.iter().take(NAMED).map(|(i, ..)| name(*i)).collect();
        let more = flows.len() - NAMED;
        notes.push(format!("{} flows ({} and {more} more): {kind}", flows.len(), first.join(", ")));
    }
    notes
}

/// The measure by which flows of a fleet are slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Slow {
    /// Time to the last byte of a transfer.
    Completion,
    /// Longest time from a lost connection to the next ready connection.
    Reconnection,
    /// Messages past their deadline.
    Late,
}

impl Slow {
    /// The measure of these flows: reconnections, then messages, then transfers that ended.
    pub(crate) fn of(flows: &[FlowResult]) -> Option<Slow> {
        let reconnects = |f: &FlowResult| {
            f.connections.as_ref().is_some_and(|c| c.reconnections + c.unfinished > 0)
        };
        if flows.iter().any(reconnects) {
            return Some(Slow::Reconnection);
        }
        if flows.iter().any(|f| f.messages.is_some()) {
            return Some(Slow::Late);
        }
        flows.iter().any(|f| f.completion_s.is_some()).then_some(Slow::Completion)
    }

    /// The value of a flow; `None` if the flow has no such value, infinite if it did not end.
    pub(crate) fn value(self, flow: &FlowResult) -> Option<f64> {
        match self {
            Slow::Completion => Some(flow.completion_s.unwrap_or(f64::INFINITY)),
            Slow::Reconnection => {
                let connections = flow.connections.as_ref()?;
                connections.duration(connections.max_ms).map(|ms| ms / 1e3)
            }
            Slow::Late => Some(flow.messages.as_ref()?.late as f64),
        }
    }

    /// Heading of its column, and number of decimals.
    fn column(self) -> (&'static str, usize) {
        match self {
            Slow::Completion => ("completion (s)", 3),
            Slow::Reconnection => ("connected again, longest (s)", 3),
            Slow::Late => ("late messages", 0),
        }
    }
}

/// The slowest flows, if the table of flows cannot list all flows. `None` without a measure.
pub(super) fn slowest(scenario: &Scenario, told: &Told<'_>) -> Option<Table> {
    if scenario.flows.len() <= told.longest || told.longest == usize::MAX {
        return None;
    }
    let slow = Slow::of(&told.records.first()?.flows)?;
    let values = |i: usize| -> Vec<f64> {
        told.records.iter().filter_map(|run| slow.value(run.flows.get(i)?)).collect()
    };
    let worst = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let mut all: Vec<(usize, Vec<f64>)> =
        (0..scenario.flows.len()).map(|i| (i, values(i))).collect();
    all.sort_by(|(_, a), (_, b)| worst(b).total_cmp(&worst(a)));
    let (column, decimals) = slow.column();
    let row = |(i, values): (usize, Vec<f64>)| Row {
        cells: vec![
            scenario.flows[i].name.clone(),
            cell(&values, decimals),
            cell(&[worst(&values)], decimals),
        ],
        ..Row::default()
    };
    Some(Table {
        caption: "Slowest flows".to_owned(),
        columns: ["flow", column, "largest"].map(str::to_owned).to_vec(),
        rows: all.into_iter().take(SLOWEST).map(row).collect(),
        ..Table::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;

    const STAR: &str = r#"
duration = "100s"
[topology]
kind = "star"
count = 40
access = { rate = "1Mbps" }
[[flow]]
name = "meter"
from = "s*"
to = "server"
algorithm = "newreno"
traffic = { kind = "bulk", bytes = "1kB" }
"#;

    #[test]
    fn many_flows_have_a_table_of_the_slowest_and_a_note_with_the_number_of_failures() {
        let scenario = Scenario::from_str(STAR, "star").expect("a scenario");
        let mut record = run("e", "p", 1, 2.0);
        let first = record.flows[0].clone();
        record.flows = (0..40)
            .map(|i| {
                let mut flow = first.clone();
                flow.name = format!("meter-{}", i + 1);
                flow.completion_s = (i % 8 != 7).then_some(f64::from(i));
                flow.failure = (i % 8 == 7).then(|| format!("`s{}`: it broke", i + 1));
                flow
            })
            .collect();
        let told = Told { records: &[record], longest: 24 };
        let rows = slowest(&scenario, &told).expect("a table").rows;
        let cells = |i: usize| rows[i].cells.clone();
        assert_eq!(rows.len(), 10);
        assert_eq!(cells(0), ["meter-8", "never", "never"]);
        assert_eq!(cells(5), ["meter-39", "38.000", "38.000"]);
        assert_eq!(
            notes(&scenario, &told),
            ["5 flows (meter-8, meter-16, meter-24 and 2 more): `s*`: it broke"]
        );
        let few = Told { records: told.records, longest: 40 };
        assert!(slowest(&scenario, &few).is_none());
    }
}
