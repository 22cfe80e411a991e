//! Sweeps: a scenario at every combination of the values of its axes, with a fixed or an adaptive number of runs
//! per point.
//!
//! [`Plan::of`] reads the [`Request`]: a scenario or a sweep file, the axes and the number of runs. A [`Sweep`]
//! opens the folder, makes the missing runs and summarises them. The user's guide is `docs/src/guides/sweeps.md`.
//!
//! - The next runs depend only on the finished runs. The same command therefore gives the same runs and tables
//!   after any number of interruptions, on any number of processors, and in any number of shards.
//! - Every point has the same seeds. Points that differ only in congestion control stop together, so that each run
//!   has its counterpart.

mod axes;
mod file;
mod measure;
mod page;
mod plan;
mod points;
mod progress;
mod range;
pub(crate) mod warm;
mod work;

use std::io::Write;
use std::path::PathBuf;

pub(crate) use axes::spelt_out_for;
pub use axes::{Setting, settings, spelt_out};
pub use measure::{Goal, Measure};
pub use plan::{Plan, PlannedPoint, Request, check_seeds};
pub use points::{Cell, Method};
pub use progress::Progress;
pub use warm::WarmUp;
pub use work::{Estimate, Standing, Sweep};

use crate::run::store::export::{Provenance, export, export_records};
use crate::run::store::{Format, replace};
use crate::{Error, report};

impl Sweep {
    /// Writes the report and the tables of all counted runs and of the points. Returns the path of the report.
    ///
    /// # Errors
    ///
    /// There is no run, or a file is not writable.
    pub fn conclude(&self, cells: &[Cell]) -> Result<PathBuf, Error> {
        let records = self.runs();
        let (dir, command) = (self.campaign.batch().dir(), self.campaign.command());
        if records.is_empty() {
            let dir = dir.display();
            return Err(Error::Input(format!("{dir} holds no run of this sweep yet")));
        }
        export_records(dir, &records, command, &[Format::Parquet])?;
        let provenance = Provenance::of(&records, command);
        for format in [Format::Parquet, Format::Csv] {
            export(dir, "points", format, [self.table(cells)], &provenance)?;
        }
        let page = report::html::render(&self.report(cells))?;
        Ok(replace(dir, "report.html", |out| out.write_all(page.as_bytes()))?)
    }
}
