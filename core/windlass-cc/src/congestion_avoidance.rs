//! Window growth in congestion avoidance, and the cut at a loss.

use crate::arithmetic::math::mul;
use crate::arithmetic::window::{MAX_WINDOW, Window, quotient};
use crate::cross_layer::CrossLayer;
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::group::Group;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{Parameters, Ratio};
use crate::time::{Rate, Span};

/// Reason for a cut of the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CongestionEvent {
    /// A loss that fast recovery repairs.
    Loss,
    /// A retransmission timeout.
    Timeout,
    /// An ECN echo.
    Ecn,
}

/// Rounding of the window after a cut to whole segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Down: the kernel multiplies the window by the kept share.
    Down,
    /// Up: the kernel subtracts the removed share.
    Up,
}

impl Rounding {
    /// Returns the window after a cut of a window of `window` bytes, in whole segments, at least two.
    /// `kept` may differ by one unit in the last of its 16 fractional bits.
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

/// The part of a window-based algorithm that differs between algorithms.
/// [`LossBased`](crate::loss_based::LossBased) makes it a [`Controller`](crate::Controller).
pub trait CongestionAvoidance: Copy {
    /// Plain, shared parameters.
    type Params: Parameters;

    /// Description of the algorithm for users.
    const INFO: &'static Info;

    /// Requirements of the algorithm on its host.
    const REQUIREMENTS: Requirements;

    /// Deviations of real stacks from the paper or RFC.
    const FLAVOURS: &'static [Departure] = &[];

    /// True if Linux's version counts acknowledged segments until a growth by a segment (`tcp_cong_avoid_ai`). Segments
    /// that slow start or a growth did not need then count for the next growth.
    const CARRIES_OVER: bool = false;

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// Initial window of a new connection, bytes; `given` is the stack's value.
    fn initial_window(_p: &Self::Params, _c: &Conn, given: u64) -> u64 {
        given
    }

    /// Called for every acknowledgement, including duplicates, in every phase, before the window
    /// changes. Measurements and the exit from slow start belong here.
    fn observe(&mut self, _p: &Self::Params, _c: &Conn, _a: &Ack, _w: &mut Window) {}

    /// Responds to marks that are echoed exactly, after [`observe`](Self::observe). Called only if the
    /// algorithm responds to marks itself ([`MarkCut::AtOnce`](crate::setup::MarkCut)).
    fn answer_marks(&mut self, _p: &Self::Params, _c: &Conn, _a: &Ack, _w: &mut Window) {}

    /// Moves the window in congestion avoidance, for an acknowledgement of new data while the window
    /// limits the sender. `credit` is the number of bytes that the stack counts: the acknowledged
    /// bytes, at most [`Setup::ack_limit`](crate::setup::Setup::ack_limit) segments. With
    /// [`Counting::Segments`](crate::setup::Counting) `w` contains only whole segments.
    fn avoid(&mut self, p: &Self::Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window);

    /// Returns the new `ssthresh` in bytes after a loss or mark; `w` is the window before it.
    fn ssthresh(&mut self, p: &Self::Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64;

    /// Pacing rate; zero without pacing.
    fn pacing(&self, _p: &Self::Params, _c: &Conn, _w: &Window) -> Rate {
        Rate(0)
    }

    /// Rounding of a cut if the window is in whole segments, as in Linux.
    fn rounding(_why: CongestionEvent) -> Rounding {
        Rounding::Down
    }

    /// Factor on the growth in slow start. Below one growth is slower, and at zero it stops.
    fn slow_start_gain(&self, _p: &Self::Params, _c: &Conn) -> Ratio {
        Ratio::ONE
    }

    /// True if slow start is now the standard slow start, regardless of the selected slow start.
    fn starts_plainly(&self) -> bool {
        false
    }

    /// Begins a new epoch of growth, after a cut or after the end of loss recovery, depending on the
    /// phase.
    fn restart(&mut self, _p: &Self::Params, _c: &Conn, _w: &mut Window) {}

    /// Handles the undo of the last cut; the window is already restored.
    fn undo(&mut self, _p: &Self::Params, _c: &Conn, _w: &Window) {}

    /// Handles a time `gap` without data to send or in flight.
    fn idle(&mut self, _p: &Self::Params, _c: &Conn, _gap: Span) {}

    /// Handles the reduction of the window to the restart window after an idle time (RFC 5681 section
    /// 4.1).
    fn fall_back(&mut self, _p: &Self::Params, _c: &Conn, _w: &Window) {}

    /// Handles a change of the segment size from `old` to `c.mss`. Values in segments remain.
    fn on_mss(&mut self, _p: &Self::Params, _c: &Conn, _old: u32) {}

    /// Takes the present state of the connection's paths.
    fn on_group(&mut self, _p: &Self::Params, _c: &Conn, _g: &Group, _w: &mut Window) {}

    /// Value that this path's siblings receive.
    fn disclosed(&self) -> u64 {
        0
    }

    /// Takes a report of the node's lower layers.
    fn on_cross_layer(&mut self, _p: &Self::Params, _c: &Conn, _l: &CrossLayer) {}

    /// Visits the inner state in the order of [`Info::trace`].
    fn trace(&self, _sink: &mut dyn FnMut(&'static TraceField, u64)) {}
}

/// RFC 5681 equation 4 with another factor: `max(keep · FlightSize, 2·SMSS)`.
// RFC 9438-4.6-4
pub fn kept_flight(c: &Conn, keep: Ratio) -> u64 {
    keep.times(c.flight_size).max(2 * u64::from(c.mss))
}

/// RFC 5681 equation 4: `max(FlightSize/2, 2·SMSS)`.
// RFC 5681-3.1-13
pub fn half_flight(c: &Conn) -> u64 {
    (c.flight_size / 2).max(2 * u64::from(c.mss))
}

/// RFC 5681 equation 3, `mss²/cwnd` with [`FRACTION_BITS`](crate::window::FRACTION_BITS) fractional
/// bits: the part of one segment per RTT for an acknowledgement that counts `credit` bytes.
// RFC 5681-3.1-9
pub fn additive(c: &Conn, credit: u64, cwnd: u64) -> u64 {
    let mss = u64::from(c.mss);
    quotient(mss, credit.max(mss), cwnd)
}
