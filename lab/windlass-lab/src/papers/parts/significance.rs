//! Significance of differences within pairs of runs: the t-test on pairs, the signed-rank test, and Holm's
//! correction for the number of tests.

use super::cells;
use crate::report::numbers::number;
use crate::stats::effect::cohen_dz;
use crate::stats::multiple::{Holm, holm};
use crate::stats::paired::{signed_rank, t_test};
use crate::stats::{CONFIDENCE, Summary};

/// Familywise error of the tests of one family.
const ALPHA: f64 = 0.05;

/// Results of the tests for one set of paired differences of a family.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tested {
    /// Summary of the differences.
    pub(crate) summary: Option<Summary>,
    /// The t-test after Holm's correction; `None` for fewer than two pairs.
    pub(crate) t: Option<Holm>,
    /// The signed-rank test after Holm's correction.
    pub(crate) rank: Option<Holm>,
    /// Interval of the mean at the corrected confidence. It excludes zero exactly if the t-test rejects zero.
    pub(crate) ci: Option<[f64; 2]>,
    /// Cohen's d of pairs.
    pub(crate) effect: Option<f64>,
}

/// Tests sets of differences that are one family of comparisons.
pub(crate) fn tested(family: &[&[f64]]) -> Vec<Tested> {
    let by_t = corrected(family, |d| t_test(d, CONFIDENCE).map(|t| t.p));
    let by_rank = corrected(family, |d| (d.len() > 1).then(|| signed_rank(d))?.map(|t| t.p));
    let one = |((d, t), rank): ((&&[f64], Option<Holm>), Option<Holm>)| Tested {
        summary: Summary::of(d),
        t,
        rank,
        ci: t.and_then(|t| Some(t_test(d, t.confidence)?.ci)),
        effect: cohen_dz(d),
    };
    family.iter().zip(by_t).zip(by_rank).map(one).collect()
}

/// Result of Holm's procedure for each set that can be tested.
fn corrected(family: &[&[f64]], test: fn(&[f64]) -> Option<f64>) -> Vec<Option<Holm>> {
    let raw: Vec<Option<f64>> = family.iter().map(|differences| test(differences)).collect();
    let all: Vec<f64> = raw.iter().flatten().copied().collect();
    let mut answers = holm(&all, ALPHA).into_iter();
    raw.into_iter().map(|raw| raw.and_then(|_| answers.next())).collect()
}

/// A corrected p-value as a cell.
pub(crate) fn probability(holm: Option<Holm>) -> String {
    match holm {
        None => cells::NONE.to_owned(),
        Some(h) if h.p < 0.001 => "< 0.001".to_owned(),
        Some(h) => number((h.p * 1000.0).round() / 1000.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For 1, 2 and 3, t is 2·√3 with two degrees of freedom, and p is 0.0742. Two of the eight sign combinations
    /// are as extreme.
    #[test]
    fn tests_are_corrected_for_their_number_without_impossible_tests() {
        let said = |family: &[&[f64]]| -> Vec<[String; 3]> {
            let of =
                |t: &Tested| [probability(t.t), probability(t.rank), cells::optional(t.effect)];
            tested(family).iter().map(of).collect()
        };
        let one = said(&[&[1.0, 2.0, 3.0]]);
        assert_eq!(one[0], ["0.074", "0.25", "2"]);
        let more = said(&[&[1.0, 2.0, 3.0], &[5.0], &[-1.0, 1.0, 0.0]]);
        assert_eq!(more[0], ["0.148", "0.5", "2"]);
        assert_eq!(more[1], ["–", "–", "–"]);
        assert_eq!(more[2], ["1", "1", "0"]);
    }

    #[test]
    fn a_corrected_interval_excludes_zero_exactly_if_the_test_rejects_zero() {
        let clear: Vec<f64> = (0..8).map(|k| 5.0 + f64::from(k % 2)).collect();
        let vague: Vec<f64> = (0..8).map(|k| f64::from(k) - 2.5).collect();
        for tested in tested(&[&clear, &vague, &clear]) {
            let ([low, high], t) = (tested.ci.unwrap(), tested.t.unwrap());
            assert_eq!(low * high > 0.0, t.rejected);
        }
    }
}
