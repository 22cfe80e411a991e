//! Length of a run's warm-up to omit: White's MSER-5 rule.
//!
//! A run begins empty. Slow start and filling queues do not represent the long run, and bias its averages. MSER
//! (K. P. White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6),
//! 1997) omits the number of first values that makes the interval of the mean of the rest narrowest. Omitting
//! more values leaves fewer; omitting fewer leaves more spread. MSER-5 first replaces each five values by their
//! mean, which smooths single values.

/// Number of values per batch.
pub const BATCH: usize = 5;

/// Returns the number of the first `values` to omit, a multiple of [`BATCH`]. The values are taken at equal
/// intervals of time. Returns `None` for fewer than two batches, or if the best cut lies in the second half. In
/// that case the run is too short for its warm-up (White, Cobb and Spratt, "A comparison of five steady-state
/// truncation heuristics for simulation", 2000).
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

/// Returns the number of the first `values` to omit, as [`mser5`] but without batches.
///
/// It is the `d` that minimises `Σ (Yᵢ − Ȳ)² / (n − d)²`, with the sum over the values after the first `d` and
/// their mean `Ȳ`. If several give the minimum, it is the smallest. At least five values remain, because the
/// statistic of the last few values is small by chance.
pub fn mser(values: &[f64]) -> Option<usize> {
    const LEAST: usize = 5;
    let n = values.len();
    if n < 2 || values.iter().any(|v| !v.is_finite()) {
        return None;
    }
    // Iterates from the last value backwards and updates the mean and the sum of squares (Welford).
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

    /// Computed by hand for 10, 4, 1, 2, 1, 2, 1, 2. Without a cut the mean is 23/8 and the statistic is (131 −
    /// 529/8)/64 = 1.014. After one value it is (31 − 169/7)/49 = 0.140. After two it is (15 − 81/6)/36 =
    /// 0.0417. After three it is (14 − 64/5)/25 = 0.048.
    #[test]
    fn a_hand_worked_example_is_cut_where_the_statistic_is_least() {
        assert_eq!(mser(&[10.0, 4.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0]), Some(2));
        // Each value five times: the batches are the same eight numbers.
        let long: Vec<f64> =
            [10.0, 4.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0].iter().flat_map(|v| [*v; 5]).collect();
        assert_eq!(mser5(&long), Some(10));
        // Values that do not fill a batch, at the end, are not counted.
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
    fn steady_values_are_not_cut() {
        assert_eq!(mser(&[3.0; 20]), Some(0));
        assert_eq!(mser5(&[3.0; 100]), Some(0));
    }

    /// A beginning that decays over 50 of 1000 values is cut, and few values more.
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
