//! Fields of flows, of multipath flows and of their subflows.

use super::field::Better::{Less, More};
use super::field::fields;
use super::need::Need::{Connection, Deadline, Delays, Exchanges, Power, Radio, WarmUp};
use windlass_sim::latency::MessageResult;
use windlass_sim::results::CoapResult;
use windlass_sim::{FlowResult, MultipathResult};

fields! {
    /// The fields of a flow. Radio time and energy are sums over all stations of a node, in all cells. Energy
    /// per byte is the energy of the sending node over the payload bytes delivered. It includes the energy for
    /// received acknowledgements and for waiting.
    FLOW, |row, flow|
    text flow: "Name of the flow" = flow.name.as_str();
    text algorithm: "Congestion control of the data sender" = flow.algorithm.as_str();
    real active_s: "From the flow's start to its last byte delivered, or to the end";
    integer delivered_bytes: "New payload at the receiving application", better(More);
    real goodput_bps: "delivered_bytes · 8 / active_s", better(More);
    real throughput_bps: "Payload sent, retransmissions included, per second";
    real loss_rate: "Sender's packets dropped by the network over those sent", share_of("packets_sent"), better(Less);
    real_or_null srtt_ms: "Smoothed RTT at the end; null without a sample", better(Less), needs(Connection);
    real_or_null min_rtt_ms: "Minimum RTT; null without a sample", better(Less), needs(Connection);
    real_or_null completion_s: "Time to the last byte delivered; null if unfinished", better(Less), or_never();
    integer retransmits: "Data segments retransmitted", better(Less);
    integer_or_null fast_retransmits: "Entries into fast retransmit; null for QUIC", better(Less) = counted(flow, flow.fast_retransmits);
    integer_or_null rto_count: "Expiries of the retransmission timer, SYN included; null for QUIC", better(Less) = counted(flow, flow.rto_count);
    integer data_segments: "Data segments sent, retransmissions included";
    integer packets_sent: "Packets of any kind from the data sender";
    integer peer_packets_sent: "Packets of any kind from the data receiver";
    integer cwnd_bytes: "Congestion window at the end";
    real_or_null delay_ms: "Mean one-way delay of data packets; null unless recorded", better(Less), needs(Delays) = flow.transit.as_ref()?.mean_ms;
    real_or_null delay_min_ms: "Minimum one-way delay of data packets", better(Less), needs(Delays) = flow.transit.as_ref()?.min_ms;
    real_or_null delay_max_ms: "Maximum one-way delay of data packets", better(Less), needs(Delays) = flow.transit.as_ref()?.max_ms;
    real_or_null jitter_ms: "Mean change of delay from one arrival to the next", better(Less), needs(Delays) = flow.transit.as_ref()?.jitter_ms;
    real_or_null jitter_smoothed_ms: "Smoothed jitter at the end, as in RFC 3550", better(Less), needs(Delays) = flow.transit.as_ref()?.jitter_smoothed_ms;
    real_or_null gap_ms: "Mean time between arrivals of data packets", better(Less), needs(Delays) = flow.transit.as_ref()?.gap_ms;
    real_or_null messages_sent: "Messages written; null without a deadline", needs(Deadline) = flow.messages.as_ref()?.sent as f64;
    real_or_null messages_arrived: "Messages read", better(More), needs(Deadline) = flow.messages.as_ref()?.arrived as f64;
    real_or_null messages_on_time: "Messages read before their deadline", better(More), needs(Deadline) = flow.messages.as_ref()?.on_time() as f64;
    real_or_null messages_late: "Messages past their deadline, read or not", better(Less), needs(Deadline) = flow.messages.as_ref()?.late as f64;
    real_or_null message_mean_ms: "Mean latency of messages; infinite (null in files) if one never arrived", better(Less), needs(Deadline) = latency(flow, |m| m.mean_ms);
    real_or_null message_p99_ms: "99th percentile of message latency; infinite (null in files) if it falls among messages that never arrived", better(Less), needs(Deadline) = latency(flow, |m| m.p99_ms);
    real_or_null message_max_ms: "Largest message latency; infinite (null in files) if a message never arrived", better(Less), needs(Deadline) = latency(flow, |m| m.max_ms);
    real_or_null sender_radio_s: "Radio time of the sending node; null without a radio", better(Less), needs(Radio) = flow.radio?.sender_s;
    real_or_null receiver_radio_s: "Radio time of the receiving node; null without a radio", better(Less), needs(Radio) = flow.radio?.receiver_s;
    real_or_null sender_energy_j: "Energy that the sending node's radios spent", better(Less), needs(Power) = flow.radio?.sender_j;
    real_or_null receiver_energy_j: "Energy that the receiving node's radios spent", better(Less), needs(Power) = flow.radio?.receiver_j;
    reals responses_s: "Completion time of each request, in order" = flow.responses_s.as_slice();
    text_or_null failure: "Reason for the failure of the connection; null without a failure" = flow.failure.as_deref();
    real drops: "Sender's packets dropped by the network", better(Less), metric_only() = dropped(flow.loss_rate, flow.packets_sent);
    real_or_null messages_undelivered: "Messages that had not arrived when their deadline had passed", better(Less), needs(Deadline), metric_only() = flow.messages.as_ref()?.undelivered as f64;
    real_or_null late_fraction: "Messages past their deadline over messages written", share_of("messages_sent"), better(Less), needs(Deadline), metric_only() = late_fraction(flow.messages.as_deref()?);
    real_or_null message_p95_ms: "95th percentile of message latency; infinite if it falls among messages that never arrived", better(Less), needs(Deadline), metric_only() = latency(flow, |m| m.p95_ms);
    real_or_null delay_p50_ms: "Median one-way delay of data packets", better(Less), needs(Delays), metric_only() = flow.transit.as_ref()?.p50_ms;
    real_or_null delay_p95_ms: "95th percentile of one-way delay of data packets", better(Less), needs(Delays), metric_only() = flow.transit.as_ref()?.p95_ms;
    real_or_null delay_p99_ms: "99th percentile of one-way delay of data packets", better(Less), needs(Delays), metric_only() = flow.transit.as_ref()?.p99_ms;
    real_or_null rtt_ms: "Mean of the data sender's RTT samples", better(Less), needs(Delays), metric_only() = flow.rtt.as_ref()?.mean_ms;
    real_or_null rtt_p50_ms: "Median of the data sender's RTT samples", better(Less), needs(Delays), metric_only() = flow.rtt.as_ref()?.p50_ms;
    real_or_null rtt_p95_ms: "95th percentile of the data sender's RTT samples", better(Less), needs(Delays), metric_only() = flow.rtt.as_ref()?.p95_ms;
    real_or_null rtt_p99_ms: "99th percentile of the data sender's RTT samples", better(Less), needs(Delays), metric_only() = flow.rtt.as_ref()?.p99_ms;
    real_or_null rtt_max_ms: "Largest of the data sender's RTT samples", better(Less), needs(Delays), metric_only() = flow.rtt.as_ref()?.max_ms;
    real_or_null message_p50_ms: "Median message latency; infinite if half of the messages never arrived", better(Less), needs(Deadline), metric_only() = latency(flow, |m| m.p50_ms);
    real_or_null message_age_ms: "Mean over time of the age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = flow.messages.as_ref()?.age_mean_ms;
    real_or_null message_age_p50_ms: "Median over time of the age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = flow.messages.as_ref()?.age_p50_ms;
    real_or_null message_age_p95_ms: "95th percentile over time of the age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = flow.messages.as_ref()?.age_p95_ms;
    real_or_null message_age_max_ms: "Maximum age of the newest message at the receiver", better(Less), needs(Deadline), metric_only() = flow.messages.as_ref()?.age_max_ms;
    real_or_null exchanges_begun: "CoAP exchanges begun; null for other flows", needs(Exchanges), metric_only() = flow.coap.as_ref()?.begun as f64;
    real_or_null exchanges_completed: "CoAP exchanges with a response", better(More), needs(Exchanges), metric_only() = flow.coap.as_ref()?.completed as f64;
    real_or_null exchanges_given_up: "CoAP exchanges given up after the last retransmission", better(Less), needs(Exchanges), metric_only() = flow.coap.as_ref()?.given_up as f64;
    real_or_null exchange_given_up_fraction: "CoAP exchanges given up over CoAP exchanges that ended", share_of("exchanges_begun"), better(Less), needs(Exchanges), metric_only() = given_up_fraction(flow.coap.as_deref()?);
    real_or_null exchange_duplicates: "Duplicate requests at the server", better(Less), needs(Exchanges), metric_only() = flow.coap.as_ref()?.duplicates as f64;
    real_or_null handshakes: "Handshakes of CoAP's security layer that the server has acknowledged", needs(Exchanges), metric_only() = flow.coap.as_ref()?.handshakes as f64;
    real_or_null handshake_bytes: "UDP payload of the client's flights in these handshakes, repetitions included", better(Less), needs(Exchanges), metric_only() = flow.coap.as_ref()?.handshake_bytes as f64;
    real_or_null exchange_mean_ms: "Mean time from the due time of a request to its response; infinite if an exchange was given up", better(Less), needs(Exchanges), metric_only() = exchange(flow, |c| c.mean_ms);
    real_or_null exchange_p50_ms: "Median time of an exchange; infinite if half of them were given up", better(Less), needs(Exchanges), metric_only() = exchange(flow, |c| c.p50_ms);
    real_or_null exchange_p95_ms: "95th percentile of the time of an exchange; infinite if it falls among exchanges given up", better(Less), needs(Exchanges), metric_only() = exchange(flow, |c| c.p95_ms);
    real_or_null exchange_p99_ms: "99th percentile of the time of an exchange; infinite if it falls among exchanges given up", better(Less), needs(Exchanges), metric_only() = exchange(flow, |c| c.p99_ms);
    real_or_null exchange_max_ms: "Longest time of an exchange; infinite if one was given up", better(Less), needs(Exchanges), metric_only() = exchange(flow, |c| c.max_ms);
    real_or_null radio_per_byte_ns: "sender_radio_s over delivered_bytes", better(Less), needs(Radio), metric_only() = per_byte(flow.radio?.sender_s, flow.delivered_bytes);
    real_or_null energy_per_message_j: "sender_energy_j over the messages that arrived", better(Less), needs(Power), metric_only() = {
        let arrived = flow.messages.as_ref()?.arrived;
        flow.radio?.sender_j.filter(|_| arrived > 0).map(|spent| spent / arrived as f64)
    };
    real_or_null energy_per_byte_nj: "sender_energy_j over delivered_bytes", better(Less), needs(Power), metric_only() = per_byte(flow.radio?.sender_j?, flow.delivered_bytes);
    real_or_null steady_goodput_bps: "Goodput after the warm-up of a sweep; null without a warm-up", better(More), needs(WarmUp), metric_only() = row.steady()?.goodput_bps;
}

