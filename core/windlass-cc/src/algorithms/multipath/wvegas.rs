//! wVegas: Vegas on each path, with a shared number of segments to keep queued, divided by the paths'
//! rates.

use crate::algorithms::delay::vegas::Course;
use crate::arithmetic::math::{divisor, mul, mul_div};
use crate::arithmetic::round::{Round, backlog};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight};
use crate::event::{Ack, Conn, Phase};
use crate::group::{Group, PathView};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters};
use crate::time::Span;

crate::parameters! {
    /// Parameters of wVegas.
    pub struct Params {
        /// Segments that all paths together keep queued.
        total_alpha: u64 = 10,
            ParamKind::Segments { min: 1, max: 10_000 },
            "Cao, Xu, Fu 2012; out-of-tree Linux mptcp_wvegas";
        /// Segments that a path keeps queued before its weight is known; also its minimum.
        initial_alpha: u64 = 2,
            ParamKind::Segments { min: 1, max: 10_000 },
            "out-of-tree Linux mptcp_wvegas";
        /// Reduce the window to half of the data that the empty path would carry, when the queueing
        /// delay is twice its minimum since the last reduction of this kind.
        drain: bool = true, ParamKind::Flag,
            "Cao, Xu, Fu 2012; out-of-tree Linux mptcp_wvegas";
    }
}

/// Congestion avoidance of wVegas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct WVegas {
    round: Round,
    /// Rate at the last sufficient queue, bytes per second; zero before.
    rate: u64,
    /// Sum of `rate` over all siblings, bytes per second.
    others: u64,
    /// Minimum queueing delay since the queue was last drained, microseconds; zero without a
    /// measurement.
    least_delay: u32,
    /// Segments to keep queued; the ranges of the parameters end far below the maximum.
    alpha: u16,
    course: Course,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "rate_Bps", unit: "B/s" },
    TraceField { name: "alpha_segments", unit: "1" },
];

/// Minimum number of samples of a round with an estimate.
const MIN_SAMPLES: u32 = 3;
/// Maximum rate, bytes per second: eight of them add up without overflow.
const MAX_RATE: u64 = 1 << 56;

impl WVegas {
    /// Computes the weight, after the queue has reached alpha: `alpha = total_alpha·x/Σx`.
    fn weigh(&mut self, p: &Params, cwnd: u64, rtt: Span) {
        self.rate = mul_div(cwnd, 1_000_000_000, rtt.0.max(1)).clamp(1, MAX_RATE);
        let all = self.rate.saturating_add(self.others);
        let part = mul_div(p.total_alpha, self.rate, all);
        self.alpha = part.max(p.initial_alpha).min(u64::from(u16::MAX)) as u16;
    }

    /// Adjusts the window at the end of a round of congestion avoidance with this mean RTT.
    fn adjust(&mut self, p: &Params, c: &Conn, w: &mut Window, rtt: Span) {
        let mss = divisor(u64::from(c.mss));
        let least = mul(2, mss.get());
        let segments = backlog(w.cwnd(), c.min_rtt, rtt) / mss;
        if segments >= u64::from(self.alpha) {
            self.weigh(p, w.cwnd(), rtt);
        }
        let alpha = u64::from(self.alpha);
        self.course = if segments < alpha { Course::Open } else { Course::Hold };
        if segments > alpha {
            w.shrink(c, w.cwnd().saturating_sub(mss.get()).max(least));
        }
        if p.drain {
            self.drain(c, w, rtt, least);
        }
    }

    fn drain(&mut self, c: &Conn, w: &mut Window, rtt: Span, least: u64) {
        let delay = rtt.0.saturating_sub(c.min_rtt.0) / 1_000;
        let delay = delay.min(u64::from(u32::MAX)) as u32;
        if delay == 0 {
            // Without a queue there is nothing to drain, and twice zero would always be reached.
            self.least_delay = 0;
            return;
        }
        if self.least_delay == 0 || delay < self.least_delay {
            self.least_delay = delay;
        }
        if delay / 2 >= self.least_delay {
            let carried = mul_div(w.cwnd(), c.min_rtt.0, rtt.0) / 2;
            w.shrink(c, carried.max(least));
            self.least_delay = 0;
        }
    }

    fn forget(&mut self, p: &Params, c: &Conn) {
        self.round.begin(c);
        (self.rate, self.least_delay, self.course) = (0, 0, Course::Blind);
        self.alpha = p.initial_alpha.min(u64::from(u16::MAX)) as u16;
    }
}

impl CongestionAvoidance for WVegas {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "wvegas",
        name: "wVegas",
        origin: "Y. Cao, M. Xu, X. Fu, Delay-based Congestion Control for Multipath TCP, ICNP 2012; \
            draft-xu-mptcp-congestion-control-05",
        citation: "cao2012delay",
        description: "Weighted Vegas. Each path keeps alpha whole segments queued, measured by the \
            mean RTT of a round. The alphas of all paths share total_alpha in proportion to the \
            rates of the paths when their queues last had this length. When the queueing delay is \
            twice its minimum since the last time, the window is reduced to half of the data that \
            the empty path would carry, so that the base RTT becomes visible. Losses have Reno's \
            response, and the path starts again with initial_alpha. On one path it is Vegas with \
            both bounds at total_alpha. A path discloses this rate in bytes per second. \
            Deviations: growth is spread over the RTT. Slow start is Vegas's, as in the paper and \
            NS-2. Without a queue there is no draining, while the out-of-tree Linux code halves \
            the window.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { slow_start: Some("vegas"), ..Requirements::LOSS_BASED };

    fn init(p: &Params, c: &Conn) -> WVegas {
        let mut state = WVegas {
            round: Round::new(c),
            rate: 0,
            others: 0,
            least_delay: 0,
            alpha: 0,
            course: Course::Blind,
        };
        state.forget(p, c);
        state
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        let Some(round) = self.round.observe(c, a) else { return };
        if round.samples < MIN_SAMPLES || !round.mean.is_known() || !c.min_rtt.is_known() {
            self.course = Course::Blind;
            return;
        }
        if matches!(c.phase, Phase::Open | Phase::Loss) && !w.in_slow_start() {
            self.adjust(p, c, w, round.mean);
        }
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        self.course.follow(c, a, credit, w);
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }

    fn restart(&mut self, p: &Params, c: &Conn, _w: &mut Window) {
        self.forget(p, c);
    }

    fn on_group(&mut self, _p: &Params, _c: &Conn, g: &Group, _w: &mut Window) {
        let known = |path: &PathView| if path.srtt.is_known() { path.disclosed } else { 0 };
        let siblings = g.places().filter(|(place, _)| *place != g.place());
        self.others = siblings.fold(0, |sum, (_, path)| sum + known(path).min(MAX_RATE));
    }

    fn disclosed(&self) -> u64 {
        self.rate
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.rate, u64::from(self.alpha)], sink);
    }
}
