//! Names of what a run measures: `flow.NAME.FIELD`, `multipath.FLOW.FIELD`,
//! `subflow.FLOW:NAME.FIELD`, `link.NAME.FIELD`, `cell.NAME.FIELD`, `station.CELL:NODE.FIELD` and
//! `run.FIELD`.

use crate::run::RunRecord;
use windlass_sim::{
    FlowResult, LinkResult, MultipathResult, RadioResult, StationResult, SubflowResult,
};

/// A path such as `flow.download.completion_s` or `link.cloud-client:cloud>client.drops`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Flow, subflow, link, cell, station or the whole run.
    pub kind: Kind,
    /// Name of the flow or cell, `flow:subflow`, `link:from>to`, or `cell:node`; empty for the whole
    /// run.
    pub name: String,
    /// Field, one of [`FLOW_FIELDS`], [`LINK_FIELDS`] or [`RUN_FIELDS`], or of a cell or station.
    pub field: String,
}

/// What a metric belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A flow.
    Flow,
    /// One direction of a link.
    Link,
    /// All flows together.
    Run,
    /// A Wi-Fi cell.
    Cell,
    /// A station of a Wi-Fi cell.
    Station,
    /// A multipath flow, beside what all flows have.
    Multipath,
    /// A subflow of a multipath flow.
    Subflow,
}

/// A field of `T` by name; `None` when the run has no value for it.
pub type Field<T> = (&'static str, fn(&T) -> Option<f64>);

/// The fields of a flow. A flow that did not complete has an infinite `completion_s`. Radio time and
/// energy per byte are those of the node that sends the data, over the payload bytes delivered: what
/// its battery is asked for a byte of the flow, acknowledgements received and waiting included.
pub const FLOW_FIELDS: &[Field<FlowResult>] = &[
    ("active_s", |f| Some(f.active_s)),
    ("delivered_bytes", |f| Some(f.delivered_bytes as f64)),
    ("goodput_bps", |f| Some(f.goodput_bps)),
    ("throughput_bps", |f| Some(f.throughput_bps)),
    ("retransmits", |f| Some(f.retransmits as f64)),
    ("fast_retransmits", |f| Some(f.fast_retransmits as f64)),
    ("rto_count", |f| Some(f.rto_count as f64)),
    ("data_segments", |f| Some(f.data_segments as f64)),
    ("packets_sent", |f| Some(f.packets_sent as f64)),
    ("peer_packets_sent", |f| Some(f.peer_packets_sent as f64)),
    ("loss_rate", |f| Some(f.loss_rate)),
    ("drops", |f| Some(dropped(f.loss_rate, f.packets_sent))),
    ("srtt_ms", |f| f.srtt_ms),
    ("min_rtt_ms", |f| f.min_rtt_ms),
    ("cwnd_bytes", |f| Some(f.cwnd_bytes as f64)),
    ("completion_s", |f| Some(f.completion_s.unwrap_or(f64::INFINITY))),
    ("delay_ms", |f| Some(f.transit?.mean_ms)),
    ("delay_min_ms", |f| Some(f.transit?.min_ms)),
    ("delay_max_ms", |f| Some(f.transit?.max_ms)),
    ("jitter_ms", |f| f.transit?.jitter_ms),
    ("jitter_smoothed_ms", |f| f.transit?.jitter_smoothed_ms),
    ("gap_ms", |f| f.transit?.gap_ms),
    ("messages_sent", |f| Some(f.messages?.sent as f64)),
    ("messages_arrived", |f| Some(f.messages?.arrived as f64)),
    ("messages_late", |f| Some(f.messages?.late as f64)),
    ("message_mean_ms", |f| f.messages?.mean_ms),
    ("message_p95_ms", |f| f.messages?.p95_ms),
    ("message_p99_ms", |f| f.messages?.p99_ms),
    ("message_max_ms", |f| f.messages?.max_ms),
    ("sender_radio_s", |f| Some(f.radio?.sender_s)),
    ("receiver_radio_s", |f| Some(f.radio?.receiver_s)),
    ("sender_energy_j", |f| f.radio?.sender_j),
    ("receiver_energy_j", |f| f.radio?.receiver_j),
    ("radio_per_byte_ns", |f| per_byte(f.radio?.sender_s, f.delivered_bytes)),
    ("energy_per_byte_nj", |f| per_byte(f.radio?.sender_j?, f.delivered_bytes)),
];

/// Packets that the network dropped, of so many sent.
fn dropped(loss_rate: f64, sent: u64) -> f64 {
    (loss_rate * sent as f64).round()
}

/// So much of a billion parts of a unit for each byte: nanojoules of joules.
fn per_byte(amount: f64, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| amount * 1e9 / bytes as f64)
}

