//! Ranges of a stream received out of order.

/// Disjoint, non-adjacent ranges `[start, end)` in ascending order.
///
/// The vector keeps its capacity, so that a connection allocates only while its worst reordering
/// grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<(u64, u64)>,
    /// Start of the range that the last insertion touched; SACK reports it first.
    latest: u64,
}

impl Ranges {
    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of disjoint ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }

    /// Adds `[start, end)`, merging with what it touches. Returns whether anything was new.
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return false;
        }
        let first = self.ranges.partition_point(|r| r.1 < start);
        let last = self.ranges.partition_point(|r| r.0 <= end);
        self.latest = start;
        if first == last {
            self.ranges.insert(first, (start, end));
            return true;
        }
        let merged = (self.ranges[first].0.min(start), self.ranges[last - 1].1.max(end));
        let new = last - first > 1 || merged != self.ranges[first];
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..last);
        self.latest = merged.0;
        new
    }

    /// The first part of `[start, end)` that is held already.
    pub fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let first = self.ranges.partition_point(|r| r.1 <= start);
        let range = self.ranges.get(first).filter(|r| r.0 < end && start < end)?;
        Some((range.0.max(start), range.1.min(end)))
    }

    /// Takes off the range that `next` now reaches and returns its end, or `next` itself.
    pub fn advance(&mut self, next: u64) -> u64 {
        let mut end = next;
        let reached = self.ranges.iter().take_while(|r| r.0 <= next).count();
        for r in self.ranges.drain(..reached) {
            end = end.max(r.1);
        }
        end
    }

    /// The ranges, the one touched last first, then from the highest down (RFC 2018 section 4).
    pub fn recent_first(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let place = self.ranges.partition_point(|r| r.1 <= self.latest);
        let latest = self.ranges.get(place).copied().filter(|r| r.0 <= self.latest);
        latest
            .into_iter()
            .chain(self.ranges.iter().rev().copied().filter(move |r| Some(*r) != latest))
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|r| r.1 - r.0).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_range_touched_last_is_reported_first() {
        let mut r = Ranges::default();
        r.insert(10, 20);
        r.insert(50, 60);
        r.insert(30, 40);
        assert_eq!(r.recent_first().collect::<Vec<_>>(), [(30, 40), (50, 60), (10, 20)]);
    }

    proptest! {
        #[test]
        fn ranges_hold_exactly_the_inserted_bytes(
            inserts in prop::collection::vec((0u64..200, 1u64..20), 0..40),
            next in 0u64..220,
        ) {
            let mut r = Ranges::default();
            let mut model = [false; 256];
            for (start, len) in inserts {
                let fresh = model[start as usize..(start + len) as usize].iter().any(|b| !b);
                prop_assert_eq!(r.insert(start, start + len), fresh);
                model[start as usize..(start + len) as usize].fill(true);
            }
            prop_assert_eq!(r.bytes() as usize, model.iter().filter(|b| **b).count());
            for w in r.ranges.windows(2) {
                prop_assert!(w[0].1 < w[1].0, "adjacent ranges are merged");
            }
            let end = r.advance(next);
            let mut expected = next as usize;
            while model[expected] { expected += 1; }
            prop_assert_eq!(end as usize, expected);
        }
    }
}
