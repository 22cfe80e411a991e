//! HyStart++: an increase of the delay first makes slow start slower, and ends it only if the increase
//! persists.

use super::{Described, SlowStart, TICK, ticks};
use crate::arithmetic::math::mul;
use crate::arithmetic::window::{FRACTION_BITS, MAX_WINDOW, Window};
use crate::event::{Ack, Conn};
use crate::info::Info;
use crate::params::{ParamKind, Parameters};
use crate::time::Span;

/// Range of an RTT threshold.
const TIME: ParamKind = ParamKind::Time { min: Span::ZERO, max: Span::from_secs(10) };

crate::parameters! {
    /// Parameters of HyStart++.
    pub struct HyStartPlusPlusParams {
        /// Minimum increase of the RTT that counts.
        // RFC 9406-4.3-1
        min_rtt_thresh: Span = Span::from_millis(4), TIME, "RFC 9406 section 4.3, MIN_RTT_THRESH";
        /// Maximum of the required increase.
        max_rtt_thresh: Span = Span::from_millis(16), TIME, "RFC 9406 section 4.3, MAX_RTT_THRESH";
        /// Divisor of the last round's minimum RTT that gives the required increase.
        min_rtt_divisor: u64 = 8, ParamKind::Count { min: 1, max: 1_000 },
            "RFC 9406 section 4.3, MIN_RTT_DIVISOR";
        /// Round-trip samples of a round before it is judged.
        n_rtt_sample: u64 = 8, ParamKind::Count { min: 1, max: 255 },
            "RFC 9406 section 4.3, N_RTT_SAMPLE";
        /// Factor by which conservative slow start is slower.
        // RFC 9406-4.3-3
        css_growth_divisor: u64 = 4, ParamKind::Count { min: 2, max: 1_000 },
            "RFC 9406 section 4.3, CSS_GROWTH_DIVISOR";
        /// Rounds of conservative slow start before slow start ends.
        css_rounds: u64 = 5, ParamKind::Count { min: 1, max: 255 },
            "RFC 9406 section 4.3, CSS_ROUNDS";
        /// Maximum number of segments that one acknowledgement counts, instead of the stack's
        /// limit; a paced sender may have no limit.
        // RFC 9406-4.3-4
        limit: u64 = 8, ParamKind::Segments { min: 1, max: MAX_WINDOW },
            "RFC 9406 section 4.3, L";
    }
}

/// Unknown time, ticks.
const UNKNOWN: u32 = u32::MAX;

/// HyStart++. Times are in ticks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct HyStartPlusPlus {
    /// Stream offset; the round ends when all data below it is acknowledged. [`u64::MAX`] before the
    /// first round.
    window_end: u64,
    /// Initial threshold of the connection, bytes. With any other threshold it is not the initial slow
    /// start. [`u64::MAX`] before the first acknowledgement.
    initial_ssthresh: u64,
    /// Minimum RTT of the last round.
    last_min: u32,
    /// Minimum RTT of this round.
    current_min: u32,
    /// Minimum RTT at the start of conservative slow start; [`UNKNOWN`] outside it.
    baseline: u32,
    /// Samples of this round, counted up to 255.
    samples: u8,
    /// Completed rounds of conservative slow start.
    css_rounds: u8,
}

impl HyStartPlusPlus {
    fn is_initial(&self, w: &Window) -> bool {
        w.in_slow_start() && w.ssthresh() == self.initial_ssthresh
    }

    fn in_css(&self) -> bool {
        self.baseline != UNKNOWN
    }

    fn sample(&mut self, rtt: Span) {
        if rtt.is_known() {
            self.current_min = self.current_min.min(ticks(rtt));
            self.samples = self.samples.saturating_add(1);
        }
    }

