//! Tasks, which are runs to execute, and runs that gave no result.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_scenario::Scenario;
use windlass_sim::RunResult;

use crate::backend::Ran;
use crate::course::Course;
use crate::key::{Place, RunKey};
use crate::record::RunRecord;
use crate::version;
use crate::world::World;

/// One run to execute.
#[derive(Clone, Debug)]
pub struct Task {
    /// Experiment identifier.
    pub experiment: String,
    /// Point identifier.
    pub point: String,
    /// Seed.
    pub seed: u64,
    /// The scenario with overrides applied.
    pub scenario: Arc<Scenario>,
    /// Its hash.
    pub scenario_hash: Arc<str>,
    /// The backend.
    pub world: World,
}

impl Task {
    /// Eight hexadecimal digits that identify this form of the point's scenario, including the data to
    /// record, among other forms with the same name.
    pub fn form(&self) -> String {
        form(&self.scenario, &self.scenario_hash)
    }

    /// The place of its files. `form` is [`Task::form`].
    pub fn place<'a>(&'a self, form: &'a str) -> Place<'a> {
        Place { experiment: &self.experiment, point: &self.point, form }
    }

    /// The identity of the run in a journal.
    pub fn key(&self) -> RunKey {
        RunKey {
            experiment: self.experiment.clone(),
            point: self.point.clone(),
            seed: self.seed,
            scenario_hash: self.scenario_hash.to_string(),
            world: self.world.to_string(),
            version: version::results(self.world.version()).to_owned(),
        }
    }

    /// The summary over time. Kernels have no timeline, because their cwnd and progress are not visible from
    /// outside.
    fn course(&self, result: &RunResult) -> Option<Course> {
        let timeline = result.timeline.as_ref().filter(|_| self.world == World::Sim)?;
        Some(Course::of(timeline, &self.scenario, result))
    }

    /// The record of this task with the totals of a result.
    pub fn record(&self, ran: &Ran) -> RunRecord {
        let result = &ran.result;
        RunRecord {
            experiment: self.experiment.clone(),
            point: self.point.clone(),
            seed: self.seed,
            scenario_hash: self.scenario_hash.to_string(),
            version: self.world.version().to_string(),
            world: self.world.to_string(),
            kernel: ran.kernel.clone(),
            end_s: result.end.0 as f64 / 1e9,
            events: result.events,
            packet_hops: result.packet_hops,
            flows: result.flows.clone(),
            links: result.links.clone(),
            course: self.course(result),
            steady: Vec::new(),
            radios: result.radios.clone(),
            messages: result.messages,
            connections: result.connections.clone(),
        }
    }
}

/// See [`Task::form`]. The text of the data to record is Rust's debug format. If this format changes, the
/// run is recorded again.
pub fn form(scenario: &Scenario, scenario_hash: &str) -> String {
    let text = format!("{scenario_hash} {:?}", scenario.record);
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

/// A run that gave no result: a line of `failures.jsonl`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// Experiment identifier.
    pub experiment: String,
    /// Point identifier.
    pub point: String,
    /// Seed of the run.
    pub seed: u64,
    /// Name of the scenario.
    pub scenario: String,
    /// Hash of the resolved scenario.
    pub scenario_hash: String,
    /// The backend.
    pub world: String,
    /// Windlass version.
    pub version: String,
    /// The reason why the run gave no result.
    pub reason: String,
}

impl Failed {
    pub(crate) fn of(task: &Task, reason: String) -> Failed {
        Failed {
            experiment: task.experiment.clone(),
            point: task.point.clone(),
            seed: task.seed,
            scenario: task.scenario.name.clone(),
            scenario_hash: task.scenario_hash.to_string(),
            world: task.world.to_string(),
            version: task.world.version().to_string(),
            reason,
        }
    }

    /// The identity of the run.
    pub fn key(&self) -> RunKey {
        RunKey {
            experiment: self.experiment.clone(),
            point: self.point.clone(),
            seed: self.seed,
            scenario_hash: self.scenario_hash.clone(),
            world: self.world.clone(),
            version: version::results(&self.version).to_owned(),
        }
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Failed { experiment, point, seed, reason, .. } = self;
        write!(f, "{experiment} at {point:?} with seed {seed}: {reason}")
    }
}
