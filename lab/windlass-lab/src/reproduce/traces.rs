//! Quantities of the traced runs of a plan. They are stored, so that no run is traced twice for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::error::ReproduceError;
use crate::Shard;
use crate::claims::{Claim, Quantity, Value, without_chance};
use crate::experiment::{Plan, TraceRequest};
use crate::papers::{Paper, Trace, Traces};
use crate::run::store::replace;
use crate::run::{RunError, RunRecord, Runner, Task, World};
use crate::scenario::Scenario;

/// Name of the file in a paper's folder of results, without extension. A shard has a separate file, such as
/// `traced-2-4.json`.
const FILE: &str = "traced";
/// Number of groups and seeds whose traces are in memory at a time.
const TOGETHER: usize = 8;

/// Quantities of traced runs.
pub(crate) struct Traced {
    dir: PathBuf,
    file: String,
    /// Hash of the program and of the quantities.
    of: String,
    /// The traces of each quantity, as indices in the plan.
    sources: BTreeMap<String, Vec<usize>>,
    kept: BTreeMap<String, Yield>,
}

/// Quantities of the runs with one seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Yield {
    events: u64,
    values: BTreeMap<String, f64>,
    /// Reasons why quantities have no value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    gaps: BTreeMap<String, String>,
}

/// A request for quantities of traced runs.
pub(crate) struct Asked<'a> {
    pub paper: &'a Paper,
    pub plan: &'a Plan,
    /// The claims that read the quantities.
    pub claims: &'a [&'a Claim],
    /// The runs without traces. A traced run is made once for each run of its point, and only once if these
    /// runs show no randomness.
    pub records: &'a [RunRecord],
    /// The scenario of each of the plan's traces.
    pub scenarios: &'a [Arc<Scenario>],
}

/// Quantities by name, and the number of events of their runs.
pub(crate) type Told = (BTreeMap<String, Value>, u64);

impl Traced {
    /// The stored quantities of a paper's folder of results.
    ///
    /// # Errors
    ///
    /// The paper's quantities cannot be read.
    pub fn open(
        paper: &Paper,
        plan: &Plan,
        dir: &Path,
        shard: Option<Shard>,
    ) -> Result<Traced, ReproduceError> {
        let file = match shard {
            None => format!("{FILE}.json"),
            Some(shard) => format!("{FILE}-{}-{}.json", shard.index, shard.of),
        };
        let (dir, sources) = (dir.to_path_buf(), paper.sources(plan)?);
        Ok(Traced { kept: kept(&dir), dir, file, of: paper.quantities_hash(), sources })
    }

    /// The traces of each quantity, as indices in the plan.
    pub fn sources(&self) -> &BTreeMap<String, Vec<usize>> {
        &self.sources
    }

    /// The quantities that the claims read. Makes the runs of quantities that are not stored. A random
    /// quantity has a value for each seed.
    ///
    /// # Errors
    ///
    /// A run fails, or a quantity cannot be computed or stored.
    pub fn values(&mut self, asked: &Asked, runner: &Runner) -> Result<Told, ReproduceError> {
        let mut groups: BTreeMap<Vec<usize>, BTreeSet<String>> = BTreeMap::new();
        for quantity in asked.claims.iter().flat_map(|c| c.quantities()) {
            if let Quantity::Trace(name) = quantity
                && let Some(sources) = self.sources.get(name)
            {
                groups.entry(sources.clone()).or_default().insert(name.clone());
            }
        }
        let groups: Vec<(Group, BTreeSet<String>)> = groups
            .into_iter()
            .map(|(sources, names)| (Group::of(self, asked, sources), names))
            .collect();
        self.fill(asked, &groups, runner)?;
        let (mut values, mut events) = (BTreeMap::new(), 0);
        for (group, names) in groups {
            let told: Vec<(u64, &Yield)> =
                group.seeds().map(|seed| (seed, &self.kept[&group.key(seed)])).collect();
            events += told.iter().map(|(_, y)| y.events).sum::<u64>();
            for name in names {
                let of = |(seed, y): &(u64, &Yield)| Some((*seed, *y.values.get(&name)?));
                let runs: BTreeMap<u64, f64> = told.iter().filter_map(of).collect();
                let value = match (group.runs, runs.first_key_value()) {
                    (_, None) => match told.iter().find_map(|(_, y)| y.gaps.get(&name)) {
                        Some(why) => Value::Missing(why.clone()),
                        None => continue,
                    },
                    (None, Some((_, value))) => Value::Exact { value: *value, n: 1 },
                    (Some(_), _) => Value::Runs(runs),
                };
                values.insert(name, value);
            }
        }
        Ok((values, events))
    }

    /// Makes the missing runs of the groups, and stores their quantities. Groups of one chunk that read the same run
    /// share it.
    fn fill(
        &mut self,
        asked: &Asked,
        groups: &[(Group, BTreeSet<String>)],
        runner: &Runner,
    ) -> Result<(), ReproduceError> {
        let mut missing: Vec<(u64, &Group)> = Vec::new();
        for (group, _) in groups {
            let new = |seed: &u64| !self.kept.contains_key(&group.key(*seed));
            missing.extend(group.seeds().filter(new).map(|seed| (seed, group)));
        }
        missing.sort_by_key(|(seed, _)| *seed);
        for some in missing.chunks(TOGETHER) {
            let mut tasks: BTreeMap<(usize, u64), Task> = BTreeMap::new();
            for (at, seed) in some.iter().flat_map(|(seed, group)| group.runs_of(*seed)) {
                let task = || task(&asked.plan.traces[at], &asked.scenarios[at], seed);
                tasks.entry((at, seed)).or_insert_with(task);
            }
            let tasks: Vec<((usize, u64), Task)> = tasks.into_iter().collect();
            let ran = run(&tasks, runner)?;
            for (seed, group) in some {
                let told = self.told(asked, group, *seed, &ran)?;
                self.kept.insert(group.key(*seed), told);
            }
            let all = &self.kept;
            replace(&self.dir, &self.file, |out| Ok(serde_json::to_writer(out, all)?))?;
        }
        Ok(())
    }

