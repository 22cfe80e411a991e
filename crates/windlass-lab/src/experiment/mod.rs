//! Experiments: a scenario, axes that vary it, and replications over seeds.
//!
//! A paper's `experiments.toml` lists them:
//!
//! ```toml
//! [[experiment]]
//! id = "download"
//! title = "One download under five loss probabilities"
//! scenario = "download.toml"      # in the folder of this file
//! seeds = 60                      # runs per point
//! quick_seeds = 3                 # runs per point with --quick; 0 leaves the experiment out
//!
//! [[experiment.axis]]
//! name = "p"
//! [[experiment.axis.value]]
//! label = "1%"
//! set = { "link.cloud-client.loss.probability" = "1%" }
//!
//! [[trace]]                       # a run with recorded series and packets
//! id = "p=1%"
//! experiment = "download"
//! point = "p=1%"
//! series = ["cwnd_bytes"]
//! capture = ["cloud-client"]
//! ```
//!
//! The points of an experiment are the cartesian product of its axes. The last axis varies fastest.

mod error;
pub(crate) mod file;

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

pub use error::FileError;

use crate::claims::Metric;
use crate::hash::digits;
use crate::run::{Ran, RunError, RunRecord, Task, World};
use crate::scenario::{RecordSpec, Scenario, what_there_is};
use crate::sweep::warm::{WarmUp, recorded};
use crate::template::{Places, text, texts};
use windlass_sim::Series;

/// All experiments and traces of a paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Experiments in the order of the file.
    pub experiments: Vec<Experiment>,
    /// Runs whose series and packets are recorded for figures, in the order of the file.
    pub traces: Vec<TraceRequest>,
}

/// A scenario varied along axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// Identifier, unique in the plan.
    pub id: String,
    /// Title, in words.
    pub title: String,
    /// File name of the scenario, relative to the plan's folder.
    pub scenario: String,
    /// Axes. An experiment without axes has one point, called `all`.
    pub axes: Vec<Axis>,
    /// Beginning of each flow that `steady` metrics leave out.
    pub(crate) warm_up: Option<WarmUp>,
    seeds: u64,
    quick_seeds: u64,
}

/// One way in which the scenario varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Name, such as `p`.
    pub name: String,
    /// Values in the order of the file.
    pub values: Vec<AxisValue>,
}

/// One value of an axis.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisValue {
    /// Label, unique on its axis. A number is read as its text.
    #[serde(deserialize_with = "text")]
    pub label: String,
    /// Scenario keys with their values in TOML syntax (quotes are optional), in the order of the keys.
    #[serde(default, deserialize_with = "texts")]
    pub set: BTreeMap<String, String>,
    /// Meaning of the value, in words.
    #[serde(default)]
    pub about: String,
    /// Backend of the points with this value. Default: the simulator.
    pub on: Option<World>,
    /// Runs of the points with this value, instead of the experiment's `seeds`.
    pub seeds: Option<u64>,
    /// Runs of the points with this value under `--quick`, instead of `quick_seeds`. Zero leaves the
    /// points out.
    pub quick_seeds: Option<u64>,
}

/// A run whose time series and packets are recorded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceRequest {
    /// Identifier, unique in the plan.
    #[serde(deserialize_with = "text")]
    pub id: String,
    /// Experiment.
    pub experiment: String,
    /// Point of the experiment.
    pub point: String,
    /// Seed of the run that figures show. Default: the run whose goodput is closest to the median.
    pub seed: Option<u64>,
    /// Series to record, by the names of [`windlass_sim::Series::known`].
    #[serde(default)]
    pub series: Vec<String>,
    /// Minimum time between two samples of a series, with unit. Default: every change is a sample.
    #[serde(default = "every_change")]
    pub interval: String,
    /// Links whose packets are logged.
    #[serde(default)]
    pub capture: Vec<String>,
    /// Places of its values in the file.
    #[serde(skip)]
    pub(crate) places: Places,
}

fn every_change() -> String {
    "0s".to_owned()
}

impl TraceRequest {
    /// `experiment/point`.
    pub(crate) fn place(&self) -> String {
        format!("{}/{}", self.experiment, self.point)
    }

