//! The plan of a sweep: points, their scenarios, and the number of runs of each.

use std::path::PathBuf;
use std::sync::Arc;

use super::axes::{self, Items};
use super::file::{self, SweepFile};
use super::measure::{Goal, Measure};
use super::warm::WarmUp;
use crate::cost::cost_in;
use crate::experiment::{Axis, Experiment, Point};
use crate::run::{Runner, Task, World};
use crate::scenario::{Document, RecordSpec, Scenario};
use crate::stats::sequential::Rule;
use crate::{Error, Shard, outlook};

/// Maximum number of points of a sweep. They take about two gigabytes, because each has its scenario in memory.
const MOST_POINTS: usize = 100_000;
/// Number of points that are checked for probable mistakes.
const MOST_WARNED: usize = 1000;
/// Default number of runs of a point.
const SEEDS: u64 = 10;
/// Default metric of a sweep.
const MEASURE: &str = "flow.*.goodput_bps";

/// A requested sweep, before any file is read.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// A scenario, or a sweep file.
    pub file: PathBuf,
    /// Contents of the file; `None` to read the file.
    pub text: Option<String>,
    /// Changes to the scenario at every point, as with `--set`.
    pub set: Vec<(String, String)>,
    /// Axes as `KEY=VALUE,...`, after those of the file.
    pub axes: Vec<String>,
    /// Backends, an axis if there are several; empty for the file's backends.
    pub on: Vec<World>,
    /// Runs of each point.
    pub seeds: Option<u64>,
    /// Minimum number of runs of each point before it may stop.
    pub min_seeds: Option<u64>,
    /// Maximum number of runs of each point.
    pub max_seeds: Option<u64>,
    /// Metrics of the tables and charts; empty for the file's metrics.
    pub measures: Vec<Measure>,
    /// Metrics with the required precision; empty for the file's goals.
    pub goals: Vec<Goal>,
    /// Warm-up to leave out.
    pub warm_up: Option<WarmUp>,
    /// The part of the work to do.
    pub shard: Option<Shard>,
}

/// A sweep, ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Name; it is the experiment's name in every table.
    pub name: String,
    /// The scenario that the axes vary.
    pub scenario: Scenario,
    /// Axes, with the axis of backends last.
    pub axes: Vec<Axis>,
    /// Points in order, the last axis varying fastest.
    pub points: Vec<PlannedPoint>,
    /// Metrics of the tables and charts.
    pub measures: Vec<Measure>,
    /// Runs are added until these are met. Without goals, each point has a fixed number of runs.
    pub goals: Vec<Goal>,
    /// Warm-up that is left out.
    pub warm_up: Option<WarmUp>,
    /// The part of the work to do.
    pub shard: Option<Shard>,
    experiment: String,
}

/// A point of a sweep.
#[derive(Clone, Debug)]
pub struct PlannedPoint {
    /// The point's position on the axes.
    pub point: Point,
    /// The point's scenario. Its recording is replaced by the recording that the sweep needs.
    pub scenario: Arc<Scenario>,
    /// Hash of the scenario.
    pub hash: Arc<str>,
    /// The backend that runs it.
    pub world: World,
    /// Predicted cost of a run.
    pub(super) cost: f64,
    /// Minimum and maximum number of runs; equal without goals.
    pub rule: Rule,
    /// Number of the group of points that stop together. With goals, a group differs only in congestion control.
    pub group: usize,
}