/// A count of TCP, which a QUIC library does not have.
fn counted(flow: &FlowResult, count: u64) -> Option<u64> {
    (!flow.uncounted).then_some(count)
}

/// A latency of a flow's messages.
fn latency(flow: &FlowResult, of: fn(&MessageResult) -> Option<f64>) -> Option<f64> {
    let messages = flow.messages.as_ref()?;
    messages.latency(of(messages))
}

/// A time of a flow's exchanges of CoAP.
fn exchange(flow: &FlowResult, of: fn(&CoapResult) -> Option<f64>) -> Option<f64> {
    let coap = flow.coap.as_ref()?;
    coap.time(of(coap))
}

/// The share of messages that were late; `None` without a message.
pub(super) fn late_fraction(m: &MessageResult) -> Option<f64> {
    (m.sent > 0).then(|| m.late as f64 / m.sent as f64)
}

/// The share of ended exchanges that were given up; `None` without one.
fn given_up_fraction(c: &CoapResult) -> Option<f64> {
    let ended = c.completed + c.given_up;
    (ended > 0).then(|| c.given_up as f64 / ended as f64)
}

/// Number of packets that the network dropped, from the loss rate and the packets sent.
fn dropped(loss_rate: f64, sent: u64) -> f64 {
    (loss_rate * sent as f64).round()
}

