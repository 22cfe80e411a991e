//! TCP-Illinois: loss decides the direction of the window, and delay decides its speed.

use crate::arithmetic::math::{divisor, mul, mul_div};
use crate::arithmetic::round::{Round, RoundRtt};
use crate::arithmetic::window::{FRACTION_BITS, Window};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, Rounding, kept_flight};
use crate::event::{Ack, Conn, Phase};
use crate::flavour::Departure;
use crate::info::{Info, Requirements, TraceField};
use crate::params::{ParamKind, Parameters, Ratio};

crate::choice! {
    /// Implementation of TCP-Illinois.
    pub enum Variant {
        /// The paper.
        Paper = "paper",
        /// Linux. It differs in four points. An acknowledgement counts all segments that it covers,
        /// with or without SACK, so that the acknowledgement that ends recovery counts a whole window
        /// (`tcp_illinois_acked`). The window grows when the counted segments, times the present
        /// growth, make up a window; the remainder is dropped (`tcp_illinois_cong_avoid`). Growth and
        /// cut change only with an acknowledgement that may increase the window; until then growth is
        /// at its maximum. Rounds without a queue need not be consecutive (`alpha`).
        Linux = "linux",
    }
}

crate::parameters! {
    /// Parameters of TCP-Illinois.
    pub struct Params {
        /// Growth per RTT without a queue, segments.
        alpha_max: Ratio = Ratio(10 << 16),
            ParamKind::Ratio { min: Ratio::ONE, max: Ratio(1000 << 16) },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Growth per RTT at the longest queue, segments. The paper has 0.1.
        alpha_min: Ratio = Ratio::of(3, 10),
            ParamKind::Ratio { min: Ratio::of(1, 100), max: Ratio::ONE },
            "Linux tcp_illinois and ns-3 AlphaMin";
        /// Share of the window that a loss removes without a queue.
        beta_min: Ratio = Ratio::of(1, 8),
            ParamKind::Ratio { min: Ratio::of(1, 100), max: Ratio::of(1, 2) },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Share of the window that a loss removes at a long queue.
        beta_max: Ratio = Ratio::of(1, 2),
            ParamKind::Ratio { min: Ratio::of(1, 2), max: Ratio::of(9, 10) },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Window below which it is Reno. The paper has 10.
        window_threshold: u64 = 15,
            ParamKind::Segments { min: 0, max: 1_000_000 },
            "Linux tcp_illinois and ns-3 WinThresh";
        /// Consecutive round trips without a queue before growth returns to its maximum (theta).
        theta: u64 = 5,
            ParamKind::Count { min: 1, max: 200 },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Share of the longest delay up to which growth assumes an empty queue.
        eta1: Ratio = Ratio::of(1, 100),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1, 2) },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Share of the longest delay up to which the cut assumes an empty queue.
        eta2: Ratio = Ratio::of(1, 10),
            ParamKind::Ratio { min: Ratio(0), max: Ratio::of(1, 2) },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Share of the longest delay from which the cut assumes a long queue.
        eta3: Ratio = Ratio::of(8, 10),
            ParamKind::Ratio { min: Ratio::of(1, 2), max: Ratio::ONE },
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
        /// Implementation of two points in which paper and kernel differ: the segments that an
        /// acknowledgement counts, and the rounds that count.
        variant: Variant = Variant::Paper, Variant::KIND,
            "Liu, Basar, Srikant 2008; Linux tcp_illinois";
    }
}

const TRACE: &[TraceField; 3] = &[
    TraceField { name: "alpha_q16", unit: "segments/65536" },
    TraceField { name: "beta_q16", unit: "1/65536" },
    TraceField { name: "max_rtt_ns", unit: "ns" },
];

/// Reno's growth, 16 fractional bits.
const ALPHA_BASE: u32 = 1 << 16;
/// Reno's cut, 16 fractional bits.
const BETA_BASE: u32 = 1 << 15;

/// Congestion avoidance of TCP-Illinois.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Illinois {
    round: Round,
    /// Maximum RTT, nanoseconds.
    max_rtt: u64,
    /// Growth per RTT in segments, 16 fractional bits.
    alpha_q: u32,
    /// Share of the window that a loss removes, 16 fractional bits.
    beta_q: u32,
    /// Consecutive RTTs without a queue before growth returns to its maximum (theta).
    low: u8,
    /// True if there was a queue since growth was last at its maximum.
    above: bool,
    /// Variant linux: segments that the last acknowledgement covered; one after they are counted.
    covered: u16,
    /// Variant linux: segments counted since the window last grew.
    counted: u32,
}

impl Illinois {
    fn reset(&mut self) {
        self.alpha_q = ALPHA_BASE;
        self.beta_q = BETA_BASE;
    }

    /// Variant linux: counts the segments of the last acknowledgement, and increases the window by
    /// whole segments.
    fn count(&mut self, c: &Conn, w: &mut Window) {
        let covered = core::mem::replace(&mut self.covered, 1);
        self.counted = self.counted.saturating_add(u32::from(covered));
        let mss = u64::from(c.mss);
        // The count and the growth have at most 32 bits.
        let opened = (u64::from(self.counted) * u64::from(self.alpha_q)) >> FRACTION_BITS;
        let segments = opened / divisor(w.cwnd() / divisor(mss));
        if segments > 0 {
            w.add(mul(segments, mss));
            self.counted = 0;
        }
    }

    fn follow_round(&mut self, p: &Params, c: &Conn, w: &Window) {
        if let Some(ended) = self.round.ended(c) {
            self.adapt(p, c, w, &ended);
        }
    }

