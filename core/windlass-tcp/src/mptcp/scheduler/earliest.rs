//! Earliest arrival: each segment is sent on the path with the earliest predicted arrival. A slow path that
//! has space gets data from further ahead. The data before it are planned for faster paths, so that all data
//! arrive in order.

use std::collections::VecDeque;

use windlass_cc::group::MAX_PATHS;

use super::path::{Assignment, Backlog, PathState};

/// The data planned for each path: ranges of the stream in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    paths: [VecDeque<(u64, u64)>; MAX_PATHS],
    /// Ranges whose path is gone. They are planned again before all others.
    loose: VecDeque<(u64, u64)>,
    /// Everything below this offset is planned or in `loose`.
    to: u64,
}

impl Plan {
    /// The next range of a path: the first range planned for it, or the first range that is not planned for
    /// any path.
    pub(super) fn next_for(&self, path: usize, b: &Backlog) -> Option<(u64, u64)> {
        self.front(path, b).or_else(|| first_beyond(b.una, &self.loose))
    }

    /// The first range planned for a path, without acknowledged data.
    fn front(&self, path: usize, b: &Backlog) -> Option<(u64, u64)> {
        first_beyond(b.una, &self.paths[path])
    }

    /// Bytes planned for a path, without acknowledged data.
    pub(super) fn bytes(&self, path: usize, una: u64) -> u64 {
        self.paths[path].iter().map(|r| r.1.saturating_sub(r.0.max(una))).sum()
    }

    /// True if no range waits for a path.
    pub(super) fn is_empty(&self) -> bool {
        self.loose.is_empty() && self.paths.iter().all(VecDeque::is_empty)
    }

    /// True if an offset waits for a path.
    pub(super) fn holds(&self, offset: u64) -> bool {
        let all = self.paths.iter().flatten().chain(&self.loose);
        all.into_iter().any(|r| r.0 <= offset && offset < r.1)
    }

    /// Withdraws the ranges planned for a path that is gone.
    pub(super) fn withdraw(&mut self, path: usize) {
        let ranges = std::mem::take(&mut self.paths[path]);
        self.loose.extend(ranges);
    }

    /// The next range of at most `len` bytes that is not planned for any path.
    pub(super) fn unplanned(&mut self, len: u64, b: &Backlog) -> Option<(u64, u64)> {
        if let Some(front) = self.loose.front_mut() {
            let range = (front.0, front.1.min(front.0 + len));
            front.0 = range.1;
            if front.0 == front.1 {
                self.loose.pop_front();
            }
            return Some(range);
        }
        self.to = self.to.max(b.next);
        let left = b.limit.saturating_sub(self.to);
        // A window that allows a part of a segment will soon allow the whole segment.
        let cut = b.limit < b.next + b.unsent && left < len;
        if left == 0 || cut && self.to > b.una {
            return None;
        }
        let range = (self.to, self.to + left.min(len));
        self.to = range.1;
        Some(range)
    }

    /// Notes that a piece is assigned to its path.
    pub(super) fn take(&mut self, a: &Assignment) {
        let ranges = &mut self.paths[a.path];
        while let Some(front) = ranges.front_mut() {
            front.0 = front.0.max(a.start + a.len);
            if front.0 < front.1 {
                return;
            }
            ranges.pop_front();
        }
    }

    /// Plans data until a path that has space has data to send.
    pub(super) fn next(&mut self, paths: &[PathState], b: &Backlog) -> Option<Assignment> {
        loop {
            if let Some(found) = self.ready(paths, b) {
                return Some(found);
            }
            if paths.iter().all(|p| p.room == 0) {
                return None;
            }
            let best = paths.iter().min_by_key(|p| (self.arrival(p, b.una), p.path))?;
            let range = self.unplanned(best.mss, b)?;
            self.give(best.path, range);
        }
    }

    /// The part of `len` bytes that can be planned in whole segments, or up to the end of the waiting data.
    pub(super) fn whole(&self, len: u64, mss: u64, b: &Backlog) -> u64 {
        let to = self.to.max(b.next);
        let left = b.limit.saturating_sub(to);
        let all = b.limit >= b.next + b.unsent;
        if len <= left || all { len } else { (left - left % mss.max(1)).max(mss) }
    }

    /// The first planned piece of a path that has space.
    pub(super) fn ready(&self, paths: &[PathState], b: &Backlog) -> Option<Assignment> {
        let piece = |p: &PathState| {
            let (start, end) = self.front(p.path, b)?;
            Some(Assignment { path: p.path, start, len: p.room.min(end - start) })
        };
        paths.iter().filter(|p| p.room > 0).find_map(piece)
    }

    /// Plans a range for a path.
    pub(super) fn give(&mut self, path: usize, range: (u64, u64)) {
        let ranges = &mut self.paths[path];
        let place = ranges.partition_point(|r| r.0 < range.0);
        ranges.insert(place, range);
    }

    /// Predicted time to the arrival of one more segment, nanoseconds. Data above cwnd wait for
    /// acknowledgements, which release one cwnd per RTT. Half an RTT for the delivery is added.
    fn arrival(&self, p: &PathState, una: u64) -> u128 {
        let ahead = p.in_flight + self.bytes(p.path, una) + p.mss;
        let excess = u128::from(ahead.saturating_sub(p.cwnd));
        excess * u128::from(p.srtt.0) / u128::from(p.cwnd.max(1)) + u128::from(p.srtt.0 / 2)
    }
}

/// The first part of the ranges that is not acknowledged.
fn first_beyond(una: u64, ranges: &VecDeque<(u64, u64)>) -> Option<(u64, u64)> {
    ranges.iter().map(|r| (r.0.max(una), r.1)).find(|r| r.0 < r.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_bytes_exclude_acknowledged_data() {
        let mut plan = Plan::default();
        plan.paths[0].extend([(1, 1001), (2001, 3001)]);
        assert_eq!(plan.bytes(0, 1), 2000);
        assert_eq!(plan.bytes(0, 501), 1500);
        assert_eq!(plan.bytes(0, 2501), 500);
    }
    #[test]
    fn plan_holds_the_offsets_of_its_ranges_only() {
        let mut plan = Plan::default();
        plan.paths[1].push_back((1_001, 2_001));
        plan.loose.push_back((3_001, 4_001));
        let held = [1_000, 1_001, 2_000, 2_001, 3_000, 3_001, 4_000, 4_001];
        let held = held.map(|offset| plan.holds(offset));
        assert_eq!(held, [false, true, true, false, false, true, true, false]);
    }
}
