//! FAST: moves the window towards the value at which a set number of segments is queued.

use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight};
use crate::event::{Ack, Conn, Phase};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

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
        /// Segments that the flow keeps queued. The value must fit the path: a small value makes a
        /// fast path sensitive to noise, and a large value overflows a small buffer.
        alpha: u64 = 100,
            ParamKind::Segments { min: 1, max: 1_000_000 },
            "Jin, Wei, Low 2004 leave it to the operator; 100 in MFVL";
        /// Step towards the new window, `gamma`.
        gamma: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "Jin, Wei, Low 2004, window control (0 to 1); NS-2 module: 0.5";
        /// RTTs from one update to the next. The paper moves the window in one RTT and keeps it in
        /// the other, so that the measured time responds to it; the NS-2 module has 1.
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

/// Congestion avoidance of FAST.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Fast {
    /// Averaged RTT, [`Span::NONE`] before the first sample.
    avg_rtt: Span,
    /// Stream offset beyond which data belongs to the next round.
    round_end: u64,
    /// Window that the current update approaches, bytes.
    target: u64,
    /// Rounds since the last update.
    rounds: u32,
}

/// Fields of the trace.
pub(crate) const TRACE: &[TraceField] =
    &[TraceField { name: "avg_rtt_ns", unit: "ns" }, TraceField { name: "target_B", unit: "B" }];

/// Constants of the update rule, shared by FAST and its variants.
#[derive(Clone, Copy)]
pub(crate) struct Law {
    /// Segments to keep queued.
    pub(crate) alpha: u64,
    /// Factor on the target window (sigma); 1 is FAST.
    pub(crate) sigma: Ratio,
    /// Step towards the target window.
    pub(crate) gamma: Ratio,
    /// RTTs from one update to the next.
    pub(crate) interval: u64,
    /// Weight of a new sample in the averaged RTT.
    pub(crate) weight: Weight,
    /// Queueing delay at which multiplicative increase ends.
    pub(crate) mi_threshold: Span,
    /// True if multiplicative increase resumes whenever the delay is below `mi_threshold`.
    pub(crate) mi_returns: bool,
    /// Number of queued segments above which slow start ends; with zero, slow start ends at
    /// `mi_threshold`.
    pub(crate) start_gamma: Ratio,
}

impl Params {
    fn law(&self) -> Law {
        Law {
            alpha: self.alpha,
            sigma: Ratio::ONE,
            gamma: self.gamma,
            interval: self.interval,
            weight: self.weight,
            mi_threshold: self.mi_threshold,
            mi_returns: false,
            start_gamma: Ratio(0),
        }
    }
}

impl Law {
    /// `min(2w, (1-gamma)·w + sigma·gamma·(base/rtt·w + alpha))` in bytes, with `base` at most `rtt`.
    fn next(&self, c: &Conn, cwnd: u64, base: Span, rtt: Span) -> u64 {
        let kept = mul_div(cwnd, base.0, rtt.0.max(1));
        let goal = kept.saturating_add(mul(self.alpha, u64::from(c.mss))).min(MAX_WINDOW);
        let goal = self.sigma.times(goal);
        let step = self.gamma.times(goal.abs_diff(cwnd));
        let next = if goal > cwnd { cwnd.saturating_add(step) } else { cwnd.saturating_sub(step) };
        next.min(cwnd.saturating_add(cwnd))
    }
}

impl Fast {
    /// State of a new connection.
    pub(crate) fn new(c: &Conn) -> Fast {
        Fast { avg_rtt: Span::NONE, round_end: c.next_id, target: 0, rounds: 0 }
    }

    fn average(&mut self, l: &Law, c: &Conn, rtt: Span, cwnd: u64) {
        if !self.avg_rtt.is_known() {
            self.avg_rtt = rtt;
            return;
        }
        // 1/weight is cwnd/(3·mss), in units of 1/256.
        let segments = mul_div(cwnd, 256, 3 * u64::from(c.mss.max(1)));
        let parts = segments.max(match l.weight {
            Weight::Paper => 4 << 8,
            Weight::Ns2 => 256 << 8,
        });
        let (old, new) = (self.avg_rtt.0, rtt.0);
        let step = mul_div(old.abs_diff(new), 256, parts);
        self.avg_rtt = Span(if new > old { old + step } else { old - step });
    }

    fn update(&mut self, l: &Law, c: &Conn, w: &mut Window) {
        let base = c.min_rtt.min(self.avg_rtt);
        self.target = l.next(c, w.cwnd(), base, self.avg_rtt);
        w.shrink(c, self.target.max(2 * u64::from(c.mss)));
    }

    /// Averaged queueing delay, nanoseconds.
    fn delay(&self, c: &Conn) -> u64 {
        self.avg_rtt.0.saturating_sub(c.min_rtt.0)
    }

