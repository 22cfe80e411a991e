//! Reproducing a paper: its runs, its verdicts, its files.
//!
//! Runs are made in rounds. After each it is judged, and a point all of whose claims are decided needs no more; a point
//! that no claim reads gets all its runs.

pub(crate) mod budget;
pub(crate) mod error;
mod looks;
pub(crate) mod traces;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_sim::RunResult;

use crate::Shard;
use crate::claims::{Basis, Claim, Judgement, Quantity, tally};
use crate::experiment::{Experiment, Plan, Point, TraceRequest};
use crate::papers::{Material, Paper, Trace, Traces, registered};
use crate::readings;
use crate::report::model::{Report, Section};
use crate::report::{self};
use crate::run::store::export::export_records;
use crate::run::store::{
    Batch, Format, Invocation, JOURNAL, Notice, Place, Provenance, RunKey, SeriesRun, Store,
    StoreError, replace,
};
use crate::run::{self, Failed, Ran, RunRecord, Runner, Task, World, simulate};
use crate::scenario::Scenario;
use budget::{LOOKS, Site};
use traces::{Asked, Told, Traced};

pub(crate) use budget::{all_seeds, read_by};
pub use error::ReproduceError;
pub use looks::{Looked, Looks};

/// What a reproduction is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Seconds that the simulator's runs may take about, on two processors; `None` for as many runs as the paper asks
    /// for. What is run within a budget does not depend on the machine.
    pub budget: Option<f64>,
    /// Replications of each point, instead of the experiment's own number, whatever is decided before.
    pub seeds: Option<u32>,
    /// Worlds to run in besides the simulator, as far as the paper has experiments there.
    pub on: Vec<World>,
    /// The part of the runs to make, whatever is decided before; who makes one has no verdicts yet.
    pub shard: Option<Shard>,
    /// Folder in which the paper gets its own.
    pub out: PathBuf,
    /// The command line, for the record.
    pub command: String,
}

/// The page of the laboratory in a browser, in the folder above a paper's: a report beside it has links by which its runs are made again
/// there.
pub const LABORATORY: &str = "play.html";

/// Its address from a paper's folder, if it is there.
fn laboratory(dir: &Path) -> Option<String> {
    dir.parent()?.join(LABORATORY).is_file().then(|| format!("../{LABORATORY}"))
}

/// A reproduction in the course of its work.
pub struct Reproduction<'p> {
    paper: &'p Paper,
    plan: Plan,
    claims: Vec<Claim>,
    tasks: Vec<Task>,
    batch: Batch,
    /// Every point gets all its runs.
    exhaustive: bool,
    /// Seconds of its budget that its runs are foretold to take.
    pub spent: f64,
    /// What the user should know: a half line that was cut off, runs of another version.
    pub notices: Vec<Notice>,
    command: String,
}

/// What a reproduction came to.
#[derive(Debug)]
pub struct Outcome {
    /// The verdicts, in the order of the claims.
    pub judgements: Vec<Judgement>,
    /// Tables and figures.
    pub sections: Vec<Section>,
    /// The paper's folder.
    pub dir: PathBuf,
    /// The report's file, where there was room for it and the tables beside it.
    pub report: Result<PathBuf, StoreError>,
}

