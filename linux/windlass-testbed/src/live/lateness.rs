//! Lateness of packet deliveries to the kernel, and the bound above which it invalidates a run.

use std::fmt;

use windlass_cc::Span;

/// Lateness of the deliveries of a run: the time from the moment that a packet left its last link until the
/// kernel has taken the packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lateness {
    /// Packets delivered to a kernel.
    pub deliveries: u64,
    /// Median lateness.
    pub median: Span,
    /// 99th percentile of lateness.
    pub p99: Span,
    /// Maximum lateness, including the emulator's own wake-ups. A stall is therefore seen even if nothing was
    /// due in it.
    pub max: Span,
    /// Packets lost outside the network model: at a full device or socket, or as malformed packets.
    pub lost: u64,
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, p99, max] = [self.median, self.p99, self.max].map(readable);
        write!(f, "median {median}, p99 {p99}, max {max} over {} deliveries", self.deliveries)?;
        if self.lost > 0 {
            write!(f, ", {} packets lost outside the network model", self.lost)?;
        }
        Ok(())
    }
}

/// Lateness above which a run is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Bound of the 99th percentile.
    pub p99: Span,
    /// Bound of the latest delivery.
    pub max: Span,
}

impl Default for Bound {
    /// 5 ms for the 99th percentile: small compared with RTTs that are worth emulating, and above the
    /// lateness of an idle virtual machine (0.2 to 3 ms). 100 ms for the maximum: half of Linux's minimum RTO
    /// of 200 ms, so that lateness alone never fires a timer.
    fn default() -> Bound {
        Bound { p99: Span::from_millis(5), max: Span::from_millis(100) }
    }
}

impl Bound {
    /// True if a run with this lateness is valid. A run that lost packets outside the network model is
    /// invalid.
    pub fn admits(&self, lateness: &Lateness) -> bool {
        lateness.p99 <= self.p99 && lateness.max <= self.max && lateness.lost == 0
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p99 {}, max {}", readable(self.p99), readable(self.max))
    }
}

/// Buckets for each doubling of the value: a quantile is at most 1/32 too high.
const STEPS: u32 = 32;

/// Counts deliveries by lateness, in buckets of equal ratio. The memory does not grow with the length of the
/// run.
#[derive(Clone, Debug)]
pub struct Log {
    counts: Vec<u64>,
    deliveries: u64,
    max: u64,
    lost: u64,
}

impl Default for Log {
    fn default() -> Log {
        Log { counts: vec![0; bucket(u64::MAX) + 1], deliveries: 0, max: 0, lost: 0 }
    }
}

impl Log {
    /// Records a delivery with this lateness.
    pub fn add(&mut self, late: Span) {
        self.counts[bucket(late.0)] += 1;
        self.deliveries += 1;
        self.max = self.max.max(late.0);
    }

    /// Records a late wake-up of the emulator itself.
    pub fn add_stall(&mut self, late: Span) {
        self.max = self.max.max(late.0);
    }

    /// Records packets that were lost outside the network model.
    pub fn add_lost(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// Returns the summary of the deliveries so far.
    pub fn summary(&self) -> Lateness {
        Lateness {
            deliveries: self.deliveries,
            median: self.quantile(50),
            p99: self.quantile(99),
            max: Span(self.max),
            lost: self.lost,
        }
    }

    /// Returns the value that `percent` of all deliveries do not exceed, rounded up to the end of its bucket.
    fn quantile(&self, percent: u64) -> Span {
        let rank = (self.deliveries * percent).div_ceil(100);
        let mut seen = 0;
        for (i, count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Span(last_of(i).min(self.max));
            }
        }
        Span(self.max)
    }
}

/// Returns the bucket of a value: the value itself below [`STEPS`], then [`STEPS`] buckets per power of two.
fn bucket(value: u64) -> usize {
    let doublings = value.checked_ilog2().unwrap_or(0).saturating_sub(STEPS.ilog2());
    (doublings * STEPS) as usize + (value >> doublings) as usize
}

/// Returns the greatest value of a bucket.
fn last_of(bucket: usize) -> u64 {
    let steps = STEPS as usize;
    if bucket < 2 * steps {
        return bucket as u64;
    }
    let doublings = (bucket / steps - 1) as u32;
    let first = ((bucket % steps + steps) as u64) << doublings;
    first + ((1 << doublings) - 1)
}

/// Formats a span in a suitable unit.
pub(crate) fn readable(span: Span) -> String {
    match span.0 {
        ns if ns >= 10_000_000_000 => format!("{:.1} s", ns as f64 / 1e9),
        ns if ns >= 10_000_000 => format!("{:.0} ms", ns as f64 / 1e6),
        ns if ns >= 100_000 => format!("{:.2} ms", ns as f64 / 1e6),
        ns => format!("{:.1} us", ns as f64 / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_ordered_narrow_and_without_gaps() {
        for value in (0..100_000).chain([u64::MAX >> 1, u64::MAX - 1]) {
            let (here, next) = (bucket(value), bucket(value + 1));
            assert!(next == here || next == here + 1, "{value}");
            assert!(last_of(here) >= value && last_of(here) - value <= value / 32, "{value}");
        }
    }

    #[test]
    fn log_quantiles_match_the_values() {
        let mut log = Log::default();
        (1..=1000).for_each(|v| log.add(Span(v * 1000)));
        let summary = log.summary();
        assert!((500_000..=520_000).contains(&summary.median.0), "{summary}");
        assert!((990_000..=1_000_000).contains(&summary.p99.0), "{summary}");
        assert_eq!((summary.max, summary.deliveries), (Span(1_000_000), 1000));
    }

    #[test]
    fn one_long_stall_or_many_short_stalls_invalidate_a_run() {
        let bound = Bound { p99: Span(10), max: Span(100) };
        let lateness =
            |p99, max| Lateness { p99: Span(p99), max: Span(max), ..Lateness::default() };
        assert!(bound.admits(&lateness(10, 100)));
        assert!(!bound.admits(&lateness(1, 101)));
        assert!(!bound.admits(&lateness(11, 50)));
        assert!(!bound.admits(&Lateness { lost: 1, ..lateness(10, 100) }));
    }
}
