//! Medians, means and confidence intervals. [`models`] has closed forms to compare them with.
//!
//! All functions are pure: the same values in any order give the same summary.
//!
//! An infinite value represents a run that did not finish in time (right-censored). The median and its interval
//! remain meaningful while fewer than half of the runs are infinite. The mean is reported as infinite without
//! an interval.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod bootstrap;
pub mod decision;
mod distributions;
pub mod effect;
pub mod models;
pub mod multiple;
pub mod paired;
pub mod sequential;
pub mod share;
#[cfg(test)]
mod testing;
pub mod warmup;

use distributions::{coins, student_quantile};
use serde::Serialize;

/// Confidence of every interval in this crate, unless stated otherwise.
pub const CONFIDENCE: f64 = 0.95;

/// Summary of a set of values. All fields have the unit of the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Number of values.
    pub n: u64,
    /// Arithmetic mean; infinite if a value is infinite.
    pub mean: f64,
    /// Median; the mean of the two middle values if `n` is even.
    pub median: f64,
    /// Sample standard deviation (divisor `n − 1`); `None` for fewer than two or infinite values.
    pub sd: Option<f64>,
    /// 95 % interval of the mean by Student's t; `None` for fewer than two or infinite values.
    pub ci95_mean: Option<[f64; 2]>,
    /// Interval of the median between two order statistics, of at least 95 % confidence for any distribution;
    /// `None` for fewer than six values.
    pub ci95_median: Option<[f64; 2]>,
    /// Smallest value.
    pub min: f64,
    /// Largest value.
    pub max: f64,
}

impl Summary {
    /// Summarises `values`. Returns `None` without values, or if one is not a number.
    ///
    /// ```
    /// let s = windlass_stats::Summary::of(&[3.0, 1.0, 2.0]).unwrap();
    /// assert_eq!((s.n, s.median, s.mean), (3, 2.0, 2.0));
    /// ```
    pub fn of(values: &[f64]) -> Option<Summary> {
        if values.is_empty() || values.iter().any(|v| v.is_nan()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let mean = mean_of(&sorted);
        let sd = sample_sd(&sorted, mean);
        Some(Summary {
            n: n as u64,
            mean,
            median: middle(&sorted),
            sd,
            ci95_mean: sd.and_then(|sd| mean_interval(n, mean, sd)),
            ci95_median: median_ranks(n).map(|(low, high)| [sorted[low - 1], sorted[high - 1]]),
            min: sorted[0],
            max: sorted[n - 1],
        })
    }
}

/// Returns the mean of values in ascending order. The mean of equal values is exactly that value. Their sum
/// over their number may differ by rounding, and the rounding errors would look like a spread.
fn mean_of(sorted: &[f64]) -> f64 {
    match sorted {
        [first, .., last] if first == last => *first,
        _ => sorted.iter().sum::<f64>() / sorted.len() as f64,
    }
}

fn middle(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    if sorted.len() % 2 == 1 || sorted[half - 1] == sorted[half] {
        sorted[half]
    } else {
        (sorted[half - 1] + sorted[half]) / 2.0
    }
}

fn sample_sd(sorted: &[f64], mean: f64) -> Option<f64> {
    if sorted.len() < 2 || !mean.is_finite() {
        return None;
    }
    let squares: f64 = sorted.iter().map(|v| (v - mean) * (v - mean)).sum();
    Some((squares / (sorted.len() - 1) as f64).sqrt())
}

fn mean_interval(n: usize, mean: f64, sd: f64) -> Option<[f64; 2]> {
    let half = student_quantile(0.5 + CONFIDENCE / 2.0, (n - 1) as f64)? * sd / (n as f64).sqrt();
    Some([mean - half, mean + half])
}

/// Returns the ranks, counted from one, of the two order statistics between which the median lies with at least
/// 95 % confidence. Returns `None` if even the extremes have less confidence (`n` below six).
///
/// The number of values below the median is binomial with probability ½, so ranks `k` and `n + 1 − k` enclose
/// it with confidence `1 − 2·P(B ≤ k − 1)`. The function returns the largest such `k`.
pub fn median_ranks(n: usize) -> Option<(usize, usize)> {
    let tail = (1.0 - CONFIDENCE) / 2.0;
    let k = (1..=n / 2).take_while(|&k| coins(k as u64 - 1, n as u64) <= tail).last()?;
    Some((k, n + 1 - k))
}

#[cfg(test)]
mod tests {
    use super::testing::Random;
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
    }

