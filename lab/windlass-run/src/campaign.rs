//! Campaigns: the runs of a verb, made in rounds until nothing is missing.
//!
//! Every verb that stores runs in a folder makes them here:
//!
//! 1. The verb names the runs that its next decision needs.
//! 2. [`Campaign::round`] leaves out each run that is stored or has failed in this call. It writes the call and the
//!    scenarios into the folder, and executes the other runs. Each finished run is stored at once, so that a kill loses
//!    only the active runs.
//! 3. The verb looks at the stored runs (interim analysis), and names the runs of the points that are not decided. The
//!    campaign ends if no run is missing.
//!
//! The next runs depend only on the stored runs. Therefore a resumed campaign, a campaign on another number of
//! processors and a campaign in [shards](Shard) make the same runs.
//!
//! | verb | points | looks: runs per point | a point is decided if |
//! | --- | --- | --- | --- |
//! | run, compare, choose, crosscheck | all of a [`Folder`] | one: all runs | it has its runs |
//! | sweep | groups that differ only in congestion control | `Rule::looks` of `windlass-stats` | its intervals are narrow |
//! | reproduce, assess | all of a plan | `LOOKS` of `reproduce/budget.rs` | every claim that reads it is decided |
//! | reproduce `--interpretations` | all that the claims of an interpretation read | `LOOKS` from the second on | every claim that reads it is decided |
//!
//! A [`Runner`] with a flag stops a campaign between two runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use windlass_sim::Series;

use crate::store::export::export_records;
use crate::store::{Batch, Format, Invocation, Notice, RunKey, Store, StoreError, parquet_file};
use crate::{Error, Failed, Ran, RunError, RunRecord, Runner, Shard, Task, World, recordings};

/// A folder of runs in which a verb makes the missing ones.
pub struct Campaign {
    batch: Batch,
    /// The command that repeats the runs. Without it, the folder gets neither the call nor the scenarios.
    command: Option<String>,
    /// True if series and packets are stored with the runs.
    recordings: bool,
    /// Experiments and points whose scenarios this call has stored.
    scenarios: BTreeSet<(String, String)>,
    failed: Vec<Failed>,
    opened: Vec<Notice>,
}

impl Campaign {
    /// Opens the folder to make runs in it. With a shard, other processes may work on it at the same time.
    ///
    /// # Errors
    ///
    /// The folder cannot be created, read or written.
    pub fn open(dir: impl AsRef<Path>, shard: Option<Shard>) -> Result<Campaign, StoreError> {
        let opened = if shard.is_some() { Batch::share(dir) } else { Batch::open(dir) };
        opened.map(Campaign::of)
    }

    /// Opens the folder to read it, even if it is in use.
    ///
    /// # Errors
    ///
    /// A journal cannot be read.
    pub fn look(dir: impl AsRef<Path>) -> Result<Campaign, StoreError> {
        Batch::share(dir).map(Campaign::of)
    }

    fn of((batch, opened): (Batch, Vec<Notice>)) -> Campaign {
        let (recordings, scenarios, failed) = (false, BTreeSet::new(), Vec::new());
        Campaign { batch, command: None, recordings, scenarios, failed, opened }
    }

    /// With the command that repeats the runs. The folder then gets the calls and the scenarios of the points.
    pub fn called(self, command: &str) -> Campaign {
        Campaign { command: Some(command.to_owned()), ..self }
    }

    /// Counts runs on a kernel only if a backend of the runner uses this kernel now.
    pub fn on(mut self, runner: &Runner) -> Campaign {
        self.batch.count_only(|world| runner.release(world));
        self
    }

    /// The stored runs.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }

    /// The command that repeats the runs.
    pub fn command(&self) -> &str {
        self.command.as_deref().unwrap_or_default()
    }

    /// The runs that gave no result in this call.
    pub fn failed(&self) -> &[Failed] {
        &self.failed
    }

    /// Notices for the user: an incomplete line that was removed, or runs in place of these that belong to another
    /// version or scenario.
    pub fn notices(&self, tasks: &[Task]) -> Vec<Notice> {
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        [self.opened.clone(), self.batch.stale(&wanted)].concat()
    }

    /// True if the run is stored, with its recordings.
    pub fn has(&self, task: &Task) -> bool {
        self.batch.has(&task.key()) && (!self.recordings || recordings::are_kept(&self.batch, task))
    }

    /// The result of the run, if it is stored.
    pub fn record(&self, task: &Task) -> Option<&RunRecord> {
        self.batch.get(&task.key())
    }

    /// The results of the stored runs among these, in their order.
    pub fn records(&self, tasks: &[Task]) -> Vec<RunRecord> {
        tasks.iter().filter_map(|task| self.record(task).cloned()).collect()
    }

    /// Number of these runs that are stored.
    pub fn finished(&self, tasks: &[Task]) -> usize {
        tasks.iter().filter(|task| self.has(task)).count()
    }

    /// The runs among these that are neither stored nor have failed in this call.
    pub fn missing(&self, mut tasks: Vec<Task>) -> Vec<Task> {
        let failed: BTreeSet<RunKey> = self.failed.iter().map(Failed::key).collect();
        tasks.retain(|task| !self.has(task) && !failed.contains(&task.key()));
        tasks
    }

