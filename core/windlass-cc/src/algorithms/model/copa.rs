//! Copa (Arun and Balakrishnan, NSDI 2018): moves the rate towards 1/(δ·d_q) packets per second, where
//! d_q is the queueing delay.

use crate::arithmetic::filter::{WindowedMax, WindowedMin};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{MAX_WINDOW, Window};
use crate::controller::Controller;
use crate::event::{Ack, Conn, Control, Phase, Undo};
use crate::info::{Ecn, Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::recovery::LossRecovery;
use crate::setup::Setup;
use crate::time::{Rate, Span, Time};

/// Maximum 1/δ, packets. Above it, the products in this file would overflow.
const MAX_INVERSE: Ratio = Ratio::of(1 << 24, 1);
/// Rounds in one direction after which the velocity doubles.
const STEADY_ROUNDS: u8 = 3;

crate::parameters! {
    /// Parameters of Copa.
    pub struct Params {
        /// 1/δ of the default mode: the number of queued packets that a flow aims at.
        inverse_delta: Ratio = Ratio::of(2, 1),
            ParamKind::Ratio { min: Ratio::of(1, 100), max: Ratio::of(10_000, 1) },
            "Copa section 2.2 (δ = 0.5)";
        /// Adapt δ when another flow keeps the queue filled; otherwise δ is fixed.
        mode_switching: bool = true, ParamKind::Flag, "Copa section 2.2";
        /// Window of the minimum RTT.
        min_rtt_window: Span = Span::from_secs(10),
            ParamKind::Time { min: Span::from_millis(1), max: Span::from_secs(86_400) },
            "Copa section 2.1";
        /// Share of the range of RTTs below which the queueing delay means a nearly empty queue.
        nearly_empty: Ratio = Ratio::of(1, 10),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::ONE },
            "Copa section 2.2";
        /// Time without a nearly empty queue after which other flows are assumed to fill it, in
        /// smoothed RTTs.
        detection_rtts: u64 = 5, ParamKind::Count { min: 1, max: 1_000 }, "Copa section 2.2";
        /// Window of the maximum RTT, in smoothed RTTs.
        max_rtt_window: u64 = 4, ParamKind::Count { min: 1, max: 1_000 }, "Copa section 2.2";
        /// Minimum window, except after a timeout.
        min_cwnd: u64 = 2, ParamKind::Segments { min: 1, max: 1_000 },
            "genericCC markoviancc.cc (the authors' code)";
    }
}

/// State of Copa.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Copa {
    window: Window,
    /// RTTmin, RTTstanding and RTTmax, ns; times are [`u64::MAX`] before the first sample.
    min_rtt: WindowedMin,
    standing: WindowedMin,
    max_rtt: WindowedMax,
    /// Time at which the queue was last nearly empty.
    emptied: Time,
    /// 1/δ, packets.
    inverse: Ratio,
    /// Stream offset at which the current round ends, and the window at the round's start.
    round_end: u64,
    round_cwnd: u64,
    /// Window and 1/δ before the latest loss, for an undo.
    prior_cwnd: u64,
    prior_inverse: Ratio,
    /// Steps of 1/δ packets per RTT.
    velocity: u32,
    /// Rounds in the current direction.
    steady: u8,
    rising: bool,
    slow_start: bool,
    prior_slow_start: bool,
    competitive: bool,
    lossy_round: bool,
    measured: bool,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "min_rtt_ns", unit: "ns" },
    TraceField { name: "standing_rtt_ns", unit: "ns" },
    TraceField { name: "inverse_delta", unit: "1/65536 packets" },
    TraceField { name: "velocity", unit: "steps per round trip" },
    TraceField { name: "slow_start", unit: "0 or 1" },
    TraceField { name: "competitive", unit: "0 or 1" },
];

const INFO: &Info = &Info {
    id: "copa",
    name: "Copa",
    origin: "V. Arun, H. Balakrishnan, Copa: Practical Delay-Based Congestion Control for the \
        Internet, NSDI 2018",
    citation: "arun2018copa",
    description: "Copa moves the window by v/δ packets per RTT towards the rate 1/(δ·d_q). The \
        queueing delay d_q is the minimum RTT of the last half smoothed RTT minus the minimum RTT \
        of ten seconds. The velocity v doubles each round after the direction has been constant \
        for three rounds. Pacing is at twice the window per standing RTT. Slow start doubles until \
        the rate exceeds the target. If the queue has not been nearly empty for five RTTs, 1/δ \
        grows by one per RTT without loss and halves at a loss, until the queue is nearly empty. \
        At the default δ, whole packets sometimes hide an empty queue, so that a lone flow \
        competes for a few RTTs, as the paper's rule implies. Losses change the window in no other \
        way. Two details are from the authors' code (genericCC): the cap on the velocity, which \
        keeps a step within one window per RTT, and the minimum of two segments. Its ramp of v by \
        0.005, its minimum over four RTTs instead of five, and its cut at heavy loss are not \
        included. Windlass adds these rules. The window grows only while it limits the sender, no \
        acknowledgement more than doubles it, and it shrinks at any time. The mode is decided \
        after slow start. A timeout leaves one segment and slow start, and the stack's idle reset \
        restarts slow start. In recovery the window is the same, with SACK or without.",
    params: Params::TABLE,
    trace: TRACE,
};

