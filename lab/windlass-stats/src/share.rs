//! Shares of counted events, with intervals inside the possible range.

use super::distributions::{beta_quantile, student_quantile};
use super::{CONFIDENCE, mean_of, sample_sd};

/// Returns the exact interval of a share of which `part` of `whole` independent events were seen (C. J. Clopper
/// and E. S. Pearson, Biometrika 26, 1934). It covers the share with a probability of at least 95 %, also for
/// rare events. Returns `None` without events, or if `part` exceeds `whole`.
///
/// ```
/// let [low, high] = windlass_stats::share::exact(0, 100).unwrap();
/// assert!(low == 0.0 && (high - 0.0362).abs() < 1e-4);
/// ```
pub fn exact(part: u64, whole: u64) -> Option<[f64; 2]> {
    if whole == 0 || part > whole {
        return None;
    }
    binomial(part as f64, whole as f64, CONFIDENCE)
}

/// Clopper and Pearson's interval for `k` of `n` events, which need not be whole numbers.
fn binomial(k: f64, n: f64, confidence: f64) -> Option<[f64; 2]> {
    let tail = (1.0 - confidence) / 2.0;
    let low = if k <= 0.0 { 0.0 } else { beta_quantile(tail, k, n - k + 1.0)? };
    let high = if k >= n { 1.0 } else { beta_quantile(1.0 - tail, k + 1.0, n - k)? };
    Some([low, high])
}

/// Returns the interval of a share over `runs` whose events depend on each other within a run. `error` is the
/// standard error of the share, from the differences between the runs. `events` is the number of events of all
/// runs. The interval is exact for the number of independent events that would have this error, with Student's
/// correction for few runs (E. L. Korn and B. I. Graubard, Survey Methodology 24, 1998). It is at least as wide
/// as for independent events. A share of 0 or 1 in all runs says nothing about dependence, so that its events
/// count as independent. Returns `None` without events, and for one run with a share between 0 and 1.
pub fn clustered(
    share: f64,
    error: f64,
    runs: usize,
    events: f64,
    confidence: f64,
) -> Option<[f64; 2]> {
    if events < 1.0 || !(0.0..=1.0).contains(&share) {
        return None;
    }
    let mut independent = events;
    if share > 0.0 && share < 1.0 {
        let t = |freedom: f64| student_quantile(0.5 + confidence / 2.0, freedom);
        let known = t((runs as f64) - 1.0)?;
        let ratio = t((events - 1.0).max(1.0))? / known;
        independent = (share * (1.0 - share) / (error * error) * (ratio * ratio)).min(events);
    }
    binomial(share * independent, independent, confidence)
}

/// Returns the standard error of the sum of the parts over the sum of the wholes, by the differences between
/// runs (ratio estimator). Each run has a part and a whole.
pub fn ratio_error(runs: &[[u64; 2]]) -> f64 {
    let sum = |i: usize| runs.iter().map(|run| run[i] as f64).sum::<f64>();
    let (part, whole, n) = (sum(0), sum(1), runs.len() as f64);
    let rest = |run: &[u64; 2]| run[0] as f64 - part / whole * run[1] as f64;
    let squares: f64 = runs.iter().map(|run| rest(run) * rest(run)).sum();
    (squares * n / (n - 1.0)).sqrt() / whole
}

/// Range of the possible values of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Smallest possible value; minus infinity without a limit.
    pub low: f64,
    /// Largest possible value; infinity without a limit.
    pub high: f64,
}

impl Range {
    /// Counts, times and rates.
    pub const POSITIVE: Range = Range { low: 0.0, high: f64::INFINITY };
    /// Shares of a whole.
    pub const SHARE: Range = Range { low: 0.0, high: 1.0 };

    /// True if all values of an interval are possible.
    pub fn holds(self, [low, high]: [f64; 2]) -> bool {
        self.low <= low && high <= self.high
    }

    /// Times within a run of this length.
    pub const fn up_to(high: f64) -> Range {
        Range { low: 0.0, high }
    }

    /// True if an interval of a mean is wanted as it is: all values are possible, and it is not the single end of
    /// the range for shares of a known number of events.
    pub fn accepts(self, ends: [f64; 2], events: Option<f64>) -> bool {
        let at_an_end = ends[0] == ends[1] && [self.low, self.high].contains(&ends[0]);
        self.holds(ends) && !(events.is_some() && at_an_end)
    }

