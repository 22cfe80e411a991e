//! The steps of a script, and its path.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Conn, Ecn, Event, Span};

/// A sender: an algorithm, or the model of an algorithm.
pub trait Sender {
    /// The cwnd that the host uses, bytes.
    fn cwnd(&self, c: &Conn) -> u64;
    /// The rate at which segments leave, bytes per second; `None` sends all that cwnd allows at
    /// once.
    fn pacing(&self, _c: &Conn) -> Option<f64> {
        None
    }
    /// Takes an event.
    fn apply(&mut self, c: &Conn, e: &Event);
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// This number of acknowledgements arrives, each for one segment.
    Acks(u32),
    /// This number of acknowledgements arrives, each for several segments.
    Aggregated {
        /// Number of acknowledgements.
        acks: u32,
        /// Segments per acknowledgement.
        of: u32,
    },
    /// The network drops the outstanding segments at these indices. The oldest segment has index 0.
    Drop(Vec<usize>),
    /// From now on the network drops one of every N segments that are sent for the first time;
    /// `None` ends this.
    DropEvery(Option<u64>),
    /// The outstanding segment at this index arrives later by this time.
    Delay(usize, Span),
    /// The network marks the outstanding segments at these indices (ECN).
    Mark(Vec<usize>),
    /// The retransmission timer expires. No outstanding segment arrives any more.
    Timeout,
    /// The retransmission timer expires although all outstanding segments will arrive.
    EarlyTimeout,
    /// All outstanding data is acknowledged. Then nothing is sent for this time.
    Idle(Span),
    /// The segment size changes.
    Mss(u32),
    /// From now on the application keeps at most this number of segments in flight; `None` removes
    /// the limit.
    AppLimit(Option<u32>),
    /// The path changes from now on. Segments in transit arrive as before.
    Link {
        /// RTT of the empty path.
        rtt: Span,
        /// Time that the bottleneck takes for one segment.
        segment_time: Span,
    },
}

/// The path, and the host's loss recovery.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Round-trip time of an empty path.
    pub rtt: Span,
    /// Time that the bottleneck takes for one segment.
    pub segment_time: Span,
    /// Retransmission timeout. It doubles with each consecutive expiry. After a longer idle time,
    /// cwnd is reduced.
    pub rto: Span,
    /// Loss recovery.
    pub style: LossRecovery,
    /// The kind of ECN feedback to the sender.
    pub ecn: Ecn,
}
