//! Progress reports of a sweep, and the measurement of its runs' durations.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pace::Pace;
use super::plan::Plan;
use crate::run::Task;

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
    dir: PathBuf,
    tally: Tally,
    made: &'a mut u64,
    /// Number of runs at the same time.
    side: usize,
    /// Time at which the durations were last written.
    kept: Instant,
    /// Time of the last progress report.
    told: Option<Instant>,
}

impl<'a> Desk<'a> {
    /// For these tasks, of which `side` run at the same time, in a sweep's folder; `made` is increased by each run.
    pub fn new(
        plan: &'a Plan,
        pace: &'a mut Pace,
        dir: &Path,
        (tasks, made): (&[Task], &'a mut u64),
        side: usize,
    ) -> Desk<'a> {
        let (tally, dir) = (Tally::of(tasks), dir.to_path_buf());
        Desk { plan, pace, dir, tally, made, side, kept: Instant::now(), told: None }
    }

    pub fn take(&mut self, task: &Task, took: Duration) -> Option<Progress> {
        self.pace.took(&task.scenario_hash, took);
        if self.kept.elapsed() > KEEP_PACE {
            // A failure is ignored here, because the file only serves estimates. The write at the end reports a
            // failure.
            let _ = self.pace.write(&self.dir);
            self.kept = Instant::now();
        }
        *self.made += 1;
        self.tally.made(&task.scenario_hash);
        // A search for the slowest point after each run would itself take long if there are many points.
        if self.told.is_some_and(|told| told.elapsed() < TELL_PROGRESS) {
            return None;
        }
        self.told = Some(Instant::now());
        let left = self.pace.cost(self.tally.0.iter().map(|(h, n)| (&**h, *n)));
        Some(Progress {
            made: *self.made,
            missing: self.tally.0.values().sum(),
            left_s: left.unwrap_or(0.0) / self.side as f64,
            slowest: slowest(self.plan, self.pace),
        })
    }
}

/// Number of runs that a round still has to make, by the hash of their scenario.
struct Tally(BTreeMap<Arc<str>, u64>);

impl Tally {
    fn of(tasks: &[Task]) -> Tally {
        let mut tally = Tally(BTreeMap::new());
        for task in tasks {
            *tally.0.entry(task.scenario_hash.clone()).or_default() += 1;
        }
        tally
    }

    fn made(&mut self, hash: &str) {
        if let Some(n) = self.0.get_mut(hash) {
            *n -= 1;
        }
    }
}
