//! Makes the runs of a sweep, round by round.
//!
//! The next runs depend only on the finished runs: they are the missing runs of the first interim analysis that is
//! not complete. Therefore a resumed sweep, a sweep on another number of processors and a sweep in shards make the
//! same runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::pace::Pace;
use super::plan::{Count, Plan, PlannedPoint};
use super::progress::{Desk, Progress, slowest};
use super::warm::recorded;
use crate::Error;
use crate::run::store::{Batch, Invocation, Notice, RunKey, Store};
use crate::run::{Failed, Ran, RunRecord, Runner, Task, World};
use crate::shard;
use crate::stats::sequential::Rule;

/// A sweep with its folder and its finished runs.
pub struct Sweep {
    pub(super) plan: Plan,
    pub(super) batch: Batch,
    pub(super) command: String,
    notices: Vec<Notice>,
    pace: Pace,
    /// Runs that gave no result.
    failed: Vec<Failed>,
}

/// Status of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has the requested number of runs.
    Complete,
    /// Its goals are met.
    Narrow,
    /// It has the maximum number of runs, and its goals are not met.
    AtMost,
    /// Runs are missing.
    Unfinished,
}

/// Estimated cost of a call.
#[derive(Clone, Debug)]
pub struct Estimate {
    /// Number of finished runs.
    pub finished: u64,
    /// Minimum number of missing runs.
    pub least: u64,
    /// Maximum number of missing runs. It is above `least` only if runs are added until a goal is met.
    pub most: u64,
    /// Number of points with a known duration. The estimate uses their mean for the other points.
    pub timed: usize,
    /// Seconds for `least` and for `most` runs; `None` if no duration is known.
    pub seconds: Option<[f64; 2]>,
    /// The point with the longest runs, and the seconds per run.
    pub slowest: Option<(String, f64)>,
}

impl Sweep {
    /// Opens the sweep's folder to make runs with this runner. Other processes may make runs at the same time.
    ///
    /// # Errors
    ///
    /// The folder is not usable, or a journal is not readable.
    pub fn open(plan: Plan, dir: &Path, command: String, runner: &Runner) -> Result<Sweep, Error> {
        let (mut batch, notices) = shard::batch(dir, plan.shard)?;
        batch.count_only(|world| runner.release(world));
        Ok(Sweep::with(plan, batch, notices, command))
    }

    /// Opens the sweep's folder to read it, even if it is in use.
    ///
    /// # Errors
    ///
    /// A journal is not readable.
    pub fn look(plan: Plan, dir: &Path, command: String) -> Result<Sweep, Error> {
        let (batch, notices) = Batch::share(dir)?;
        Ok(Sweep::with(plan, batch, notices, command))
    }

    fn with(plan: Plan, batch: Batch, notices: Vec<Notice>, command: String) -> Sweep {
        let pace = Pace::read(batch.dir());
        Sweep { plan, batch, command, notices, pace, failed: Vec::new() }
    }

