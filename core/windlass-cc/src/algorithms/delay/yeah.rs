//! YeAH: Scalable while the queue is short; otherwise Reno, with reductions that drain the queue.

use crate::arithmetic::math::mul;
use crate::arithmetic::round::{BaseRtt, Round, backlog};
use crate::arithmetic::window::{Window, quotient, resized};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, Rounding, additive};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters};
use crate::time::Span;

crate::parameters! {
    /// Parameters of YeAH.
    pub struct Params {
        /// Maximum number of queued segments in fast mode, `Q_max`.
        alpha: u64 = 80,
            ParamKind::Segments { min: 1, max: 1_000_000 },
            "Baiocchi, Castellani, Vacirca 2007; Linux tcp_yeah (80)";
        /// Divisor of the part of the queue that a precautionary decongestion removes.
        gamma: u64 = 1,
            ParamKind::Count { min: 1, max: 1000 },
            "Baiocchi, Castellani, Vacirca 2007; Linux tcp_yeah (1)";
        /// Minimum cut of the flight at a loss, as a number of halvings: n is 1/2^n of the flight.
        delta: u64 = 3,
            ParamKind::Count { min: 1, max: 20 },
            "Linux tcp_yeah (1/8)";
        /// Maximum part of the window that a decongestion removes, as a number of halvings: n is
        /// 1/2^n of the window.
        epsilon: u64 = 1,
            ParamKind::Count { min: 1, max: 20 },
            "Linux tcp_yeah (1/2)";
        /// Divisor of the base RTT that gives the maximum queueing delay in fast mode.
        phi: u64 = 8,
            ParamKind::Count { min: 1, max: 1000 },
            "Baiocchi, Castellani, Vacirca 2007; Linux tcp_yeah (8)";
        /// Rounds in slow mode after which a competing Reno flow is assumed.
        rho: u64 = 16,
            ParamKind::Count { min: 1, max: 100_000 },
            "Linux tcp_yeah (16)";
        /// Rounds in fast mode after which no Reno flow is assumed any more.
        zeta: u64 = 50,
            ParamKind::Count { min: 1, max: 100_000 },
            "Linux tcp_yeah (50)";
        /// Acknowledged segments per segment of growth in fast mode.
        scalable: u64 = 100,
            ParamKind::Segments { min: 1, max: 100_000 },
            "Kelly 2003 (0.01 per acknowledgement); Linux tcp_yeah (100)";
        /// Forget the base RTT when sending begins with nothing in flight.
        forget_base: bool = false,
            ParamKind::Flag,
            "Linux tcp_vegas_cwnd_event (true)";
    }
}

/// Congestion avoidance of YeAH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Yeah {
    round: Round,
    /// Bytes queued according to the last round with an estimate.
    queued: u64,
    /// Consecutive rounds in slow mode; zero in fast mode.
    slow_rounds: u32,
    /// Rounds in fast mode since the last loss or since the last reset after `zeta` rounds.
    fast_rounds: u32,
    /// Estimated window of a competing Reno flow, segments.
    reno_window: u32,
    /// Parameter `forget_base`: the base RTT.
    base: BaseRtt,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "queued_B", unit: "B" },
    TraceField { name: "slow_rounds", unit: "rounds" },
    TraceField { name: "reno_window", unit: "segments" },
];

/// Minimum estimate of the other flow's window, segments.
const MIN_RENO: u32 = 2;

/// Minimum number of samples. The minimum of fewer samples may come from a delayed acknowledgement.
const MIN_SAMPLES: u32 = 3;

/// The value divided by 2^`times`.
fn halved(value: u64, times: u64) -> u64 {
    value >> times.min(63)
}

impl Yeah {
    fn end_of_round(&mut self, p: &Params, c: &Conn, rtt: Span, w: &mut Window) {
        let mss = u64::from(c.mss);
        let base = self.base.or_least(p.forget_base, c);
        self.queued = backlog(w.cwnd(), base, rtt);
        let long = self.queued > mul(p.alpha, mss);
        let delay = rtt.0.saturating_sub(base.0);
        if !long && delay <= base.0 / p.phi.max(1) {
            self.fast_round(p);
            return;
        }
        if long {
            self.decongest(p, c, w);
        }
        self.reno_window = if self.reno_window <= MIN_RENO {
            let half = w.cwnd() / 2 / mss.max(1);
            u32::try_from(half).unwrap_or(u32::MAX).max(MIN_RENO)
        } else {
            self.reno_window.saturating_add(1)
        };
        self.slow_rounds = self.slow_rounds.saturating_add(1);
    }

