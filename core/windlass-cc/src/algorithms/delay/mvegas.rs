//! MVegas: Vegas with thresholds that move with the change of its backlog.

use crate::algorithms::delay::vegas::{Course, retreat};
use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::round::{Round, backlog};
use crate::arithmetic::window::Window;
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight, kept_flight};
use crate::event::{Ack, Conn, Phase};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, RATIO_BITS, Ratio};

crate::choice! {
    /// Condition for moving the thresholds by phi (MF-4).
    pub enum Offsets {
        /// In every round beyond a threshold: equations 5 to 11 as printed.
        Literal = "literal",
        /// Up only after a decrease of the backlog (phi above 1), down only after an increase (phi
        /// below 1), as in the text around the equations.
        Repaired = "repaired",
    }
}

crate::choice! {
    /// Decrement of the upper threshold (MF-6).
    pub enum Decrement {
        /// Phi, as printed: a faster growth of the backlog gives a smaller decrement.
        Literal = "literal",
        /// 1/phi: a faster growth of the backlog gives a larger decrement.
        Inverse = "inverse",
    }
}

crate::parameters! {
    /// Parameters of MVegas. The defaults are the equations as printed.
    pub struct Params {
        /// Number of queued segments below which the window grows, without the offset.
        alpha: u64 = 1,
            ParamKind::Segments { min: 0, max: 10_000 },
            "Mudassir and Baig 2021, Table 5";
        /// Number of queued segments above which the window shrinks, without the offset.
        beta: u64 = 3,
            ParamKind::Segments { min: 0, max: 10_000 },
            "Mudassir and Baig 2021, Table 5";
        /// Maximum offset on alpha, in alphas (k).
        k: Ratio = Ratio::of(2, 1),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10, 1) },
            "Mudassir and Baig 2021, section 3.1.2 (between 1 and 2, tried beyond; MF-5)";
        /// Offset on alpha of a new connection, segments.
        alpha_offset: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10_000, 1) },
            "Mudassir and Baig 2021, Table 5";
        /// Offset on beta of a new connection, segments.
        beta_offset: Ratio = Ratio::of(2, 1),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(10_000, 1) },
            "Mudassir and Baig 2021, Table 5";
        /// Rule that moves the offsets: in every round beyond a threshold, or only with a
        /// corresponding change of the backlog (MF-4).
        offsets: Offsets = Offsets::Literal,
            Offsets::KIND,
            "Mudassir and Baig 2021, equations 5 to 11";
        /// Decrement of the offset on beta: phi or 1/phi (MF-6).
        decrement: Decrement = Decrement::Literal,
            Decrement::KIND,
            "Mudassir and Baig 2021, equation 11";
    }
}

/// No round has measured the backlog yet.
const UNKNOWN: u64 = u64::MAX;

/// Result of a division by an empty queue: larger than any bound of an offset.
const ENDLESS: Ratio = Ratio(1 << 32);

/// Congestion avoidance of MVegas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct MVegas {
    round: Round,
    /// Bytes queued according to the last round with an estimate; [`UNKNOWN`] before.
    queued: u64,
    /// Offset on alpha (alpha_t), segments in units of 1/65536.
    alpha_offset: u32,
    /// Offset on beta (beta_t), in the same unit.
    beta_offset: u32,
    course: Course,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "queued_B", unit: "B" },
    TraceField { name: "alpha_t_q16", unit: "segments/65536" },
    TraceField { name: "beta_t_q16", unit: "segments/65536" },
];

/// `a / b` for backlogs in bytes. A backlog below a hundredth of a segment counts as zero. Zero over
/// zero is 1, and anything else over zero exceeds all bounds (MF-3).
fn ratio(c: &Conn, a: u64, b: u64) -> Ratio {
    let nothing = u64::from(c.mss).div_ceil(100);
    match (a < nothing, b < nothing) {
        (true, true) => Ratio::ONE,
        (false, true) => ENDLESS,
        _ => Ratio(mul_div(a, 1 << RATIO_BITS, b).min(ENDLESS.0)),
    }
}

/// Bytes of `segments` plus an offset in units of 1/65536 segment, cut to a whole number.
fn threshold(c: &Conn, segments: u64, offset: u32) -> u64 {
    let mss = u64::from(c.mss);
    mul(segments, mss).saturating_add(Ratio(u64::from(offset)).times(mss))
}

fn narrow(offset: u64) -> u32 {
    offset.min(u64::from(u32::MAX)) as u32
}

impl MVegas {
    /// Moves the thresholds up for a backlog below the lower threshold: equations 5 to 8.
    fn raise(&mut self, p: &Params, phi: Ratio) {
        if p.offsets == Offsets::Repaired && phi <= Ratio::ONE {
            return;
        }
        let sum = |offset: u32, most: u64| narrow((u64::from(offset) + phi.0).min(most));
        self.alpha_offset = sum(self.alpha_offset, p.k.times(p.alpha << RATIO_BITS));
        self.beta_offset = sum(self.beta_offset, p.beta << RATIO_BITS);
    }

