//! CoCoA and CoCoA+: timers of constrained devices, which also learn from retransmissions.

use super::smoothed::Smoothed;
use super::{DITHER, GAIN, POSITIVE_TIME, RtoEstimator, RttSample, WEIGHT, spread};
use crate::arithmetic::math::mul;
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Increase of the timeout at an expiry.
    pub enum Backoff {
        /// A factor of 3, 2 or 1.5 for a timeout below 1 s, up to 3 s, above 3 s. The timeout that has
        /// just expired decides, as in the draft's pseudocode.
        Expired = "expired",
        /// One of the same factors. The estimate before the first expiry decides for all expiries until
        /// new data is acknowledged.
        Estimate = "estimate",
        /// A factor of 2.
        Binary = "binary",
    }
}

/// Gains of both estimators (RFC 6298 section 2.3).
const ALPHA: Ratio = Ratio::of(1, 8);
const BETA: Ratio = Ratio::of(1, 4);
/// Bounds of the variable back-off and of ageing, nanoseconds.
const SHORT: u64 = 1_000_000_000;
const LONG: u64 = 3_000_000_000;
/// Number of ageing steps that move any estimate between the bounds: 30 doublings of a nanosecond, or
/// 46 steps from the maximum timeout towards 2 s.
const AGEING_STEPS: u32 = 64;

