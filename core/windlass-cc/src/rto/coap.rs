//! CoAP's own timer, which does not use RTT samples.

use super::{DITHER, FACTOR, POSITIVE_TIME, RtoEstimator, RttSample, spread};
use crate::arithmetic::math::mul;
use crate::info::Info;
use crate::params::{Parameters, Ratio};
use crate::time::{Span, Time};

crate::parameters! {
    /// Parameters of CoAP's timer.
    pub struct CoapParams {
        /// Timeout of a message sent once.
        initial: Span = Span::from_secs(2), POSITIVE_TIME, "RFC 7252 section 4.8, ACK_TIMEOUT";
        /// Maximum timeout, including back-off; CoAP limits only the number of retransmissions.
        max: Span = Span::from_secs(86_400), POSITIVE_TIME, "RFC 7252 section 4.2 (none)";
        /// Maximum random factor on the timeout of each timer; the minimum is 1.
        dither: Ratio = Ratio::of(3, 2), DITHER, "RFC 7252 section 4.8, ACK_RANDOM_FACTOR";
        /// Factor by which each expiry multiplies the timeout; 1 turns back-off off.
        backoff: u64 = 2, FACTOR, "RFC 7252 section 4.2";
    }
}

/// CoAP's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Coap {
    /// Timeout in nanoseconds, with back-off.
    rto: u64,
}

impl RtoEstimator for Coap {
    type Params = CoapParams;

    const INFO: &'static Info = &Info {
        id: "coap",
        name: "CoAP",
        origin: "RFC 7252, The Constrained Application Protocol, section 4.2",
        citation: "rfc7252",
        description: "A constant timeout of 2 s, multiplied by a random factor of up to 1.5 and \
            doubled at each expiry, without any estimate of the RTT. A CoAP exchange draws its \
            random factor once. A TCP with this timer draws a factor each time that it sets the \
            timer, and backs off until new data is acknowledged.",
        params: CoapParams::TABLE,
        trace: &[],
    };

    fn init(p: &CoapParams) -> Coap {
        Coap { rto: p.initial.0.min(p.max.0).max(1) }
    }

    fn on_sample(&mut self, _p: &CoapParams, _s: &RttSample) {}

    fn on_progress(&mut self, p: &CoapParams) {
        *self = Coap::init(p);
    }

    fn on_timeout(&mut self, p: &CoapParams) {
        self.rto = mul(self.rto, p.backoff.max(1)).min(p.max.0).max(1);
    }

    fn arm(&mut self, p: &CoapParams, _now: Time, entropy: u32) -> Span {
        spread(self.rto, p.dither, entropy)
    }

    fn rto(&self, _p: &CoapParams) -> Span {
        Span(self.rto)
    }

    fn srtt(&self) -> Span {
        Span::NONE
    }

    fn rttvar(&self) -> Span {
        Span::ZERO
    }

    fn max(p: &CoapParams) -> Span {
        p.max
    }
}
