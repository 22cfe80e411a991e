//! FAST: moves the window towards the one at which a set number of segments is queued.

use crate::controller::{Ack, Conn, Phase};
use crate::growth::{Cut, Growth};
use crate::info::{Info, TraceField, Wants, show};
use crate::math::{mul, mul_div};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::reno::half_flight;
use crate::time::Span;
use crate::window::{MAX_WINDOW, Window};

crate::choice! {
    /// Weight of a new sample in the averaged round-trip time, for a window of `w` segments.
    pub enum Weight {
        /// `min(3/w, 1/4)`: the paper.
        Paper = "paper",
        /// `min(3/w, 1/256)`: the NS-2 module.
        Ns2 = "ns2",
    }
}

crate::parameters! {
    /// Parameters of FAST.
    pub struct Params {
        /// Segments that the flow is to keep queued. It must fit the path: a small one leaves a
        /// fast path to noise, a large one overflows a small buffer.
        alpha: u64 = 100,
            ParamKind::Segments { min: 1, max: 1_000_000 },
            "Jin, Wei, Low 2004 leave it to the operator; 100 in MFVL";
        /// Step towards the new window, `gamma`.
        gamma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Jin, Wei, Low 2004, window control (0 to 1); NS-2 module: 0.5";
        /// Round trips from one update to the next: the paper moves the window in one and leaves
        /// it in the other, so that the time it looks at answers to it; the NS-2 module has 1.
        interval: u64 = 2,
            ParamKind::Count { min: 1, max: 100 },
            "Jin, Wei, Low 2004, window control";
        /// Weight of a new sample in the averaged round-trip time.
        weight: Weight = Weight::Paper,
            Weight::KIND,
            "Jin, Wei, Low 2004, estimation; NS-2 module";
        /// Queueing delay at which slow start ends.
        mi_threshold: Span = Span::from_micros(750),
            ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) },
            "NS-2 module (0.00075 s)";
    }
}

/// Growth of FAST.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Fast {
    /// Averaged round-trip time, [`Span::NONE`] before the first sample.
    avg_rtt: Span,
    /// Stream offset beyond which data belongs to the next round.
    round_end: u64,
    /// Where the window is going, bytes.
    target: u64,
    /// Rounds since the last update.
    rounds: u32,
}

const TRACE: &[TraceField] =
    &[TraceField { name: "avg_rtt_ns", unit: "ns" }, TraceField { name: "target_B", unit: "B" }];

/// `min(2w, (1-gamma)·w + gamma·(base/rtt·w + alpha))` in bytes, `base` being at most `rtt`.
fn law(p: &Params, c: &Conn, cwnd: u64, base: Span, rtt: Span) -> u64 {
    let kept = mul_div(cwnd, base.0, rtt.0.max(1));
    let goal = kept.saturating_add(mul(p.alpha, u64::from(c.mss))).min(MAX_WINDOW);
    let step = p.gamma.times(goal.abs_diff(cwnd));
    let next = if goal > cwnd { cwnd.saturating_add(step) } else { cwnd.saturating_sub(step) };
    next.min(cwnd.saturating_add(cwnd))
}

impl Fast {
    fn average(&mut self, p: &Params, c: &Conn, rtt: Span, cwnd: u64) {
        if !self.avg_rtt.is_known() {
            self.avg_rtt = rtt;
            return;
        }
        // 1/weight is cwnd/(3·mss), in a 256th.
        let segments = mul_div(cwnd, 256, 3 * u64::from(c.mss.max(1)));
        let parts = segments.max(match p.weight {
            Weight::Paper => 4 << 8,
            Weight::Ns2 => 256 << 8,
        });
        let (old, new) = (self.avg_rtt.0, rtt.0);
        let step = mul_div(old.abs_diff(new), 256, parts);
        self.avg_rtt = Span(if new > old { old + step } else { old - step });
    }

    fn update(&mut self, p: &Params, c: &Conn, w: &mut Window) {
        let base = c.min_rtt.min(self.avg_rtt);
        self.target = law(p, c, w.cwnd(), base, self.avg_rtt);
        w.shrink(c, self.target.max(2 * u64::from(c.mss)));
    }
}

impl Growth for Fast {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "fast",
        name: "FAST TCP",
        origin: "C. Jin, D. X. Wei and S. H. Low, FAST TCP: motivation, architecture, algorithms, \
            performance, INFOCOM 2004",
        citation: "jin2004fast",
        description: "Every other round trip the window goes part of the way, gamma, to the one at \
            which alpha segments would be queued: base/avg · w + alpha, at most twice w. Alone on a \
            path it settles at capacity times base round-trip time plus alpha. Slow start ends when \
            the averaged queueing delay reaches mi_threshold. Deviations: an opening is spread over \
            the next acknowledgements, a byte for each byte acknowledged; the window that the law \
            looks at is the present one, the freeze standing for the paper's window at sending \
            time; there is no multiplicative increase beside slow start; losses, timeouts and marks \
            are answered as Reno does.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const WANTS: Wants = Wants::LOSS_BASED;

    fn init(_p: &Params, c: &Conn) -> Fast {
        Fast { avg_rtt: Span::NONE, round_end: c.next_id, target: 0, rounds: 0 }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        if a.rtt.is_known() {
            self.average(p, c, a.rtt, w.cwnd());
        }
        let growing = matches!(c.phase, Phase::Open | Phase::Loss);
        if !growing || !self.avg_rtt.is_known() || !c.min_rtt.is_known() {
            return;
        }
        if w.in_slow_start() {
            let delay = self.avg_rtt.0.saturating_sub(c.min_rtt.0);
            if delay > 0 && delay >= p.mi_threshold.0 {
                w.set_ssthresh(w.cwnd());
                self.target = w.cwnd();
            }
        }
        if c.una > self.round_end {
            self.round_end = c.next_id;
            self.rounds = self.rounds.saturating_add(1);
            if u64::from(self.rounds) >= p.interval && !w.in_slow_start() {
                self.rounds = 0;
                self.update(p, c, w);
            }
        }
    }

    fn avoid(&mut self, _p: &Params, _c: &Conn, a: &Ack, _credit: u64, w: &mut Window) {
        w.add(a.acked.min(self.target.saturating_sub(w.cwnd())));
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: Cut) -> u64 {
        half_flight(c)
    }

    fn restart(&mut self, _p: &Params, c: &Conn, w: &mut Window) {
        (self.round_end, self.rounds, self.target) = (c.next_id, 0, w.cwnd());
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, w: &Window) {
        self.target = w.cwnd();
    }

    /// The window falls back, perhaps: it stays there until the law says more.
    fn idle(&mut self, _p: &Params, _c: &Conn, _gap: Span) {
        self.target = 0;
    }

    fn on_mss(&mut self, _p: &Params, _c: &Conn, _old: u32) {
        self.target = 0;
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.avg_rtt.0, self.target], sink);
    }
}
