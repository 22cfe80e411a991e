//! The standard timer.

use super::smoothed::Smoothed;
use super::{AFTER_LOST_SYN, FACTOR, GAIN, POSITIVE_TIME, RtoEstimator, RttSample, TIME, WEIGHT};
use crate::arithmetic::math::mul;
use crate::info::Info;
use crate::params::{Parameters, Ratio};
use crate::time::Span;

crate::parameters! {
    /// Parameters of RFC 6298's timer.
    pub struct Rfc6298Params {
        /// Timeout before the first sample.
        initial: Span = Span::from_secs(1), POSITIVE_TIME, "RFC 6298 section 2.1";
        /// Minimum timeout.
        min: Span = Span::from_secs(1), TIME, "RFC 6298 section 2.4";
        /// Maximum timeout, including back-off.
        max: Span = Span::from_secs(60), POSITIVE_TIME, "RFC 6298 section 2.5 (at least 60 s)";
        /// Clock granularity, which is the minimum variance term.
        granularity: Span = Span::from_millis(1), TIME, "RFC 6298 section 2.3, G";
        /// Gain of the smoothed RTT.
        // RFC 6298-2.3-2
        alpha: Ratio = Ratio::of(1, 8), GAIN, "RFC 6298 section 2.3, alpha";
        /// Gain of the deviation.
        beta: Ratio = Ratio::of(1, 4), GAIN, "RFC 6298 section 2.3, beta";
        /// Weight of the deviation.
        k: u64 = 4, WEIGHT, "RFC 6298 section 2.3, K";
        /// Factor by which each expiry multiplies the timeout; 1 turns back-off off.
        backoff: u64 = 2, FACTOR, "RFC 6298 rule 5.5";
    }
}

/// RFC 6298's timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Rfc6298 {
    smoothed: Smoothed,
    /// Timeout in nanoseconds, with back-off.
    rto: u64,
}

impl RtoEstimator for Rfc6298 {
    type Params = Rfc6298Params;

    const INFO: &'static Info = &Info {
        id: "rfc6298",
        name: "RFC 6298",
        origin: "RFC 6298, Computing TCP's Retransmission Timer",
        citation: "rfc6298",
        description: "Smoothed RTT plus four times its mean deviation, at least a second, doubled \
            at each expiry. The larger value stays until the next sample, because nothing else \
            distinguishes a slow path from a lossy path (Karn and Partridge 1987).",
        params: Rfc6298Params::TABLE,
        trace: &[],
    };

    // RFC 6298-2.1-1
    fn init(p: &Rfc6298Params) -> Rfc6298 {
        Rfc6298 { smoothed: Smoothed::NONE, rto: p.initial.0.min(p.max.0) }
    }

    // RFC 6298-2.3-3, 6298-2.4-1, 9293-3.8.1-MUST-18
    fn on_sample(&mut self, p: &Rfc6298Params, s: &RttSample) {
        if !s.rtt.is_known() {
            return;
        }
        self.smoothed.update(s.rtt, p.alpha, p.beta);
        // RFC 6298-4-1
        let margin = mul(self.smoothed.rttvar, p.k).max(p.granularity.0);
        self.rto = self.smoothed.srtt.saturating_add(margin).max(p.min.0).min(p.max.0);
    }

    // RFC 6298-5.5-1, 9293-3.8.2-MUST-19
    fn on_timeout(&mut self, p: &Rfc6298Params) {
        self.rto = mul(self.rto, p.backoff.max(1)).min(p.max.0);
    }

    // RFC 6298-5.7-1
    fn after_lost_syn(&mut self, p: &Rfc6298Params) {
        if p.initial < AFTER_LOST_SYN && !self.smoothed.is_known() {
            self.rto = AFTER_LOST_SYN.0.min(p.max.0);
        }
    }

    fn rto(&self, _p: &Rfc6298Params) -> Span {
        Span(self.rto)
    }

    fn srtt(&self) -> Span {
        Span(self.smoothed.srtt)
    }

    fn rttvar(&self) -> Span {
        Span(self.smoothed.rttvar)
    }

    fn max(p: &Rfc6298Params) -> Span {
        p.max
    }
}
