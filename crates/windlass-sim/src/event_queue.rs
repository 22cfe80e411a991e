//! The events: pending events in order of (time, insertion number).

use windlass_cc::Time;

/// A pending event: time in the high 64 bits, then 40 bits of insertion number, then 24 bits of
/// entity. One comparison orders events totally, ties by insertion.
type Key = u128;

const ENTITY_BITS: u32 = 24;
const ORDER_BITS: u32 = 40;

/// Most entities that an event queue can address.
pub const MAX_ENTITIES: usize = 1 << ENTITY_BITS;

/// A four-ary heap of events.
///
/// The event being processed stays at the root meanwhile: whatever is scheduled in its course
/// comes later, and an entity that goes on replaces its own entry with one sift.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<Key>,
    order: u64,
}

impl EventQueue {
    /// An empty events with room for `n` events.
    pub fn with_capacity(n: usize) -> EventQueue {
        EventQueue { heap: Vec::with_capacity(n), order: 0 }
    }

    /// The next event: when, and whose.
    #[inline]
    pub fn next(&self) -> Option<(Time, u32)> {
        let key = *self.heap.first()?;
        Some((Time((key >> 64) as u64), key as u32 & ((1 << ENTITY_BITS) - 1)))
    }

    /// Pending events.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
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

    /// The numbers have run out, after 10^12 events: those pending are numbered anew, in their order. A sorted
    /// list is a heap, and the event at the root, which is the least, stays there.
    #[cold]
    fn renumber(&mut self) {
        self.heap.sort_unstable();
        let others = !(((1 << ORDER_BITS) - 1) << ENTITY_BITS);
        for (order, key) in (0u128..).zip(&mut self.heap) {
            *key = *key & others | order << ENTITY_BITS;
        }
        self.order = self.heap.len() as u64;
    }

    /// Adds an event.
    #[inline]
    pub fn schedule(&mut self, time: Time, entity: u32) {
        let key = self.key(time, entity);
        let mut at = self.heap.len();
        self.heap.push(key);
        while at > 0 {
            let parent = (at - 1) / 4;
            if self.heap[parent] < key {
                break;
            }
            self.heap[at] = self.heap[parent];
            at = parent;
        }
        self.heap[at] = key;
    }

    /// The event at the root is done and the same entity goes on at `time`.
    #[inline]
    pub fn replace_next(&mut self, time: Time, entity: u32) {
        let key = self.key(time, entity);
        self.sift_down(key);
    }

    /// The event at the root is done.
    #[inline]
    pub fn finish_next(&mut self) {
        if let Some(last) = self.heap.pop()
            && !self.heap.is_empty()
        {
            self.sift_down(last);
        }
    }

    /// Puts `key` into the hole at the root.
    #[inline]
    fn sift_down(&mut self, key: Key) {
        let heap = &mut self.heap[..];
        let mut at = 0;
        while let Some((least, least_key)) = least_child(heap, at) {
            if key < least_key {
                break;
            }
            heap[at] = least_key;
            at = least;
        }
        heap[at] = key;
    }
}

/// The least of the up to four children of a place in the heap, with its own place.
#[inline(always)]
fn least_child(heap: &[Key], at: usize) -> Option<(usize, Key)> {
    let first = 4 * at + 1;
    let lesser = |a: (usize, Key), b: (usize, Key)| if b.1 < a.1 { b } else { a };
    if let Some(&[a, b, c, d]) = heap.get(first..).and_then(<[Key]>::first_chunk) {
        return Some(lesser(
            lesser((first, a), (first + 1, b)),
            lesser((first + 2, c), (first + 3, d)),
        ));
    }
    let few = heap.get(first..)?.iter().copied();
    (first..).zip(few).reduce(lesser)
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
            // The numbers may run out on the way.
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
