//! The time of a run: the machine's monotonic clock, counted from the run's beginning.

use std::thread;
use std::time::{Duration, Instant};

use windlass_cc::{Span, Time};

/// A clock that all parts of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
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

    pub fn now(&self) -> Time {
        let elapsed = Instant::now().saturating_duration_since(self.origin) + self.skipped;
        Time(elapsed.as_nanos().min(u128::from(u64::MAX - 1)) as u64)
    }

    /// Goes on to `time` at once, if it has not come yet.
    pub fn skip_to(&mut self, time: Time) {
        self.skipped += Duration::from_nanos(self.until(time).0);
    }

    /// How long it takes until `time`; zero if that has passed.
    pub fn until(&self, time: Time) -> Span {
        time.since(self.now())
    }
}
