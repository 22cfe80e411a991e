//! FASOR: a timer of CoAP that distinguishes lossy links from queues by the need for a quick
//! retransmission.

use super::smoothed::Smoothed;
use super::{FACTOR, POSITIVE_TIME, RtoEstimator, RttSample, WEIGHT};
use crate::arithmetic::math::{mul, mul_div};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

/// Gains (RFC 6298 section 2.3).
const ALPHA: Ratio = Ratio::of(1, 8);
const BETA: Ratio = Ratio::of(1, 4);
/// An initial timeout is three times the RTT from which RFC 6298 would compute it.
const INITIAL_SHARE: u64 = 3;
/// Range of the factor on the slow timeout.
const SLOW: ParamKind = ParamKind::Ratio { min: Ratio::ONE, max: Ratio(4 * Ratio::ONE.0) };

crate::parameters! {
    /// Parameters of FASOR.
    pub struct FasorParams {
        /// Timeout before the first sample.
        initial: Span = Span::from_secs(2), POSITIVE_TIME, "draft-ietf-core-fasor-02, normal RTO";
        /// Maximum timeout, including back-off.
        max: Span = Span::from_secs(60), POSITIVE_TIME, "draft-ietf-core-fasor-02, normal RTO (at least 60 s)";
        /// Weight of the deviation; the first sample counts as deviating by itself over twice this.
        k: u64 = 4, WEIGHT, "RFC 6298 section 2.3, K";
        /// Factor on the time that an exchange with retransmissions took.
        slow_factor: Ratio = Ratio::of(3, 2), SLOW, "draft-ietf-core-fasor-02, Slow RTO";
        /// Factor by which each expiry multiplies the fast timeout; 1 turns back-off off.
        backoff: u64 = 2, FACTOR, "draft-ietf-core-fasor-02, retransmission state machine";
        /// Increase timers from the fast timeout at random, by a quarter to the whole of the
        /// smoothed RTT.
        dither: bool = true, ParamKind::Flag, "draft-ietf-core-fasor-02, normal RTO";
    }
}

/// Sequences of timeouts of an exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Series {
    /// The fast timeout, doubled with each expiry.
    Fast,
    /// The fast timeout, then the slow timeout, then the fast timeout doubled with each expiry from
    /// there.
    FastSlowFast,
    /// The slow timeout, then the fast timeout, doubled with each expiry from there.
    SlowFast,
}

/// FASOR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Fasor {
    estimate: Smoothed,
    /// Duration of the last exchange with retransmissions, times the factor; zero before the first.
    /// Nanoseconds.
    slow: u64,
    /// Expiries of this exchange.
    expiries: u32,
    series: Series,
}

impl Fasor {
    fn fast(&self, p: &FasorParams) -> u64 {
        match self.estimate.is_known() {
            true => self.estimate.srtt.saturating_add(mul(self.estimate.rttvar, p.k)),
            false => p.initial.0,
        }
    }

    /// The timeout after the expiries so far, computed from the fast timeout `fast`.
    fn timeout(&self, p: &FasorParams, fast: u64) -> u64 {
        let backed_off = |times: u32| {
            // After 64 doublings the value exceeds any timeout.
            (0..times.min(64)).fold(fast, |timeout, _| mul(timeout, p.backoff.max(1)).min(p.max.0))
        };
        let timeout = match (self.series, self.expiries) {
            (Series::Fast, n) => backed_off(n),
            (Series::FastSlowFast, 0) => fast,
            (Series::FastSlowFast, 1) => self.slow.max(backed_off(1)),
            (Series::SlowFast, 0) => self.slow,
            (Series::FastSlowFast | Series::SlowFast, n) => backed_off(n.saturating_sub(1)),
        };
        timeout.min(p.max.0).max(1)
    }
}

impl RtoEstimator for Fasor {
    type Params = FasorParams;

    const INFO: &'static Info = &Info {
        id: "fasor",
        name: "FASOR",
        origin: "I. Jarvinen, M. Kojo, I. Raitahila, Z. Cao, Fast-Slow Retransmission Timeout and \
            Congestion Control Algorithm for CoAP, draft-ietf-core-fasor-02, 2023",
        citation: "jarvinen2023fasor",
        description: "A fast and a slow timeout. The fast timeout is computed as in RFC 6298, \
            without a minimum of 1 s and only from messages sent once. The slow timeout is 1.5 \
            times the duration of the last exchange with retransmissions. An exchange backs off \
            the fast timeout by 2 as long as no exchange needed a retransmission. After an \
            exchange with retransmissions, the next exchange tries the fast timeout once and then \
            the slow timeout, in case congestion did not cause the loss. If this exchange needs a \
            retransmission too, the following exchanges begin with the slow timeout, until one is \
            answered at once. The fast timeout is increased at random by a quarter to the whole of \
            the smoothed RTT. The Retransmission Count option, which would make a sample after \
            retransmissions unambiguous, is not included. A TCP with this timer treats an \
            acknowledgement of new data as the end of an exchange.",
        params: FasorParams::TABLE,
        trace: &[],
    };

    fn init(_p: &FasorParams) -> Fasor {
        Fasor { estimate: Smoothed::NONE, slow: 0, expiries: 0, series: Series::Fast }
    }

    fn on_sample(&mut self, p: &FasorParams, s: &RttSample) {
        if !s.rtt.is_known() {
            return;
        }
        if s.retransmits > 0 {
            self.slow = p.slow_factor.times(s.rtt.0);
            self.series = match self.series {
                Series::Fast => Series::FastSlowFast,
                Series::FastSlowFast | Series::SlowFast => Series::SlowFast,
            };
            return;
        }
        self.series = Series::Fast;
        let first = !self.estimate.is_known();
        self.estimate.update(s.rtt, ALPHA, BETA);
        if first {
            // R/2K instead of R/2.
            self.estimate.rttvar /= p.k.max(1);
        }
    }

    fn on_progress(&mut self, _p: &FasorParams) {
        self.expiries = 0;
    }

    fn on_timeout(&mut self, _p: &FasorParams) {
        self.expiries = self.expiries.saturating_add(1);
    }

    fn arm(&mut self, p: &FasorParams, _now: Time, entropy: u32) -> Span {
        let fast = self.fast(p);
        let srtt = match self.estimate.is_known() {
            true => self.estimate.srtt,
            false => p.initial.0 / INITIAL_SHARE,
        };
        let spread = match p.dither {
            true => {
                (srtt / 4).saturating_add(mul_div(srtt - srtt / 4, entropy.into(), u32::MAX.into()))
            }
            false => 0,
        };
        Span(self.timeout(p, fast.saturating_add(spread)))
    }

    fn rto(&self, p: &FasorParams) -> Span {
        Span(self.timeout(p, self.fast(p)))
    }

    fn srtt(&self) -> Span {
        Span(self.estimate.srtt)
    }

    fn rttvar(&self) -> Span {
        Span(self.estimate.rttvar)
    }

    fn max(p: &FasorParams) -> Span {
        p.max
    }

    fn wants_ambiguous(_p: &FasorParams) -> bool {
        true
    }
}
