//! The timer of ICC-TCP (Lim 2020), from its public part.

use super::smoothed::Smoothed;
use super::{GAIN, POSITIVE_TIME, RtoEstimator, RttSample};
use crate::arithmetic::math::{mul, mul_div};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

/// Weight of the deviation for segments sent once, and for retransmitted segments.
const K: [u64; 2] = [4, 1];
/// Limits of the estimate, nanoseconds: below `SHORT` the back-off has a higher limit, above `LONG` a
/// lower limit.
const SHORT: u64 = 1_000_000_000;
const LONG: u64 = 3_000_000_000;

crate::parameters! {
    /// Parameters of ICC-TCP's timer.
    pub struct IccParams {
        /// Timeout before the first sample, and initial value of the estimate.
        initial: Span = Span::from_secs(2), POSITIVE_TIME, "draft-ietf-core-cocoa-03 section 4.1";
        /// Maximum timeout, including back-off.
        max: Span = Span::from_secs(60), POSITIVE_TIME, "RFC 6298 section 2.5 (at least 60 s)";
        /// Learn from retransmitted segments too.
        weak: bool = true, ParamKind::Flag, "Lim 2020 (weak estimation)";
        /// Limit the back-off: 8 times an estimate below 1 s, 4 times an estimate up to 3 s, twice
        /// a longer estimate. Without this option, each expiry doubles the timeout up to `max`.
        limits: bool = true, ParamKind::Flag, "Lim 2020 (variable limits); the limits are assumed";
        /// Set each timer to between once and 1.5 times the timeout, at random.
        dithering: bool = true, ParamKind::Flag, "Lim 2020 (dithering); the range is assumed";
        /// Share of the strong estimate in the timeout.
        strong_share: Ratio = Ratio::of(1, 2), GAIN, "draft-ietf-core-cocoa-03 section 4.2 (assumed)";
        /// Share of the weak estimate in the timeout.
        weak_share: Ratio = Ratio::of(1, 4), GAIN, "draft-ietf-core-cocoa-03 section 4.2 (assumed)";
    }
}

/// ICC-TCP's timer, nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Icc {
    /// Estimators for segments sent once, and for retransmitted segments.
    estimators: [Smoothed; 2],
    /// The estimate, never zero.
    rto: u64,
    /// Factor on the estimate after expiries without an acknowledgement of new data.
    factor: u64,
}

impl Icc {
    fn most(&self, p: &IccParams) -> u64 {
        match self.rto {
            _ if !p.limits => u64::MAX,
            ..SHORT => 8,
            SHORT..=LONG => 4,
            _ => 2,
        }
    }

    fn timeout(&self, p: &IccParams) -> u64 {
        mul(self.rto, self.factor.min(self.most(p))).min(p.max.0)
    }
}

impl RtoEstimator for Icc {
    type Params = IccParams;

    const INFO: &'static Info = &Info {
        id: "icc",
        name: "ICC-TCP (approximate)",
        origin: "C. Lim, Improving Congestion Control of TCP for Constrained IoT Networks, Sensors \
            20:4774, 2020",
        citation: "lim2020improving",
        description: "An approximation. The public part of ICC-TCP is that its timer learns from \
            retransmitted segments as CoCoA does, backs off by powers of two up to a variable \
            limit, and is dithered. Weights, limits and range are assumptions. The weights are \
            those in CoCoA+'s strong and weak estimators. The limits are 8 times an estimate below \
            1 s, 4 times an estimate up to 3 s, and twice a longer estimate. Timers are between \
            once and 1.5 times the timeout. Each of the three parts has a switch. ICC-TCP is made \
            for stacks with one outstanding segment, such as uIP; with a window, a comparison \
            covers the timer only (C3-23).",
        params: IccParams::TABLE,
        trace: &[],
    };

    fn init(p: &IccParams) -> Icc {
        Icc { estimators: [Smoothed::NONE; 2], rto: p.initial.0.min(p.max.0).max(1), factor: 1 }
    }

    fn on_sample(&mut self, p: &IccParams, s: &RttSample) {
        if !s.rtt.is_known() || (s.retransmits > 0 && !p.weak) {
            return;
        }
        let [strong, weak] = &mut self.estimators;
        let (smoothed, k, share) = if s.retransmits == 0 {
            (strong, K[0], p.strong_share)
        } else {
            (weak, K[1], p.weak_share)
        };
        smoothed.update(s.rtt, Ratio::of(1, 8), Ratio::of(1, 4));
        let estimate = smoothed.srtt.saturating_add(mul(smoothed.rttvar, k));
        let share = Ratio(share.0.min(Ratio::ONE.0));
        let rest = Ratio(Ratio::ONE.0 - share.0);
        let rto = share.times(estimate).saturating_add(rest.times(self.rto));
        self.rto = rto.min(p.max.0).max(1);
    }

    fn on_progress(&mut self, _p: &IccParams) {
        self.factor = 1;
    }

    fn on_timeout(&mut self, p: &IccParams) {
        self.factor = mul(self.factor, 2).min(self.most(p));
    }

    fn arm(&mut self, p: &IccParams, _now: Time, entropy: u32) -> Span {
        let timeout = self.timeout(p);
        let most = if p.dithering { timeout / 2 } else { 0 };
        Span(timeout.saturating_add(mul_div(most, u64::from(entropy), u64::from(u32::MAX))))
    }

    fn rto(&self, p: &IccParams) -> Span {
        Span(self.timeout(p))
    }

    fn srtt(&self) -> Span {
        let [strong, weak] = &self.estimators;
        Span(if strong.is_known() { strong.srtt } else { weak.srtt })
    }

    fn rttvar(&self) -> Span {
        let [strong, weak] = &self.estimators;
        Span(if strong.is_known() { strong.rttvar } else { weak.rttvar })
    }

    fn max(p: &IccParams) -> Span {
        p.max
    }

    fn wants_ambiguous(p: &IccParams) -> bool {
        p.weak
    }
}
