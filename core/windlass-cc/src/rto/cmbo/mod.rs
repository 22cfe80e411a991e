//! The timer of CoCoA3+: the Cat and Mouse Based Optimizer chooses the timeout (Parween and Hussain,
//! equations 10 to 17).

mod objective;
mod optimizer;

pub use objective::{Objective, TICK_BITS};
pub use optimizer::{Agent, Draws, Found, LIMIT, MAX_AGENTS, Order, Search, minimise};

use super::smoothed::Smoothed;
use super::{AFTER_LOST_SYN, FACTOR, GAIN, POSITIVE_TIME, RtoEstimator, RttSample, TIME};
use crate::arithmetic::math::{mul, mul_div};
use crate::info::Info;
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::Span;

/// Maximum number of stored RTT samples.
pub const MAX_SAMPLES: usize = 64;

crate::choice! {
    /// Interpretation of equation 17, `RTO = Mi(R) - rt(R)` (C3-15). `m` is the best mouse and `c` the
    /// best cat, both after the last iteration.
    pub enum Reading {
        /// `srtt + |m - c|`: the difference is a margin above the average.
        Margin = "margin",
        /// The better of both: the timeout with the minimum cost.
        Best = "best",
        /// `m - c` literally, at least the clock's granularity.
        Literal = "literal",
    }
}

crate::choice! {
    /// Solver for the cheapest timeout: the Cat and Mouse Based Optimizer, or an exact minimiser of
    /// the same objective, for which m = c.
    pub enum Solver {
        /// The Cat and Mouse Based Optimizer.
        Cmbo = "cmbo",
        /// Sorted samples and one pass over them. The result is as if the whole population had reached
        /// the optimum: the best mouse and the best cat are equal.
        Exact = "exact",
    }
}

crate::choice! {
    /// Range of the optimizer's search: from the minimum sample to the maximum, or from `min` to
    /// `max`.
    pub enum Bounds {
        /// From the minimum sample to the maximum; the optimum is always in this range.
        Samples = "samples",
        /// From `min` to `max`.
        Timer = "timer",
    }
}

crate::parameters! {
    /// Parameters of CoCoA3+'s timer.
    pub struct CmboParams {
        /// Timeout before the first sample.
        initial: Span = Span::from_secs(1), POSITIVE_TIME, "RFC 6298 section 2.1";
        /// Minimum timeout.
        min: Span = Span::from_secs(1), TIME, "RFC 6298 rule 2.4 and NS-3 (C3-15: the paper has no minimum)";
        /// Maximum timeout, including back-off.
        max: Span = Span::from_secs(60), POSITIVE_TIME, "RFC 6298 section 2.5 (at least 60 s)";
        /// Clock granularity. It is the minimum variance term before enough samples, and the
        /// minimum difference of the literal interpretation.
        granularity: Span = Span::from_millis(1), TIME, "RFC 6298 section 2.3, G";
        /// Factor by which each expiry multiplies the timeout; 1 turns back-off off.
        backoff: u64 = 2, FACTOR, "RFC 6298 rule 5.5";
        /// Number of RTTs in the distribution.
        samples: u64 = 64, ParamKind::Count { min: 1, max: MAX_SAMPLES as u64 }, "C3-14, N";
        /// Samples before the first search; RFC 6298's rule gives the timeout until then.
        warm_up: u64 = 8, ParamKind::Count { min: 1, max: MAX_SAMPLES as u64 },
            "C3-14 (a distribution needs samples)";
        /// Cost of a spurious timeout, in smoothed RTTs.
        spurious: Ratio = Ratio::ONE, ParamKind::Ratio { min: Ratio(0), max: Ratio(1000 << 16) },
            "C3-14, c_spurious";
        /// Definition of the timeout, where m is the best mouse and c the best cat. It is the
        /// better of m and c, as in the paper's text, or equation 17, m - c, as a distance on top
        /// of the smoothed RTT or literally.
        reading: Reading = Reading::Best, Reading::KIND, "Parween and Hussain, section IV.B (C3-15)";
        /// Solver for the cheapest timeout: the Cat and Mouse Based Optimizer, or an exact
        /// minimiser of the same objective, for which m = c.
        solver: Solver = Solver::Cmbo, Solver::KIND, "Parween and Hussain, section IV.B";
        /// Group that moves first in an iteration: the cats, as in the published optimizer, or the
        /// mice, as in the paper's list of stages.
        order: Order = Order::Cmbo, Order::KIND, "Dehghani et al. 2021; equations 15 and 16 (C3-13)";
        /// Range of the optimizer's search: from the minimum sample to the maximum, or from `min`
        /// to `max`.
        bounds: Bounds = Bounds::Samples, Bounds::KIND, "C3-14 (the paper has no bounds)";
        /// Members of the population.
        agents: u64 = 20, ParamKind::Count { min: 2, max: MAX_AGENTS as u64 }, "C3-16, n";
        /// Iterations of a search.
        iterations: u64 = 20, ParamKind::Count { min: 0, max: 1000 }, "C3-16, T";
        /// Change of the smoothed RTT since the last search that starts a search before the end of
        /// the RTT.
        moved: Ratio = Ratio::of(1, 10), GAIN, "C3-16";
    }
}

