//! A results folder: a batch of runs with their recordings and tables.

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

/// An open results folder with the runs that it should hold. Runs that it already holds are not repeated.
pub struct Folder {
    batch: Batch,
    tasks: Vec<Task>,
    /// True if other processes make other runs of the same folder.
    shared: bool,
    /// Notices for the user, such as an incomplete line that was removed, or runs of another version.
    pub notices: Vec<Notice>,
}

impl Folder {
    /// Opens the folder for the runs of `tasks`, which `runner` executes. Tasks at the same point share a scenario. The
    /// scenarios are stored there. Other forms of a scenario that were run at this point are kept.
    ///
    /// # Errors
    ///
    /// The folder cannot be created or written.
    pub fn open(dir: &Path, tasks: Vec<Task>, runner: &Runner) -> Result<Folder, StoreError> {
        Folder::with(Batch::open(dir)?, tasks, runner)
    }

    /// Opens the folder together with other processes, to make only `part` of the runs of `tasks`. It writes no tables.
    ///
    /// # Errors
    ///
    /// As [`Folder::open`].
    pub fn share(
        dir: &Path,
        tasks: Vec<Task>,
        part: impl Fn(usize) -> bool,
        runner: &Runner,
    ) -> Result<Folder, StoreError> {
        let mut place = 0..;
        let part = tasks.into_iter().filter(|_| place.next().is_some_and(&part)).collect();
        Ok(Folder { shared: true, ..Folder::with(Batch::share(dir)?, part, runner)? })
    }

    fn with(
        (mut batch, mut notices): (Batch, Vec<Notice>),
        tasks: Vec<Task>,
        runner: &Runner,
    ) -> Result<Folder, StoreError> {
        batch.count_only(|world| runner.release(world));
        let wanted: Vec<RunKey> = tasks.iter().map(Task::key).collect();
        notices.extend(batch.stale(&wanted));
        let folder = Folder { batch, tasks, shared: false, notices };
        let mut kept = BTreeSet::new();
        for task in &folder.tasks {
            if kept.insert((&task.experiment, &task.point)) {
                let form = task.form();
                folder.batch.write_scenario(task.place(&form), &task.scenario.resolved_toml())?;
            }
        }
        Ok(folder)
    }

    /// Number of runs.
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// True if the folder is for no run.
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Number of runs that are already stored.
    pub fn finished(&self) -> usize {
        self.tasks.iter().filter(|t| self.is_complete(t)).count()
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        self.batch.dir()
    }

    /// The folder that records the failures of this call.
    pub fn own_dir(&self) -> &Path {
        self.batch.own_dir()
    }

    /// The backends of the runs that are still missing.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.tasks.iter().filter(|t| !self.is_complete(t)).map(|t| t.world).collect()
    }

    /// Limits the folder to these runs, which must be some of the runs that it was opened for.
    pub fn restrict(&mut self, tasks: Vec<Task>) {
        self.tasks = tasks;
    }

    /// True if the run is stored, with its recordings.
    pub fn has(&self, task: &Task) -> bool {
        self.is_complete(task)
    }

    /// The result of the run, if it is stored.
    pub fn record(&self, task: &Task) -> Option<&RunRecord> {
        self.batch.get(&task.key())
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
        let path = self.batch.series_path(task.place(&form), task.seed);
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
        if self.shared {
            return Ok(Filled { records, failed, tables: Ok(()) });
        }
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

/// A store that also keeps recordings. It writes them before the record, so that each run in the journal has its
/// recordings.
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

/// The properties of the flow with this index for a capture.
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