    /// The runs of the trace's point.
    pub(crate) fn runs<'a>(&self, records: &'a [RunRecord]) -> Vec<&'a RunRecord> {
        let here = |r: &&RunRecord| (&r.experiment, &r.point) == (&self.experiment, &self.point);
        records.iter().filter(here).collect()
    }

    /// The scenario overrides that enable this recording.
    pub fn overrides(&self) -> Vec<(String, String)> {
        let list = |names: &[String]| {
            let quoted: Vec<String> = names.iter().map(|n| format!("{n:?}")).collect();
            format!("[{}]", quoted.join(", "))
        };
        vec![
            ("record.series".to_owned(), list(&self.series)),
            ("record.interval".to_owned(), self.interval.clone()),
            ("record.capture".to_owned(), list(&self.capture)),
        ]
    }
}

/// The series with this name.
pub(crate) fn series(name: &str) -> Result<Series, String> {
    let known = Series::known();
    let found = known.iter().find(|(known, _)| known == name).map(|(_, series)| *series);
    found.ok_or_else(|| {
        let known: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
        format!("series `{name}` not found{}", what_there_is(name, &known))
    })
}

impl Plan {
    /// The record of a run, with the flows after the warm-up of its experiment.
    ///
    /// # Errors
    ///
    /// The scenario of the task cannot be run.
    pub(crate) fn record(&self, task: &Task, ran: &Ran) -> Result<RunRecord, RunError> {
        let warm_up = self.experiment(&task.experiment).and_then(|e| e.warm_up);
        recorded(task, ran, warm_up.filter(|_| task.world == World::Sim))
    }

    /// The experiment with this identifier.
    pub fn experiment(&self, id: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|e| e.id == id)
    }

    /// The option for the backend of a point's runs (`experiment/point`), such as ` --on linux-vt=6.12`; empty for the
    /// simulator.
    pub(crate) fn backend(&self, place: &str) -> String {
        let found = place.split_once('/').and_then(|(experiment, point)| {
            let experiment = self.experiment(experiment)?;
            Some(experiment.world(&experiment.point(point)?)).filter(|world| *world != World::Sim)
        });
        found.map(|world| format!(" --on {world}")).unwrap_or_default()
    }

    /// The seed of a traced run that figures show: the given seed, or else the typical seed of all traced points of its
    /// experiment. All these points use the same seed.
    pub(crate) fn shown_seed(&self, request: &TraceRequest, records: &[RunRecord]) -> u64 {
        let traces = self.traces.iter().filter(|t| t.experiment == request.experiment);
        let points: BTreeSet<&str> = traces.map(|t| t.point.as_str()).collect();
        request.seed.unwrap_or_else(|| typical_seed(&request.experiment, &points, records))
    }

    /// The changes of a trace's point to its scenario.
    pub(crate) fn changes(&self, trace: &TraceRequest) -> Vec<(String, String)> {
        let experiment = self.experiment(&trace.experiment);
        experiment.and_then(|e| e.point(&trace.point)).map(|p| p.overrides).unwrap_or_default()
    }

    /// Checks that a trace exists. The error names the known traces.
    pub(crate) fn look_up_trace(&self, id: &str) -> Result<(), String> {
        let known: Vec<&str> = self.traces.iter().map(|t| t.id.as_str()).collect();
        match known.contains(&id) {
            true => Ok(()),
            false => Err(format!("trace `{id}` not found{}", what_there_is(id, &known))),
        }
    }

    /// Checks that an `experiment/point` exists. The error names the missing part and the known names.
    pub(crate) fn look_up(&self, place: &str) -> Result<(), String> {
        let (id, point) = place
            .split_once('/')
            .ok_or_else(|| format!("`{place}` must look like experiment/point"))?;
        let Some(experiment) = self.experiment(id) else {
            let known: Vec<&str> = self.experiments.iter().map(|e| e.id.as_str()).collect();
            return Err(format!("experiment `{id}` not found{}", what_there_is(id, &known)));
        };
        if experiment.point(point).is_some() {
            return Ok(());
        }
        let points = experiment.points();
        let known: Vec<&str> = points.iter().map(|p| p.id.as_str()).collect();
        Err(format!("experiment `{id}` has no point `{point}`{}", what_there_is(point, &known)))
    }
}

