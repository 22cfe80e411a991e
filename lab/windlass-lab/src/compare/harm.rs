//! Harm of each algorithm to each other one.

use serde::Serialize;

use super::cast::Side;
use super::measure::Path;
use super::{ALPHA, Cast, Measure, Question};
use crate::run::RunRecord;
use crate::stats::multiple::holm;
use crate::stats::paired::{TTest, differences, t_test};
use crate::stats::share::{Range, mean_interval};
use crate::stats::{CONFIDENCE, Summary};

/// Harm of every algorithm to every algorithm, in one measure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Harm {
    /// The harmed measure.
    pub measure: Measure,
    /// One cell for each pair, in order of the harming algorithm, then of the harmed one.
    pub cells: Vec<Cell>,
}

/// Harm of one algorithm to another, as a fraction: 0 without effect, 1 for the loss of all performance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    /// Position of the algorithm that harms.
    pub by: usize,
    /// Position of the algorithm that is harmed.
    pub to: usize,
    /// Mean performance of `to` alone, in the measure's unit.
    pub alone: Option<f64>,
    /// Mean performance of `to` in competition with `by`, in the same unit.
    pub beside: Option<f64>,
    /// Mean harm over the seeds.
    pub harm: Option<f64>,
    /// Interval of the mean at 95 %, by Student's t.
    pub ci95: Option<[f64; 2]>,
    /// Harm minus the harm of the harmed algorithm to itself.
    pub excess: Option<f64>,
    /// Interval of the excess, at the confidence that Holm's procedure over all pairs gives it.
    pub excess_ci: Option<[f64; 2]>,
    /// p of the paired t-test of the excess, corrected by Holm's procedure over all pairs.
    pub p: Option<f64>,
    /// Result of the test of the excess.
    pub bar: Bar,
}

/// Comparison of the harm of one algorithm to another with the harm of the other to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bar {
    /// The harm to itself.
    Own,
    /// Significantly more.
    More,
    /// Significantly less.
    Less,
    /// The difference is not significant.
    Alike,
    /// A single seed, or unfinished runs.
    Unknown,
}

/// The harm in one measure; `None` if a run is missing or has no value.
pub(super) fn of(
    question: &Question,
    records: &[RunRecord],
    paths: &[Path],
    measure: Measure,
) -> Option<Harm> {
    let n = question.candidates.len();
    let view = View { question, records, paths, measure };
    let alone: Option<Vec<Vec<f64>>> = (0..n).map(|a| view.alone(a)).collect();
    let alone = alone?;
    let mut series = Vec::new();
    for by in 0..n {
        for (to, alone) in alone.iter().enumerate() {
            let beside = view.beside(to, by)?;
            series.push(Series::new(by, to, alone, &beside, measure.more_is_better()));
        }
    }
    Some(Harm { measure, cells: cells(&series, n) })
}

/// The runs, with one measure.
struct View<'a> {
    question: &'a Question,
    records: &'a [RunRecord],
    paths: &'a [Path],
    measure: Measure,
}

impl View<'_> {
    /// Performance of `a` by seed, over both sides, with the other side absent.
    fn alone(&self, a: usize) -> Option<Vec<f64>> {
        let flows = &self.question.flows;
        let odd = Cast::alone(flows, Side::Odd, a);
        if flows.is_single() {
            // The copy of the flow would behave like the flow.
            return self.values(odd, &self.paths[..1]);
        }
        self.over_both(odd, Cast::alone(flows, Side::Even, a))
    }

    /// Performance of `a` by seed, over both sides, with `other` on the other side.
    fn beside(&self, a: usize, other: usize) -> Option<Vec<f64>> {
        let flows = &self.question.flows;
        self.over_both(Cast::with(flows, a, other), Cast::with(flows, other, a))
    }

    /// The mean over flows. Odd flows are taken from one assignment, even flows from the other.
    fn over_both(&self, odd: Cast, even: Cast) -> Option<Vec<f64>> {
        let of = |side: Side| -> Vec<Path> {
            let places = self.paths.iter().enumerate();
            places.filter(|(i, _)| Side::of(*i) == side).map(|(_, p)| p.clone()).collect()
        };
        let (odd_paths, even_paths) = (of(Side::Odd), of(Side::Even));
        let from_odd = self.values(odd, &odd_paths)?;
        let from_even = self.values(even, &even_paths)?;
        let (n, m) = (odd_paths.len() as f64, even_paths.len() as f64);
        let mean = |(x, y): (&f64, &f64)| (n * x + m * y) / (n + m);
        Some(from_odd.iter().zip(&from_even).map(mean).collect())
    }

    /// The mean over these flows, by seed.
    fn values(&self, cast: Cast, paths: &[Path]) -> Option<Vec<f64>> {
        let runs = self.question.runs(self.records, cast)?;
        let mean_of_flows = |run: &RunRecord| -> Option<f64> {
            let values: Option<Vec<f64>> =
                paths.iter().map(|path| self.measure.of(run, &[path])).collect();
            values.map(|v| v.iter().sum::<f64>() / v.len() as f64)
        };
        runs.into_iter().map(mean_of_flows).collect()
    }
}

