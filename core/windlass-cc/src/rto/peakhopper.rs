//! Peakhopper: a timer that follows the peaks of the RTT.

use super::smoothed::{MAX_SAMPLE, Smoothed};
use super::{AFTER_LOST_SYN, FACTOR, POSITIVE_TIME, RtoEstimator, RttSample, TIME};
use crate::arithmetic::math::{mul, mul_div};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

/// Range of a boost.
const BOOST: ParamKind = ParamKind::Ratio { min: Ratio(0), max: Ratio(16 * Ratio::ONE.0) };

crate::parameters! {
    /// Parameters of Peakhopper.
    pub struct PeakhopperParams {
        /// Timeout before the first sample.
        initial: Span = Span::from_secs(1), POSITIVE_TIME, "RFC 6298 section 2.1";
        /// Minimum timeout.
        min: Span = Span::ZERO, TIME, "Ekstr\u{f6}m and Ludwig 2004 (no minimum)";
        /// Maximum timeout, including back-off.
        max: Span = Span::from_secs(60), POSITIVE_TIME, "RFC 6298 section 2.5 (at least 60 s)";
        /// Clock granularity; the timeout exceeds the peak by twice this time.
        granularity: Span = Span::from_millis(50), TIME, "Californium PeakhopperRto";
        /// Divisor of the timeout and its boost that gives their decrease per sample.
        fade: u64 = 24, ParamKind::Count { min: 1, max: 1 << 20 },
            "Ekstr\u{f6}m and Ludwig 2004, F; Californium PeakhopperRto";
        /// Maximum boost over the peak.
        boost_max: Ratio = Ratio::ONE, BOOST, "Ekstr\u{f6}m and Ludwig 2004, B_max";
        /// Boost of the first sample.
        boost_first: Ratio = Ratio::of(3, 4), BOOST, "Californium PeakhopperRto";
        /// Factor by which each expiry multiplies the timeout; 1 turns back-off off.
        backoff: u64 = 2, FACTOR, "RFC 6298 rule 5.5";
    }
}

/// Peakhopper, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Peakhopper {
    /// Only for the report of the average; the timeout does not use it.
    smoothed: Smoothed,
    /// The last sample.
    previous: u64,
    boost: Ratio,
    /// The estimate.
    rto: u64,
    /// The timeout after expiries without a sample; zero without an expiry.
    backed_off: u64,
}

impl Peakhopper {
    /// `(1 + boost) · peak`.
    fn boosted(boost: Ratio, peak: u64) -> u64 {
        peak.saturating_add(boost.times(peak))
    }

    fn follow(&mut self, p: &PeakhopperParams, r: u64) {
        let fade = p.fade.max(1);
        let peak = r.max(self.previous);
        // Twice the relative change, with its fraction. Cut to a whole number it would be zero for
        // every change below one half.
        let error = mul_div(r.abs_diff(self.previous), 2 * Ratio::ONE.0, r.max(1));
        let faded = self.boost.0 - self.boost.0 / fade;
        self.boost = Ratio(error.max(faded).min(p.boost_max.0));
        let faded = self.rto - self.rto / fade;
        let floor = peak.saturating_add(mul(p.granularity.0, 2));
        self.rto = faded.max(Peakhopper::boosted(self.boost, peak)).max(floor);
    }
}

impl RtoEstimator for Peakhopper {
    type Params = PeakhopperParams;

    const INFO: &'static Info = &Info {
        id: "peakhopper",
        name: "Peakhopper",
        origin: "H. Ekstr\u{f6}m and R. Ludwig, The peak-hopper: a new end-to-end retransmission \
            timer for reliable unicast transport, INFOCOM 2004",
        citation: "ekstrom2004peakhopper",
        description: "The timeout exceeds the peak of the last two samples by a boost. The boost \
            is twice the relative change of the sample, and at most one. Timeout and boost fade by \
            one part in 24 with each sample. The timeout stays above the peak by two clock ticks. \
            The first sample counts 1.75 times. The source is the implementation in Eclipse \
            Californium, the public text of the algorithm, with two differences. The second sample \
            is compared with the first sample, and the relative change keeps its fraction, while \
            Californium divides whole milliseconds. Expiries double the timeout until the next \
            sample.",
        params: PeakhopperParams::TABLE,
        trace: &[],
    };

    fn init(p: &PeakhopperParams) -> Peakhopper {
        Peakhopper {
            smoothed: Smoothed::NONE,
            previous: 0,
            boost: Ratio(0),
            rto: p.initial.0.min(p.max.0),
            backed_off: 0,
        }
    }

    fn on_sample(&mut self, p: &PeakhopperParams, s: &RttSample) {
        if !s.rtt.is_known() {
            return;
        }
        let r = s.rtt.0.min(MAX_SAMPLE);
        if self.smoothed.is_known() {
            self.follow(p, r);
        } else {
            self.rto = Peakhopper::boosted(p.boost_first, r);
        }
        self.rto = self.rto.max(p.min.0).min(p.max.0);
        self.previous = r;
        self.backed_off = 0;
        self.smoothed.update(s.rtt, Ratio::of(1, 8), Ratio::of(1, 4));
    }

    fn on_timeout(&mut self, p: &PeakhopperParams) {
        self.backed_off = mul(self.rto(p).0.max(1), p.backoff.max(1)).min(p.max.0);
    }

    fn after_lost_syn(&mut self, p: &PeakhopperParams) {
        if p.initial < AFTER_LOST_SYN && !self.smoothed.is_known() {
            self.rto = AFTER_LOST_SYN.0.min(p.max.0);
            self.backed_off = 0;
        }
    }

    fn rto(&self, _p: &PeakhopperParams) -> Span {
        Span(if self.backed_off > 0 { self.backed_off } else { self.rto })
    }

    fn srtt(&self) -> Span {
        Span(self.smoothed.srtt)
    }

    fn rttvar(&self) -> Span {
        Span(self.smoothed.rttvar)
    }

    fn max(p: &PeakhopperParams) -> Span {
        p.max
    }
}
