//! Compound TCP: Reno's window plus a delay window that grows while the path is not congested.

use crate::arithmetic::math::{mul, mul_div, sqrt};
use crate::arithmetic::round::{Round, backlog};
use crate::arithmetic::window::{Window, resized};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, additive, half_flight};
use crate::event::{Ack, Conn, Phase};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::parameters! {
    /// Parameters of Compound TCP. The exponent k is 3/4.
    pub struct Params {
        /// Factor of the increase `alpha·win^k` per round trip.
        alpha: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "draft-sridharan-tcpm-ctcp-02";
        /// Fraction of the window that a loss removes.
        beta: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::of(1, 2) },
            "draft-sridharan-tcpm-ctcp-02";
        /// Part of the backlog by which the delay window shrinks.
        zeta: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(0), max: Ratio(16 << 16) },
            "draft-sridharan-tcpm-ctcp-02";
        /// Number of queued segments from which the delay window shrinks: the first and largest
        /// value.
        gamma_high: u64 = 30,
            ParamKind::Segments { min: 1, max: 10_000 },
            "draft-sridharan-tcpm-ctcp-02";
        /// Minimum of the tuned gamma; tuning is off if it is not below gamma_high.
        gamma_low: u64 = 5,
            ParamKind::Segments { min: 1, max: 10_000 },
            "draft-sridharan-tcpm-ctcp-02 (tuning of gamma)";
        /// Weight of a new sample in the tuning of gamma.
        lambda: Ratio = Ratio::of(4, 5),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "not found in the draft; 0.8 in an ns-3 port, 1/2 in a Linux port";
        /// Window below which the delay window is zero, segments.
        low_window: u64 = 41,
            ParamKind::Segments { min: 1, max: 10_000 },
            "Tan et al., INFOCOM 2006 (41)";
    }
}

/// Congestion avoidance of Compound TCP. The window of the frame is the sum of both windows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Compound {
    round: Round,
    /// The delay window, bytes.
    dwnd: u64,
    /// Minimum RTT since the last timeout.
    base: Span,
    /// Threshold of the backlog, in units of 1/65536 segment.
    gamma_q: u32,
    /// Backlog of the loss window in the last round, in units of 1/65536 segment; [`NONE`] without a
    /// sample or after the sample has been used.
    reno_backlog_q: u32,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "dwnd_B", unit: "B" },
    TraceField { name: "gamma_q16", unit: "segments/65536" },
];

const NONE: u32 = u32::MAX;

/// Maximum number of segments here, with 16 fractional bits: 2^32 minus 1/65536.
const MAX_SEGMENTS_Q: u64 = (1 << 48) - 1;

/// A volume in segments with 16 fractional bits, at most [`MAX_SEGMENTS_Q`].
fn segments_q(bytes: u64, mss: u64) -> u64 {
    mul_div(bytes, 1 << 16, mss.max(1)).min(MAX_SEGMENTS_Q)
}

/// `win^(3/4)`, argument and result with 16 fractional bits: the product of the square root and the
/// fourth root. The result is never above the true value. For a window of at least one segment it is
/// less than 1/16384 below it. Windows above 2^32 segments count as 2^32 segments.
pub fn three_quarters_power(win_q: u64) -> u64 {
    let root = sqrt(win_q.min(MAX_SEGMENTS_Q) << 16);
    (root * sqrt(root << 16)) >> 16
}

impl Compound {
    /// The loss window: the window minus the delay window, at least one segment.
    fn loss_window(&self, c: &Conn, w: &Window) -> u64 {
        w.cwnd().saturating_sub(self.dwnd).max(u64::from(c.mss))
    }