/// The fields of a direction of a link. `drop_fraction` is `drops` over `sent`.
pub const LINK_FIELDS: &[Field<LinkResult>] = &[
    ("sent", |l| Some(l.sent as f64)),
    ("delivered", |l| Some(l.delivered as f64)),
    ("drops", |l| Some(l.drops as f64)),
    ("drops_queue", |l| Some(l.drops_queue as f64)),
    ("drops_early", |l| Some(l.drops_early as f64)),
    ("drops_error", |l| Some(l.drops_error as f64)),
    ("drop_fraction", |l| (l.sent > 0).then(|| l.drops as f64 / l.sent as f64)),
    ("marks", |l| Some(l.marks as f64)),
    ("bytes", |l| Some(l.bytes as f64)),
    ("utilisation", |l| Some(l.utilisation)),
    ("mean_queue_packets", |l| Some(l.mean_queue_packets)),
    ("mean_queue_delay_ms", |l| Some(l.mean_queue_delay_ms)),
    ("max_queue_packets", |l| Some(l.max_queue_packets as f64)),
];

/// Data packets of a flow that arrived, where their delay was measured.
fn arrived(f: &FlowResult) -> u64 {
    f.transit.map_or(0, |t| t.packets)
}

/// The mean of a value of the flows that have it, each counting by its packets.
fn by_packets(
    r: &RunRecord,
    packets: fn(&FlowResult) -> u64,
    value: fn(&FlowResult) -> Option<f64>,
) -> Option<f64> {
    let pairs = r.flows.iter().filter_map(|f| Some((packets(f) as f64, value(f)?)));
    let (n, sum) = pairs.fold((0.0, 0.0), |(n, sum), (w, v)| (n + w, sum + w * v));
    (n > 0.0).then(|| sum / n)
}

/// IP bits that all link directions and stations delivered, each hop counted, per second.
fn hop_throughput(r: &RunRecord) -> Option<f64> {
    let links: u64 = r.links.iter().map(|l| l.bytes).sum();
    let stations: u64 = r.radios.iter().flat_map(|c| &c.stations).map(|s| s.bytes).sum();
    (r.end_s > 0.0).then(|| (links + stations) as f64 * 8.0 / r.end_s)
}

