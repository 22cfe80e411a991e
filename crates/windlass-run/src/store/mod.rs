//! Results on disk: a journal that survives a kill, Parquet, CSV and JSON.
//!
//! A batch is a folder. While it runs, its [`Batch`] appends one line a finished run to
//! `journal.jsonl`; a run is kept once [`Batch::append`] has returned, whatever happens to the
//! process after that, and to the machine once [`Batch::commit`] has. From the journal come tables ([`table`]), which
//! [`export`] writes as Parquet, CSV or JSON.
//!
//! | file | holds |
//! | --- | --- |
//! | `journal.jsonl` | one finished run a line, with a checksum |
//! | `batch.lock` | nothing; the running instance holds a lock on it |
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

pub mod batch;
pub mod error;
pub mod export;
mod files;
mod journal;
pub mod read;
pub mod table;

pub use batch::{Batch, FAILURES, Invocation, Notice, Place, RunKey, share};
pub use error::StoreError;
pub use export::{Format, Provenance};
pub use files::{file_name, replace};
pub use journal::{JOURNAL, read as read_journal};
pub use table::{Column, SeriesRun, Table, Values};
