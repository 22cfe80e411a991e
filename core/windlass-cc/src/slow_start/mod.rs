//! Slow start: the growth of the window below `ssthresh`, and its end.

mod adaptive;
mod any;
mod careful_resume;
mod ccm_ss;
mod hystart;
mod hystart_pp;
mod limited;
mod packet_pair;
mod quick_start;
mod search;
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
pub use careful_resume::{CarefulResume, CarefulResumeParams};
pub use ccm_ss::{Buffer, CcmSs, CcmSsParams, Mode};
pub use hystart::{Detect, HyStart, HyStartParams};
pub use hystart_pp::{HyStartPlusPlus, HyStartPlusPlusParams};
pub use limited::{Limited, LimitedParams};
pub use packet_pair::{Estimator, PacketPair, PacketPairParams};
pub use quick_start::{QuickStart, QuickStartParams};
pub use search::{Search, SearchExit, SearchParams, SearchVariant};
pub use standard::{Standard, StandardParams};
pub use vegas::{VegasStart, VegasStartParams, VegasVariant};

/// Nanoseconds per unit of short times in several modules, so that 73 minutes fit 32 bits.
const TICK: u64 = 1 << 10;

/// A span in ticks, cut to a whole number; [`u32::MAX`] for longer and for unknown spans.
fn ticks(span: Span) -> u32 {
    (span.0 / TICK).min(u64::from(u32::MAX)) as u32
}

/// Measurements of an earlier connection to the same remote endpoint (RFC 9959 section 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Saved {
    /// Bytes that the path carried in an RTT; zero if none are saved.
    pub cwnd: u64,
    /// Minimum RTT, [`Span::ZERO`] or [`Span::NONE`] if unknown.
    pub rtt: Span,
}

/// A slow-start module. It can be combined with any congestion avoidance.
pub trait SlowStart: Copy {
    /// Plain, shared parameters.
    type Params: Copy + Default + PartialEq + core::fmt::Debug;

    /// State of a new connection.
    fn init(p: &Self::Params, c: &Conn) -> Self;

    /// Called for every acknowledgement of new data outside recovery, also in congestion avoidance,
    /// before the window changes and regardless of its limiting the sender. Lowering `ssthresh` to the
    /// window ends slow start at this acknowledgement; raising it above the window begins slow start.
    fn observe(&mut self, _p: &Self::Params, _c: &Conn, _a: &Ack, _w: &mut Window) {}

    /// Increases the window, for an acknowledgement of new data while the window limits the sender.
    /// `credit` is the number of bytes that the stack counts: the acknowledged bytes, at most
    /// [`Setup::ack_limit`](crate::setup::Setup::ack_limit) segments.
    fn grow(&mut self, p: &Self::Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window);

    /// Returns the threshold in bytes after a loss or mark in slow start. `ssthresh` is the algorithm's
    /// value, and `w` is the window before it.
    fn threshold(&self, _p: &Self::Params, _c: &Conn, _w: &Window, ssthresh: u64) -> u64 {
        ssthresh
    }

    /// Resets the state after a loss or an idle time, for the next slow start.
    fn restart(&mut self, _p: &Self::Params, _c: &Conn) {}

    /// Handles the routers' approval of a sending rate for the first RTT, including headers
    /// ([`Setup::approved`](crate::setup::Setup::approved)). Called at the start of a connection, with
    /// the initial window.
    fn approve(&mut self, _p: &Self::Params, _c: &Conn, _rate: Rate, _w: &mut Window) {}

    /// True if this slow start responds to a loss or mark found now with
    /// [`threshold`](SlowStart::threshold), even if the window has reached the threshold.
    fn on_trial(&self, _c: &Conn) -> bool {
        false
    }

    /// Maximum window in bytes during recovery, in addition to the rule of the loss recovery.
    fn ceiling(&self, _c: &Conn) -> u64 {
        u64::MAX
    }

    /// Pacing rate that takes precedence over the algorithm's; zero for none.
    fn pacing(&self, _c: &Conn, _w: &Window) -> Rate {
        Rate(0)
    }

    /// Bytes that the path has carried in an RTT, for the next connection on it; zero if unknown.
    fn capacity(&self) -> u64 {
        0
    }

    /// Handles the end of recovery, or of the RTT after a mark; the window is already set.
    fn recovered(&mut self, _p: &Self::Params, _c: &Conn, _w: &mut Window) {}
}

/// A slow start that can be chosen by name.
pub trait Described: SlowStart<Params: Parameters> {
    /// Description of the slow start for users.
    const INFO: &'static Info;

    /// Deviations of real stacks from the paper or RFC.
    const FLAVOURS: &'static [Departure] = &[];
}