impl Plan {
    /// Reads the files and creates the points.
    ///
    /// # Errors
    ///
    /// The first fault, with its place.
    pub fn of(request: &Request) -> Result<Plan, Error> {
        let (file, name, text) = read_files(request)?;
        let set = [file.set.clone(), request.set.clone()].concat();
        // Faults of the file alone are reported first.
        let document = Document::parse(&text, &name)?;
        let set = axes::spelt_out(&text, &set).map_err(|e| Error::Input(format!("--set {e}")))?;
        let scenario = document.with(&set)?;
        let on = if request.on.is_empty() { &file.on } else { &request.on };
        let axes = all_axes(&file.axes, &request.axes, on, &Items::of(&text))?;
        let (goals, rule) = count(request, &file)?;
        let warm_up = request.warm_up.or(file.warm_up);
        let measures = measures(request, &file, &goals, warm_up)?;
        check_seeds(&scenario, rule.max)?;
        let title = file.name.clone().unwrap_or_else(|| scenario.name.clone());
        let experiment = Experiment::new(title.clone(), axes.clone(), rule.max);
        let draft = Draft {
            document: &document,
            set: &set,
            until: (!goals.is_empty()).then_some(rule),
            seeds: request.seeds,
            warm_up,
            delays: measures.iter().any(Measure::needs_delays),
        };
        let points = draft.points(&experiment)?;
        check_measures(&measures, &points, warm_up).map_err(Error::Input)?;
        // Records of runs with a warm-up have additional fields, so that runs with and without a warm-up have
        // different names.
        let experiment = match warm_up {
            Some(warm_up) => format!("{title}, warm-up {warm_up}"),
            None => title.clone(),
        };
        let shard = request.shard;
        Ok(Plan {
            name: title,
            scenario,
            axes,
            points,
            measures,
            goals,
            warm_up,
            shard,
            experiment,
        })
    }

    /// Default name of the folder for the results.
    pub fn folder(&self) -> String {
        format!("sweep-{}", crate::run::store::file_name(&self.name))
    }

    /// Warnings about probable mistakes at a point and about settings that a kernel cannot apply. Each is a
    /// sentence with the points that it applies to.
    ///
    /// # Errors
    ///
    /// The simulator refuses a scenario.
    pub fn warnings(&self, runner: &Runner) -> Result<Vec<(String, Vec<&str>)>, Error> {
        let all = || self.points.iter().map(|p| p.point.id.as_str()).collect();
        let unkept = outlook::unkept(&self.scenario.record);
        let mut told: Vec<(String, Vec<&str>)> = unkept.map(|s| (s, all())).into_iter().collect();
        for p in self.points.iter().take(MOST_WARNED) {
            let at_point = |e| Error::Input(format!("point `{}`: {e}", p.point.id));
            let mut sentences = outlook::warnings(&p.scenario).map_err(at_point)?;
            if let Ok(backend) = runner.backend(p.world) {
                sentences.extend(backend.differences(&p.scenario)?);
            }
            for sentence in sentences {
                match told.iter_mut().find(|(s, _)| *s == sentence) {
                    Some((_, points)) => points.push(&p.point.id),
                    None => told.push((sentence, vec![&p.point.id])),
                }
            }
        }
        Ok(told)
    }

    /// The run of a point with the `i`-th seed, from 0. Every point has the same seeds, so that the random values
    /// of the network are the same for every algorithm.
    pub(super) fn task(&self, point: &PlannedPoint, i: u64) -> Task {
        Task {
            experiment: self.experiment.clone(),
            point: point.point.id.clone(),
            seed: self.scenario.seed + i,
            scenario: point.scenario.clone(),
            scenario_hash: point.hash.clone(),
            world: point.world,
        }
    }
}

/// The sweep file, or an empty one for a scenario; and the name of the scenario and its text.
fn read_files(request: &Request) -> Result<(SweepFile, String, String), Error> {
    let name = request.file.display().to_string();
    let text = match &request.text {
        Some(text) => text.clone(),
        None => Scenario::text_of(&request.file)?,
    };
    if !file::is_sweep(&text) {
        // The scenario's reader reports its faults.
        return Ok((SweepFile::default(), name, text));
    }
    let file = SweepFile::parse(&text, &name)?;
    let scenario = request.file.with_file_name(&file.scenario);
    let text = Scenario::text_of(&scenario)?;
    Ok((file, scenario.display().to_string(), text))
}

