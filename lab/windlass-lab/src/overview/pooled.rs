//! Rare events: counts over all runs, and the worst case. A median over runs hides events of few runs.

use windlass_sim::FlowResult;

use super::listing::{Told, masked};
use crate::report::model::{Row, Table};
use crate::report::numbers::{NEVER, interval};
use crate::stats::{CONFIDENCE, share};

/// A table of counts of messages or exchanges, with its headings.
pub(super) struct Kind {
    caption: &'static str,
    columns: [&'static str; 7],
    note: &'static str,
    of: fn(&FlowResult) -> Option<Counts>,
}

/// Messages with a deadline.
pub(super) const MESSAGES: Kind = Kind {
    caption: "Messages of all runs",
    columns: ["flow", "sent", "arrived", "on time", "late (%)", "worst (ms)", "with seed"],
    note: "late: share of all messages, with an exact 95 % interval that takes each run as one cluster",
    of: |flow| {
        let m = flow.messages.as_deref()?;
        let counts = [m.sent, m.arrived, m.on_time()];
        Some(Counts {
            counts,
            bad: [m.late, m.sent],
            worst: m.latency(m.max_ms),
            lost: m.undelivered,
        })
    },
};

/// Exchanges of CoAP.
pub(super) const EXCHANGES: Kind = Kind {
    caption: "Exchanges of CoAP of all runs",
    columns: ["flow", "begun", "answered", "given up", "given up (%)", "longest (ms)", "with seed"],
    note: "given up: share of the exchanges that ended, with an exact 95 % interval that takes each run as one cluster",
    of: |flow| {
        let c = flow.coap.as_deref()?;
        let counts = [c.begun, c.completed, c.given_up];
        let bad = [c.given_up, c.completed + c.given_up];
        Some(Counts { counts, bad, worst: c.time(c.max_ms), lost: c.given_up })
    },
};

/// Counts of one or several flows, in one or several runs.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    counts: [u64; 3],
    /// Number of bad events, and of all events.
    bad: [u64; 2],
    /// The longest time. Infinite if an event did not end.
    worst: Option<f64>,
    /// Number of events that did not end.
    lost: u64,
}

/// A row: counts over the runs, and the seed of the run with the worst case.
#[derive(Default)]
struct Pool {
    name: String,
    sum: Counts,
    /// Bad events and all events of each run.
    runs: Vec<(u64, [u64; 2])>,
    worst: Option<(f64, u64, u64)>,
}

impl Pool {
    fn add(&mut self, c: &Counts, seed: u64) {
        let together = |sum: &mut [u64], more: &[u64]| {
            sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        };
        together(&mut self.sum.counts, &c.counts);
        together(&mut self.sum.bad, &c.bad);
        match self.runs.last_mut().filter(|(of, _)| *of == seed) {
            Some((_, bad)) => together(bad, &c.bad),
            None => self.runs.push((seed, c.bad)),
        }
        let Some(worst) = c.worst else { return };
        // Among runs with events that did not end, the run with the most such events is the worst.
        if self.worst.is_none_or(|(known, lost, _)| (worst, c.lost) > (known, lost)) {
            self.worst = Some((worst, c.lost, seed));
        }
    }

    fn row(&self) -> Row {
        let [bad, whole] = self.sum.bad;
        let mean = bad as f64 / whole as f64;
        let runs: Vec<[u64; 2]> = self.runs.iter().map(|(_, bad)| *bad).collect();
        let error = share::ratio_error(&runs);
        let ends = share::clustered(mean, error, runs.len(), whole as f64, CONFIDENCE);
        let share = ends.map(|[low, high]| interval(100.0 * mean, 100.0 * low, 100.0 * high));
        let (worst, seed) = match self.worst {
            Some((f64::INFINITY, lost, seed)) => (format!("{NEVER} ({lost})"), seed.to_string()),
            Some((worst, _, seed)) => (format!("{worst:.1}"), seed.to_string()),
            None => ("-".to_owned(), "-".to_owned()),
        };
        let counts = self.sum.counts.map(|n| n.to_string());
        let last = [share.unwrap_or_else(|| "-".to_owned()), worst, seed];
        let cells = std::iter::once(self.name.clone()).chain(counts).chain(last).collect();
        Row { cells, ..Row::default() }
    }
}

/// The table of a kind, with a row for each flow and a row for all flows. If there are too many flows, flows
/// whose names differ only in numbers have one row. `None` for a single run.
pub(super) fn table(kind: &Kind, told: &Told<'_>) -> Option<Table> {
    let [first, _, ..] = told.records else { return None };
    let has = |flow: &&FlowResult| (kind.of)(flow).is_some();
    let together = first.flows.iter().filter(has).count() > told.longest;
    let mut pools: Vec<Pool> = Vec::new();
    let mut all = Pool { name: "all flows".to_owned(), ..Pool::default() };
    for run in told.records {
        for flow in &run.flows {
            let Some(counts) = (kind.of)(flow) else { continue };
            let name = match together {
                true => masked(&flow.name),
                false => flow.name.clone(),
            };
            let at = pools.iter().position(|p| p.name == name).unwrap_or_else(|| {
                pools.push(Pool { name, ..Pool::default() });
                pools.len() - 1
            });
            pools[at].add(&counts, run.seed);
            all.add(&counts, run.seed);
        }
    }
    if pools.len() > 1 {
        pools.push(all);
    }
    Some(Table {
        caption: kind.caption.to_owned(),
        columns: kind.columns.map(str::to_owned).to_vec(),
        rows: pools.iter().map(Pool::row).collect(),
        notes: vec![kind.note.to_owned()],
        ..Table::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;
    use crate::run::RunRecord;
    use windlass_sim::latency::MessageResult;

    fn with(seed: u64, late: u64, undelivered: u64, max_ms: Option<f64>) -> RunRecord {
        let mut record = run("e", "p", seed, 2.0);
        let arrived = 100 - undelivered;
        record.flows[0].messages = Some(
            MessageResult { sent: 100, arrived, late, undelivered, max_ms, ..Default::default() }
                .into(),
        );
        record
    }

    fn cells(records: &[RunRecord]) -> Option<Vec<String>> {
        let table = table(&MESSAGES, &Told { records, longest: 9 })?;
        assert_eq!(table.rows.len(), 1);
        Some(table.rows[0].cells[1..].to_vec())
    }

    #[test]
    fn a_rare_late_message_is_counted_over_all_runs_and_its_seed_is_named() {
        let mut runs: Vec<RunRecord> = (1..=30).map(|seed| with(seed, 0, 0, Some(900.0))).collect();
        runs[16] = with(17, 1, 0, Some(80_000.0));
        let told = cells(&runs).expect("a table");
        assert_eq!(told, ["3000", "3000", "2999", "0.03 [0.00, 0.20]", "80000.0", "17"]);
        runs[4] = with(5, 2, 1, None);
        runs[7] = with(8, 3, 3, None);
        let told = cells(&runs).expect("a table");
        assert_eq!(told[4..], ["never (3)", "8"], "the run with the most undelivered messages");
        assert_eq!(cells(&runs[..1]), None, "a single run has no table");
    }
}
