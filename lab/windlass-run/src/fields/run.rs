//! Fields of a whole run: its identity, and the totals of its parts.

use windlass_sim::{FlowResult, StationResult};

use super::field::Better::{Less, More};
use super::field::fields;
use super::flow::per_byte;
use super::need::Need::{Battery, Bins, Deadline, Delays, Power, Radio};
use crate::RunRecord;

fields! {
    /// Fields that identify the run of a row: the first columns of every table.
    IDENTITY, |row, run|
    text experiment: "Experiment identifier" = run.experiment.as_str();
    text point: "Point of the experiment: axis=label pairs" = run.point.as_str();
    integer seed: "Seed of the run";
    text scenario_hash: "Hash of the resolved scenario" = run.scenario_hash.as_str();
    text version: "Windlass version that made the run" = run.version.as_str();
    text world: "Backend of the run: sim, linux, linux-vt=6.12" = run.world.as_str();
    text_or_null kernel: "Release of the kernel of the run; null without a kernel" = run.kernel.as_deref();
}

fields! {
    /// The fields of a run. Delays and losses are totals of all packets, messages are totals of all
    /// flows with a deadline, and radio time and energy are totals of all stations.
    RUN, |row, run|
    real end_s: "Simulated time at the end";
    integer events: "Events that the simulator processed";
    integer packet_hops: "Frames put on a link";
    real goodput_bps: "Sum of the flows' goodputs", better(More), metric_only() = run.flows.iter().map(|f| f.goodput_bps).sum::<f64>();
    real throughput_bps: "Sum of the flows' throughputs", metric_only() = run.flows.iter().map(|f| f.throughput_bps).sum::<f64>();
    real_or_null jain_index: "Jain's index of the flows' goodputs: from 1/n (one flow has everything) to 1 (all flows are equal)", share(), better(More), metric_only() = jain_index(run.flows.iter().map(|f| f.goodput_bps));
    real_or_null goodput_mean_bps: "Mean of the flows' goodputs", better(More), metric_only() = {
        let n = run.flows.len();
        (n > 0).then(|| run.flows.iter().map(|f| f.goodput_bps).sum::<f64>() / n as f64)
    };
    real_or_null hop_throughput_bps: "IP bits that all link directions carried and all stations delivered, each hop counted, per second", better(More), metric_only() = hop_throughput(run);
    real_or_null loss_rate: "Senders' packets dropped by the network over those sent", share(), better(Less), metric_only() = by_packets(run, |f| f.packets_sent, |f| Some(f.loss_rate));
    real_or_null delay_ms: "Mean one-way delay of data packets", better(Less), needs(Delays), metric_only() = by_packets(run, arrived, |f| Some(f.transit.as_ref()?.mean_ms));
    real_or_null delay_excess_ms: "Mean one-way delay above the minimum of its flow", better(Less), needs(Delays), metric_only() = by_packets(run, arrived, |f| Some(f.transit.as_ref()?.mean_ms - f.transit.as_ref()?.min_ms));
    real_or_null jitter_ms: "Mean change of delay from one arrival to the next", better(Less), needs(Delays), metric_only() = by_packets(run, arrived, |f| f.transit.as_ref()?.jitter_ms);
    real_or_null gap_ms: "Mean time between arrivals of data packets", better(Less), needs(Delays), metric_only() = by_packets(run, arrived, |f| f.transit.as_ref()?.gap_ms);
    real_or_null late_fraction: "Messages past their deadline over messages written", share_of("messages_sent"), better(Less), needs(Deadline), metric_only() = {
        let sent: u64 = run.flows.iter().filter_map(|f| Some(f.messages.as_ref()?.sent)).sum();
        let late: u64 = run.flows.iter().filter_map(|f| Some(f.messages.as_ref()?.late)).sum();
        (sent > 0).then(|| late as f64 / sent as f64)
    };
    real_or_null messages_sent: "Messages written", needs(Deadline), metric_only() = run.messages?.sent as f64;
    real_or_null messages_arrived: "Messages read", better(More), needs(Deadline), metric_only() = run.messages?.arrived as f64;
    real_or_null messages_on_time: "Messages read before their deadline", better(More), needs(Deadline), metric_only() = run.messages?.on_time() as f64;
    real_or_null messages_late: "Messages past their deadline, read or not", better(Less), needs(Deadline), metric_only() = run.messages?.late as f64;
    real_or_null messages_undelivered: "Messages that had not arrived when their deadline had passed", better(Less), needs(Deadline), metric_only() = run.messages?.undelivered as f64;
    real_or_null message_mean_ms: "Mean latency of messages; infinite if one never arrived", better(Less), needs(Deadline), metric_only() = run.messages?.latency(run.messages?.mean_ms);
    real_or_null message_p50_ms: "Median message latency; infinite if half of the messages never arrived", better(Less), needs(Deadline), metric_only() = run.messages?.latency(run.messages?.p50_ms);
    real_or_null message_p95_ms: "95th percentile of message latency; infinite if it falls among messages that never arrived", better(Less), needs(Deadline), metric_only() = run.messages?.latency(run.messages?.p95_ms);
    real_or_null message_p99_ms: "99th percentile of message latency; infinite if it falls among messages that never arrived", better(Less), needs(Deadline), metric_only() = run.messages?.latency(run.messages?.p99_ms);
    real_or_null message_max_ms: "Largest message latency; infinite if a message never arrived", better(Less), needs(Deadline), metric_only() = run.messages?.latency(run.messages?.max_ms);
    real_or_null message_age_ms: "Mean over the flows' time of the age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = run.messages?.age_mean_ms;
    real_or_null message_age_p50_ms: "Median over time of the age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = run.messages?.age_p50_ms;
    real_or_null message_age_p95_ms: "95th percentile over time of the age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = run.messages?.age_p95_ms;
    real_or_null message_age_max_ms: "Maximum age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = run.messages?.age_max_ms;
    real retransmits: "Data segments retransmitted", better(Less), metric_only() = run.flows.iter().map(|f| f.retransmits as f64).sum::<f64>();
    real rto_count: "Expiries of retransmission timers", better(Less), metric_only() = run.flows.iter().map(|f| f.rto_count as f64).sum::<f64>();
    real_or_null convergence_cwnd_s: "Time from the start of the second of two flows until its cwnd reaches four fifths of the first flow's; infinite if it does not", better(Less), needs(Bins), or_never(), metric_only() = run.course.as_ref()?.convergence_cwnd_s;
    real_or_null convergence_rate_s: "Time from the start of the second of two flows until its rate reaches four fifths of the first flow's; infinite if it does not", better(Less), needs(Bins), or_never(), metric_only() = run.course.as_ref()?.convergence_rate_s;
    real_or_null radio_s: "Radio time: transmitting and receiving", better(Less), needs(Radio), metric_only() = sum_of(run, |s| Some(s.transmit_s + s.receive_s));
    real_or_null energy_j: "Energy that the radios spent", better(Less), needs(Power), metric_only() = sum_of(run, |s| s.energy_j);
    real_or_null radio_per_byte_ns: "radio_s over the payload bytes delivered", better(Less), needs(Radio), metric_only() = per_byte(sum_of(run, |s| Some(s.transmit_s + s.receive_s))?, delivered(run));
    real_or_null energy_per_byte_nj: "energy_j over the payload bytes delivered", better(Less), needs(Power), metric_only() = per_byte(sum_of(run, |s| s.energy_j)?, delivered(run));
    real_or_null battery_left_j: "Lowest energy left in a battery at the end", better(More), needs(Battery), metric_only() = least_of(run, |s| s.battery_left_j);
    real_or_null energy_excess_j: "Energy that the radios of links spent beyond their energy without packets", better(Less), needs(Power), metric_only() = sum_of(run, excess_j);
    real_or_null energy_per_message_j: "energy_j over the messages that arrived", better(Less), needs(Power), metric_only() = {
        let arrived = run.messages?.arrived;
        sum_of(run, |s| s.energy_j).filter(|_| arrived > 0).map(|spent| spent / arrived as f64)
    };
    real_or_null battery_life_s: "Shortest battery life at the mean power of the run", better(More), needs(Battery), metric_only() = least_of(run, |s| battery_life_s(s, run.end_s));
    real_or_null first_death_s: "Time at which the first station went off; infinite if none did", better(More), needs(Radio), metric_only() = least_of(run, |s| Some(s.died_s.unwrap_or(f64::INFINITY)));
}

