//! The errors of reproductions.

use std::path::PathBuf;

use crate::experiment::FileError;
use crate::report::ReportError;
use crate::run::store::StoreError;
use crate::run::{self, Failed, RunError};
use crate::scenario::ScenarioError;

/// The reason why a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A paper's file is invalid.
    #[error(transparent)]
    File(#[from] FileError),
    /// A paper's scenario is invalid.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An experiment names a scenario that the paper's folder does not contain.
    #[error("scenario file {0} of an experiment not found")]
    NoScenario(String),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A traced run gave no result.
    #[error("a traced run failed: {0}")]
    Traced(Box<Failed>),
    /// Results cannot be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The report contradicts itself.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// There are no runs to report on.
    #[error("{} holds no run of this version for paper \"{paper}\"; `windlass reproduce {paper}` makes them", dir.display())]
    NoRuns {
        /// The paper.
        paper: String,
        /// Its folder.
        dir: PathBuf,
    },
}

impl From<run::Error> for ReproduceError {
    fn from(e: run::Error) -> ReproduceError {
        match e {
            run::Error::Run(e) => ReproduceError::Run(e),
            run::Error::Store(e) => ReproduceError::Store(e),
        }
    }
}
