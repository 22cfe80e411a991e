//! Making runs with progress, for the verbs that have a list of them.

use std::path::Path;
use std::sync::{Mutex, PoisonError};

use indicatif::ProgressBar;
use windlass_lab::run::RunRecord;
use windlass_lab::run::keep::Folder;
use windlass_lab::run::{RunError, Runner, Task};

use crate::output::{Chatter, Failure};

/// A runner with every back end that this program has; `jobs` runs side by side (0: one for each
/// processor).
pub fn runner(jobs: usize) -> Runner {
    let runner = Runner::new(jobs);
    #[cfg(all(feature = "linux", target_os = "linux"))]
    let runner = {
        use windlass_testbed::{Linux, LinuxVt, vm::Series};
        Series::ALL.into_iter().fold(runner.with(Linux), |r, series| r.with(LinuxVt(series)))
    };
    runner
}

/// How runs are made and told of.
pub struct Making<'a> {
    /// What the progress bar calls them.
    pub noun: &'static str,
    /// What makes them.
    pub runner: &'a Runner,
    /// What `--verbose` says of a finished run.
    pub line: fn(&RunRecord) -> String,
    /// Where progress goes.
    pub chatter: &'a Chatter,
}

impl Making<'_> {
    /// Makes the runs and keeps them in a folder; `command` makes them again.
    pub fn keep(
        &self,
        dir: &Path,
        tasks: Vec<Task>,
        command: &str,
    ) -> Result<Vec<RunRecord>, Failure> {
        let total = tasks.len();
        let mut folder = Folder::open(dir, tasks).map_err(Failure::work)?;
        for notice in &folder.notices {
            self.chatter.say(format!("note: {notice}"));
        }
        let finished = folder.finished();
        if finished > 0 {
            self.chatter.say(format!("{finished} of {total} runs are there already"));
        }
        let bar = self.chatter.bar((total - finished) as u64, self.noun);
        let records = folder.fill(self.runner, command, |record| self.tell(record, &bar));
        bar.finish_and_clear();
        records.map_err(Failure::of_keeping)
    }

    /// Makes the runs and keeps only their totals, in the order in which they end.
    pub fn make(&self, tasks: &[Task]) -> Result<Vec<RunRecord>, Failure> {
        let bar = self.chatter.bar(tasks.len() as u64, self.noun);
        let records = Mutex::new(Vec::new());
        let outcome = self.runner.execute(tasks, |record| {
            self.tell(&record, &bar);
            records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
            Ok::<(), RunError>(())
        });
        bar.finish_and_clear();
        outcome.map_err(Failure::of_run)?;
        Ok(records.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, record: &RunRecord, bar: &ProgressBar) {
        bar.inc(1);
        self.chatter.detail((self.line)(record));
    }
}
