//! Marking above a queue length, as DCTCP requires.

use windlass_cc::Span;

use super::fifo::Fifo;
use super::waiting::{Dropped, Level, Waiting};
use crate::link::QueueLimit;

/// Marks each packet that finds a longer queue than the threshold (RFC 8257 section 3.1). The
/// instantaneous queue length counts, not an average (Alizadeh et al., "Data Center TCP", SIGCOMM
/// 2010, section 3.1). Packets without ECN are not affected, and are dropped only if the queue is
/// full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Threshold<L = Level> {
    /// The queue length K above which packets are marked.
    pub mark: L,
}

impl Threshold {
    /// Alizadeh et al., section 3.4: K of 65 packets at 10 Gbit/s.
    pub const DEFAULT: Threshold = Threshold { mark: Level::Packets(65) };
}

/// State of the discipline.
#[derive(Clone, Debug)]
pub struct ThresholdQueue {
    fifo: Fifo,
    mark: Level,
}

impl ThresholdQueue {
    pub fn new(t: Threshold, limit: QueueLimit) -> ThresholdQueue {
        ThresholdQueue { fifo: Fifo::new(limit), mark: t.mark }
    }

    pub fn fifo(&self) -> &Fifo {
        &self.fifo
    }

    pub fn enqueue(
        &mut self,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        let above = self.fifo.measured_like(self.mark) > self.mark.amount();
        self.fifo.push(packet, idle.is_none(), drops) && above && packet.is_capable()
    }

    pub fn dequeue(&mut self) -> Option<(Waiting, bool)> {
        self.fifo.pop().map(|packet| (packet, false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::support::{capable, plain};
    use super::*;

    #[test]
    fn ecn_capable_packets_above_the_threshold_are_marked() {
        let mark = Level::Packets(2);
        let mut q = ThresholdQueue::new(Threshold { mark }, QueueLimit::Packets(5));
        let mut drops = Vec::new();
        let marked: Vec<bool> =
            (0..6).map(|i| q.enqueue(capable(i, 1000), None, &mut drops)).collect();
        // The first three packets find 0, 1 and 2 packets. The queue is full for the sixth packet.
        assert_eq!(marked, [false, false, false, true, true, false]);
        assert_eq!((drops.len(), drops[0].handle.id, drops[0].early), (1, 5, false));
        q.dequeue();
        assert!(!q.enqueue(plain(6, 1000), None, &mut drops), "the packet is not ECN-capable");
        assert_eq!(q.fifo().len(), 5);
    }

    #[test]
    fn a_threshold_in_bytes_counts_bytes() {
        let mark = Level::Bytes(1500);
        let mut q = ThresholdQueue::new(Threshold { mark }, QueueLimit::Unlimited);
        let mut drops = Vec::new();
        let sizes = [1000, 500, 1, 1];
        let marked = sizes.map(|size| q.enqueue(capable(0, size), None, &mut drops));
        // The packets find 0, 1000, 1500 and 1501 bytes.
        assert_eq!(marked, [false, false, false, true]);
    }
}
