//! What the runs of a point come to, flow groups taken together.

use crate::papers::Material;
use crate::papers::parts::cells::{self, NONE};
use crate::report::model::ChartPoint;
use crate::run::RunRecord;
use crate::stats::Summary;
use std::collections::BTreeMap;
use windlass_sim::LinkResult;

/// The bottleneck in the direction of the data.
pub(super) const BOTTLENECK: &str = "bottleneck:r1>r2";
/// The link speeds of the paper.
pub(super) const RATES: [&str; 2] = ["1Mbps", "2Mbps"];
/// The algorithms that TCP Modified meets, with their names; CUBIC is ours.
pub(super) const FIELD: [(&str, &str); 5] = [
    ("newreno", "NewReno"),
    ("bbr", "BBR"),
    ("illinois", "Illinois"),
    ("yeah", "YeAH"),
    ("cubic", "CUBIC"),
];

/// A value in each run of a point, by seed.
pub(super) type BySeed = BTreeMap<u64, f64>;

/// `1Mbps` as prose has it.
pub(super) fn spaced(rate: &str) -> String {
    rate.replace("Mbps", "\u{a0}Mbit/s")
}

/// A value of every run of a point that has it.
pub(super) fn by_seed(
    m: &Material,
    (experiment, point): (&str, &str),
    value: impl Fn(&RunRecord) -> Option<f64>,
) -> BySeed {
    let here = m.records.iter().filter(|r| r.experiment == experiment && r.point == point);
    here.filter_map(|r| Some((r.seed, value(r)?))).collect()
}

/// The same summed up.
pub(super) fn summary(values: &BySeed) -> Option<Summary> {
    Summary::of(&values.values().copied().collect::<Vec<f64>>())
}

/// Two values of the runs with the same seed made one.
pub(super) fn paired(a: &BySeed, b: &BySeed, f: impl Fn(f64, f64) -> f64) -> BySeed {
    a.iter().filter_map(|(seed, a)| Some((*seed, f(*a, *b.get(seed)?)))).collect()
}

/// Mean goodput of the flows with these names, kbit/s.
pub(super) fn goodput(run: &RunRecord, flows: &[&str]) -> Option<f64> {
    let found: Vec<f64> = run
        .flows
        .iter()
        .filter(|f| flows.contains(&f.name.as_str()))
        .map(|f| f.goodput_bps / 1e3)
        .collect();
    (found.len() == flows.len()).then(|| found.iter().sum::<f64>() / found.len() as f64)
}

/// Share of all goodput that the flows with these names have together, per cent.
pub(super) fn share(run: &RunRecord, flows: &[&str]) -> Option<f64> {
    let all: f64 = run.flows.iter().map(|f| f.goodput_bps / 1e3).sum();
    let mine = goodput(run, flows)? * flows.len() as f64;
    (all > 0.0).then(|| 100.0 * mine / all)
}

fn bottleneck(run: &RunRecord) -> Option<&LinkResult> {
    run.links.iter().find(|l| l.name == BOTTLENECK)
}

/// Packets that the bottleneck's queue refused, per cent of what came.
pub(super) fn queue_loss(run: &RunRecord) -> Option<f64> {
    let link = bottleneck(run)?;
    (link.sent > 0).then(|| 100.0 * link.drops_queue as f64 / link.sent as f64)
}

/// Mean time in the bottleneck's queue, ms.
pub(super) fn queue_delay(run: &RunRecord) -> Option<f64> {
    Some(bottleneck(run)?.mean_queue_delay_ms)
}

/// Share of the time that the bottleneck was busy, per cent.
pub(super) fn utilisation(run: &RunRecord) -> Option<f64> {
    Some(100.0 * bottleneck(run)?.utilisation)
}

/// Share of the bottleneck's time that carried data for the first time, per cent: goodput over rate.
pub(super) fn useful(run: &RunRecord, rate: &str) -> Option<f64> {
    let mbps: f64 = rate.strip_suffix("Mbps")?.parse().ok()?;
    let all: f64 = run.flows.iter().map(|f| f.goodput_bps).sum();
    Some(all / (1e4 * mbps))
}

/// Jain's index of all flows.
pub(super) fn jain(run: &RunRecord) -> Option<f64> {
    crate::claims::jain_index(run.flows.iter().map(|f| f.goodput_bps))
}

/// Harm to the flows `victims` of a point: what they have lost of the goodput that flows of the same
/// names have at the point where all run their algorithm, per cent (Ware et al. 2019, "Beyond
/// Jain's Fairness Index", harm = (solo - together)/solo, solo being four flows alike).
pub(super) fn harm(
    m: &Material,
    together: (&str, &str),
    alike: (&str, &str),
    victims: &[&str],
) -> BySeed {
    let goodput = |at| by_seed(m, at, |r| goodput(r, victims));
    paired(&goodput(together), &goodput(alike), |mixed, alike| 100.0 * (alike - mixed) / alike)
}

/// Median and interval as a cell.
pub(super) fn cell(values: &BySeed) -> String {
    summary(values).map_or(NONE.to_owned(), |s| cells::median(&s))
}

/// Median and interval as a bar.
pub(super) fn bar(category: &str, values: &BySeed) -> Option<ChartPoint> {
    let s = summary(values)?;
    Some(ChartPoint {
        category: Some(category.to_owned()),
        y: s.median,
        lo: s.ci95_median.map(|c| c[0]),
        hi: s.ci95_median.map(|c| c[1]),
        ..ChartPoint::default()
    })
}
