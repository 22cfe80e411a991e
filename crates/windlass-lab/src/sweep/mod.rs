//! Sweeps: a scenario varied along axes, as many runs a point as it takes.
//!
//! [`Plan::of`] reads what is asked for ([`Request`]): a scenario or a sweep file, axes, how many
//! runs. A [`Sweep`] opens the folder, makes the runs that are missing and sums them up; `docs/src/guides/sweeps.md`
//! tells of it from the user's side.
//!
//! - What to run next is decided from the runs that are there alone, so that the same command comes
//!   to the same runs and tables however often it was killed, on any number of processors, and in
//!   any number of shards.
//! - Every point has the same seeds. Points that differ only in how congestion is controlled stop
//!   together, so that each run has its counterpart.

mod axes;
mod file;
mod measure;
mod pace;
mod page;
mod plan;
mod points;
mod range;
mod results;
mod warm;
mod work;

use std::io::Write;
use std::path::PathBuf;

pub use axes::spelt_out;
pub use measure::{Goal, Measure};
pub use plan::{Count, Plan, PlannedPoint, Request};
pub use points::{Cell, Method};
pub use results::Shard;
pub use warm::WarmUp;
pub use work::{Estimate, Progress, Standing, Sweep};

use crate::experiment::FileError;
use crate::report::{self, ReportError};
use crate::run::store::export::{Provenance, export, export_records};
use crate::run::store::{Format, StoreError, replace, share};
use crate::run::{RunError, RunRecord};
use crate::scenario::ScenarioError;

/// Why a sweep failed.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// What is asked for is not right.
    #[error("{0}")]
    Input(String),
    /// The sweep file is not right.
    #[error(transparent)]
    File(#[from] FileError),
    /// A scenario is not right.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Results cannot be kept or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report contradicts itself.
    #[error(transparent)]
    Report(#[from] ReportError),
}

/// What a sweep came to, and where it is.
#[derive(Debug)]
pub struct Outcome {
    /// Every metric at every point.
    pub cells: Vec<Cell>,
    /// The report's file.
    pub report: PathBuf,
}

impl Sweep {
    /// Writes the tables of every run that counts and of the points, and the report.
    ///
    /// # Errors
    ///
    /// There is no run, or a file cannot be written.
    pub fn conclude(&self) -> Result<Outcome, SweepError> {
        let records: Vec<RunRecord> =
            self.counted().into_iter().flat_map(|(_, _, r)| r).cloned().collect();
        let dir = self.results.dir();
        if records.is_empty() {
            let dir = dir.display();
            return Err(SweepError::Input(format!("{dir} holds no run of this sweep yet")));
        }
        // Who only looks holds the folder while it writes: whoever opens it to work would clear its half-written
        // files away. Who is at work there already has done that.
        let _held = self.results.batch().is_none().then(|| share(dir));
        if let Some(batch) = self.results.batch() {
            // Those of points that shards have run are in the shards' folders only.
            for point in &self.plan.points {
                let task = self.plan.task(point, 0);
                let toml = task.scenario.resolved_toml();
                batch.write_scenario(task.place(&task.form()), &toml)?;
            }
        }
        let cells = self.cells();
        export_records(dir, &records, &self.command, &[Format::Parquet])?;
        let provenance = Provenance::of(&records, &self.command);
        for format in [Format::Parquet, Format::Csv] {
            export(dir, "points", format, [self.table(&cells)], &provenance)?;
        }
        let page = report::html::render(&self.report(&cells))?;
        let report = replace(dir, "report.html", |out| out.write_all(page.as_bytes()))?;
        Ok(Outcome { cells, report })
    }
}
