//! The compared values of a run, and the required agreement.

use crate::run::RunRecord;
use windlass_sim::FlowResult;

/// Required agreement of a set of cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Largest median of the difference.
    pub median: f64,
    /// Largest 95th percentile of the difference.
    pub p95: f64,
}

/// Results of one run of a cell. Counts are of all flows or paths together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measures {
    /// Goodput of each flow, or of each path of a multipath connection, bits per second.
    pub parts_bps: [f64; 2],
    /// Packets that queues dropped in the direction of the data.
    pub drops_queue: f64,
    /// Packets lost at random in the direction of the data.
    pub drops_error: f64,
    /// Packets marked in the direction of the data.
    pub marks: f64,
    /// Data segments retransmitted.
    pub retransmits: f64,
    /// Expiries of the retransmission timer.
    pub timeouts: f64,
    /// Smoothed RTT of the first flow at the end, milliseconds.
    pub srtt_ms: Option<f64>,
    /// Mean packets waiting in the first queue.
    pub queue_packets: f64,
    /// Mean time of the first flow's messages, or of its responses, milliseconds.
    pub time_ms: Option<f64>,
}

impl Measures {
    /// Names of the fields in a file.
    pub const COLUMNS: [&str; 10] = [
        "first_bps",
        "second_bps",
        "drops_queue",
        "drops_error",
        "marks",
        "retransmits",
        "timeouts",
        "srtt_ms",
        "queue_packets",
        "time_ms",
    ];

    /// The measures of a run.
    pub fn of(record: &RunRecord) -> Measures {
        let sum = |f: fn(&FlowResult) -> f64| record.flows.iter().map(f).sum();
        // The direction of the data is the first direction of each link.
        let links = || record.links.iter().step_by(2);
        let first = record.flows.first();
        let parts_bps = match first.and_then(|flow| Some((flow, flow.multipath.as_ref()?))) {
            // The goodput of the connection, divided by the shares of the paths.
            Some((flow, paths)) => {
                let share = paths.subflows.first().map_or(0.0, |s| s.share);
                [share, 1.0 - share].map(|share| share * flow.goodput_bps)
            }
            None => [0, 1].map(|i| record.flows.get(i).map_or(0.0, |flow| flow.goodput_bps)),
        };
        Measures {
            parts_bps,
            drops_queue: links().map(|l| l.drops_queue as f64).sum(),
            drops_error: links().map(|l| l.drops_error as f64).sum(),
            marks: links().map(|l| l.marks as f64).sum(),
            retransmits: sum(|f| f.retransmits as f64),
            timeouts: sum(|f| f.rto_count as f64),
            srtt_ms: first.and_then(|f| f.srtt_ms),
            queue_packets: record.links.first().map_or(0.0, |l| l.mean_queue_packets),
            time_ms: first.and_then(time_ms),
        }
    }

    /// The mean of several runs; `None` for an empty list.
    pub(super) fn mean(all: &[Measures]) -> Option<Measures> {
        let mean = |f: &dyn Fn(&Measures) -> f64| all.iter().map(f).sum::<f64>() / all.len() as f64;
        let known = |f: &dyn Fn(&Measures) -> Option<f64>| {
            let values: Option<Vec<f64>> = all.iter().map(f).collect();
            values.map(|v| v.iter().sum::<f64>() / v.len() as f64)
        };
        (!all.is_empty()).then(|| Measures {
            parts_bps: [0, 1].map(|i| mean(&|m| m.parts_bps[i])),
            drops_queue: mean(&|m| m.drops_queue),
            drops_error: mean(&|m| m.drops_error),
            marks: mean(&|m| m.marks),
            retransmits: mean(&|m| m.retransmits),
            timeouts: mean(&|m| m.timeouts),
            srtt_ms: known(&|m| m.srtt_ms),
            queue_packets: mean(&|m| m.queue_packets),
            time_ms: known(&|m| m.time_ms),
        })
    }

    /// Goodput of all flows or paths together, bits per second.
    pub fn goodput_bps(&self) -> f64 {
        self.parts_bps.iter().sum()
    }

    /// Share of the first flow or path in the total goodput.
    pub fn share(&self) -> f64 {
        let all = self.goodput_bps();
        if all > 0.0 { self.parts_bps[0] / all } else { 0.0 }
    }

    /// The fields of a line.
    pub(super) fn fields(&self) -> [String; 10] {
        let whole = |value: f64| format!("{value:.0}");
        let finely = |value: f64| format!("{value:.3}");
        [
            whole(self.parts_bps[0]),
            whole(self.parts_bps[1]),
            whole(self.drops_queue),
            whole(self.drops_error),
            whole(self.marks),
            whole(self.retransmits),
            whole(self.timeouts),
            self.srtt_ms.map_or(String::new(), finely),
            finely(self.queue_packets),
            self.time_ms.map_or(String::new(), finely),
        ]
    }

    /// The measures of such fields.
    pub(super) fn parse(fields: &[&str]) -> Option<Measures> {
        let [a, b, queue, error, marks, retransmits, timeouts, srtt, packets, time] = fields else {
            return None;
        };
        let number = |text: &str| text.parse::<f64>().ok();
        let maybe = |text: &str| if text.is_empty() { Some(None) } else { number(text).map(Some) };
        Some(Measures {
            parts_bps: [number(a)?, number(b)?],
            drops_queue: number(queue)?,
            drops_error: number(error)?,
            marks: number(marks)?,
            retransmits: number(retransmits)?,
            timeouts: number(timeouts)?,
            srtt_ms: maybe(srtt)?,
            queue_packets: number(packets)?,
            time_ms: maybe(time)?,
        })
    }
}

/// Mean time of a flow's messages, or of its responses.
fn time_ms(flow: &FlowResult) -> Option<f64> {
    let responses = &flow.responses_s;
    let mean_s = || responses.iter().sum::<f64>() / responses.len() as f64;
    match &flow.messages {
        Some(messages) => messages.mean_ms,
        None => (!responses.is_empty()).then(|| 1e3 * mean_s()),
    }
}
