//! Stopping rule for adding runs: a fixed schedule of interim analyses (looks), each with its own interval.
//!
//! Runs are added until the interval of the mean is as narrow as requested. If one analyses repeatedly and
//! stops at the first narrow interval, the interval covers the true value less often than stated. The reason is
//! that it stops too early if the first values happen to be close together. Three measures prevent that:
//!
//! - the first analysis is after [`Rule::min`] runs, so that the spread is known and a second mode of the
//!   results has appeared;
//! - there are few analyses: each has half as many more runs than the one before;
//! - each analysis uses Student's interval at [`Rule::LOOK_CONFIDENCE`] instead of 95 %.
//!
//! The interval at the stop then covers the mean in about 95 % of all sweeps or more. The test below and
//! `docs/src/trust/statistics.md` give the coverage for several distributions. Chow and Robbins (Annals of
//! Mathematical Statistics 36, 1965) proposed the idea; their rule analyses after every value and has the
//! stated coverage only in the limit of zero width.
//!
//! The decision is a pure function of the values in order of their seeds. Therefore an interrupted sweep, a
//! sweep on a different number of processors and a sweep in shards stop at the same run.

use std::fmt;

use crate::distributions::student_quantile;

/// Requested half-width of an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// As a fraction of the mean's absolute value.
    Relative(f64),
    /// In the unit of the values.
    Absolute(f64),
}

impl Width {
    /// Returns the half-width in the unit of the values, for this mean.
    pub fn of(self, mean: f64) -> f64 {
        match self {
            Width::Relative(r) => r * mean.abs(),
            Width::Absolute(w) => w,
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // 100 · 0.07 is not 7 in binary; ten digits are more than a user types.
            Width::Relative(r) => write!(f, "±{}%", (r * 1e12).round() / 1e10),
            Width::Absolute(w) => write!(f, "±{w}"),
        }
    }
}

/// Minimum and maximum number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Runs before the first interim analysis, at least 2.
    pub min: u64,
    /// Runs after which the sweep ends, for any width of the interval; at least `min`.
    pub max: u64,
}

/// An interim analysis of a mean.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Mean of the values.
    pub mean: f64,
    /// Half the width of its interval; infinite without an interval.
    pub half: f64,
}

impl Rule {
    /// Default number of runs before the first interim analysis.
    pub const MIN: u64 = 30;
    /// Default number of runs after which the sweep ends.
    pub const MAX: u64 = 1000;
    /// Confidence of the interval of each interim analysis.
    pub const LOOK_CONFIDENCE: f64 = 0.975;

    /// Returns the rule of a single analysis.
    pub fn fixed(runs: u64) -> Rule {
        Rule { min: runs, max: runs }
    }

    /// Returns the numbers of runs with an interim analysis, in order: `min`, then half as many more each time,
    /// rounded up, and `max`.
    pub fn looks(self) -> impl Iterator<Item = u64> {
        let next =
            move |n: &u64| (*n < self.max).then(|| n.saturating_add(n.div_ceil(2)).min(self.max));
        std::iter::successors(Some(self.min.min(self.max)), next)
    }

    /// Returns the mean of `values` with the interval of an interim analysis.
    pub fn look(values: &[f64]) -> Look {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
        let t = student_quantile(0.5 + Rule::LOOK_CONFIDENCE / 2.0, n - 1.0);
        let half = t.map_or(f64::INFINITY, |t| t * (squares / (n - 1.0) / n).sqrt());
        Look { mean, half: if half.is_nan() { f64::INFINITY } else { half } }
    }

    /// True if the interval of the mean of `values` is narrow enough to stop at this analysis.
    pub fn is_narrow(values: &[f64], width: Width) -> bool {
        let Look { mean, half } = Rule::look(values);
        half.is_finite() && half <= width.of(mean)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Random;
    use super::*;

    #[test]
    fn looks_come_half_as_many_runs_later_each_time_and_end_at_the_largest() {
        let looks = |min, max| Rule { min, max }.looks().collect::<Vec<_>>();
        assert_eq!(looks(30, 300), [30, 45, 68, 102, 153, 230, 300]);
        assert_eq!(looks(2, 5), [2, 3, 5]);
        assert_eq!(looks(10, 10), [10]);
        assert_eq!(looks(10, 7), [7]);
        assert_eq!(Rule { min: 2, max: u64::MAX }.looks().last(), Some(u64::MAX));
    }

    /// t with 9 degrees of freedom at 0.9875 is 2.685 (tables of Student's distribution).
    #[test]
    fn a_look_is_students_interval_at_its_own_confidence() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let look = Rule::look(&values);
        assert_eq!(look.mean, 5.5);
        assert!((look.half - 2.685_011 * 3.027_650 / 10f64.sqrt()).abs() < 1e-5, "{look:?}");
        assert!(Rule::is_narrow(&values, Width::Absolute(2.58)));
        assert!(!Rule::is_narrow(&values, Width::Absolute(2.57)));
        assert!(Rule::is_narrow(&values, Width::Relative(2.58 / 5.5)));
    }

