//! Correction for many comparisons.
//!
//! Twenty tests at 5 % without a true difference find one on average. Holm's procedure keeps the probability of
//! *any* such error in a family of tests at 5 %, for any dependence between the tests (S. Holm, "A simple
//! sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979). It rejects at
//! least the hypotheses that Bonferroni's procedure rejects.

use serde::Serialize;

/// Result of Holm's procedure for one test of a family.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Holm {
    /// Adjusted p: the smallest familywise error at which the hypothesis would be rejected.
    pub p: f64,
    /// True if the hypothesis is rejected at the requested familywise error.
    pub rejected: bool,
    /// Confidence of the interval that belongs to this decision. An interval of the same test at this
    /// confidence excludes the hypothesis exactly if the hypothesis is rejected. It is at least one minus the
    /// familywise error (R. C. Serlin, "Confidence intervals and the scientific method: a case for Holm on the
    /// range", Journal of Experimental Education 61, 1993).
    pub confidence: f64,
}

/// Applies Holm's procedure to the p-values of a family, at a familywise error of `alpha`. The answers are in
/// the order of the p-values, each of which is between 0 and 1.
///
/// ```
/// use windlass_stats::multiple::holm;
/// let holm = holm(&[0.04, 0.02], 0.05);
/// assert!(holm[1].rejected && (holm[1].p, holm[1].confidence) == (0.04, 0.975));
/// assert!(holm[0].rejected && (holm[0].p, holm[0].confidence) == (0.04, 0.95));
/// ```
pub fn holm(p_values: &[f64], alpha: f64) -> Vec<Holm> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|a, b| p_values[*a].total_cmp(&p_values[*b]));
    let mut answers = vec![Holm { p: 1.0, rejected: false, confidence: 1.0 - alpha }; order.len()];
    let mut adjusted: f64 = 0.0;
    // Number of hypotheses tested together with this one. It stays constant after the first that is not
    // rejected.
    let mut standing = order.len() as f64;
    for (step, &i) in order.iter().enumerate() {
        let left = (order.len() - step) as f64;
        adjusted = adjusted.max(p_values[i] * left).min(1.0);
        let rejected = adjusted <= alpha;
        if rejected || adjusted_before(&answers, &order, step) {
            standing = left;
        }
        answers[i] = Holm { p: adjusted, rejected, confidence: 1.0 - alpha / standing };
    }
    answers
}

/// True if every hypothesis before this step has been rejected.
fn adjusted_before(answers: &[Holm], order: &[usize], step: usize) -> bool {
    step.checked_sub(1).is_none_or(|before| answers[order[before]].rejected)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12, "{a} is not {b}");
    }

    /// The fifteen tests of Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", JRSS B 57,
    /// 1995, section 4. At 5 % Bonferroni's procedure, and Holm's, rejects the first three.
    #[test]
    fn holm_rejects_three_of_the_published_fifteen() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let answers = holm(&p, 0.05);
        assert!(answers.iter().map(|a| a.rejected).eq((0..15).map(|i| i < 3)));
        close(answers[0].p, 0.0015);
        close(answers[1].p, 0.0056);
        close(answers[2].p, 0.0247);
        close(answers[3].p, 0.114);
        close(answers[14].p, 1.0);
    }

    /// R: `p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")` is 0.03 0.06 0.06 0.02.
    #[test]
    fn adjusted_values_agree_with_r_in_the_order_of_the_tests() {
        let answers = holm(&[0.01, 0.04, 0.03, 0.005], 0.05);
        for (answer, expected) in answers.iter().zip([0.03, 0.06, 0.06, 0.02]) {
            close(answer.p, expected);
        }
        let rejected: Vec<bool> = answers.iter().map(|a| a.rejected).collect();
        assert_eq!(rejected, [true, false, false, true]);
        // The divisors are four, then three. The two hypotheses that are not rejected have the divisor two.
        let confidences = [1.0 - 0.05 / 3.0, 1.0 - 0.05 / 2.0, 1.0 - 0.05 / 2.0, 1.0 - 0.05 / 4.0];
        for (answer, expected) in answers.iter().zip(confidences) {
            close(answer.confidence, expected);
        }
    }

    #[test]
    fn a_family_of_one_is_not_adjusted_and_an_empty_family_has_no_answers() {
        let one = holm(&[0.05], 0.05)[0];
        assert_eq!((one.p, one.rejected, one.confidence), (0.05, true, 0.95));
        assert!(holm(&[], 0.05).is_empty());
    }

    proptest::proptest! {
        /// A test at the interval's own confidence decides as the procedure does. The order of the tests
        /// affects only the order of the answers.
        #[test]
        fn intervals_and_decisions_agree(mut p in proptest::collection::vec(0.0..=1.0f64, 1..12)) {
            let answers = holm(&p, 0.05);
            for (p, answer) in p.iter().zip(&answers) {
                proptest::prop_assert_eq!(answer.rejected, *p <= 1.0 - answer.confidence + 1e-15);
                proptest::prop_assert!(answer.p >= *p && answer.confidence >= 0.95 - 1e-15);
            }
            let mut turned: Vec<Holm> = answers.into_iter().rev().collect();
            p.reverse();
            let again = holm(&p, 0.05);
            let key = |a: &Holm| (a.p.to_bits(), a.confidence.to_bits());
            turned.sort_by_key(key);
            let mut again = again;
            again.sort_by_key(key);
            proptest::prop_assert_eq!(turned, again);
        }
    }
}
