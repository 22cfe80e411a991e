//! Results of flows with successive connections.

use serde::{Deserialize, Serialize};
use windlass_cc::Time;
use windlass_tcp::State;

use super::connections::Connections;
use super::end::SessionEnd;
use super::log::{Note, What};
use super::loss::{Cause, Loss, merged};
use crate::latency::{latencies_of, or_infinite};

/// Connections of a flow with successive connections, or of all such flows.
///
/// A reconnection begins when the opening end notices the loss of its connection, or has power
/// again after a cut. It ends when the new connection is ready: after the opening dialogues.
#[derive(Clone, Debug, PartialEq, Default, Serialize, Deserialize)]
pub struct ConnectionsResult {
    /// Connections begun: first SYNs.
    pub opened: u64,
    /// Connections that became ready for messages.
    pub ready: u64,
    /// Connections that were lost, before or after they were ready. Each counts once, for the end
    /// that noticed the loss first.
    pub failed: u64,
    /// Lost connections whose loss the end that sends the messages noticed first; part of `failed`.
    pub failed_at_sender: u64,
    /// Lost because a SYN or SYN-ACK had no answer; part of `failed`, as the following counts.
    pub no_answer: u64,
    /// Lost because data had no acknowledgement.
    pub unacknowledged: u64,
    /// Lost by a reset.
    pub reset: u64,
    /// Lost because the node lost its power.
    pub power_cuts: u64,
    /// Given up by the application because the connection was not ready in time.
    pub time_limit: u64,
    /// Connections whose FIN had no acknowledgement although all data had arrived; not part of
    /// `failed`.
    pub unclosed: u64,
    /// Connections that only one end still holds at the end of the run.
    pub half_open: u64,
    /// Reconnections that were complete at the end.
    pub reconnections: u64,
    /// Reconnections that were not complete at the end. They have an infinite duration.
    pub unfinished: u64,
    /// Mean duration of reconnections. In this field and the following fields, `None` means an
    /// infinite duration if reconnections are unfinished, and no duration otherwise.
    pub mean_ms: Option<f64>,
    /// Median duration.
    pub p50_ms: Option<f64>,
    /// 95th percentile of the duration.
    pub p95_ms: Option<f64>,
    /// Maximum duration.
    pub max_ms: Option<f64>,
    /// Payload bytes of the opening dialogues that both ends wrote.
    pub opening_bytes: u64,
    /// Messages lost because too many were waiting.
    pub dropped: u64,
    /// Messages lost with a connection or with the power of the node.
    pub lost: u64,
    /// Messages that a later connection repeated.
    pub resent: u64,
    /// Messages that arrived again.
    pub duplicates: u64,
    /// The first loss: its time, its end and the cause. `None` without a loss.
    pub first_loss: Option<String>,
}

impl ConnectionsResult {
    /// One of the durations, infinite if unfinished reconnections determine it; `None` without
    /// reconnections.
    pub fn duration(&self, ms: Option<f64>) -> Option<f64> {
        or_infinite(ms, self.unfinished)
    }
}

/// Results of the flows with these ends, and with the names of the nodes of the ends.
pub(crate) fn together<'a>(
    flows: impl IntoIterator<Item = ([&'a SessionEnd; 2], [&'a str; 2])>,
    now: Time,
) -> Option<ConnectionsResult> {
    let (mut sum, mut any) = (ConnectionsResult::default(), false);
    let mut first: Option<(Time, String)> = None;
    let mut durations = Vec::new();
    for (ends, names) in flows {
        any = true;
        for (end, loss) in merged(ends.map(SessionEnd::losses)) {
            sum.add(end, loss);
            if first.as_ref().is_none_or(|(at, _)| loss.at < *at) {
                first = Some((loss.at, describe(loss, names[end])));
            }
        }
        for (end, other) in [(ends[0], ends[1]), (ends[1], ends[0])] {
            sum.opening_bytes += end.line.opening_bytes;
            sum.duplicates += end.inbox.duplicates;
            sum.half_open += half_open(&end.line, &other.line);
            let Some(opener) = &end.opener else { continue };
            let counts = opener.counts_at(now, &end.line.plan);
            sum.opened += counts.opened;
            sum.ready += counts.ready;
            sum.dropped += counts.dropped;
            sum.lost += counts.lost;
            sum.resent += counts.resent;
            sum.unfinished += u64::from(opener.is_lost());
            durations.extend_from_slice(&opener.reconnects_ns);
        }
    }
    let of = latencies_of(durations, sum.unfinished);
    any.then(|| ConnectionsResult {
        reconnections: of.arrived,
        mean_ms: of.mean_ms,
        p50_ms: of.p50_ms,
        p95_ms: of.p95_ms,
        max_ms: of.max_ms,
        first_loss: first.map(|(_, text)| text),
        ..sum
    })
}

/// The loss as a phrase with its time and its end.
fn describe(loss: &Loss, node: &str) -> String {
    format!("at {:.3} s, noticed by `{node}`: {}", loss.at.0 as f64 / 1e9, loss.text)
}

/// Connections that are established at one end and unknown at the other.
fn half_open(line: &Connections, other: &Connections) -> u64 {
    let live = |c: &&super::connections::Connection| {
        matches!(c.endpoint.state(), State::Established | State::CloseWait)
    };
    let unknown = |number| other.all.iter().all(|c| c.number != number);
    line.all.iter().filter(live).filter(|c| unknown(c.number)).count() as u64
}

impl ConnectionsResult {
    fn add(&mut self, end: usize, loss: &Loss) {
        let count = match loss.cause {
            Cause::Unclosed => {
                self.unclosed += 1;
                return;
            }
            Cause::NoAnswer => &mut self.no_answer,
            Cause::Unacknowledged => &mut self.unacknowledged,
            Cause::Reset => &mut self.reset,
            Cause::PowerCut => &mut self.power_cuts,
            Cause::TimeLimit => &mut self.time_limit,
        };
        *count += 1;
        self.failed += 1;
        self.failed_at_sender += u64::from(end == 0);
    }
}

/// Time of the last message's arrival, if all messages of the flow have arrived.
pub(crate) fn completed(ends: [&SessionEnd; 2]) -> Option<Time> {
    let opener = ends.iter().find_map(|end| end.opener.as_ref())?;
    let inbox = &ends[1].inbox;
    (opener.is_done() && inbox.count == opener.messages).then_some(inbox.last).flatten()
}

/// The reason why the flow ended without a connection; `None` if it did not.
pub(crate) fn failure(ends: [&SessionEnd; 2], names: [&str; 2]) -> Option<String> {
    let gave_up = ends.iter().any(|end| end.opener.as_ref().is_some_and(|o| o.gave_up));
    let losses = merged(ends.map(SessionEnd::losses));
    let (end, last) = losses.last().filter(|_| gave_up)?;
    Some(format!("`{}` had no connection any more: {}", names[*end], describe(last, names[*end])))
}

/// The events of both ends, in order of time.
pub(crate) fn of_both(ends: [&SessionEnd; 2]) -> Vec<Note> {
    let mut all: Vec<Note> = ends.iter().flat_map(|end| end.notes()).copied().collect();
    all.extend(merged(ends.map(SessionEnd::losses)).into_iter().map(|(_, loss)| Note {
        time: loss.at,
        connection: loss.number,
        what: What::Lost(loss.text),
    }));
    all.sort_by_key(|note| note.time);
    all
}