/// Billionths of a unit per byte, such as nanojoules for an amount in joules.
pub(super) fn per_byte(amount: f64, bytes: u64) -> Option<f64> {
    (bytes > 0).then(|| amount * 1e9 / bytes as f64)
}

fields! {
    /// The additional fields of a multipath flow.
    MULTIPATH, |row, multipath|
    text flow: "Name of the flow" = row.flow()?.name.as_str();
    integer fallen_back: "1 if the connection fell back to ordinary TCP, else 0", better(Less) = u64::from(multipath.fallen_back);
    integer reinjections: "Pieces of data given to another subflow again", better(Less);
    integer reinjected_bytes: "Bytes given to another subflow again", better(Less);
    integer opportunistic: "Reinjections of data that held up the receive window; part of reinjections";
    integer penalties: "Reductions of the cwnd of a subflow that held up the receive window";
    integer redundant_bytes: "Bytes that the scheduler gave to a further subflow";
    integer duplicate_bytes: "Bytes that had already arrived on another subflow", better(Less);
    integer max_out_of_order_bytes: "Maximum number of bytes that waited for earlier bytes", better(Less);
    integer joins: "Times that a subflow after the first was established";
    integer failed_joins: "Attempts to join that failed", better(Less);
    integer suspensions: "Times that a subflow was suspended after timeouts", better(Less);
    integer returns: "Times that a suspended subflow resumed";
    integer lost_subflows: "Subflows that ended before the connection", better(Less);
    real arrived_bps: "Payload that arrived on all subflows, duplicates counted once, · 8 over the flow's active_s", better(More), metric_only() = arrived_bps(multipath, row.flow()?.active_s);
}