/// The fields of a whole run: sums over its flows (`goodput_mean_bps` is the mean of a flow), Jain's
/// index of their goodputs, `hop_throughput_bps` over every hop of the network, delays and losses of
/// all packets together (`delay_excess_ms` is above the least of each flow), the messages of all flows
/// with a deadline together (`late_fraction` is the share that was late), radio time and energy
/// summed over its stations, the least that a battery holds at the end, when the first station went
/// off (infinite when none did), how long the first battery lasts at the mean power of the run, and
/// how long the second of two flows takes to reach four fifths of the first one's window or rate
/// ([`Course`](crate::run::Course)), which is infinite when it does not.
pub const RUN_FIELDS: &[Field<RunRecord>] = &[
    ("goodput_bps", |r| Some(r.flows.iter().map(|f| f.goodput_bps).sum())),
    ("throughput_bps", |r| Some(r.flows.iter().map(|f| f.throughput_bps).sum())),
    ("jain_index", |r| jain_index(r.flows.iter().map(|f| f.goodput_bps))),
    ("goodput_mean_bps", |r| {
        let n = r.flows.len();
        (n > 0).then(|| r.flows.iter().map(|f| f.goodput_bps).sum::<f64>() / n as f64)
    }),
    ("hop_throughput_bps", hop_throughput),
    ("loss_rate", |r| by_packets(r, |f| f.packets_sent, |f| Some(f.loss_rate))),
    ("delay_ms", |r| by_packets(r, arrived, |f| Some(f.transit?.mean_ms))),
    ("delay_excess_ms", |r| {
        by_packets(r, arrived, |f| Some(f.transit?.mean_ms - f.transit?.min_ms))
    }),
    ("jitter_ms", |r| by_packets(r, arrived, |f| f.transit?.jitter_ms)),
    ("gap_ms", |r| by_packets(r, arrived, |f| f.transit?.gap_ms)),
    ("late_fraction", |r| {
        let sent: u64 = r.flows.iter().filter_map(|f| Some(f.messages?.sent)).sum();
        let late: u64 = r.flows.iter().filter_map(|f| Some(f.messages?.late)).sum();
        (sent > 0).then(|| late as f64 / sent as f64)
    }),
    ("messages_sent", |r| Some(r.messages?.sent as f64)),
    ("messages_arrived", |r| Some(r.messages?.arrived as f64)),
    ("messages_late", |r| Some(r.messages?.late as f64)),
    ("message_mean_ms", |r| r.messages?.mean_ms),
    ("message_p95_ms", |r| r.messages?.p95_ms),
    ("message_p99_ms", |r| r.messages?.p99_ms),
    ("message_max_ms", |r| r.messages?.max_ms),
    ("retransmits", |r| Some(r.flows.iter().map(|f| f.retransmits as f64).sum())),
    ("rto_count", |r| Some(r.flows.iter().map(|f| f.rto_count as f64).sum())),
    ("convergence_cwnd_s", |r| {
        Some(r.course.as_ref()?.convergence_cwnd_s.unwrap_or(f64::INFINITY))
    }),
    ("convergence_rate_s", |r| {
        Some(r.course.as_ref()?.convergence_rate_s.unwrap_or(f64::INFINITY))
    }),
    ("radio_s", |r| sum_of(r, |s| Some(s.transmit_s + s.receive_s))),
    ("energy_j", |r| sum_of(r, |s| s.energy_j)),
    ("radio_per_byte_ns", |r| {
        per_byte(sum_of(r, |s| Some(s.transmit_s + s.receive_s))?, delivered(r))
    }),
    ("energy_per_byte_nj", |r| per_byte(sum_of(r, |s| s.energy_j)?, delivered(r))),
    ("battery_left_j", |r| least_of(r, |s| s.battery_left_j)),
    ("battery_life_s", |r| least_of(r, |s| battery_life_s(s, r.end_s))),
    ("first_death_s", |r| least_of(r, |s| Some(s.died_s.unwrap_or(f64::INFINITY)))),
];

/// How long the battery of a station lasts, or would last at the mean power that the station has drawn
/// while it was alive; `None` on the mains.
fn battery_life_s(s: &StationResult, end_s: f64) -> Option<f64> {
    let (left, spent) = (s.battery_left_j?, s.energy_j?);
    (spent > 0.0).then(|| s.died_s.unwrap_or(end_s) * (left + spent) / spent)
}

/// The least over all stations that have the quantity; `None` if none has.
fn least_of(run: &RunRecord, quantity: impl Fn(&StationResult) -> Option<f64>) -> Option<f64> {
    let stations = run.radios.iter().flat_map(|r| &r.stations);
    stations.filter_map(quantity).min_by(f64::total_cmp)
}

/// Sum over all stations that have the quantity; `None` if none has.
fn sum_of(run: &RunRecord, quantity: fn(&StationResult) -> Option<f64>) -> Option<f64> {
    let stations = run.radios.iter().flat_map(|r| &r.stations);
    let values: Vec<f64> = stations.filter_map(quantity).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

fn delivered(run: &RunRecord) -> u64 {
    run.flows.iter().map(|f| f.delivered_bytes).sum()
}

/// Jain's fairness index, `(Σx)² / (n·Σx²)`: 1 when all have the same, 1/n when one has all; `None`
/// when nobody has anything.
pub fn jain_index(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
    let squares: f64 = values.map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (n * squares))
}

