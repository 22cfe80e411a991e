//! Measures of the compared flows.

use serde::Serialize;
use windlass_sim::FlowResult;

use super::Flows;
use super::cast::twin_name;
use crate::claims::{Metric, jain_index};
use crate::outlook;
use crate::run::RunRecord;
use crate::scenario::{FlowSpec, Hop, Scenario, Traffic};
use crate::stats::share::Range;

/// A performance measure of the compared flows in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Sum of the flows' goodputs.
    Goodput,
    /// Mean over the flows of the time that a packet and its acknowledgement wait in queues.
    QueueingDelay,
    /// Packets of the data senders that the network dropped, over packets sent.
    Loss,
    /// Data segments retransmitted, over data segments sent.
    Retransmissions,
    /// Jain's index of the flows' goodputs.
    Jain,
    /// Mean over the flows of the time to the last byte delivered.
    Completion,
    /// Late messages of the whole run, over messages written.
    Late,
    /// 99th percentile of the latency of the run's messages; infinite if it falls among messages that never
    /// arrived.
    Latency,
    /// Mean over the flows of the 95th percentile of the time of a CoAP exchange; infinite if it falls among failed
    /// exchanges.
    Exchange,
    /// Bytes that the first links of the flows carried in both directions, with headers, retransmissions and
    /// acknowledgements.
    Bytes,
    /// Life of the first battery to run empty, at the mean power of the run.
    BatteryLife,
    /// Mean over the flows of the RTT: the RTT without queues plus the queueing delay.
    RoundTrip,
}

/// The measures in which one algorithm can harm another.
pub const HARMED: &[Measure] = &[Measure::Goodput, Measure::RoundTrip, Measure::Completion];

impl Measure {
    /// Every measure of the ranking with its name on the command line.
    pub const ALL: [(&'static str, Measure); 11] = [
        ("goodput", Measure::Goodput),
        ("queueing-delay", Measure::QueueingDelay),
        ("loss", Measure::Loss),
        ("retransmissions", Measure::Retransmissions),
        ("jain", Measure::Jain),
        ("completion", Measure::Completion),
        ("late", Measure::Late),
        ("latency", Measure::Latency),
        ("exchange", Measure::Exchange),
        ("bytes", Measure::Bytes),
        ("battery-life", Measure::BatteryLife),
    ];

    /// Name, with the unit if it has one.
    pub const fn name(self) -> &'static str {
        match self {
            Measure::Goodput => "goodput (Mbit/s)",
            Measure::QueueingDelay => "queueing delay (ms)",
            Measure::Loss => "loss (%)",
            Measure::Retransmissions => "retransmissions (%)",
            Measure::Jain => "Jain's index",
            Measure::Completion => "completion (s)",
            Measure::Late => "late messages (%)",
            Measure::Latency => "message latency, 99 % (ms)",
            Measure::Exchange => "CoAP exchange, 95 % (ms)",
            Measure::Bytes => "bytes on the first link (kB)",
            Measure::BatteryLife => "battery life (h)",
            Measure::RoundTrip => "RTT (ms)",
        }
    }