/// Payload that arrived on all subflows per second, in any order: the sum of the subflows' goodputs.
fn arrived_bps(m: &MultipathResult, active_s: f64) -> f64 {
    let arrived: u64 = m.subflows.iter().map(|s| s.delivered_bytes).sum();
    if active_s > 0.0 {
        (arrived - m.duplicate_bytes.min(arrived)) as f64 * 8.0 / active_s
    } else {
        0.0
    }
}

fields! {
    /// The fields of a subflow.
    SUBFLOW, |row, subflow|
    text flow: "Name of the flow" = row.flow()?.name.as_str();
    text subflow: "Name of the subflow" = subflow.name.as_str();
    text algorithm: "Congestion control of the data sender" = subflow.algorithm.as_str();
    integer delivered_bytes: "Payload that arrived on the subflow", better(More);
    real goodput_bps: "delivered_bytes · 8 over the flow's active_s", better(More);
    real share: "delivered_bytes over the sum of the flow's subflows", share();
    real throughput_bps: "Payload sent, retransmissions included, per second";
    real loss_rate: "Sender's packets dropped by the network over those sent", share_of("packets_sent"), better(Less);
    real_or_null srtt_ms: "Smoothed RTT at the end; null without a sample", better(Less);
    real_or_null min_rtt_ms: "Minimum RTT; null without a sample", better(Less);
    integer retransmits: "Data segments retransmitted", better(Less);
    integer fast_retransmits: "Entries into fast retransmit", better(Less);
    integer rto_count: "Expiries of the retransmission timer, SYN included", better(Less);
    integer data_segments: "Data segments sent, retransmissions included";
    integer packets_sent: "Packets of any kind from the data sender";
    integer peer_packets_sent: "Packets of any kind from the data receiver";
    integer cwnd_bytes: "Congestion window at the end";
    integer mode: "Last decision of the coordinator; 0 without a coordinator";
    text_or_null failure: "Reason for the failure of the subflow; null without a failure" = subflow.failure.as_deref();
    real drops: "Sender's packets dropped by the network", better(Less), metric_only() = dropped(subflow.loss_rate, subflow.packets_sent);
}
