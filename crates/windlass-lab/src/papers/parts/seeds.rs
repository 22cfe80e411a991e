//! What the runs of a point come to, seed by seed.

use std::collections::BTreeMap;

use super::cells::{self, NONE};
use crate::claims::Metric;
use crate::papers::Material;
use crate::report::model::ChartPoint;
use crate::run::RunRecord;
use crate::stats::Summary;

/// A value in each run of a point, by seed.
pub(crate) type BySeed = BTreeMap<u64, f64>;
/// A number that a run yields.
pub(crate) type Measure = fn(&RunRecord) -> Option<f64>;

/// A value of every run of a point that has it.
pub(crate) fn by_seed(
    m: &Material,
    experiment: &str,
    point: &str,
    value: impl Fn(&RunRecord) -> Option<f64>,
) -> BySeed {
    let here = m.records.iter().filter(|r| r.experiment == experiment && r.point == point);
    here.filter_map(|r| Some((r.seed, value(r)?))).collect()
}

/// The same summed up.
pub(crate) fn summary(values: &BySeed) -> Option<Summary> {
    Summary::of(&values.values().copied().collect::<Vec<f64>>())
}

/// Two values of the runs with the same seed made one.
pub(crate) fn paired(a: &BySeed, b: &BySeed, f: impl Fn(f64, f64) -> f64) -> BySeed {
    a.iter().filter_map(|(seed, a)| Some((*seed, f(*a, *b.get(seed)?)))).collect()
}

/// How much more, per cent of `b`, `a` is.
pub(crate) fn change(a: &BySeed, b: &BySeed) -> BySeed {
    let mut all = paired(a, b, |a, b| 100.0 * (a - b) / b);
    all.retain(|_, v| v.is_finite());
    all
}

/// Median and interval as a cell.
pub(crate) fn cell(values: &BySeed) -> String {
    summary(values).map_or(NONE.to_owned(), |s| cells::median(&s))
}

/// Median and interval as a bar or a point of a category.
pub(crate) fn bar(category: &str, values: &BySeed) -> Option<ChartPoint> {
    let category = Some(category.to_owned());
    Some(ChartPoint { category, ..at(0.0, values)? })
}

/// The same at a place on the axis.
pub(crate) fn at(x: f64, values: &BySeed) -> Option<ChartPoint> {
    let s = summary(values)?;
    let (lo, hi) = (s.ci95_median.map(|c| c[0]), s.ci95_median.map(|c| c[1]));
    Some(ChartPoint { x, y: s.median, lo, hi, ..ChartPoint::default() })
}

/// A metric by its path.
pub(crate) fn named(path: &str) -> impl Fn(&RunRecord) -> Option<f64> + use<> {
    let metric = Metric::parse(path).ok();
    move |run| metric.as_ref()?.of(run)
}