    /// Nine degrees of freedom: t = 2.262 in every table of Student's distribution.
    #[test]
    fn mean_interval_agrees_with_the_table_of_students_t() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let s = Summary::of(&values).unwrap();
        close(s.mean, 5.5, 1e-12);
        close(s.sd.unwrap(), 3.027_650, 1e-6);
        let [low, high] = s.ci95_mean.unwrap();
        close(high - s.mean, 2.262_157 * 3.027_650 / 10f64.sqrt(), 1e-5);
        close(s.mean - low, high - s.mean, 1e-12);
    }

    /// Ranks from the tables of the sign test's confidence limits.
    #[test]
    fn median_ranks_agree_with_the_published_table() {
        let table = [
            (6, 1, 6),
            (8, 1, 8),
            (9, 2, 8),
            (10, 2, 9),
            (15, 4, 12),
            (20, 6, 15),
            (25, 8, 18),
            (30, 10, 21),
            (100, 40, 61),
        ];
        for (n, low, high) in table {
            assert_eq!(median_ranks(n), Some((low, high)), "n = {n}");
        }
        for n in 0..6 {
            assert_eq!(median_ranks(n), None, "n = {n}");
        }
    }

    #[test]
    fn unfinished_runs_leave_the_median_alone_and_spoil_the_mean() {
        let s = Summary::of(&[1.0, f64::INFINITY, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
        assert_eq!(s.median, 4.0);
        assert_eq!(s.mean, f64::INFINITY);
        assert_eq!((s.sd, s.ci95_mean), (None, None));
        assert_eq!(s.ci95_median, Some([1.0, f64::INFINITY]));
        let mostly = Summary::of(&[1.0, f64::INFINITY, f64::INFINITY, f64::INFINITY]).unwrap();
        assert_eq!(mostly.median, f64::INFINITY);
    }

    #[test]
    fn nothing_and_not_a_number_have_no_summary() {
        assert_eq!(Summary::of(&[]), None);
        assert_eq!(Summary::of(&[1.0, f64::NAN]), None);
        let one = Summary::of(&[7.0]).unwrap();
        assert_eq!((one.median, one.sd, one.ci95_mean, one.ci95_median), (7.0, None, None, None));
    }

    #[test]
    fn order_of_the_values_does_not_matter() {
        let a = Summary::of(&[0.1, 0.2, 0.3, 1e9, 5.0, 7.0]).unwrap();
        let b = Summary::of(&[7.0, 1e9, 0.3, 0.2, 5.0, 0.1]).unwrap();
        assert_eq!(a, b);
    }

    /// 4000 rounds: the standard error of a coverage of 95 % is 0.34 %.
    #[test]
    fn intervals_cover_the_truth_as_often_as_they_say() {
        let mut random = Random::new(42);
        let (rounds, n) = (4000, 20);
        let (mut mean_hits, mut median_hits) = (0, 0);
        for _ in 0..rounds {
            let uniform: Vec<f64> = (0..n).map(|_| random.uniform()).collect();
            let [low, high] = Summary::of(&uniform).unwrap().ci95_mean.unwrap();
            mean_hits += u32::from(low <= 0.5 && 0.5 <= high);
            let skewed: Vec<f64> = (0..n).map(|_| -random.uniform().ln()).collect();
            let [low, high] = Summary::of(&skewed).unwrap().ci95_median.unwrap();
            median_hits += u32::from(low <= 2f64.ln() && 2f64.ln() <= high);
        }
        close(f64::from(mean_hits) / f64::from(rounds), 0.95, 0.012);
        // Ranks 6 and 15 of 20: exactly 1 − 2·P(B(20, ½) ≤ 5) = 0.9586.
        close(f64::from(median_hits) / f64::from(rounds), 0.9586, 0.012);
    }
}