    /// The folder in which this call notes its failures.
    pub fn own_dir(&self) -> &Path {
        self.batch.own_dir()
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Notices for the user: a truncated line, or runs of another version.
    pub fn notices(&self) -> Vec<Notice> {
        let mut notices = self.notices.clone();
        let counted = self.plan.points.iter().zip(self.standings());
        let tasks = counted.flat_map(|(p, (_, n))| self.tasks_up_to(p, n));
        let wanted: Vec<RunKey> = tasks.map(|t| t.key()).collect();
        notices.extend(self.batch.stale(&wanted));
        notices
    }

    fn tasks_up_to<'a>(
        &'a self,
        point: &'a PlannedPoint,
        n: u64,
    ) -> impl Iterator<Item = Task> + 'a {
        (0..n).map(|i| self.plan.task(point, i))
    }

    fn record(&self, point: &PlannedPoint, i: u64) -> Option<&RunRecord> {
        self.batch.get(&self.plan.task(point, i).key())
    }

    /// The finished runs of a point among its first `n` seeds.
    pub(super) fn records(&self, point: &PlannedPoint, n: u64) -> Vec<&RunRecord> {
        (0..n).filter_map(|i| self.record(point, i)).collect()
    }

    /// Status of each point, and the number of its first seeds that count.
    pub(super) fn standings(&self) -> Vec<(Standing, u64)> {
        let fixed = |p: &PlannedPoint| match self.first_missing(p, p.seeds) {
            Some(_) => (Standing::Unfinished, p.seeds),
            None => (Standing::Complete, p.seeds),
        };
        match &self.plan.count {
            Count::Fixed(_) => self.plan.points.iter().map(fixed).collect(),
            Count::Until(_, rule) => {
                let groups = self.groups();
                let decided: Vec<(Standing, u64)> =
                    groups.iter().map(|group| self.decided(group, *rule)).collect();
                self.plan.points.iter().map(|p| decided[p.group]).collect()
            }
        }
    }

    /// The points of each group.
    fn groups(&self) -> Vec<Vec<&PlannedPoint>> {
        let mut groups: Vec<Vec<&PlannedPoint>> = Vec::new();
        for point in &self.plan.points {
            if groups.len() <= point.group {
                groups.resize(point.group + 1, Vec::new());
            }
            groups[point.group].push(point);
        }
        groups
    }

    fn first_missing(&self, point: &PlannedPoint, n: u64) -> Option<u64> {
        (0..n).find(|i| self.record(point, *i).is_none())
    }

    /// The first interim analysis of a group at which a run is missing or all goals are met.
    fn decided(&self, group: &[&PlannedPoint], rule: Rule) -> (Standing, u64) {
        for n in rule.looks() {
            if group.iter().any(|p| self.first_missing(p, n).is_some()) {
                return (Standing::Unfinished, n);
            }
            if group.iter().all(|p| self.is_narrow(p, n)) {
                return (Standing::Narrow, n);
            }
        }
        (Standing::AtMost, rule.max)
    }

    /// True if every goal is met at a point with the first `n` seeds.
    pub(super) fn is_narrow(&self, point: &PlannedPoint, n: u64) -> bool {
        self.plan.goals().iter().all(|goal| {
            let records = self.records(point, n);
            let values: Option<Vec<f64>> = records.iter().map(|r| goal.measure.of(r)).collect();
            values.is_some_and(|values| Rule::is_narrow(&values, goal.width))
        })
    }

    /// Undecided groups of points of this shard, with the number of runs that their next decision needs.
    fn open_groups(&self) -> Vec<(Vec<&PlannedPoint>, u64)> {
        let Count::Until(_, rule) = self.plan.count else { return Vec::new() };
        let mine = |g: usize| self.plan.shard.is_none_or(|s| s.has(g));
        let groups = self.groups().into_iter().enumerate().filter(|(g, _)| mine(*g));
        groups
            .filter_map(|(_, group)| match self.decided(&group, rule) {
                (Standing::Unfinished, n) => Some((group, n)),
                _ => None,
            })
            .collect()
    }

    /// The missing runs for the next decision, seed by seed. If a sweep is stopped early, every point then has some
    /// runs.
    fn missing(&self) -> Vec<Task> {
        let mut tasks: Vec<(u64, usize, Task)> = Vec::new();
        match self.plan.count {
            Count::Fixed(_) => {
                for (p, point) in self.plan.points.iter().enumerate() {
                    tasks.extend((0..point.seeds).map(|i| (i, p, self.plan.task(point, i))));
                }
                tasks.sort_by_key(|(i, p, _)| (*i, *p));
                if let Some(shard) = self.plan.shard {
                    let mut place = 0..;
                    tasks.retain(|_| place.next().is_some_and(|i| shard.has(i)));
                }
            }
            Count::Until(..) => {
                for (p, (group, n)) in self.open_groups().into_iter().enumerate() {
                    for point in group {
                        tasks.extend((0..n).map(|i| (i, p, self.plan.task(point, i))));
                    }
                }
                tasks.sort_by_key(|(i, p, _)| (*i, *p));
            }
        }
        let tasks = tasks.into_iter().map(|(_, _, task)| task);
        tasks.filter(|t| self.batch.get(&t.key()).is_none()).collect()
    }

    /// The backends of the missing runs.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.missing().iter().map(|t| t.world).collect()
    }

    /// Makes the missing runs, and calls `done` for each, a few times per second with the progress. A kill loses
    /// only unfinished runs. The other runs continue after a failure, and the failed runs are returned.
    ///
    /// # Errors
    ///
    /// A backend refuses a scenario, or a run cannot be stored. Finished runs are kept.
    pub fn work(
        &mut self,
        runner: &Runner,
        done: impl Fn(&RunRecord, Option<&Progress>) + Sync,
    ) -> Result<&[Failed], Error> {
        let mut made = 0;
        loop {
            let missing = self.untried()?;
            if missing.is_empty() {
                return Ok(&self.failed);
            }
            if made == 0 {
                self.begin(&missing)?;
            }
            self.round(&missing, runner, &mut made, &done)?;
        }
    }

    /// The missing runs for the next decision, without the runs that failed in this call. Without missing runs the
    /// sweep is complete, and this is noted in its folder.
    fn untried(&mut self) -> Result<Vec<Task>, Error> {
        let failed: BTreeSet<RunKey> = self.failed.iter().map(Failed::key).collect();
        let mut missing = self.missing();
        missing.retain(|task| !failed.contains(&task.key()));
        if missing.is_empty() {
            self.batch.finish(&self.failed)?;
            self.keep_pace()?;
        }
        Ok(missing)
    }

    fn begin(&mut self, missing: &[Task]) -> Result<(), Error> {
        let seeds: BTreeSet<u64> = missing.iter().map(|t| t.seed).collect();
        let (command, seeds) = (self.command.clone(), seeds.into_iter().collect());
        self.batch.add_invocation(&Invocation::now(crate::run::VERSION, command, seeds))?;
        let mut kept = BTreeSet::new();
        for t in missing {
            if kept.insert(&t.point) {
                self.batch.write_scenario(t.place(&t.form()), &t.scenario.resolved_toml())?;
            }
        }
        Ok(())
    }

    fn round(
        &mut self,
        tasks: &[Task],
        runner: &Runner,
        made: &mut u64,
        done: &(impl Fn(&RunRecord, Option<&Progress>) + Sync),
    ) -> Result<(), Error> {
        let warm_up = self.plan.warm_up;
        let record = |task: &Task, ran: &Ran| recorded(task, ran, warm_up);
        let side = processors(tasks, runner.jobs());
        let desk = Mutex::new(Desk::new(
            &self.plan,
            &mut self.pace,
            self.batch.dir(),
            (tasks, made),
            side,
        ));
        let failed = runner.fill(tasks, &mut self.batch, record, |task, record, took| {
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let progress = desk.take(task, took);
            done(record, progress.as_ref());
        })?;
        self.failed.extend(failed);
        Ok(())
    }

    /// Runs that gave no result in this call.
    pub fn failed(&self) -> &[Failed] {
        &self.failed
    }

    /// The counted runs, point by point.
    pub fn runs(&self) -> Vec<RunRecord> {
        self.counted().into_iter().flat_map(|(_, _, runs)| runs).cloned().collect()
    }

    fn keep_pace(&self) -> Result<(), Error> {
        if self.pace != Pace::default() {
            self.pace.write(self.batch.dir())?;
        }
        Ok(())
    }

    /// Measures the duration of one run at some points with unknown duration, for [`Sweep::estimate`]. These runs
    /// are not stored. No run starts after `patience`.
    ///
    /// # Errors
    ///
    /// A run fails.
    pub fn time(&mut self, runner: &Runner, patience: Duration) -> Result<(), Error> {
        const MOST: usize = 8;
        let begun = Instant::now();
        let unknown: Vec<Task> = {
            let simulated = self.plan.points.iter().filter(|p| p.world == World::Sim);
            simulated
                .filter(|p| self.pace.of(&p.hash).is_none())
                .map(|p| self.plan.task(p, 0))
                .collect()
        };
        for task in unknown.iter().step_by(unknown.len().div_ceil(MOST).max(1)) {
            if begun.elapsed() > patience {
                break;
            }
            let start = Instant::now();
            runner.run(task)?;
            self.pace.took(&task.scenario_hash, start.elapsed());
        }
        Ok(())
    }

    /// The remaining work, and its cost with this number of jobs.
    pub fn estimate(&self, jobs: usize) -> Estimate {
        let missing = self.missing();
        let most = match self.plan.count {
            Count::Fixed(_) => missing.clone(),
            Count::Until(..) => {
                let open = self.open_groups();
                let points = open.iter().flat_map(|(group, _)| group.iter());
                let all = points.flat_map(|p| self.tasks_up_to(p, self.plan.seeds(p)));
                all.filter(|t| self.batch.get(&t.key()).is_none()).collect()
            }
        };
        let side = processors(&missing, jobs);
        let cost = |tasks: &[Task]| {
            self.pace.cost(tasks.iter().map(|t| (&*t.scenario_hash, 1))).map(|s| s / side as f64)
        };
        let wanted = |p: &PlannedPoint| self.records(p, self.plan.seeds(p)).len() as u64;
        Estimate {
            finished: self.plan.points.iter().map(wanted).sum(),
            least: missing.len() as u64,
            most: most.len() as u64,
            timed: self.plan.points.iter().filter(|p| self.pace.of(&p.hash).is_some()).count(),
            seconds: cost(&missing).zip(cost(&most)).map(|(least, most)| [least, most]),
            slowest: slowest(&self.plan, &self.pace),
        }
    }
}

/// Number of runs at the same time.
fn processors(tasks: &[Task], jobs: usize) -> usize {
    let world = tasks.first().map_or(World::Sim, |t| t.world);
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = match world.jobs(jobs) {
        0 => all(),
        n => n,
    };
    jobs.min(tasks.len().max(1))
}