    /// True if multiplicative increase is active outside slow start.
    fn multiplies(&self, l: &Law, c: &Conn) -> bool {
        let known = self.avg_rtt.is_known() && c.min_rtt.is_known();
        l.mi_returns && known && self.delay(c) < l.mi_threshold.0
    }

    /// True if slow start has filled the queue up to its limit. With `start_gamma`, the test uses the
    /// RTT of this acknowledgement and not the averaged RTT, which remains long after a timeout that
    /// followed a full queue.
    fn started(&self, l: &Law, c: &Conn, a: &Ack, w: &Window) -> bool {
        if l.start_gamma.0 == 0 {
            let delay = self.delay(c);
            return delay > 0 && delay >= l.mi_threshold.0;
        }
        let waited = a.rtt.0.saturating_sub(c.min_rtt.0);
        let queued = mul_div(w.cwnd(), waited, a.rtt.0.max(1));
        a.rtt.is_known() && queued > l.start_gamma.times(u64::from(c.mss))
    }

    /// Takes the sample of an acknowledgement and ends slow start if the queue is full. At an update,
    /// it reduces the window or sets a higher target.
    pub(crate) fn look(&mut self, l: &Law, c: &Conn, a: &Ack, w: &mut Window) {
        if a.rtt.is_known() {
            self.average(l, c, a.rtt, w.cwnd());
        }
        let growing = matches!(c.phase, Phase::Open | Phase::Loss);
        if !growing || !self.avg_rtt.is_known() || !c.min_rtt.is_known() {
            return;
        }
        if w.in_slow_start() {
            if self.started(l, c, a, w) {
                w.set_ssthresh(w.cwnd());
                self.target = w.cwnd();
            }
        } else if self.multiplies(l, c) {
            // The next update is a whole interval after the increase.
            self.begin(c, w);
            return;
        }
        if c.una > self.round_end {
            self.round_end = c.next_id;
            self.rounds = self.rounds.saturating_add(1);
            if u64::from(self.rounds) >= l.interval && !w.in_slow_start() {
                self.rounds = 0;
                self.update(l, c, w);
            }
        }
    }

    /// Increases the window for an acknowledgement in congestion avoidance.
    pub(crate) fn open(&self, l: &Law, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        if self.multiplies(l, c) {
            w.add(credit);
        } else {
            w.add(a.acked.min(self.target.saturating_sub(w.cwnd())));
        }
    }

    /// Keeps the window for one interval from now.
    pub(crate) fn begin(&mut self, c: &Conn, w: &Window) {
        // A stack may spread the cut over an RTT. The window is then still above the threshold.
        let target = w.cwnd().min(w.ssthresh());
        (self.round_end, self.rounds, self.target) = (c.next_id, 0, target);
    }

    /// Keeps the window after an undo, until the next update.
    pub(crate) fn hold(&mut self, w: &Window) {
        self.target = w.cwnd();
    }

    /// Clears the target after a possible reduction of the window or a change of the MSS. The window
    /// does not change until the next update.
    pub(crate) fn forget_target(&mut self) {
        self.target = 0;
    }

    /// Values of the trace, in the order of [`TRACE`].
    pub(crate) fn shown(&self) -> [u64; 2] {
        [self.avg_rtt.0, self.target]
    }
}

impl CongestionAvoidance for Fast {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "fast",
        name: "FAST TCP",
        origin: "C. Jin, D. X. Wei and S. H. Low, FAST TCP: motivation, architecture, algorithms, \
            performance, INFOCOM 2004",
        citation: "jin2004fast",
        description: "In every other RTT, the window moves by the share gamma towards the window \
            at which alpha segments would be queued: base/avg · w + alpha, at most twice w. Alone \
            on a path, it settles at capacity times base RTT plus alpha. Slow start ends when the \
            averaged queueing delay reaches mi_threshold. Deviations: an increase is spread over \
            the next acknowledgements, at one byte per acknowledged byte. The law uses the present \
            window, and the freeze replaces the paper's window at sending time. Multiplicative \
            increase occurs only in slow start. Losses, timeouts and marks have Reno's response.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(_p: &Params, c: &Conn) -> Fast {
        Fast::new(c)
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.look(&p.law(), c, a, w);
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        self.open(&p.law(), c, a, credit, w);
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }

    fn restart(&mut self, _p: &Params, c: &Conn, w: &mut Window) {
        self.begin(c, w);
    }

    fn undo(&mut self, _p: &Params, _c: &Conn, w: &Window) {
        self.hold(w);
    }

    fn idle(&mut self, _p: &Params, _c: &Conn, _gap: Span) {
        self.forget_target();
    }

    fn on_mss(&mut self, _p: &Params, _c: &Conn, _old: u32) {
        self.forget_target();
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &self.shown(), sink);
    }
}