    /// Makes the missing runs among these, and stores what `record` returns for each. Calls `done` with each stored
    /// run and its duration. A failed run does not stop the others. Returns false if no run is missing.
    ///
    /// # Errors
    ///
    /// A backend does not support a scenario, or a run cannot be stored. Finished runs stay.
    pub fn round(
        &mut self,
        tasks: Vec<Task>,
        runner: &Runner,
        record: impl Fn(&Task, &Ran) -> Result<RunRecord, RunError> + Sync,
        done: impl Fn(&Task, &RunRecord, Duration) + Sync,
    ) -> Result<bool, Error> {
        self.store_scenarios(&tasks)?;
        let missing = self.missing(tasks);
        if let (Some(command), false) = (&self.command, missing.is_empty()) {
            let seeds: BTreeSet<u64> = missing.iter().map(|task| task.seed).collect();
            let seeds = seeds.into_iter().collect();
            let call = Invocation::now(crate::VERSION, command.clone(), seeds);
            self.batch.add_invocation(&call)?;
        }
        runner.fill(&missing, self, record, done)?;
        Ok(!missing.is_empty())
    }

    fn store_scenarios(&mut self, tasks: &[Task]) -> Result<(), StoreError> {
        for task in tasks.iter().filter(|_| self.command.is_some()) {
            if self.scenarios.insert((task.experiment.clone(), task.point.clone())) {
                let form = task.form();
                self.batch.write_scenario(task.place(&form), &task.scenario.resolved_toml())?;
            }
        }
        Ok(())
    }
}

impl Store for Campaign {
    fn get(&self, key: &RunKey) -> Option<&RunRecord> {
        self.batch.get(key)
    }

    fn record(&self, task: &Task, ran: &Ran) -> Result<(), StoreError> {
        if !self.recordings {
            return Ok(());
        }
        recordings::keep(&self.batch, task, ran, self.command())
    }

    fn append(&mut self, record: RunRecord) -> Result<(), StoreError> {
        self.batch.append(record)
    }

    /// Records the failures of all rounds.
    fn finish(&mut self, failed: &[Failed]) -> Result<(), StoreError> {
        self.failed.extend_from_slice(failed);
        self.batch.finish(&self.failed)
    }
}

/// A campaign of a single look: a list of runs, with their recordings and tables.
pub struct Folder {
    campaign: Campaign,
    tasks: Vec<Task>,
    /// True if other processes make other runs of the same folder.
    shared: bool,
    /// Notices for the user, such as an incomplete line that was removed, or runs of another version.
    pub notices: Vec<Notice>,
}

impl Folder {
    /// Opens the folder for the runs of `tasks`, or for a shard of them, which `runner` executes. `command` repeats
    /// them. Tasks at the same point share a scenario. A shard writes no tables.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or written.
    pub fn open(
        dir: &Path,
        tasks: Vec<Task>,
        shard: Option<Shard>,
        command: &str,
        runner: &Runner,
    ) -> Result<Folder, StoreError> {
        let campaign = Campaign::open(dir, shard)?.called(command).on(runner);
        let campaign = Campaign { recordings: true, ..campaign };
        let tasks = Shard::part(shard, tasks);
        let notices = campaign.notices(&tasks);
        Ok(Folder { campaign, tasks, shared: shard.is_some(), notices })
    }

    /// The stored runs.
    pub fn campaign(&self) -> &Campaign {
        &self.campaign
    }

    /// Number of runs.
    pub fn total(&self) -> usize {
        self.tasks.len()
    }

    /// Number of runs that are already stored.
    pub fn finished(&self) -> usize {
        self.campaign.finished(&self.tasks)
    }

    /// The backends of the runs that are still missing.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.campaign.missing(self.tasks.clone()).iter().map(|task| task.world).collect()
    }

    /// Limits the folder to these runs, which must be some of the runs that it was opened for.
    pub fn restrict(&mut self, tasks: Vec<Task>) {
        self.tasks = tasks;
    }

    /// One recorded series of a stored run: seconds and values of the flow with this index.
    ///
    /// # Errors
    ///
    /// The series was not recorded, or cannot be read.
    pub fn series(
        &self,
        task: &Task,
        flow: usize,
        series: Series,
    ) -> Result<Vec<(f64, u64)>, StoreError> {
        let form = task.form();
        let path = self.campaign.batch.series_path(task.place(&form), task.seed);
        let flow = task.scenario.flows.get(flow).map_or("", |f| &f.name);
        parquet_file::series(&path, flow, &series.name())
    }

    /// Executes the missing runs, calls `made` for each, and writes the tables of all runs. The series and packets of a
    /// finished run are stored with it, if its scenario records them. A failed run is recorded in `failures.jsonl`, and
    /// the other runs continue.
    ///
    /// # Errors
    ///
    /// A backend does not support a scenario, or a run cannot be stored. Finished runs stay.
    pub fn fill(
        &mut self,
        runner: &Runner,
        made: impl Fn(&RunRecord) + Sync,
    ) -> Result<Filled, Error> {
        let record = |task: &Task, ran: &Ran| Ok(task.record(ran));
        self.campaign.round(self.tasks.clone(), runner, record, |_, record, _| made(record))?;
        let Campaign { batch, failed, .. } = &self.campaign;
        let records = self.campaign.records(&self.tasks);
        let write = || {
            let command = self.campaign.command();
            export_records(batch.dir(), &records, command, &[Format::Parquet]).map(|_| ())
        };
        let tables = if self.shared { Ok(()) } else { write() };
        Ok(Filled { records, failed: failed.clone(), tables })
    }
}

/// The results of the runs for which a folder was opened.
#[derive(Debug)]
pub struct Filled {
    /// Records of the stored runs, in the order of the tasks.
    pub records: Vec<RunRecord>,
    /// The runs that gave no result.
    pub failed: Vec<Failed>,
    /// The result of writing the tables of the stored runs.
    pub tables: Result<(), StoreError>,
}
