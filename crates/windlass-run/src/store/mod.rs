//! Where finished runs are kept: in memory, or in a folder that survives a kill.
//!
//! A [`Store`] has runs and takes more. [`Memory`] forgets them with the process. A [`Batch`] is a folder:
//! it appends one line a finished run to `journal.jsonl`; a run is kept once [`Store::append`] has
//! returned, whatever happens to the process after that, and to the machine once [`Store::finish`] has.
//! Any number of processes may write into one folder, on disks without locks too: each but the first has
//! a part of its own. From the runs come tables ([`table`]), which [`export`] writes as Parquet, CSV or
//! JSON.
//!
//! | file | holds |
//! | --- | --- |
//! | `journal.jsonl` | one finished run a line, with a checksum |
//! | `batch.lock` | nothing; the instance that writes to the journal holds a lock on it |
//! | `parts/ID` | journal, calls and failures of an instance that works beside that one, until they are moved up |
//! | `meta.json` | every invocation: version, command, seeds, date |
//! | `failures.jsonl` | the runs that gave no result when they were last tried, with the reason |
//! | `scenarios/EXPERIMENT/POINT@FORM.toml` | the resolved scenario of a point |
//! | `series/EXPERIMENT/POINT@FORM/SEED.parquet` | time series of a run, where they were asked for |
//! | `captures/EXPERIMENT/POINT@FORM/SEED.pcapng` | packets of a run, where they were asked for |
//! | `runs.*`, `summary.*`, `links.*` | the tables, one row a run, a flow, a link direction |
//!
//! FORM is eight digits of a hash of the scenario and of what it records: what one setting has left, no other
//! touches. Every file but the journal is written under another name and then renamed, so that it is there
//! whole or not at all. Dates stand in `meta.json` only: the same runs give the same tables, byte
//! for byte.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use windlass_sim::Sample;

use crate::{Failed, Ran, RunRecord, Task};

mod axes;
pub mod batch;
pub mod error;
pub mod export;
mod files;
mod journal;
mod meta;
pub mod parquet_file;
mod parts;
pub mod table;

pub use axes::axes;
pub use batch::{Batch, FAILURES, Notice, Place, RunKey};
pub use error::StoreError;
pub use export::{Format, Provenance};
pub use files::{file_name, replace};
pub use journal::JOURNAL;
pub use meta::Invocation;
use meta::META;
pub use table::{Column, SeriesRun, Table, Values};

/// Where finished runs are kept.
pub trait Store: Send + Sync {
    /// The record of this very run.
    fn get(&self, key: &RunKey) -> Option<&RunRecord>;

    /// Keeps what a run has recorded besides its record, before the record; called for several runs at
    /// once.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn record(&self, task: &Task, ran: &Ran) -> Result<(), StoreError> {
        let _ = (task, ran);
        Ok(())
    }

    /// Keeps a finished run.
    ///
    /// # Errors
    ///
    /// The run is there already, has a result that is not finite, or cannot be written; the store is as
    /// before then.
    fn append(&mut self, record: RunRecord) -> Result<(), StoreError>;

    /// Waits until every run that was kept is safe, and notes the runs that gave no result in this call, in
    /// place of those of the call before.
    ///
    /// # Errors
    ///
    /// The disk refuses.
    fn finish(&mut self, failed: &[Failed]) -> Result<(), StoreError> {
        let _ = failed;
        Ok(())
    }
}

/// Runs that are kept as long as this lives.
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

    /// The runs, by experiment, point and seed, and the time series of those whose scenarios record some.
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
