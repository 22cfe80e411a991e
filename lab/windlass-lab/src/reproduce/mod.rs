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
use crate::run::store::{Format, JOURNAL, Notice, StoreError};
use crate::run::{Campaign, Failed, Ran, RunRecord, Runner, Task, World};
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
    campaign: Campaign,
    /// True if every point gets all its runs, without interim analyses.
    exhaustive: bool,
    /// Estimated time of the runs within the budget, seconds.
    pub spent: f64,
    /// Notices for the user, such as an incomplete line that was removed, or runs of another version.
    pub notices: Vec<Notice>,
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
        let campaign = Campaign::open(&dir, options.shard)?.called(&options.command);
        owner.keep(&dir)?;
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
        let notices = campaign.notices(&tasks);
        let mut tasks = Shard::part(options.shard, tasks);
        // Finished runs of another call on another backend also count.
        tasks.retain(|t| t.world == World::Sim || options.on.contains(&t.world) || campaign.has(t));
        let exhaustive = options.seeds.is_some() || options.shard.is_some();
        Ok(Reproduction { paper, plan, claims, tasks, campaign, exhaustive, spent, notices })
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
        let campaign = Campaign::open(&dir, None)?;
        let tasks = draw_up(paper, &plan, |experiment, point| {
            let mine = campaign.batch().records().iter();
            let mine = mine.filter(|r| r.experiment == experiment.id && r.point == point.id);
            let seeds: BTreeSet<u64> = mine.map(|r| r.seed).collect();
            seeds.into_iter().collect()
        })?;
        let notices = campaign.notices(&tasks);
        let tasks: Vec<Task> = tasks.into_iter().filter(|t| campaign.has(t)).collect();
        if tasks.is_empty() {
            return Err(none());
        }
        let command = campaign.batch().invocations()?.pop().map(|i| i.command).unwrap_or_default();
        let campaign = campaign.called(&command);
        let (exhaustive, spent) = (true, 0.0);
        Ok(Reproduction { paper, plan, claims, tasks, campaign, exhaustive, spent, notices })
    }

    /// Maximum number of runs, if no interim analysis decides a claim.
    pub fn total(&self) -> usize {
        self.tasks.len()
    }

    /// Number of finished runs.
    pub fn finished(&self) -> usize {
        self.campaign.finished(&self.tasks)
    }

    /// Makes the missing runs that a verdict may still need, and calls `done` after each. Each run is stored
    /// before this call, so that a kill loses only the active runs. Returns the failed runs. A failed run
    /// does not stop the others.
    pub fn work(
        &mut self,
        runner: &Runner,
        done: impl Fn(&RunRecord) + Sync,
    ) -> Result<Vec<Failed>, ReproduceError> {
        let mut settled = BTreeSet::new();
        let looks = if self.exhaustive { &LOOKS[LOOKS.len() - 1..] } else { &LOOKS[..] };
        for (round, look) in looks.iter().enumerate() {
            if round > 0 {
                settled = self.settled(looks[round - 1], runner)?;
            }
            let wanted =
                |t: &&Task| t.seed <= *look && !settled.contains(&place(&t.experiment, &t.point));
            let wanted: Vec<Task> = self.tasks.iter().filter(wanted).cloned().collect();
            self.make(wanted, runner, &done)?;
        }
        Ok(self.campaign.failed().to_vec())
    }

    fn make(
        &mut self,
        wanted: Vec<Task>,
        runner: &Runner,
        done: &(impl Fn(&RunRecord) + Sync),
    ) -> Result<(), ReproduceError> {
        let record = |task: &Task, ran: &Ran| self.plan.record(task, ran);
        self.campaign.round(wanted, runner, record, |_, record, _| done(record))?;
        Ok(())
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
        self.campaign.missing(self.tasks.clone()).iter().map(|t| t.world).collect()
    }

    /// The finished runs, in the order of the plan.
    fn records(&self) -> Vec<RunRecord> {
        self.campaign.records(&self.tasks)
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
        self.campaign.command()
    }

    /// The paper's folder.
    pub(crate) fn dir(&self) -> &Path {
        self.campaign.batch().dir()
    }

    /// Writes the tables of the finished runs into the paper's folder.
    pub(crate) fn export(&self, formats: &[Format]) -> Result<(), StoreError> {
        export_records(self.dir(), &self.records(), self.command(), formats).map(|_| ())
    }

    /// The scenario file and the number of finished runs of each point, by `experiment/point`, without points
    /// that have no finished run.
    pub(crate) fn kept(&self) -> BTreeMap<String, (PathBuf, usize)> {
        let mut kept: BTreeMap<String, (PathBuf, usize)> = BTreeMap::new();
        for t in self.tasks.iter().filter(|t| self.campaign.has(t)) {
            let path = || self.campaign.batch().scenario_path(t.place(&t.form()));
            let place = place(&t.experiment, &t.point);
            kept.entry(place).or_insert_with(|| (path(), 0)).1 += 1;
        }
        kept
    }
}
