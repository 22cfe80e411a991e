//! What a sweep tells while it works, and how it learns what runs take.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pace::Pace;
use super::plan::Plan;
use crate::run::Task;

/// How often the pace is kept, so that an interrupted sweep still knows it.
const KEEP_PACE: Duration = Duration::from_secs(10);
/// How often progress is told.
const TELL_PROGRESS: Duration = Duration::from_millis(100);

/// What is known when a run is finished.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Runs that this call has made.
    pub made: u64,
    /// Runs that are missing for the next decision of every point, this one not counted.
    pub missing: u64,
    /// Seconds that these will take; a sweep that stops by itself may decide to make more.
    pub left_s: f64,
    /// The point whose runs take longest, and how many seconds one takes.
    pub slowest: Option<(String, f64)>,
}

/// The point whose runs take longest, and how many seconds one takes.
pub(super) fn slowest(plan: &Plan, pace: &Pace) -> Option<(String, f64)> {
    let known = plan.points.iter().filter_map(|p| Some((p, pace.of(&p.hash)?)));
    let slowest = known.max_by(|(_, a), (_, b)| a.total_cmp(b));
    slowest.map(|(p, seconds)| (p.point.id.clone(), seconds))
}

/// Where finished runs are reported, one at a time.
pub(super) struct Desk<'a> {
    plan: &'a Plan,
    pace: &'a mut Pace,
    dir: PathBuf,
    tally: Tally,
    made: &'a mut u64,
    /// Runs side by side.
    side: usize,
    /// When the pace was last kept.
    kept: Instant,
    /// When progress was last told.
    told: Option<Instant>,
}

impl<'a> Desk<'a> {
    /// Of these tasks, `side` of which go side by side, in a sweep's folder; `made` counts on.
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
            // An estimate is not worth a failure; at the end it is kept or told of.
            let _ = self.pace.write(&self.dir);
            self.kept = Instant::now();
        }
        *self.made += 1;
        self.tally.made(&task.scenario_hash);
        // To look for the slowest of many points after each of many runs would itself take long.
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

/// Runs that a round has still to make, by the hash of their scenario.
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
