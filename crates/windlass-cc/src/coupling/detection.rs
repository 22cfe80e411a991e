//! Which paths lose at the same moments: matching of events for the detection of a shared
//! bottleneck (Zhang, Lai, Krishnamurthy, Peterson, Wang 2004, section 5.3; Mudassir and Baig 2021,
//! equation 14).
//!
//! Two events on two paths match when they lie less than an interval apart. Nothing is stored but
//! the events of the last interval, since an event can match none that is older:
//!
//! * every pair: an event matches all events of the other path in the interval before it;
//! * one to one: an event takes the oldest event of the other path in the interval before it that
//!   has no partner yet. No matching has more pairs: at any moment only one of two paths can have
//!   events that still wait for a partner, and the oldest of them is the first to be too old.

use crate::group::MAX_PATHS;
use crate::time::{Span, Time};

/// Different moments that are remembered of the last interval for each path. With more of them the
/// oldest are forgotten, and matches with those are missed.
pub const REMEMBERED: usize = 32;

crate::choice! {
    /// How events of two paths are matched (MF-13).
    pub enum Matching {
        /// Every pair counts: Algorithm 1 of MFVL as printed. One event may match many.
        Pairs = "literal",
        /// Each event has one partner at most: the largest matching, as in the work cited.
        OneToOne = "one-to-one",
    }
}

/// Events of one path within the last interval, oldest first, in a ring.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Recent {
    moments: [(Time, u32); REMEMBERED],
    first: usize,
    count: usize,
    /// Events at all moments in the ring.
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

    /// Forgets what lies an interval or more before `now`.
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
    /// The newest so many events of the first path have no partner on the second.
    waiting: [[u32; MAX_PATHS]; MAX_PATHS],
    /// Matches between two paths, in both places.
    matches: [[u32; MAX_PATHS]; MAX_PATHS],
}

impl Detector {
    /// A detector for events less than `interval` apart.
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

    /// Counts events anew; with `keep_matches` the matches go on from where they are (MF-12).
    pub fn begin(&mut self, keep_matches: bool) {
        let matches = self.matches;
        *self = Detector::new(self.matching, self.interval);
        if keep_matches {
            self.matches = matches;
        }
    }

    /// So many events on the path with this place at once. Time does not go back; paths beyond
    /// [`MAX_PATHS`] are not heard.
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

    /// Matches that so many new events have on another path.
    fn matched(&mut self, now: Time, place: usize, other: usize, events: u32) -> u32 {
        let Some(recent) = self.recent.get_mut(other) else { return 0 };
        recent.expire(now, self.interval);
        let alive = recent.alive;
        if self.matching == Matching::Pairs {
            return alive.saturating_mul(events);
        }
        // Partners are given oldest first and old age comes oldest first: those without a partner
        // are the newest, and those of them that are alive are no more than all that are.
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

    /// Events on a path.
    pub fn events(&self, place: usize) -> u32 {
        self.events.get(place).copied().unwrap_or(0)
    }

    /// Matches between two paths.
    pub fn matches(&self, a: usize, b: usize) -> u32 {
        self.matches.get(a).and_then(|row| row.get(b)).copied().unwrap_or(0)
    }

    /// Equation 14: whether matches over the lesser number of events exceed `delta`, in units of
    /// 1/65536. Without an event on one of the paths they do not (MF-14).
    pub fn shared(&self, a: usize, b: usize, delta: crate::Ratio) -> bool {
        let least = u64::from(self.events(a).min(self.events(b)));
        least > 0
            && u64::from(self.matches(a, b)) << 16 > crate::arithmetic::math::mul(delta.0, least)
    }
}

fn at(table: &mut [[u32; MAX_PATHS]; MAX_PATHS], a: usize, b: usize) -> Option<&mut u32> {
    table.get_mut(a).and_then(|row| row.get_mut(b))
}