    #[cold]
    #[inline(never)]
    fn end_of_round(&mut self, p: &Params, c: &Conn, rtt: Span, w: &mut Window) {
        let mss = u64::from(c.mss);
        let loss_window = self.loss_window(c, w);
        let reno_backlog = segments_q(backlog(loss_window, self.base, rtt), mss);
        self.reno_backlog_q = u32::try_from(reno_backlog).unwrap_or(NONE - 1).min(NONE - 1);
        // Other causes may have reduced the window. The delay window must remain a part of it.
        self.dwnd = self.dwnd.min(w.cwnd().saturating_sub(loss_window));
        if w.in_slow_start() {
            return;
        }
        let diff = backlog(w.cwnd(), self.base, rtt);
        if segments_q(diff, mss) >= u64::from(self.gamma_q) {
            let less = p.zeta.times(diff).min(self.dwnd);
            self.dwnd -= less;
            w.shrink(c, w.cwnd().saturating_sub(less));
        } else if c.cwnd_limited() && w.cwnd() >= mul(p.low_window, mss) {
            let more = p.alpha.times(three_quarters_power(segments_q(w.cwnd(), mss)));
            let before = w.cwnd();
            w.add(mul_div(more.saturating_sub(1 << 16), mss, 1 << 16));
            self.dwnd = self.dwnd.saturating_add(w.cwnd().saturating_sub(before));
        }
    }

    fn tune(&mut self, p: &Params) {
        let low = p.gamma_low.min(p.gamma_high) << 16;
        if self.reno_backlog_q == NONE {
            return;
        }
        let sample = u64::from(self.reno_backlog_q) * 3 / 4;
        let old = u64::from(self.gamma_q);
        let step = p.lambda.times(old.abs_diff(sample));
        let new = if sample > old { old + step } else { old.saturating_sub(step) };
        self.gamma_q = narrow(new.max(low).min(p.gamma_high << 16));
        self.reno_backlog_q = NONE;
    }
}

fn narrow(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

impl CongestionAvoidance for Compound {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "compound",
        name: "Compound TCP",
        origin: "M. Sridharan, K. Tan, D. Bansal and D. Thaler, draft-sridharan-tcpm-ctcp-02, 2008; \
            K. Tan et al., INFOCOM 2006",
        citation: "sridharan2008ctcp",
        description: "The window is the sum of Reno's loss window and a delay window. In each RTT, \
            the delay window grows by alpha·win^0.75 - 1 segments if fewer than gamma segments are \
            queued. Otherwise it shrinks by zeta times the backlog. A loss leaves half of the sum. \
            At each loss, gamma is tuned between gamma_low and gamma_high, towards 3/4 of the \
            segments that the loss window alone kept queued. A timeout clears the delay window, \
            starts a new base RTT at the smoothed RTT, and resets gamma. Deviations: the RTT of a \
            round is the mean of its samples. The cut is relative to the flight. The exponent k is \
            fixed. The segments that an undone cut restores belong to the loss window. The weight \
            of gamma's samples and the minimum window could not be checked against the draft.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(p: &Params, c: &Conn) -> Compound {
        Compound {
            round: Round::new(c),
            dwnd: 0,
            base: Span::NONE,
            gamma_q: narrow(p.gamma_high << 16),
            reno_backlog_q: NONE,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.base = self.base.min(a.rtt);
        let Some(rtt) = self.round.observe(c, a) else { return };
        if rtt.mean.is_known() && matches!(c.phase, Phase::Open | Phase::Loss) {
            self.end_of_round(p, c, rtt.mean, w);
        }
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        w.add_q(additive(c, credit, w.cwnd()));
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, w: &Window, why: CongestionEvent) -> u64 {
        if why == CongestionEvent::Timeout {
            self.dwnd = 0;
            self.base = c.srtt;
            self.gamma_q = narrow(p.gamma_high << 16);
            self.reno_backlog_q = NONE;
            return half_flight(c);
        }
        self.tune(p);
        let kept = c.flight_size.saturating_sub(p.beta.times(c.flight_size));
        let ssthresh = kept.max(2 * u64::from(c.mss));
        self.dwnd = ssthresh.saturating_sub(self.loss_window(c, w) / 2);
        ssthresh
    }

    fn restart(&mut self, _p: &Params, c: &Conn, _w: &mut Window) {
        self.round.begin(c);
    }

    fn on_mss(&mut self, _p: &Params, c: &Conn, old: u32) {
        self.dwnd = resized(c, old, self.dwnd);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.dwnd, u64::from(self.gamma_q)], sink);
    }
}
