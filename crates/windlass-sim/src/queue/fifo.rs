//! First in, first out, within a limit.

use std::collections::VecDeque;

use super::waiting::{Dropped, Level, Waiting};
use crate::link::QueueLimit;
use windlass_cc::Span;

/// Packets in the order in which they came.
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

    /// Packets.
    pub fn len(&self) -> u64 {
        self.packets.len() as u64
    }

    /// IP bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Time that transmitting everything takes.
    pub fn drain(&self) -> Span {
        self.drain
    }

    /// The length in the units of `level`.
    pub fn measured_like(&self, level: Level) -> u64 {
        match level {
            Level::Packets(_) => self.len(),
            Level::Bytes(_) => self.bytes,
        }
    }

    /// Adds the packet, or drops it if it has to wait and there is no room. Whether it was added.
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

    /// Takes the first packet.
    pub fn pop(&mut self) -> Option<Waiting> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.handle.size);
        self.drain = Span(self.drain.0 - packet.transmission.0);
        Some(packet)
    }
}