    #[test]
    fn values_without_an_interval_are_never_narrow_and_constant_values_always() {
        for values in [&[][..], &[1.0], &[1.0, f64::INFINITY], &[1.0, f64::NAN, 2.0]] {
            assert!(!Rule::is_narrow(values, Width::Absolute(1e300)), "{values:?}");
        }
        assert!(Rule::is_narrow(&[3.0; 5], Width::Relative(1e-9)));
        assert!(Rule::is_narrow(&[0.0; 5], Width::Relative(1e-9)));
    }

    #[test]
    fn widths_are_written_as_they_are_typed() {
        assert_eq!(Width::Relative(0.07).to_string(), "±7%");
        assert_eq!(Width::Relative(0.025).to_string(), "±2.5%");
        assert_eq!(Width::Absolute(0.01).to_string(), "±0.01");
    }

    /// A distribution: name, generator, mean, coefficient of variation.
    type Law = (&'static str, fn(&mut Random) -> f64, f64, f64);

    /// Variation of the lognormal with σ = 0.5 and 1: √(exp σ² − 1).
    const LAWS: [Law; 7] = [
        ("normal", |r| 5.0 + r.normal(), 5.0, 0.2),
        ("exponential", |r| -r.uniform().ln(), 1.0, 1.0),
        ("lognormal, σ = 0.5", |r| (0.5 * r.normal()).exp(), 1.133_148_453, 0.532_940_1),
        ("lognormal, σ = 1", |r| r.normal().exp(), 1.648_721_271, 1.310_832_5),
        ("two modes, 50:50", |r| two_modes(r, 0.5), 2.0, 0.500_624_6),
        ("two modes, 80:20", |r| two_modes(r, 0.2), 1.4, 0.572_543_7),
        ("two modes, 90:10", |r| two_modes(r, 0.1), 1.2, 0.501_732_9),
    ];

    /// Draws values around 1, and with probability `p` around 3.
    fn two_modes(random: &mut Random, p: f64) -> f64 {
        let mode = if random.uniform() < p { 3.0 } else { 1.0 };
        mode + 0.05 * random.normal()
    }

    /// Returns the share of sweeps whose interval at the stop covers the mean, and their mean number of runs.
    /// The requested width is the width of a 95 % interval of `runs` values.
    fn coverage(law: Law, min: u64, runs: f64, sweeps: u32) -> (f64, f64) {
        let (_, draw, mean, variation) = law;
        let width = Width::Relative(1.96 * variation / runs.sqrt());
        let mut random = Random::new(7);
        let (mut hits, mut made) = (0, 0);
        for _ in 0..sweeps {
            let mut values = Vec::new();
            for n in (Rule { min, max: Rule::MAX }).looks() {
                values.resize_with(n as usize, || draw(&mut random));
                if Rule::is_narrow(&values, width) {
                    break;
                }
            }
            let look = Rule::look(&values);
            hits += u32::from((look.mean - mean).abs() <= look.half);
            made += values.len();
        }
        (f64::from(hits) / f64::from(sweeps), made as f64 / f64::from(sweeps))
    }

    /// The coverage that the documentation states. 2000 sweeps per cell: the standard error of 95 % is 0.5 %.
    #[test]
    fn the_interval_at_the_stop_covers_the_mean_as_often_as_documented() {
        for law in LAWS {
            // Thirty runs do not show a long tail, or a mode in one run of ten, with any rule.
            let rare = ["lognormal, σ = 1", "two modes, 90:10"].contains(&law.0);
            let promised = if rare { 0.89 } else { 0.94 };
            for runs in [10.0, 50.0, 200.0] {
                let (covered, made) = coverage(law, Rule::MIN, runs, 2000);
                assert!(covered >= promised - 0.01, "{}, {runs}: {covered} after {made}", law.0);
                // The coverage must not need more than twice the runs.
                assert!(made <= 2.0 * runs.max(Rule::MIN as f64), "{}, {runs}: {made}", law.0);
            }
        }
    }

    /// The table of `docs/src/trust/statistics.md`; `--nocapture` shows it.
    #[test]
    #[ignore = "half a minute long; makes the documentation's table"]
    fn the_documentations_table_of_coverage() {
        for min in [10, 30, 100] {
            for law in LAWS {
                let cells: Vec<String> = [10.0, 20.0, 50.0, 100.0, 200.0]
                    .map(|runs| coverage(law, min, runs, 4000))
                    .map(|(covered, made)| format!("{:.1} % ({made:.0})", 100.0 * covered))
                    .into();
                println!("| {min} | {} | {} |", law.0, cells.join(" | "));
            }
        }
    }
}
