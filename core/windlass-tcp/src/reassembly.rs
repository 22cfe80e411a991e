//! Ranges of a stream received out of order.

/// Disjoint, non-adjacent ranges `[start, end)` in ascending order.
///
/// The vector keeps its capacity, so that a connection allocates only while its largest reordering grows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges {
    ranges: Vec<(u64, u64)>,
    /// Start offsets of the most recently changed ranges, most recent first: the ranges that SACK reports
    /// (RFC 2018 section 4). The number is Linux's (`TCP_NUM_SACKS`).
    recent: [u64; REPORTED],
    /// Number of valid entries in `recent`.
    known: u8,
    /// Sum of the ranges' lengths.
    held: u64,
}

/// Number of ranges that are remembered for reports.
const REPORTED: usize = 4;
/// Number of ranges that every acknowledgement is expected to report, even with other options
/// (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

impl Ranges {
    /// True if no range is held.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Number of disjoint ranges.
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Number of bytes in all ranges.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.ranges.clear();
        (self.known, self.held) = (0, 0);
    }

    /// Adds `[start, end)` and merges it with the ranges that it touches. Returns true if any byte was new.
    pub fn insert(&mut self, start: u64, end: u64) -> bool {
        if start >= end {
            return false;
        }
        // Mostly the data follow the highest range, which is then also the most recent.
        if let Some(top) = self.ranges.last_mut()
            && top.1 == start
            && self.recent[0] == top.0
        {
            top.1 = end;
            self.held += end - start;
            return true;
        }
        let first = self.ranges.partition_point(|r| r.1 < start);
        let last = self.ranges.partition_point(|r| r.0 <= end);
        if first == last {
            self.ranges.insert(first, (start, end));
            self.held += end - start;
            self.touch(start, end);
            return true;
        }
        let merged = (self.ranges[first].0.min(start), self.ranges[last - 1].1.max(end));
        let new = last - first > 1 || merged != self.ranges[first];
        let before: u64 = self.ranges[first..last].iter().map(|r| r.1 - r.0).sum();
        self.held += merged.1 - merged.0 - before;
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..last);
        self.touch(merged.0, merged.1);
        new
    }

    /// Puts the range from `start` to `end` first in the reports, and removes the ranges that it absorbed.
    fn touch(&mut self, start: u64, end: u64) {
        let mut recent = [start; REPORTED];
        let mut known = 1;
        for &other in &self.recent[..usize::from(self.known)] {
            if !(start..=end).contains(&other) && known < REPORTED {
                recent[known] = other;
                known += 1;
            }
        }
        (self.recent, self.known) = (recent, known as u8);
    }

    /// True if `[start, end)` would put another range in front of two ranges that every acknowledgement is
    /// expected to report. The third range might then never be reported.
    pub fn pushes_out(&self, start: u64, end: u64) -> bool {
        let touches = |range: (u64, u64)| range.0 <= end && start <= range.1;
        let place = self.recent_first().position(touches);
        place.unwrap_or(usize::from(self.known)) >= EXPECTED
    }

    /// The first part of `[start, end)` that is already held.
    pub fn overlap(&self, start: u64, end: u64) -> Option<(u64, u64)> {
        let first = self.ranges.partition_point(|r| r.1 <= start);
        let range = self.ranges.get(first).filter(|r| r.0 < end && start < end)?;
        Some((range.0.max(start), range.1.min(end)))
    }

    /// Removes the ranges that `next` reaches. Returns the highest end of these ranges, or `next` if there
    /// are no such ranges.
    pub fn advance(&mut self, next: u64) -> u64 {
        let mut end = next;
        let reached = self.ranges.iter().take_while(|r| r.0 <= next).count();
        if reached == 0 {
            return end;
        }
        for r in self.ranges.drain(..reached) {
            end = end.max(r.1);
            self.held -= r.1 - r.0;
        }
        let mut known = 0;
        for place in 0..usize::from(self.known) {
            if self.recent[place] > next {
                self.recent[known] = self.recent[place];
                known += 1;
            }
        }
        self.known = known as u8;
        end
    }

    /// The most recently changed ranges, most recent first.
    pub fn recent_first(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.recent[..usize::from(self.known)].iter().filter_map(|start| {
            let top = self.ranges.last().filter(|r| r.0 == *start);
            top.copied().or_else(|| {
                let place = self.ranges.binary_search_by_key(start, |r| r.0).ok()?;
                Some(self.ranges[place])
            })
        })
    }

    /// Highest end of the remembered ranges.
    pub fn highest_reported(&self) -> Option<u64> {
        self.recent_first().map(|r| r.1).max()
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

    #[test]
    fn the_fifth_range_is_not_reported_and_a_merged_one_only_once() {
        let mut r = Ranges::default();
        for start in [10, 30, 50, 70, 90] {
            r.insert(start, start + 10);
        }
        let reported: Vec<_> = r.recent_first().collect();
        assert_eq!(reported, [(90, 100), (70, 80), (50, 60), (30, 40)]);
        assert!(!r.pushes_out(80, 85) && r.pushes_out(60, 65) && r.pushes_out(200, 210));
        r.insert(60, 70);
        let reported: Vec<_> = r.recent_first().collect();
        assert_eq!(reported, [(50, 80), (90, 100), (30, 40)]);
        assert_eq!(r.advance(40), 40);
        assert_eq!(r.recent_first().count(), 2);
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
