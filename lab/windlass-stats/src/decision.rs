//! Decides if runs agree with a figure, contradict it, or leave it open.
//!
//! A figure with its tolerance is a band. The interval of the measured value lies inside the band, outside it,
//! or across an edge. In the last case nothing is decided. This is the test of equivalence by two one-sided
//! tests (D. J. Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15, 1987), together with its
//! opposite. A direction is decided in the same way, against the smallest effect that matters instead of
//! against zero. A real difference that is smaller does not count as a difference.
//!
//! All decisions are made at a level `alpha`, the maximum probability that one end of an interval is on the
//! wrong side of the true value. A level of 5 % uses 90 % intervals. More runs narrow an interval. A decision
//! changes its side only if the first decision was an error. The table shows how often that happens with a band
//! of ±1 about 0, values of standard deviation 1 and a level of 5 %. The figures are percentages of 4000 series
//! with interim analyses after 6, 12, 20 and 40 runs. A test computes them. On the edge, agreement counts as
//! wrong:
//!
//! ```text
//! true mean   wrong at 6   at 12   at 20   at 40   changed side   open at 40
//!         0          0.0     0.0     0.0     0.0            0.0          0.0
//!       0.5          0.3     0.1     0.0     0.0            0.2          7.1
//!       0.9          3.2     2.2     2.0     1.2            0.1         84.0
//!         1          5.2     4.5     4.5     4.9            0.1         90.1
//!       1.1          3.0     2.4     1.9     1.1            0.1         84.8
//!       1.5          0.3     0.0     0.0     0.0            0.2          7.8
//!         2          0.0     0.0     0.0     0.0            0.0          0.0
//! ```

use crate::distributions::{coins, student_quantile};

/// Minimum number of runs for a decision about random values.
pub const MIN_RUNS: usize = 6;
/// Level of a single decision without correction: 90 % intervals.
pub const ALPHA: f64 = 0.05;
/// Returns the minimum number of runs for a decision about a median at a level. With fewer runs, even the
/// interval from the smallest to the largest value has too little confidence.
pub fn least_runs(alpha: f64) -> usize {
    let halvings = libm::log2(1.0 / alpha).ceil();
    MIN_RUNS.max(halvings as usize)
}

/// Maximum number of runs that [`Question::runs_wanted`] proposes.
pub const MAX_RUNS: u64 = 10_000;

/// The statistic that is estimated from the runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// The mean, with Student's interval.
    Mean,
    /// The median, with the interval between two order statistics.
    Median,
}

/// The values of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Sample {
    /// One value without randomness: arithmetic, or runs in which nothing is random.
    Exact(f64),
    /// One value per run.
    Runs(Runs),
}

/// One value per run, in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    sorted: Vec<f64>,
    location: Location,
}

impl Runs {
    /// Takes the values in any order. An infinite value is a run that did not finish. Returns `None` without
    /// values, or if one is not a number.
    pub fn of(mut values: Vec<f64>, location: Location) -> Option<Runs> {
        if values.is_empty() || values.iter().any(|v| v.is_nan()) {
            return None;
        }
        values.sort_by(f64::total_cmp);
        Some(Runs { sorted: values, location })
    }

    fn center(&self) -> f64 {
        match self.location {
            Location::Mean => crate::mean_of(&self.sorted),
            Location::Median => crate::middle(&self.sorted),
        }
    }

    fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        let n = self.sorted.len();
        if n < MIN_RUNS {
            return None;
        }
        match self.location {
            Location::Mean => {
                let center = self.center();
                let error = crate::sample_sd(&self.sorted, center)? / (n as f64).sqrt();
                let t = student_quantile(1.0 - alpha, (n - 1) as f64)?;
                let half = if error == 0.0 { 0.0 } else { t * error };
                Some([center - half, center + half])
            }
            Location::Median => {
                let below = |k: &usize| coins(*k as u64 - 1, n as u64) <= alpha;
                let rank = (1..=n / 2).take_while(below).last()?;
                Some([self.sorted[rank - 1], self.sorted[n - rank]])
            }
        }
    }
}

impl Sample {
    /// The estimate.
    pub fn center(&self) -> f64 {
        match self {
            Sample::Exact(value) => *value,
            Sample::Runs(runs) => runs.center(),
        }
    }

