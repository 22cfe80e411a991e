//! What a station and its receivers know of the packets under block acknowledgement: see
//! [`aggregation`](crate::radio::aggregation).

use std::collections::VecDeque;

use windlass_cc::Time;

use crate::packet::PacketHandle;
use crate::radio::aggregation::Aggregation;

/// What a station knows of a packet in its queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mark {
    /// Its number among those for its receiver, from 1; 0 before it is first sent.
    pub(super) number: u64,
    /// When it was first sent.
    pub(super) since: Time,
    /// Attempts that failed.
    pub(super) tries: u32,
    /// Whether the receiver has it, which the station does not know yet.
    pub(super) accepted: bool,
    /// Whether the frame that ends just now brought it.
    pub(super) arrived: bool,
}

/// What the receiver has of a number.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    Missing,
    Held(PacketHandle),
    GivenUp,
}

/// Packets on their way to one receiver.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) receiver: u32,
    /// The highest number so far.
    pub(super) issued: u64,
    /// The number that the receiver hands on next, and what it has from there on.
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

    /// What the receiver hands on, in order.
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
    /// Beside the packets of the queue.
    pub(super) marks: VecDeque<Mark>,
    /// Places in the queue of those that are in the frame being tried.
    pub(super) flight: Vec<usize>,
    /// Its bytes.
    pub(super) bytes: u32,
    pub(super) windows: Vec<Window>,
    /// How often in a row no answer came.
    pub(super) unanswered: u32,
    /// Packets in the queue that their receiver has.
    pub(super) accepted: u64,
    /// Packets that receivers keep until an earlier one comes.
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

    /// A packet comes into the queue.
    pub(super) fn push(&mut self) {
        self.marks.push_back(Mark::default());
    }

    /// The first packet, a broadcast, leaves it.
    pub(super) fn pop(&mut self) {
        self.marks.pop_front();
    }

    /// Attempts of what is being tried that nothing answered. Frames that are sent again after a block acknowledgement
    /// begin anew.
    pub(super) fn unanswered(&self) -> u32 {
        self.unanswered
    }

    /// What has to be added to the queue's length for those that no receiver has handed on, and subtracted from it.
    pub(super) fn correction(&self) -> (u64, u64) {
        (self.held, self.accepted)
    }

    /// Frames in flight.
    pub(super) fn frames(&self) -> u32 {
        self.flight.len() as u32
    }

    /// Bytes of what is in flight.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }
}