    /// Takes the mean delay of a round that has ended.
    fn adapt(&mut self, p: &Params, c: &Conn, w: &Window, ended: &RoundRtt) {
        if w.cwnd() < mul(p.window_threshold, u64::from(c.mss)) {
            self.reset();
        } else if ended.mean.is_known() && c.min_rtt.is_known() {
            let average = ended.mean.0.saturating_sub(c.min_rtt.0);
            let longest = self.max_rtt.saturating_sub(c.min_rtt.0);
            self.set_alpha(p, average, longest);
            self.beta_q = beta(p, average, longest);
        }
    }

    fn set_alpha(&mut self, p: &Params, average: u64, longest: u64) {
        let low = p.eta1.times(longest);
        if average > low {
            self.above = true;
            if p.variant == Variant::Paper {
                self.low = 0;
            }
            self.alpha_q = alpha(p, average - low, longest.saturating_sub(low));
            return;
        }
        self.low = self.low.saturating_add(1);
        if !self.above || u64::from(self.low) >= p.theta {
            self.above = false;
            self.low = 0;
            self.alpha_q = bits(p.alpha_max);
        }
    }
}

/// Bits of a parameter; its range keeps them below 2^32.
fn bits(r: Ratio) -> u32 {
    r.0.min(u64::from(u32::MAX)) as u32
}

/// Growth for an average delay. Both delays are counted from the low threshold. Growth is alpha_max
/// without delay and alpha_min at the longest delay, with a hyperbola between them (kappa1/(kappa2 +
/// d_a)).
fn alpha(p: &Params, average: u64, longest: u64) -> u32 {
    let span = p.alpha_max.0.saturating_sub(p.alpha_min.0);
    let drag = mul_div(average, span, p.alpha_min.0);
    bits(Ratio(mul_div(longest, p.alpha_max.0, longest.saturating_add(drag)).min(p.alpha_max.0)))
}

/// The cut for an average delay: beta_min up to eta2 of the longest delay, beta_max from eta3, and a
/// line between them.
fn beta(p: &Params, average: u64, longest: u64) -> u32 {
    let (short, long) = (p.eta2.times(longest), p.eta3.times(longest));
    if average <= short {
        return bits(p.beta_min);
    }
    if average >= long {
        return bits(p.beta_max);
    }
    let rise = p.beta_max.0.saturating_sub(p.beta_min.0);
    bits(Ratio(p.beta_min.0 + mul_div(rise, average - short, long.saturating_sub(short))))
}

impl CongestionAvoidance for Illinois {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "illinois",
        name: "TCP-Illinois",
        origin: "S. Liu, T. Basar, R. Srikant, TCP-Illinois: A Loss- and Delay-Based Congestion \
            Control Algorithm for High-Speed Networks, Performance Evaluation 65, 2008",
        citation: "liu2008illinois",
        description: "In each RTT, the mean queueing delay relative to the longest observed delay \
            sets growth and the cut of a loss. Growth is 10 segments without a queue, and falls \
            along a hyperbola to 0.3 at the longest delay. A loss removes an eighth to a half of \
            the window. Below 15 segments and after a timeout it is Reno. After a queue, growth \
            returns to its maximum only after five consecutive round trips without a queue; Linux \
            also counts round trips that are not consecutive. The constants are from Linux and \
            ns-3, while the paper has 0.1 and 10 segments. Times are in nanoseconds, not in \
            milliseconds as in ns-3. The threshold is computed from FlightSize (RFC 5681). The \
            longest delay never ages, so that one spike desensitises the flow.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;
    const FLAVOURS: &'static [Departure] = &[Departure::linux(
        "variant",
        Variant::Linux as u64,
        "`tcp_illinois_acked` counts all segments of an acknowledgement, `tcp_illinois_cong_avoid` \
        discards the excess over a window, and `alpha` counts rounds without a queue that are not \
        consecutive",
    )];

    fn rounding(_why: CongestionEvent) -> Rounding {
        Rounding::Up
    }

    fn init(p: &Params, c: &Conn) -> Illinois {
        Illinois {
            round: Round::new(c),
            max_rtt: 0,
            alpha_q: if p.variant == Variant::Linux { bits(p.alpha_max) } else { ALPHA_BASE },
            beta_q: BETA_BASE,
            low: 0,
            above: false,
            covered: 1,
            counted: 0,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        if a.rtt.is_known() {
            self.max_rtt = self.max_rtt.max(a.rtt.0);
        }
        if p.variant == Variant::Linux {
            let segments = a.acked / divisor(c.mss.into());
            self.covered = segments.min(u64::from(u16::MAX)) as u16;
            // During the repair of losses, samples are collected but no round ends.
            let growing = matches!(c.phase, Phase::Open | Phase::Loss) && a.acked > 0;
            self.round.sample(a);
            if !growing {
                return;
            }
        } else {
            self.round.sample(a);
        }
        self.follow_round(p, c, w);
    }

    fn avoid(&mut self, p: &Params, c: &Conn, _a: &Ack, credit: u64, w: &mut Window) {
        if p.variant == Variant::Linux {
            // The first round after a recovery ends here.
            self.follow_round(p, c, w);
            self.count(c, w);
            return;
        }
        // At most the growth of slow start.
        let increase = u64::from(self.alpha_q).min(w.segments_q(c));
        w.add_per_window(c, credit, increase);
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, why: CongestionEvent) -> u64 {
        let keep = Ratio(Ratio::ONE.0.saturating_sub(u64::from(self.beta_q)));
        if why == CongestionEvent::Timeout {
            self.reset();
            (self.low, self.above) = (0, false);
            self.round.begin(c);
        }
        self.counted = 0;
        kept_flight(c, keep)
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let [alpha, beta, max_rtt] = TRACE;
        sink(alpha, u64::from(self.alpha_q));
        sink(beta, u64::from(self.beta_q));
        sink(max_rtt, self.max_rtt);
    }
}