/// The fields of a Wi-Fi cell; those after `airtime` where packets find their own way
/// ([`RoutingResult`](windlass_sim::routing::aodv::RoutingResult)). `control_share` is messages over
/// all packets that stations were handed.
pub const CELL_FIELDS: &[Field<RadioResult>] = &[
    ("busy", |r| Some(r.busy)),
    ("airtime", |r| Some(r.airtime)),
    ("rreq_originated", |r| Some(r.routing.as_ref()?.rreq_originated as f64)),
    ("rreq_forwarded", |r| Some(r.routing.as_ref()?.rreq_forwarded as f64)),
    ("rrep_originated", |r| Some(r.routing.as_ref()?.rrep_originated as f64)),
    ("rrep_gratuitous", |r| Some(r.routing.as_ref()?.rrep_gratuitous as f64)),
    ("rrep_forwarded", |r| Some(r.routing.as_ref()?.rrep_forwarded as f64)),
    ("rerr_sent", |r| Some(r.routing.as_ref()?.rerr_sent as f64)),
    ("rerr_withheld", |r| Some(r.routing.as_ref()?.rerr_withheld as f64)),
    ("hello_sent", |r| Some(r.routing.as_ref()?.hello_sent as f64)),
    ("control_packets", |r| Some(r.routing.as_ref()?.control_packets as f64)),
    ("control_bytes", |r| Some(r.routing.as_ref()?.control_bytes as f64)),
    ("control_drops_queue", |r| Some(r.routing.as_ref()?.control_drops_queue as f64)),
    ("control_drops_retry", |r| Some(r.routing.as_ref()?.control_drops_retry as f64)),
    ("control_drops_off", |r| Some(r.routing.as_ref()?.control_drops_off as f64)),
    ("discoveries", |r| Some(r.routing.as_ref()?.discoveries as f64)),
    ("discoveries_succeeded", |r| Some(r.routing.as_ref()?.discoveries_succeeded as f64)),
    ("discoveries_failed", |r| Some(r.routing.as_ref()?.discoveries_failed as f64)),
    ("mean_discovery_ms", |r| Some(r.routing.as_ref()?.mean_discovery_ms)),
    ("link_breaks", |r| Some(r.routing.as_ref()?.link_breaks as f64)),
    ("buffered", |r| Some(r.routing.as_ref()?.buffered as f64)),
    ("buffered_at_end", |r| Some(r.routing.as_ref()?.buffered_at_end as f64)),
    ("drops_buffer_full", |r| Some(r.routing.as_ref()?.drops_buffer_full as f64)),
    ("drops_buffer_time", |r| Some(r.routing.as_ref()?.drops_buffer_time as f64)),
    ("drops_no_route", |r| Some(r.routing.as_ref()?.drops_no_route as f64)),
    ("drops_off", |r| Some(r.routing.as_ref()?.drops_off as f64)),
    ("drops_on_way", |r| Some(r.routing.as_ref()?.drops_on_way as f64)),
    ("drops_ttl", |r| Some(r.routing.as_ref()?.drops_ttl as f64)),
    ("crossed", |r| Some(r.routing.as_ref()?.crossed as f64)),
    ("mean_hops", |r| r.routing.as_ref().filter(|r| r.crossed > 0).map(|r| r.mean_hops())),
    ("control_share", |r| {
        let offered: u64 = r.stations.iter().map(|s| s.offered).sum();
        let control = r.routing.as_ref()?.control_packets;
        (offered > 0).then(|| control as f64 / offered as f64)
    }),
];

