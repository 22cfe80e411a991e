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
    /// It acknowledges a piece of a segment, and nothing whole.
    pub piece: bool,
    /// Bytes in flight before it.
    pub prior_in_flight: u64,
    /// Bytes deemed lost before it.
    pub prior_lost: u64,
    /// Bytes delivered that had not been before.
    pub delivered: u64,
    /// When the first and the last of the delivered segments were sent, of those that a round trip
    /// can be read from.
    pub timed: Option<(Time, Time)>,
    /// The first that was sent more than once: when first, and how often again.
    pub repeated: Option<(Time, u32)>,
    /// The lowest that was sent once only.
    pub first_time: Option<u64>,
    /// Data that the peer reports to have received twice (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// The round trip as the controller is to see it, [`Span::NONE`] for none.
    pub rtt: Span,
    /// Why an earlier reduction was unfounded, if this shows it.
    pub spurious: Option<Undo>,
    /// A tail loss probe has repaired a loss.
    pub probe_repaired: bool,
}

impl AckSummary {
    /// Whether anything is delivered, acknowledged or counted by it.
    pub(super) fn is_news(&self) -> bool {
        self.acked > 0 || self.duplicate
    }
}