    /// Name as an identifier, with the unit at the end, as in the columns of tables.
    pub const fn id(self) -> &'static str {
        match self {
            Measure::Goodput => "goodput_mbps",
            Measure::QueueingDelay => "queueing_delay_ms",
            Measure::Loss => "loss_percent",
            Measure::Retransmissions => "retransmissions_percent",
            Measure::Jain => "jain_index",
            Measure::Completion => "completion_s",
            Measure::Late => "late_percent",
            Measure::Latency => "message_p99_ms",
            Measure::Exchange => "exchange_p95_ms",
            Measure::Bytes => "first_link_kb",
            Measure::BatteryLife => "battery_life_h",
            Measure::RoundTrip => "round_trip_ms",
        }
    }

    /// True if more is better.
    pub const fn more_is_better(self) -> bool {
        matches!(self, Measure::Goodput | Measure::Jain | Measure::BatteryLife)
    }

    /// Measure of the printed ranking for these flows, if no measure is given: the latency if all have messages
    /// with a deadline, otherwise the time of an exchange if all are CoAP, otherwise the goodput.
    pub(super) fn usual<'a>(flows: impl Iterator<Item = &'a FlowSpec> + Clone) -> Measure {
        let all = |is: fn(&Traffic) -> bool| flows.clone().all(|flow| is(&flow.traffic));
        if all(|traffic| traffic.deadline().is_some()) {
            Measure::Latency
        } else if all(|traffic| matches!(traffic, Traffic::Coap(_))) {
            Measure::Exchange
        } else {
            Measure::Goodput
        }
    }

    /// Range of possible values in runs of this length.
    pub(super) fn range(self, longest_s: f64) -> Range {
        match self {
            Measure::Loss | Measure::Retransmissions | Measure::Late => Range::SHARE.times(100.0),
            Measure::Jain => Range::SHARE,
            Measure::QueueingDelay | Measure::Latency | Measure::Exchange => {
                Range::up_to(longest_s * 1e3)
            }
            Measure::Completion => Range::up_to(longest_s),
            _ => Range::POSITIVE,
        }
    }

    /// Number of the events of which the value is a share, for late messages.
    pub(super) fn events(self, run: &RunRecord) -> Option<f64> {
        (self == Measure::Late).then(|| Metric::of_run("messages_sent", run)).flatten()
    }

    /// Returns the value over the flows on these paths; `None` if the run has no value, infinite if a flow did not
    /// finish.
    pub(super) fn of(self, run: &RunRecord, paths: &[&Path]) -> Option<f64> {
        let flows: Vec<&FlowResult> = paths.iter().filter_map(|p| p.flow(run)).collect();
        if flows.is_empty() || flows.len() != paths.len() {
            return None;
        }
        let sum = |f: fn(&FlowResult) -> f64| flows.iter().map(|flow| f(flow)).sum::<f64>();
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| 100.0 * part / whole);
        let mean = |f: &dyn Fn(&Path) -> Option<f64>| {
            let values: Option<Vec<f64>> = paths.iter().map(|p| f(p)).collect();
            values.map(|v| v.iter().sum::<f64>() / v.len() as f64)
        };
        let whole = |field: &str| Metric::of_run(field, run);
        match self {
            Measure::Goodput => Some(sum(|f| f.goodput_bps) / 1e6),
            Measure::QueueingDelay => mean(&|p| p.waits_ms(run)),
            Measure::RoundTrip => mean(&|p| Some(p.idle_ms + p.waits_ms(run)?)),
            Measure::Loss => {
                let sent = sum(|f| f.packets_sent as f64);
                share(sum(|f| f.loss_rate * f.packets_sent as f64), sent)
            }
            Measure::Retransmissions => {
                share(sum(|f| f.retransmits as f64), sum(|f| f.data_segments as f64))
            }
            Measure::Jain if flows.len() < 2 => None,
            Measure::Jain => jain_index(flows.iter().map(|f| f.goodput_bps)),
            Measure::Completion => mean(&|p| p.completion_s(run)),
            Measure::Late => whole("late_fraction").map(|share| 100.0 * share),
            Measure::Latency => whole("message_p99_ms"),
            Measure::Exchange => mean(&|p| {
                let coap = p.flow(run)?.coap.as_deref()?;
                coap.time(coap.p95_ms)
            }),
            Measure::Bytes => {
                let mut links: Vec<usize> =
                    paths.iter().map(|p| p.first_link()).collect::<Option<_>>()?;
                links.sort_unstable();
                links.dedup();
                // The two directions of a link have adjacent numbers.
                let both = links.iter().flat_map(|d| [*d, d ^ 1]);
                let bytes: Option<u64> = both.map(|d| Some(run.links.get(d)?.bytes)).sum();
                bytes.map(|bytes| bytes as f64 / 1e3)
            }
            Measure::BatteryLife => whole("battery_life_s").map(|s| s / 3600.0),
        }
    }
}

