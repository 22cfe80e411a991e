//! Westwood's adaptive start: the threshold follows an estimate of the rate.

use super::{Described, SlowStart, TICK, ticks};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::Window;
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::parameters! {
    /// Parameters of the adaptive start.
    pub struct AdaptiveParams {
        /// Time constant of the filter that smooths the rate, as a share of the RTT.
        memory: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(0), max: Ratio(64 * Ratio::ONE.0) },
            "Wang et al. 2002 (TCPW ABSE), without the part that grows with the path's instability";
    }
}

const SECOND: u64 = 1_000_000_000;

/// Westwood's adaptive start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Adaptive {
    /// Stream offset; the round ends when all data below it is acknowledged.
    round_end: u64,
    /// Start of the round.
    round_start: Time,
    /// Rate of the last round, bytes per second.
    achieved: u64,
    /// The estimate, bytes per second; zero before the first sample.
    eligible: u64,
    /// Bytes acknowledged in the round.
    round_bytes: u32,
    /// Bytes acknowledged in the present sample.
    sample_bytes: u32,
    /// Start of the present sample, ticks after the start of the round.
    sample_start: u32,
    /// True if the clocks run.
    started: bool,
    /// True if start-up is over.
    over: bool,
}

/// `sum` plus `bytes`, saturating.
fn add(sum: u32, bytes: u64) -> u32 {
    sum.saturating_add(bytes.min(u64::from(u32::MAX)) as u32)
}

/// Rate in bytes per second; zero for a time of zero.
fn rate(bytes: u32, time: u64) -> u64 {
    if time == 0 { 0 } else { mul_div(u64::from(bytes), SECOND, time) }
}

impl Adaptive {
    const NEW: Adaptive = Adaptive {
        round_end: 0,
        round_start: Time::ZERO,
        achieved: 0,
        eligible: 0,
        round_bytes: 0,
        sample_bytes: 0,
        sample_start: 0,
        started: false,
        over: false,
    };

    fn begin_round(&mut self, c: &Conn) {
        let Adaptive { achieved, eligible, .. } = *self;
        *self = Adaptive {
            round_end: c.next_id,
            round_start: c.now,
            achieved,
            eligible,
            started: true,
            ..Adaptive::NEW
        };
    }

    /// Duration of a sample: the RTT minus the share of it for which the achieved rate explains the
    /// window. On a path without a queue each acknowledgement is a sample; on a congested path a sample
    /// takes a whole RTT.
    fn interval(&self, rtt: u64, min_rtt: u64, w: &Window) -> u64 {
        let explained = mul_div(self.achieved, min_rtt, SECOND).min(w.cwnd());
        rtt - mul_div(rtt, explained, w.cwnd().max(1)).min(rtt)
    }

    /// A first-order filter with the bilinear rule.
    fn smooth(&mut self, p: &AdaptiveParams, sample: u64, time: u64, rtt: u64) {
        if self.eligible == 0 {
            self.eligible = sample;
            return;
        }
        let memory = mul(2, p.memory.times(rtt));
        let gain = mul_div(mul(2, time), Ratio::ONE.0, memory.saturating_add(time));
        let step = Ratio(gain.min(Ratio::ONE.0)).times(sample.abs_diff(self.eligible));
        self.eligible = if sample > self.eligible {
            self.eligible.saturating_add(step)
        } else {
            self.eligible.saturating_sub(step)
        };
    }

    /// Counts an acknowledgement.
    fn measure(&mut self, p: &AdaptiveParams, c: &Conn, a: &Ack, min_rtt: Span, w: &Window) {
        self.round_bytes = add(self.round_bytes, a.acked);
        self.sample_bytes = add(self.sample_bytes, a.acked);
        let since = c.now.since(self.round_start).0;
        let time = since.saturating_sub(mul(u64::from(self.sample_start), TICK));
        let known = [a.rtt, c.srtt].into_iter().find(|rtt| rtt.is_known());
        let rtt = known.unwrap_or(min_rtt).0;
        let round_is_over = c.una >= self.round_end;
        if time > 0 && (round_is_over || time >= self.interval(rtt, min_rtt.0, w)) {
            self.smooth(p, rate(self.sample_bytes, time), time, rtt);
            self.sample_bytes = 0;
            self.sample_start = ticks(Span(since));
        }
        if round_is_over {
            self.achieved = rate(self.round_bytes, since);
            self.begin_round(c);
        }
    }
}

impl Described for Adaptive {
    const INFO: &'static Info = &Info {
        id: "adaptive",
        name: "Adaptive start",
        origin: "R. Wang, G. Pau, K. Yamada, M. Y. Sanadidi, M. Gerla, TCP Startup Performance in \
            Large Bandwidth Delay Networks, INFOCOM 2004 (Westwood's Astart)",
        citation: "wang2004startup",
        description: "During start-up, the threshold is repeatedly raised to the eligible rate \
            times the minimum RTT. Below the threshold the window grows as in slow start, and at \
            or above it as in the algorithm's congestion avoidance, until the first loss or idle \
            time. The first estimate sets the threshold. The rate is sampled over the RTT minus \
            the share of it for which the last round's rate explains the window, and is smoothed. \
            There are two deviations, because the papers were not available or need more state. \
            Samples follow each other and end with the round, instead of a sliding interval. The \
            filter's time constant is a fixed share of the RTT.",
        params: AdaptiveParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for Adaptive {
    type Params = AdaptiveParams;

    fn init(_p: &AdaptiveParams, _c: &Conn) -> Adaptive {
        Adaptive::NEW
    }

    fn observe(&mut self, p: &AdaptiveParams, c: &Conn, a: &Ack, w: &mut Window) {
        let min_rtt = c.min_rtt.min(a.rtt);
        if self.over || !min_rtt.is_known() {
            return;
        }
        if !self.started {
            self.begin_round(c);
            return;
        }
        let first = self.eligible == 0;
        self.measure(p, c, a, min_rtt, w);
        if self.eligible == 0 {
            return;
        }
        let fits = mul_div(self.eligible, min_rtt.0, SECOND).max(mul(2, u64::from(c.mss)));
        if first || fits > w.ssthresh() {
            w.set_ssthresh(fits);
        }
    }

    #[inline]
    fn grow(&mut self, _p: &AdaptiveParams, _c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add(credit);
    }

    fn restart(&mut self, _p: &AdaptiveParams, _c: &Conn) {
        self.over = true;
    }
}
