//! The time of a run: the machine's monotonic clock, counted from the run's beginning.

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
    /// A clock that shows zero until `lead` has passed.
    pub fn starting_in(lead: Duration) -> Clock {
        Clock { origin: Instant::now() + lead, skipped: Duration::ZERO }
    }

    /// Sleeps until the clock starts, so that all parts begin together.
    pub fn wait_for_start(&self) {
        thread::sleep(self.origin.saturating_duration_since(Instant::now()));
    }

    /// The time it shows.
    pub fn now(&self) -> Time {
        let elapsed = Instant::now().saturating_duration_since(self.origin) + self.skipped;
        Time(elapsed.as_nanos().min(u128::from(u64::MAX - 1)) as u64)
    }

    /// Goes on to `time` at once, if it has not come yet.
    pub fn skip_to(&mut self, time: Time) {
        self.skipped += Duration::from_nanos(self.until(time).0);
    }

    /// The moment that the machine's clock of the day shows as `stamp` (since 1970), for one not long
    /// past: that clock may be set, this one may not.
    pub fn at(&self, stamp: Duration) -> Time {
        // A thread may be held up between two readings: the pair taken fastest tells best.
        let pairs = (0..5).map(|_| {
            let before = self.now();
            let day = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            (self.now().since(before), before, day)
        });
        let (took, before, day) = pairs.min().unwrap_or_default();
        let age = day.saturating_sub(stamp).as_nanos() as u64;
        Time((before.0 + took.0 / 2).saturating_sub(age))
    }

    /// How long it takes until `time`; zero if that has passed.
    pub fn until(&self, time: Time) -> Span {
        time.since(self.now())
    }
}