    /// Returns the interval. Each end is on the wrong side of the true value with a probability of at most
    /// `alpha`. Returns `None` if there are too few runs, or for a mean if one run did not finish.
    pub fn interval(&self, alpha: f64) -> Option<[f64; 2]> {
        match self {
            Sample::Exact(value) => Some([*value; 2]),
            Sample::Runs(runs) => runs.interval(alpha),
        }
    }

    fn runs(&self) -> u64 {
        match self {
            Sample::Exact(_) => 0,
            Sample::Runs(runs) => runs.sorted.len() as u64,
        }
    }
}

/// The question that the runs answer. At least one of the two parts is present.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// A quantity, and the band that counts as the claimed figure.
    pub size: Option<(Sample, [f64; 2])>,
    /// A difference and the smallest value that matters, which is at least zero. The sign of the difference is
    /// such that the claimed direction is positive.
    pub effect: Option<(Sample, f64)>,
}

/// The answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The size, if the question has one, is inside the band. The direction, if the question has one, is the
    /// claimed direction.
    Agrees,
    /// The direction is the claimed direction, and the size lies outside the band.
    DirectionOnly,
    /// The size lies outside the band and the question has no direction, or the effect is smaller than the
    /// smallest effect that matters.
    Contradicted,
    /// Not decided; more runs may decide it.
    Open,
}

/// Position of an interval relative to a band.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    In,
    Out,
    Across,
}

/// True if the value is at least the bound, up to the rounding of a sum.
fn reaches(value: f64, bound: f64) -> bool {
    value >= bound - 1e-9 * bound.abs()
}

fn size_side([low, high]: [f64; 2], band: [f64; 2]) -> Side {
    if reaches(low, band[0]) && reaches(-high, -band[1]) {
        Side::In
    } else if !reaches(high, band[0]) || !reaches(-low, -band[1]) {
        Side::Out
    } else {
        Side::Across
    }
}

fn effect_side([low, high]: [f64; 2], least: f64) -> Side {
    if low > 0.0 && reaches(low, least) {
        Side::In
    } else if high <= 0.0 || !reaches(high, least) {
        Side::Out
    } else {
        Side::Across
    }
}

impl Question {
    /// Returns the answer at a level.
    pub fn decide(&self, alpha: f64) -> Decision {
        self.decide_with(&|sample| sample.interval(alpha))
    }

    fn decide_with(&self, interval: &dyn Fn(&Sample) -> Option<[f64; 2]>) -> Decision {
        let size = self.size.as_ref().map(|(sample, band)| {
            interval(sample).map_or(Side::Across, |ends| size_side(ends, *band))
        });
        let effect = self.effect.as_ref().map(|(sample, least)| {
            interval(sample).map_or(Side::Across, |ends| effect_side(ends, *least))
        });
        match (size, effect) {
            (_, Some(Side::Out)) => Decision::Contradicted,
            (Some(Side::In) | None, Some(Side::In)) | (Some(Side::In), None) => Decision::Agrees,
            (Some(Side::Out), Some(Side::In)) => Decision::DirectionOnly,
            (Some(Side::Out), None) => Decision::Contradicted,
            (Some(Side::Across), _) | (_, Some(Side::Across)) | (None, None) => Decision::Open,
        }
    }

    /// Returns the smallest level at which the question is decided. It is the p-value of the decision, for
    /// corrections over many questions. The result is 1 if the question is open at [`ALPHA`].
    pub fn p(&self) -> f64 {
        if self.decide(ALPHA) == Decision::Open {
            return 1.0;
        }
        // Intervals of a higher confidence contain the intervals of a lower confidence, so a decision holds at
        // all higher levels.
        let (mut open, mut decided) = (libm::log(1e-15), libm::log(ALPHA));
        if self.decide(libm::exp(open)) != Decision::Open {
            return 0.0;
        }
        for _ in 0..40 {
            let middle = (open + decided) / 2.0;
            match self.decide(libm::exp(middle)) {
                Decision::Open => open = middle,
                _ => decided = middle,
            }
        }
        libm::exp(decided)
    }

