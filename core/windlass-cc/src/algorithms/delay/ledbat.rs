//! LEDBAT: uses spare capacity only, by holding the queueing delay at a target.

use crate::arithmetic::math::{mul, mul_div};
use crate::arithmetic::window::{FRACTION_BITS, Window, quotient};
use crate::congestion_avoidance::{CongestionAvoidance, CongestionEvent, half_flight};
use crate::event::{Ack, Conn, Phase};
use crate::info::{Info, Requirements, TraceField, show};
use crate::params::{ParamKind, Parameters, Ratio};
use crate::time::{Span, Time};

crate::choice! {
    /// Variant of LEDBAT.
    pub enum Variant {
        /// RFC 6817.
        Rfc6817 = "rfc6817",
        /// draft-irtf-iccrg-ledbat-plus-plus.
        PlusPlus = "ledbat++",
    }
}

crate::parameters! {
    /// Parameters of LEDBAT.
    pub struct Params {
        /// LEDBAT, or LEDBAT++ with its gain, its decrease by a part of the window and its periodic
        /// slowdowns.
        variant: Variant = Variant::Rfc6817,
            Variant::KIND,
            "RFC 6817; draft-irtf-iccrg-ledbat-plus-plus";
        /// Target queueing delay, TARGET; LEDBAT++ uses at most 60 ms.
        target: Span = Span::from_millis(100),
            ParamKind::Time { min: Span::from_micros(1), max: Span::from_millis(100) },
            "RFC 6817 section 2.5 (at most 100 ms); LEDBAT++: 60 ms";
        /// Growth on an empty queue, segments per RTT, GAIN; LEDBAT++ computes its own gain.
        gain: Ratio = Ratio::ONE,
            ParamKind::Ratio { min: Ratio(1), max: Ratio::ONE },
            "RFC 6817 section 2.5 (at most 1)";
        /// Minutes for which the minimum delay is remembered, BASE_HISTORY.
        base_history: u64 = 10,
            ParamKind::Count { min: 1, max: 10 },
            "RFC 6817 section 2.5 (10)";
        /// Number of samples for the current delay, which is their minimum, CURRENT_FILTER.
        current_filter: u64 = 4,
            ParamKind::Count { min: 1, max: 4 },
            "RFC 6817 section 2.5 (4)";
        /// Segments by which the window may exceed the flight, ALLOWED_INCREASE.
        allowed_increase: u64 = 1,
            ParamKind::Segments { min: 1, max: 1000 },
            "RFC 6817 section 2.5 (1)";
        /// Window below which delay does not shrink it, segments, MIN_CWND.
        min_cwnd: u64 = 2,
            ParamKind::Segments { min: 1, max: 1000 },
            "RFC 6817 section 2.5 (2)";
    }
}

/// Target of LEDBAT++ (section 4.5).
const TARGET_PLUS_PLUS: Span = Span::from_millis(60);

/// Maximum divisor of the gain of LEDBAT++ (section 4.2).
const MAX_DIVISOR: u64 = 16;

/// Window of LEDBAT++ during a slowdown, segments (section 4.4).
const SLOWDOWN_WINDOW: u64 = 2;

/// Duration of a slowdown, and of the wait before the first slowdown, in RTTs (section 4.4).
const SLOWDOWN_ROUNDS: u64 = 2;

/// Wait before the next slowdown, as a multiple of the duration of the last slowdown (section 4.4).
const SLOWDOWN_SPACING: u64 = 9;

/// Time that one entry of the history of base delays covers.
const MINUTE: Span = Span::from_secs(60);

/// Unknown delay, microseconds.
const UNKNOWN: u32 = u32::MAX;

/// Stage of the periodic slowdown of LEDBAT++.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Stage {
    /// The first slow start.
    Start,
    /// Between slowdowns.
    Steady,
    /// The window is small, so that the queue drains.
    Frozen,
    /// Slow start back to the window before the slowdown.
    Ramp,
}

/// Congestion avoidance of LEDBAT. Delays are kept in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C)]
pub struct Ledbat {
    /// Start of the minute of the first entry of `base`.
    minute: Time,
    /// End of the stage: the next slowdown begins, or the window may grow again.
    until: Time,
    /// Start of the last slowdown.
    slowed: Time,
    /// Minimum delay of each minute, beginning with the present minute.
    base: [u32; 10],
    /// The last samples, newest first.
    current: [u32; 4],
    stage: Stage,
}

const TRACE: &[TraceField] = &[
    TraceField { name: "queueing_delay_us", unit: "us" },
    TraceField { name: "base_delay_us", unit: "us" },
];

