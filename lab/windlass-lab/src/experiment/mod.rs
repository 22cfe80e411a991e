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
use std::sync::Arc;

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

    /// The run of a point in a scenario, with seed 0. A run with a warm-up records the data of its metrics, and has
    /// another hash than a run without.
    pub(crate) fn task(&self, point: &Point, mut scenario: Scenario) -> Task {
        let world = self.world(point);
        let mut hash = world.hash(&scenario);
        if let Some(warm_up) = self.warm_up.filter(|_| world == World::Sim) {
            hash = digits(format!("{hash} warm-up {warm_up}").as_bytes());
            scenario.record = RecordSpec {
                capture: scenario.record.capture.clone(),
                bins: scenario.record.bins,
                delays: scenario.record.delays,
                ..warm_up.record(scenario.duration)
            };
        }
        let (experiment, point) = (self.id.clone(), point.id.clone());
        let (scenario, scenario_hash) = (Arc::new(scenario), hash.into());
        Task { experiment, point, seed: 0, scenario, scenario_hash, world }
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
mod tests;
