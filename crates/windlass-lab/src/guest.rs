//! A run in virtual time: this very program boots as a guest's first process, runs the scenario on the
//! kernel there, and sends back what it yielded.

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

/// What a guest answers: the run, or why there is none.
type Answer = Result<Yield, String>;

#[derive(Serialize, Deserialize)]
struct Yield {
    result: RunResult,
    kernel: String,
}

/// Runs a scenario on a kernel of this series.
pub(crate) fn run(series: vm::Series, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
    let kernel = vm::prepare(series, &mut |_| {})?;
    let task = Task { scenario: scenario.resolved_toml(), seed };
    let task = serde_json::to_vec(&task).map_err(|e| RunError::Guest(e.to_string()))?;
    let job = vm::Job { files: vec![(TASK.to_string(), task)], timeout: PATIENCE };
    let answer = vm::run(&kernel, &job)?;
    let unreadable = |e| RunError::Guest(format!("its answer cannot be read: {e}"));
    let answer: Answer = serde_json::from_slice(&answer.output).map_err(unreadable)?;
    let Yield { result, kernel } = answer.map_err(RunError::Guest)?;
    Ok(Ran { result, kernel: Some(kernel) })
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve_if_guest() {
    vm::guest_main(|files| {
        let answer: Answer = serve(files);
        serde_json::to_vec(&answer).unwrap_or_default()
    });
}

fn serve(files: &[(String, Vec<u8>)]) -> Answer {
    let (_, task) = files.iter().find(|(name, _)| name == TASK).ok_or("it has no task")?;
    let task: Task = serde_json::from_slice(task).map_err(|e| e.to_string())?;
    let scenario = Scenario::from_str(&task.scenario, "the task").map_err(|e| e.to_string())?;
    let config = compile(&scenario, task.seed).map_err(|e| e.to_string())?;
    let outcome = live::run(&config, &live::Options::virtual_time()).map_err(|e| e.to_string())?;
    Ok(Yield { result: outcome.result, kernel: outcome.kernel })
}
