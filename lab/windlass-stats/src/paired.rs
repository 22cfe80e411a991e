//! Tests on pairs: the same seed under two algorithms.
//!
//! All functions take the differences within the pairs, first minus second. Two tests of the hypothesis of no
//! difference are given, with different assumptions. Student's t assumes that the mean difference is about
//! normal. The signed-rank test assumes that the distribution of the differences is symmetric. If they
//! disagree, the cause is outliers or a skewed distribution.

use crate::distributions::{normal_below, student_quantile, student_tail};
use serde::Serialize;

use super::mean_of;

/// Maximum number of differences for which the signed-rank distribution is counted exactly. Above it the normal
/// distribution is used. R's `wilcox.test` has the same limit.
pub const MOST_EXACT: usize = 50;

/// Returns the differences within pairs, `a` minus `b`; `None` if the lengths differ.
pub fn differences(a: &[f64], b: &[f64]) -> Option<Vec<f64>> {
    (a.len() == b.len()).then(|| a.iter().zip(b).map(|(a, b)| a - b).collect())
}

/// Student's t-test on paired differences (Student, "The probable error of a mean", 1908).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct TTest {
    /// Number of pairs.
    pub n: u64,
    /// Mean difference, in the unit of the values.
    pub mean: f64,
    /// Sample standard deviation of the differences (divisor `n − 1`), same unit.
    pub sd: f64,
    /// Mean over its standard error, with `n − 1` degrees of freedom. If all differences are equal, it is
    /// infinite, or zero if they are zero.
    pub t: f64,
    /// Two-sided probability of a `|t|` at least as large if the true mean is zero.
    pub p: f64,
    /// Interval of the mean difference.
    pub ci: [f64; 2],
    /// Confidence of the interval, such as 0.95.
    pub confidence: f64,
}

/// Tests if the mean of paired differences is zero, with its interval of this `confidence` (more than 0, less
/// than 1). Returns `None` for fewer than two differences, or if one is not finite.
///
/// If all differences are equal, there is no spread to estimate: the interval has no width, and `p` is 1 if
/// they are zero and 0 otherwise.
///
/// ```
/// use windlass_stats::paired::t_test;
/// let test = t_test(&[1.0, 2.0, 3.0], 0.95).unwrap();
/// assert_eq!((test.n, test.mean), (3, 2.0));
/// assert!((test.t - 2.0 * 3f64.sqrt()).abs() < 1e-12);
/// ```
pub fn t_test(differences: &[f64], confidence: f64) -> Option<TTest> {
    let n = differences.len();
    if n < 2 || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    // Sums in order of size, so that the order of the pairs has no effect.
    let mut sorted = differences.to_vec();
    sorted.sort_by(f64::total_cmp);
    let freedom = (n - 1) as f64;
    let mean = mean_of(&sorted);
    let squares: f64 = sorted.iter().map(|d| (d - mean) * (d - mean)).sum();
    let sd = (squares / (n - 1) as f64).sqrt();
    let error = sd / (n as f64).sqrt();
    let (t, p) = match (mean == 0.0, error == 0.0) {
        (true, _) => (0.0, 1.0),
        (false, true) => (mean.signum() * f64::INFINITY, 0.0),
        (false, false) => (mean / error, 2.0 * student_tail((mean / error).abs(), freedom)),
    };
    let half = student_quantile(0.5 + confidence / 2.0, freedom)? * error;
    Some(TTest { n: n as u64, mean, sd, t, p, ci: [mean - half, mean + half], confidence })
}

/// Wilcoxon's signed-rank test (F. Wilcoxon, "Individual comparisons by ranking methods", 1945).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SignedRank {
    /// Number of differences that are not zero, which the test uses.
    pub n: u64,
    /// Number of zero differences. They are omitted before ranking, as Wilcoxon and R do.
    pub zeros: u64,
    /// Sum of the ranks of the positive differences. Differences of equal size have the mean of their ranks.
    pub w_plus: f64,
    /// Two-sided probability of a `w_plus` at least this distance from its mean, if positive and negative signs
    /// are equally likely at every size. It is 1 if every difference is zero.
    pub p: f64,
    /// True if `p` is counted over all `2ⁿ` signs of these ranks, including ties. False if it comes from the
    /// normal distribution with corrections for ties and continuity (`n` above [`MOST_EXACT`]).
    pub exact: bool,
}

/// Tests if paired differences lie symmetrically about zero. Returns `None` without differences, or if one is
/// not a number. An infinite difference has the highest rank of its sign.
///
/// ```
/// use windlass_stats::paired::signed_rank;
/// // Of the 2³ signs of three ranks, two are as extreme as three equal signs.
/// assert_eq!(signed_rank(&[1.0, 2.0, 3.0]).unwrap().p, 0.25);
/// ```
pub fn signed_rank(differences: &[f64]) -> Option<SignedRank> {
    if differences.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    let mut nonzero: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    nonzero.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    let doubled = doubled_ranks(&nonzero);
    let signed = nonzero.iter().zip(&doubled);
    let plus: u64 = signed.filter(|(d, _)| **d > 0.0).map(|(_, rank)| *rank).sum();
    let exact = nonzero.len() <= MOST_EXACT;
    let p = if exact { counted_p(plus, &doubled) } else { normal_p(plus, &doubled) };
    Some(SignedRank {
        n: nonzero.len() as u64,
        zeros: (differences.len() - nonzero.len()) as u64,
        w_plus: plus as f64 / 2.0,
        p,
        exact,
    })
}

/// Returns twice the rank of each size. Equal sizes have the mean of their ranks, so doubling gives whole
/// numbers.
fn doubled_ranks(by_size: &[f64]) -> Vec<u64> {
    let ties = by_size.chunk_by(|a, b| a.abs() == b.abs());
    let mut ranks = Vec::with_capacity(by_size.len());
    for tie in ties {
        let first = ranks.len() as u64 + 1;
        let last = first + tie.len() as u64 - 1;
        ranks.extend(std::iter::repeat_n(first + last, tie.len()));
    }
    ranks
}

/// Returns, for each number, how many of the `2ⁿ` signs of these ranks give it as the sum of the positive
/// ranks.
pub(super) fn sign_counts(ranks: &[u64]) -> Vec<u64> {
    let mut counts = vec![1];
    for &rank in ranks {
        let rank = rank as usize;
        let mut with = counts.clone();
        with.resize(counts.len() + rank, 0);
        for (sum, ways) in counts.iter().enumerate() {
            with[sum + rank] += ways;
        }
        counts = with;
    }
    counts
}

fn counted_p(plus: u64, doubled: &[u64]) -> f64 {
    let counts = sign_counts(doubled);
    let total: u64 = doubled.iter().sum();
    let low = plus.min(total - plus) as usize;
    let tail: u64 = counts.iter().take(low + 1).sum();
    let all: u64 = counts.iter().sum();
    (2.0 * tail as f64 / all as f64).min(1.0)
}

fn normal_p(plus: u64, doubled: &[u64]) -> f64 {
    let n = doubled.len() as f64;
    let ties = doubled.chunk_by(|a, b| a == b).map(|tie| tie.len() as f64);
    let ties: f64 = ties.map(|t| t * t * t - t).sum();
    let variance = n * (n + 1.0) * (2.0 * n + 1.0) / 24.0 - ties / 48.0;
    let away = (plus as f64 / 2.0 - n * (n + 1.0) / 4.0).abs();
    let z = (away - 0.5).max(0.0) / variance.sqrt();
    (2.0 * normal_below(-z)).min(1.0)
}

#[cfg(test)]
mod tests;