/// Numbers of sent and of retransmitted segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
struct Sent {
    all: u64,
    again: u64,
}

/// CoCoA3+'s timer. Times are in nanoseconds unless stated otherwise.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Cmbo {
    smoothed: Smoothed,
    /// Timeout without back-off.
    estimate: u64,
    /// Timeout with back-off.
    rto: u64,
    /// Stream offset; the round ends when data beyond it is acknowledged.
    round_end: u64,
    /// The smoothed RTT at the last search, [`u64::MAX`] before the first.
    searched: u64,
    /// Two earlier counts: the loss rate is computed since the older count.
    marks: [Sent; 2],
    /// Seed of the searches.
    seed: u32,
    /// Samples taken, up to [`MAX_SAMPLES`].
    taken: u16,
    /// Index of the next sample.
    next: u16,
    /// RTT samples in ticks; the latest replaces the oldest.
    samples: [u32; MAX_SAMPLES],
}

impl Cmbo {
    /// Stores a sample and the present count of sent segments.
    fn remember(&mut self, p: &CmboParams, s: &RttSample) {
        let most = p.samples.min(MAX_SAMPLES as u64) as u16;
        let ticks = (s.rtt.0 >> TICK_BITS).min(u64::from(u32::MAX)) as u32;
        if let Some(place) = self.samples.get_mut(usize::from(self.next)) {
            *place = ticks;
        }
        self.next = if self.next + 1 < most { self.next + 1 } else { 0 };
        self.taken = (self.taken + 1).min(most);
        let now = Sent { all: s.sent, again: s.resent };
        let [before, once] = self.marks;
        if now.all.saturating_sub(once.all) >= u64::from(most) {
            self.marks = [once, now];
        } else if now.all < before.all {
            self.marks = [now, now]; // the host has reset its counts
        }
        self.smoothed.update(s.rtt, Ratio::of(1, 8), Ratio::of(1, 4));
    }

    /// Share of retransmitted segments in 65536ths, over the last N to 2·N segments, where N is
    /// `samples`. It uses the rule of succession, `(again + 1) / (all + 2)`, so that waiting has a cost
    /// even without a recent loss.
    fn loss(&self, s: &RttSample) -> u64 {
        let [since, _] = self.marks;
        let again = s.resent.saturating_sub(since.again).saturating_add(1);
        let all = s.sent.saturating_sub(since.all).saturating_add(2);
        mul_div(again, Ratio::ONE.0, all).min(Ratio::ONE.0)
    }

    /// True if a search is due: the round has ended, or the RTT has changed.
    fn is_due(&self, p: &CmboParams, s: &RttSample) -> bool {
        let moved = self.smoothed.srtt.abs_diff(self.searched);
        let first = self.searched == u64::MAX;
        first || s.una > self.round_end || moved > p.moved.times(self.searched)
    }

    /// Best mouse, best cat and the better of them, nanoseconds.
    fn solve(&self, p: &CmboParams, o: &Objective, seed: u32) -> [u64; 3] {
        let ns = |ticks: i64| (ticks as u64) << TICK_BITS;
        let (least, most) = o.range();
        if p.solver == Solver::Exact {
            return [ns(i64::from(o.cheapest(least))); 3];
        }
        let (lower, upper) = match p.bounds {
            Bounds::Samples => (u64::from(least), u64::from(most)),
            Bounds::Timer => (p.min.0 >> TICK_BITS, p.max.0 >> TICK_BITS),
        };
        let bound = |ticks: u64| [ticks.min(u64::from(u32::MAX)) as i64];
        let search = Search {
            agents: p.agents.min(MAX_AGENTS as u64) as usize,
            iterations: p.iterations.min(u64::from(u32::MAX)) as u32,
            order: p.order,
            lower: bound(lower),
            upper: bound(upper),
        };
        let found = minimise(&search, seed, |[x]| o.at(*x as u32));
        let [[mouse], [cat], [best]] = [found.mouse.place, found.cat.place, found.best().place];
        [ns(mouse), ns(cat), ns(best)]
    }

