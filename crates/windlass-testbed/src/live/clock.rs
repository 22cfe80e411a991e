//! The time of a run: the machine's monotonic clock, counted from the run's beginning.

use std::thread;
use std::time::{Duration, Instant};

use windlass_cc::{Span, Time};

/// A clock that all parts of a run share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// A clock that shows zero until `lead` has passed.
    pub fn starting_in(lead: Duration) -> Clock {
        Clock { origin: Instant::now() + lead }
    }

    /// Sleeps until the clock starts, so that all parts begin together.
    pub fn wait_for_start(&self) {
        thread::sleep(self.origin.saturating_duration_since(Instant::now()));
    }

    pub fn now(&self) -> Time {
        let elapsed = Instant::now().saturating_duration_since(self.origin).as_nanos();
        Time(elapsed.min(u128::from(u64::MAX - 1)) as u64)
    }

    /// How long it takes until `time`; zero if that has passed.
    pub fn until(&self, time: Time) -> Span {
        time.since(self.now())
    }
}