    /// The quantities of a group from the runs with a seed.
    fn told(
        &self,
        asked: &Asked,
        group: &Group,
        seed: u64,
        ran: &Ran,
    ) -> Result<Yield, ReproduceError> {
        let here = group.runs_of(seed);
        let trace = |run: &(usize, u64)| (asked.plan.traces[run.0].id.clone(), ran[run].0.clone());
        let traces: Traces = here.iter().map(trace).collect();
        let told = asked.paper.quantities(asked.plan, &[], &traces)?;
        let mine =
            |name: &String| self.sources.get(name).is_some_and(|sources| *sources == group.sources);
        let values = told.values.into_iter().filter(|(name, _)| mine(name)).collect();
        let gaps = told.gaps.into_iter().filter(|(name, _)| mine(name)).collect();
        Ok(Yield { events: here.iter().map(|run| ran[run].1).sum(), values, gaps })
    }
}

/// The stored quantities of a folder, including those of shards. An unreadable file is ignored, so that its runs are
/// repeated.
fn kept(dir: &Path) -> BTreeMap<String, Yield> {
    let files = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let name = |file: &std::fs::DirEntry| file.file_name().to_string_lossy().into_owned();
    let ours = files.filter(|f| name(f).starts_with(FILE) && name(f).ends_with(".json"));
    let read = |file: std::fs::DirEntry| -> Option<BTreeMap<String, Yield>> {
        serde_json::from_slice(&std::fs::read(file.path()).ok()?).ok()
    };
    ours.filter_map(read).flatten().collect()
}

/// A set of traces that quantities are read from together.
struct Group {
    sources: Vec<usize>,
    /// The first seed of each trace, and true if the seed increases with each run.
    first: Vec<(u64, bool)>,
    /// Number of runs of each trace, if any trace is random.
    runs: Option<u64>,
    /// Hash of the program, the quantities, and the traces with their scenarios.
    of: String,
}

impl Group {
    fn of(traced: &Traced, asked: &Asked, sources: Vec<usize>) -> Group {
        let request = |at: &usize| &asked.plan.traces[*at];
        let runs = |at: &usize| {
            let runs = request(at).runs(asked.records);
            (!without_chance(&runs)).then_some(runs.len().max(1) as u64)
        };
        let runs: Vec<Option<u64>> = sources.iter().map(runs).collect();
        let first = sources
            .iter()
            .zip(&runs)
            .map(|(at, runs)| (request(at).seed.unwrap_or(1), runs.is_some()));
        // Two traces of one run may have different quantities.
        let form = |at: &usize| {
            let scenario = &asked.scenarios[*at];
            format!("{:?} {}", request(at).id, crate::run::form(scenario, &scenario.hash()))
        };
        let forms: Vec<String> = sources.iter().map(form).collect();
        Group {
            first: first.collect(),
            runs: runs.into_iter().flatten().min(),
            of: format!("{} {}", traced.of, forms.join(" ")),
            sources,
        }
    }

    fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        1..=self.runs.unwrap_or(1)
    }

    /// The traces for the quantities of a seed, each with the seed of its run.
    fn runs_of(&self, seed: u64) -> Vec<(usize, u64)> {
        let own = |(at, (first, goes_on)): (&usize, &(u64, bool))| {
            (*at, if *goes_on { first + seed - 1 } else { *first })
        };
        self.sources.iter().zip(&self.first).map(own).collect()
    }

    fn key(&self, seed: u64) -> String {
        let seeds: Vec<String> =
            self.runs_of(seed).iter().map(|(_, seed)| seed.to_string()).collect();
        format!("{} {}", self.of, seeds.join(" "))
    }
}

fn task(request: &TraceRequest, scenario: &Arc<Scenario>, seed: u64) -> Task {
    Task {
        experiment: request.experiment.clone(),
        point: request.point.clone(),
        seed,
        scenario: scenario.clone(),
        scenario_hash: World::Sim.hash(scenario).into(),
        world: World::Sim,
    }
}

/// Traces with the number of their events, by index in the plan and seed.
type Ran = BTreeMap<(usize, u64), (Trace, u64)>;

fn run(tasks: &[((usize, u64), Task)], runner: &Runner) -> Result<Ran, ReproduceError> {
    let ran = Mutex::new(Ran::new());
    let place = |task: &Task| (task.form(), task.seed);
    let at: BTreeMap<(String, u64), Vec<(usize, u64)>> =
        tasks.iter().fold(BTreeMap::new(), |mut all, (at, task)| {
            all.entry(place(task)).or_insert_with(Vec::new).push(*at);
            all
        });
    // Traces of the same run share this run.
    let first = |(own, task): &&((usize, u64), Task)| at[&place(task)].first() == Some(own);
    let plain: Vec<Task> = tasks.iter().filter(first).map(|(_, task)| task.clone()).collect();
    let failed = runner.execute(&plain, |task, yielded, _| {
        let events = yielded.result.events;
        let trace = Trace::of(task.seed, yielded.result);
        let mut ran = ran.lock().unwrap_or_else(PoisonError::into_inner);
        for at in &at[&place(task)] {
            ran.insert(*at, (trace.clone(), events));
        }
        Ok::<(), RunError>(())
    })?;
    match failed.into_iter().next() {
        Some(failed) => Err(ReproduceError::Traced(Box::new(failed))),
        None => Ok(ran.into_inner().unwrap_or_else(PoisonError::into_inner)),
    }
}
