//! A set of stream offsets as ranges.

/// Disjoint ranges `[start, end)` in order, which do not touch each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans(Vec<(u64, u64)>);

impl Spans {
    /// Adds a range.
    pub fn insert(&mut self, start: u64, end: u64) {
        if start >= end {
            return;
        }
        let first = self.0.partition_point(|(_, e)| *e < start);
        let last = self.0.partition_point(|(s, _)| *s <= end);
        let joined = self.0[first..last]
            .iter()
            .fold((start, end), |(s, e), (from, to)| (s.min(*from), e.max(*to)));
        self.0.splice(first..last, [joined]);
    }

    /// True if the set contains the whole range.
    pub fn covers(&self, start: u64, end: u64) -> bool {
        start >= end || self.0.iter().any(|(s, e)| *s <= start && end <= *e)
    }

    /// Returns the first offset that is not in the set.
    pub fn contiguous(&self) -> u64 {
        self.0.first().filter(|(start, _)| *start == 0).map_or(0, |(_, end)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn touching_ranges_are_joined_and_others_stay_separate() {
        let mut spans = Spans::default();
        for (start, end) in [(10, 20), (30, 40), (5, 5), (20, 25), (50, 60)] {
            spans.insert(start, end);
        }
        assert_eq!(spans.0, [(10, 25), (30, 40), (50, 60)]);
        assert!(spans.covers(12, 25) && !spans.covers(24, 31) && spans.covers(7, 7));
        assert_eq!(spans.contiguous(), 0);
        spans.insert(0, 35);
        assert_eq!(spans.0, [(0, 40), (50, 60)]);
        assert_eq!(spans.contiguous(), 40);
    }
}
