//! Executes runs with progress, for the verbs that have a list of runs.

use std::path::Path;

use windlass_lab::run::store::FAILURES;
use windlass_lab::run::{Failed, Filled, Folder, RunRecord, Runner, Task, World};
use windlass_lab::scenario::Scenario;
use windlass_lab::{Shard, outlook};

use crate::output::{Chatter, Failure, keeps};

/// A runner with every backend of this program. It executes `jobs` runs concurrently (0: one per processor).
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

/// Prints the differences of a backend for a scenario.
///
/// # Errors
///
/// The backend does not support the scenario, or is not available here.
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

/// Tells that only `run --out` keeps some of the data that the scenario records.
pub fn tell_unkept(scenario: &Scenario, chatter: &Chatter) {
    if let Some(sentence) = outlook::unkept(&scenario.record) {
        chatter.say(format!("note: {sentence}"));
    }
}

/// The stored runs, and the error of the command if some runs gave no result, or if their tables could not be written.
/// The stored runs are shown first.
pub type Made = (Vec<RunRecord>, Result<(), Failure>);

/// The error with exit code 1 if runs gave no result. The command shows the stored runs first.
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

/// The line of `--verbose` for a finished run.
pub fn line(r: &RunRecord) -> String {
    format!("{} {} seed {}", r.experiment, r.point, r.seed)
}

/// Executes runs and reports them.
pub struct Making<'a> {
    /// Noun for the runs on the progress bar.
    pub noun: &'a str,
    /// The runner.
    pub runner: &'a Runner,
    /// The line of `--verbose` for a finished run.
    pub line: fn(&RunRecord) -> String,
    /// Output of the progress.
    pub chatter: &'a Chatter,
}

impl Making<'_> {
    /// Executes the runs, or a shard's part of them, and stores them in a folder; without a folder only their totals are
    /// kept. `command` repeats them. A shard writes no tables.
    pub fn make(
        &self,
        dir: Option<&Path>,
        tasks: Vec<Task>,
        shard: Option<Shard>,
        command: &str,
    ) -> Result<Made, Failure> {
        keeps(dir);
        let Some(dir) = dir else {
            let made = self.shown((0, tasks.len()), |made| self.runner.in_memory(&tasks, made));
            let (memory, failed) = made.map_err(Failure::of)?;
            return Ok((memory.into_records(), outcome(&failed, None)));
        };
        let folder = Folder::open(dir, tasks, shard, command, self.runner);
        let mut folder = folder.map_err(Failure::work)?;
        for notice in &folder.notices {
            self.chatter.say(format!("note: {notice}"));
        }
        let (finished, total) = (folder.finished(), folder.total());
        if finished > 0 {
            self.chatter.say(format!("{finished} of {total} runs are there already"));
        }
        let filled = self.shown((finished, total), |made| folder.fill(self.runner, made));
        let Filled { records, failed, tables } = filled.map_err(Failure::of)?;
        let outcome = outcome(&failed, Some(folder.campaign().batch().own_dir()));
        Ok((records, outcome.and(tables.map_err(Failure::work))))
    }

    /// Does work with progress, of which `finished` runs of `total` are stored. The work calls the function that it
    /// receives for each finished run.
    pub fn shown<T>(
        &self,
        (finished, total): (usize, usize),
        work: impl FnOnce(&(dyn Fn(&RunRecord) + Sync)) -> T,
    ) -> T {
        let progress = self.chatter.progress(finished, total, self.noun);
        let done = work(&|record| progress.made((self.line)(record)));
        progress.end();
        done
    }
}