    /// Estimates the number of runs that would decide the question at this level, if the estimate did not
    /// change. Returns `None` above 10,000 runs, for example for an estimate on the edge of the band.
    pub fn runs_wanted(&self, alpha: f64) -> Option<u64> {
        let samples = [self.size.as_ref().map(|s| &s.0), self.effect.as_ref().map(|s| &s.0)];
        let n = samples.iter().flatten().map(|s| s.runs()).max()?;
        // The median's widest interval reaches from the smallest to the largest value.
        let enough = least_runs(alpha) as u64;
        if n < enough {
            return Some(enough);
        }
        let decided = |wanted: u64| {
            let shrink = (n as f64 / wanted as f64).sqrt();
            let narrower = |sample: &Sample| {
                let center = sample.center();
                sample.interval(alpha).map(|ends| ends.map(|end| center + (end - center) * shrink))
            };
            self.decide_with(&narrower) != Decision::Open
        };
        let candidates = std::iter::successors(Some(n), |n| Some(n + n.div_ceil(10)));
        candidates.take_while(|n| *n <= MAX_RUNS).find(|n| decided(*n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn a_median_of_fewer_than_least_runs_has_no_interval() {
        for level in [ALPHA, ALPHA / 69.0, ALPHA / 1000.0] {
            let least = least_runs(level);
            let of =
                |n: usize| Runs::of((0..n).map(|v| v as f64).collect(), Location::Median).unwrap();
            assert!(
                of(least - 1).interval(level).is_none() && of(least).interval(level).is_some(),
                "{level}"
            );
        }
    }

    fn runs(values: &[f64], location: Location) -> Sample {
        Sample::Runs(Runs::of(values.to_vec(), location).unwrap())
    }

    fn size(sample: Sample, band: [f64; 2]) -> Question {
        Question { size: Some((sample, band)), effect: None }
    }

    fn effect(sample: Sample, least: f64) -> Question {
        Question { size: None, effect: Some((sample, least)) }
    }

    #[test]
    fn exact_values_are_decided_without_runs() {
        assert_eq!(size(Sample::Exact(1.0), [0.9, 1.0]).decide(ALPHA), Decision::Agrees);
        assert_eq!(size(Sample::Exact(1.1), [0.9, 1.0]).decide(ALPHA), Decision::Contradicted);
        assert_eq!(effect(Sample::Exact(0.0), 0.0).decide(ALPHA), Decision::Contradicted);
        assert_eq!(effect(Sample::Exact(1e-9), 0.0).decide(ALPHA), Decision::Agrees);
        assert_eq!(size(Sample::Exact(1.0), [0.9, 1.0]).p(), 0.0);
    }

    #[test]
    fn an_interval_across_an_edge_is_open_and_gives_the_runs_wanted() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0).collect();
        let q = size(runs(&values, Location::Mean), [0.8, 2.0]);
        assert_eq!((q.decide(ALPHA), q.p()), (Decision::Open, 1.0));
        // 0.95 ± t·s/√n with s = 0.59: the lower end reaches 0.8 at about 42.
        assert!((38..=52).contains(&q.runs_wanted(ALPHA).unwrap()));
        assert_eq!(size(runs(&values, Location::Mean), [0.95, 2.0]).runs_wanted(ALPHA), None);
    }

    #[test]
    fn a_size_without_randomness_does_not_change_the_runs_wanted() {
        let values: Vec<f64> = (0..20).map(|i| f64::from(i) / 10.0).collect();
        for location in [Location::Mean, Location::Median] {
            let alone = effect(runs(&values, location), 0.8);
            let both = Question { size: Some((Sample::Exact(1.0), [0.9, 1.1])), ..alone.clone() };
            assert!(alone.runs_wanted(ALPHA) > Some(20), "{location:?}");
            assert_eq!(both.runs_wanted(ALPHA), alone.runs_wanted(ALPHA), "{location:?}");
        }
    }

    #[test]
    fn fewer_than_six_runs_decide_nothing() {
        let q = size(runs(&[1.0; 5], Location::Mean), [0.0, 2.0]);
        assert_eq!((q.decide(ALPHA), q.runs_wanted(ALPHA)), (Decision::Open, Some(6)));
        let q = size(runs(&[1.0; 6], Location::Median), [0.0, 2.0]);
        assert_eq!(q.decide(ALPHA), Decision::Agrees);
        // At a level of 0.001 the extremes of ten runs are needed.
        assert_eq!((q.decide(0.001), q.runs_wanted(0.001)), (Decision::Open, Some(10)));
    }

    #[test]
    fn a_size_and_a_direction_are_both_asked_for() {
        let q = |value, least| Question {
            size: Some((Sample::Exact(value), [9.0, 11.0])),
            effect: Some((Sample::Exact(value), least)),
        };
        assert_eq!(q(10.0, 0.0).decide(ALPHA), Decision::Agrees);
        assert_eq!(q(12.0, 0.0).decide(ALPHA), Decision::DirectionOnly);
        assert_eq!(q(-10.0, 0.0).decide(ALPHA), Decision::Contradicted);
        assert_eq!(q(10.0, 10.5).decide(ALPHA), Decision::Contradicted);
    }

    #[test]
    fn a_certain_effect_too_small_to_matter_is_contradicted() {
        let values: Vec<f64> = (0..40).map(|i| 0.1 + f64::from(i % 5) / 1000.0).collect();
        let sample = runs(&values, Location::Mean);
        assert_eq!(effect(sample.clone(), 0.0).decide(ALPHA), Decision::Agrees);
        assert_eq!(effect(sample.clone(), 0.5).decide(ALPHA), Decision::Contradicted);
        assert_eq!(effect(sample, 0.102).decide(ALPHA), Decision::Open);
    }

    #[test]
    fn runs_that_did_not_finish_count_as_the_worst() {
        let mut values = vec![1.0; 15];
        values.extend([f64::INFINITY; 5]);
        let q = |location| size(runs(&values, location), [0.0, 2.0]).decide(ALPHA);
        assert_eq!(q(Location::Median), Decision::Agrees);
        assert_eq!(q(Location::Mean), Decision::Open);
        values.extend([f64::INFINITY; 40]);
        let q = size(runs(&values, Location::Median), [0.0, 2.0]);
        assert_eq!(q.decide(ALPHA), Decision::Contradicted);
        assert_eq!(Runs::of(vec![1.0, f64::NAN], Location::Mean), None);
    }

    /// Six values between 0 and 1: the p-value of a median above zero is 1/64.
    #[test]
    fn the_p_value_is_the_smallest_level_with_a_decision() {
        let values = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
        let p = effect(runs(&values, Location::Median), 0.0).p();
        assert!((p - 1.0 / 64.0).abs() < 1e-9, "{p}");
        // Student: mean 0.35, standard error 0.0764, t = 4.583 with five degrees of freedom.
        let p = effect(runs(&values, Location::Mean), 0.0).p();
        assert!((p - 0.002_97).abs() < 2e-5, "{p}");
    }

    const LOOKS: [usize; 4] = [6, 12, 20, 40];
    const SERIES: usize = 4000;

    /// A row of the table above: the series that are wrong at each interim analysis, that change side, and that
    /// are open after 40 runs.
    fn row(mean: f64, random: &mut Random) -> String {
        let right = if mean < 1.0 { Decision::Agrees } else { Decision::Contradicted };
        let (mut wrong, mut changed, mut open) = ([0; LOOKS.len()], 0, 0);
        for _ in 0..SERIES {
            let values: Vec<f64> = (0..40).map(|_| mean + random.normal()).collect();
            let look =
                |&n: &usize| size(runs(&values[..n], Location::Mean), [-1.0, 1.0]).decide(ALPHA);
            let seen: Vec<Decision> = LOOKS.iter().map(look).collect();
            for (count, decision) in wrong.iter_mut().zip(&seen) {
                *count += usize::from(*decision != Decision::Open && *decision != right);
            }
            let decided: Vec<_> = seen.iter().filter(|d| **d != Decision::Open).collect();
            changed += usize::from(decided.windows(2).any(|pair| pair[0] != pair[1]));
            open += usize::from(seen[LOOKS.len() - 1] == Decision::Open);
        }
        let percent = |count: usize| count as f64 * 100.0 / SERIES as f64;
        for count in wrong {
            assert!(percent(count) < 6.0, "{mean}: {wrong:?}");
        }
        let [six, twelve, twenty, forty] = wrong.map(percent);
        format!(
            "{mean:9} {six:12.1} {twelve:7.1} {twenty:7.1} {forty:7.1} {:14.1} {:12.1}",
            percent(changed),
            percent(open)
        )
    }

    #[test]
    fn decisions_err_as_seldom_as_the_table_says() {
        let mut random = Random::new(1);
        let rows: Vec<String> =
            [0.0, 0.5, 0.9, 1.0, 1.1, 1.5, 2.0].iter().map(|m| row(*m, &mut random)).collect();
        let page = include_str!("decision.rs");
        for row in &rows {
            assert!(
                page.contains(&format!("//! {row}\n")),
                "the table has become:\n{}",
                rows.join("\n")
            );
        }
    }
}
