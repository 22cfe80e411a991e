//! Matching of loss events in time, for the detection of a shared bottleneck (Zhang, Lai,
//! Krishnamurthy, Peterson, Wang 2004, section 5.3; Mudassir and Baig 2021, equation 14).
//!
//! Two events on two paths match if they are less than an interval apart. Only the events of the last
//! interval are stored, because an event cannot match an older event:
//!
//! * every pair: an event matches all events of the other path in the interval before it;
//! * one to one: an event matches the oldest event of the other path in the interval before it that has
//!   no partner yet. This is a maximum matching. At any time only one of two paths can have events
//!   without a partner, and the oldest of them is the first to expire.

use crate::group::MAX_PATHS;
use crate::time::{Span, Time};

/// Number of different times stored per path within the last interval. If there are more, the oldest
/// are discarded, and their matches are missed.
pub const REMEMBERED: usize = 32;

crate::choice! {
    /// Matching of the events of two paths (MF-13).
    pub enum Matching {
        /// Every pair counts: Algorithm 1 of MFVL as printed. One event may match many.
        Pairs = "literal",
        /// Each event has at most one partner: the maximum matching, as in the cited work.
        OneToOne = "one-to-one",
    }
}

/// Events of one path within the last interval, oldest first, in a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Recent {
    moments: [(Time, u32); REMEMBERED],
    first: usize,
    count: usize,
    /// Number of events at all times in the ring.
    alive: u32,
}

impl Recent {
    const EMPTY: Recent =
        Recent { moments: [(Time::ZERO, 0); REMEMBERED], first: 0, count: 0, alive: 0 };

    fn drop_oldest(&mut self) {
        if let Some((_, events)) = self.moments.get(self.first % REMEMBERED) {
            self.alive = self.alive.saturating_sub(*events);
        }
        self.first = (self.first + 1) % REMEMBERED;
        self.count = self.count.saturating_sub(1);
    }

    /// Discards events at least an interval before `now`.
    fn expire(&mut self, now: Time, interval: Span) {
        while self.count > 0 {
            let oldest = self.moments.get(self.first % REMEMBERED);
            if oldest.is_some_and(|(at, _)| now.since(*at) < interval) {
                return;
            }
            self.drop_oldest();
        }
    }

    fn add(&mut self, now: Time, events: u32) {
        if self.count == REMEMBERED {
            self.drop_oldest();
        }
        let place = (self.first + self.count) % REMEMBERED;
        if let Some(moment) = self.moments.get_mut(place) {
            *moment = (now, events);
        }
        self.count += 1;
        self.alive = self.alive.saturating_add(events);
    }
}

/// Counts events and matches, from one [`begin`](Detector::begin) to the next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Detector {
    matching: Matching,
    interval: Span,
    recent: [Recent; MAX_PATHS],
    /// Events of each path.
    events: [u32; MAX_PATHS],
    /// Number of the latest events of the first path that have no partner on the second.
    waiting: [[u32; MAX_PATHS]; MAX_PATHS],
    /// Matches between two paths, stored at both index pairs.
    matches: [[u32; MAX_PATHS]; MAX_PATHS],
}

impl Detector {
    /// Creates a detector for events less than `interval` apart.
    pub fn new(matching: Matching, interval: Span) -> Detector {
        Detector {
            matching,
            interval,
            recent: [Recent::EMPTY; MAX_PATHS],
            events: [0; MAX_PATHS],
            waiting: [[0; MAX_PATHS]; MAX_PATHS],
            matches: [[0; MAX_PATHS]; MAX_PATHS],
        }
    }

    /// Resets the counts of events; with `keep_matches` the counts of matches continue (MF-12).
    pub fn begin(&mut self, keep_matches: bool) {
        let matches = self.matches;
        *self = Detector::new(self.matching, self.interval);
        if keep_matches {
            self.matches = matches;
        }
    }

    /// Records `events` simultaneous events on the path with this index. Time must not go back. Paths
    /// beyond [`MAX_PATHS`] are ignored.
    pub fn record(&mut self, now: Time, place: usize, events: u32) {
        if place >= MAX_PATHS || events == 0 {
            return;
        }
        for other in (0..MAX_PATHS).filter(|other| *other != place) {
            let matched = self.matched(now, place, other, events);
            for (a, b) in [(place, other), (other, place)] {
                if let Some(sum) = at(&mut self.matches, a, b) {
                    *sum = sum.saturating_add(matched);
                }
            }
        }
        if let Some(recent) = self.recent.get_mut(place) {
            recent.expire(now, self.interval);
            recent.add(now, events);
        }
        if let Some(sum) = self.events.get_mut(place) {
            *sum = sum.saturating_add(events);
        }
    }

    /// Number of matches of `events` new events with another path.
    fn matched(&mut self, now: Time, place: usize, other: usize, events: u32) -> u32 {
        let Some(recent) = self.recent.get_mut(other) else { return 0 };
        recent.expire(now, self.interval);
        let alive = recent.alive;
        if self.matching == Matching::Pairs {
            return alive.saturating_mul(events);
        }
        // Partners are assigned, and events expire, in order of age. Therefore the events without a
        // partner are the latest, and at most `alive` of them have not expired.
        let mut matched = 0;
        if let Some(waiting) = at(&mut self.waiting, other, place) {
            let free = (*waiting).min(alive);
            matched = free.min(events);
            *waiting = free - matched;
        }
        if let Some(waiting) = at(&mut self.waiting, place, other) {
            *waiting = waiting.saturating_add(events - matched);
        }
        matched
    }

    /// Number of events on a path.
    pub fn events(&self, place: usize) -> u32 {
        self.events.get(place).copied().unwrap_or(0)
    }

    /// Number of matches between two paths.
    pub fn matches(&self, a: usize, b: usize) -> u32 {
        self.matches.get(a).and_then(|row| row.get(b)).copied().unwrap_or(0)
    }

    /// Equation 14: true if matches over the smaller number of events exceed `delta`, in units of
    /// 1/65536. Without an event on one of the paths it is false (MF-14).
    pub fn shared(&self, a: usize, b: usize, delta: crate::Ratio) -> bool {
        let least = u64::from(self.events(a).min(self.events(b)));
        least > 0
            && u64::from(self.matches(a, b)) << 16 > crate::arithmetic::math::mul(delta.0, least)
    }
}

fn at(table: &mut [[u32; MAX_PATHS]; MAX_PATHS], a: usize, b: usize) -> Option<&mut u32> {
    table.get_mut(a).and_then(|row| row.get_mut(b))
}