impl<'p> Reproduction<'p> {
    /// Reads the paper's files, draws up its runs and opens its folder.
    pub fn prepare(
        paper: &'p Paper,
        options: &Options,
    ) -> Result<Reproduction<'p>, ReproduceError> {
        let plan = paper.plan()?;
        let claims = paper.parsed_claims()?;
        let dir = options.out.join(&paper.id);
        let (batch, mut notices) = match options.shard {
            None => Batch::open(dir)?,
            Some(_) => Batch::share(dir)?,
        };
        let (granted, spent) = match (options.seeds, options.budget) {
            (None, Some(seconds)) => within(paper, &plan, &claims, seconds)?,
            _ => (BTreeMap::new(), 0.0),
        };
        let mut tasks = draw_up(paper, &plan, |experiment, point| {
            let granted = granted.get(&place(experiment, point)).copied();
            let wanted = match (options.seeds, granted) {
                (Some(n), _) => u64::from(n),
                (None, Some(granted)) => granted,
                (None, None) => all_seeds(experiment, point),
            };
            (1..=wanted).collect()
        })?;
        if paper.question().is_some() {
            let read: BTreeSet<String> =
                read_by_all(paper, &plan, &claims)?.into_iter().flatten().collect();
            tasks.retain(|t| read.contains(&format!("{}/{}", t.experiment, t.point)));
        }
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&wanted));
        if let Some(shard) = options.shard {
            let mut place = 0..;
            tasks.retain(|_| place.next().is_some_and(|i| shard.has(i)));
        }
        // What another call has run elsewhere still counts.
        tasks.retain(|t| {
            t.world == World::Sim || options.on.contains(&t.world) || batch.has(&t.key())
        });
        let command = options.command.clone();
        let exhaustive = options.seeds.is_some() || options.shard.is_some();
        Ok(Reproduction { paper, plan, claims, tasks, batch, exhaustive, spent, notices, command })
    }

    /// Everything that earlier reproductions of the paper under `out` have finished, whatever their
    /// number of seeds. Nothing is made.
    ///
    /// # Errors
    ///
    /// There are no runs, or the folder cannot be read and written.
    pub fn revisit(paper: &'p Paper, out: &Path) -> Result<Reproduction<'p>, ReproduceError> {
        let dir = out.join(&paper.id);
        let none = || ReproduceError::NoRuns { paper: paper.id.clone(), dir: dir.clone() };
        if !dir.join(JOURNAL).is_file() {
            return Err(none());
        }
        let plan = paper.plan()?;
        let claims = paper.parsed_claims()?;
        let (batch, mut notices) = Batch::open(&dir)?;
        let tasks = draw_up(paper, &plan, |experiment, point| {
            let mine = batch.records().iter();
            let mine = mine.filter(|r| r.experiment == experiment.id && r.point == point.id);
            let seeds: BTreeSet<u64> = mine.map(|r| r.seed).collect();
            seeds.into_iter().collect()
        })?;
        let keys: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&keys));
        let tasks: Vec<Task> = tasks.into_iter().filter(|t| batch.has(&t.key())).collect();
        if tasks.is_empty() {
            return Err(none());
        }
        let command = batch.invocations()?.pop().map(|i| i.command).unwrap_or_default();
        let (exhaustive, spent) = (true, 0.0);
        Ok(Reproduction { paper, plan, claims, tasks, batch, exhaustive, spent, notices, command })
    }

    /// Runs wanted in all, if none is decided before.
    pub fn total(&self) -> usize {
        self.tasks.len()
    }

    /// Runs that an earlier call has finished.
    pub fn finished(&self) -> usize {
        self.tasks.iter().filter(|t| self.batch.has(&t.key())).count()
    }

    /// Makes the runs that are missing and that a verdict may still need, telling `done` of each. Each run is
    /// kept before it is told; a kill loses only what was running. Those that fail are returned, and the
    /// others go on.
    pub fn work(
        &mut self,
        runner: &Runner,
        done: impl Fn(&RunRecord) + Sync,
    ) -> Result<Vec<Failed>, ReproduceError> {
        let mut failed = Vec::new();
        let mut settled = BTreeSet::new();
        let looks = if self.exhaustive { &LOOKS[LOOKS.len() - 1..] } else { &LOOKS[..] };
        for (round, look) in looks.iter().enumerate() {
            if round > 0 {
                settled = self.settled(looks[round - 1], runner)?;
            }
            let wanted = |t: &&Task| {
                t.seed <= *look && !settled.contains(&format!("{}/{}", t.experiment, t.point))
            };
            let missing = |t: &&Task| wanted(t) && !self.batch.has(&t.key());
            let missing: Vec<Task> = self.tasks.iter().filter(missing).cloned().collect();
            failed.extend(self.make(&missing, runner, &done)?);
        }
        Ok(failed)
    }

    fn make(
        &mut self,
        missing: &[Task],
        runner: &Runner,
        done: &(impl Fn(&RunRecord) + Sync),
    ) -> Result<Vec<Failed>, ReproduceError> {
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let seeds: BTreeSet<u64> = missing.iter().map(|t| t.seed).collect();
        self.batch.add_invocation(&Invocation::now(
            crate::run::VERSION,
            self.command.clone(),
            seeds.into_iter().collect(),
        ))?;
        self.keep_scenarios(missing)?;
        let record = |task: &Task, ran: &Ran| Ok(task.record(ran));
        Ok(runner.fill(missing, &mut self.batch, record, |_, record, _| done(record))?)
    }

    /// The points of which so many runs have decided every claim that reads them.
    fn settled(&self, runs: u64, runner: &Runner) -> Result<BTreeSet<String>, ReproduceError> {
        let judged = self.judged(&self.records_up_to(runs), runner)?;
        let sources = self.paper.sources(&self.plan)?;
        let (mut settled, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (claim, judgement) in self.claims.iter().zip(&judged) {
            let places = budget::read_by(claim, &self.plan, &sources);
            if judgement.verdict.is_decided() {
                settled.extend(places)
            } else {
                open.extend(places)
            }
        }
        Ok(settled.difference(&open).cloned().collect())
    }

    /// The claims, judged on these runs and on traced ones beside them.
    fn judged(
        &self,
        records: &[RunRecord],
        runner: &Runner,
    ) -> Result<Vec<Judgement>, ReproduceError> {
        let (traced, _) = self.traced(records, runner)?;
        Ok(self.paper.judge_on(&self.plan, &self.claims, records, &traced)?)
    }

    /// The finished runs with these first seeds.
    fn records_up_to(&self, runs: u64) -> Vec<RunRecord> {
        self.records().into_iter().filter(|r| r.seed <= runs).collect()
    }

    /// The worlds that runs are still to be made in.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.tasks.iter().filter(|t| !self.batch.has(&t.key())).map(|t| t.world).collect()
    }

    fn keep_scenarios(&self, tasks: &[Task]) -> Result<(), ReproduceError> {
        let mut kept = BTreeSet::new();
        for t in tasks {
            if kept.insert((&t.experiment, &t.point)) {
                self.batch.write_scenario(t.place(&t.form()), &t.scenario.resolved_toml())?;
            }
        }
        Ok(())
    }

    /// The wanted runs that are finished, in the order of the plan.
    fn records(&self) -> Vec<RunRecord> {
        self.tasks.iter().filter_map(|t| self.batch.get(&t.key()).cloned()).collect()
    }

    /// Judges the claims on the finished runs and writes verdicts, tables in `formats`, and the
    /// report.
    pub fn conclude(self, formats: &[Format], runner: &Runner) -> Result<Outcome, ReproduceError> {
        let records = self.records();
        let dir = self.batch.dir().to_path_buf();
        if records.is_empty() {
            return Err(ReproduceError::NoRuns { paper: self.paper.id.clone(), dir });
        }
        let (traces, series) = self.trace()?;
        let mut judgements = self.judged(&records, runner)?;
        let outcome = readings::Outcome::kept(&dir, self.paper);
        outcome.iter().for_each(|o| o.apply(&mut judgements));
        let sections = self.paper.sections(&Material {
            paper: self.paper,
            plan: &self.plan,
            claims: &self.claims,
            records: &records,
            judgements: &judgements,
            traces: &traces,
        })?;
        let mut shown = vec![readings::glance(&judgements, outcome.as_ref())];
        shown.extend(sections.iter().cloned());
        shown.extend(outcome.iter().map(|o| readings::section(o, &self.claims, &judgements)));
        shown.push(registered::section(self.paper)?);
        let page = self.report(&records, &judgements, &shown);
        let page = report::html::render_beside(&page, laboratory(&dir).as_deref())?;
        let write = || {
            series?;
            export_records(&dir, &records, &self.command, formats)?;
            replace(&dir, "verdicts.json", |out| {
                serde_json::to_writer_pretty(&mut *out, &judgements)?;
                out.write_all(b"\n")
            })?;
            replace(&dir, "report.html", |out| out.write_all(page.as_bytes()))
        };
        let report = write();
        Ok(Outcome { judgements, sections, dir, report })
    }

    /// What is judged: the plan, the claims, and the verdicts on the finished runs.
    pub(crate) fn judgements(
        &self,
        runner: &Runner,
    ) -> Result<(&Plan, &[Claim], Vec<Judgement>), ReproduceError> {
        Ok((&self.plan, &self.claims, self.judged(&self.records(), runner)?))
    }

    /// The command that makes it again.
    pub(crate) fn command(&self) -> &str {
        &self.command
    }

    /// The paper's folder.
    pub(crate) fn dir(&self) -> &Path {
        self.batch.dir()
    }

    /// Writes the tables of the finished runs into the paper's folder.
    pub(crate) fn export(&self, formats: &[Format]) -> Result<(), StoreError> {
        export_records(self.dir(), &self.records(), &self.command, formats).map(|_| ())
    }

    /// Where the scenario of each point with a finished run is kept, and how many runs there are, by `experiment/point`.
    pub(crate) fn kept(&self) -> BTreeMap<String, (PathBuf, usize)> {
        let mut kept: BTreeMap<String, (PathBuf, usize)> = BTreeMap::new();
        for t in self.tasks.iter().filter(|t| self.batch.has(&t.key())) {
            let path = || self.batch.scenario_path(t.place(&t.form()));
            let place = format!("{}/{}", t.experiment, t.point);
            kept.entry(place).or_insert_with(|| (path(), 0)).1 += 1;
        }
        kept
    }

    /// Makes the runs whose series and packets the figures show; they repeat exactly, so that
    /// only their series are kept, as far as there is room.
    fn trace(&self) -> Result<(Traces, Result<(), StoreError>), ReproduceError> {
        let (mut traces, mut kept) = (Traces::new(), Ok(()));
        for request in &self.plan.traces {
            let scenario = self.traced_scenario(request)?;
            let result = simulate(&scenario, request.seed)?;
            kept = kept.and(self.keep_series(request, &scenario, &result));
            traces.insert(request.id.clone(), Trace::from(result));
        }
        Ok((traces, kept))
    }

    /// What the traced runs yield.
    fn traced(&self, records: &[RunRecord], runner: &Runner) -> Result<Told, ReproduceError> {
        let scenario = |request| Ok(Arc::new(self.traced_scenario(request)?));
        let scenarios: Vec<Arc<Scenario>> =
            self.plan.traces.iter().map(scenario).collect::<Result<_, ReproduceError>>()?;
        let (paper, plan, scenarios) = (self.paper, &self.plan, &scenarios[..]);
        let claims: Vec<&Claim> = self.claims.iter().collect();
        let asked = Asked { paper, plan, claims: &claims, records, scenarios };
        Traced::open(paper, plan, self.batch.dir(), None)?.values(&asked, runner)
    }

    fn keep_series(
        &self,
        request: &TraceRequest,
        scenario: &Scenario,
        result: &RunResult,
    ) -> Result<(), StoreError> {
        if result.samples.is_empty() {
            return Ok(());
        }
        let flows = scenario.tracks();
        let form = run::form(scenario, &scenario.hash());
        let run = SeriesRun {
            place: Place { experiment: &request.experiment, point: &request.point, form: &form },
            seed: request.seed,
            flows: &flows,
            samples: &result.samples,
        };
        let provenance = Provenance {
            versions: [crate::run::VERSION.to_string()].into(),
            scenario_hashes: [scenario.hash()].into(),
            seeds: [request.seed].into(),
            command: self.command.clone(),
        };
        self.batch.write_series(run, &provenance).map(|_| ())
    }

    fn traced_scenario(&self, request: &TraceRequest) -> Result<Scenario, ReproduceError> {
        let Some(experiment) = self.plan.experiment(&request.experiment) else {
            unreachable!("the plan's parser checks that a trace names an experiment")
        };
        let point = experiment.points().into_iter().find(|p| p.id == request.point);
        let mut overrides = point.map(|p| p.overrides).unwrap_or_default();
        overrides.extend(request.overrides());
        load(self.paper, &experiment.scenario, &overrides)
    }

    /// What the paper is about, and whether this is a hurried reproduction of it.
    fn summary(&self) -> String {
        let budget = match self.spent {
            0.0 => String::new(),
            _ => format!(
                "\n\nMade within a budget, of runs worth about {:.0} s: what these leave open is undecided or not run.",
                self.spent.ceil()
            ),
        };
        format!("{}{budget}", self.paper.summary)
    }

    fn report(
        &self,
        records: &[RunRecord],
        judgements: &[Judgement],
        sections: &[Section],
    ) -> Report {
        let seeds = records.iter().map(|r| r.seed).max().unwrap_or(0);
        let line = |label: &str, value: String| (label.to_string(), value);
        Report {
            title: self.paper.title.to_string(),
            summary: self.summary(),
            verdicts: tally(judgements, Basis::Measured),
            counted: None,
            provenance: vec![
                line(
                    "Paper",
                    format!("{}, {}", self.paper.authors.join(", "), self.paper.published),
                ),
                line("DOI", self.paper.doi.to_string()),
                line("Windlass", crate::run::VERSION.to_string()),
                line("Runs", format!("{}, seeds 1 to {seeds}", records.len())),
                line("Command", self.command.clone()),
            ],
            sections: sections.to_vec(),
        }
    }
}

