//! A run as a message to another process or machine, and its result.

use std::slice;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::warm::{WarmUp, recorded};
use crate::Error;
use crate::run::{Failed, RunRecord, Runner, Task, VERSION, World};
use crate::scenario::Scenario;

/// A run to make, with all the data that it needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    version: String,
    experiment: String,
    point: String,
    seed: u64,
    world: String,
    /// The resolved scenario, as TOML.
    scenario: String,
    /// The warm-up, in the form of the command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    warm_up: Option<String>,
}

/// Result of a job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Made {
    /// A finished run.
    Record {
        /// The record of the run.
        record: Box<RunRecord>,
        /// Real time that the run took, seconds.
        took_s: f64,
    },
    /// A run that gave no result.
    Failed(Failed),
}

impl Job {
    pub(super) fn of(task: &Task, warm_up: Option<WarmUp>) -> Job {
        Job {
            version: VERSION.to_owned(),
            experiment: task.experiment.clone(),
            point: task.point.clone(),
            seed: task.seed,
            world: task.world.to_string(),
            scenario: task.scenario.resolved_toml(),
            warm_up: warm_up.map(|w| w.to_string()),
        }
    }

    /// Makes the run. If it fails or panics, the result is [`Made::Failed`].
    ///
    /// # Errors
    ///
    /// The job is from another version, its scenario is not valid, or the runner was stopped.
    pub fn perform(&self, runner: &Runner) -> Result<Made, Error> {
        if self.version != VERSION {
            return Err(Error::Input(format!(
                "the job is from Windlass {}, and this is {VERSION}; use the same version everywhere",
                self.version
            )));
        }
        let task = self.task()?;
        let warm_up = self.warm_up.as_ref().map(|w| w.parse()).transpose().map_err(Error::Input)?;
        let made = Mutex::new(None);
        let mut failed = runner.execute(slice::from_ref(&task), |task, ran, took| {
            let record = Box::new(recorded(task, &ran, warm_up)?);
            let record = Made::Record { record, took_s: took.as_secs_f64() };
            *made.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
            Ok::<(), Error>(())
        })?;
        let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
        let outcome = made.or_else(|| failed.pop().map(Made::Failed));
        outcome.ok_or_else(|| Error::Input("the job was not made".to_owned()))
    }

    fn task(&self) -> Result<Task, Error> {
        let scenario = Scenario::from_str(&self.scenario, &self.point)?;
        let world: World = self.world.parse().map_err(Error::Input)?;
        Ok(Task {
            experiment: self.experiment.clone(),
            point: self.point.clone(),
            seed: self.seed,
            scenario_hash: world.hash(&scenario).into(),
            scenario: Arc::new(scenario),
            world,
        })
    }
}