impl Copa {
    /// True if the flow assumes that other flows fill the queue.
    pub fn is_competitive(&self) -> bool {
        self.competitive
    }

    /// Number of packets that the flow aims to keep in the queue, 1/δ.
    pub fn inverse_delta(&self) -> Ratio {
        self.inverse
    }

    fn measure(&mut self, p: &Params, c: &Conn, rtt: Span) {
        let (now, rtt) = (c.now.0, rtt.0);
        if !self.measured {
            self.measured = true;
            self.min_rtt = WindowedMin::new(now, rtt);
            self.standing = WindowedMin::new(now, rtt);
            self.max_rtt = WindowedMax::new(now, rtt);
            return;
        }
        let srtt = if c.srtt.is_known() { c.srtt.0 } else { rtt };
        self.min_rtt.update(p.min_rtt_window.0, now, rtt);
        self.standing.update(srtt / 2, now, rtt);
        self.max_rtt.update(mul(p.max_rtt_window, srtt), now, rtt);
    }

    fn queueing_delay(&self) -> u64 {
        self.standing.get().saturating_sub(self.min_rtt.get())
    }

    /// Section 2.2: without competing flows, the queue is nearly empty at least once in five RTTs.
    fn judge_mode(&mut self, p: &Params, c: &Conn) {
        let range = self.max_rtt.get().saturating_sub(self.min_rtt.get());
        let delay = self.queueing_delay();
        if self.slow_start || delay == 0 || delay < p.nearly_empty.times(range) {
            self.emptied = c.now;
        }
        let srtt = if c.srtt.is_known() { c.srtt.0 } else { self.standing.get() };
        let patience = Span(mul(p.detection_rtts, srtt));
        let competitive = p.mode_switching && c.now.since(self.emptied) > patience;
        if !competitive {
            self.inverse = p.inverse_delta;
        }
        self.competitive = competitive;
    }

    /// True if the rate is at most the target: cwnd/RTTstanding ≤ 1/(δ·d_q).
    fn below_target(&self, c: &Conn) -> bool {
        let wanted = self.inverse.times(u64::from(c.mss));
        mul(self.window.cwnd(), self.queueing_delay()) <= mul(wanted, self.standing.get())
    }

    /// Once per window: updates the velocity, and δ in competitive mode.
    fn on_round(&mut self, p: &Params, c: &Conn) {
        let rising = self.window.cwnd() > self.round_cwnd;
        if rising == self.rising {
            self.steady = self.steady.saturating_add(1);
            if self.steady >= STEADY_ROUNDS {
                self.velocity = self.velocity.saturating_mul(2);
            }
        } else {
            self.rising = rising;
            self.steady = 0;
            self.velocity = 1;
        }
        self.velocity = self.velocity.min(self.max_velocity(c));
        if self.competitive && !self.lossy_round {
            self.set_inverse(p, Ratio(self.inverse.0.saturating_add(Ratio::ONE.0)));
        }
        self.lossy_round = false;
        self.begin_round(c);
    }

    fn begin_round(&mut self, c: &Conn) {
        self.round_end = c.next_id;
        self.round_cwnd = self.window.cwnd();
    }

    /// Maximum velocity: an RTT changes the window by at most the window, v/δ ≤ cwnd.
    fn max_velocity(&self, c: &Conn) -> u32 {
        let step = self.inverse.times(u64::from(c.mss)).max(1);
        (self.window.cwnd() / step).clamp(1, u64::from(u32::MAX)) as u32
    }

    /// Sets 1/δ, with the default mode's value as its minimum.
    fn set_inverse(&mut self, p: &Params, inverse: Ratio) {
        self.inverse = inverse.min(MAX_INVERSE).max(p.inverse_delta);
    }

    /// Moves the window by v/(δ·cwnd) packets per delivered packet, and at most doubles it. Without
    /// this limit, an acknowledgement of many segments could multiply a window below v/δ by hundreds.
    fn step(&mut self, p: &Params, c: &Conn, delivered: u64) {
        let below = self.below_target(c);
        if self.slow_start && !below {
            self.slow_start = false;
            self.velocity = 1;
            self.steady = 0;
            self.begin_round(c);
        }
        let per_round = mul(mul(u64::from(self.velocity), u64::from(c.mss)), self.inverse.0);
        // In units of 1/65536 byte, as 1/δ.
        let moved = mul_div(delivered, per_round, self.window.cwnd().max(1));
        match (below, self.slow_start) {
            (true, _) if !c.cwnd_limited() => {}
            (true, true) => self.window.add(delivered),
            (true, false) => self.window.add_q(moved.min(self.window.cwnd_q())),
            (false, _) => self.window.sub_q(c, moved),
        }
        let floor = mul(p.min_cwnd, u64::from(c.mss));
        if self.window.cwnd() < floor {
            self.window.set(c, floor);
        }
    }

