//! A first-in-first-out queue with a limit.

use std::collections::VecDeque;

use super::state::QueueState;
use super::waiting::{Dropped, Level, Waiting};
use crate::link::QueueLimit;
use windlass_cc::{Span, Time};

/// Packets in the order of arrival.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Waiting>,
    bytes: u64,
    drain: Span,
    limit: QueueLimit,
}

impl Fifo {
    /// An empty queue.
    pub fn new(limit: QueueLimit) -> Fifo {
        Fifo { packets: VecDeque::new(), bytes: 0, drain: Span::ZERO, limit }
    }

    /// Number of packets.
    pub fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// IP bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Transmission time of all packets.
    pub fn drain(&self) -> Span {
        self.drain
    }

    /// Queue length in the unit of `level`.
    pub fn measured_like(&self, level: Level) -> u64 {
        match level {
            Level::Packets(_) => self.len(),
            Level::Bytes(_) => self.bytes,
        }
    }

    /// Adds the packet. If the packet has to wait and the queue is full, it is dropped. Returns
    /// true if it was added.
    pub fn push(&mut self, packet: Waiting, waits: bool, drops: &mut Vec<Dropped>) -> bool {
        let size = u64::from(packet.handle.size);
        if waits && !self.limit.has_room(self.len(), self.bytes, size) {
            drops.push(Dropped { handle: packet.handle, early: false });
            return false;
        }
        self.bytes += size;
        self.drain = self.drain + packet.transmission;
        self.packets.push_back(packet);
        true
    }

    /// The first packet.
    pub fn first(&self) -> Option<&Waiting> {
        self.packets.front()
    }

    /// Takes the first packet.
    pub fn pop(&mut self) -> Option<Waiting> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.handle.size);
        self.drain = Span(self.drain.0 - packet.transmission.0);
        Some(packet)
    }
}

/// Drop-tail above a device's queue and at a radio. Otherwise the link decides.
impl QueueState for Fifo {
    fn enqueue(
        &mut self,
        _: Time,
        packet: Waiting,
        idle: Option<Span>,
        drops: &mut Vec<Dropped>,
    ) -> bool {
        self.push(packet, idle.is_none(), drops);
        false
    }

    fn dequeue(&mut self, _: Time, _: &mut Vec<Dropped>) -> Option<(Waiting, bool)> {
        self.pop().map(|packet| (packet, false))
    }

    fn len(&self) -> u64 {
        Fifo::len(self)
    }

    fn bytes(&self) -> u64 {
        Fifo::bytes(self)
    }
}