/// The seed whose goodput is closest to the median at all of these points. The distance at a point is the
/// number of ranks between the run and the median. The seed with the smallest maximum distance is chosen.
/// Without runs it is seed 1.
pub(crate) fn typical_seed(
    experiment: &str,
    points: &BTreeSet<&str>,
    records: &[RunRecord],
) -> u64 {
    let mut farthest: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
    for point in points {
        let here =
            |r: &&RunRecord| (r.experiment.as_str(), r.point.as_str()) == (experiment, point);
        let mut runs: Vec<(f64, u64)> = (records.iter().filter(here))
            .map(|r| (Metric::of_run("goodput_bps", r).unwrap_or(0.0), r.seed))
            .collect();
        runs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let middle = runs.len().saturating_sub(1) / 2;
        for (place, (_, seed)) in runs.iter().enumerate() {
            let (seen, far) = farthest.entry(*seed).or_default();
            (*seen, *far) = (*seen + 1, (*far).max(place.abs_diff(middle)));
        }
    }
    let common = farthest.iter().filter(|(_, (seen, _))| *seen == points.len());
    common.min_by_key(|(seed, (_, far))| (*far, **seed)).map_or(1, |(seed, _)| *seed)
}

impl Experiment {
    /// An experiment without a paper, with `seeds` runs per point.
    pub(crate) fn new(id: String, axes: Vec<Axis>, seeds: u64) -> Experiment {
        let [title, scenario] = [String::new(), String::new()];
        Experiment { id, title, scenario, axes, warm_up: None, seeds, quick_seeds: seeds }
    }

    /// The scenario of a point that records the data of its metrics, and the hash that identifies its runs.
    /// Runs with and without a warm-up have different hashes.
    pub(crate) fn prepared(&self, mut scenario: Scenario, world: World) -> (Scenario, String) {
        let hash = world.hash(&scenario);
        let Some(warm_up) = self.warm_up.filter(|_| world == World::Sim) else {
            return (scenario, hash);
        };
        scenario.record = RecordSpec {
            capture: scenario.record.capture.clone(),
            bins: scenario.record.bins,
            delays: scenario.record.delays,
            ..warm_up.record(scenario.duration)
        };
        (scenario, digits(format!("{hash} warm-up {warm_up}").as_bytes()))
    }

    /// All points: the cartesian product of the axes. The last axis varies fastest.
    pub fn points(&self) -> Vec<Point> {
        let mut points = vec![Point { id: String::new(), coordinates: vec![], overrides: vec![] }];
        for axis in &self.axes {
            points = points
                .iter()
                .flat_map(|p| axis.values.iter().map(|v| p.extended(&axis.name, v)))
                .collect();
        }
        if self.axes.is_empty() {
            points[0].id = "all".to_owned();
        }
        points
    }

    /// The point with this identifier. Labels contain neither `,` nor `=`, so that the identifier names one value per
    /// axis.
    pub fn point(&self, id: &str) -> Option<Point> {
        let whole = Point { id: String::new(), coordinates: vec![], overrides: vec![] };
        if self.axes.is_empty() {
            return (id == "all").then(|| Point { id: id.to_owned(), ..whole });
        }
        let parts: Vec<&str> = id.split(',').collect();
        let value = |(axis, part): (&'_ Axis, &&str)| {
            let label = part.strip_prefix(axis.name.as_str())?.strip_prefix('=')?;
            axis.values.iter().find(|v| v.label == label).cloned()
        };
        let values: Vec<AxisValue> =
            self.axes.iter().zip(&parts).map(value).collect::<Option<_>>()?;
        let named = self.axes.iter().zip(&values);
        let point = named.fold(whole, |point, (axis, value)| point.extended(&axis.name, value));
        (parts.len() == self.axes.len()).then_some(point)
    }

    /// The seeds of a point: from 1 to the number of the last axis value that gives a number, or else of
    /// the experiment. Empty if the experiment or an axis value gives zero.
    pub fn seeds(&self, point: &Point, quick: bool) -> RangeInclusive<u64> {
        let all = if quick { self.quick_seeds } else { self.seeds };
        let own = self.values(point).filter_map(|v| if quick { v.quick_seeds } else { v.seeds });
        // Zero in one value leaves the point out, regardless of the other values.
        1..=own.fold(all, |kept, own| if kept == 0 { 0 } else { own })
    }