    fn save(&mut self) {
        self.prior_cwnd = self.window.cwnd();
        self.prior_inverse = self.inverse;
        self.prior_slow_start = self.slow_start;
    }

    /// Handles a loss: halves 1/δ in competitive mode.
    fn on_loss_episode(&mut self, p: &Params) {
        self.lossy_round = true;
        if self.competitive {
            self.set_inverse(p, Ratio(self.inverse.0 / 2));
        }
    }
}

impl Controller for Copa {
    type Params = Setup<Params>;
    const INFO: &'static Info = INFO;
    const REQUIREMENTS: Requirements = Requirements {
        recovery: LossRecovery::Prr,
        slow_start: None,
        rate_samples: false,
        ecn: Ecn::None,
        l4s: false,
        cross_layer: false,
    };

    fn init(p: &Setup<Params>, c: &Conn) -> Copa {
        let window = Window::new(c, p.initial_window, MAX_WINDOW);
        Copa {
            window,
            min_rtt: WindowedMin::new(c.now.0, u64::MAX),
            standing: WindowedMin::new(c.now.0, u64::MAX),
            max_rtt: WindowedMax::new(c.now.0, 0),
            emptied: c.now,
            inverse: p.own.inverse_delta,
            round_end: c.next_id,
            round_cwnd: window.cwnd(),
            prior_cwnd: window.cwnd(),
            prior_inverse: p.own.inverse_delta,
            velocity: 1,
            steady: 0,
            rising: true,
            slow_start: true,
            prior_slow_start: true,
            competitive: false,
            lossy_round: false,
            measured: false,
        }
    }

    fn on_ack(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack) {
        if a.rtt.is_known() {
            self.measure(&p.own, c, a.rtt);
        }
        if !self.measured {
            return;
        }
        self.judge_mode(&p.own, c);
        if a.delivered > 0 {
            self.step(&p.own, c, a.delivered.min(MAX_WINDOW));
        }
        if c.una > self.round_end {
            self.on_round(&p.own, c);
        }
    }

    fn on_phase(&mut self, p: &Setup<Params>, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (Phase::Open | Phase::Cwr, Phase::Recovery) => {
                self.save();
                self.on_loss_episode(&p.own);
            }
            (_, Phase::Loss) => {
                if from != Phase::Loss {
                    self.save();
                    self.on_loss_episode(&p.own);
                }
                self.window.set(c, u64::from(c.mss));
                self.slow_start = true;
                self.velocity = 1;
                self.steady = 0;
                self.begin_round(c);
            }
            (Phase::Loss, Phase::Recovery)
            | (Phase::Recovery, Phase::Recovery)
            | (_, Phase::Open | Phase::Cwr) => {}
        }
    }

    /// Restores the window and 1/δ from before the loss.
    fn on_undo(&mut self, _p: &Setup<Params>, c: &Conn, _why: Undo) {
        self.window.set(c, self.window.cwnd().max(self.prior_cwnd));
        self.slow_start &= self.prior_slow_start;
        if self.competitive {
            self.inverse = self.inverse.max(self.prior_inverse);
        }
    }

    /// Resets the time of the last empty queue: the queue has had time to drain.
    fn on_idle_restart(&mut self, p: &Setup<Params>, c: &Conn, _gap: Span, reset: bool) {
        self.emptied = c.now;
        if reset {
            self.window.set(c, p.initial_window.min(self.window.cwnd()));
            self.slow_start = true;
            self.velocity = 1;
            self.steady = 0;
        }
        self.begin_round(c);
    }

    fn on_mss(&mut self, _p: &Setup<Params>, c: &Conn, _old: u32) {
        self.window.set(c, self.window.cwnd());
    }

    fn control(&self, _p: &Setup<Params>, c: &Conn) -> Control {
        let cwnd = self.window.cwnd().max(u64::from(c.mss.max(1))).min(MAX_WINDOW);
        let pacing = match self.measured {
            true => Rate::of(2 * cwnd, Span(self.standing.get().max(1))).0.max(1),
            false => 0,
        };
        Control { cwnd, ssthresh: MAX_WINDOW, pacing: Rate(pacing) }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let values = [
            self.min_rtt.get(),
            self.standing.get(),
            self.inverse.0,
            u64::from(self.velocity),
            u64::from(self.slow_start),
            u64::from(self.competitive),
        ];
        for (field, value) in TRACE.iter().zip(values) {
            sink(field, value);
        }
    }
}
