//! Storage of finished runs: in memory, or in a folder that survives a kill.
//!
//! A [`Store`] has runs and accepts more. [`Memory`] exists only in the process. A [`Batch`] is a folder, and
//! appends one line per finished run to `journal.jsonl`. After [`Store::append`] has returned, the run survives
//! the end of the process. After [`Store::finish`] has returned, it survives a failure of the machine.
//!
//! Any number of processes may write into one folder, also on disks without locks. Each process except the first
//! has a separate part. [`table`] converts the runs to tables, which [`export`] writes as Parquet, CSV or JSON.
//!
//! | file | content |
//! | --- | --- |
//! | `journal.jsonl` | one finished run per line, with a checksum |
//! | `batch.lock` | nothing; the instance that writes to the journal holds a lock on it |
//! | `parts/ID` | journal, calls and failures of another instance at work, until they are moved up |
//! | `meta.json` | every invocation: version, command, seeds, date |
//! | `failures.jsonl` | the runs that gave no result in the last attempt, with the reason |
//! | `scenarios/EXPERIMENT/POINT@FORM.toml` | the resolved scenario of a point |
//! | `series/EXPERIMENT/POINT@FORM/SEED.parquet` | time series of a run, if its scenario records them |
//! | `captures/EXPERIMENT/POINT@FORM/SEED.pcapng` | packets of a run, if its scenario records them |
//! | `runs.*`, `summary.*`, `links.*` | the tables, one row per run, flow or link direction |
//!
//! FORM is eight digits of a hash of the scenario and of the data that it records, so that no setting changes the
//! files of another setting. Every file except the journal is written under another name and then renamed, so that
//! it is complete or missing. Only `meta.json` has dates, so the same runs give the same tables, byte for byte.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use windlass_sim::Sample;

use crate::backend::Ran;
pub use crate::key::{Place, RunKey};
use crate::record::RunRecord;
use crate::task::{Failed, Task};

mod axes;
pub mod batch;
pub mod error;
pub mod export;
mod files;
mod journal;
mod meta;
mod notice;
pub mod parquet_file;
mod parts;
pub mod table;

pub use axes::axes;
pub use batch::Batch;
pub use error::StoreError;
pub use export::{Format, Provenance};
pub use files::{file_name, replace};
pub use journal::JOURNAL;
pub use meta::{FAILURES, Invocation};
pub use notice::Notice;
pub use table::{Column, SeriesRun, Table, Values};

/// Storage of finished runs.
pub trait Store: Send + Sync {
    /// The record of this exact run.
    fn get(&self, key: &RunKey) -> Option<&RunRecord>;

    /// Stores the recordings of a run, before its record. Called for several runs at the same time.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn record(&self, task: &Task, ran: &Ran) -> Result<(), StoreError> {
        let _ = (task, ran);
        Ok(())
    }

    /// Stores a finished run.
    ///
    /// # Errors
    ///
    /// The run is stored already, has a result that is not finite, or cannot be written. The store is then
    /// unchanged.
    fn append(&mut self, record: RunRecord) -> Result<(), StoreError>;

    /// Waits until every stored run is safe on disk. Records the runs that gave no result in this call, in place
    /// of the failures of the previous call.
    ///
    /// # Errors
    ///
    /// The disk reports an error.
    fn finish(&mut self, failed: &[Failed]) -> Result<(), StoreError> {
        let _ = failed;
        Ok(())
    }
}

/// Runs in memory.
#[derive(Debug, Default)]
pub struct Memory {
    records: BTreeMap<RunKey, RunRecord>,
    samples: Mutex<BTreeMap<RunKey, Vec<Sample>>>,
}

impl Memory {
    /// The runs, by experiment, point and seed.
    pub fn into_records(self) -> Vec<RunRecord> {
        self.into_parts().0
    }

    /// The runs, by experiment, point and seed, and the time series of runs whose scenarios record series.
    pub fn into_parts(self) -> (Vec<RunRecord>, BTreeMap<RunKey, Vec<Sample>>) {
        let samples = self.samples.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.records.into_values().collect(), samples)
    }
}

impl Store for Memory {
    fn get(&self, key: &RunKey) -> Option<&RunRecord> {
        self.records.get(key)
    }

    fn record(&self, task: &Task, ran: &Ran) -> Result<(), StoreError> {
        if !task.scenario.record.series.is_empty() {
            let mut samples = self.samples.lock().unwrap_or_else(PoisonError::into_inner);
            samples.insert(task.key(), ran.result.samples.clone());
        }
        Ok(())
    }

    fn append(&mut self, record: RunRecord) -> Result<(), StoreError> {
        self.records.insert(RunKey::of(&record), record);
        Ok(())
    }
}
