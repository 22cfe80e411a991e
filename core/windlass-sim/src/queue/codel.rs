//! CoDel (RFC 8289). It drops packets at departure, if the queueing delay has exceeded the target
//! for an interval.

use windlass_cc::{Span, Time};

use super::fifo::Fifo;
use super::state::QueueState;
use super::waiting::{Dropped, Waiting};
use crate::link::QueueLimit;

/// Controlled delay (RFC 8289).
///
/// The size of the largest packet so far replaces the interface's MTU. A queue that holds at most
/// this number of bytes is not acted on (section 5.6).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CoDel {
    /// Acceptable standing delay (section 4.3).
    pub target: Span,
    /// Time for which the delay may exceed the target; at least 1 ns. It should be of the order of
    /// the longest RTT (section 4.3).
    pub interval: Span,
    /// True to mark ECN-capable packets instead of dropping them.
    pub ecn: bool,
}

impl CoDel {
    /// Values of RFC 8289 section 4.4.
    pub const DEFAULT: CoDel =
        CoDel { target: Span::from_millis(5), interval: Span::from_millis(100), ecn: false };

    pub(super) fn check(&self) -> Result<(), String> {
        match self.interval {
            Span::ZERO => Err("CoDel's interval must be at least 1 ns".to_string()),
            interval if interval.0 > LONGEST => Err("CoDel's interval is too long".to_string()),
            _ => Ok(()),
        }
    }
}

/// Maximum interval, nanoseconds: 13 days. Sixteen intervals plus a time do not overflow.
const LONGEST: u64 = 1 << 50;

/// `interval / √count`: the time between two drops (section 5.5). Both values are below 2^53. The
/// result is truncated from a value that is exact to a few parts in 10^16.
pub fn control_law(interval: Span, count: u32) -> Span {
    Span((interval.0 as f64 / f64::from(count.max(1)).sqrt()) as u64)
}

/// Queue from which CoDel takes packets.
pub trait Source {
    /// The next packet.
    fn pop(&mut self) -> Option<Waiting>;
    /// Remaining IP bytes.
    fn bytes(&self) -> u64;
}

impl Source for Fifo {
    fn pop(&mut self) -> Option<Waiting> {
        Fifo::pop(self)
    }
    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}

/// CoDel's state (section 5.1).
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// Time at which the delay will have exceeded the target for an interval.
    first_above: Option<Time>,
    dropping: bool,
    drop_next: Time,
    /// Drops since the start of the dropping state, and the value of `count` at its start.
    count: u32,
    last_count: u32,
}

impl State {
    /// State of an empty queue.
    pub const NEW: State = State {
        first_above: None,
        dropping: false,
        drop_next: Time::ZERO,
        count: 0,
        last_count: 0,
    };

    /// Takes a packet. The flag is true if the packet may be dropped (section 5.6).
    fn take(
        &mut self,
        now: Time,
        p: &CoDel,
        from: &mut impl Source,
        largest: u32,
    ) -> Option<(Waiting, bool)> {
        let Some(packet) = from.pop() else {
            self.first_above = None;
            return None;
        };
        if now.since(packet.since) < p.target || from.bytes() <= u64::from(largest) {
            self.first_above = None;
            return Some((packet, false));
        }
        let excess = match self.first_above {
            Some(due) => now >= due,
            None => {
                self.first_above = Some(now + p.interval);
                false
            }
        };
        Some((packet, excess))
    }

    /// The packet to transmit, and true to mark it (section 5.5). `largest` is the size of the
    /// largest packet that the link carries.
    pub fn dequeue(
        &mut self,
        now: Time,
        p: &CoDel,
        from: &mut impl Source,
        largest: u32,
        drops: &mut Vec<Dropped>,
    ) -> Option<(Waiting, bool)> {
        let Some((mut packet, mut excess)) = self.take(now, p, from, largest) else {
            self.dropping = false;
            return None;
        };
        let mark = |packet: &Waiting| p.ecn && packet.is_capable();
        if !self.dropping {
            if !excess {
                return Some((packet, false));
            }
            self.enter(now, p);
            if mark(&packet) {
                return Some((packet, true));
            }
            drops.push(Dropped { handle: packet.handle, early: true });
            // The next drop is later, regardless of the delay of this packet.
            return self.take(now, p, from, largest).map(|(packet, _)| (packet, false));
        }
        while excess && now >= self.drop_next {
            // Every drop counts, including the last drop of an episode.
            self.count = self.count.saturating_add(1);
            if mark(&packet) {
                self.schedule(p);
                return Some((packet, true));
            }
            drops.push(Dropped { handle: packet.handle, early: true });
            let Some(next) = self.take(now, p, from, largest) else {
                self.dropping = false;
                return None;
            };
            (packet, excess) = next;
            if excess {
                self.schedule(p);
            }
        }
        self.dropping = excess;
        Some((packet, false))
    }

    /// Schedules the next drop.
    fn schedule(&mut self, p: &CoDel) {
        self.drop_next += control_law(p.interval, self.count);
    }

    /// Enters the dropping state. The drop rate continues from the last dropping state, if that was
    /// recent.
    fn enter(&mut self, now: Time, p: &CoDel) {
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next).0 < 16 * p.interval.0;
        self.dropping = true;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = now + control_law(p.interval, self.count);
        self.last_count = self.count;
    }
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct CoDelQueue {
    p: CoDel,
    fifo: Fifo,
    state: State,
    largest: u32,
}

