//! Retransmission timers.

pub mod cmbo;
mod cocoa;
mod icc;
mod linux;
mod peakhopper;
mod rfc6298;
mod smoothed;
mod uip;

use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

pub use cmbo::{Cmbo, CmboParams};
pub use cocoa::{Backoff, Cocoa, CocoaParams, CocoaPlus, CocoaPlusParams};
pub use icc::{Icc, IccParams};
pub use linux::{Linux, LinuxParams};
pub use peakhopper::{Peakhopper, PeakhopperParams};
pub use rfc6298::{Rfc6298, Rfc6298Params};
pub use uip::{Uip, UipParams};

/// Timeout after a lost SYN, unless a round-trip time is known by then (RFC 6298 rule 5.7).
const AFTER_LOST_SYN: Span = Span::from_secs(3);

/// What a time may be that a timer is set up with.
const TIME: ParamKind = ParamKind::Time { min: Span::ZERO, max: Span::from_secs(86_400) };
/// The same, but not nothing.
const POSITIVE_TIME: ParamKind = ParamKind::Time { min: Span(1), max: Span::from_secs(86_400) };
/// A gain or a weight.
const GAIN: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE };
/// How often the deviation counts.
const WEIGHT: ParamKind = ParamKind::Count { min: 0, max: 1_000 };
/// A whole factor by which an expiry multiplies the timeout.
const FACTOR: ParamKind = ParamKind::Count { min: 1, max: 1_000 };

/// A measured round-trip time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttSample {
    /// From the first transmission of a segment to its acknowledgement.
    pub rtt: Span,
    /// How often the segment was retransmitted between the two. Which transmission the
    /// acknowledgement answers is then not known; hosts that keep Karn's rule feed such samples
    /// only to timers that [want them](RtoEstimator::wants_ambiguous).
    pub retransmits: u32,
    /// When the acknowledgement came.
    pub now: Time,
    /// Stream offset below which everything is acknowledged now.
    pub una: u64,
    /// Stream offset that the next byte never sent before will carry, as
    /// [`Conn::next_id`](crate::Conn::next_id).
    pub next_id: u64,
    /// Segments with data sent by now, those sent again included.
    pub sent: u64,
    /// Segments with data sent again by now.
    pub resent: u64,
}

impl RttSample {
    /// A sample of a segment sent once; nothing else is known.
    pub fn of(rtt: Span) -> RttSample {
        RttSample { rtt, retransmits: 0, now: Time::ZERO, una: 0, next_id: 0, sent: 0, resent: 0 }
    }
}

/// An estimator of the retransmission timeout.
pub trait RtoEstimator: Copy {
    /// Plain, shared parameters.
    type Params: Parameters;

    /// What it is, for people.
    const INFO: &'static Info;

    /// State of a new connection.
    fn init(p: &Self::Params) -> Self;

    /// A round-trip sample. An unknown one changes nothing.
    fn on_sample(&mut self, p: &Self::Params, s: &RttSample);

    /// New data was acknowledged, with a sample (which came before) or without.
    fn on_progress(&mut self, _p: &Self::Params) {}

    /// The timer expired: back off.
    fn on_timeout(&mut self, p: &Self::Params);

    /// A SYN was lost, and the handshake ends without a round-trip time.
    fn after_lost_syn(&mut self, _p: &Self::Params) {}

    /// The timer is being set: the timeout to set it to. `entropy` is a fresh random number, for
    /// timers that spread their expiries.
    fn arm(&mut self, p: &Self::Params, _now: Time, _entropy: u32) -> Span {
        self.rto(p)
    }

    /// The timeout now, back-off included, before it is spread.
    fn rto(&self, p: &Self::Params) -> Span;

    /// Smoothed RTT, [`Span::NONE`] before the first sample.
    fn srtt(&self) -> Span;

    /// Mean deviation of the RTT, zero before the first sample.
    fn rttvar(&self) -> Span;

    /// The largest timeout.
    fn max(p: &Self::Params) -> Span;

    /// Whether samples of retransmitted segments are of use.
    fn wants_ambiguous(_p: &Self::Params) -> bool {
        false
    }
}

