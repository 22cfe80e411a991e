//! Quantiles of times in bounded memory.

/// Counts times by intervals. The width of an interval is at most 1/128 of its times. The histogram
/// takes 30 kB for any number of times up to a few seconds. Each quantile is within 0.4 % of the
/// exact value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

/// Intervals per octave.
const PER_OCTAVE: u64 = 128;

impl Histogram {
    /// Adds a time in nanoseconds.
    pub fn add(&mut self, ns: u64) {
        let place = place(ns);
        if self.counts.len() <= place {
            self.counts.resize(place + 1, 0);
        }
        self.counts[place] += 1;
        self.total += 1;
    }

    /// The quantile of this share in nanoseconds (the nearest rank), as the middle of its interval;
    /// `None` without times.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = ((share * self.total as f64).ceil() as u64).max(1);
        let mut below = 0;
        let reaches = |count: &u64| {
            below += count;
            below >= rank
        };
        self.counts.iter().position(reaches).filter(|_| self.total > 0).map(middle)
    }
}

/// Times in nanoseconds: their mean, their extremes and their quantiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    sum: u64,
    min: u64,
    max: u64,
    histogram: Histogram,
}

impl Times {
    /// Adds a time.
    pub fn add(&mut self, ns: u64) {
        self.min = if self.count() == 0 { ns } else { self.min.min(ns) };
        self.max = self.max.max(ns);
        self.sum += ns;
        self.histogram.add(ns);
    }

    /// Number of times.
    pub fn count(&self) -> u64 {
        self.histogram.total
    }

    /// Mean, milliseconds; not a number without times.
    pub fn mean_ms(&self) -> f64 {
        self.sum as f64 / 1e6 / self.count() as f64
    }

    /// Minimum, milliseconds; 0 without times.
    pub fn min_ms(&self) -> f64 {
        self.min as f64 / 1e6
    }

    /// Maximum, milliseconds; 0 without times.
    pub fn max_ms(&self) -> f64 {
        self.max as f64 / 1e6
    }

    /// The quantile of this share, milliseconds, with the resolution of a histogram interval, between the exact
    /// extremes; `None` without times.
    pub fn quantile_ms(&self, share: f64) -> Option<f64> {
        let exact = |ns: f64| ns.clamp(self.min as f64, self.max as f64) / 1e6;
        self.histogram.quantile(share).map(exact)
    }
}

fn place(ns: u64) -> usize {
    let octave = ns.checked_ilog2().unwrap_or(0).saturating_sub(PER_OCTAVE.ilog2());
    (u64::from(octave) * PER_OCTAVE + (ns >> octave)) as usize
}

fn middle(place: usize) -> f64 {
    let place = place as u64;
    let octave = (place / PER_OCTAVE).saturating_sub(1);
    let least = (place - octave * PER_OCTAVE) << octave;
    least as f64 + ((1u64 << octave) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_equal_the_sorted_times_within_an_interval_width() {
        let mut times: Vec<u64> =
            (0..20_000u64).map(|i| (i * 2_654_435_761) % 90_000_017).collect();
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        times.iter().for_each(|ns| histogram.add(*ns));
        times.sort_unstable();
        for share in [0.001, 0.05, 0.5, 0.95, 0.99, 1.0] {
            let exact = times[(share * times.len() as f64).ceil() as usize - 1] as f64;
            let got = histogram.quantile(share).unwrap();
            assert!((got - exact).abs() <= 0.004 * exact + 0.5, "{share}: {got} {exact}");
        }
        assert!(histogram.counts.len() < 3_000);
    }

    #[test]
    fn each_time_is_within_its_interval() {
        for ns in (0..70).map(|i| 1u64.rotate_left(i)).chain([0, 127, 128, 129, 255, 256, 300]) {
            let got = middle(place(ns));
            assert!((got - ns as f64).abs() <= ns as f64 / 128.0, "{ns}: {got}");
        }
    }
}
