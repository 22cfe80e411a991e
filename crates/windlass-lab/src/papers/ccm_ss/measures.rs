//! What is read from the runs, and how two slow starts are held against each other.

use std::collections::BTreeMap;

use crate::claims::Metric;
use crate::papers::Material;
use crate::run::RunRecord;
use crate::stats::Summary;

/// The direction that all data takes.
const BOTTLENECK: &str = "bottleneck:r1>r2";
/// Seconds of a run whose losses count as those of the start: both flows have left slow start.
pub(super) const START_S: f64 = 20.0;

/// A number that a run yields.
pub(super) type Measure = fn(&RunRecord) -> Option<f64>;

/// Packets that the bottleneck dropped.
pub(super) fn drops(r: &RunRecord) -> Option<f64> {
    r.links.iter().find(|l| l.name == BOTTLENECK).map(|l| l.drops as f64)
}

/// Those of the first [`START_S`].
pub(super) fn early_drops(r: &RunRecord) -> Option<f64> {
    let course = r.course.as_ref()?;
    let bins = (START_S / course.bin_s) as usize;
    Some(course.dropped(bins).iter().sum::<u64>() as f64)
}

/// Packets dropped for each that was sent, per cent.
pub(super) fn drop_share(r: &RunRecord) -> Option<f64> {
    let link = r.links.iter().find(|l| l.name == BOTTLENECK)?;
    (link.sent > 0).then(|| 100.0 * link.drops as f64 / link.sent as f64)
}

fn named(path: &str, r: &RunRecord) -> Option<f64> {
    Metric::parse(path).ok()?.of(r)
}

/// Goodput of both flows, Mbit/s.
pub(super) fn goodput(r: &RunRecord) -> Option<f64> {
    named("run.goodput_bps", r).map(|v| v / 1e6)
}

/// Jain's index.
pub(super) fn jain(r: &RunRecord) -> Option<f64> {
    named("run.jain_index", r)
}

/// Convergence time by window, seconds.
pub(super) fn by_window(r: &RunRecord) -> Option<f64> {
    named("run.convergence_cwnd_s", r)
}

/// Convergence time by rate, seconds.
pub(super) fn by_rate(r: &RunRecord) -> Option<f64> {
    named("run.convergence_rate_s", r)
}

/// The finished runs of a point.
pub(super) fn runs<'a>(
    m: &Material<'a>,
    experiment: &'a str,
    point: &'a str,
) -> impl Iterator<Item = &'a RunRecord> {
    m.records.iter().filter(move |r| r.experiment == experiment && r.point == point)
}

/// A measure by seed.
fn by_seed(m: &Material, experiment: &str, point: &str, measure: Measure) -> BTreeMap<u64, f64> {
    runs(m, experiment, point).filter_map(|r| Some((r.seed, measure(r)?))).collect()
}

/// A measure over the runs of a point.
pub(super) fn summary(
    m: &Material,
    experiment: &str,
    point: &str,
    measure: Measure,
) -> Option<Summary> {
    let values: Vec<f64> = by_seed(m, experiment, point, measure).into_values().collect();
    Summary::of(&values)
}

/// How much more per cent `b` has than `a`, run by run with the same seed.
pub(super) fn change(
    m: &Material,
    experiment: &str,
    points: (&str, &str),
    measure: Measure,
) -> Option<Summary> {
    Summary::of(&changes(m, experiment, points, measure))
}

/// How much more per cent `b` has than `a` in each pair of runs with the same seed, in order of seed.
/// A run without any at `a` counts where `b` has none either.
pub(super) fn changes(
    m: &Material,
    experiment: &str,
    (a, b): (&str, &str),
    measure: Measure,
) -> Vec<f64> {
    let base = by_seed(m, experiment, a, measure);
    let changed = by_seed(m, experiment, b, measure);
    let one = |(seed, b): (&u64, &f64)| {
        let a = base.get(seed)?;
        if a == b {
            return Some(0.0);
        }
        (*a != 0.0).then(|| (b - a) / a * 100.0)
    };
    changed.iter().filter_map(one).collect()
}

/// Labels of an axis of an experiment that has runs at `start=hystart` and that label.
pub(super) fn labels<'a>(m: &Material<'a>, experiment: &str, axis: &str) -> Vec<&'a str> {
    let Some(found) = m.plan.experiment(experiment) else { return Vec::new() };
    let Some(axis) = found.axes.iter().find(|a| a.name == axis) else { return Vec::new() };
    axis.values.iter().map(|v| v.label.as_str()).collect()
}

/// The points of HyStart and of another slow start at the rest of a point's name.
pub(super) fn pair(other: &str, rest: &str) -> (String, String) {
    (format!("start=hystart,{rest}"), format!("start={other},{rest}"))
}
