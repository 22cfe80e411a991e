//! DualPI2 (RFC 9332): a queue for scalable and a queue for classic congestion controls, with coupled
//! marks and drops.

mod config;
#[cfg(test)]
mod tests;

use windlass_cc::{Span, Time};
use windlass_tcp::Codepoint;

use super::fifo::Fifo;
use super::state::QueueState;
use super::waiting::{Dropped, Waiting};
use crate::link::QueueLimit;
use crate::random::{Chance, Stream};

pub use config::{DualPi2, MAX_COUPLING, Scheduler, Variant};

/// One of the two queues.
#[derive(Clone, Debug)]
struct Half {
    fifo: Fifo,
    /// Sum of the likelihoods since the last mark or drop, without randomness.
    count: f64,
}

impl Half {
    fn new() -> Half {
        Half { fifo: Fifo::new(QueueLimit::Unlimited), count: 0.0 }
    }

    fn is_empty(&self) -> bool {
        self.fifo.len() == 0
    }

    /// Wait of the first packet; zero without packets.
    fn delay(&self, now: Time) -> Span {
        self.fifo.first().map_or(Span::ZERO, |packet| now.since(packet.since))
    }
}

/// Fate of a packet that leaves its queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    Pass,
    Mark,
    Drop,
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct DualPi2Queue {
    p: DualPi2,
    limit: QueueLimit,
    l: Half,
    c: Half,
    draws: Stream,
    /// Base probability, p' of the RFC.
    probability: f64,
    delay_before: Span,
    next_update: Time,
    /// Bytes that the L queue has been served beyond its share; the C queue is served while it is
    /// positive.
    credit: f64,
    largest: u32,
    alpha: f64,
    beta: f64,
}

impl DualPi2Queue {
    pub fn new(p: DualPi2, limit: QueueLimit, draws: Stream) -> DualPi2Queue {
        let gain = |gain| match p.variant {
            Variant::Rfc9332 => gain,
            Variant::Linux => DualPi2::kernel_gain(gain),
        };
        DualPi2Queue {
            p,
            limit,
            l: Half::new(),
            c: Half::new(),
            draws,
            probability: 0.0,
            delay_before: Span::ZERO,
            next_update: Time::ZERO + p.update,
            credit: 0.0,
            largest: 0,
            alpha: gain(p.alpha),
            beta: gain(p.beta),
        }
    }

    /// True if the L queue is served (RFC 9332 section 4.1).
    fn serves_l(&self, now: Time) -> bool {
        if self.l.is_empty() || self.c.is_empty() {
            return self.c.is_empty();
        }
        match self.p.scheduler {
            Scheduler::Weighted => self.credit <= 0.0,
            Scheduler::TimeShifted => self.l.delay(now) + self.p.shift >= self.c.delay(now),
        }
    }

    /// Accounts a served packet while the other queue has packets.
    fn charge(&mut self, low_latency: bool, size: u32) {
        let size = f64::from(size);
        if low_latency && !self.c.is_empty() {
            self.credit += self.p.classic_share * size;
        } else if !low_latency && !self.l.is_empty() {
            self.credit -= (1.0 - self.p.classic_share) * size;
        }
    }

    /// True if the coupled probability exceeds one, so that marks alone no longer control the queue
    /// (section 4.1, requirement on overload).
    fn is_overloaded(&self) -> bool {
        self.p.drop_on_overload && self.p.coupling * self.probability > 1.0
    }

    /// True if the controller's probability has no effect on a queue of this many bytes.
    fn is_spared(&self, backlog: u64) -> bool {
        self.p.variant == Variant::Linux && backlog < 2 * u64::from(self.largest)
    }

    fn judge_c(&mut self, packet: &Waiting, backlog: u64) -> Verdict {
        let likelihood = self.probability * self.probability;
        if self.is_spared(backlog) || !self.strikes(false, likelihood) {
            Verdict::Pass
        } else if packet.is_capable() && !self.is_overloaded() {
            Verdict::Mark
        } else {
            Verdict::Drop
        }
    }