    /// Tests the samples of the round so far.
    fn judge(&mut self, p: &HyStartPlusPlusParams) {
        // RFC 9406-4.3-2
        if u64::from(self.samples) < p.n_rtt_sample || self.current_min == UNKNOWN {
            return;
        }
        if self.in_css() {
            // RFC 9406-4.2-6
            if self.current_min < self.baseline {
                self.baseline = UNKNOWN; // the delay has decreased: it was jitter
            }
        } else if self.last_min != UNKNOWN {
            let last = mul(u64::from(self.last_min), TICK);
            let most = (last / p.min_rtt_divisor.max(1)).min(p.max_rtt_thresh.0);
            // RFC 9406-4.2-4
            let thresh = ticks(Span(most.max(p.min_rtt_thresh.0)));
            // RFC 9406-4.2-3
            if self.current_min >= self.last_min.saturating_add(thresh) {
                self.baseline = self.current_min;
                self.css_rounds = 0;
            }
        }
    }

    // RFC 9406-4.2-1
    fn begin_round(&mut self, c: &Conn) {
        self.window_end = c.next_id;
        self.last_min = self.current_min;
        self.current_min = UNKNOWN;
        self.samples = 0;
    }
}

impl Described for HyStartPlusPlus {
    const INFO: &'static Info = &Info {
        id: "hystart++",
        name: "HyStart++",
        origin: "RFC 9406, HyStart++: Modified Slow Start for TCP",
        citation: "rfc9406",
        description: "When the minimum RTT of a round exceeds the minimum of the last round by an \
            eighth (between 4 and 16 ms), conservative slow start begins, with a quarter of the \
            growth. It ends after five rounds, including the partial first round, with the window \
            as threshold. If the delay falls below the delay at its start, slow start resumes. \
            HyStart++ is used for the initial slow start only. Later slow starts are standard, \
            except for the limit per acknowledgement, which replaces the stack's limit. Times are \
            kept in units of 1.024 µs.",
        params: HyStartPlusPlusParams::TABLE,
        trace: &[],
    };
}

impl SlowStart for HyStartPlusPlus {
    type Params = HyStartPlusPlusParams;

    fn init(_p: &HyStartPlusPlusParams, _c: &Conn) -> HyStartPlusPlus {
        HyStartPlusPlus {
            window_end: u64::MAX,
            initial_ssthresh: u64::MAX,
            last_min: UNKNOWN,
            current_min: UNKNOWN,
            baseline: UNKNOWN,
            samples: 0,
            css_rounds: 0,
        }
    }

    fn observe(&mut self, p: &HyStartPlusPlusParams, c: &Conn, a: &Ack, w: &mut Window) {
        if self.initial_ssthresh == u64::MAX {
            self.initial_ssthresh = w.ssthresh();
        }
        if !self.is_initial(w) {
            return;
        }
        if self.window_end == u64::MAX {
            self.window_end = c.next_id; // the first round is the initial window
        }
        self.sample(a.rtt);
        self.judge(p);
        if c.una < self.window_end {
            return;
        }
        self.begin_round(c);
        if self.in_css() {
            self.css_rounds = self.css_rounds.saturating_add(1);
            if u64::from(self.css_rounds) >= p.css_rounds {
                self.baseline = UNKNOWN;
                // RFC 9406-4.2-7
                w.set_ssthresh(w.cwnd());
            }
        }
    }

    fn grow(&mut self, p: &HyStartPlusPlusParams, c: &Conn, a: &Ack, _: u64, w: &mut Window) {
        // RFC 9406-4.2-2
        let limit = mul(p.limit, u64::from(c.mss)).min(MAX_WINDOW);
        let divisor =
            if self.in_css() && self.is_initial(w) { p.css_growth_divisor.max(1) } else { 1 };
        // RFC 9406-4.2-5
        w.add_q((a.acked.min(limit) << FRACTION_BITS) / divisor);
    }

    fn restart(&mut self, p: &HyStartPlusPlusParams, c: &Conn) {
        // The threshold shows if it is still the initial slow start.
        let initial_ssthresh = self.initial_ssthresh;
        *self = HyStartPlusPlus { initial_ssthresh, ..HyStartPlusPlus::init(p, c) };
    }
}
