//! Vegas: keeps a few segments queued.

use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::round::{BaseRtt, Round, RoundRtt, backlog};
use crate::arithmetic::window::{Window, quotient};
use crate::congestion_avoidance::{
    CongestionAvoidance, CongestionEvent, additive, half_flight, kept_flight,
};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

crate::choice! {
    /// RTT that represents a round.
    pub enum Estimate {
        /// The mean of its samples: the paper, NS-2.
        Mean = "mean",
        /// The minimum of its samples, if there are at least three: Linux, ns-3.
        Least = "least",
    }
}

crate::choice! {
    /// Cut of the window at a loss that fast recovery repairs.
    pub enum Reduction {
        /// A quarter: NS-2, after the authors' own code.
        Quarter = "quarter",
        /// Half, as Reno: Linux, ns-3.
        Half = "half",
    }
}

crate::parameters! {
    /// Parameters of Vegas. The defaults are the paper's Vegas-1,3, as in NS-2. Linux and ns-3 have
    /// alpha 2, beta 4, estimate `least` and reduction `half`.
    pub struct Params {
        /// Number of queued segments below which the window grows.
        alpha: u64 = 1,
            ParamKind::Segments { min: 0, max: 10_000 },
            "Brakmo and Peterson 1995, congestion avoidance (Vegas-1,3); Linux, ns-3: 2";
        /// Number of queued segments above which the window shrinks.
        beta: u64 = 3,
            ParamKind::Segments { min: 0, max: 10_000 },
            "Brakmo and Peterson 1995, congestion avoidance (Vegas-1,3); Linux, ns-3: 4";
        /// RTT that judges a round: the mean of its samples, or the minimum of at least three
        /// samples.
        estimate: Estimate = Estimate::Mean,
            Estimate::KIND,
            "Brakmo and Peterson 1995, congestion avoidance; Linux tcp_vegas";
        /// Cut at a loss that fast recovery repairs.
        reduction: Reduction = Reduction::Quarter,
            Reduction::KIND,
            "NS-2 tcp-vegas; Linux tcp_vegas";
        /// Calculate in whole segments, and once per round. The backlog is relative to the base RTT
        /// and cut to whole segments. The window moves by one at the acknowledgement that ends a
        /// round. If the round has too few samples, it grows as Reno's for this acknowledgement
        /// only. The base RTT is forgotten when sending begins with nothing in flight. Linux does this.
        whole: bool = false,
            ParamKind::Flag,
            "Linux tcp_vegas_cong_avoid, tcp_vegas_cwnd_event (true)";
    }
}

/// Growth of the window until the round ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Course {
    /// One segment over the round.
    Open,
    /// None.
    Hold,
    /// As Reno, because the queue is unknown.
    Blind,
}

impl Course {
    /// Moves the window for one acknowledgement.
    pub(crate) fn follow(self, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        let cwnd = w.cwnd();
        match self {
            // Counted in bytes, so that the growth is one segment for any acknowledgement policy.
            Course::Open => w.add_q(quotient(u64::from(c.mss), a.acked.min(cwnd), cwnd)),
            Course::Hold => {}
            Course::Blind => w.add_q(additive(c, credit, cwnd)),
        }
    }
}

/// Reduces the window by a segment, to at least two, outside slow start and recovery.
pub(crate) fn retreat(c: &Conn, w: &mut Window) {
    let growing = matches!(c.phase, Phase::Open | Phase::Loss);
    if growing && !w.in_slow_start() {
        let mss = u64::from(c.mss);
        w.shrink(c, w.cwnd().saturating_sub(mss).max(2 * mss));
    }
}

/// Congestion avoidance of Vegas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Vegas {
    round: Round,
    /// Bytes queued according to the last round with an estimate.
    queued: u64,
    course: Course,
    /// Parameter `whole`: the base RTT.
    base: BaseRtt,
}

const TRACE: &[TraceField] = &[TraceField { name: "queued_B", unit: "B" }];

/// Minimum number of samples. The minimum of fewer samples may come from a delayed acknowledgement.
const MIN_SAMPLES: u32 = 3;

fn estimate(p: &Params, rtt: &RoundRtt) -> Span {
    match p.estimate {
        Estimate::Mean => rtt.mean,
        Estimate::Least if rtt.samples >= MIN_SAMPLES => rtt.min,
        Estimate::Least => Span::NONE,
    }
}

/// Growth of the window before the first round has ended.
fn first_course(p: &Params) -> Course {
    if p.whole { Course::Hold } else { Course::Blind }
}

impl Vegas {
    /// Decides at the end of a round the growth of the window in the next round.
    #[cold]
    #[inline(never)]
    fn judge(&mut self, p: &Params, c: &Conn, rtt: &RoundRtt, w: &mut Window) {
        if p.whole {
            self.judge_whole(p, c, rtt, w);
            return;
        }
        let rtt = estimate(p, rtt);
        if !rtt.is_known() || !c.min_rtt.is_known() {
            self.course = Course::Blind;
            return;
        }
        let mss = u64::from(c.mss);
        self.queued = backlog(w.cwnd(), c.min_rtt, rtt);
        if self.queued < mul(p.alpha, mss) {
            self.course = Course::Open;
            return;
        }
        self.course = Course::Hold;
        if self.queued > mul(p.beta, mss) {
            retreat(c, w);
        }
    }