    /// The backend of a point.
    pub fn world(&self, point: &Point) -> World {
        self.values(point).filter_map(|v| v.on).last().unwrap_or_default()
    }

    /// The axis values of a point.
    fn values<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = &'a AxisValue> {
        point.coordinates.iter().filter_map(|(axis, label)| {
            let axis = self.axes.iter().find(|a| a.name == *axis)?;
            axis.values.iter().find(|v| v.label == *label)
        })
    }
}

impl Point {
    fn extended(&self, axis: &str, value: &AxisValue) -> Point {
        let mut point = self.clone();
        let comma = if point.id.is_empty() { "" } else { "," };
        point.id = format!("{}{comma}{axis}={}", point.id, value.label);
        point.coordinates.push((axis.to_owned(), value.label.clone()));
        point.overrides.extend(value.set.iter().map(|(k, v)| (k.clone(), v.clone())));
        point
    }
}

/// One point of an experiment: its coordinates, and their changes to the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// `axis=label` pairs joined by commas: `mode=data-only,p=1%`.
    pub id: String,
    /// Axis and label of each coordinate.
    pub coordinates: Vec<(String, String)>,
    /// `key = value` overrides in TOML syntax, applied to the scenario in order.
    pub overrides: Vec<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
[[experiment]]
id = "e"
title = "t"
scenario = "s.toml"
seeds = 30
quick_seeds = 3
[[experiment.axis]]
name = "mode"
value = [{ label = "a" }, { label = "b", set = { "x.y" = "both" } }]
[[experiment.axis]]
name = "p"
value = [{ label = "0%", seeds = 2, quick_seeds = 1 }, { label = "1%", set = { "x.p" = "1%" } }]

