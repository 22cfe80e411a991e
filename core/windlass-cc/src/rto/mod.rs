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

/// Timeout after a lost SYN, if no RTT is known (RFC 6298 rule 5.7).
const AFTER_LOST_SYN: Span = Span::from_secs(3);

/// Range of a time parameter of a timer.
const TIME: ParamKind = ParamKind::Time { min: Span::ZERO, max: Span::from_secs(86_400) };
/// Range of a time parameter that is not zero.
const POSITIVE_TIME: ParamKind = ParamKind::Time { min: Span(1), max: Span::from_secs(86_400) };
/// Range of a gain or a weight.
const GAIN: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE };
/// Range of the factor on the deviation.
const WEIGHT: ParamKind = ParamKind::Count { min: 0, max: 1_000 };
/// Range of the whole factor by which an expiry multiplies the timeout.
const FACTOR: ParamKind = ParamKind::Count { min: 1, max: 1_000 };

/// Range of the maximum random factor on the timeout.
const DITHER: ParamKind = ParamKind::Ratio { min: Ratio::ONE, max: Ratio(4 * Ratio::ONE.0) };

/// A random time between `timeout` and `dither` times `timeout`, in nanoseconds.
fn spread(timeout: u64, dither: Ratio, entropy: u32) -> Span {
    let most = Ratio(dither.0.saturating_sub(Ratio::ONE.0)).times(timeout);
    Span(timeout.saturating_add(mul_div(most, u64::from(entropy), u64::from(u32::MAX))))
}

/// A measured RTT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RttSample {
    /// Time from the first transmission of a segment to its acknowledgement.
    pub rtt: Span,
    /// Number of retransmissions of the segment between the two. The acknowledged transmission is then
    /// unknown. Hosts that follow Karn's rule pass such samples only to timers that [want
    /// them](RtoEstimator::wants_ambiguous).
    pub retransmits: u32,
    /// Arrival time of the acknowledgement.
    pub now: Time,
    /// Stream offset below which everything is acknowledged.
    pub una: u64,
    /// Stream offset of the next byte that is sent for the first time, as
    /// [`Conn::next_id`](crate::Conn::next_id).
    pub next_id: u64,
    /// Number of segments with data sent so far, including retransmissions.
    pub sent: u64,
    /// Number of segments with data retransmitted so far.
    pub resent: u64,
}

impl RttSample {
    /// A sample of a segment sent once, without further information.
    pub fn of(rtt: Span) -> RttSample {
        RttSample { rtt, retransmits: 0, now: Time::ZERO, una: 0, next_id: 0, sent: 0, resent: 0 }
    }
}

/// An estimator of the retransmission timeout.
pub trait RtoEstimator: Copy {
    /// Plain, shared parameters.
    type Params: Parameters;

    /// Description of the timer for users.
    const INFO: &'static Info;

    /// State of a new connection.
    fn init(p: &Self::Params) -> Self;

    /// Takes an RTT sample. An unknown sample changes nothing.
    fn on_sample(&mut self, p: &Self::Params, s: &RttSample);

    /// Handles an acknowledgement of new data, with a sample (which was passed before) or without.
    fn on_progress(&mut self, _p: &Self::Params) {}

    /// Handles an expiry of the timer: backs off.
    fn on_timeout(&mut self, p: &Self::Params);

    /// Handles a lost SYN, after which the handshake ends without an RTT.
    fn after_lost_syn(&mut self, _p: &Self::Params) {}

    /// Returns the timeout for setting the timer. `entropy` is a new random number, for timers that
    /// spread their expiries.
    fn arm(&mut self, p: &Self::Params, _now: Time, _entropy: u32) -> Span {
        self.rto(p)
    }

    /// The present timeout, including back-off, before it is spread.
    fn rto(&self, p: &Self::Params) -> Span;

    /// Smoothed RTT, [`Span::NONE`] before the first sample.
    fn srtt(&self) -> Span;

    /// Mean deviation of the RTT, zero before the first sample.
    fn rttvar(&self) -> Span;

    /// The maximum timeout.
    fn max(p: &Self::Params) -> Span;

    /// True if the timer uses samples of retransmitted segments.
    fn wants_ambiguous(_p: &Self::Params) -> bool {
        false
    }
}
