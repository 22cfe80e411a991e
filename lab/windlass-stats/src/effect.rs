//! Effect sizes of paired differences.
//!
//! All functions take the differences within the pairs, first minus second.

use crate::distributions::normal_quantile;
use serde::Serialize;

use super::paired::{MOST_EXACT, sign_counts, t_test};

/// Returns Cohen's d for pairs: the mean difference over the standard deviation of the differences, without
/// unit (J. Cohen, "Statistical power analysis for the behavioral sciences", 1988, section 2.3.5, named `d_z`
/// there). Returns `None` for fewer than two differences, for one that is not finite, and if all differences
/// are equal.
pub fn cohen_dz(differences: &[f64]) -> Option<f64> {
    let test = t_test(differences, super::CONFIDENCE)?;
    (test.sd > 0.0).then_some(test.mean / test.sd)
}

/// Returns the probability of superiority for pairs: the share in which the first is larger, plus half of the
/// ties (R. J. Grissom and J. J. Kim, "Effect sizes for research", 2005, chapter 5). At ½ neither is larger
/// more often; at 1 the first is always larger. Returns `None` without differences, or if one is not a number.
pub fn superiority(differences: &[f64]) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    let larger = differences.iter().filter(|d| **d > 0.0).count() as f64;
    let ties = differences.iter().filter(|d| **d == 0.0).count() as f64;
    Some((larger + ties / 2.0) / differences.len() as f64)
}

/// Location of the differences, with the interval that belongs to the signed-rank test. Both are in the unit of
/// the values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Location {
    /// Hodges and Lehmann's estimate.
    pub estimate: f64,
    /// Interval of at least the requested confidence; `None` if there are too few differences for it.
    pub ci: Option<[f64; 2]>,
}

/// Returns Hodges and Lehmann's estimate of the centre of the differences: the median of all means of two of
/// them, including each difference paired with itself (J. L. Hodges and E. L. Lehmann, "Estimates of location
/// based on rank tests", 1963). A few outliers do not move it. The interval lies between two of these means. It
/// is J. W. Tukey's inversion of the signed-rank test, exact up to [`MOST_EXACT`] differences and from the
/// normal distribution above. Returns `None` without differences, or if one is not finite.
///
/// The memory is proportional to half the square of the number of differences.
pub fn hodges_lehmann(differences: &[f64], confidence: f64) -> Option<Location> {
    let n = differences.len();
    if n == 0 || differences.iter().any(|d| !d.is_finite()) {
        return None;
    }
    let mut means = Vec::with_capacity(n * (n + 1) / 2);
    for (i, a) in differences.iter().enumerate() {
        means.extend(differences[..=i].iter().map(|b| a / 2.0 + b / 2.0));
    }
    means.sort_by(f64::total_cmp);
    let ci = rank_of_lower_end(n, confidence).map(|k| [means[k - 1], means[means.len() - k]]);
    Some(Location { estimate: super::middle(&means), ci })
}

/// Returns the rank, from one, of the mean of two at which the interval begins. It is the largest `k`
/// for which a signed-rank sum below `k` has a probability of at most half of one minus the confidence.
fn rank_of_lower_end(n: usize, confidence: f64) -> Option<usize> {
    let tail = (1.0 - confidence) / 2.0;
    if n > MOST_EXACT {
        let n = n as f64;
        let sd = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
        let z = normal_quantile(1.0 - tail);
        // Half a rank for continuity: P(W < k) is about Φ((k − ½ − mean) / sd).
        let k = (n * (n + 1.0) / 4.0 + 0.5 - z * sd).floor();
        return (k >= 1.0).then_some(k as usize);
    }
    let ranks: Vec<u64> = (1..=n as u64).collect();
    let counts = sign_counts(&ranks);
    let all: u64 = counts.iter().sum();
    let mut below = 0;
    let k = counts.iter().take_while(|ways| {
        below += **ways;
        below as f64 <= tail * all as f64
    });
    Some(k.count()).filter(|k| *k > 0)
}

#[cfg(test)]
mod tests {
    use super::super::paired::differences;
    use super::*;

    fn close(a: f64, b: f64, tolerance: f64) {
        assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
    }

    /// M. Hollander and D. A. Wolfe, "Nonparametric statistical methods", 1973, example 3.1 and its
    /// continuations: the Hamilton depression scale of nine patients before and after a tranquilliser. The
    /// estimate is −0.46, and the 96.1 % interval is −0.786 to −0.010.
    #[test]
    #[allow(clippy::approx_constant, reason = "3.14 is a measurement")]
    fn hodges_lehmann_agrees_with_hollander_and_wolfe() {
        let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
        let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
        let found = hodges_lehmann(&differences(&after, &before).unwrap(), 0.95).unwrap();
        close(found.estimate, -0.46, 1e-12);
        let [low, high] = found.ci.unwrap();
        close(low, -0.786, 1e-12);
        close(high, -0.010, 1e-12);
    }

    /// Table A.4 of the same book, upper tails of the signed-rank statistic. For nine differences P(W ≥ 40) =
    /// 0.020, so that the rank is 45 + 1 − 40 = 6. For ten the tail at 47 is 0.024, and for thirteen the tail
    /// at 73 is 0.024.
    #[test]
    fn interval_ranks_agree_with_the_published_table() {
        for (n, rank) in [(6, 1), (7, 3), (8, 4), (9, 6), (10, 9), (13, 18)] {
            assert_eq!(rank_of_lower_end(n, 0.95), Some(rank), "n = {n}");
        }
        assert_eq!(rank_of_lower_end(5, 0.95), None);
    }

    #[test]
    fn the_normal_distribution_takes_over_without_a_step() {
        // Each further difference moves the rank by about n/2 − z·d(sd)/dn, about twenty here.
        let ranks: Vec<i64> =
            (48..=54).map(|n| rank_of_lower_end(n, 0.95).unwrap() as i64).collect();
        let steps: Vec<i64> = ranks.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(steps.windows(2).all(|s| (s[1] - s[0]).abs() <= 1), "{ranks:?}");
    }

    /// Student's sleep data (see the t-test): t = −4.0621 of ten pairs, so d_z = t/√10 = −1.2846. The second
    /// drug gave more sleep in nine of ten patients, and the same amount in one.
    #[test]
    fn effects_of_students_sleep_data() {
        let d = [-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4];
        close(cohen_dz(&d).unwrap(), -1.2846, 5e-5);
        close(superiority(&d).unwrap(), 0.05, 1e-12);
    }

    #[test]
    fn unusable_differences_give_none() {
        assert_eq!(cohen_dz(&[2.0, 2.0]), None);
        assert_eq!(cohen_dz(&[2.0]), None);
        assert_eq!(superiority(&[]), None);
        assert_eq!(superiority(&[0.0, 0.0]), Some(0.5));
        assert_eq!(superiority(&[f64::INFINITY, -1.0]), Some(0.5));
        assert_eq!(hodges_lehmann(&[f64::INFINITY], 0.95), None);
        assert_eq!(hodges_lehmann(&[3.0], 0.95), Some(Location { estimate: 3.0, ci: None }));
    }
}
