//! Why reproductions fail.

use std::path::PathBuf;

use crate::experiment::FileError;
use crate::report::ReportError;
use crate::run::store::StoreError;
use crate::run::{self, Failed, RunError};
use crate::scenario::ScenarioError;

/// Why a reproduction failed.
#[derive(Debug, thiserror::Error)]
pub enum ReproduceError {
    /// A paper's file is not right.
    #[error(transparent)]
    File(#[from] FileError),
    /// A paper's scenario is not right.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// An experiment names a scenario that the paper's folder has not.
    #[error("there is no {0}, which an experiment names as its scenario")]
    NoScenario(String),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A traced run gave no result.
    #[error("a traced run came to nothing: {0}")]
    Traced(Box<Failed>),
    /// Results cannot be kept.
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
