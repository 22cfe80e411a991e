//! The identity of a run, and the place of its files.

use std::fmt;

use crate::record::RunRecord;
use crate::version;

/// The identity of a run. Equal keys mean equal results.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunKey {
    /// Experiment identifier.
    pub experiment: String,
    /// Point identifier.
    pub point: String,
    /// Seed.
    pub seed: u64,
    /// Hash of the resolved scenario.
    pub scenario_hash: String,
    /// The backend of the run.
    pub world: String,
    /// Version of the results: the part of the record's version after the `+`.
    pub version: String,
}

impl RunKey {
    /// The key of a finished run.
    pub fn of(record: &RunRecord) -> RunKey {
        RunKey {
            experiment: record.experiment.clone(),
            point: record.point.clone(),
            seed: record.seed,
            scenario_hash: record.scenario_hash.clone(),
            world: record.world.clone(),
            version: version::results(&record.version).to_owned(),
        }
    }

    /// The place of a run in the batch, independent of version, backend and scenario.
    pub(crate) fn place(&self) -> (&str, &str, u64) {
        (&self.experiment, &self.point, self.seed)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run of {} at {:?} with seed {}", self.experiment, self.point, self.seed)
    }
}

/// The place of a point's files. Each form of its scenario has a separate place, so that no setting
/// removes or overwrites the files of another setting.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// Experiment identifier.
    pub experiment: &'a str,
    /// Point identifier.
    pub point: &'a str,
    /// The form of its scenario: see [`Task::form`](crate::Task::form).
    pub form: &'a str,
}