/// The harm of one algorithm to another by seed.
pub(super) struct Series {
    by: usize,
    to: usize,
    alone: Option<f64>,
    beside: Option<f64>,
    /// `None` if a seed has no finite harm.
    harm: Option<Vec<f64>>,
}

impl Series {
    pub(super) fn new(
        by: usize,
        to: usize,
        alone: &[f64],
        beside: &[f64],
        more_is_better: bool,
    ) -> Series {
        let harm = |(x, y): (&f64, &f64)| {
            let harm = if more_is_better { (x - y) / x } else { (y - x) / y };
            Some(harm).filter(|h| h.is_finite())
        };
        let mean = |v: &[f64]| Summary::of(v).map(|s| s.mean).filter(|m| m.is_finite());
        let harm = alone.iter().zip(beside).map(harm).collect();
        Series { by, to, alone: mean(alone), beside: mean(beside), harm }
    }
}

/// Harm is at most 1, the loss of all performance.
const POSSIBLE: Range = Range { low: f64::NEG_INFINITY, high: 1.0 };

/// The cells of `n` algorithms' series, in the order of the harming algorithm.
pub(super) fn cells(series: &[Series], n: usize) -> Vec<Cell> {
    let excess = |s: &Series| -> Option<Vec<f64>> {
        let own = &series[s.to * n + s.to];
        differences(s.harm.as_ref()?, own.harm.as_ref()?)
    };
    let others: Vec<&Series> = series.iter().filter(|s| s.by != s.to).collect();
    let test = |s: &Series, confidence: f64| excess(s).and_then(|d| t_test(&d, confidence));
    let p: Vec<f64> = others.iter().map(|s| test(s, CONFIDENCE).map_or(1.0, |t| t.p)).collect();
    let corrected = holm(&p, ALPHA);
    let mut corrected = corrected.into_iter();
    let cell = |s: &Series| {
        let summary = s.harm.as_ref().and_then(|h| Summary::of(h));
        let blank = Cell {
            by: s.by,
            to: s.to,
            alone: s.alone,
            beside: s.beside,
            harm: summary.map(|s| s.mean),
            ci95: s.harm.as_deref().and_then(|h| mean_interval(h, POSSIBLE, None, CONFIDENCE)),
            excess: None,
            excess_ci: None,
            p: None,
            bar: Bar::Own,
        };
        if s.by == s.to {
            return blank;
        }
        let Some(holm) = corrected.next() else { return blank };
        let tested = test(s, holm.confidence);
        let mean = excess(s).and_then(|d| Summary::of(&d)).map(|s| s.mean);
        Cell {
            excess: mean,
            excess_ci: tested.map(|t| t.ci),
            p: tested.map(|_| holm.p),
            bar: bar(tested, holm.rejected),
            ..blank
        }
    };
    series.iter().map(cell).collect()
}

fn bar(test: Option<TTest>, rejected: bool) -> Bar {
    match test {
        None => Bar::Unknown,
        Some(_) if !rejected => Bar::Alike,
        Some(test) if test.mean > 0.0 => Bar::More,
        Some(_) => Bar::Less,
    }
}
