//! Pending events in order of (time, insertion number).

use windlass_cc::Time;

/// A pending event: time in the high 64 bits, then 40 bits of insertion number, then 24 bits of
/// entity. One comparison gives the total order of events, with ties in the order of insertion.
type Key = u128;

const ENTITY_BITS: u32 = 24;
const ORDER_BITS: u32 = 40;

/// Maximum number of entities that an event queue can address.
pub const MAX_ENTITIES: usize = 1 << ENTITY_BITS;

/// Key after all events.
const NEVER: Key = Key::MAX;

/// Index of the root. The groups of four children then begin at multiples of four, each in one or
/// two cache lines.
const ROOT: usize = 3;

/// A position in the order of events.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(Key);

/// A four-ary heap of events.
///
/// The event in process stays at the root. Events scheduled meanwhile are later in the order. An
/// entity with a following event replaces its own entry with one sift.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The heap from [`ROOT`] on. It is filled to whole groups with [`NEVER`], so that each group
    /// can be read as a whole.
    heap: Vec<Key>,
    /// Index of the next inserted event.
    end: usize,
    order: u64,
}

impl Default for EventQueue {
    fn default() -> EventQueue {
        EventQueue::with_capacity(0)
    }
}

impl EventQueue {
    /// An empty queue with room for `n` events.
    pub fn with_capacity(n: usize) -> EventQueue {
        let mut heap = Vec::with_capacity(n + 2 * ROOT + 2);
        heap.resize(ROOT + 1, NEVER);
        EventQueue { heap, end: ROOT, order: 0 }
    }

    /// Time and entity of the next event.
    #[inline]
    pub fn next(&self) -> Option<(Time, u32)> {
        let key = self.heap[ROOT];
        (key != NEVER).then_some((Time((key >> 64) as u64), entity_of(key)))
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.end - ROOT
    }

    /// True if no event is pending.
    pub fn is_empty(&self) -> bool {
        self.end == ROOT
    }

    #[inline]
    fn key(&mut self, time: Time, entity: u32) -> Key {
        debug_assert!((entity as usize) < MAX_ENTITIES);
        if self.order == 1 << ORDER_BITS {
            self.renumber();
        }
        let order = self.order;
        self.order += 1;
        (u128::from(time.0) << 64) | u128::from(order << ENTITY_BITS) | u128::from(entity)
    }

    /// Renumbers the pending events in their order, after the numbers have run out (10^12 events).
    /// A sorted list is a heap, and the event at the root, which is the minimum, stays there.
    #[cold]
    fn renumber(&mut self) {
        let pending = &mut self.heap[ROOT..self.end];
        pending.sort_unstable();
        let others = !(((1 << ORDER_BITS) - 1) << ENTITY_BITS);
        for (order, key) in (0u128..).zip(pending) {
            *key = *key & others | order << ENTITY_BITS;
        }
        self.order = self.len() as u64;
    }

    /// Adds an event.
    #[inline]
    pub fn schedule(&mut self, time: Time, entity: u32) {
        let key = self.key(time, entity);
        let mut at = self.end;
        self.end += 1;
        if at == self.heap.len() {
            self.heap.resize(at + 4, NEVER);
        }
        while at > ROOT {
            let parent = at / 4 + ROOT - 1;
            let above = self.heap[parent];
            if above < key {
                break;
            }
            self.heap[at] = above;
            at = parent;
        }
        self.heap[at] = key;
    }

    /// Removes the event at the root, and schedules the same entity at `time`.
    #[inline]
    pub fn replace_next(&mut self, time: Time, entity: u32) {
        let ticket = self.ticket(time, entity);
        self.replace_next_by(ticket);
    }

    /// The position in the order of an event that would be scheduled now.
    #[inline]
    pub(crate) fn ticket(&mut self, time: Time, entity: u32) -> Ticket {
        Ticket(self.key(time, entity))
    }

    /// True if only the event at the root precedes the event with this ticket.
    #[inline]
    pub(crate) fn comes_next(&self, Ticket(key): Ticket) -> bool {
        self.heap.iter().skip(ROOT + 1).take(4).all(|other| key < *other)
    }

    /// Removes the event at the root, and schedules the event with this ticket.
    #[inline]
    pub(crate) fn replace_next_by(&mut self, Ticket(key): Ticket) {
        self.sift_down(key);
    }

    /// Removes the event at the root.
    #[inline]
    pub fn finish_next(&mut self) {
        if self.end > ROOT {
            self.end -= 1;
            let last = std::mem::replace(&mut self.heap[self.end], NEVER);
            if self.end > ROOT {
                self.sift_down(last);
            }
        }
    }

    /// Puts `key` into the hole at the root.
    #[inline]
    fn sift_down(&mut self, key: Key) {
        let heap = &mut self.heap[..];
        let mut at = ROOT;
        while let Some(&[a, b, c, d]) = heap.get(4 * at - 8..).and_then(<[Key]>::first_chunk) {
            let lesser = |a: (usize, Key), b: (usize, Key)| if b.1 < a.1 { b } else { a };
            let (least, least_key) = lesser(lesser((0, a), (1, b)), lesser((2, c), (3, d)));
            if key < least_key {
                break;
            }
            heap[at] = least_key;
            at = 4 * at - 8 + least;
        }
        heap[at] = key;
    }
}

#[inline(always)]
fn entity_of(key: Key) -> u32 {
    key as u32 & ((1 << ENTITY_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn events_come_in_order_of_time_and_then_of_insertion(
            steps in prop::collection::vec((0u64..50, 0u64..3), 1..300),
            until_full in 0u64..300,
        ) {
            // The numbers may run out during the test.
            let mut events = EventQueue { order: (1 << ORDER_BITS) - until_full, ..EventQueue::default() };
            let mut model: Vec<(u64, u64, u32)> = Vec::new();
            let mut order = 0;
            let mut now = 0;
            for (i, (delay, action)) in steps.into_iter().enumerate() {
                let entity = i as u32;
                if action == 0 && !model.is_empty() {
                    model.sort();
                    let (time, _, e) = model.remove(0);
                    prop_assert_eq!(events.next(), Some((Time(time), e)));
                    now = time;
                    if delay % 2 == 0 {
                        events.replace_next(Time(now + delay), e);
                        model.push((now + delay, order, e));
                        order += 1;
                    } else {
                        events.finish_next();
                    }
                } else {
                    events.schedule(Time(now + delay), entity);
                    model.push((now + delay, order, entity));
                    order += 1;
                }
                prop_assert_eq!(events.len(), model.len());
            }
        }
    }
}
