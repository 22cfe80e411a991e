//! Ranking of the algorithms.

use serde::Serialize;

use super::measure::Path;
use super::{ALPHA, Cast, Measure, Question};
use crate::run::RunRecord;
use crate::stats::effect::{cohen_dz, hodges_lehmann, superiority};
use crate::stats::multiple::{Holm, holm};
use crate::stats::paired::{TTest, differences, signed_rank, t_test};
use crate::stats::share::mean_interval;
use crate::stats::{CONFIDENCE, Summary};

/// The algorithms in order of one measure, the best mean first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ranking {
    /// Measure of the ranking, with its unit.
    pub measure: Measure,
    /// Number of comparisons in the correction.
    pub comparisons: usize,
    /// The algorithm that the others are compared with: the baseline, or the one with the best mean.
    pub reference: Option<usize>,
    /// One entry per algorithm, the best mean first. Algorithms without a mean are last. Among these, the
    /// algorithms with more runs without a finite value are last.
    pub entries: Vec<Entry>,
}

/// An algorithm in a ranking. Values have the measure's unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its position among the algorithms compared.
    pub algorithm: usize,
    /// One more than the number of significantly better algorithms. Algorithms whose difference is not significant
    /// may share a rank. Only without [`Question::baseline`].
    pub rank: Option<usize>,
    /// Runs that have no value, or did not finish. If there are any, the mean and the comparison are missing.
    pub missing: usize,
    /// Mean over the seeds.
    pub mean: Option<f64>,
    /// Interval of the mean at 95 %, by Student's t. If it would contain impossible values, the interval of the
    /// transformed mean.
    pub ci95: Option<[f64; 2]>,
    /// The comparison with the baseline or the best algorithm; `None` for that algorithm itself.
    pub versus: Option<Versus>,
}

/// A paired comparison of an algorithm with another. Differences are this algorithm's value minus the other's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Versus {
    /// The other's position among the algorithms compared.
    pub algorithm: usize,
    /// Result of the comparison.
    pub outcome: Outcome,
    /// Mean difference.
    pub difference: f64,
    /// Interval of the difference by Student's t, at the confidence that Holm's procedure gives this comparison. It
    /// excludes zero exactly if the outcome is no tie.
    pub ci: Option<[f64; 2]>,
    /// Confidence of the interval, at least 0.95.
    pub confidence: f64,
    /// p of the paired t-test, corrected by Holm's procedure.
    pub p_t: Option<f64>,
    /// p of Wilcoxon's signed-rank test, corrected in the same way.
    pub p_wilcoxon: Option<f64>,
    /// Cohen's d for pairs; `None` if the difference is the same in every pair.
    pub cohen_dz: Option<f64>,
    /// Hodges and Lehmann's estimate of the difference.
    pub hodges_lehmann: Option<f64>,
    /// Share of the seeds in which this algorithm's value is larger, plus half of the ties.
    pub superiority: Option<f64>,
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Significantly better.
    Better,
    /// Significantly worse.
    Worse,
    /// The difference is not significant.
    Tie,
    /// Equal in every run.
    Identical,
    /// A single seed, or unfinished runs: no test is possible.
    Unknown,
}

/// A test of one pair of algorithms before correction.
struct Pair {
    of: [usize; 2],
    /// Value of the first algorithm minus the value of the second, by seed.
    differences: Vec<f64>,
    test: Option<TTest>,
}

impl Pair {
    /// Result of the comparison for algorithm `a`.
    fn outcome(&self, a: usize, holm: Holm, measure: Measure) -> Outcome {
        let first = self.of[0] == a;
        match self.test {
            _ if self.differences.iter().all(|d| *d == 0.0) => Outcome::Identical,
            None => Outcome::Unknown,
            Some(_) if !holm.rejected => Outcome::Tie,
            Some(test) if ((test.mean > 0.0) == first) == measure.more_is_better() => {
                Outcome::Better
            }
            Some(_) => Outcome::Worse,
        }
    }
}

/// The ranking by a measure; `None` if no run has a value for it.
pub(super) fn of(
    question: &Question,
    records: &[RunRecord],
    paths: &[Path],
    measure: Measure,
) -> Option<Ranking> {
    let compared: Vec<&Path> = paths.iter().take(question.flows.indices().len()).collect();
    let values = |a: usize| -> Vec<Option<f64>> {
        let runs = question.runs(records, Cast::All(a)).unwrap_or_default();
        runs.into_iter().map(|run| measure.of(run, &compared)).collect()
    };
    let values: Vec<Vec<Option<f64>>> = (0..question.candidates.len()).map(values).collect();
    if values.iter().flatten().all(Option::is_none) {
        return None;
    }
    let longest_s = records.iter().map(|r| r.end_s).fold(0.0, f64::max);
    let events = |a: usize| -> Option<f64> {
        let runs = question.runs(records, Cast::All(a))?;
        runs.into_iter().map(|run| measure.events(run)).sum()
    };
    let events = (0..question.candidates.len()).map(events).collect();
    Some(rank(&values, measure, &Extent { longest_s, events }, question.baseline))
}

