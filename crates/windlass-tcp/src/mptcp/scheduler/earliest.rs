//! Earliest arrival: each segment goes on the path on which it is predicted to arrive first. A path
//! that has room and is slow gets data from further ahead, the data before it being planned for
//! the faster ones, so that all arrives in order.

use std::collections::VecDeque;

use windlass_cc::group::MAX_PATHS;

use super::path::{Assignment, Backlog, PathState};

/// What is planned for each path, ranges of the stream in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    paths: [VecDeque<(u64, u64)>; MAX_PATHS],
    /// Ranges whose path is gone: they are planned again before all others.
    loose: VecDeque<(u64, u64)>,
    /// Everything below is planned, or loose.
    to: u64,
}

impl Plan {
    /// What a path would carry next: the first range planned for it, or else one that no path is
    /// to carry yet.
    pub(super) fn next_for(&self, path: usize, b: &Backlog) -> Option<(u64, u64)> {
        self.front(path, b).or_else(|| first_beyond(b.una, &self.loose))
    }

    /// The first range planned for a path, what is acknowledged meanwhile left out.
    fn front(&self, path: usize, b: &Backlog) -> Option<(u64, u64)> {
        first_beyond(b.una, &self.paths[path])
    }

    /// Bytes planned for a path, what is acknowledged meanwhile left out.
    pub(super) fn bytes(&self, path: usize, una: u64) -> u64 {
        self.paths[path].iter().map(|r| r.1.saturating_sub(r.0.max(una))).sum()
    }

    /// Whether ranges wait for a path.
    pub(super) fn is_empty(&self) -> bool {
        self.loose.is_empty() && self.paths.iter().all(VecDeque::is_empty)
    }

    /// Whether an offset waits for a path.
    pub(super) fn holds(&self, offset: u64) -> bool {
        let all = self.paths.iter().flatten().chain(&self.loose);
        all.into_iter().any(|r| r.0 <= offset && offset < r.1)
    }

    /// A path is gone, and what was planned for it goes elsewhere.
    pub(super) fn withdraw(&mut self, path: usize) {
        let ranges = std::mem::take(&mut self.paths[path]);
        self.loose.extend(ranges);
    }

    /// The next `len` bytes or less that no path is to carry yet.
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
        // A window that lets a part of a segment go will soon let all of it go.
        let cut = b.limit < b.next + b.unsent && left < len;
        if left == 0 || cut && self.to > b.una {
            return None;
        }
        let range = (self.to, self.to + left.min(len));
        self.to = range.1;
        Some(range)
    }

    /// A piece is with its path.
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

    /// Plans ahead until a path that has room has something to send.
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

    /// As much of `len` bytes as can be planned in whole segments, or to the end of what waits.
    pub(super) fn whole(&self, len: u64, mss: u64, b: &Backlog) -> u64 {
        let to = self.to.max(b.next);
        let left = b.limit.saturating_sub(to);
        let all = b.limit >= b.next + b.unsent;
        if len <= left || all { len } else { (left - left % mss.max(1)).max(mss) }
    }

    /// What is planned for a path that has room, if there is one.
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

    /// Predicted time to the arrival of one more segment, nanoseconds: what exceeds the window has
    /// to wait for acknowledgements, which come at a window per round trip, and then half a
    /// round trip.
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
    fn what_is_acknowledged_is_nothing_that_a_path_has_to_carry() {
        let mut plan = Plan::default();
        plan.paths[0].extend([(1, 1001), (2001, 3001)]);
        assert_eq!(plan.bytes(0, 1), 2000);
        assert_eq!(plan.bytes(0, 501), 1500);
        assert_eq!(plan.bytes(0, 2501), 500);
    }
}