macro_rules! timers {
    ($($variant:ident: $state:ty;)*) => {
        /// Any timer of this crate, chosen at run time.
        ///
        /// Its methods take the parameters with which it was made; those of another timer change
        /// nothing.
        // Boxing what is large needs an allocator.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnyRto {
            $(
                #[doc = concat!("See [`", stringify!($state), "`].")]
                $variant($state),
            )*
        }

        /// Parameters of any timer; which one they are of decides which one runs.
        #[allow(clippy::large_enum_variant)]
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum AnyParams {
            $(
                #[doc = concat!("Of [`", stringify!($state), "`].")]
                $variant(<$state as RtoEstimator>::Params),
            )*
        }

        /// Descriptions of all timers, in the order in which they are listed.
        pub static TIMERS: &[&Info] = &[$(<$state as RtoEstimator>::INFO),*];

        impl AnyParams {
            /// The defaults of the timer with this identifier (any case).
            pub fn by_name(id: &str) -> Option<AnyParams> {
                $(if id.eq_ignore_ascii_case(<$state as RtoEstimator>::INFO.id) {
                    return Some(AnyParams::$variant(Default::default()));
                })*
                None
            }

            /// Description of the timer.
            pub fn info(&self) -> &'static Info {
                match self { $(AnyParams::$variant(_) => <$state as RtoEstimator>::INFO,)* }
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

            /// See [`RtoEstimator::max`].
            pub fn max(&self) -> Span {
                match self { $(AnyParams::$variant(p) => <$state as RtoEstimator>::max(p),)* }
            }

            /// See [`RtoEstimator::wants_ambiguous`].
            pub fn wants_ambiguous(&self) -> bool {
                match self { $(AnyParams::$variant(p) => <$state>::wants_ambiguous(p),)* }
            }
        }

        impl AnyRto {
            /// State of a new connection.
            pub fn init(p: &AnyParams) -> AnyRto {
                match p { $(AnyParams::$variant(p) => AnyRto::$variant(<$state>::init(p)),)* }
            }

            /// See [`RtoEstimator::on_sample`].
            pub fn on_sample(&mut self, p: &AnyParams, s: &RttSample) {
                match (self, p) {
                    $((AnyRto::$variant(t), AnyParams::$variant(p)) => t.on_sample(p, s),)*
                    _ => {}
                }
            }

            /// See [`RtoEstimator::on_progress`].
            pub fn on_progress(&mut self, p: &AnyParams) {
                match (self, p) {
                    $((AnyRto::$variant(t), AnyParams::$variant(p)) => t.on_progress(p),)*
                    _ => {}
                }
            }

            /// See [`RtoEstimator::on_timeout`].
            pub fn on_timeout(&mut self, p: &AnyParams) {
                match (self, p) {
                    $((AnyRto::$variant(t), AnyParams::$variant(p)) => t.on_timeout(p),)*
                    _ => {}
                }
            }

            /// See [`RtoEstimator::after_lost_syn`].
            pub fn after_lost_syn(&mut self, p: &AnyParams) {
                match (self, p) {
                    $((AnyRto::$variant(t), AnyParams::$variant(p)) => t.after_lost_syn(p),)*
                    _ => {}
                }
            }

            /// See [`RtoEstimator::arm`]. With the parameters of another timer, their largest
            /// timeout.
            pub fn arm(&mut self, p: &AnyParams, now: Time, entropy: u32) -> Span {
                match (self, p) {
                    $((AnyRto::$variant(t), AnyParams::$variant(p)) => t.arm(p, now, entropy),)*
                    _ => p.max(),
                }
            }

            /// See [`RtoEstimator::rto`]. With the parameters of another timer, their largest
            /// timeout.
            pub fn rto(&self, p: &AnyParams) -> Span {
                match (self, p) {
                    $((AnyRto::$variant(t), AnyParams::$variant(p)) => t.rto(p),)*
                    _ => p.max(),
                }
            }

            /// See [`RtoEstimator::srtt`].
            pub fn srtt(&self) -> Span {
                match self { $(AnyRto::$variant(t) => t.srtt(),)* }
            }

            /// See [`RtoEstimator::rttvar`].
            pub fn rttvar(&self) -> Span {
                match self { $(AnyRto::$variant(t) => t.rttvar(),)* }
            }
        }
    };
}

timers! {
    Rfc6298: Rfc6298;
    Linux: Linux;
    Cocoa: Cocoa;
    CocoaPlus: CocoaPlus;
    Peakhopper: Peakhopper;
    Uip: Uip;
    Icc: Icc;
    Cmbo: Cmbo;
}

impl Default for AnyParams {
    fn default() -> AnyParams {
        AnyParams::Rfc6298(Rfc6298Params::default())
    }
}
