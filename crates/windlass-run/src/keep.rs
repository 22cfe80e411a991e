//! A results folder: a batch with runs, their recordings and their tables.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

use windlass_sim::Series;
use windlass_sim::addresses::FlowAddresses;

use crate::RunRecord;
use crate::capture::{CaptureOptions, CapturedFlow, write_pcapng};
use crate::store::export::export_records;
use crate::store::read;
use crate::store::{Batch, Format, Invocation, Notice, Provenance, RunKey, SeriesRun, StoreError};
use crate::{Ran, World};
use crate::{RunError, Runner, Task};
use windlass_scenario::compile::senders;
use windlass_scenario::{FlowSpec, Scenario, Traffic};

/// Why results could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The folder or a file in it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// An open results folder and the runs that it is to hold. What it has already is not made again.
pub struct Folder {
    batch: Batch,
    tasks: Vec<Task>,
    /// What the user should know: a half line that was cut off, runs of another version.
    pub notices: Vec<Notice>,
}

impl Folder {
    /// Opens the folder for the runs of `tasks`, of which those at the same point share a scenario,
    /// and keeps the scenarios there. Recordings that another form of a scenario left are removed.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or written, or another instance works on it.
    pub fn open(dir: &Path, tasks: Vec<Task>) -> Result<Folder, StoreError> {
        let (batch, mut notices) = Batch::open(dir)?;
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&wanted));
        let folder = Folder { batch, tasks, notices };
        let mut kept = BTreeSet::new();
        for task in &folder.tasks {
            if kept.insert((&task.experiment, &task.point)) {
                folder.keep_scenario(task)?;
            }
        }
        Ok(folder)
    }

    fn keep_scenario(&self, task: &Task) -> Result<(), StoreError> {
        let Task { experiment, point, scenario, scenario_hash, world, .. } = task;
        let kept = Scenario::from_file(self.batch.scenario_path(experiment, point)).ok();
        let same = |k: Scenario| k.record == scenario.record && world.hash(&k) == **scenario_hash;
        if !kept.is_some_and(same) {
            self.batch.forget_recordings(experiment, point)?;
        }
        self.batch.write_scenario(experiment, point, &scenario.resolved_toml())?;
        Ok(())
    }

    /// Runs that are there already.
    pub fn finished(&self) -> usize {
        self.tasks.iter().filter(|t| self.is_complete(t)).count()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        self.batch.dir()
    }

    /// The worlds that runs are still to be made in.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.tasks.iter().filter(|t| !self.is_complete(t)).map(|t| t.world).collect()
    }

    /// Goes on with these runs alone, which are some of those that it was opened for.
    pub fn restrict(&mut self, tasks: Vec<Task>) {
        self.tasks = tasks;
    }

    /// Whether the run is there, with its recordings.
    pub fn has(&self, task: &Task) -> bool {
        self.is_complete(task)
    }

    /// What the run yielded, if it is there.
    pub fn record(&self, task: &Task) -> Option<&RunRecord> {
        self.batch.get(&task.key())
    }

    /// One recorded series of a run that is there: seconds and values of the flow with this index.
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
        let path = self.batch.series_path(&task.experiment, &task.point, task.seed);
        let flow = task.scenario.flows.get(flow).map_or("", |f| &f.name);
        read::series(&path, flow, &series.name())
    }

    /// Makes the runs that are missing, telling `made` of each, and writes
    /// the tables of all. A run that is finished has its series and packets, where its scenario
    /// records them, beside it.
    ///
    /// # Errors
    ///
    /// A run fails or a file cannot be written. What is finished stays.
    pub fn fill(
        &mut self,
        runner: &Runner,
        command: &str,
        made: impl Fn(&RunRecord) + Sync,
    ) -> Result<Vec<RunRecord>, KeepError> {
        let missing: Vec<Task> =
            self.tasks.iter().filter(|t| !self.is_complete(t)).cloned().collect();
        if !missing.is_empty() {
            let seeds = missing.iter().map(|t| t.seed).collect();
            let invocation = Invocation::now(crate::VERSION, vec![command.to_string()], seeds);
            self.batch.add_invocation(&invocation)?;
        }
        let batch = RwLock::new(&mut self.batch);
        runner.side_by_side(&missing, |task| {
            made(&make(&batch, runner, task, command)?);
            Ok::<(), KeepError>(())
        })?;
        let records: Vec<RunRecord> =
            self.tasks.iter().filter_map(|t| self.batch.get(&t.key()).cloned()).collect();
        export_records(self.batch.dir(), &records, command, &[Format::Parquet])?;
        Ok(records)
    }

    fn is_complete(&self, task: &Task) -> bool {
        let (experiment, point) = (&task.experiment, &task.point);
        let record = &task.scenario.record;
        let series = self.batch.series_path(experiment, point, task.seed);
        let capture = self.batch.capture_path(experiment, point, task.seed);
        self.batch.has(&task.key())
            && (record.series.is_empty() || series.is_file())
            && (record.capture.is_empty() || capture.is_file())
    }
}

/// Makes one run and keeps it: recordings first, so that a run in the journal has them.
fn make(
    batch: &RwLock<&mut Batch>,
    runner: &Runner,
    task: &Task,
    command: &str,
) -> Result<RunRecord, KeepError> {
    let ran = runner.run(task)?;
    {
        // Recordings of several runs are written side by side; only the journal takes turns.
        let batch = batch.read().unwrap_or_else(PoisonError::into_inner);
        keep_recordings(&batch, task, &ran, command)?;
    }
    let record = task.record(&ran);
    let mut batch = batch.write().unwrap_or_else(PoisonError::into_inner);
    // It is there already when only a recording was missing.
    if !batch.has(&task.key()) {
        batch.append(&record)?;
    }
    Ok(record)
}

/// What a capture is told of the flow with this index.
fn captured(index: u32, from: usize, flow: &FlowSpec) -> CapturedFlow {
    let addresses = FlowAddresses::new(index, from as u32, flow.to as u32);
    let asks = matches!(flow.traffic, Traffic::RequestResponse { .. });
    CapturedFlow {
        addresses: if asks { addresses.opened_by_to() } else { addresses },
        checksums: flow.multipath.as_ref().is_some_and(|m| m.config.checksum),
    }
}

fn keep_recordings(batch: &Batch, task: &Task, ran: &Ran, command: &str) -> Result<(), StoreError> {
    let result = &ran.result;
    let scenario = &task.scenario;
    if !scenario.record.series.is_empty() {
        let flows = scenario.tracks();
        let run = SeriesRun {
            experiment: &task.experiment,
            point: &task.point,
            seed: task.seed,
            flows: &flows,
            samples: &result.samples,
        };
        batch.write_series(run, &Provenance::of(&[task.record(ran)], command))?;
    }
    if !scenario.record.capture.is_empty() {
        let flows: Vec<CapturedFlow> = (0u32..)
            .zip(&scenario.flows)
            .zip(senders(scenario, task.seed))
            .map(|((i, f), from)| captured(i, from, f))
            .collect();
        let links: Vec<&str> = result.links.iter().map(|l| l.name.as_str()).collect();
        let options = CaptureOptions::default();
        batch.write_capture((&task.experiment, &task.point, task.seed), |out| {
            write_pcapng(out, &links, &flows, &result.packets, options).map(|_| ())
        })?;
    }
    Ok(())
}
