//! The runs of a sweep: a [`Campaign`] whose points stop by a [`Rule`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::plan::{Plan, PlannedPoint};
use super::progress::{Desk, Progress, processors, slowest};
use super::warm::recorded;
use crate::cost::Pace;
use crate::run::store::Notice;
use crate::run::{Campaign, Failed, Ran, RunRecord, Runner, Task, World};
use crate::stats::sequential::Rule;
use crate::{Error, Shard};

/// A sweep with its folder and its finished runs.
pub struct Sweep {
    pub(super) plan: Plan,
    pub(super) campaign: Campaign,
    pace: Pace,
}

/// Points that stop together.
struct Group<'a> {
    points: Vec<&'a PlannedPoint>,
    standing: Standing,
    /// Number of runs of each point at its present look.
    runs: u64,
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
    /// Number of points with a known duration. The estimate uses their pace for the other points.
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
        let campaign = Campaign::open(dir, plan.shard)?.on(runner);
        Ok(Sweep::with(plan, campaign, &command))
    }

    /// Opens the sweep's folder to read it, even if it is in use.
    ///
    /// # Errors
    ///
    /// A journal is not readable.
    pub fn look(plan: Plan, dir: &Path, command: String) -> Result<Sweep, Error> {
        Ok(Sweep::with(plan, Campaign::look(dir)?, &command))
    }

    fn with(plan: Plan, campaign: Campaign, command: &str) -> Sweep {
        let predicted = plan.points.iter().map(|p| (p.hash.clone(), p.cost)).collect();
        let pace = Pace::read(campaign.batch().dir(), predicted);
        Sweep { plan, campaign: campaign.called(command), pace }
    }

    /// The runs in the sweep's folder.
    pub fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Notices for the user: a truncated line, or runs of another version.
    pub fn notices(&self) -> Vec<Notice> {
        let counted = self.plan.points.iter().zip(self.standings());
        let tasks = counted.flat_map(|(p, (_, n))| (0..n).map(|i| self.plan.task(p, i)));
        self.campaign.notices(&tasks.collect::<Vec<_>>())
    }

    fn record(&self, point: &PlannedPoint, i: u64) -> Option<&RunRecord> {
        self.campaign.record(&self.plan.task(point, i))
    }

    /// The finished runs of a point among its first `n` seeds.
    pub(super) fn records(&self, point: &PlannedPoint, n: u64) -> Vec<&RunRecord> {
        (0..n).filter_map(|i| self.record(point, i)).collect()
    }

    /// Status of each point, and the number of its first seeds that count.
    pub(super) fn standings(&self) -> Vec<(Standing, u64)> {
        let groups = self.groups();
        self.plan.points.iter().map(|p| (groups[p.group].standing, groups[p.group].runs)).collect()
    }

    /// The groups of points that stop together, with the present look of each.
    fn groups(&self) -> Vec<Group<'_>> {
        let mut groups: Vec<Vec<&PlannedPoint>> = Vec::new();
        for point in &self.plan.points {
            if groups.len() <= point.group {
                groups.resize(point.group + 1, Vec::new());
            }
            groups[point.group].push(point);
        }
        groups.into_iter().map(|points| self.looked_at(points)).collect()
    }

    /// A group at its first interim analysis at which a run is missing or all goals are met.
    fn looked_at<'a>(&self, points: Vec<&'a PlannedPoint>) -> Group<'a> {
        let is_missing = |p: &&PlannedPoint, n| (0..n).any(|i| self.record(p, i).is_none());
        let rule = points[0].rule;
        for runs in rule.looks() {
            let standing = if points.iter().any(|p| is_missing(p, runs)) {
                Standing::Unfinished
            } else if self.plan.goals.is_empty() {
                Standing::Complete
            } else if points.iter().all(|p| self.is_narrow(p, runs)) {
                Standing::Narrow
            } else {
                continue;
            };
            return Group { points, standing, runs };
        }
        Group { points, standing: Standing::AtMost, runs: rule.max }
    }

    /// True if every goal is met at a point with the first `n` seeds.
    fn is_narrow(&self, point: &PlannedPoint, n: u64) -> bool {
        self.plan.goals.iter().all(|goal| {
            let records = self.records(point, n);
            let values: Option<Vec<f64>> = records.iter().map(|r| goal.measure.of(r)).collect();
            values.is_some_and(|values| Rule::is_narrow(&values, goal.width))
        })
    }

    /// The missing runs for the next decision, or the `most` that all decisions may need, seed by seed. If a sweep is
    /// stopped early, every point then has some runs. A shard has a part of the runs if their number is fixed, and
    /// otherwise a part of the groups.
    fn missing(&self, most: bool) -> Vec<Task> {
        let is_fixed = self.plan.goals.is_empty();
        let [of_groups, of_runs] = [!is_fixed, is_fixed].map(|of| self.plan.shard.filter(|_| of));
        let mut groups = Shard::part(of_groups, self.groups());
        groups.retain(|group| is_fixed || group.standing == Standing::Unfinished);
        let runs = |group: &Group| if most { group.points[0].rule.max } else { group.runs };
        let last = groups.iter().map(runs).max().unwrap_or(0);
        let seeds = (0..last).flat_map(|i| groups.iter().map(move |group| (i, group)));
        let wanted = seeds.filter(|(i, group)| *i < runs(group));
        let wanted = wanted.flat_map(|(i, group)| group.points.iter().map(move |p| (i, *p)));
        let tasks = wanted.map(|(i, point)| self.plan.task(point, i)).collect();
        self.campaign.missing(Shard::part(of_runs, tasks))
    }

    /// The backends of the missing runs.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.missing(false).iter().map(|t| t.world).collect()
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
        let warm_up = self.plan.warm_up;
        let record = |task: &Task, ran: &Ran| recorded(task, ran, warm_up);
        let dir = self.campaign.batch().dir().to_path_buf();
        let mut made = 0;
        loop {
            let missing = self.missing(false);
            let tasks = (&missing[..], &mut made);
            let desk = Desk::new(&self.plan, &mut self.pace, &dir, tasks, runner.jobs());
            let desk = Mutex::new(desk);
            let more = self.campaign.round(missing, runner, record, |task, record, took| {
                let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
                let progress = desk.take(task, took);
                done(record, progress.as_ref());
            })?;
            if !more {
                break;
            }
        }
        self.pace.write(&dir)?;
        Ok(self.campaign.failed())
    }

    /// The counted runs, point by point.
    pub fn runs(&self) -> Vec<RunRecord> {
        self.counted().into_iter().flat_map(|(_, _, runs)| runs).cloned().collect()
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
        let (missing, most) = (self.missing(false), self.missing(true));
        let side = processors(&missing, jobs);
        let cost = |tasks: &[Task]| {
            self.pace.cost(tasks.iter().map(|t| (&*t.scenario_hash, 1))).map(|s| s / side as f64)
        };
        let wanted = |p: &PlannedPoint| self.records(p, p.rule.max).len() as u64;
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
