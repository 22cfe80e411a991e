//! What an acknowledgement says, on its way through the stages.

use windlass_cc::{Span, Time, Undo};

/// What one acknowledgement says, and what has been made of it so far.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct AckSummary {
    /// Everything below this offset is acknowledged.
    pub ack: u64,
    /// Bytes that this acknowledges cumulatively and that were not before.
    pub acked: u64,
    /// A duplicate: by RFC 5681's definition, with SACK by that of RFC 6675 section 2.
    pub duplicate: bool,
    /// The timestamp that it echoes, where timestamps are in use.
    pub echo: Option<u32>,
    /// The same in the volume of the scoreboard, in which the controller counts.
    pub counted: u64,
    /// Bytes in flight before it.
    pub prior_in_flight: u64,
    /// Bytes deemed lost before it.
    pub prior_lost: u64,
    /// Volume delivered that had not been before.
    pub delivered: u64,
    /// When the first and the last of the segments were sent that it acknowledges cumulatively, of those that a round
    /// trip can be read from.
    pub timed: Option<(Time, Time)>,
    /// The same of the segments that it reports beyond a hole.
    pub reported: Option<(Time, Time)>,
    /// It acknowledges a segment cumulatively that was sent more than once.
    pub covers_retransmission: bool,
    /// The first that was sent more than once: when first, and how often again.
    pub repeated: Option<(Time, u32)>,
    /// The lowest that was sent once only.
    pub first_time: Option<u64>,
    /// Data that the peer reports to have received twice (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// Segments that these data are.
    pub twice: u32,
    /// Retransmissions among them, which the report explains.
    pub explained: u32,
    /// The round trip as the controller is to see it, [`Span::NONE`] for none.
    pub rtt: Span,
    /// Why an earlier reduction was unfounded, if this shows it.
    pub spurious: Option<Undo>,
    /// A tail loss probe has repaired a loss.
    pub probe_repaired: bool,
}

impl AckSummary {
    /// When the first and the last of the segments were sent that a round trip can be read from. Where an acknowledgement
    /// covers what was retransmitted, only what it reports beyond a hole counts (RFC 6298 section 3): the rest
    /// may have waited for the retransmission.
    pub(super) fn times(&self, karn: bool) -> Option<(Time, Time)> {
        let below = self.timed.filter(|_| !(karn && self.covers_retransmission));
        match (below, self.reported) {
            (Some(below), Some(beyond)) => Some((below.0, beyond.1)),
            (below, beyond) => below.or(beyond),
        }
    }

    /// Whether anything is delivered, acknowledged or counted by it.
    pub(super) fn is_news(&self) -> bool {
        self.acked > 0 || self.duplicate || self.delivered > 0
    }
}
