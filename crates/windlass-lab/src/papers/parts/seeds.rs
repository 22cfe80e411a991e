//! What the runs of a point come to, seed by seed.

use std::collections::BTreeMap;

use crate::claims::Metric;
use crate::papers::Material;
use crate::run::RunRecord;

/// A value in each run of a point, by seed.
pub(crate) type BySeed = BTreeMap<u64, f64>;

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

/// A metric by its path.
pub(crate) fn named(path: &str) -> impl Fn(&RunRecord) -> Option<f64> + use<> {
    let metric = Metric::parse(path).ok();
    move |run| metric.as_ref()?.of(run)
}