    fn search(&mut self, p: &CmboParams, s: &RttSample) {
        let srtt = self.smoothed.srtt;
        let samples = self.samples.get(..usize::from(self.taken)).unwrap_or(&[]);
        let spurious = p.spurious.times(srtt) >> TICK_BITS;
        let objective = Objective::new(samples, spurious, self.loss(s));
        let [mouse, cat, best] = self.solve(p, &objective, self.seed);
        self.estimate = match p.reading {
            Reading::Margin => srtt.saturating_add(mouse.abs_diff(cat)),
            Reading::Best => best,
            Reading::Literal => mouse.saturating_sub(cat).max(p.granularity.0),
        };
        self.seed = Draws::new(self.seed).next();
        self.searched = srtt;
        self.round_end = s.next_id;
    }

    /// RFC 6298's rule.
    fn closed_form(&self, p: &CmboParams) -> u64 {
        let margin = mul(self.smoothed.rttvar, 4).max(p.granularity.0);
        self.smoothed.srtt.saturating_add(margin)
    }
}

impl RtoEstimator for Cmbo {
    type Params = CmboParams;

    const INFO: &'static Info = &Info {
        id: "cmbo",
        name: "CoCoA3+ (CMBO)",
        origin: "S. Parween and S. Z. Hussain, Cross-Layer based TCP Performance Enhancement in IoT \
            Networks, equations 10 to 17; M. Dehghani, S. Hub\u{e1}lovsk\u{fd}, P. Trojovsk\u{fd}, \
            Cat and Mouse Based Optimizer, Sensors 21:5214, 2021",
        citation: "dehghani2021cat",
        description: "Once per RTT, and when the RTT has changed by a tenth, the Cat and Mouse \
            Based Optimizer moves a population of candidate timeouts for some iterations. The \
            paper does not define the objective, the moves, or the meaning of its equation 17, a \
            difference of two candidates, as a time. Here a timeout x costs P(RTT > x) · spurious \
            + loss · E[(x - RTT)+] over the last samples (C3-14). The moves are the published \
            moves of the optimizer (C3-12). The timeout is the best candidate, as in the paper's \
            text, or equation 17 as a margin on top of the smoothed RTT, or equation 17 literally \
            (C3-15). The share of losses is the share of retransmitted segments. With n agents, T \
            iterations and N samples, a search takes n·(T + 1) evaluations of N steps; solver = \
            \"exact\" finds the optimum in one sort. Expiries double the timeout until the next \
            sample.",
        params: CmboParams::TABLE,
        trace: &[],
    };

    fn init(p: &CmboParams) -> Cmbo {
        let initial = p.initial.0.min(p.max.0);
        Cmbo {
            smoothed: Smoothed::NONE,
            estimate: initial,
            rto: initial,
            round_end: 0,
            searched: u64::MAX,
            marks: [Sent { all: 0, again: 0 }; 2],
            seed: 0,
            taken: 0,
            next: 0,
            samples: [0; MAX_SAMPLES],
        }
    }

    fn on_sample(&mut self, p: &CmboParams, s: &RttSample) {
        if !s.rtt.is_known() {
            return;
        }
        self.remember(p, s);
        if u64::from(self.taken) < p.warm_up.min(p.samples) {
            self.estimate = self.closed_form(p);
        } else if self.is_due(p, s) {
            self.search(p, s);
        }
        self.rto = self.estimate.max(p.min.0).min(p.max.0);
    }

    fn on_timeout(&mut self, p: &CmboParams) {
        self.rto = mul(self.rto.max(1), p.backoff.max(1)).min(p.max.0);
    }

    fn after_lost_syn(&mut self, p: &CmboParams) {
        if p.initial < AFTER_LOST_SYN && !self.smoothed.is_known() {
            self.rto = AFTER_LOST_SYN.0.min(p.max.0);
        }
    }

    /// Returns the timeout without a spread; the random number changes the seed of the next search.
    fn arm(&mut self, p: &CmboParams, _now: crate::time::Time, entropy: u32) -> Span {
        self.seed ^= entropy;
        self.rto(p)
    }

    fn rto(&self, _p: &CmboParams) -> Span {
        Span(self.rto)
    }

    fn srtt(&self) -> Span {
        Span(self.smoothed.srtt)
    }

    fn rttvar(&self) -> Span {
        Span(self.smoothed.rttvar)
    }

    fn max(p: &CmboParams) -> Span {
        p.max
    }
}