/// Returns the minimum of the first `n` delays. The loop reads all entries, so that a verifier has one
/// path to check instead of one per `n`.
fn least(delays: &[u32], n: u64) -> u32 {
    let n = u32::try_from(n).unwrap_or(u32::MAX);
    let counted = |(place, delay): (u32, &u32)| if place < n { *delay } else { UNKNOWN };
    (0..).zip(delays).map(counted).fold(UNKNOWN, u32::min)
}

impl Ledbat {
    fn base_delay(&self, p: &Params) -> u32 {
        least(&self.base, p.base_history)
    }

    /// Queueing delay, nanoseconds; zero before the first sample.
    fn queueing_delay(&self, p: &Params) -> u64 {
        match least(&self.current, p.current_filter) {
            UNKNOWN => 0,
            delay => u64::from(delay.saturating_sub(self.base_delay(p))) * 1000,
        }
    }

    fn measure(&mut self, c: &Conn, rtt: Span) {
        let delay = u32::try_from(rtt.0 / 1000).unwrap_or(UNKNOWN).min(UNKNOWN - 1);
        if c.now.since(self.minute) >= MINUTE {
            self.minute = c.now;
            let [a, b, d, e, f, g, h, i, j, _] = self.base;
            self.base = [delay, a, b, d, e, f, g, h, i, j];
        } else {
            let [first, ..] = &mut self.base;
            *first = delay.min(*first);
        }
        let [a, b, d, _] = self.current;
        self.current = [delay, a, b, d];
    }

    /// LEDBAT++ section 4.2: `1/GAIN = min(16, ceil(2·TARGET/base))`.
    fn divisor(&self, p: &Params) -> u64 {
        let base = u64::from(self.base_delay(p)) * 1000;
        if base == 0 {
            return MAX_DIVISOR;
        }
        target(p).0.saturating_add(target(p).0).div_ceil(base).clamp(1, MAX_DIVISOR)
    }

    /// Increase and decrease of the window, bytes with [`FRACTION_BITS`] fractional bits.
    fn steps(&self, p: &Params, c: &Conn, a: &Ack, w: &Window) -> (u64, u64) {
        let (target, delay) = (target(p).0.max(1), self.queueing_delay(p));
        let acked = a.acked.min(w.cwnd());
        let share = quotient(u64::from(c.mss), acked, w.cwnd());
        match p.variant {
            Variant::Rfc6817 => {
                let off = mul_div(share, target.abs_diff(delay), target);
                let step = p.gain.times(off);
                if delay > target { (0, step) } else { (step, 0) }
            }
            Variant::PlusPlus => {
                let open = share / self.divisor(p).max(1);
                let acked_q = acked << FRACTION_BITS;
                let close = mul_div(acked_q, delay.saturating_sub(target), target);
                (open.saturating_sub(close), close.saturating_sub(open).min(acked_q / 2))
            }
        }
    }

    fn close(&self, p: &Params, c: &Conn, step_q: u64, w: &mut Window) {
        let floor = mul(p.min_cwnd, u64::from(c.mss)).min(w.cwnd()) << FRACTION_BITS;
        w.sub_q(c, step_q.min(w.cwnd_q().saturating_sub(floor)));
        w.set_ssthresh(w.ssthresh().min(w.cwnd()));
    }

    fn leave_slow_start(&self, p: &Params, w: &mut Window) {
        let (delay, target) = (self.queueing_delay(p), target(p).0);
        let full = match (p.variant, self.stage) {
            (Variant::Rfc6817, _) => delay > target,
            (Variant::PlusPlus, Stage::Start) => delay > target - target / 4,
            (Variant::PlusPlus, _) => false,
        };
        if full {
            w.set_ssthresh(w.cwnd());
        }
    }

    /// Runs the stages of the slowdown (LEDBAT++ section 4.4).
    fn slow_down(&mut self, c: &Conn, w: &mut Window) {
        let wait =
            if c.srtt.is_known() { Span(mul(SLOWDOWN_ROUNDS, c.srtt.0)) } else { Span::NONE };
        match self.stage {
            Stage::Start if !w.in_slow_start() => {
                (self.stage, self.until) = (Stage::Steady, c.now + wait);
            }
            Stage::Steady if c.now >= self.until && !w.in_slow_start() => {
                let window = mul(SLOWDOWN_WINDOW, u64::from(c.mss));
                w.set_ssthresh(w.cwnd().max(window));
                w.set(c, window.min(w.cwnd()));
                self.slowed = c.now;
                (self.stage, self.until) = (Stage::Frozen, c.now + wait);
            }
            Stage::Frozen if c.now >= self.until => self.stage = Stage::Ramp,
            Stage::Ramp if !w.in_slow_start() => self.end_slowdown(c),
            _ => {}
        }
    }

