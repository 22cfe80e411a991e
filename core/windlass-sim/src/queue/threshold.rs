//! Marking above a queue length, as DCTCP requires, or at random.

use windlass_cc::{Span, Time};

use super::fifo::Fifo;
use super::state::QueueState;
use super::waiting::{Dropped, Level, Waiting, check_share};
use crate::link::QueueLimit;
use crate::random::{Chance, Stream};

/// Marks each packet that finds a longer queue than the threshold (RFC 8257 section 3.1). The
/// instantaneous queue length counts, not an average (Alizadeh et al., "Data Center TCP", SIGCOMM
/// 2010, section 3.1). Packets without ECN are not affected, and are dropped only if the queue is
/// full. Up to the threshold, packets are marked at random, so that a flow can meet marks that do
/// not depend on its queue.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Threshold<L = Level> {
    /// The queue length K above which packets are marked.
    pub mark: L,
    /// Probability of a mark up to the threshold.
    pub probability: f64,
}

impl Threshold {
    /// Alizadeh et al., section 3.4: K of 65 packets at 10 Gbit/s.
    pub const DEFAULT: Threshold = Threshold { mark: Level::Packets(65), probability: 0.0 };

    pub(super) fn check(&self) -> Result<(), String> {
        check_share("the probability of a mark", self.probability)
    }
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct ThresholdQueue {
    fifo: Fifo,
    mark: Level,
    random: Chance,
    draws: Stream,
}

impl ThresholdQueue {
    pub fn new(t: Threshold, limit: QueueLimit, draws: Stream) -> ThresholdQueue {
        let random = Chance::new(t.probability);
        ThresholdQueue { fifo: Fifo::new(limit), mark: t.mark, random, draws }
    }
}

impl QueueState for ThresholdQueue {
    fn enqueue(
        &mut self,
        _: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        let above = self.fifo.measured_like(self.mark) > self.mark.amount();
        let marked = self.random.draw(&mut self.draws) || above;
        self.fifo.push(packet, idle.is_none(), drops) && marked && packet.is_capable()
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

#[cfg(test)]
mod tests {
    use super::super::support::{capable, plain};
    use super::*;
    use crate::random::Purpose;

    fn queue(mark: Level, probability: f64, limit: QueueLimit) -> ThresholdQueue {
        let draws = Stream::new(1, 1, Purpose::Queue);
        ThresholdQueue::new(Threshold { mark, probability }, limit, draws)
    }

    #[test]
    fn ecn_capable_packets_above_the_threshold_are_marked() {
        let mut q = queue(Level::Packets(2), 0.0, QueueLimit::Packets(5));
        let mut drops = Vec::new();
        let marked: Vec<bool> =
            (0..6).map(|i| q.enqueue(Time::ZERO, capable(i, 1000), None, &mut drops)).collect();
        // The first three packets find 0, 1 and 2 packets. The queue is full for the sixth packet.
        assert_eq!(marked, [false, false, false, true, true, false]);
        assert_eq!((drops.len(), drops[0].handle.id, drops[0].early), (1, 5, false));
        q.dequeue(Time::ZERO, &mut Vec::new());
        assert!(
            !q.enqueue(Time::ZERO, plain(6, 1000), None, &mut drops),
            "the packet is not ECN-capable"
        );
        assert_eq!(q.len(), 5);
    }

    #[test]
    fn a_threshold_in_bytes_counts_bytes() {
        let mut q = queue(Level::Bytes(1500), 0.0, QueueLimit::Unlimited);
        let mut drops = Vec::new();
        let sizes = [1000, 500, 1, 1];
        let marked = sizes.map(|size| q.enqueue(Time::ZERO, capable(0, size), None, &mut drops));
        // The packets find 0, 1000, 1500 and 1501 bytes.
        assert_eq!(marked, [false, false, false, true]);
    }

    #[test]
    fn capable_packets_are_marked_at_random_up_to_the_threshold() {
        let mut q = queue(Level::Packets(10), 0.05, QueueLimit::Unlimited);
        let mut marks = |packet: fn(u32, u32) -> Waiting| {
            let mut count = 0;
            for i in 0..100_000 {
                count += u32::from(q.enqueue(
                    Time::ZERO,
                    packet(i, 1000),
                    Some(Span(1)),
                    &mut Vec::new(),
                ));
                q.dequeue(Time::ZERO, &mut Vec::new());
            }
            count
        };
        // Binomial: 5000 with a standard deviation of 69.
        let marked = marks(capable);
        assert!((4700..5300).contains(&marked), "{marked} of 100000 are marked");
        assert_eq!(marks(plain), 0);
    }
}