    /// Returns the range of the quantity multiplied by a factor.
    pub fn times(self, factor: f64) -> Range {
        Range { low: self.low * factor, high: self.high * factor }
    }
}

/// Returns an interval of a mean within the range of its values. It is Student's interval if that is within the
/// range. Otherwise it is Student's interval of the transformed mean, by the delta method. The transformation
/// is the logarithm of the distance from the end of the range, or the log odds if the range has two ends.
/// If the values are shares of a known number of `events` of all runs, it is [`clustered`] instead, also if no
/// event or every event was seen. Returns `None` for fewer than two values, and for values that are infinite or
/// out of range.
pub fn mean_interval(
    values: &[f64],
    range: Range,
    events: Option<f64>,
    confidence: f64,
) -> Option<[f64; 2]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let mean = if n == 0 { f64::NAN } else { mean_of(&sorted) };
    let sd = sample_sd(&sorted, mean)?;
    let t = student_quantile(0.5 + confidence / 2.0, (n - 1) as f64)?;
    let half = t * sd / (n as f64).sqrt();
    let student = [mean - half, mean + half];
    if range.accepts(student, events) {
        return Some(student);
    }
    if let Some(events) = events {
        let error = sd / (n as f64).sqrt() / range.high;
        let ends = clustered(mean / range.high, error, n, events, confidence)?;
        return Some(ends.map(|end| end * range.high));
    }
    if sd == 0.0 {
        return Some(student);
    }
    if !range.holds([sorted[0], sorted[n - 1]]) {
        return None;
    }
    let (below, above) = (mean - range.low, range.high - mean);
    Some(match (below.is_finite(), above.is_finite()) {
        (true, true) => {
            let (odds, spread) = (libm::log(below / above), half * (1.0 / below + 1.0 / above));
            let back = |x: f64| range.low + (range.high - range.low) / (1.0 + libm::exp(-x));
            [back(odds - spread), back(odds + spread)]
        }
        (true, false) => {
            [-1.0, 1.0].map(|sign: f64| range.low + below * libm::exp(sign * half / below))
        }
        _ => [1.0, -1.0].map(|sign: f64| range.high - above * libm::exp(sign * half / above)),
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
    }

    /// The first case is Clopper and Pearson's own example. The other cases follow directly from the binomial
    /// distribution.
    #[test]
    fn exact_intervals_agree_with_published_intervals_and_binomial_tails() {
        let [low, high] = exact(3, 10).unwrap();
        close(low, 0.0667, 5e-5);
        close(high, 0.6525, 5e-5);
        let [low, high] = exact(11, 1_873).unwrap();
        close(low, 0.0029, 5e-5);
        close(high, 0.0105, 5e-5);
        assert_eq!(exact(0, 100).unwrap()[0], 0.0);
        close(exact(0, 100).unwrap()[1], 1.0 - 0.025f64.powf(0.01), 1e-9);
        close(exact(100, 100).unwrap()[0], 0.025f64.powf(0.01), 1e-9);
        assert_eq!(exact(100, 100).unwrap()[1], 1.0);
        assert_eq!((exact(0, 0), exact(2, 1)), (None, None));
    }

    /// 2000 samples of 500 events with a probability of 0.4 %: the exact interval covers at least as often as
    /// stated.
    #[test]
    fn an_exact_interval_covers_a_rare_share_at_least_as_often_as_it_says() {
        let (mut random, mut covers) = (Random::new(11), 0);
        for _ in 0..2_000 {
            let late = (0..500).filter(|_| random.uniform() < 0.004).count() as u64;
            let [low, high] = exact(late, 500).unwrap();
            covers += u32::from(low <= 0.004 && 0.004 <= high);
        }
        assert!(covers >= 1_900, "{covers} of 2000");
    }

    /// 20 runs of 100 events. In each run, with a probability of 30 %, the events are late with a probability of
    /// one half, otherwise of 1 %: the true share is 15.7 %.
    #[test]
    fn events_that_come_together_widen_the_interval_of_their_share() {
        let (mut random, mut covers, mut naive) = (Random::new(5), 0, 0);
        for _ in 0..1_000 {
            let mut run = |_| {
                let chance = if random.uniform() < 0.3 { 0.5 } else { 0.01 };
                [(0..100).filter(|_| random.uniform() < chance).count() as u64, 100]
            };
            let runs: Vec<[u64; 2]> = (0..20).map(&mut run).collect();
            let late: u64 = runs.iter().map(|[late, _]| late).sum();
            let mean = late as f64 / 2e3;
            let holds = |[low, high]: [f64; 2]| u32::from(low <= 0.157 && 0.157 <= high);
            covers += holds(clustered(mean, ratio_error(&runs), 20, 2e3, 0.95).unwrap());
            naive += holds(exact(late, 2_000).unwrap());
        }
        assert!(covers >= 930 && naive < 500, "{covers} and {naive} of 1000");
    }

    #[test]
    fn without_dependence_the_interval_of_runs_is_the_exact_interval() {
        assert_eq!(clustered(0.0, 0.0, 10, 6_710.0, 0.95), exact(0, 6_710));
        // The shares of the runs differ less than those of independent events.
        assert_eq!(clustered(0.25, 0.0, 10, 400.0, 0.95), exact(100, 400));
        // All 33 of 560 late messages are in one run of ten: 0.04 to 35 %.
        let mut runs = vec![[0, 56]; 9];
        runs.push([33, 56]);
        let [low, high] = clustered(33.0 / 560.0, ratio_error(&runs), 10, 560.0, 0.95).unwrap();
        assert!(low < 0.001 && (0.35..0.36).contains(&high), "{low} {high}");
        assert_eq!(clustered(0.5, f64::NAN, 1, 10.0, 0.95), None);
    }

    /// Student's correction is 1 with one event per run, so that the error alone gives the number of independent
    /// events: 0.25 / 0.125 = 2.
    #[test]
    fn one_event_per_run_needs_no_correction_for_few_runs() {
        let [low, high] = clustered(0.5, 0.125f64.sqrt(), 3, 3.0, 0.95).unwrap();
        let [exact_low, exact_high] = exact(1, 2).unwrap();
        close(low, exact_low, 1e-9);
        close(high, exact_high, 1e-9);
    }

    #[test]
    fn an_interval_stays_within_the_range_of_its_values() {
        let mut late = vec![0.0; 39];
        late.push(0.03125);
        let [low, high] = mean_interval(&late, Range::SHARE, None, 0.95).unwrap();
        assert!(0.0 < low && low < 0.000_781_25 && 0.002 < high && high < 0.01, "{low} {high}");
        let jain = [0.62, 1.0, 1.0, 0.999, 1.0];
        let [low, high] = mean_interval(&jain, Range::SHARE, None, 0.95).unwrap();
        assert!(0.3 < low && high < 1.0, "{low} {high}");
        let seconds = [0.1, 0.1, 9.0];
        let [low, high] = mean_interval(&seconds, Range::POSITIVE, None, 0.95).unwrap();
        assert!(0.0 < low && low < 1.0 && high > 9.0, "{low} {high}");
        let harm = [-3.0, 0.9, 1.0];
        let upper = Range { low: f64::NEG_INFINITY, high: 1.0 };
        let [low, high] = mean_interval(&harm, upper, None, 0.95).unwrap();
        assert!(low < -3.0 && high < 1.0 && high > 0.5, "{low} {high}");
    }

    #[test]
    fn where_students_interval_is_possible_it_is_that() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let student = crate::Summary::of(&values).unwrap().ci95_mean;
        assert_eq!(mean_interval(&values, Range::POSITIVE, None, 0.95), student);
        assert_eq!(mean_interval(&[0.0; 8], Range::SHARE, None, 0.95), Some([0.0, 0.0]));
        let percent =
            mean_interval(&[0.0; 8], Range::SHARE.times(100.0), Some(500.0), 0.95).unwrap();
        close(percent[1], 100.0 * exact(0, 500).unwrap()[1], 1e-12);
        for values in [&[][..], &[1.0], &[1.0, f64::INFINITY], &[-1.0, 0.1, 0.2]] {
            assert_eq!(mean_interval(values, Range::SHARE, None, 0.95), None, "{values:?}");
        }
    }
}
