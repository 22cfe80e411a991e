//! What identifies a run, and where its files stand.

use std::fmt;

use crate::record::RunRecord;
use crate::version;

/// What makes a run this run: the same key means the same result.
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
    /// The world it runs in.
    pub world: String,
    /// What its results are results of: the part of the record's version after the `+`.
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

    /// The part that names a run's place in the batch, whatever made it.
    pub(crate) fn place(&self) -> (&str, &str, u64) {
        (&self.experiment, &self.point, self.seed)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run of {} at {:?} with seed {}", self.experiment, self.point, self.seed)
    }
}

/// Where the files of a point stand. Each form of its scenario has its own, so that no setting ever
/// removes or overwrites what another has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// Experiment identifier.
    pub experiment: &'a str,
    /// Point identifier.
    pub point: &'a str,
    /// The form of its scenario: see [`Task::form`](crate::Task::form).
    pub form: &'a str,
}
