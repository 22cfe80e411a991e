//! Slow start: how fast the window opens below `ssthresh`, and when it stops.

mod adaptive;
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
use crate::info::Info;
use crate::params::{Known, Parameters};
use crate::time::{Rate, Span};

pub use adaptive::{Adaptive, AdaptiveParams};
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
}

macro_rules! slow_starts {
    ($($variant:ident: $state:ty;)*) => {
        /// Any slow start of this crate, chosen at run time.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnySlowStart {
            $(
                #[doc = concat!("See [`", stringify!($state), "`].")]
                $variant($state),
            )*
        }

        /// Parameters of any slow start; which one they are of decides which one runs.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnyParams {
            $(
                #[doc = concat!("Of [`", stringify!($state), "`].")]
                $variant(<$state as SlowStart>::Params),
            )*
        }

        /// Descriptions of all slow starts, in the order in which they are listed.
        pub static SLOW_STARTS: &[&Info] = &[$(<$state as Described>::INFO),*];

        impl AnyParams {
            /// The defaults of the slow start with this identifier (any case).
            pub fn by_name(id: &str) -> Option<AnyParams> {
                $(if id.eq_ignore_ascii_case(<$state as Described>::INFO.id) {
                    return Some(AnyParams::$variant(Default::default()));
                })*
                None
            }

            /// Description of the slow start.
            pub fn info(&self) -> &'static Info {
                match self { $(AnyParams::$variant(_) => <$state as Described>::INFO,)* }
            }

            /// The value at a place of the description's table of parameters.
            pub fn get(&self, place: usize) -> Option<u64> {
                match self { $(AnyParams::$variant(p) => p.get(place),)* }
            }

            /// Sets the value at a place of the description's table; false when there is no such
            /// place or the value is not admissible.
            pub fn set(&mut self, place: usize, raw: u64) -> bool {
                match self { $(AnyParams::$variant(p) => p.set(place, raw),)* }
            }
        }

        /// Parameters of another slow start than the state's change nothing.
        impl SlowStart for AnySlowStart {
            type Params = AnyParams;

            fn init(p: &AnyParams, c: &Conn) -> AnySlowStart {
                match p { $(AnyParams::$variant(p) => AnySlowStart::$variant(<$state>::init(p, c)),)* }
            }

            #[inline]
            fn observe(&mut self, p: &AnyParams, c: &Conn, a: &Ack, w: &mut Window) {
                match (self, p) {
                    $((AnySlowStart::$variant(s), AnyParams::$variant(p)) => s.observe(p, c, a, w),)*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }

            #[inline]
            fn grow(&mut self, p: &AnyParams, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
                match (self, p) {
                    $((AnySlowStart::$variant(s), AnyParams::$variant(p)) => {
                        s.grow(p, c, a, credit, w)
                    })*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }

            fn threshold(&self, p: &AnyParams, c: &Conn, w: &Window, ssthresh: u64) -> u64 {
                match (self, p) {
                    $((AnySlowStart::$variant(s), AnyParams::$variant(p)) => {
                        s.threshold(p, c, w, ssthresh)
                    })*
                    #[allow(unreachable_patterns)]
                    _ => ssthresh,
                }
            }

            fn restart(&mut self, p: &AnyParams, c: &Conn) {
                match (self, p) {
                    $((AnySlowStart::$variant(s), AnyParams::$variant(p)) => s.restart(p, c),)*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }

            fn approve(&mut self, p: &AnyParams, c: &Conn, rate: Rate, w: &mut Window) {
                match (self, p) {
                    $((AnySlowStart::$variant(s), AnyParams::$variant(p)) => {
                        s.approve(p, c, rate, w)
                    })*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }

            fn on_trial(&self, c: &Conn) -> bool {
                match self { $(AnySlowStart::$variant(s) => s.on_trial(c),)* }
            }

            fn recovered(&mut self, p: &AnyParams, c: &Conn, w: &mut Window) {
                match (self, p) {
                    $((AnySlowStart::$variant(s), AnyParams::$variant(p)) => {
                        s.recovered(p, c, w)
                    })*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            }
        }
    };
}

slow_starts! {
    Standard: Standard;
    Limited: Limited;
    HyStart: HyStart;
    HyStartPlusPlus: HyStartPlusPlus;
    Vegas: VegasStart;
    PacketPair: PacketPair;
    Adaptive: Adaptive;
    CcmSs: CcmSs;
    QuickStart: QuickStart;
}

impl AnyParams {
    /// Number of the rate that the routers of the path are to be asked for (RFC 4782 section 3.1),
    /// `None` for slow starts that ask for none.
    pub fn rate_code(&self) -> Option<u8> {
        match self {
            AnyParams::QuickStart(p) => Some(p.rate_code.min(15) as u8),
            _ => None,
        }
    }
}

impl Known for AnyParams {
    const DEFAULT: AnyParams = AnyParams::Standard(StandardParams::DEFAULT);
}

impl Default for AnyParams {
    fn default() -> AnyParams {
        AnyParams::DEFAULT
    }
}
