//! A token bucket that drops excess packets.

use windlass_cc::{Span, Time};

use super::fifo::Fifo;
use super::state::QueueState;
use super::waiting::{Dropped, Waiting};
use crate::link::QueueLimit;

/// Drops each packet for which the bucket has too few tokens. Other packets wait as in a drop-tail
/// queue. This is the single-rate policer of network operators (Flach et al., "An Internet-Wide
/// Analysis of Traffic Policing", SIGCOMM 2016). It is a token bucket in the sense of RFC 3290
/// section 5.1.3. Tokens are bytes of IP packets. The bucket is full at the beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policer {
    /// Fill rate of the bucket, bits per second; at least 1.
    pub rate: u64,
    /// Capacity of the bucket, bytes; at least 1.
    pub burst: u64,
}

impl Policer {
    /// 1 Mbit/s, and twenty packets of 1500 bytes in a burst.
    pub const DEFAULT: Policer = Policer { rate: 1_000_000, burst: 30_000 };

    pub(crate) fn check(&self) -> Result<(), String> {
        if self.rate == 0 || self.burst == 0 {
            return Err("a policer's rate and burst must be more than zero".to_string());
        }
        Ok(())
    }
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct PolicerQueue {
    fifo: Fifo,
    policer: Policer,
    /// Bits in the bucket, times 10⁹.
    tokens: u128,
    filled: Time,
}

impl PolicerQueue {
    pub fn new(policer: Policer, limit: QueueLimit) -> PolicerQueue {
        let tokens = full(policer);
        PolicerQueue { fifo: Fifo::new(limit), policer, tokens, filled: Time::ZERO }
    }
}

impl QueueState for PolicerQueue {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        let filled = u128::from(now.since(self.filled).0) * u128::from(self.policer.rate);
        self.tokens = (self.tokens + filled).min(full(self.policer));
        self.filled = now;
        let needed = cost(packet.handle.size.into());
        if needed > self.tokens {
            drops.push(Dropped { handle: packet.handle, early: true });
        } else if self.fifo.push(packet, idle.is_none(), drops) {
            self.tokens -= needed;
        }
        false
    }

    fn dequeue(&mut self, _: Time, _: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.fifo.pop().map(|packet| (packet, false))
    }

    fn len(&self) -> u64 {
        self.fifo.len()
    }

    fn bytes(&self) -> u64 {
        self.fifo.bytes()
    }
}

fn cost(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}

fn full(policer: Policer) -> u128 {
    cost(policer.burst)
}

#[cfg(test)]
mod tests {
    use super::super::support::plain;
    use super::*;

    #[test]
    fn a_burst_passes_and_then_the_rate() {
        let policer = Policer { rate: 8_000_000, burst: 3000 };
        let mut q = PolicerQueue::new(policer, QueueLimit::Unlimited);
        let mut drops = Vec::new();
        let mut passes = |us: u64| {
            let before = q.len();
            q.enqueue(Time(us * 1000), plain(0, 1000), None, &mut drops);
            q.len() > before
        };
        // 1000 B per millisecond: three packets at once, then one per millisecond, and none
        // earlier.
        assert_eq!(
            [0, 0, 0, 0, 999, 1000, 1000].map(&mut passes),
            [true, true, true, false, false, true, false]
        );
        // After any idle time, at most the burst passes.
        assert_eq!([99_000, 99_000, 99_000, 99_000].map(passes), [true, true, true, false]);
        assert!(drops.iter().all(|dropped| dropped.early));
    }
}