    fn fast_round(&mut self, p: &Params) {
        self.slow_rounds = 0;
        self.fast_rounds = self.fast_rounds.saturating_add(1);
        if u64::from(self.fast_rounds) > p.zeta {
            (self.fast_rounds, self.reno_window) = (0, MIN_RENO);
        }
    }

    fn decongest(&self, p: &Params, c: &Conn, w: &mut Window) {
        let cwnd = w.cwnd();
        let reduction = (self.queued / p.gamma.max(1)).min(halved(cwnd, p.epsilon));
        let least = mul(u64::from(self.reno_window), u64::from(c.mss));
        w.shrink(c, cwnd.saturating_sub(reduction).max(least));
    }
}

impl CongestionAvoidance for Yeah {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "yeah",
        name: "YeAH",
        origin: "A. Baiocchi, A. P. Castellani and F. Vacirca, YeAH-TCP: Yet another highspeed TCP, \
            PFLDnet 2007",
        citation: "baiocchi2007yeah",
        description: "YeAH estimates in each RTT the number of its queued segments, from the \
            minimum RTT of the round. In fast mode, with at most alpha segments queued and a \
            queueing delay of at most base/phi, it grows as Scalable TCP. In slow mode it grows as \
            Reno. With more than alpha segments queued and a window beyond the window of an \
            assumed Reno competitor, it removes the queue from the window at once. A loss removes \
            the queue, but at most half and at least an eighth of the flight. After rho slow \
            rounds Reno competes, and a loss removes half. Deviations: as in Linux, decongestion \
            also happens in slow start and ends it, and a round with fewer than three samples \
            changes nothing. Cuts are relative to the flight. Timeouts and marks cut as losses do. \
            ns-3 computes 1/phi in integers, so that any queueing delay selects slow mode.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const CARRIES_OVER: bool = true;
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux("forget_base", 1, "`tcp_yeah` has `tcp_vegas_cwnd_event`"),
        Departure::ns3_per_ack(
            "`TcpYeah::IncreaseWindow` counts every acknowledgement as one segment",
        ),
    ];

    fn rounding(_why: CongestionEvent) -> Rounding {
        Rounding::Up
    }

    fn init(_p: &Params, c: &Conn) -> Yeah {
        Yeah {
            round: Round::new(c),
            queued: 0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno_window: MIN_RENO,
            base: BaseRtt::NONE,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.base.sample(a);
        let Some(rtt) = self.round.observe(c, a) else { return };
        let growing = matches!(c.phase, Phase::Open | Phase::Loss);
        if growing && rtt.samples >= MIN_SAMPLES && c.min_rtt.is_known() {
            self.end_of_round(p, c, rtt.min, w);
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        let mss = u64::from(c.mss);
        let cwnd = w.cwnd();
        w.add_q(if self.slow_rounds == 0 {
            quotient(mss, credit.max(mss), cwnd.min(mul(p.scalable, mss)))
        } else {
            additive(c, credit, cwnd)
        });
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        let flight = c.flight_size;
        let cut = if u64::from(self.slow_rounds) < p.rho {
            self.queued.min(flight / 2).max(halved(flight, p.delta))
        } else {
            flight / 2
        };
        self.fast_rounds = 0;
        self.reno_window = (self.reno_window / 2).max(MIN_RENO);
        flight.saturating_sub(cut).max(2 * u64::from(c.mss))
    }

    fn restart(&mut self, _p: &Params, c: &Conn, _w: &mut Window) {
        self.round.begin(c);
    }

    fn idle(&mut self, p: &Params, c: &Conn, _gap: Span) {
        if p.forget_base {
            self.round.begin(c);
            self.base = BaseRtt::NONE;
        }
    }

    fn on_mss(&mut self, _p: &Params, c: &Conn, old: u32) {
        self.queued = resized(c, old, self.queued);
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let (slow, reno) = (u64::from(self.slow_rounds), u64::from(self.reno_window));
        show(TRACE, &[self.queued, slow, reno], sink);
    }
}
