//! The time of a run: the machine's monotonic clock, counted from the start of the run.

use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windlass_cc::{Span, Time};

/// A clock that all parts of a run share.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
    skipped: Duration,
}

impl Clock {
    /// Creates a clock that shows zero until `lead` has passed.
    pub fn starting_in(lead: Duration) -> Clock {
        Clock { origin: Instant::now() + lead, skipped: Duration::ZERO }
    }

    /// Sleeps until the clock starts, so that all parts start together.
    pub fn wait_for_start(&self) {
        thread::sleep(self.origin.saturating_duration_since(Instant::now()));
    }

    /// Returns the current time.
    pub fn now(&self) -> Time {
        let elapsed = Instant::now().saturating_duration_since(self.origin) + self.skipped;
        Time(elapsed.as_nanos().min(u128::from(u64::MAX - 1)) as u64)
    }

    /// Advances the clock to `time`, if that is in the future.
    pub fn skip_to(&mut self, time: Time) {
        self.skipped += Duration::from_nanos(self.until(time).0);
    }

    /// Converts a recent `stamp` of the machine's wall clock (since 1970) to the time of this clock. The wall
    /// clock may be adjusted; this clock may not.
    pub fn at(&self, stamp: Duration) -> Time {
        // A thread may be delayed between two clock reads, so the pair with the shortest delay is the most
        // accurate.
        let pairs = (0..5).map(|_| {
            let before = self.now();
            let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            (self.now().since(before), before, day)
        });
        let (took, before, day) = pairs.min().unwrap_or_default();
        let age = day.saturating_sub(stamp).as_nanos() as u64;
        Time((before.0 + took.0 / 2).saturating_sub(age))
    }

    /// Returns the span until `time`, or zero if `time` has passed.
    pub fn until(&self, time: Time) -> Span {
        time.since(self.now())
    }
}
