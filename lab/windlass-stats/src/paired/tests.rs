//! The paired tests, compared with published values, and their coverage by simulation.

use super::super::effect::hodges_lehmann;
use super::super::multiple::holm;
use super::super::testing::Random;
use super::*;

fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} is not within {tolerance} of {b}");
}

/// Hours of sleep that ten patients gained on two drugs: Student, "The probable error of a mean", Biometrika 6,
/// 1908, the first paired t-test. It is the data set `sleep` of R.
const SLEEP: [[f64; 10]; 2] = [
    [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0],
    [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4],
];

/// The differences of the same data, to one decimal, as they are printed. As floating-point numbers −0.2 − 1.1
/// and −1.2 − 0.1 differ, and the tie would be lost.
const SLEEP_DIFFERENCES: [f64; 10] = [-1.2, -2.4, -1.3, -1.3, 0.0, -1.0, -1.8, -0.8, -4.6, -1.4];

/// R's manual page of `t.test` and `sleep`: t = −4.0621, df = 9, p-value = 0.002833, interval
/// −2.4598858 to −0.7001142, mean −1.58.
#[test]
fn t_test_agrees_with_students_sleep_data() {
    let test = t_test(&differences(&SLEEP[0], &SLEEP[1]).unwrap(), 0.95).unwrap();
    assert_eq!(test.n, 10);
    close(test.mean, -1.58, 1e-12);
    close(test.t, -4.0621, 5e-5);
    close(test.p, 0.002833, 5e-7);
    close(test.ci[0], -2.4598858, 5e-8);
    close(test.ci[1], -0.7001142, 5e-8);
}

/// Nine patients' Hamilton depression scale: M. Hollander and D. A. Wolfe, "Nonparametric statistical
/// methods", 1973, example 3.1, and R's manual page of `wilcox.test`: V = 40, one-sided p = 0.01953.
#[test]
#[allow(clippy::approx_constant, reason = "3.14 is a measurement")]
fn signed_rank_agrees_with_hollander_and_wolfe() {
    let before = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30];
    let after = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29];
    let test = signed_rank(&differences(&before, &after).unwrap()).unwrap();
    assert_eq!((test.n, test.zeros, test.w_plus, test.exact), (9, 0, 40.0, true));
    close(test.p, 2.0 * 0.01953125, 1e-15);
}

/// With a zero and a tie. All other nine are negative: 2 of 2⁹ signs are as extreme. R's normal approximation
/// for this data (`wilcox.test(..., exact = FALSE)`) is V = 0, p-value = 0.009091.
#[test]
fn signed_rank_leaves_zeros_out_and_shares_tied_ranks() {
    let test = signed_rank(&SLEEP_DIFFERENCES).unwrap();
    assert_eq!((test.n, test.zeros, test.w_plus), (9, 1, 0.0));
    assert_eq!(test.p, 2.0 / 512.0);
    let by_size = [0.8, 1.0, 1.2, 1.3, 1.3, 1.4, 1.8, 2.4, 4.6];
    let doubled = doubled_ranks(&by_size);
    assert_eq!(doubled, [2, 4, 6, 9, 9, 12, 14, 16, 18]);
    close(normal_p(0, &doubled), 0.009091, 5e-7);
}

/// Small cases counted by hand. The ranks of 1, −1, 2 are 1½, 1½, 3. The sums of the positive ranks over the
/// eight signings are 0, 1½, 1½, 3, 3, 4½, 4½, 6. For a sum of 4½, four signings have the same distance from
/// the mean of 3, and two a greater distance.
#[test]
fn signed_rank_counts_every_signing() {
    assert_eq!(signed_rank(&[1.0, -1.0, 2.0]).unwrap().p, 6.0 / 8.0);
    assert_eq!(signed_rank(&[1.0, -2.0]).unwrap().p, 1.0);
    assert_eq!(signed_rank(&[-5.0]).unwrap().p, 1.0);
    assert_eq!(signed_rank(&[f64::INFINITY, 1.0, 2.0, 3.0]).unwrap().p, 2.0 / 16.0);
}

