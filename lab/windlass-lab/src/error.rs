//! The errors of the laboratory.

use crate::experiment::FileError;
use crate::report::ReportError;
use crate::run::store::StoreError;
use crate::run::{self, RunError};
use crate::scenario::ScenarioError;

/// The reason why a sweep, a comparison, a cross-check or a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request or an option is invalid.
    #[error("{0}")]
    Input(String),
    /// A file of experiments, a sweep, claims or runs is invalid.
    #[error(transparent)]
    File(#[from] FileError),
    /// A scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// Results cannot be stored or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report contradicts itself.
    #[error(transparent)]
    Report(#[from] ReportError),
}

impl From<run::Error> for Error {
    fn from(e: run::Error) -> Error {
        match e {
            run::Error::Run(e) => Error::Run(e),
            run::Error::Store(e) => Error::Store(e),
        }
    }
}
