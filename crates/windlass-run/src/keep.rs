//! A results folder: a batch with runs, their recordings and their tables.

use std::collections::BTreeSet;
use std::path::Path;

use windlass_sim::Series;
use windlass_sim::addresses::FlowAddresses;

use crate::capture::{CaptureOptions, CapturedFlow, write_pcapng};
use crate::store::export::export_records;
use crate::store::parquet_file;
use crate::store::{
    Batch, Format, Invocation, Notice, Provenance, RunKey, SeriesRun, Store, StoreError,
};
use crate::{Error, Failed, Ran, RunRecord, Runner, Task, World};
use windlass_scenario::compile::senders;
use windlass_scenario::{FlowSpec, Traffic};

/// An open results folder and the runs that it is to hold. What it has already is not made again.
pub struct Folder {
    batch: Batch,
    tasks: Vec<Task>,
    /// What the user should know: a half line that was cut off, runs of another version.
    pub notices: Vec<Notice>,
}

impl Folder {
    /// Opens the folder for the runs of `tasks`, which `runner` is to make, and of which those at the same point share a scenario,
    /// and keeps the scenarios there, beside those of other forms that were run at this point.
    ///
    /// # Errors
    ///
    /// The folder cannot be made or written.
    pub fn open(dir: &Path, tasks: Vec<Task>, runner: &Runner) -> Result<Folder, StoreError> {
        let (mut batch, mut notices) = Batch::open(dir)?;
        batch.count_only(|world| runner.release(world));
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&wanted));
        let folder = Folder { batch, tasks, notices };
        let mut kept = BTreeSet::new();
        for task in &folder.tasks {
            if kept.insert((&task.experiment, &task.point)) {
                let form = task.form();
                folder.batch.write_scenario(task.place(&form), &task.scenario.resolved_toml())?;
            }
        }
        Ok(folder)
    }

    /// Runs that are there already.
    pub fn finished(&self) -> usize {
        self.tasks.iter().filter(|t| self.is_complete(t)).count()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        self.batch.dir()
    }

    /// The folder that this call's failures are noted in.
    pub fn own_dir(&self) -> &Path {
        self.batch.own_dir()
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
        let form = task.form();
        let path = self.batch.series_path(task.place(&form), task.seed);
        let flow = task.scenario.flows.get(flow).map_or("", |f| &f.name);
        parquet_file::series(&path, flow, &series.name())
    }

    /// Makes the runs that are missing, telling `made` of each, and writes the tables of all. A run
    /// that is finished has its series and packets, where its scenario records them, beside it. One
    /// that fails is noted in `failures.jsonl`, and the others go on.
    ///
    /// # Errors
    ///
    /// A back end does not take a scenario, or a run cannot be kept. What is finished stays.
    pub fn fill(
        &mut self,
        runner: &Runner,
        command: &str,
        made: impl Fn(&RunRecord) + Sync,
    ) -> Result<Filled, Error> {
        let missing: Vec<Task> =
            self.tasks.iter().filter(|t| !self.is_complete(t)).cloned().collect();
        if !missing.is_empty() {
            let seeds = missing.iter().map(|t| t.seed).collect();
            let invocation = Invocation::now(crate::VERSION, command.to_owned(), seeds);
            self.batch.add_invocation(&invocation)?;
        }
        let mut store = Recording { batch: &mut self.batch, command };
        let failed = runner.fill(
            &missing,
            &mut store,
            |task, ran| Ok(task.record(ran)),
            |_, r, _| made(r),
        )?;
        let records: Vec<RunRecord> =
            self.tasks.iter().filter_map(|t| self.batch.get(&t.key()).cloned()).collect();
        let tables = export_records(self.batch.dir(), &records, command, &[Format::Parquet]);
        let tables = tables.map(|_| ());
        Ok(Filled { records, failed, tables })
    }

    fn is_complete(&self, task: &Task) -> bool {
        let (form, record) = (task.form(), &task.scenario.record);
        let series = self.batch.series_path(task.place(&form), task.seed);
        let capture = self.batch.capture_path(task.place(&form), task.seed);
        self.batch.has(&task.key())
            && (record.series.is_empty() || series.is_file())
            && (record.capture.is_empty() || capture.is_file())
    }
}

/// What came of the runs that a folder was opened for.
#[derive(Debug)]
pub struct Filled {
    /// Those that are there, in the order of the tasks.
    pub records: Vec<RunRecord>,
    /// Those that gave no result.
    pub failed: Vec<Failed>,
    /// Whether the tables of those that are there could be written.
    pub tables: Result<(), StoreError>,
}

/// A batch that keeps recordings too: first, so that a run in the journal has them.
struct Recording<'a> {
    batch: &'a mut Batch,
    command: &'a str,
}

impl Store for Recording<'_> {
    fn get(&self, key: &RunKey) -> Option<&RunRecord> {
        self.batch.get(key)
    }

    fn record(&self, task: &Task, ran: &Ran) -> Result<(), StoreError> {
        keep_recordings(self.batch, task, ran, self.command)
    }

    fn append(&mut self, record: RunRecord) -> Result<(), StoreError> {
        self.batch.append(record)
    }

    fn finish(&mut self, failed: &[Failed]) -> Result<(), StoreError> {
        self.batch.finish(failed)
    }
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
    let (scenario, form) = (&task.scenario, task.form());
    let place = task.place(&form);
    if !scenario.record.series.is_empty() {
        let flows = scenario.tracks();
        let run = SeriesRun { place, seed: task.seed, flows: &flows, samples: &result.samples };
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
        batch.write_capture(place, task.seed, |out| {
            write_pcapng(out, &links, &flows, &result.packets, options).map(|_| ())
        })?;
    }
    Ok(())
}
