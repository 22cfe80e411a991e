//! Fields of flows with successive connections, of one flow and of all together.

use super::field::Better::Less;
use super::field::{Field, fields};
use super::need::Need::Connections;

fields! {
    /// Fields of the connections of a flow or of a run.
    CONNECTIONS, |row, connections|
    real_or_null connections_opened: "Connections begun; null without `connect`, `reconnect`, `dialogue` and a reboot", needs(Connections), metric_only() = connections.opened as f64;
    real_or_null connections_ready: "Connections that were ready for messages, after the dialogues at their beginning", needs(Connections), metric_only() = connections.ready as f64;
    real_or_null connections_failed: "Connections lost, before or after they were ready", better(Less), needs(Connections), metric_only() = connections.failed as f64;
    real_or_null connections_failed_at_sender: "Lost connections whose loss the sending end noticed first", better(Less), needs(Connections), metric_only() = connections.failed_at_sender as f64;
    real_or_null connections_no_answer: "Connections lost because a SYN or SYN-ACK had no answer", better(Less), needs(Connections), metric_only() = connections.no_answer as f64;
    real_or_null connections_unacknowledged: "Connections lost because data had no acknowledgement", better(Less), needs(Connections), metric_only() = connections.unacknowledged as f64;
    real_or_null connections_reset: "Connections lost by a reset", better(Less), needs(Connections), metric_only() = connections.reset as f64;
    real_or_null connections_power_cut: "Connections lost because a node lost its power", better(Less), needs(Connections), metric_only() = connections.power_cuts as f64;
    real_or_null connections_time_limit: "Connections that were not ready within the `timeout` of `reconnect`", better(Less), needs(Connections), metric_only() = connections.time_limit as f64;
    real_or_null connections_unclosed: "Connections whose FIN had no acknowledgement after all data had arrived; not lost", better(Less), needs(Connections), metric_only() = connections.unclosed as f64;
    real_or_null connections_half_open: "Connections that only one end still has at the end of the run", better(Less), needs(Connections), metric_only() = connections.half_open as f64;
    real_or_null reconnections: "Times that a new connection was ready after a loss or a power cut", needs(Connections), metric_only() = connections.reconnections as f64;
    real_or_null reconnections_unfinished: "Losses and power cuts without a ready connection until the end of the run", better(Less), needs(Connections), metric_only() = connections.unfinished as f64;
    real_or_null reconnect_mean_ms: "Mean time from a loss, or from the return of the power, to the next ready connection; infinite if there is none", better(Less), needs(Connections), metric_only() = connections.duration(connections.mean_ms);
    real_or_null reconnect_p50_ms: "Median of this time; infinite if half of the times are", better(Less), needs(Connections), metric_only() = connections.duration(connections.p50_ms);
    real_or_null reconnect_p95_ms: "95th percentile of this time; infinite if it falls among unfinished reconnections", better(Less), needs(Connections), metric_only() = connections.duration(connections.p95_ms);
    real_or_null reconnect_max_ms: "Maximum of this time; infinite if a reconnection is unfinished", better(Less), needs(Connections), metric_only() = connections.duration(connections.max_ms);
    real_or_null opening_bytes: "Payload bytes of the dialogues at the beginning of connections, from both ends", better(Less), needs(Connections), metric_only() = connections.opening_bytes as f64;
    real_or_null messages_dropped: "Messages lost because too many waited for a connection", better(Less), needs(Connections), metric_only() = connections.dropped as f64;
    real_or_null messages_lost: "Messages lost with a connection or with the power of the node", better(Less), needs(Connections), metric_only() = connections.lost as f64;
    real_or_null messages_resent: "Messages that a later connection repeated", better(Less), needs(Connections), metric_only() = connections.resent as f64;
    real_or_null messages_duplicate: "Messages that arrived again", better(Less), needs(Connections), metric_only() = connections.duplicates as f64;
}

/// The first fields, and then the others.
pub(super) const fn joined<const N: usize>(first: &[Field], others: &[Field]) -> [Field; N] {
    let mut all = [first[0]; N];
    let mut place = 0;
    while place < N {
        all[place] = if place < first.len() { first[place] } else { others[place - first.len()] };
        place += 1;
    }
    all
}
