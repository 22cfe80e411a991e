//! Making runs with progress, for the verbs that have a list of them.

use std::path::Path;

use windlass_lab::run::keep::{Filled, Folder};
use windlass_lab::run::store::{FAILURES, Memory};
use windlass_lab::run::{Failed, RunRecord, Runner, Task, World};
use windlass_lab::scenario::Scenario;

use crate::output::{Chatter, Failure, keeps};

/// A runner with every back end that this program has; `jobs` runs side by side (0: one for each
/// processor).
pub fn runner(jobs: usize) -> Runner {
    let runner = Runner::new(jobs);
    #[cfg(all(feature = "linux", target_os = "linux"))]
    let runner = {
        use windlass_testbed::{Linux, LinuxVt, Ns3, vm::Series};
        Series::ALL
            .into_iter()
            .fold(runner.with(Linux).with(Ns3), |r, series| r.with(LinuxVt(series)))
    };
    runner
}

/// Says what a world does in its own way with a scenario.
///
/// # Errors
///
/// It does not take the scenario, or cannot be had here.
pub fn ready(
    runner: &Runner,
    world: World,
    scenario: &Scenario,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let backend = runner.backend(world).map_err(Failure::of)?;
    for line in backend.differences(scenario).map_err(Failure::of)? {
        chatter.say(format!("note: {line}"));
    }
    backend.check().map_err(Failure::of)
}

/// The runs that there are, and the command's end where some gave no result, or there was no room for their tables. What there
/// is is shown first.
pub type Made = (Vec<RunRecord>, Result<(), Failure>);

/// Runs that gave no result end a command with exit code 1, after it has shown what there is.
pub fn outcome(failed: &[Failed], dir: Option<&Path>) -> Result<(), Failure> {
    let Some(first) = failed.first() else { return Ok(()) };
    let mut text = match failed.len() {
        1 => format!("a run gave no result: {first}"),
        n => format!("{n} runs gave no result; the first: {first}"),
    };
    if let Some(dir) = dir {
        let path = dir.join(FAILURES);
        text.push_str(&format!(
            "\nhelp: {} lists them; the same command tries again",
            path.display()
        ));
    }
    Err(Failure::work(text))
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
    pub fn keep(&self, dir: &Path, tasks: Vec<Task>, command: &str) -> Result<Made, Failure> {
        let total = tasks.len();
        keeps(Some(dir));
        let mut folder = Folder::open(dir, tasks, self.runner).map_err(Failure::work)?;
        for notice in &folder.notices {
            self.chatter.say(format!("note: {notice}"));
        }
        let finished = folder.finished();
        if finished > 0 {
            self.chatter.say(format!("{finished} of {total} runs are there already"));
        }
        let progress = self.chatter.progress(finished, total, self.noun);
        let filled = folder.fill(self.runner, command, |r| progress.made((self.line)(r)));
        progress.end();
        let Filled { records, failed, tables } = filled.map_err(Failure::of)?;
        let outcome = outcome(&failed, Some(folder.own_dir()));
        Ok((records, outcome.and(tables.map_err(Failure::work))))
    }

    /// Makes the runs and keeps only their totals, by experiment, point and seed.
    pub fn make(&self, tasks: &[Task]) -> Result<Made, Failure> {
        keeps(None);
        let progress = self.chatter.progress(0, tasks.len(), self.noun);
        let mut store = Memory::default();
        let failed = self.runner.fill(
            tasks,
            &mut store,
            |task, ran| Ok(task.record(ran)),
            |_, r, _| progress.made((self.line)(r)),
        );
        progress.end();
        Ok((store.into_records(), outcome(&failed.map_err(Failure::of)?, None)))
    }
}