    /// Parameter `whole`: the decision with Linux's arithmetic.
    fn judge_whole(&mut self, p: &Params, c: &Conn, rtt: &RoundRtt, w: &mut Window) {
        if w.in_slow_start() {
            return;
        }
        let (rtt, base) = (estimate(p, rtt), self.base.or_least(true, c));
        if !rtt.is_known() || !base.is_known() {
            self.course = Course::Blind;
            return;
        }
        self.course = Course::Hold;
        let surplus = rtt.0.saturating_sub(base.0);
        let cwnd = w.whole_segments(c);
        let queued = mul_div(cwnd, surplus, base.0.max(1));
        self.queued = mul(queued, c.mss.into());
        if queued > p.beta {
            // The count of segments towards the next growth is reset with the reduction.
            w.shrink(c, mul((cwnd - 1).max(2), c.mss.into()));
        } else if queued < p.alpha {
            w.add(c.mss.into());
        }
    }
}

impl CongestionAvoidance for Vegas {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "vegas",
        name: "Vegas",
        origin: "L. S. Brakmo and L. L. Peterson, TCP Vegas: End to end congestion avoidance on a \
            global Internet, IEEE JSAC 13(8), 1995",
        citation: "brakmo1995vegas",
        description: "In each RTT, Vegas compares the window with the data that the path would \
            carry at the minimum RTT. With fewer than alpha segments queued, the window grows by \
            one segment over the next RTT. With more than beta, it shrinks by one segment. Between \
            alpha and beta, it does not change. Deviations: the backlog is kept in bytes and not \
            rounded to segments. Linux divides by the base RTT instead of the current RTT, which \
            overstates the backlog. The paper's fine-grained check of the first duplicate \
            acknowledgements needs the sending time of each segment; the host's loss detection \
            does this. A timeout leaves one segment, while NS-2 leaves two. A mark cuts as a loss \
            does. The cut is relative to the flight.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { slow_start: Some("vegas"), ..Requirements::LOSS_BASED };
    const FLAVOURS: &'static [Departure] = &[
        Departure::linux("alpha", 2, "`alpha` in `tcp_vegas.c`"),
        Departure::linux("beta", 4, "`beta` in `tcp_vegas.c`"),
        Departure::linux(
            "estimate",
            Estimate::Least as u64,
            "`tcp_vegas_pkts_acked` keeps the minimum of a round's samples, and \
            `tcp_vegas_cong_avoid` needs three of them",
        ),
        Departure::linux("reduction", Reduction::Half as u64, "`tcp_reno_ssthresh`"),
        Departure::linux(
            "whole",
            1,
            "`tcp_vegas_cong_avoid` divides whole segments by `baseRTT`, and moves the window by \
            one at the end of a round. It calls `tcp_reno_cong_avoid` once if the round had at \
            most two samples",
        ),
        Departure::ns3("alpha", 2, "`TcpVegas`, attribute `Alpha`"),
        Departure::ns3("beta", 4, "`TcpVegas`, attribute `Beta`"),
        Departure::ns3(
            "estimate",
            Estimate::Least as u64,
            "`TcpVegas::PktsAcked` keeps the minimum of a round's samples",
        ),
        Departure::ns3("reduction", Reduction::Half as u64, "`TcpVegas` leaves the cut to NewReno"),
        Departure::ns3_per_ack(
            "`TcpVegas::IncreaseWindow` counts every acknowledgement as one segment",
        ),
    ];

    fn init(p: &Params, c: &Conn) -> Vegas {
        Vegas { round: Round::new(c), queued: 0, course: first_course(p), base: BaseRtt::NONE }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        self.round.sample(a);
        self.base.sample(a);
        // Linux checks for the end of a round only if new data is acknowledged and no data is missing.
        if p.whole && (a.acked == 0 || c.phase != Phase::Open) {
            return;
        }
        if let Some(rtt) = self.round.ended(c) {
            self.judge(p, c, &rtt, w);
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        if !p.whole {
            self.course.follow(c, a, credit, w);
        } else if self.course == Course::Blind || c.phase == Phase::Loss {
            self.course = Course::Hold;
            w.add_q(additive(c, credit, w.cwnd()));
        }
    }

    fn ssthresh(&mut self, p: &Params, c: &Conn, _w: &Window, why: CongestionEvent) -> u64 {
        match (p.reduction, why) {
            (Reduction::Quarter, CongestionEvent::Loss | CongestionEvent::Ecn) => {
                kept_flight(c, Ratio::of(3, 4))
            }
            _ => half_flight(c),
        }
    }

    fn restart(&mut self, p: &Params, c: &Conn, _w: &mut Window) {
        self.round.begin(c);
        self.course = first_course(p);
    }

    fn idle(&mut self, p: &Params, c: &Conn, _gap: Span) {
        if p.whole {
            self.round.begin(c);
            self.base = BaseRtt::NONE;
        }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        show(TRACE, &[self.queued], sink);
    }
}