/// Data packets of a flow that arrived, if their delay was measured.
fn arrived(f: &FlowResult) -> u64 {
    f.transit.as_ref().map_or(0, |t| t.packets)
}

/// The mean of a value over the flows that have the value, weighted by their packets.
fn by_packets(
    r: &RunRecord,
    packets: fn(&FlowResult) -> u64,
    value: fn(&FlowResult) -> Option<f64>,
) -> Option<f64> {
    let pairs = r.flows.iter().filter_map(|f| Some((packets(f) as f64, value(f)?)));
    let (n, sum) = pairs.fold((0.0, 0.0), |(n, sum), (w, v)| (n + w, sum + w * v));
    (n > 0.0).then(|| sum / n)
}

fn hop_throughput(r: &RunRecord) -> Option<f64> {
    let links: u64 = r.links.iter().map(|l| l.bytes).sum();
    // The bytes of a link's radio are the bytes of the link.
    let cells = r.radios.iter().filter(|cell| !cell.link);
    let stations: u64 = cells.flat_map(|c| &c.stations).map(|s| s.bytes).sum();
    (r.end_s > 0.0).then(|| (links + stations) as f64 * 8.0 / r.end_s)
}

/// Lifetime of a station's battery. If the battery lasts beyond the run, it is extrapolated from the
/// mean power while the station was alive. `None` with mains power.
pub(super) fn battery_life_s(s: &StationResult, end_s: f64) -> Option<f64> {
    let (left, spent) = (s.battery_left_j?, s.energy_j?);
    (spent > 0.0).then(|| s.died_s.unwrap_or(end_s) * (left + spent) / spent)
}

/// Energy that the radio of a link spent beyond its energy without packets.
pub(super) fn excess_j(s: &StationResult) -> Option<f64> {
    Some(s.energy_j? - s.rest_j?)
}

/// The minimum over all stations that have the quantity; `None` without such a station.
fn least_of(run: &RunRecord, quantity: impl Fn(&StationResult) -> Option<f64>) -> Option<f64> {
    let stations = run.radios.iter().flat_map(|r| &r.stations);
    stations.filter_map(quantity).min_by(f64::total_cmp)
}

/// Sum over all stations that have the quantity; `None` without such a station.
fn sum_of(run: &RunRecord, quantity: fn(&StationResult) -> Option<f64>) -> Option<f64> {
    let stations = run.radios.iter().flat_map(|r| &r.stations);
    let values: Vec<f64> = stations.filter_map(quantity).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

fn delivered(run: &RunRecord) -> u64 {
    run.flows.iter().map(|f| f.delivered_bytes).sum()
}

/// Jain's fairness index, `(Σx)² / (n·Σx²)`: 1 if all values are equal, 1/n if one has everything.
/// `None` if all values are zero.
pub fn jain_index(values: impl Iterator<Item = f64> + Clone) -> Option<f64> {
    let (n, sum) = values.clone().fold((0.0, 0.0), |(n, sum), x| (n + 1.0, sum + x));
    let squares: f64 = values.map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (n * squares))
}
