//! The summary of an acknowledgement that passes through the stages.

use windlass_cc::{Span, Time, Undo};

/// Contents of one acknowledgement, and the results of the stages so far.
#[derive(Clone, Copy, Debug)]
pub(in crate::endpoint) struct AckSummary {
    /// Everything below this offset is acknowledged.
    pub ack: u64,
    /// Bytes that the acknowledgement newly acknowledges cumulatively.
    pub acked: u64,
    /// True if it is a duplicate by RFC 5681's definition; with SACK, by RFC 6675 section 2.
    pub duplicate: bool,
    /// True if it repeats the last acknowledgement, without data and without a new window.
    pub bare: bool,
    /// The echoed timestamp, if timestamps are in use.
    pub echo: Option<u32>,
    /// Newly acknowledged volume of the scoreboard, in the controller's unit.
    pub counted: u64,
    /// Bytes in flight before the acknowledgement.
    pub prior_in_flight: u64,
    /// Bytes deemed lost before the acknowledgement.
    pub prior_lost: u64,
    /// Volume that is delivered for the first time.
    pub delivered: u64,
    /// Sending times of the first and the last segment that it acknowledges cumulatively and that are valid
    /// for an RTT sample.
    pub timed: Option<(Time, Time)>,
    /// Sending times of the first and the last such segment that it reports beyond a hole.
    pub reported: Option<(Time, Time)>,
    /// True if it cumulatively acknowledges a segment that was sent more than once.
    pub covers_retransmission: bool,
    /// The first segment that was sent more than once: time of its first transmission, and number of its
    /// retransmissions.
    pub repeated: Option<(Time, u32)>,
    /// Start of the lowest delivered segment that was sent only once.
    pub first_time: Option<u64>,
    /// Range that the peer reports as a duplicate (RFC 2883).
    pub dsack: Option<(u64, u64)>,
    /// Number of segments in this range.
    pub twice: u32,
    /// Number of retransmissions among these segments, which the report explains.
    pub explained: u32,
    /// The RTT that the controller receives; [`Span::NONE`] without a sample.
    pub rtt: Span,
    /// Proof that an earlier reduction was unnecessary, if the acknowledgement gives it.
    pub spurious: Option<Undo>,
    /// True if a tail loss probe has repaired a loss.
    pub probe_repaired: bool,
}

impl AckSummary {
    /// Sending times of the first and the last segment that are valid for an RTT sample. If an
    /// acknowledgement covers a retransmission, only the segments that it reports beyond a hole count (RFC
    /// 6298 section 3). The others may have waited for the retransmission.
    // RFC 6298-3-1
    pub(super) fn times(&self, karn: bool) -> Option<(Time, Time)> {
        let below = self.timed.filter(|_| !(karn && self.covers_retransmission));
        match (below, self.reported) {
            (Some(below), Some(beyond)) => Some((below.0, beyond.1)),
            (below, beyond) => below.or(beyond),
        }
    }

    /// True if the acknowledgement delivers or acknowledges data, or is a duplicate.
    pub(super) fn is_news(&self) -> bool {
        self.acked > 0 || self.duplicate || self.delivered > 0
    }
}
