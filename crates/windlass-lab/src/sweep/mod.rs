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
mod job;
mod measure;
mod pace;
mod page;
mod plan;
mod points;
mod progress;
mod range;
pub(crate) mod warm;
mod work;

use std::io::Write;
use std::path::PathBuf;

pub use axes::spelt_out;
pub(crate) use axes::spelt_out_for;
pub use job::{Job, Made};
pub use measure::{Goal, Measure};
pub use plan::{Count, Plan, PlannedPoint, Request, check_seeds};
pub use points::{Cell, Method};
pub use progress::Progress;
pub use warm::WarmUp;
pub use work::{Estimate, Standing, Sweep};

use crate::run::store::export::{Provenance, export, export_records};
use crate::run::store::{Format, replace};
use crate::{Error, report};

impl Sweep {
    /// Writes the tables of every run that counts and of the points, and the report, and returns its path.
    ///
    /// # Errors
    ///
    /// There is no run, or a file cannot be written.
    pub fn conclude(&self, cells: &[Cell]) -> Result<PathBuf, Error> {
        let records = self.runs();
        let dir = self.batch.dir();
        if records.is_empty() {
            let dir = dir.display();
            return Err(Error::Input(format!("{dir} holds no run of this sweep yet")));
        }
        export_records(dir, &records, &self.command, &[Format::Parquet])?;
        let provenance = Provenance::of(&records, &self.command);
        for format in [Format::Parquet, Format::Csv] {
            export(dir, "points", format, [self.table(cells)], &provenance)?;
        }
        let page = report::html::render(&self.report(cells))?;
        Ok(replace(dir, "report.html", |out| out.write_all(page.as_bytes()))?)
    }
}