/// The axes of the file, of the command line and of the backends, with every `*` replaced by the items.
fn all_axes(
    of_file: &[Axis],
    texts: &[String],
    on: &[World],
    items: &Items,
) -> Result<Vec<Axis>, Error> {
    let mut axes: Vec<Axis> = Vec::new();
    for axis in of_file {
        let named = |message| Error::Input(format!("axis `{}`: {message}", axis.name));
        axes.push(items.spelt_out(axis.clone()).map_err(named)?);
    }
    for text in texts {
        let named = |message| Error::Input(format!("--axis '{text}': {message}"));
        let axis = axes::parse(text).and_then(|a| items.spelt_out(a)).map_err(named)?;
        if axes.iter().any(|a| a.name == axis.name) {
            return Err(named(format!(
                "an axis `{0}` exists already; give this axis another name: `NAME:{text}`",
                axis.name
            )));
        }
        axes.push(axis);
    }
    let worlds = axes::worlds(on).map_err(|e| Error::Input(format!("--on: {e}")))?;
    if let Some(worlds) = worlds {
        if axes.iter().any(|a| a.name == worlds.name) {
            return Err(Error::Input(
                "an axis cannot have the name `on` together with --on".to_owned(),
            ));
        }
        axes.push(worlds);
    }
    one_axis_a_key(&axes)?;
    let points = axes.iter().try_fold(1_usize, |n, a| n.checked_mul(a.values.len()));
    match points {
        Some(n) if n <= MOST_POINTS => Ok(axes),
        _ => Err(Error::Input(format!(
            "the axes make more than {MOST_POINTS} points, the maximum of one sweep; take fewer values, or \
             make several sweeps, each with a part of the values of an axis"
        ))),
    }
}

/// Refuses a key that two axes change, because the resulting points would differ only by label.
fn one_axis_a_key(axes: &[Axis]) -> Result<(), Error> {
    for (i, axis) in axes.iter().enumerate() {
        let keys =
            |a: &Axis| a.values.iter().flat_map(|v| v.set.keys().cloned()).collect::<Vec<_>>();
        let mine = keys(axis);
        for other in &axes[..i] {
            if let Some(key) = keys(other).into_iter().find(|k| mine.contains(k)) {
                return Err(Error::Input(format!(
                    "the axes `{}` and `{}` both change `{key}`; the second would overwrite the first",
                    other.name, axis.name
                )));
            }
        }
    }
    Ok(())
}

/// The goals, and the minimum and maximum number of runs.
fn count(request: &Request, file: &SweepFile) -> Result<(Vec<Goal>, Rule), Error> {
    let fixed = request.seeds.or(file.seeds);
    let goals = match (request.goals.is_empty(), request.seeds) {
        (false, _) => request.goals.clone(),
        (true, Some(_)) => Vec::new(),
        (true, None) => file.goals.clone(),
    };
    if goals.is_empty() {
        let bounds = request.min_seeds.or(request.max_seeds);
        if bounds.is_some() {
            let message =
                "--min-seeds and --max-seeds bound the runs that --until adds; give it too";
            return Err(Error::Input(message.to_owned()));
        }
        return Ok((goals, Rule::fixed(fixed.unwrap_or(SEEDS))));
    }
    let max = request.max_seeds.or(file.max_seeds).unwrap_or(Rule::MAX);
    let min = request.min_seeds.or(file.min_seeds).unwrap_or(Rule::MIN.min(max));
    if min < 2 || min > max {
        return Err(Error::Input(format!(
            "--min-seeds {min} with --max-seeds {max}: the minimum is at least 2 runs, and not more than \
             the maximum"
        )));
    }
    Ok((goals, Rule { min, max }))
}

/// The metrics of the tables: the goals' metrics, then the others.
fn measures(
    request: &Request,
    file: &SweepFile,
    goals: &[Goal],
    warm_up: Option<WarmUp>,
) -> Result<Vec<Measure>, Error> {
    let others = if request.measures.is_empty() { &file.measures } else { &request.measures };
    let mut all: Vec<Measure> = Vec::new();
    for m in goals.iter().map(|g| &g.measure).chain(others) {
        if all.iter().all(|known| known.path() != m.path()) {
            all.push(m.clone());
        }
    }
    if all.is_empty() {
        let path = match warm_up {
            Some(_) => "flow.*.steady_goodput_bps".to_owned(),
            None => MEASURE.to_owned(),
        };
        all.push(Measure::parse(&path).map_err(Error::Input)?);
    }
    match all.iter().find(|m| m.needs_warm_up()) {
        Some(m) if warm_up.is_none() => Err(Error::Input(format!(
            "metric `{m}` needs a warm-up to leave out: --warmup 10s or --warmup mser"
        ))),
        _ => Ok(all),
    }
}

