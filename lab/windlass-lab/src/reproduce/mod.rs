//! The reproduction of a paper: its runs, verdicts and files.
//!
//! Runs are made in rounds. After each round the claims are judged (interim analysis). A point needs no more
//! runs if all claims that read it are decided. A point that no claim reads is only shown, and gets the first
//! number of runs of a claim.

pub(crate) mod budget;
mod conclude;
pub(crate) mod error;
mod looks;
mod owner;
mod series;
mod tasks;
pub(crate) mod traces;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::Shard;
use crate::claims::{Claim, Judgement};
use crate::experiment::Plan;
use crate::papers::Paper;
use crate::run::store::export::export_records;
use crate::run::store::{Batch, Format, Invocation, JOURNAL, Notice, RunKey, Store, StoreError};
use crate::run::{Failed, Ran, RunRecord, Runner, Task, World};
use crate::shard;
use budget::{FIRST, LOOKS, all_seeds};
use owner::Owner;
use tasks::{draw_up, place, read_by_all, within};

pub use conclude::{LABORATORY, Outcome};
pub use error::ReproduceError;
pub use looks::{Looked, Looks};

/// Options of a reproduction.
#[derive(Clone, Debug)]
pub struct Options {
    /// Approximate time of the simulator's runs on two processors, seconds. `None` for the paper's number of
    /// runs. The choice of runs within a budget does not depend on the machine.
    pub budget: Option<f64>,
    /// Runs of each point, instead of the experiment's number. Decided points also get all of them.
    pub seeds: Option<u32>,
    /// Backends in addition to the simulator, if the paper has experiments on them.
    pub on: Vec<World>,
    /// The part of the runs that this process makes, without interim analyses. A shard alone has no verdicts.
    pub shard: Option<Shard>,
    /// Folder that contains the paper's folder of results.
    pub out: PathBuf,
    /// The command line, for the record.
    pub command: String,
}

/// A reproduction in progress.
pub struct Reproduction<'p> {
    paper: &'p Paper,
    plan: Plan,
    claims: Vec<Claim>,
    tasks: Vec<Task>,
    batch: Batch,
    /// True if every point gets all its runs, without interim analyses.
    exhaustive: bool,
    /// Estimated time of the runs within the budget, seconds.
    pub spent: f64,
    /// Notices for the user, such as an incomplete line that was removed, or runs of another version.
    pub notices: Vec<Notice>,
    command: String,
}

impl<'p> Reproduction<'p> {
    /// Reads the paper's files, plans its runs and opens its folder.
    pub fn prepare(
        paper: &'p Paper,
        options: &Options,
    ) -> Result<Reproduction<'p>, ReproduceError> {
        let plan = paper.plan()?;
        let claims = paper.parsed_claims()?;
        let dir = options.out.join(&paper.id);
        let owner = Owner::claim(paper, &dir)?;
        let (batch, mut notices) = shard::batch(dir, options.shard)?;
        owner.keep(batch.dir())?;
        let (granted, spent) = match (options.seeds, options.budget) {
            (None, Some(seconds)) => within(paper, &plan, &claims, seconds)?,
            _ => (BTreeMap::new(), 0.0),
        };
        let read: BTreeSet<String> =
            read_by_all(paper, &plan, &claims)?.into_iter().flatten().collect();
        let mut tasks = draw_up(paper, &plan, |experiment, point| {
            let place = place(&experiment.id, &point.id);
            let wanted = match (options.seeds, granted.get(&place)) {
                (Some(n), _) => u64::from(n),
                (None, Some(granted)) => *granted,
                (None, None) if read.contains(&place) => all_seeds(experiment, point),
                (None, None) => all_seeds(experiment, point).min(FIRST),
            };
            (1..=wanted).collect()
        })?;
        if paper.question().is_some() {
            tasks.retain(|t| read.contains(&place(&t.experiment, &t.point)));
        }
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&wanted));
        if let Some(shard) = options.shard {
            let mut place = 0..;
            tasks.retain(|_| place.next().is_some_and(|i| shard.has(i)));
        }
        // Finished runs of another call on another backend also count.
        tasks.retain(|t| {
            t.world == World::Sim || options.on.contains(&t.world) || batch.has(&t.key())
        });
        let command = options.command.clone();
        let exhaustive = options.seeds.is_some() || options.shard.is_some();
        Ok(Reproduction { paper, plan, claims, tasks, batch, exhaustive, spent, notices, command })
    }

    /// All finished runs of earlier reproductions of the paper under `out`, regardless of their number
    /// of seeds. It makes no runs.
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
        Owner::claim(paper, &dir)?;
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

    /// Maximum number of runs, if no interim analysis decides a claim.
    pub fn total(&self) -> usize {
        self.tasks.len()
    }

    /// Number of finished runs.
    pub fn finished(&self) -> usize {
        self.tasks.iter().filter(|t| self.batch.has(&t.key())).count()
    }

    /// Makes the missing runs that a verdict may still need, and calls `done` after each. Each run is stored
    /// before this call, so that a kill loses only the active runs. Returns the failed runs. A failed run
    /// does not stop the others.
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
            let wanted =
                |t: &&Task| t.seed <= *look && !settled.contains(&place(&t.experiment, &t.point));
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
        let plan = &self.plan;
        let record = |task: &Task, ran: &Ran| plan.record(task, ran);
        Ok(runner.fill(missing, &mut self.batch, record, |_, record, _| done(record))?)
    }

    /// The points for which this number of runs has decided every claim that reads them.
    fn settled(&self, runs: u64, runner: &Runner) -> Result<BTreeSet<String>, ReproduceError> {
        let judged = self.judged(&self.records_up_to(runs), runner)?;
        let read = read_by_all(self.paper, &self.plan, &self.claims)?;
        let (mut settled, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (places, judgement) in read.into_iter().zip(&judged) {
            if judgement.verdict.is_decided() {
                settled.extend(places)
            } else {
                open.extend(places)
            }
        }
        Ok(settled.difference(&open).cloned().collect())
    }

    /// The claims, judged on these runs and on traced runs.
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

    /// The backends of the missing runs.
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

    /// The finished runs, in the order of the plan.
    fn records(&self) -> Vec<RunRecord> {
        self.tasks.iter().filter_map(|t| self.batch.get(&t.key()).cloned()).collect()
    }

    /// The plan, the claims, and the verdicts on the finished runs.
    pub(crate) fn judgements(
        &self,
        runner: &Runner,
    ) -> Result<(&Plan, &[Claim], Vec<Judgement>), ReproduceError> {
        Ok((&self.plan, &self.claims, self.judged(&self.records(), runner)?))
    }

    /// The command that repeats the reproduction.
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

    /// The scenario file and the number of finished runs of each point, by `experiment/point`, without points
    /// that have no finished run.
    pub(crate) fn kept(&self) -> BTreeMap<String, (PathBuf, usize)> {
        let mut kept: BTreeMap<String, (PathBuf, usize)> = BTreeMap::new();
        for t in self.tasks.iter().filter(|t| self.batch.has(&t.key())) {
            let path = || self.batch.scenario_path(t.place(&t.form()));
            let place = place(&t.experiment, &t.point);
            kept.entry(place).or_insert_with(|| (path(), 0)).1 += 1;
        }
        kept
    }
}