impl CoDelQueue {
    pub fn new(p: CoDel, limit: QueueLimit) -> CoDelQueue {
        CoDelQueue { p, fifo: Fifo::new(limit), state: State::NEW, largest: 0 }
    }
}

impl QueueState for CoDelQueue {
    fn enqueue(
        &mut self,
        _: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.largest = self.largest.max(packet.handle.size);
        self.fifo.push(packet, idle.is_none(), drops);
        false
    }

    fn dequeue(&mut self, now: Time, drops: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.state.dequeue(now, &self.p, &mut self.fifo, self.largest, drops)
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

    const SIZE: u32 = 1000;

    /// A queue with this number of packets, which arrived at time zero.
    fn full(p: CoDel, packets: u32, ecn: bool) -> CoDelQueue {
        let mut q = CoDelQueue::new(p, QueueLimit::Unlimited);
        for i in 0..packets {
            let packet = if ecn { capable(i, SIZE) } else { plain(i, SIZE) };
            q.enqueue(Time::ZERO, packet, None, &mut Vec::new());
        }
        q
    }

    /// Times, ms, of the departures at which a packet was dropped or marked. One packet departs per
    /// millisecond from `from_ms` on.
    fn signals(q: &mut CoDelQueue, from_ms: u64, to_ms: u64) -> Vec<u64> {
        let mut drops = Vec::new();
        let mut times = Vec::new();
        for ms in from_ms..to_ms {
            let (_, marked) = q.dequeue(Time::from_millis(ms), &mut drops).expect("enough packets");
            assert!(drops.iter().all(|d| d.early));
            if marked || !drops.is_empty() {
                times.push(ms);
            }
            drops.clear();
        }
        times
    }

    /// RFC 8289 section 5.5 in real numbers. The first drop is an interval after the first
    /// departure above the target. The k-th drop is `interval / √(k - 1)` after the previous drop.
    fn model(first_ms: u64, to_ms: u64, interval_ms: f64) -> Vec<u64> {
        let mut times = Vec::new();
        let mut due = first_ms as f64;
        let mut count = 1.0f64;
        while due <= (to_ms - 1) as f64 {
            times.push(due.ceil() as u64);
            due += interval_ms / count.sqrt();
            count += 1.0;
        }
        times
    }

    #[test]
    fn drops_follow_the_control_law() {
        // Above the target of 5 ms from the first departure at 10 ms on.
        let mut q = full(CoDel::DEFAULT, 2000, false);
        assert_eq!(signals(&mut q, 10, 1000), model(110, 1000, 100.0));
    }

    #[test]
    fn marks_follow_the_same_law_and_remove_no_packets() {
        let mut q = full(CoDel { ecn: true, ..CoDel::DEFAULT }, 2000, true);
        assert_eq!(signals(&mut q, 10, 1000), model(110, 1000, 100.0));
        assert_eq!(q.len(), 2000 - 990);
    }

    #[test]
    fn packets_without_ecn_are_dropped_even_if_ecn_is_on() {
        let mut q = full(CoDel { ecn: true, ..CoDel::DEFAULT }, 2000, false);
        let times = signals(&mut q, 10, 1000);
        assert_eq!(q.len(), 2000 - 990 - times.len() as u64);
    }

    #[test]
    fn the_control_law_is_exact_to_a_nanosecond() {
        for interval in [1, 1000, 100_000_000, LONGEST] {
            for count in [1u32, 2, 3, 10, 12_345, u32::MAX] {
                let ns = control_law(Span(interval), count).0;
                // ns <= interval / sqrt(count) < ns + 1, squared so that all numbers are integers.
                let square = |n: u64| u128::from(n) * u128::from(n) * u128::from(count);
                let whole = u128::from(interval) * u128::from(interval);
                assert!(square(ns.saturating_sub(1)) <= whole && whole < square(ns + 2));
            }
        }
    }

    #[test]
    fn a_delay_below_the_target_or_a_single_packet_causes_no_drop() {
        let mut q = full(CoDel { target: Span::from_millis(2000), ..CoDel::DEFAULT }, 2000, false);
        assert_eq!(signals(&mut q, 10, 1000), [0u64; 0]);
        // One packet is behind the departing packet, so that the bytes do not exceed the largest
        // packet.
        let mut q = CoDelQueue::new(CoDel::DEFAULT, QueueLimit::Unlimited);
        q.enqueue(Time::ZERO, plain(0, SIZE), None, &mut Vec::new());
        for ms in 10..1000 {
            q.enqueue(Time::ZERO, plain(0, SIZE), None, &mut Vec::new());
            let mut drops = Vec::new();
            assert!(q.dequeue(Time::from_millis(ms), &mut drops).is_some() && drops.is_empty());
        }
    }

    #[test]
    fn a_new_episode_soon_after_continues_at_the_last_drop_rate() {
        let mut q = full(CoDel::DEFAULT, 2000, false);
        let first = signals(&mut q, 10, 500);
        // A packet without delay ends the episode. Then the delay is excessive again.
        q.state.first_above = None;
        q.state.dropping = false;
        let second = signals(&mut q, 500, 1000);
        let (n, m) = (first.len(), second.len());
        assert!(n > 5);
        assert_eq!(second[0], 600);
        // The count that the first episode reached, minus its initial count.
        let gap = second[1] - second[0];
        let expected = 100.0 / ((n - 1) as f64).sqrt();
        assert!((gap as f64 - expected).abs() <= 1.0, "{gap} ms, {expected} expected");
        assert!(m > n, "{first:?} {second:?}");
    }
}