/// The fields of a station of a Wi-Fi cell. Of a station that lives to the end `died_s` is infinite.
pub const STATION_FIELDS: &[Field<StationResult>] = &[
    ("offered", |s| Some(s.offered as f64)),
    ("delivered", |s| Some(s.delivered as f64)),
    ("drops_queue", |s| Some(s.drops_queue as f64)),
    ("drops_retry", |s| Some(s.drops_retry as f64)),
    ("drops_off", |s| Some(s.drops_off as f64)),
    ("unconfirmed", |s| Some(s.unconfirmed as f64)),
    ("transmissions", |s| Some(s.transmissions as f64)),
    ("retransmissions", |s| Some(s.retransmissions as f64)),
    ("rts_sent", |s| Some(s.rts_sent as f64)),
    ("failures", |s| Some(s.failures as f64)),
    ("collisions_seen", |s| Some(s.collisions_seen as f64)),
    ("frame_errors", |s| Some(s.frame_errors as f64)),
    ("duplicates", |s| Some(s.duplicates as f64)),
    ("broadcasts_received", |s| Some(s.broadcasts_received as f64)),
    ("bytes", |s| Some(s.bytes as f64)),
    ("airtime_s", |s| Some(s.airtime_s)),
    ("transmit_s", |s| Some(s.transmit_s)),
    ("receive_s", |s| Some(s.receive_s)),
    ("listen_s", |s| Some(s.listen_s)),
    ("idle_s", |s| Some(s.idle_s)),
    ("off_s", |s| Some(s.off_s)),
    ("energy_j", |s| s.energy_j),
    ("battery_left_j", |s| s.battery_left_j),
    ("died_s", |s| Some(s.died_s.unwrap_or(f64::INFINITY))),
    ("mean_queue_packets", |s| Some(s.mean_queue_packets)),
    ("mean_queue_delay_ms", |s| Some(s.mean_queue_delay_ms)),
    ("mean_service_ms", |s| Some(s.mean_service_ms)),
    ("max_queue_packets", |s| Some(s.max_queue_packets as f64)),
];

/// The fields of a multipath flow that others do not have.
pub const MULTIPATH_FIELDS: &[Field<MultipathResult>] = &[
    ("fallen_back", |m| Some(m.fallen_back.into())),
    ("reinjections", |m| Some(m.reinjections as f64)),
    ("reinjected_bytes", |m| Some(m.reinjected_bytes as f64)),
    ("opportunistic", |m| Some(m.opportunistic as f64)),
    ("penalties", |m| Some(m.penalties as f64)),
    ("redundant_bytes", |m| Some(m.redundant_bytes as f64)),
    ("duplicate_bytes", |m| Some(m.duplicate_bytes as f64)),
    ("max_out_of_order_bytes", |m| Some(m.max_out_of_order_bytes as f64)),
    ("joins", |m| Some(m.joins as f64)),
    ("failed_joins", |m| Some(m.failed_joins as f64)),
    ("suspensions", |m| Some(m.suspensions as f64)),
    ("returns", |m| Some(m.returns as f64)),
    ("lost_subflows", |m| Some(m.lost_subflows as f64)),
];

/// The fields of a subflow.
pub const SUBFLOW_FIELDS: &[Field<SubflowResult>] = &[
    ("delivered_bytes", |s| Some(s.delivered_bytes as f64)),
    ("goodput_bps", |s| Some(s.goodput_bps)),
    ("share", |s| Some(s.share)),
    ("throughput_bps", |s| Some(s.throughput_bps)),
    ("retransmits", |s| Some(s.retransmits as f64)),
    ("fast_retransmits", |s| Some(s.fast_retransmits as f64)),
    ("rto_count", |s| Some(s.rto_count as f64)),
    ("data_segments", |s| Some(s.data_segments as f64)),
    ("packets_sent", |s| Some(s.packets_sent as f64)),
    ("peer_packets_sent", |s| Some(s.peer_packets_sent as f64)),
    ("loss_rate", |s| Some(s.loss_rate)),
    ("drops", |s| Some(dropped(s.loss_rate, s.packets_sent))),
    ("srtt_ms", |s| s.srtt_ms),
    ("min_rtt_ms", |s| s.min_rtt_ms),
    ("cwnd_bytes", |s| Some(s.cwnd_bytes as f64)),
    ("mode", |s| Some(s.mode as f64)),
];

