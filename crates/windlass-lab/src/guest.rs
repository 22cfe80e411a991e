//! A run in virtual time: this very program boots as a guest's first process, runs the scenario on the
//! kernel there, and sends back what it yielded.

use std::error::Error;
use std::fs;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windlass_sim::RunResult;
use windlass_testbed::{live, vm};

use crate::compile::compile;
use crate::run::RunError;
use crate::scenario::Scenario;
use crate::world::Ran;

/// Where the guest finds its task.
const TASK: &str = "task.json";
/// Longest that a run may take on the host. It is there so that a guest that hangs is noticed; a long
/// transfer of many flows takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What a guest is to run.
#[derive(Serialize, Deserialize)]
struct Task {
    /// The scenario, resolved.
    scenario: String,
    seed: u64,
}

/// What a guest answers.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: RunResult,
    kernel: String,
}

/// Runs a scenario on a kernel of this series.
pub(crate) fn run(series: vm::Series, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
    let kernel = vm::prepare(series, &mut |_| {})?;
    let task = Task { scenario: scenario.resolved_toml(), seed };
    let task = serde_json::to_vec(&task).map_err(|e| RunError::Guest(e.to_string()))?;
    let files = vec![(TASK.to_string(), task)];
    let job = vm::Job { files, timeout: PATIENCE, ..vm::Job::default() };
    let answer = vm::run(&kernel, &job)?;
    let unreadable = |e| RunError::Guest(format!("its answer cannot be read: {e}"));
    let Answer { result, kernel } = serde_json::from_slice(&answer.output).map_err(unreadable)?;
    Ok(Ran { result, kernel: Some(kernel) })
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve_if_guest() {
    vm::guest_main(|_| serve().map_err(|e| e.to_string()));
}

fn serve() -> Result<Vec<u8>, Box<dyn Error>> {
    let task: Task = serde_json::from_slice(&fs::read(TASK)?)?;
    let scenario = Scenario::from_str(&task.scenario, "the task")?;
    let config = compile(&scenario, task.seed)?;
    let outcome = live::run(&config, &live::Options::in_virtual_time())?;
    let answer = Answer { result: outcome.result, kernel: outcome.kernel };
    Ok(serde_json::to_vec(&answer)?)
}