    fn end_slowdown(&mut self, c: &Conn) {
        self.stage = Stage::Steady;
        self.until = c.now + Span(mul(SLOWDOWN_SPACING, c.now.since(self.slowed).0));
    }
}

fn target(p: &Params) -> Span {
    match p.variant {
        Variant::Rfc6817 => p.target,
        Variant::PlusPlus => p.target.min(TARGET_PLUS_PLUS),
    }
}

impl CongestionAvoidance for Ledbat {
    type Params = Params;
    const INFO: &'static Info = &Info {
        id: "ledbat",
        name: "LEDBAT",
        origin: "RFC 6817, Low Extra Delay Background Transport (LEDBAT); variant ledbat++: \
            draft-irtf-iccrg-ledbat-plus-plus",
        citation: "rfc6817",
        description: "The window changes by GAIN·(TARGET - delay)/TARGET segments per RTT. The \
            delay is the minimum of the last samples minus the minimum of ten minutes. LEDBAT \
            therefore fills an idle path up to a queue of TARGET, and yields to other flows. \
            Losses and timeouts have Reno's response. Deviations: the delay is part of the RTT, \
            because one-way times are not available, so that a queue of acknowledgements counts \
            too. The initial window is the stack's, not two segments. Slow start, which the RFC \
            permits, ends at TARGET. In variant ledbat++, TARGET is 60 ms, and GAIN is 1/min(16, \
            ceil(2·TARGET/base)), also in slow start. The first slow start ends at 3/4 of TARGET. \
            Above TARGET the window shrinks by the share (delay/TARGET - 1) of itself, at most \
            half per RTT. A slowdown to two segments for two RTTs makes the base delay visible. It \
            occurs two RTTs after slow start, and then after nine times the duration of the last \
            slowdown. A loss ends a slowdown.",
        params: Params::TABLE,
        trace: TRACE,
    };
    const REQUIREMENTS: Requirements = Requirements::LOSS_BASED;

    fn init(_p: &Params, c: &Conn) -> Ledbat {
        Ledbat {
            minute: c.now,
            until: Time::NEVER,
            slowed: c.now,
            base: [UNKNOWN; 10],
            current: [UNKNOWN; 4],
            stage: Stage::Start,
        }
    }

    fn observe(&mut self, p: &Params, c: &Conn, a: &Ack, w: &mut Window) {
        if a.rtt.is_known() {
            self.measure(c, a.rtt);
        }
        if a.duplicate || a.acked == 0 || !matches!(c.phase, Phase::Open | Phase::Loss) {
            return;
        }
        if w.in_slow_start() {
            self.leave_slow_start(p, w);
        } else {
            let (_, close) = self.steps(p, c, a, w);
            if close > 0 {
                self.close(p, c, close, w);
            }
        }
        if p.variant == Variant::PlusPlus {
            self.slow_down(c, w);
        }
    }

    fn avoid(&mut self, p: &Params, c: &Conn, a: &Ack, _credit: u64, w: &mut Window) {
        if self.stage == Stage::Frozen {
            return;
        }
        let (open, _) = self.steps(p, c, a, w);
        w.add_q(open);
        let mss = u64::from(c.mss);
        // FlightSize before the acknowledgement.
        let flight = c.flight_size.saturating_add(a.acked);
        let limit = flight.saturating_add(mul(p.allowed_increase, mss));
        w.shrink(c, limit.max(mul(p.min_cwnd, mss)));
    }

    fn ssthresh(&mut self, _p: &Params, c: &Conn, _w: &Window, _why: CongestionEvent) -> u64 {
        half_flight(c)
    }

    fn slow_start_gain(&self, p: &Params, _c: &Conn) -> Ratio {
        match (p.variant, self.stage) {
            (Variant::Rfc6817, _) => Ratio::ONE,
            (Variant::PlusPlus, Stage::Frozen) => Ratio(0),
            (Variant::PlusPlus, _) => Ratio(Ratio::ONE.0 / self.divisor(p).max(1)),
        }
    }

    fn restart(&mut self, _p: &Params, c: &Conn, _w: &mut Window) {
        if matches!(self.stage, Stage::Frozen | Stage::Ramp) {
            self.end_slowdown(c);
        }
    }

    fn trace(&self, sink: &mut dyn FnMut(&'static TraceField, u64)) {
        let current = least(&self.current, u64::MAX);
        let base = least(&self.base, u64::MAX);
        show(TRACE, &[u64::from(current.saturating_sub(base)), u64::from(base)], sink);
    }
}