macro_rules! cocoa_parameters {
    ($(#[$meta:meta])* $name:ident, $k_weak:expr, $weak:expr, $most:expr, $backoff:expr,
     $ageing:expr, $source:literal) => {
        crate::parameters! {
            $(#[$meta])*
            pub struct $name {
                /// Timeout before the first sample, and initial value of both estimates.
                initial: Span = Span::from_secs(2), POSITIVE_TIME, "draft-ietf-core-cocoa-03 section 4.1";
                /// Maximum timeout, including back-off.
                max: Span = Span::from_secs(32), POSITIVE_TIME, "draft-ietf-core-cocoa-03 section 4.2.1";
                /// Weight of the deviation for segments sent once.
                k_strong: u64 = 4, WEIGHT, "RFC 6298 section 2.3, K";
                /// Weight of the deviation for retransmitted segments.
                k_weak: u64 = $k_weak, WEIGHT, $source;
                /// Share of the strong estimate in the timeout.
                strong: Ratio = Ratio::of(1, 2), GAIN, "draft-ietf-core-cocoa-03 section 4.2";
                /// Share of the weak estimate in the timeout.
                weak: Ratio = $weak, GAIN, $source;
                /// Maximum retransmissions of a segment with a sample that counts.
                most_retransmits: u64 = $most, ParamKind::Count { min: 0, max: 255 }, $source;
                /// Increase of the timeout at an expiry.
                backoff: Backoff = $backoff, Backoff::KIND, $source;
                /// Move an estimate that is not renewed towards the middle. Below 1 s it doubles
                /// after 16 times itself. Above 3 s it becomes 1 s plus half of itself after 4
                /// times itself.
                ageing: bool = $ageing, ParamKind::Flag, $source;
                /// Maximum random factor on the timeout of each timer; the minimum is 1.
                dither: Ratio = Ratio::of(3, 2), DITHER, "RFC 7252 section 4.8, ACK_RANDOM_FACTOR";
            }
        }

        impl $name {
            fn rules(&self) -> Rules {
                let $name {
                    initial, max, k_strong, k_weak, strong, weak, most_retransmits, backoff,
                    ageing, dither,
                } = *self;
                Rules {
                    initial, max, k_strong, k_weak, strong, weak, most_retransmits, backoff,
                    ageing, dither,
                }
            }
        }
    };
}

cocoa_parameters! {
    /// Parameters of CoCoA.
    CocoaParams, 4, Ratio::of(1, 2), 255, Backoff::Binary, false, "Betzler et al. 2013"
}

cocoa_parameters! {
    /// Parameters of CoCoA+.
    CocoaPlusParams, 1, Ratio::of(1, 4), 2, Backoff::Expired, true,
    "draft-ietf-core-cocoa-03 sections 4.2 and 4.3"
}

/// Common values of both sets of parameters.
#[derive(Clone, Copy)]
struct Rules {
    initial: Span,
    max: Span,
    k_strong: u64,
    k_weak: u64,
    strong: Ratio,
    weak: Ratio,
    most_retransmits: u64,
    backoff: Backoff,
    ageing: bool,
    dither: Ratio,
}

/// Both estimators and the timeout computed from them; times in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
struct Estimate {
    strong: Smoothed,
    weak: Smoothed,
    /// The overall estimate, never zero.
    rto: u64,
    /// Time of the last update, [`Time::NEVER`] before the first sample.
    renewed: Time,
    /// The timeout after expiries without an acknowledgement of new data; zero without an expiry.
    backed_off: u64,
}

impl Estimate {
    fn new(r: &Rules) -> Estimate {
        Estimate {
            strong: Smoothed::NONE,
            weak: Smoothed::NONE,
            rto: r.initial.0.min(r.max.0).max(1),
            renewed: Time::NEVER,
            backed_off: 0,
        }
    }

    fn on_sample(&mut self, r: &Rules, s: &RttSample) {
        if !s.rtt.is_known() || u64::from(s.retransmits) > r.most_retransmits {
            return;
        }
        let (smoothed, k, share) = if s.retransmits == 0 {
            (&mut self.strong, r.k_strong, r.strong)
        } else {
            (&mut self.weak, r.k_weak, r.weak)
        };
        smoothed.update(s.rtt, ALPHA, BETA);
        let estimate = smoothed.srtt.saturating_add(mul(smoothed.rttvar, k));
        let share = Ratio(share.0.min(Ratio::ONE.0));
        let rest = Ratio(Ratio::ONE.0 - share.0);
        let rto = share.times(estimate).saturating_add(rest.times(self.rto));
        self.rto = rto.min(r.max.0).max(1);
        self.renewed = s.now;
    }

    fn on_timeout(&mut self, r: &Rules) {
        let expired = self.timeout();
        let decides = match r.backoff {
            Backoff::Binary => SHORT,
            Backoff::Expired => expired,
            Backoff::Estimate => self.rto,
        };
        let longer = if decides < SHORT {
            mul(expired, 3)
        } else if decides > LONG {
            expired.saturating_add(expired / 2)
        } else {
            mul(expired, 2)
        };
        self.backed_off = longer.min(r.max.0).max(1);
    }

    fn timeout(&self) -> u64 {
        if self.backed_off > 0 { self.backed_off } else { self.rto }
    }

    /// Ages the estimate for the time without an update, in steps.
    fn age(&mut self, r: &Rules, now: Time) {
        if self.renewed.is_never() {
            return;
        }
        let mut steps = 0;
        while steps < AGEING_STEPS {
            let (lifetime, aged) = if self.rto < SHORT {
                (mul(self.rto, 16), mul(self.rto, 2))
            } else if self.rto > LONG {
                (mul(self.rto, 4), SHORT.saturating_add(self.rto / 2))
            } else {
                return;
            };
            if now.since(self.renewed).0 < lifetime {
                return;
            }
            self.rto = aged.min(r.max.0).max(1);
            self.renewed += Span(lifetime);
            steps += 1;
        }
    }

    fn arm(&mut self, r: &Rules, now: Time, entropy: u32) -> Span {
        if r.ageing && self.backed_off == 0 {
            self.age(r, now);
        }
        spread(self.timeout(), r.dither, entropy)
    }

    /// Returns the strong estimator if it has a sample, otherwise the weak estimator.
    fn smoothed(&self) -> &Smoothed {
        if self.strong.is_known() { &self.strong } else { &self.weak }
    }
}

macro_rules! cocoa {
    ($name:ident, $params:ident, $info:expr) => {
        impl RtoEstimator for $name {
            type Params = $params;

            const INFO: &'static Info = &$info;

            fn init(p: &$params) -> $name {
                $name(Estimate::new(&p.rules()))
            }

            fn on_sample(&mut self, p: &$params, s: &RttSample) {
                self.0.on_sample(&p.rules(), s);
            }

            fn on_progress(&mut self, _p: &$params) {
                self.0.backed_off = 0;
            }

            fn on_timeout(&mut self, p: &$params) {
                self.0.on_timeout(&p.rules());
            }

            fn arm(&mut self, p: &$params, now: Time, entropy: u32) -> Span {
                self.0.arm(&p.rules(), now, entropy)
            }

            fn rto(&self, _p: &$params) -> Span {
                Span(self.0.timeout())
            }

            fn srtt(&self) -> Span {
                Span(self.0.smoothed().srtt)
            }

            fn rttvar(&self) -> Span {
                Span(self.0.smoothed().rttvar)
            }

            fn max(p: &$params) -> Span {
                p.max
            }

            fn wants_ambiguous(p: &$params) -> bool {
                p.most_retransmits > 0
            }
        }
    };
}

/// CoCoA.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cocoa(Estimate);

/// CoCoA+.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CocoaPlus(Estimate);

cocoa!(
    Cocoa,
    CocoaParams,
    Info {
        id: "cocoa",
        name: "CoCoA",
        origin: "A. Betzler, C. Gomez, I. Demirkol, J. Paradells, Congestion control in reliable \
            CoAP communication, MSWiM 2013",
        citation: "betzler2013congestion",
        description: "Two estimators after RFC 6298. The strong estimator has the segments sent \
            once. The weak estimator has retransmitted segments, measured from their first \
            transmission, against Karn's rule. The timeout is the mean of itself and of the \
            estimator with the last sample, and doubles at each expiry up to 32 s. Each timer is \
            set at random to between once and 1.5 times the timeout. CoCoA is made for CoAP's \
            exchanges. Here back-off ends when new data is acknowledged, and the timeout of \
            parallel exchanges without a sample has no counterpart.",
        params: CocoaParams::TABLE,
        trace: &[],
    }
);

cocoa!(
    CocoaPlus,
    CocoaPlusParams,
    Info {
        id: "cocoa+",
        name: "CoCoA+",
        origin: "draft-ietf-core-cocoa-03, CoAP Simple Congestion Control/Advanced; A. Betzler et \
            al., CoCoA+: an Advanced Congestion Control Mechanism for CoAP, Ad Hoc Networks 33, \
            2015",
        citation: "betzler2015cocoa",
        description: "CoCoA with three changes. The weak estimator counts its deviation once, \
            enters the timeout with a quarter, and takes samples after at most two \
            retransmissions. Back-off is variable: by 3 below 1 s, by 1.5 above 3 s and by 2 \
            between, up to 32 s. Estimates that are not renewed age, and the ageing is computed \
            when the next timer is set. The draft chooses the back-off factor by the timeout that \
            expired. With backoff = \"estimate\" the first timeout decides, as in some \
            implementations. CoCoA+ is made for CoAP's exchanges. Here back-off ends when new data \
            is acknowledged, and the timeout of parallel exchanges without a sample has no \
            counterpart.",
        params: CocoaPlusParams::TABLE,
        trace: &[],
    }
);