    fn judge_l(&mut self, packet: &Waiting, delay: Span, backlog: u64) -> Verdict {
        let waiting = self.l.fifo.bytes() + u64::from(packet.handle.size);
        let coupled = match self.is_spared(backlog) {
            true => 0.0,
            false => (self.p.coupling * self.probability).min(1.0),
        };
        if coupled > 0.0 && self.is_overloaded() {
            let likelihood = self.probability * self.probability;
            return if self.strikes(true, likelihood) { Verdict::Drop } else { Verdict::Mark };
        }
        let own = match self.p.variant {
            Variant::Rfc9332 if waiting <= u64::from(self.largest) => 0.0,
            _ => self.ramp(delay),
        };
        if self.strikes(true, own.max(coupled)) { Verdict::Mark } else { Verdict::Pass }
    }

    /// The L queue's own probability for this delay: a ramp, or a step.
    fn ramp(&self, delay: Span) -> f64 {
        let DualPi2 { ramp_start, ramp_end, .. } = self.p;
        if delay > ramp_end {
            1.0
        } else if delay > ramp_start {
            (delay.0 - ramp_start.0) as f64 / (ramp_end.0 - ramp_start.0) as f64
        } else {
            0.0
        }
    }

    /// True for this share of the packets of a queue.
    fn strikes(&mut self, low_latency: bool, likelihood: f64) -> bool {
        if self.p.variant == Variant::Linux {
            return Chance::new(likelihood).draw(&mut self.draws);
        }
        let half = if low_latency { &mut self.l } else { &mut self.c };
        half.count += likelihood;
        let strikes = half.count >= 1.0;
        half.count -= f64::from(u8::from(strikes));
        strikes
    }

    /// Performs the adjustments that are due. The queue does not change between two events, so that
    /// late adjustments give the same result as adjustments at their due times.
    fn catch_up(&mut self, now: Time) {
        while self.next_update <= now {
            let rests =
                self.probability == 0.0 && self.len() == 0 && self.delay_before == Span::ZERO;
            if rests {
                // The other due adjustments change nothing.
                let due = now.since(self.next_update).0 / self.p.update.0 + 1;
                self.next_update += Span(due.saturating_mul(self.p.update.0));
                return;
            }
            self.adjust(self.next_update);
            self.next_update += self.p.update;
        }
    }

    /// One adjustment of the probability (Appendix A).
    fn adjust(&mut self, now: Time) {
        let seconds = |span: Span| span.0 as f64 / 1e9;
        let delay = self.l.delay(now).max(self.c.delay(now));
        let step = self.alpha * (seconds(delay) - seconds(self.p.target))
            + self.beta * (seconds(delay) - seconds(self.delay_before));
        let most = if self.p.drop_on_overload { 1.0 } else { 1.0 / self.p.coupling };
        self.probability = (self.probability + step).clamp(0.0, most);
        self.delay_before = delay;
    }
}

impl QueueState for DualPi2Queue {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.catch_up(now);
        let size = u64::from(packet.handle.size);
        let fits = self.limit.has_room(self.len(), self.bytes(), size)
            && self.bytes() + size <= self.p.memory;
        if idle.is_none() && !fits {
            drops.push(Dropped { handle: packet.handle, early: false });
            return false;
        }
        self.largest = self.largest.max(packet.handle.size);
        if self.len() == 0 {
            // The L queue may be served first for a few packets.
            self.credit = f64::from(self.largest) * (2.0 * self.p.classic_share - 1.0);
        }
        let half = match packet.ecn {
            Codepoint::Ect1 | Codepoint::Ce => &mut self.l,
            Codepoint::Ect0 | Codepoint::NotEct => &mut self.c,
        };
        half.fifo.push(packet, true, drops);
        false
    }

    fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.catch_up(now);
        while self.len() > 0 {
            let low_latency = self.serves_l(now);
            let backlog = self.bytes();
            let half = if low_latency { &mut self.l } else { &mut self.c };
            let delay = half.delay(now);
            let packet = half.fifo.pop()?;
            let verdict = match low_latency {
                true => self.judge_l(&packet, delay, backlog),
                false => self.judge_c(&packet, backlog),
            };
            if verdict == Verdict::Drop {
                drops.push(Dropped { handle: packet.handle, early: true });
                continue;
            }
            self.charge(low_latency, packet.handle.size);
            return Some((packet, verdict == Verdict::Mark));
        }
        None
    }

    fn len(&self) -> u64 {
        self.l.fifo.len() + self.c.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.l.fifo.bytes() + self.c.fifo.bytes()
    }
}