/// A compared flow and the path of its packets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Path {
    /// Name of the flow.
    name: String,
    /// Time of a full packet and its acknowledgement over links without queues, milliseconds.
    idle_ms: f64,
    /// The queues in which its packets and their acknowledgements wait.
    queues: Vec<Queue>,
    /// True if the flow has a last byte.
    is_finite: bool,
}

impl Path {
    /// The even direction of the first link; `None` if the path begins in a radio cell.
    fn first_link(&self) -> Option<usize> {
        match self.queues.first()? {
            Queue::Link(d) => Some(d & !1),
            Queue::Station { .. } => None,
        }
    }
}

/// A queue in which a packet may wait.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Queue {
    /// Before a link direction, by its index.
    Link(usize),
    /// In a station of a Wi-Fi cell, by their indices.
    Station { cell: usize, station: usize },
}

impl Queue {
    /// The queues of a hop in both directions.
    fn both_ways(hop: Hop) -> [Queue; 2] {
        match hop {
            // The two directions of a link have adjacent numbers.
            Hop::Link(d) => [Queue::Link(d as usize), Queue::Link(d as usize ^ 1)],
            Hop::Air { cell, from, to } => {
                [from, to].map(|station| Queue::Station { cell, station })
            }
        }
    }

    fn wait_ms(self, run: &RunRecord) -> Option<f64> {
        match self {
            Queue::Link(d) => Some(run.links.get(d)?.mean_queue_delay_ms),
            Queue::Station { cell, station } => {
                Some(run.radios.get(cell)?.stations.get(station)?.mean_queue_delay_ms)
            }
        }
    }
}

/// The paths of the compared flows, in the scenario's order. A single flow is followed by its copy.
pub(super) fn paths(scenario: &Scenario, flows: &Flows) -> Vec<Path> {
    // A scenario that has run compiles, so that its paths exist.
    let outlooks = outlook::paths(scenario).unwrap_or_default();
    let ways = scenario.ways();
    let path = |i: &usize| {
        let flow = &scenario.flows[*i];
        // A multipath flow is measured on the path of its first subflow.
        let nodes = flow.ways().into_iter().next().unwrap_or_default();
        let there = ways.through(&nodes).unwrap_or_default();
        let before: usize = scenario.flows[..*i].iter().map(|f| f.ways().len()).sum();
        Path {
            name: flow.name.clone(),
            idle_ms: outlooks.get(before).map_or(0.0, |p| p.idle_time.0 as f64 / 1e6),
            queues: there.into_iter().flat_map(Queue::both_ways).collect(),
            is_finite: is_finite(&flow.traffic),
        }
    };
    let mut paths: Vec<Path> = flows.indices().iter().map(path).collect();
    if let [only] = &paths[..] {
        paths.push(Path { name: twin_name(scenario, &only.name), ..only.clone() });
    }
    paths
}

fn is_finite(traffic: &Traffic) -> bool {
    match traffic {
        Traffic::Bulk { bytes } => bytes.is_some(),
        Traffic::RequestResponse { .. } => true,
        Traffic::Cbr { .. } | Traffic::Messages { .. } | Traffic::Coap(_) | Traffic::Media(_) => {
            false
        }
    }
}

impl Path {
    fn flow<'a>(&self, run: &'a RunRecord) -> Option<&'a FlowResult> {
        run.flows.iter().find(|f| f.name == self.name)
    }

    /// Mean queueing delay of a packet and its acknowledgement: the sum of the mean waits of the queues in both
    /// directions, over all packets in them.
    fn waits_ms(&self, run: &RunRecord) -> Option<f64> {
        self.queues.iter().map(|queue| queue.wait_ms(run)).sum()
    }

    fn completion_s(&self, run: &RunRecord) -> Option<f64> {
        let flow = self.flow(run).filter(|_| self.is_finite)?;
        Some(flow.completion_s.unwrap_or(f64::INFINITY))
    }
}
