//! Reproducing a paper: its runs, its verdicts, its files.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_sim::RunResult;

use crate::claims::{Claim, Judgement, tally};
use crate::experiment::{Experiment, FileError, Plan, Point, TraceRequest};
use crate::papers::{Material, Paper, Trace, Traces};
use crate::report::model::{Report, Section};
use crate::report::{self, ReportError};
use crate::run::store::export::export_records;
use crate::run::store::{
    Batch, Format, Invocation, JOURNAL, Notice, Place, Provenance, RunKey, SeriesRun, Store,
    StoreError, replace,
};
use crate::run::{self, Failed, Ran, RunError, RunRecord, Runner, Task, World, simulate};
use crate::scenario::{Scenario, ScenarioError};

/// What a reproduction is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Few seeds.
    pub quick: bool,
    /// Replications of each point, instead of the experiment's own number.
    pub seeds: Option<u32>,
    /// Worlds to run in besides the simulator, as far as the paper has experiments there.
    pub on: Vec<World>,
    /// Folder in which the paper gets its own.
    pub out: PathBuf,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// Why a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A paper's file is not right.
    #[error(transparent)]
    File(#[from] FileError),
    /// A paper's scenario is not right.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Results cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report contradicts itself.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// There are no runs to report on.
    #[error("{} holds no run of this version for paper \"{paper}\"; `windlass reproduce {paper}` makes them", dir.display())]
    NoRuns {
        /// The paper.
        paper: String,
        /// Its folder.
        dir: PathBuf,
    },
}

impl From<run::Error> for ReproduceError {
    fn from(e: run::Error) -> ReproduceError {
        match e {
            run::Error::Run(e) => ReproduceError::Run(e),
            run::Error::Store(e) => ReproduceError::Store(e),
        }
    }
}

/// A reproduction in the course of its work.
pub struct Reproduction {
    paper: &'static Paper,
    plan: Plan,
    claims: Vec<Claim>,
    tasks: Vec<Task>,
    batch: Batch,
    /// What the user should know: a half line that was cut off, runs of another version.
    pub notices: Vec<Notice>,
    command: Vec<String>,
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
    /// The report's file.
    pub report: PathBuf,
}

impl Reproduction {
    /// Reads the paper's files, draws up its runs and opens its folder.
    pub fn prepare(
        paper: &'static Paper,
        options: &Options,
    ) -> Result<Reproduction, ReproduceError> {
        let plan = paper.plan()?;
        let claims = paper.parsed_claims()?;
        let (batch, mut notices) = Batch::open(options.out.join(paper.id))?;
        let mut tasks = draw_up(paper, &plan, |experiment, point| match options.seeds {
            Some(n) => (1..=u64::from(n)).collect(),
            None => experiment.seeds(point, options.quick).collect(),
        })?;
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&wanted));
        // What another call has run elsewhere still counts.
        tasks.retain(|t| {
            t.world == World::Sim || options.on.contains(&t.world) || batch.has(&t.key())
        });
        let command = options.command.clone();
        Ok(Reproduction { paper, plan, claims, tasks, batch, notices, command })
    }

    /// Everything that earlier reproductions of the paper under `out` have finished, whatever their
    /// number of seeds. Nothing is made.
    ///
    /// # Errors
    ///
    /// There are no runs, or the folder cannot be read and written.
    pub fn revisit(paper: &'static Paper, out: &Path) -> Result<Reproduction, ReproduceError> {
        let dir = out.join(paper.id);
        let none = || ReproduceError::NoRuns { paper: paper.id.to_string(), dir: dir.clone() };
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
        Ok(Reproduction { paper, plan, claims, tasks, batch, notices, command })
    }

    /// Runs wanted in all.
    pub fn total(&self) -> usize {
        self.tasks.len()
    }

    /// Runs that an earlier call has finished.
    pub fn finished(&self) -> usize {
        self.tasks.iter().filter(|t| self.batch.has(&t.key())).count()
    }

    /// Makes the runs that are missing, telling `done` of each. Each run is
    /// kept before it is told; a kill loses only what was running. Those that fail are returned, and the
    /// others go on.
    pub fn work(
        &mut self,
        runner: &Runner,
        done: impl Fn(&RunRecord) + Sync,
    ) -> Result<Vec<Failed>, ReproduceError> {
        let missing: Vec<Task> =
            self.tasks.iter().filter(|t| !self.batch.has(&t.key())).cloned().collect();
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let mut seeds: Vec<u64> = missing.iter().map(|t| t.seed).collect();
        seeds.sort_unstable();
        seeds.dedup();
        self.batch.add_invocation(&Invocation::now(
            crate::run::VERSION,
            self.command.clone(),
            seeds,
        ))?;
        self.keep_scenarios(&missing)?;
        let record = |task: &Task, ran: &Ran| Ok(task.record(ran));
        Ok(runner.fill(&missing, &mut self.batch, record, |_, record, _| done(record))?)
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
    pub fn conclude(self, formats: &[Format]) -> Result<Outcome, ReproduceError> {
        let records = self.records();
        let dir = self.batch.dir().to_path_buf();
        if records.is_empty() {
            return Err(ReproduceError::NoRuns { paper: self.paper.id.to_string(), dir });
        }
        let traces = self.trace()?;
        let judgements = self.paper.judge(&self.claims, &records, &traces);
        let sections = self.paper.sections(&Material {
            paper: self.paper,
            plan: &self.plan,
            claims: &self.claims,
            records: &records,
            judgements: &judgements,
            traces: &traces,
        });
        export_records(&dir, &records, &self.command.join(" "), formats)?;
        replace(&dir, "verdicts.json", |out| {
            serde_json::to_writer_pretty(&mut *out, &judgements)?;
            out.write_all(b"\n")
        })?;
        let page = report::html::render(&self.report(&records, &judgements, &sections))?;
        let report = replace(&dir, "report.html", |out| out.write_all(page.as_bytes()))?;
        Ok(Outcome { judgements, sections, dir, report })
    }

    /// Makes the runs whose series and packets the figures show; they repeat exactly, so that
    /// only their series are kept.
    fn trace(&self) -> Result<Traces, ReproduceError> {
        let mut traces = Traces::new();
        for request in &self.plan.traces {
            let scenario = self.traced_scenario(request)?;
            let result = simulate(&scenario, request.seed)?;
            self.keep_series(request, &scenario, &result)?;
            traces.insert(request.id.clone(), Trace::from(result));
        }
        Ok(traces)
    }

    fn keep_series(
        &self,
        request: &TraceRequest,
        scenario: &Scenario,
        result: &RunResult,
    ) -> Result<(), ReproduceError> {
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
            command: self.command.join(" "),
        };
        self.batch.write_series(run, &provenance)?;
        Ok(())
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
            summary: self.paper.summary.to_string(),
            verdicts: tally(judgements),
            provenance: vec![
                line(
                    "Paper",
                    format!("{}, {}", self.paper.authors.join(", "), self.paper.published),
                ),
                line("DOI", self.paper.doi.to_string()),
                line("Windlass", crate::run::VERSION.to_string()),
                line("Runs", format!("{}, seeds 1 to {seeds}", records.len())),
                line("Command", self.command.join(" ")),
            ],
            sections: sections.to_vec(),
        }
    }
}

fn load(
    paper: &Paper,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, ReproduceError> {
    let text = paper.scenario(file).unwrap_or_default();
    let name = format!("papers/{}/{file}", paper.id);
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