fn names<T>(fields: &[Field<T>]) -> String {
    fields.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn look_up<T>(fields: &[Field<T>], field: &str) -> Option<fn(&T) -> Option<f64>> {
    fields.iter().find(|(name, _)| *name == field).map(|(_, get)| *get)
}

impl Metric {
    /// Reads a path.
    ///
    /// # Errors
    ///
    /// A sentence that says what would be right, when the shape or the field is wrong.
    pub fn parse(path: &str) -> Result<Metric, String> {
        let shape = || {
            format!(
                "metric `{path}` must look like flow.NAME.FIELD, link.NAME.FIELD, cell.NAME.FIELD, \
                 station.CELL:NODE.FIELD, multipath.FLOW.FIELD or subflow.FLOW:NAME.FIELD"
            )
        };
        let (kind, rest) = path.split_once('.').ok_or_else(shape)?;
        let (name, field) = match kind {
            "run" => ("", rest),
            _ => rest.rsplit_once('.').ok_or_else(shape)?,
        };
        fn of<T>(kind: Kind, fields: &[Field<T>], field: &str) -> (Kind, bool, String) {
            (kind, look_up(fields, field).is_some(), names(fields))
        }
        let (kind, known, all) = match kind {
            "flow" => of(Kind::Flow, FLOW_FIELDS, field),
            "link" => of(Kind::Link, LINK_FIELDS, field),
            "cell" => of(Kind::Cell, CELL_FIELDS, field),
            "run" => of(Kind::Run, RUN_FIELDS, field),
            "station" => of(Kind::Station, STATION_FIELDS, field),
            "multipath" => of(Kind::Multipath, MULTIPATH_FIELDS, field),
            "subflow" => of(Kind::Subflow, SUBFLOW_FIELDS, field),
            _ => return Err(shape()),
        };
        if !known {
            return Err(format!("metric `{path}` ends in an unknown field; there are {all}"));
        }
        Ok(Metric { kind, name: name.to_owned(), field: field.to_owned() })
    }

    /// The value of one of [`RUN_FIELDS`] in a run; `None` when there is none.
    pub fn of_run(field: &str, run: &RunRecord) -> Option<f64> {
        look_up(RUN_FIELDS, field)?(run)
    }

    /// The value in a run; `None` when the run has nothing of this name, or no value.
    pub fn of(&self, run: &RunRecord) -> Option<f64> {
        match self.kind {
            Kind::Flow => {
                let flow = run.flows.iter().find(|f| f.name == self.name)?;
                look_up(FLOW_FIELDS, &self.field)?(flow)
            }
            Kind::Link => {
                let link = run.links.iter().find(|l| l.name == self.name)?;
                look_up(LINK_FIELDS, &self.field)?(link)
            }
            Kind::Run => Metric::of_run(&self.field, run),
            Kind::Cell => {
                let cell = run.radios.iter().find(|r| r.name == self.name)?;
                look_up(CELL_FIELDS, &self.field)?(cell)
            }
            Kind::Station => {
                let (cell, node) = self.name.split_once(':')?;
                let cell = run.radios.iter().find(|r| r.name == cell)?;
                let station = cell.stations.iter().find(|s| s.name == node)?;
                look_up(STATION_FIELDS, &self.field)?(station)
            }
            Kind::Multipath => look_up(MULTIPATH_FIELDS, &self.field)?(multipath(run, &self.name)?),
            Kind::Subflow => {
                let (flow, name) = self.name.split_once(':')?;
                let subflow = multipath(run, flow)?.subflows.iter().find(|s| s.name == name)?;
                look_up(SUBFLOW_FIELDS, &self.field)?(subflow)
            }
        }
    }
}

/// What the multipath flow of this name did.
fn multipath<'a>(run: &'a RunRecord, flow: &str) -> Option<&'a MultipathResult> {
    run.flows.iter().find(|f| f.name == flow)?.multipath.as_ref()
}

#[cfg(test)]
mod tests;
