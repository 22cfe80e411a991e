//! Age of the newest message at a receiver. This is the age of information of Kaul, Yates and
//! Gruteser, "Real-time status: How often should one update?", INFOCOM 2012.

use windlass_cc::Time;

/// The age over time. It increases by one second per second, and drops when a newer message is
/// read.
#[derive(Clone, Debug, Default)]
pub struct Age {
    /// Times at which the newest message was written and read; `None` before the first message.
    newest: Option<(Time, Time)>,
    /// Start and end value of each increase of the age, nanoseconds.
    rises: Vec<[u64; 2]>,
}

impl Age {
    /// Records that a message written at `written` is read. A message older than the newest does
    /// not lower the age.
    pub fn read(&mut self, written: Time, now: Time) {
        if self.newest.is_some_and(|(newest, _)| written < newest) {
            return;
        }
        self.rises.extend(self.rise(now));
        self.newest = Some((written, now));
    }

    /// Start and end value of the increase since the newest message was read.
    fn rise(&self, now: Time) -> Option<[u64; 2]> {
        let (written, came) = self.newest?;
        Some([came.since(written).0, now.since(written).0])
    }
}

/// The ages at several receivers, weighted by time. Each receiver counts from its first message on.
pub struct Ages {
    rises: Vec<[u64; 2]>,
    time_ns: u64,
}

impl Ages {
    /// Ages of these receivers up to `now`; `None` if no receiver has a message.
    pub fn until<'a>(receivers: impl IntoIterator<Item = &'a Age>, now: Time) -> Option<Ages> {
        let all = |age: &'a Age| age.rises.iter().copied().chain(age.rise(now));
        let rises: Vec<_> = receivers.into_iter().flat_map(all).collect();
        let time_ns = rises.iter().map(|[from, to]| to - from).sum();
        (!rises.is_empty()).then_some(Ages { rises, time_ns })
    }

    /// Mean over time, milliseconds.
    pub fn mean_ms(&self) -> f64 {
        let square = |ns: u64| u128::from(ns).pow(2);
        let doubled: u128 = self.rises.iter().map(|[from, to]| square(*to) - square(*from)).sum();
        if self.time_ns == 0 { self.max_ms() } else { doubled as f64 / 2e6 / self.time_ns as f64 }
    }

    /// Maximum, milliseconds.
    pub fn max_ms(&self) -> f64 {
        self.rises.iter().map(|[_, to]| *to).max().unwrap_or(0) as f64 / 1e6
    }

    /// The age that is not exceeded for this share of the time, milliseconds. The value is exact,
    /// because within an increase each age lasts equally long.
    pub fn quantile_ms(&self, share: f64) -> f64 {
        let mut edges: Vec<(u64, i64)> =
            self.rises.iter().flat_map(|[from, to]| [(*from, 1), (*to, -1)]).collect();
        edges.sort_unstable();
        let wanted = share * self.time_ns as f64;
        // The time at an age below `at`, and the number of increases that include `at`.
        let (mut below, mut at, mut rising) = (0.0, 0, 0);
        for (edge, change) in edges {
            let more = rising as f64 * (edge - at) as f64;
            if rising > 0 && below + more >= wanted {
                return (at as f64 + (wanted - below) / rising as f64) / 1e6;
            }
            (below, at, rising) = (below + more, edge, rising + change);
        }
        self.max_ms()
    }
}
