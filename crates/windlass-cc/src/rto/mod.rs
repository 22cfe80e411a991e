//! Retransmission timers.

mod any;
pub mod cmbo;
mod coap;
mod cocoa;
mod fasor;
mod icc;
mod linux;
mod peakhopper;
mod rfc6298;
mod smoothed;
mod uip;

use crate::arithmetic::math::mul_div;
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

pub use any::{AnyParams, AnyRto, TIMERS};
pub use cmbo::{Cmbo, CmboParams};
pub use coap::{Coap, CoapParams};
pub use cocoa::{Backoff, Cocoa, CocoaParams, CocoaPlus, CocoaPlusParams};
pub use fasor::{Fasor, FasorParams};
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

/// How many times the timeout a timer may be set to at most.
const DITHER: ParamKind = ParamKind::Ratio { min: Ratio::ONE, max: Ratio(4 * Ratio::ONE.0) };

/// Between once and `dither` times the timeout in nanoseconds, by a random number.
fn spread(timeout: u64, dither: Ratio, entropy: u32) -> Span {
    let most = Ratio(dither.0.saturating_sub(Ratio::ONE.0)).times(timeout);
    Span(timeout.saturating_add(mul_div(most, u64::from(entropy), u64::from(u32::MAX))))
}

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
