//! PIE (RFC 8033). It drops packets at arrival, with a probability that a controller adjusts.

use windlass_cc::{Span, Time};

use super::fifo::Fifo;
use super::state::QueueState;
use super::waiting::{Dropped, Waiting, check_share};
use crate::link::QueueLimit;
use crate::random::{Chance, Stream};

/// Proportional integral controller enhanced (RFC 8033).
///
/// The delay is the transmission time of the queue. A link of constant rate computes it without
/// measuring its departure rate (section 5.2). Implemented enhancements are ECN (section 5.1) and
/// the bound on steps (section 5.5). Drops are not de-randomised.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pie {
    /// Reference delay, QDELAY_REF (section 4.2).
    pub target: Span,
    /// Time between adjustments, T_UPDATE (section 4.2); at least 1 ns.
    pub update: Span,
    /// Weight of the deviation from the target, per second (section 4.2).
    pub alpha: f64,
    /// Weight of the change since the last adjustment, per second (section 4.2).
    pub beta: f64,
    /// Duration of a burst that passes without drops, MAX_BURST (section 4.4).
    pub max_burst: Span,
    /// True to mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
    /// Probability from which ECN-capable packets are also dropped (section 5.1).
    pub mark_limit: f64,
}

impl Pie {
    /// Values of RFC 8033 sections 4.2, 4.4 and 5.1.
    pub const DEFAULT: Pie = Pie {
        target: Span::from_millis(15),
        update: Span::from_millis(15),
        alpha: 0.125,
        beta: 1.25,
        max_burst: Span::from_millis(150),
        ecn: false,
        mark_limit: 0.1,
    };

    pub(super) fn check(&self) -> Result<(), String> {
        check_share("PIE's limit of marking", self.mark_limit)?;
        if self.update == Span::ZERO {
            return Err("PIE's time between adjustments must be at least 1 ns".to_string());
        }
        match [self.alpha, self.beta].iter().find(|gain| !(0.0..=MAX_GAIN).contains(*gain)) {
            Some(gain) => Err(format!("PIE's weights must be from 0 to {MAX_GAIN}, not {gain}")),
            None => Ok(()),
        }
    }
}

/// Maximum weight.
pub const MAX_GAIN: f64 = 1000.0;

/// MEAN_PKTSIZE (section 4.1). A queue of at most two packets of this size drops no packets.
const MEAN_PACKET: u64 = 1024;

/// Upper bounds of the probability with the divisor of the step below each bound. Smaller
/// probabilities have smaller steps (section 4.2).
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct PieQueue {
    p: Pie,
    fifo: Fifo,
    draws: Stream,
    probability: f64,
    delay_before: Span,
    burst_left: Span,
    next_update: Time,
}

impl PieQueue {
    pub fn new(p: Pie, limit: QueueLimit, draws: Stream) -> PieQueue {
        PieQueue {
            p,
            fifo: Fifo::new(limit),
            draws,
            probability: 0.0,
            delay_before: Span::ZERO,
            burst_left: p.max_burst,
            next_update: Time::ZERO + p.update,
        }
    }

    /// True if the delay is below half the target, both now and at the last adjustment.
    fn is_calm(&self) -> bool {
        let half = self.p.target.0 / 2;
        self.fifo.drain().0 < half && self.delay_before.0 < half
    }

    /// Draws whether the arriving packet is dropped or marked (section 4.1).
    fn takes(&mut self) -> bool {
        let calm = self.delay_before.0 < self.p.target.0 / 2 && self.probability < 0.2;
        if self.burst_left > Span::ZERO || calm || self.fifo.bytes() <= 2 * MEAN_PACKET {
            return false;
        }
        Chance::new(self.probability).draw(&mut self.draws)
    }

    /// Performs the adjustments that are due. The queue does not change between two events, so that
    /// late adjustments give the same result as adjustments at their due times.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            let rests = self.probability == 0.0
                && self.fifo.len() == 0
                && self.delay_before == Span::ZERO
                && self.burst_left == Span::ZERO;
            if rests {
                // The other due adjustments change nothing.
                let due = now.since(self.next_update).0 / self.p.update.0 + 1;
                self.next_update += Span(due.saturating_mul(self.p.update.0));
                return;
            }
            self.update();
            self.next_update += self.p.update;
        }
    }

    /// One adjustment of the probability (section 4.2).
    fn update(&mut self) {
        let delay = self.fifo.drain();
        let seconds = |span: Span| span.0 as f64 / 1e9;
        let mut step = self.p.alpha * (seconds(delay) - seconds(self.p.target))
            + self.p.beta * (seconds(delay) - seconds(self.delay_before));
        if let Some((_, divisor)) = SCALES.iter().find(|(bound, _)| self.probability < *bound) {
            step /= divisor;
        }
        if self.probability >= 0.1 {
            step = step.min(0.02); // section 5.5
        }
        let mut probability = self.probability + step;
        if self.is_calm() {
            probability *= 0.98;
        }
        self.probability = probability.clamp(0.0, 1.0);
        self.delay_before = delay;
        self.burst_left = Span(self.burst_left.0.saturating_sub(self.p.update.0));
    }
}

