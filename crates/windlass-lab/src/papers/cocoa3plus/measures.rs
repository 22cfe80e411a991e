//! The paper's measures, and what the runs of a point come to in them.

use crate::papers::Material;
use crate::papers::parts::seeds::{BySeed, by_seed, named};
use crate::report::model::ChartPoint;
use crate::run::RunRecord;
use crate::stats::Summary;

/// A measure of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measure {
    /// Its path among the metrics.
    pub(super) path: &'static str,
    /// Its name in legends and headings.
    pub(super) name: &'static str,
    /// Its unit in tables and charts.
    pub(super) unit: &'static str,
    /// From the metric's unit to that one.
    scale: f64,
}

/// A measure whose unit is that of the metric times `scale`.
const fn measure(
    path: &'static str,
    name: &'static str,
    unit: &'static str,
    scale: f64,
) -> Measure {
    Measure { path, name, unit, scale }
}

pub(super) const THROUGHPUT: Measure =
    measure("run.hop_throughput_bps", "throughput, every hop", "Mbit/s", 1e-6);
pub(super) const GOODPUT: Measure =
    measure("run.goodput_mean_bps", "goodput of a flow", "kbit/s", 1e-3);
pub(super) const TOTAL: Measure = measure("run.goodput_bps", "goodput of all", "kbit/s", 1e-3);
pub(super) const LOSS: Measure = measure("run.loss_rate", "packets lost", "%", 100.0);
pub(super) const EXCESS: Measure =
    measure("run.delay_excess_ms", "delay above the least", "ms", 1.0);
pub(super) const DELAY: Measure = measure("run.delay_ms", "one-way delay", "ms", 1.0);
pub(super) const JITTER: Measure = measure("run.jitter_ms", "jitter", "ms", 1.0);
pub(super) const GAP: Measure = measure("run.gap_ms", "between arrivals", "ms", 1.0);
pub(super) const FAIRNESS: Measure = measure("run.jain_index", "Jain's index", "1", 1.0);
pub(super) const TIMEOUTS: Measure = measure("run.rto_count", "timeouts", "1", 1.0);
pub(super) const RETRANSMITS: Measure = measure("run.retransmits", "sent again", "1", 1.0);

/// The five measures of figures 5 to 13.
pub(super) const PAPERS_OWN: [Measure; 5] = [THROUGHPUT, GOODPUT, LOSS, EXCESS, JITTER];

/// The paper's protocols, its own last as in its tables: label in the plan, and name.
pub(super) const RIVALS: [(&str, &str); 2] = [("icc-tcp", "ICC-TCP"), ("bc-cps", "BC-CPS")];
/// The paper's own protocol.
pub(super) const OURS: (&str, &str) = ("cocoa3plus", "CoCoA3+");

impl Measure {
    /// Its value in a run.
    pub(super) fn of(self) -> impl Fn(&RunRecord) -> Option<f64> {
        let metric = named(self.path);
        move |run| metric(run).map(|v| v * self.scale)
    }

    /// Its values at a point.
    pub(super) fn at(self, m: &Material, experiment: &str, point: &str) -> BySeed {
        by_seed(m, experiment, point, self.of())
    }

    /// Name and unit, as axes and columns have them.
    pub(super) fn label(self) -> String {
        match self.unit {
            "1" => self.name.to_owned(),
            unit => format!("{} ({unit})", self.name),
        }
    }
}

/// The name of a protocol in legends, by its label in the plan.
pub(super) fn protocol(label: &str) -> String {
    let (base, timer) =
        label.strip_suffix("-cocoa+").map_or((label, ""), |l| (l, ", CoCoA+ timer"));
    let name = match base {
        "newreno" => "NewReno",
        "cubic" => "CUBIC",
        "bbr" => "BBR",
        other => RIVALS.iter().chain([&OURS]).find(|(l, _)| *l == other).map_or(other, |(_, n)| n),
    };
    format!("{name}{timer}")
}

/// The labels of an axis of an experiment, with what each stands for.
pub(super) fn values(m: &Material, experiment: &str, axis: &str) -> Vec<(String, String)> {
    let experiment = m.plan.experiment(experiment);
    let found = experiment.and_then(|e| e.axes.iter().find(|a| a.name == axis));
    let all = found.map(|a| a.values.iter().map(|v| (v.label.clone(), v.about.clone())));
    all.map(Iterator::collect).unwrap_or_default()
}

/// The labels alone.
pub(super) fn labels(m: &Material, experiment: &str, axis: &str) -> Vec<String> {
    values(m, experiment, axis).into_iter().map(|(label, _)| label).collect()
}

/// Mean over a sweep in each run that has all its points.
pub(super) fn over(m: &Material, sweep: &str, protocol: &str, measure: Measure) -> BySeed {
    let axis = axis_of(sweep);
    let points: Vec<BySeed> = labels(m, sweep, axis)
        .iter()
        .map(|x| measure.at(m, sweep, &format!("protocol={protocol},{axis}={x}")))
        .collect();
    let Some(first) = points.first() else { return BySeed::new() };
    let mean = |seed: &u64| {
        let all: Option<Vec<f64>> = points.iter().map(|p| p.get(seed).copied()).collect();
        all.map(|values| values.iter().sum::<f64>() / values.len() as f64)
    };
    first.keys().filter_map(|seed| Some((*seed, mean(seed)?))).collect()
}

/// What a sweep varies.
pub(super) fn axis_of(sweep: &str) -> &'static str {
    match sweep {
        "size" => "packet",
        "time" => "time",
        _ => "senders",
    }
}

/// Mean with its interval, as tables have it.
pub(super) fn cell(values: &BySeed) -> String {
    crate::papers::parts::cells::mean(summary(values))
}

fn summary(values: &BySeed) -> Option<Summary> {
    Summary::of(&values.values().copied().collect::<Vec<f64>>())
}

/// Mean with its interval as a point of a category.
pub(super) fn point(category: &str, values: &BySeed) -> Option<ChartPoint> {
    let s = summary(values)?;
    let [lo, hi] = [0, 1].map(|end| s.ci95_mean.map(|ci| ci[end]));
    let category = Some(category.to_owned());
    Some(ChartPoint { category, y: s.mean, lo, hi, ..ChartPoint::default() })
}

/// The mean alone.
pub(super) fn mean(values: &BySeed) -> Option<f64> {
    summary(values).map(|s| s.mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocols_are_named_with_their_timer() {
        for (label, name) in [
            ("cocoa3plus", "CoCoA3+"),
            ("icc-tcp", "ICC-TCP"),
            ("newreno", "NewReno"),
            ("bbr-cocoa+", "BBR, CoCoA+ timer"),
        ] {
            assert_eq!(protocol(label), name);
        }
    }
}
