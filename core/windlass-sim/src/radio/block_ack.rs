//! The state of packets under block acknowledgement at a station and its receivers: see
//! [`aggregation`](crate::radio::aggregation).

use std::collections::VecDeque;

use windlass_cc::Time;

use crate::packet::PacketHandle;
use crate::radio::aggregation::Aggregation;

/// State of a packet in the queue of a station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// Number of the packet among the packets for its receiver, from 1; 0 before the first transmission.
    pub(super) number: u64,
    /// Time of the first transmission.
    pub(super) since: Time,
    /// Failed attempts.
    pub(super) tries: u32,
    /// True if the receiver has the packet. The station learns this only from an acknowledgement.
    pub(super) accepted: bool,
    /// True if the frame that ends now delivered the packet.
    pub(super) arrived: bool,
}

/// State of a packet number at the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    Missing,
    Held(PacketHandle),
    GivenUp,
}

/// Packets in transmission to one receiver.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) receiver: u32,
    /// Highest number in use.
    pub(super) issued: u64,
    /// Number of the packet that the receiver hands on next. The first of `slots` is the state of this
    /// packet.
    pub(super) next: u64,
    pub(super) slots: VecDeque<Slot>,
}

impl Window {
    pub(super) fn set(&mut self, number: u64, slot: Slot) {
        let Some(place) = number.checked_sub(self.next).map(|place| place as usize) else { return };
        if self.slots.len() <= place {
            self.slots.resize(place + 1, Slot::Missing);
        }
        self.slots[place] = slot;
    }

    /// Releases the next packet in order: `None` if it is missing, `Some(None)` if it was given up.
    pub(super) fn release(&mut self) -> Option<Option<PacketHandle>> {
        let released = match self.slots.front()? {
            Slot::Missing => return None,
            Slot::Held(handle) => Some(*handle),
            Slot::GivenUp => None,
        };
        self.slots.pop_front();
        self.next += 1;
        Some(released)
    }
}

/// The aggregation of a station.
#[derive(Clone, Debug)]
pub(super) struct Aggregator {
    pub(super) limits: Aggregation,
    /// Marks of the packets in the queue, in the same order.
    pub(super) marks: VecDeque<Mark>,
    /// Places in the queue of the packets in the present frame.
    pub(super) flight: Vec<usize>,
    /// Size of the present frame, bytes.
    pub(super) bytes: u32,
    pub(super) windows: Vec<Window>,
    /// Consecutive attempts without an answer.
    pub(super) unanswered: u32,
    /// Packets in the queue that their receivers have.
    pub(super) accepted: u64,
    /// Packets that receivers keep until an earlier packet arrives.
    pub(super) held: u64,
}

impl Aggregator {
    pub(super) fn new(limits: Aggregation) -> Aggregator {
        Aggregator {
            limits,
            marks: VecDeque::new(),
            flight: Vec::new(),
            bytes: 0,
            windows: Vec::new(),
            unanswered: 0,
            accepted: 0,
            held: 0,
        }
    }

    pub(super) fn window(&mut self, receiver: u32) -> &mut Window {
        let known = self.windows.iter().position(|w| w.receiver == receiver);
        let place = known.unwrap_or(self.windows.len());
        if known.is_none() {
            let slots = VecDeque::new();
            self.windows.push(Window { receiver, issued: 0, next: 1, slots });
        }
        &mut self.windows[place]
    }

    /// A packet enters the queue.
    pub(super) fn push(&mut self) {
        self.marks.push_back(Mark::default());
    }

    /// The first packet, a broadcast, leaves the queue.
    pub(super) fn pop(&mut self) {
        self.marks.pop_front();
    }

    /// Consecutive attempts of the present frame without an answer. A block acknowledgement resets the count.
    pub(super) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// Corrections of the queue length: the packets to add (kept by receivers, not yet handed on) and the packets
    /// to subtract (in the queue, but already received).
    pub(super) fn correction(&self) -> (u64, u64) {
        (self.held, self.accepted)
    }

    /// Number of frames in flight.
    pub(super) fn frames(&self) -> u32 {
        self.flight.len() as u32
    }

    /// Size of the frame in flight, bytes.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }
}