[[trace]]
id = "t"
experiment = "e"
point = "mode=b,p=1%"
series = ["cwnd_bytes"]
"#;

    fn error(text: &str) -> String {
        Plan::parse(text, "experiments.toml").unwrap_err().to_string()
    }

    #[test]
    fn points_are_the_product_of_the_axes_with_the_last_fastest() {
        let plan = Plan::parse(PLAN, "f").unwrap();
        let points = plan.experiments[0].points();
        let ids: Vec<&str> = points.iter().map(|p| p.id.as_str()).collect();
        assert_eq!(ids, ["mode=a,p=0%", "mode=a,p=1%", "mode=b,p=0%", "mode=b,p=1%"]);
        let pair = |k: &str, v: &str| (k.to_owned(), v.to_owned());
        assert_eq!(points[3].overrides, [pair("x.y", "both"), pair("x.p", "1%")]);
        assert_eq!(points[3].coordinates, [pair("mode", "b"), pair("p", "1%")]);
        let found: Vec<_> = ids.iter().filter_map(|id| plan.experiments[0].point(id)).collect();
        assert_eq!(found, points);
        for id in ["mode=a", "mode=a,p=0%,q=1", "p=0%,mode=a", "mode=c,p=0%", "all", ""] {
            assert_eq!(plan.experiments[0].point(id), None, "{id}");
        }
    }

    #[test]
    fn the_number_of_seeds_of_an_axis_value_replaces_the_experiments() {
        let plan = Plan::parse(PLAN, "f").unwrap();
        let (e, points) = (&plan.experiments[0], plan.experiments[0].points());
        assert_eq!((e.seeds(&points[0], false), e.seeds(&points[0], true)), (1..=2, 1..=1));
        assert_eq!((e.seeds(&points[1], false), e.seeds(&points[1], true)), (1..=30, 1..=3));
    }

    #[test]
    fn zero_quick_seeds_leave_points_out_of_quick_runs_only() {
        let plan = PLAN.replace("label = \"a\"", "label = \"a\", quick_seeds = 0");
        let plan = Plan::parse(&plan, "f").unwrap();
        let (e, points) = (&plan.experiments[0], plan.experiments[0].points());
        // The next axis gives 1, which has no effect.
        assert_eq!((e.seeds(&points[0], true).count(), e.seeds(&points[0], false).count()), (0, 2));
        assert_eq!((e.seeds(&points[1], true).count(), e.seeds(&points[3], true).count()), (0, 3));
        let plan = Plan::parse(&PLAN.replace("quick_seeds = 3", "quick_seeds = 0"), "f").unwrap();
        let (e, points) = (&plan.experiments[0], plan.experiments[0].points());
        assert!(points.iter().all(|p| e.seeds(p, true).count() == 0));
        assert_eq!(e.seeds(&points[1], false), 1..=30);
    }

    #[test]
    fn an_experiment_without_axes_has_one_point() {
        let text = "[[experiment]]\nid='e'\ntitle='t'\nscenario='s'\nseeds=1\nquick_seeds=1\n";
        let points = Plan::parse(text, "f").unwrap().experiments[0].points();
        assert_eq!((points.len(), points[0].id.as_str()), (1, "all"));
    }

    #[test]
    fn a_trace_turns_into_overrides_of_the_record_table() {
        let plan = Plan::parse(PLAN, "f").unwrap();
        let overrides = plan.traces[0].overrides();
        assert_eq!(overrides[0], ("record.series".to_owned(), "[\"cwnd_bytes\"]".to_owned()));
        assert_eq!(plan.traces[0].seed, None);
    }

    #[test]
    fn figures_show_the_seed_with_goodput_closest_to_the_median_at_every_traced_point() {
        let second = "\n[[trace]]\nid = \"u\"\nexperiment = \"e\"\npoint = \"mode=a,p=1%\"\n";
        let plan = Plan::parse(&format!("{PLAN}{second}"), "f").unwrap();
        let run = |point: &str, seed: u64, goodput: f64| {
            let mut record = crate::claims::fixtures::run("e", point, seed, 1.0);
            record.flows[0].goodput_bps = goodput;
            record
        };
        let of = |point: &str, all: [f64; 5]| {
            all.into_iter().zip(1..).map(|(g, seed)| run(point, seed, g)).collect::<Vec<_>>()
        };
        // Seed 1 is an outlier at one point and seed 2 at the other; seed 4 is one place off at both.
        let both = [
            of("mode=b,p=1%", [9.0, 3.0, 1.0, 4.0, 2.0]),
            of("mode=a,p=1%", [3.0, 9.0, 1.0, 4.0, 2.0]),
        ]
        .concat();
        assert_eq!(plan.shown_seed(&plan.traces[0], &both), 4);
        assert_eq!(plan.shown_seed(&plan.traces[0], &[]), 1);
        let given = TraceRequest { seed: Some(7), ..plan.traces[0].clone() };
        assert_eq!(plan.shown_seed(&given, &both), 7);
    }

    #[test]
    fn errors_give_the_place_and_the_remedy() {
        let cases = [
            (PLAN.replace("seeds = 30", "seeds = 0"), "6:9: an experiment needs at least one seed"),
            (PLAN.replace("seeds = 30", "sedes = 30"), "6:1: unknown field `sedes`"),
            (PLAN.replace("name = \"p\"", "name = \"mode\""), "12:8: axis `mode` exists already"),
            (
                PLAN.replace("label = \"b\"", "label = \"a\""),
                "axis `mode` has the value `a` already",
            ),
            (PLAN.replace("label = \"b\"", "label = \"a=b\""), "label `a=b` must not contain `=`"),
            (
                PLAN.replace("cwnd_bytes", "cwnd"),
                "series `cwnd` not found; did you mean `cwnd_bytes`?",
            ),
            (PLAN.replace("mode=b,p", "mode=c,p"), "experiment `e` has no point `mode=c,p=1%`"),
            (
                PLAN.replace("experiment = \"e\"", "experiment = \"f\""),
                "experiment `f` not found; did you mean `e`?",
            ),
            (format!("{PLAN}{}", &PLAN[..PLAN.find("[[trace]]").unwrap()]), "`e` exists already"),
            (
                "experiment = 3".to_owned(),
                "1:1: `experiment` is a list of tables; write `[[experiment]]`",
            ),
        ];
        for (text, expected) in cases {
            let message = error(&text);
            assert!(message.starts_with("experiments.toml:"), "{message}");
            assert!(message.contains(expected), "{message} does not contain {expected}");
        }
    }
}