/// At the limit of exact counting both methods agree, except that the exact tails are lighter than the normal
/// tails. With an excess kurtosis of −0.07 Edgeworth's next term is at most 0.004.
#[test]
fn counted_and_normal_probabilities_agree_at_the_change() {
    let doubled: Vec<u64> = (1..=MOST_EXACT as u64).map(|rank| 2 * rank).collect();
    for plus in [800, 900, 1000, 1100, 1200] {
        let (counted, normal) = (counted_p(plus, &doubled), normal_p(plus, &doubled));
        close(counted, normal, 0.004);
    }
    let many: Vec<f64> = (0..60).map(|i| f64::from(i) - 20.0).collect();
    let test = signed_rank(&many).unwrap();
    assert_eq!((test.n, test.zeros, test.exact), (59, 1, false));
}

#[test]
fn differences_that_are_all_the_same_have_intervals_without_width() {
    let none = t_test(&[0.0; 5], 0.95).unwrap();
    assert_eq!((none.t, none.p, none.ci), (0.0, 1.0, [0.0, 0.0]));
    // A tenth is not a binary fraction: a sum of tenths over their number may differ from a tenth.
    let some = t_test(&[-0.1; 10], 0.95).unwrap();
    assert_eq!((some.t, some.p, some.sd), (f64::NEG_INFINITY, 0.0, 0.0));
    assert_eq!(some.ci, [-0.1, -0.1]);
    assert_eq!(signed_rank(&[0.0; 5]).unwrap().p, 1.0);
}

#[test]
fn unusable_differences_give_no_test() {
    assert_eq!(differences(&[1.0], &[1.0, 2.0]), None);
    assert_eq!(t_test(&[1.0], 0.95), None);
    assert_eq!(t_test(&[1.0, f64::INFINITY], 0.95), None);
    assert_eq!(signed_rank(&[]), None);
    assert_eq!(signed_rank(&[f64::NAN]), None);
}

/// Differences of ten pairs. Both values of a pair share the part that a common seed gives.
fn pairs(random: &mut Random, shift: f64) -> Vec<f64> {
    let pair = |random: &mut Random| {
        let shared = 5.0 * random.normal();
        (shared + shift + random.normal()) - (shared + random.normal())
    };
    (0..10).map(|_| pair(random)).collect()
}

/// 4000 rounds of ten pairs: the standard error of a coverage of 95 % is 0.34 %. The signed-rank
/// interval of ten pairs covers 1 − 2·P(W ≤ 8) = 95.1 %.
#[test]
fn paired_intervals_cover_the_true_difference_as_often_as_they_say() {
    let mut random = Random::new(7);
    let (rounds, shift) = (4000, 0.7);
    let (mut by_t, mut by_rank) = (0, 0);
    for _ in 0..rounds {
        let d = pairs(&mut random, shift);
        let holds = |[low, high]: [f64; 2]| u32::from(low <= shift && shift <= high);
        by_t += holds(t_test(&d, 0.95).unwrap().ci);
        by_rank += holds(hodges_lehmann(&d, 0.95).unwrap().ci.unwrap());
    }
    close(f64::from(by_t) / f64::from(rounds), 0.95, 0.012);
    close(f64::from(by_rank) / f64::from(rounds), 0.9512, 0.012);
}

/// Four algorithms without a difference, each compared with each. Six uncorrected tests at 5 % find a
/// difference in about one of five families; with Holm's correction, in at most one of twenty.
#[test]
fn all_pairs_with_holm_keep_the_familywise_error() {
    let mut random = Random::new(11);
    let rounds = 3000;
    let (mut uncorrected, mut corrected) = (0, 0);
    for _ in 0..rounds {
        let runs: Vec<Vec<f64>> =
            (0..4).map(|_| (0..10).map(|_| random.normal()).collect()).collect();
        let mut p = Vec::new();
        for (i, a) in runs.iter().enumerate() {
            for b in &runs[..i] {
                p.push(t_test(&differences(a, b).unwrap(), 0.95).unwrap().p);
            }
        }
        uncorrected += u32::from(p.iter().any(|p| *p <= 0.05));
        corrected += u32::from(holm(&p, 0.05).iter().any(|h| h.rejected));
    }
    let share = |hits: u32| f64::from(hits) / f64::from(rounds);
    assert!(share(uncorrected) > 0.15, "{}", share(uncorrected));
    assert!(share(corrected) <= 0.05 + 0.012, "{}", share(corrected));
}
