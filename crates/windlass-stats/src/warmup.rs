//! How much of a run's beginning to leave out: White's MSER-5 rule.
//!
//! A run begins empty: slow start and filling queues say nothing about the long run, and bias its
//! averages. MSER (K. P. White, "An effective truncation heuristic for bias reduction in simulation
//! output", Simulation 69(6), 1997) leaves out the first values such that the interval of the mean
//! of the rest is narrowest: what is left out costs values, what is left in costs spread. MSER-5
//! takes means of five values at a time first, which smooths out single values.

/// Values whose mean is one batch.
pub const BATCH: usize = 5;

/// How many of the first `values`, taken at equal intervals of time, to leave out: a multiple of
/// [`BATCH`]. `None` when no cut can be told: fewer than two batches, or the best cut lies in the
/// second half, which means that the run is too short for its warm-up (White, Cobb and Spratt, "A
/// comparison of five steady-state truncation heuristics for simulation", 2000).
///
/// ```
/// use windlass_stats::warmup::mser5;
///
/// // Four batches of a beginning, then a steady alternation.
/// let mut goodput = vec![0.0; 20];
/// goodput.extend([9.0, 11.0, 10.0, 11.0, 9.0].repeat(20));
/// assert_eq!(mser5(&goodput), Some(20));
/// ```
pub fn mser5(values: &[f64]) -> Option<usize> {
    let batches: Vec<f64> =
        values.chunks_exact(BATCH).map(|five| five.iter().sum::<f64>() / BATCH as f64).collect();
    mser(&batches).map(|cut| BATCH * cut)
}

/// How many of the first `values` to leave out, as [`mser5`] without batches.
///
/// It is the `d` that makes `Σ (Yᵢ − Ȳ)² / (n − d)²` least, the sum being over the values after the
/// first `d` and `Ȳ` their mean; the smallest of several. At least five values stay, since the
/// statistic of the very last ones is small by chance.
pub fn mser(values: &[f64]) -> Option<usize> {
    const LEAST: usize = 5;
    let n = values.len();
    if n < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    // From the last value backwards, with the mean and sum of squares kept up to date (Welford).
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, n);
    for (d, value) in values.iter().enumerate().rev() {
        let kept = (n - d) as f64;
        let step = value - mean;
        mean += step / kept;
        squares += step * (value - mean);
        let statistic = squares / (kept * kept);
        if n - d >= LEAST.min(n) && statistic <= best.0 {
            best = (statistic, d);
        }
    }
    (2 * best.1 <= n).then_some(best.1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    /// By hand, for 10, 4, 1, 2, 1, 2, 1, 2: without a cut the mean is 23/8 and the statistic
    /// (131 − 529/8)/64 = 1.014; after one value (31 − 169/7)/49 = 0.140; after two
    /// (15 − 81/6)/36 = 0.0417; after three (14 − 64/5)/25 = 0.048.
    #[test]
    fn a_hand_worked_example_is_cut_where_the_statistic_is_least() {
        assert_eq!(mser(&[10.0, 4.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]), Some(2));
        // Each value five times: the batches are the same eight numbers.
        let long: Vec<f64> =
            [10.0, 4.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0].iter().flat_map(|v| [*v; 5]).collect();
        assert_eq!(mser5(&long), Some(10));
        // Values short of a batch are left to the end and do not count.
        assert_eq!(mser5(&[&long[..], &[99.0; 4]].concat()), Some(10));
    }

    #[test]
    fn the_statistic_agrees_with_its_definition() {
        let mut random = Random::new(3);
        for _ in 0..50 {
            let n = 40;
            let values: Vec<f64> =
                (0..n).map(|i| 20.0 * (-f64::from(i) / 4.0).exp() + random.normal()).collect();
            let statistic = |d: usize| {
                let rest = &values[d..];
                let mean = rest.iter().sum::<f64>() / rest.len() as f64;
                let squares: f64 = rest.iter().map(|v| (v - mean).powi(2)).sum();
                squares / (rest.len() * rest.len()) as f64
            };
            let best = (0..=values.len() - 5)
                .min_by(|a, b| statistic(*a).total_cmp(&statistic(*b)))
                .unwrap();
            assert_eq!(mser(&values), (2 * best <= values.len()).then_some(best));
        }
    }

    #[test]
    fn what_is_steady_from_the_start_is_left_whole() {
        assert_eq!(mser(&[3.0; 20]), Some(0));
        assert_eq!(mser5(&[3.0; 100]), Some(0));
    }

    /// A beginning that decays over 50 of 1000 values is found, and little more is cut.
    #[test]
    fn a_decaying_beginning_is_cut_and_little_else() {
        let mut random = Random::new(11);
        let mut cuts = Vec::new();
        for _ in 0..200 {
            let value = |i: usize| 10.0 * (-(i as f64) / 50.0).exp() + random.normal();
            let values: Vec<f64> = (0..1000).map(value).collect();
            cuts.extend(mser5(&values));
        }
        cuts.sort_unstable();
        assert!(cuts.len() >= 195, "{} of 200 had a cut", cuts.len());
        let median = cuts[cuts.len() / 2];
        assert!((75..=250).contains(&median), "{median}");
    }

    #[test]
    fn too_short_and_never_steady_runs_have_no_cut() {
        assert_eq!(mser5(&[1.0; 9]), None);
        assert_eq!(mser(&[1.0, f64::NAN, 2.0]), None);
        let ever_growing: Vec<f64> = (0..100).map(|i| f64::from(i * i)).collect();
        assert_eq!(mser5(&ever_growing), None);
    }
}