/// Checks that every point has the objects of the metrics, and that each metric can have a value at one or more
/// points.
fn check_measures(
    measures: &[Measure],
    points: &[PlannedPoint],
    warm_up: Option<WarmUp>,
) -> Result<(), String> {
    for m in measures {
        points.iter().try_for_each(|p| m.check(&p.scenario))?;
        let lacks = |p: &PlannedPoint| m.lacks(&p.scenario, p.world, warm_up);
        let lacking: Option<Vec<&str>> = points.iter().map(lacks).collect();
        if let Some(why) = lacking.as_ref().and_then(|all| all.first()) {
            return Err(format!("metric `{m}` can have no value at any point: {why}"));
        }
    }
    Ok(())
}

/// Checks that this number of consecutive seeds exists, from the scenario's seed on.
///
/// # Errors
///
/// There are fewer seeds, or no run is requested.
pub fn check_seeds(scenario: &Scenario, seeds: u64) -> Result<(), Error> {
    if seeds == 0 {
        return Err(Error::Input("0 seeds: a point has at least one run".to_owned()));
    }
    // TOML has no larger integers.
    match scenario.seed.checked_add(seeds - 1).filter(|last| *last <= i64::MAX as u64) {
        Some(_) => Ok(()),
        None => Err(Error::Input(format!(
            "{seeds} runs from seed {} on would pass the largest seed, {}; begin with a smaller seed",
            scenario.seed,
            i64::MAX
        ))),
    }
}

/// The inputs of the points.
struct Draft<'a> {
    document: &'a Document,
    set: &'a [(String, String)],
    /// The rule of every point if runs are added.
    until: Option<Rule>,
    /// Fixed number of runs of every point, which overrides the number of its values.
    seeds: Option<u64>,
    warm_up: Option<WarmUp>,
    /// True if a metric needs the delay of each packet.
    delays: bool,
}

impl Draft<'_> {
    fn points(&self, experiment: &Experiment) -> Result<Vec<PlannedPoint>, Error> {
        let compared = |axis| self.until.is_some() && is_compared(axis);
        let compared: Vec<bool> = experiment.axes.iter().map(compared).collect();
        let mut groups = std::collections::BTreeMap::new();
        let mut points = Vec::new();
        for point in experiment.points() {
            let own = point.coordinates.iter().zip(&compared).filter(|(_, c)| !**c);
            let rest: Vec<String> = own.map(|((_, label), _)| label.clone()).collect();
            let next = groups.len();
            let group = *groups.entry(rest).or_insert(next);
            points.push(self.planned(experiment, point, group)?);
        }
        Ok(points)
    }

    fn planned(
        &self,
        experiment: &Experiment,
        point: Point,
        group: usize,
    ) -> Result<PlannedPoint, Error> {
        let set = [self.set, &point.overrides].concat();
        let mut scenario = self.document.with(&set).map_err(|e| e.at_point(&point.id))?;
        let world = experiment.world(&point);
        // A sweep's tables have no series and captures. Delays and bins are part of a run's record and are kept.
        let own = &scenario.record;
        let (delays, bins) = (own.delays || self.delays, own.bins);
        let record = match self.warm_up {
            Some(warm_up) => warm_up.record(scenario.duration),
            None => RecordSpec::default(),
        };
        scenario.record = RecordSpec { delays, bins, ..record };
        let hash = world.hash(&scenario).into();
        let own = || Rule::fixed(self.seeds.unwrap_or(*experiment.seeds(&point, false).end()));
        let (cost, rule) = (cost_in(world, &scenario), self.until.unwrap_or_else(own));
        let scenario = Arc::new(scenario);
        Ok(PlannedPoint { point, scenario, hash, world, cost, rule, group })
    }
}

/// True if an axis compares congestion control. Points that differ only on such axes have the same number of runs,
/// so that every run has its counterpart at the other points.
fn is_compared(axis: &Axis) -> bool {
    let of_controller = |key: &String| {
        let mut parts = key.split('.').skip(2);
        key.starts_with("flow.")
            && parts.next().is_some_and(|p| ["algorithm", "slow_start", "params"].contains(&p))
    };
    axis.values.iter().flat_map(|v| v.set.keys()).any(of_controller)
}
