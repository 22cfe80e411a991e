//! What a script says, and the path that it is played on.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Conn, Ecn, Event, Span};

/// What sends: an algorithm, or the model of one.
pub trait Sender {
    /// The window that the host obeys, bytes.
    fn cwnd(&self, c: &Conn) -> u64;
    /// The rate at which segments leave, bytes per second; `None`: the window's worth at once.
    fn pacing(&self, _c: &Conn) -> Option<f64> {
        None
    }
    /// Takes an event.
    fn apply(&mut self, c: &Conn, e: &Event);
}

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// So many acknowledgements arrive, each of one segment.
    Acks(u32),
    /// So many acknowledgements arrive, each of several segments.
    Aggregated {
        /// How many.
        acks: u32,
        /// Segments that each covers.
        of: u32,
    },
    /// The network drops the outstanding segments at these places, the oldest being 0.
    Drop(Vec<usize>),
    /// From now on the network drops one of so many segments that are sent for the first time;
    /// `None`: no longer.
    DropEvery(Option<u64>),
    /// The outstanding segment at this place arrives so much later.
    Delay(usize, Span),
    /// The network marks the outstanding segments at these places (ECN).
    Mark(Vec<usize>),
    /// The retransmission timer expires; nothing outstanding arrives any more.
    Timeout,
    /// The retransmission timer expires although everything outstanding will arrive.
    EarlyTimeout,
    /// All that is outstanding is acknowledged; then nothing is sent for so long.
    Idle(Span),
    /// The segment size changes.
    Mss(u32),
    /// The application keeps at most so many segments in flight from now on; `None`: any number.
    AppLimit(Option<u32>),
    /// The path is another from now on; what is on its way arrives as it would have.
    Link {
        /// Round-trip time of the empty path.
        rtt: Span,
        /// Time that the bottleneck takes for one segment.
        segment_time: Span,
    },
}

/// The path and the way in which the host repairs losses.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Round-trip time of an empty path.
    pub rtt: Span,
    /// Time that the bottleneck takes for one segment.
    pub segment_time: Span,
    /// Retransmission timeout; it doubles with each expiry in a row. An idle time beyond it makes
    /// the window fall back.
    pub rto: Span,
    /// Loss recovery.
    pub style: LossRecovery,
    /// How the sender hears of marks.
    pub ecn: Ecn,
}
