//! Slow start: how fast the window opens below `ssthresh`, and when it stops.

mod adaptive;
mod any;
mod ccm_ss;
mod hystart;
mod hystart_pp;
mod limited;
mod packet_pair;
mod quick_start;
mod standard;
mod vegas;

use crate::arithmetic::window::Window;
use crate::event::{Ack, Conn};
use crate::flavour::Departure;
use crate::info::Info;
use crate::params::Parameters;
use crate::time::{Rate, Span};

pub use adaptive::{Adaptive, AdaptiveParams};
pub use any::{AnyParams, AnySlowStart, SLOW_STARTS};
pub use ccm_ss::{Buffer, CcmSs, CcmSsParams, Mode};
pub use hystart::{Detect, HyStart, HyStartParams};
pub use hystart_pp::{HyStartPlusPlus, HyStartPlusPlusParams};
pub use limited::{Limited, LimitedParams};
pub use packet_pair::{Estimator, PacketPair, PacketPairParams};
pub use quick_start::{QuickStart, QuickStartParams};
pub use standard::{Standard, StandardParams};
pub use vegas::{VegasStart, VegasStartParams, VegasVariant};

/// Nanoseconds in the unit in which several modules keep short times, so that 73 minutes fit 32
/// bits.
const TICK: u64 = 1 << 10;

/// A span in ticks, cut to whole ones; [`u32::MAX`] for longer ones and those not known.
fn ticks(span: Span) -> u32 {
    (span.0 / TICK).min(u64::from(u32::MAX)) as u32
}

/// A slow-start module. It combines with any window growth.
pub trait SlowStart: Copy {
    /// Plain, shared parameters.
    type Params: Copy + Default + PartialEq + core::fmt::Debug;

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// Sees every acknowledgement of new data outside recovery, in congestion avoidance too, before
    /// the window moves and whether or not it limits the sender. Lowering `ssthresh` to the window
    /// ends slow start, with this acknowledgement already; raising it above the window begins it.
    fn observe(&mut self, _p: &Self::Params, _c: &Conn, _a: &Ack, _w: &mut Window) {}

    /// Opens the window, for an acknowledgement of new data while the window limits the sender.
    /// `credit` is the bytes that the stack counts for it: what was acknowledged, at most
    /// [`Setup::ack_limit`](crate::setup::Setup::ack_limit) segments.
    fn grow(&mut self, p: &Self::Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window);

    /// The threshold in bytes after a loss or mark that came in slow start: the algorithm asks for
    /// `ssthresh`, and `w` is the window before it.
    fn threshold(&self, _p: &Self::Params, _c: &Conn, _w: &Window, ssthresh: u64) -> u64 {
        ssthresh
    }

    /// A loss or an idle time: slow start, if it begins again, begins anew.
    fn restart(&mut self, _p: &Self::Params, _c: &Conn) {}

    /// The routers of the path have approved a sending rate for the first round trip, headers
    /// included ([`Setup::approved`](crate::setup::Setup::approved)). Called at the beginning of a
    /// connection, with the initial window.
    fn approve(&mut self, _p: &Self::Params, _c: &Conn, _rate: Rate, _w: &mut Window) {}

    /// Whether a loss or mark found now is this slow start's to answer with
    /// [`threshold`](SlowStart::threshold), even if the window has reached the threshold.
    fn on_trial(&self, _c: &Conn) -> bool {
        false
    }

    /// Recovery, or the round trip after a mark, has ended, and the window was set accordingly.
    fn recovered(&mut self, _p: &Self::Params, _c: &Conn, _w: &mut Window) {}
}

/// A slow start that can be chosen by name.
pub trait Described: SlowStart<Params: Parameters> {
    /// What it is, for people.
    const INFO: &'static Info;

    /// How stacks differ from the paper or RFC.
    const FLAVOURS: &'static [Departure] = &[];
}
