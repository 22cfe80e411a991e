//! Window growth in congestion avoidance, and how far a loss cuts the window.

use crate::arithmetic::math::mul;
use crate::arithmetic::window::{MAX_WINDOW, Window, quotient};
use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{Parameters, Ratio};
use crate::time::Span;

/// Why the window is cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionEvent {
    /// A loss that fast recovery repairs.
    Loss,
    /// A retransmission timeout.
    Timeout,
    /// An ECN echo.
    Ecn,
}

/// Which whole number of segments a cut leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// The kernel multiplies the window by what is kept: rounded down.
    Down,
    /// The kernel takes away what is cut: rounded up.
    Up,
}

impl Rounding {
    /// What is left of a window of `window` bytes, in whole segments, at least two. `kept` may be
    /// off by the last of the 16 fractional bits that shares are kept with.
    pub fn whole(self, kept: u64, window: u64, mss: u32) -> u64 {
        let (mss, kept) = (u64::from(mss.max(1)), kept.min(MAX_WINDOW));
        let doubt = (window.min(MAX_WINDOW) >> 16) + 1;
        let segments = match self {
            Rounding::Down => (kept + doubt) / mss,
            Rounding::Up => (kept + (mss - 1).saturating_sub(doubt)) / mss,
        };
        mul(segments.max(2), mss)
    }
}

/// The part in which algorithms with a window differ. [`LossBased`](crate::loss_based::LossBased)
/// makes a [`Controller`](crate::Controller) of it.
pub trait CongestionAvoidance: Copy {
    /// Plain, shared parameters.
    type Params: Parameters;

    /// What the algorithm is, for people.
    const INFO: &'static Info;

    /// What the algorithm wants of its host.
    const REQUIREMENTS: Requirements;

    /// How stacks differ from the paper or RFC.
    const FLAVOURS: &'static [Departure] = &[];

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// The window that a new connection begins with, bytes, where the stack has `given`.
    fn initial_window(_p: &Self::Params, _c: &Conn, given: u64) -> u64 {
        given
    }

    /// Sees every acknowledgement, duplicates included, in whatever phase, before anything else
    /// happens to the window: the place for measurements, and for leaving slow start.
    fn observe(&mut self, _p: &Self::Params, _c: &Conn, _a: &Ack, _w: &mut Window) {}

    /// Answers marks that are echoed exactly, after [`observe`](Self::observe), where that is the algorithm's
    /// own affair ([`MarkCut::AtOnce`](crate::setup::MarkCut)).
    fn answer_marks(&mut self, _p: &Self::Params, _c: &Conn, _a: &Ack, _w: &mut Window) {}

    /// Moves the window in congestion avoidance, for an acknowledgement of new data while the
    /// window limits the sender. `credit` is the bytes that the stack counts for it: what was
    /// acknowledged, at most [`Setup::ack_limit`](crate::setup::Setup::ack_limit) segments. With
    /// [`Counting::Segments`](crate::setup::Counting) `w` is the whole segments alone.
    fn avoid(&mut self, p: &Self::Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window);

    /// The new `ssthresh` in bytes after a loss or mark; `w` is the window before it.
    fn ssthresh(&mut self, p: &Self::Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64;

    /// How a cut is rounded where the window is kept in whole segments: as Linux computes it.
    fn rounding(_why: CongestionEvent) -> Rounding {
        Rounding::Down
    }

    /// How many times as fast as usual slow start opens the window; less than one is slower, zero
    /// not at all.
    fn slow_start_gain(&self, _p: &Self::Params, _c: &Conn) -> Ratio {
        Ratio::ONE
    }

    /// Whether slow start is the standard one just now, whatever slow start was chosen.
    fn starts_plainly(&self) -> bool {
        false
    }

    /// A cut is done or loss recovery is over, as the phase tells: a new epoch of growth begins.
    fn restart(&mut self, _p: &Self::Params, _c: &Conn, _w: &mut Window) {}

    /// The last cut was unfounded; the window is back already.
    fn undo(&mut self, _p: &Self::Params, _c: &Conn, _w: &Window) {}

    /// Nothing was sent or in flight for so long.
    fn idle(&mut self, _p: &Self::Params, _c: &Conn, _gap: Span) {}

    /// After an idle time the window has fallen back to the restart window (RFC 5681 section 4.1).
    fn fall_back(&mut self, _p: &Self::Params, _c: &Conn, _w: &Window) {}

    /// The segment size changed from `old` to `c.mss`: what is kept in segments stays.
    fn on_mss(&mut self, _p: &Self::Params, _c: &Conn, _old: u32) {}

    /// The paths of the connection as they are now.
    fn on_group(&mut self, _p: &Self::Params, _c: &Conn, _g: &Group, _w: &mut Window) {}

    /// What this path's siblings are to know of it.
    fn disclosed(&self) -> u64 {
        0
    }

    /// What the node's lower layers know now.
    fn on_cross_layer(&mut self, _p: &Self::Params, _c: &Conn, _l: &CrossLayer) {}

    /// Visits the inner state in the order of [`Info::trace`].
    fn trace(&self, _sink: &mut dyn FnMut(&'static TraceField, u64)) {}
}

/// RFC 5681 equation 4 with another factor: `max(keep · FlightSize, 2·SMSS)`.
pub fn kept_flight(c: &Conn, keep: Ratio) -> u64 {
    keep.times(c.flight_size).max(2 * u64::from(c.mss))
}

/// RFC 5681 equation 4: `max(FlightSize/2, 2·SMSS)`.
pub fn half_flight(c: &Conn) -> u64 {
    (c.flight_size / 2).max(2 * u64::from(c.mss))
}

/// RFC 5681 equation 3, `mss²/cwnd` with
/// [`FRACTION_BITS`](crate::window::FRACTION_BITS) fractional bits: the share of one
/// segment per round trip for an acknowledgement that counts for `credit` bytes.
pub fn additive(c: &Conn, credit: u64, cwnd: u64) -> u64 {
    let mss = u64::from(c.mss);
    quotient(mss, credit.max(mss), cwnd)
}
