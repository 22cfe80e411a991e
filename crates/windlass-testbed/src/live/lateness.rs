//! How late packets reach the kernel, and when that spoils a run.

use std::fmt;

use windlass_cc::Span;

/// Lateness of the deliveries of a run: from the moment at which a packet came out of its last link
/// to the moment at which the kernel had taken it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lateness {
    /// Packets delivered to a kernel.
    pub deliveries: u64,
    /// Median.
    pub median: Span,
    /// 99th percentile.
    pub p99: Span,
    /// Greatest, of the emulator's own wake-ups too: a stall is seen even if nothing was due in it.
    pub max: Span,
    /// Packets lost beside the network: by a full device or a full socket, or for being malformed.
    pub lost: u64,
}

impl fmt::Display for Lateness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, p99, max] = [self.median, self.p99, self.max].map(readable);
        write!(f, "median {median}, p99 {p99}, max {max} over {} deliveries", self.deliveries)?;
        if self.lost > 0 {
            write!(f, ", {} packets lost beside the network", self.lost)?;
        }
        Ok(())
    }
}

/// Lateness past which a run is invalid.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bound {
    /// Of the 99th percentile.
    pub p99: Span,
    /// Of the latest delivery.
    pub max: Span,
}

impl Default for Bound {
    /// 5 ms for one delivery in a hundred: small beside the round trips that are worth emulating,
    /// and above what an idle virtual machine shows (0.2 to 3 ms). 100 ms for any: half of Linux's
    /// least retransmission timeout of 200 ms, so that lateness alone never fires a timer.
    fn default() -> Bound {
        Bound { p99: Span::from_millis(5), max: Span::from_millis(100) }
    }
}

impl Bound {
    /// Whether a run that was so late is still valid. One that lost packets beside the network is not.
    pub fn admits(&self, lateness: &Lateness) -> bool {
        lateness.p99 <= self.p99 && lateness.max <= self.max && lateness.lost == 0
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p99 {}, max {}", readable(self.p99), readable(self.max))
    }
}

/// Buckets for each doubling of the value: a quantile is at most one part in 32 too high.
const STEPS: u32 = 32;

/// Counts deliveries by lateness, in buckets of equal ratio, so that a long run needs no more memory
/// than a short one.
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
    /// A delivery was so late.
    pub fn add(&mut self, late: Span) {
        self.counts[bucket(late.0)] += 1;
        self.deliveries += 1;
        self.max = self.max.max(late.0);
    }

    /// The emulator itself woke up late.
    pub fn add_stall(&mut self, late: Span) {
        self.max = self.max.max(late.0);
    }

    /// Packets have been lost beside the network.
    pub fn add_lost(&mut self, packets: u64) {
        self.lost += packets;
    }

    /// What has been counted so far.
    pub fn summary(&self) -> Lateness {
        Lateness {
            deliveries: self.deliveries,
            median: self.quantile(50),
            p99: self.quantile(99),
            max: Span(self.max),
            lost: self.lost,
        }
    }

    /// The value that `percent` of all deliveries do not exceed, rounded up to its bucket's end.
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

/// The bucket of a value: the value itself below [`STEPS`], then [`STEPS`] for each power of two.
fn bucket(value: u64) -> usize {
    let doublings = value.checked_ilog2().unwrap_or(0).saturating_sub(STEPS.ilog2());
    (doublings * STEPS) as usize + (value >> doublings) as usize
}

/// The greatest value in a bucket.
fn last_of(bucket: usize) -> u64 {
    let steps = STEPS as usize;
    if bucket < 2 * steps {
        return bucket as u64;
    }
    let doublings = (bucket / steps - 1) as u32;
    let first = ((bucket % steps + steps) as u64) << doublings;
    first + ((1 << doublings) - 1)
}

/// A span in the unit that suits it.
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
    fn buckets_are_in_order_without_gaps_and_narrow() {
        for value in (0..100_000).chain([u64::MAX >> 1, u64::MAX - 1]) {
            let (here, next) = (bucket(value), bucket(value + 1));
            assert!(next == here || next == here + 1, "{value}");
            assert!(last_of(here) >= value && last_of(here) - value <= value / 32, "{value}");
        }
    }

    #[test]
    fn quantiles_are_those_of_the_values() {
        let mut log = Log::default();
        (1..=1000).for_each(|v| log.add(Span(v * 1000)));
        let summary = log.summary();
        assert!((500_000..=520_000).contains(&summary.median.0), "{summary}");
        assert!((990_000..=1_000_000).contains(&summary.p99.0), "{summary}");
        assert_eq!((summary.max, summary.deliveries), (Span(1_000_000), 1000));
    }

    #[test]
    fn one_stall_spoils_a_run_and_so_do_many_small_ones() {
        let bound = Bound { p99: Span(10), max: Span(100) };
        let lateness =
            |p99, max| Lateness { p99: Span(p99), max: Span(max), ..Lateness::default() };
        assert!(bound.admits(&lateness(10, 100)));
        assert!(!bound.admits(&lateness(1, 101)));
        assert!(!bound.admits(&lateness(11, 50)));
        assert!(!bound.admits(&Lateness { lost: 1, ..lateness(10, 100) }));
    }
}