impl QueueState for PieQueue {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.catch_up(now);
        if self.probability == 0.0 && self.is_calm() {
            self.burst_left = self.p.max_burst;
        }
        let taken = self.takes();
        let mark =
            taken && self.p.ecn && packet.is_capable() && self.probability < self.p.mark_limit;
        if taken && !mark {
            drops.push(Dropped { handle: packet.handle, early: true });
            return false;
        }
        self.fifo.push(packet, idle.is_none(), drops) && mark
    }

    fn dequeue(&mut self, now: Time, _: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.catch_up(now);
        self.fifo.pop().map(|packet| (packet, false))
    }

    fn len(&self) -> u64 {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::{capable, plain};
    use super::*;
    use crate::random::Purpose;

    fn queue(p: Pie) -> PieQueue {
        PieQueue::new(p, QueueLimit::Unlimited, Stream::new(1, 1, Purpose::Queue))
    }

    /// Section 4.2 of the RFC, with delays in seconds.
    fn model(p: f64, delay: f64, before: f64) -> f64 {
        let (alpha, beta, reference) = (0.125, 1.25, 0.015);
        let mut step = alpha * (delay - reference) + beta * (delay - before);
        step /= match p {
            p if p < 1e-6 => 2048.0,
            p if p < 1e-5 => 512.0,
            p if p < 1e-4 => 128.0,
            p if p < 1e-3 => 32.0,
            p if p < 1e-2 => 8.0,
            p if p < 0.1 => 2.0,
            _ => 1.0,
        };
        if p >= 0.1 && step > 0.02 {
            step = 0.02;
        }
        let mut next = p + step;
        if delay < 0.5 * reference && before < 0.5 * reference {
            next *= 0.98;
        }
        next.clamp(0.0, 1.0)
    }

    #[test]
    fn the_probability_follows_the_equation_update_by_update() {
        // The queue is filled alternately faster and slower than it drains, at one packet of 1 ms
        // per millisecond.
        let mut q = queue(Pie::DEFAULT);
        let (mut p, mut before) = (0.0, 0.0);
        let mut seen = 0.0f64;
        for ms in 1..20_000u64 {
            if ms % 15 == 0 {
                let delay = q.fifo.len() as f64 / 1000.0;
                p = model(p, delay, before);
                before = delay;
            }
            let now = Time::from_millis(ms);
            q.dequeue(now, &mut Vec::new());
            let burst = if (ms / 1000) % 3 == 0 { 2 } else { 1 };
            for i in 0..burst {
                q.fifo.push(plain(i, 1000), true, &mut Vec::new());
            }
            if (ms / 1000) % 3 == 1 {
                q.fifo.pop();
            }
            assert!((q.probability - p).abs() < 1e-12, "{ms}: {} {p}", q.probability);
            seen = seen.max(p);
        }
        assert!(seen > 0.1 && p < seen, "the model itself never moved: {seen} {p}");
    }

    #[test]
    fn a_burst_passes_for_the_burst_allowance_only() {
        let mut q = queue(Pie::DEFAULT);
        let mut first = None;
        for us in (0..2_000_000u64).step_by(500) {
            let mut drops = Vec::new();
            let now = Time(us * 1000);
            q.enqueue(now, plain(0, 1000), None, &mut drops);
            if us % 1000 == 0 {
                q.dequeue(now, &mut Vec::new());
            }
            if !drops.is_empty() {
                first.get_or_insert(us / 1000);
            }
        }
        let first = first.expect("twice the rate must be dropped from");
        assert!((150..500).contains(&first), "{first} ms");
    }

    #[test]
    fn adjustments_after_a_long_idle_time_equal_stepwise_adjustments() {
        let mut q = queue(Pie::DEFAULT);
        q.probability = 0.5;
        q.delay_before = Span::from_millis(30);
        let mut stepwise = q.clone();
        for ms in 0..20_000 {
            stepwise.catch_up(Time::from_millis(ms));
        }
        q.catch_up(Time::from_millis(19_999));
        assert_eq!(q.probability, stepwise.probability);
        assert_eq!((q.next_update, q.burst_left), (stepwise.next_update, stepwise.burst_left));
        // Weeks later, in one step.
        q.catch_up(Time::from_secs(100 * 86_400));
        assert_eq!(q.probability, 0.0);
        assert!(q.next_update > Time::from_secs(100 * 86_400));
    }

    #[test]
    fn ecn_capable_packets_are_marked_up_to_the_limit_and_dropped_beyond() {
        let outcome = |probability, packet: fn(u32, u32) -> Waiting| {
            let mut q = queue(Pie { ecn: true, ..Pie::DEFAULT });
            let (mut marks, mut drops) = (0, Vec::new());
            for i in 0..20 {
                q.fifo.push(plain(i, 1000), true, &mut drops);
            }
            (q.probability, q.burst_left) = (probability, Span::ZERO);
            q.delay_before = Span::from_millis(20);
            for i in 0..1000 {
                marks += u32::from(q.enqueue(Time::ZERO, packet(i, 1000), None, &mut drops));
            }
            (marks, drops.len())
        };
        let (marks, drops) = outcome(0.09, capable);
        assert!((60..120).contains(&marks) && drops == 0, "{marks} {drops}");
        let (marks, drops) = outcome(0.09, plain);
        assert!(marks == 0 && (60..120).contains(&drops), "{marks} {drops}");
        let (marks, drops) = outcome(0.5, capable);
        assert!(marks == 0 && (430..570).contains(&drops), "{marks} {drops}");
    }
}