    /// Moves the upper threshold down for a backlog above it: equations 10 and 11.
    fn lower(&mut self, p: &Params, phi: Ratio, inverse: Ratio) {
        if p.offsets == Offsets::Repaired && phi >= Ratio::ONE {
            return;
        }
        let step = match p.decrement {
            Decrement::Literal => phi,
            Decrement::Inverse => inverse,
        };
        let left = u64::from(self.beta_offset).saturating_sub(step.0);
        self.beta_offset = narrow(left.max((p.alpha + 1) << RATIO_BITS));
    }

    /// Adapts the thresholds and the window at the end of a round with `queued` bytes queued.
    fn judge(&mut self, p: &Params, c: &Conn, queued: u64, w: &mut Window) {
        let before = match core::mem::replace(&mut self.queued, queued) {
            UNKNOWN => queued,
            before => before,
        };
        let low = queued < threshold(c, p.alpha, self.alpha_offset);
        self.course = if low { Course::Open } else { Course::Hold };
        if w.in_slow_start() {
            return; // only congestion avoidance differs
        }
        if low {
            self.raise(p, ratio(c, before, queued));
        } else if queued > threshold(c, p.beta, self.beta_offset) {
            self.lower(p, ratio(c, before, queued), ratio(c, queued, before));
            retreat(c, w);
        }
    }
}

impl CongestionAvoidance for MVegas {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "mvegas",
        name: "MVegas",
        origin: "M. U. Mudassir and M. I. Baig, MFVL HCCA: a modified Fast-Vegas-LIA hybrid \
            congestion control algorithm for MPTCP traffic flows in multihomed smart gas IoT \
            networks, Electronics 10(6):711, 2021, section 3.1",
        citation: "mudassir2021mfvl",
        description: "Vegas with moving thresholds. In each RTT, diff is the backlog of the \
            window, and phi is the last diff divided by the present diff. Below alpha + alpha_t \
            segments, the window grows by one segment over the next RTT. Phi is then added to \
            alpha_t (at most k·alpha) and to beta_t (at most beta). Above beta + beta_t, the \
            window shrinks by one segment, and phi is subtracted from beta_t (at least alpha + 1). \
            The queue therefore has at least 2 to 3 segments and at most 5 to 6 segments. Nothing \
            reduces alpha_t. With the defaults, a phi of 1 moves it from its minimum to its \
            maximum, so that it is soon permanently k·alpha. Slow start is Vegas's. A timeout \
            leaves two segments, and a loss or a mark leaves three quarters. The paper does not \
            define the following points. Diff is in segments (MF-2), kept in bytes and not \
            rounded. Below a hundredth of a segment it counts as zero (MF-3). Phi is 1 in the \
            first round. Offsets do not change in slow start and after losses. The RTT is the mean \
            of a round, as in NS-2. Cuts are relative to the flight.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements =
        Requirements { slow_start: Some("vegas"), ..Requirements::LOSS_BASED };

    fn init(p: &Params, c: &Conn) -> MVegas {
        MVegas {
            round: Round::new(c),
            queued: UNKNOWN,
            alpha_offset: narrow(p.alpha_offset.0),
            beta_offset: narrow(p.beta_offset.0),
            course: Course::Blind,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        let Some(rtt) = self.round.observe(c, a) else { return };
        if !rtt.mean.is_known() || !c.min_rtt.is_known() {
            self.course = Course::Blind;
        } else if matches!(c.phase, Phase::Open | Phase::Loss) {
            self.judge(p, c, backlog(w.cwnd(), c.min_rtt, rtt.mean), w);
        }
    }

    fn avoid(&mut self, _p: &Params, c: &Conn, a: &Ack, credit: u64, w: &mut Window) {
        self.course.follow(c, a, credit, w);
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, why: CongestionEvent) -> u64 {
        match why {
            CongestionEvent::Timeout => half_flight(c),
            CongestionEvent::Loss | CongestionEvent::Ecn => kept_flight(c, Ratio::of(3, 4)),
        }
    }

    fn restart(&mut self, _p: &Params, c: &Conn, w: &mut Window) {
        self.round.begin(c);
        self.course = Course::Blind;
        if c.phase == Phase::Loss {
            w.set(c, w.cwnd().max(2 * u64::from(c.mss))); // section 3.1.3: cwnd is reset to 2
        }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let queued = if self.queued == UNKNOWN { 0 } else { self.queued };
        show(TRACE, &[queued, self.alpha_offset.into(), self.beta_offset.into()], sink);
    }
}