/// Facts that limit an interval.
pub(super) struct Extent {
    /// Length of the longest run, seconds.
    pub(super) longest_s: f64,
    /// Number of the events of which the values of each algorithm are shares, if it is known.
    pub(super) events: Vec<Option<f64>>,
}

/// Ranks algorithms by their values, each in order of seed.
pub(super) fn rank(
    values: &[Vec<Option<f64>>],
    measure: Measure,
    extent: &Extent,
    baseline: Option<usize>,
) -> Ranking {
    let finite = |runs: &Vec<Option<f64>>| -> Option<Vec<f64>> {
        runs.iter().map(|v| v.filter(|v| v.is_finite())).collect()
    };
    let whole: Vec<Option<Vec<f64>>> = values.iter().map(finite).collect();
    let means: Vec<Option<Summary>> =
        whole.iter().map(|v| Summary::of(v.as_deref().unwrap_or(&[]))).collect();
    let pairs = pairs(&whole, baseline);
    let p = |p: fn(&Pair) -> Option<f64>| -> Vec<f64> {
        pairs.iter().map(|pair| p(pair).unwrap_or(1.0)).collect()
    };
    let by_t = holm(&p(|pair| pair.test.map(|t| t.p)), ALPHA);
    let by_rank = holm(&p(|pair| signed_rank(&pair.differences).map(|t| t.p)), ALPHA);
    let mut order: Vec<usize> = (0..values.len()).collect();
    let sign = if measure.more_is_better() { -1.0 } else { 1.0 };
    let missing = |a: usize| values[a].iter().filter(|v| v.is_none_or(|v| !v.is_finite())).count();
    let key = |a: usize| means[a].map_or(f64::INFINITY, |s| sign * s.mean);
    order.sort_by(|a, b| key(*a).total_cmp(&key(*b)).then(missing(*a).cmp(&missing(*b))));
    let reference = baseline.or_else(|| order.first().copied());
    let compared = |a: usize, with: usize| {
        let at = pairs.iter().position(|pair| pair.of == [a, with] || pair.of == [with, a])?;
        Some(versus(&pairs[at], a, by_t[at], by_rank[at], measure))
    };
    let better = |a: usize| {
        let own = pairs.iter().zip(&by_t).filter(|(pair, _)| pair.of.contains(&a));
        own.filter(|(pair, holm)| pair.outcome(a, **holm, measure) == Outcome::Worse).count()
    };
    let entry = |a: usize| Entry {
        algorithm: a,
        rank: (baseline.is_none() && means[a].is_some()).then(|| 1 + better(a)),
        missing: missing(a),
        mean: means[a].map(|s| s.mean),
        ci95: whole[a].as_deref().and_then(|v| {
            mean_interval(v, measure.range(extent.longest_s), extent.events[a], CONFIDENCE)
        }),
        versus: reference.filter(|r| *r != a).and_then(|r| compared(a, r)),
    };
    let entries = order.into_iter().map(entry).collect();
    Ranking { measure, comparisons: pairs.len(), reference, entries }
}

/// The family of comparisons: each with the baseline, or all pairs.
fn pairs(whole: &[Option<Vec<f64>>], baseline: Option<usize>) -> Vec<Pair> {
    let mut pairs = Vec::new();
    for a in 0..whole.len() {
        for b in a + 1..whole.len() {
            let wanted = baseline.is_none_or(|base| base == a || base == b);
            let (Some(x), Some(y), true) = (&whole[a], &whole[b], wanted) else { continue };
            let Some(differences) = differences(x, y) else { continue };
            let test = t_test(&differences, CONFIDENCE);
            pairs.push(Pair { of: [a, b], differences, test });
        }
    }
    pairs
}

/// The comparison from the viewpoint of algorithm `a`.
fn versus(pair: &Pair, a: usize, by_t: Holm, by_rank: Holm, measure: Measure) -> Versus {
    let turned = pair.of[0] != a;
    let sign = if turned { -1.0 } else { 1.0 };
    let differences: Vec<f64> = pair.differences.iter().map(|d| sign * d).collect();
    let test = t_test(&differences, by_t.confidence);
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let difference = test.map_or(mean, |t| t.mean);
    Versus {
        algorithm: if turned { pair.of[0] } else { pair.of[1] },
        outcome: pair.outcome(a, by_t, measure),
        difference,
        ci: test.map(|t| t.ci),
        confidence: by_t.confidence,
        p_t: test.map(|_| by_t.p),
        p_wilcoxon: test.map(|_| by_rank.p),
        cohen_dz: cohen_dz(&differences),
        hodges_lehmann: hodges_lehmann(&differences, CONFIDENCE).map(|l| l.estimate),
        superiority: superiority(&differences),
    }
}
