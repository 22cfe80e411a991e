//! Progress reports of a sweep, and the measurement of its runs' durations.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::plan::Plan;
use crate::cost::Pace;
use crate::run::{Task, World};

/// Interval at which the durations are written, so that an interrupted sweep keeps them.
const KEEP_PACE: Duration = Duration::from_secs(10);
/// Minimum interval between progress reports.
const TELL_PROGRESS: Duration = Duration::from_millis(100);

/// Progress at the end of a run.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Runs that this call has made.
    pub made: u64,
    /// Runs that are missing for the next decision of every point, without this run.
    pub missing: u64,
    /// Estimated seconds for the missing runs. A sweep with goals may decide to make more.
    pub left_s: f64,
    /// The point with the longest runs, and the seconds per run.
    pub slowest: Option<(String, f64)>,
}

/// The point with the longest runs, and the seconds per run.
pub(super) fn slowest(plan: &Plan, pace: &Pace) -> Option<(String, f64)> {
    let known = plan.points.iter().filter_map(|p| Some((p, pace.of(&p.hash)?)));
    let slowest = known.max_by(|(_, a), (_, b)| a.total_cmp(b));
    slowest.map(|(p, seconds)| (p.point.id.clone(), seconds))
}

/// Receives finished runs, one at a time.
pub(super) struct Desk<'a> {
    plan: &'a Plan,
    pace: &'a mut Pace,
    dir: &'a Path,
    made: &'a mut u64,
    /// Number of runs that the round still has to make, by the hash of their scenario.
    left: BTreeMap<Arc<str>, u64>,
    /// Number of runs at the same time.
    side: usize,
    /// Time at which the durations were last written.
    kept: Instant,
    /// Time of the last progress report.
    told: Option<Instant>,
}

impl<'a> Desk<'a> {
    /// For the tasks of a round with this number of jobs, in a sweep's folder; `made` is increased by each run.
    pub fn new(
        plan: &'a Plan,
        pace: &'a mut Pace,
        dir: &'a Path,
        (tasks, made): (&[Task], &'a mut u64),
        jobs: usize,
    ) -> Desk<'a> {
        let mut left: BTreeMap<Arc<str>, u64> = BTreeMap::new();
        for task in tasks {
            *left.entry(task.scenario_hash.clone()).or_default() += 1;
        }
        let side = processors(tasks, jobs);
        Desk { plan, pace, dir, made, left, side, kept: Instant::now(), told: None }
    }

    pub fn take(&mut self, task: &Task, took: Duration) -> Option<Progress> {
        self.pace.took(&task.scenario_hash, took);
        if self.kept.elapsed() > KEEP_PACE {
            // A failure is ignored here, because the file only serves estimates. The write at the end reports a
            // failure.
            let _ = self.pace.write(self.dir);
            self.kept = Instant::now();
        }
        *self.made += 1;
        if let Some(left) = self.left.get_mut(&task.scenario_hash) {
            *left -= 1;
        }
        // A search for the slowest point after each run would itself take long if there are many points.
        if self.told.is_some_and(|told| told.elapsed() < TELL_PROGRESS) {
            return None;
        }
        self.told = Some(Instant::now());
        let left = self.pace.cost(self.left.iter().map(|(hash, n)| (&**hash, *n)));
        Some(Progress {
            made: *self.made,
            missing: self.left.values().sum(),
            left_s: left.unwrap_or(0.0) / self.side as f64,
            slowest: slowest(self.plan, self.pace),
        })
    }
}

/// Number of runs at the same time.
pub(super) fn processors(tasks: &[Task], jobs: usize) -> usize {
    let world = tasks.first().map_or(World::Sim, |t| t.world);
    let all = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = match world.jobs(jobs) {
        0 => all(),
        n => n,
    };
    jobs.min(tasks.len().max(1))
}