fn place(experiment: &Experiment, point: &Point) -> String {
    format!("{}/{}", experiment.id, point.id)
}

/// The points that each claim reads.
fn read_by_all(
    paper: &Paper,
    plan: &Plan,
    claims: &[Claim],
) -> Result<Vec<BTreeSet<String>>, ReproduceError> {
    let sources = paper.sources(plan)?;
    Ok(claims.iter().map(|claim| read_by(claim, plan, &sources)).collect())
}

/// The runs of each point within a budget of seconds, and the seconds that they are foretold to take: of a paper those of the
/// simulator's points, what else it has being asked for by the world's name; of an examination those of the world in which it is.
fn within(
    paper: &Paper,
    plan: &Plan,
    claims: &[Claim],
    seconds: f64,
) -> Result<(BTreeMap<String, u64>, f64), ReproduceError> {
    let sources = paper.sources(plan)?;
    let read = read_by_all(paper, plan, claims)?;
    let quantities = claims.iter().flat_map(Claim::quantities).filter_map(|q| match q {
        Quantity::Trace(name) => sources.get(name),
        _ => None,
    });
    let traced: BTreeSet<String> =
        quantities.flatten().map(|at| plan.traces[*at].place()).collect();
    let mut sites = Vec::new();
    for experiment in &plan.experiments {
        let within = |p: &Point| experiment.world(p) == World::Sim || paper.question().is_some();
        for point in experiment.points().into_iter().filter(within) {
            let world = experiment.world(&point);
            let place = place(experiment, &point);
            // A run that a claim reads traced is made twice.
            let times = if traced.contains(&place) { 2.0 } else { 1.0 };
            let scenario = load(paper, &experiment.scenario, &point.overrides)?;
            sites.push(Site {
                place,
                cost: times * budget::cost_in(world, &scenario),
                all: all_seeds(experiment, &point),
                few: *experiment.seeds(&point, true).end(),
                first: budget::first(world),
                granted: 0,
            });
        }
    }
    let spent = budget::spend(&mut sites, &read, seconds);
    Ok((sites.into_iter().map(|s| (s.place, s.granted)).collect(), spent))
}

fn load(
    paper: &Paper,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, ReproduceError> {
    let name = paper.place(file);
    let text = paper.scenario(file).ok_or_else(|| ReproduceError::NoScenario(name.clone()))?;
    Ok(Scenario::with_overrides(text, &name, overrides)?)
}

/// The runs of a plan, in its order, with the seeds that `seeds` gives each point.
fn draw_up(
    paper: &Paper,
    plan: &Plan,
    seeds: impl Fn(&Experiment, &Point) -> Vec<u64>,
) -> Result<Vec<Task>, ReproduceError> {
    let mut tasks = Vec::new();
    for experiment in &plan.experiments {
        for point in experiment.points() {
            let scenario = Arc::new(load(paper, &experiment.scenario, &point.overrides)?);
            let world = experiment.world(&point);
            let scenario_hash: Arc<str> = world.hash(&scenario).into();
            tasks.extend(seeds(experiment, &point).into_iter().map(|seed| Task {
                experiment: experiment.id.clone(),
                point: point.id.clone(),
                seed,
                scenario: scenario.clone(),
                scenario_hash: scenario_hash.clone(),
                world,
            }));
        }
    }
    Ok(tasks)
}
