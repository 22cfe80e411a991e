//! Work in virtual time: this very program boots as a guest's first process, does its task on the
//! kernel there, and sends back what came of it.

use std::error::Error;
use std::fs;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use windlass_sim::RunResult;
use windlass_testbed::calibrate::{self, Calibration};
use windlass_testbed::{live, vm};

use crate::calibration::effort;
use crate::compile::compile;
use crate::run::RunError;
use crate::scenario::Scenario;
use crate::world::{Ran, kernel_options};

/// Where the guest finds its task.
const TASK: &str = "task.json";
/// Longest that a run may take on the host. It is there so that a guest that hangs is noticed; a long
/// transfer of many flows takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What a guest is to do.
#[derive(Serialize, Deserialize)]
enum Task {
    /// Run a scenario; the answer is a [`RunAnswer`].
    Run {
        /// The scenario, resolved.
        scenario: String,
        seed: u64,
    },
    /// Calibrate the links; the answer is a [`Calibration`].
    Calibrate { quick: bool },
}

/// What has come of a run.
#[derive(Serialize, Deserialize)]
struct RunAnswer {
    result: RunResult,
    kernel: String,
}

/// Runs a scenario on a kernel of this series.
pub(crate) fn run(series: vm::Series, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
    let task = Task::Run { scenario: scenario.resolved_toml(), seed };
    let RunAnswer { result, kernel } = ask(series, &task)?;
    Ok(Ran { result, kernel: Some(kernel) })
}

/// Calibrates the links in virtual time on a kernel of this series.
pub(crate) fn calibrate(series: vm::Series, quick: bool) -> Result<Calibration, RunError> {
    ask(series, &Task::Calibrate { quick })
}

/// Has a guest do the task, and reads its answer.
fn ask<A: DeserializeOwned>(series: vm::Series, task: &Task) -> Result<A, RunError> {
    let kernel = vm::prepare(series, &mut |_| {})?;
    let task = serde_json::to_vec(task).map_err(|e| RunError::Guest(e.to_string()))?;
    let files = vec![(TASK.to_string(), task)];
    let job = vm::Job { files, timeout: PATIENCE, ..vm::Job::default() };
    let answer = vm::run(&kernel, &job)?;
    let unreadable = |e| RunError::Guest(format!("its answer cannot be read: {e}"));
    serde_json::from_slice(&answer.output).map_err(unreadable)
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve_if_guest() {
    vm::guest_main(|_| serve().map_err(|e| e.to_string()));
}

fn serve() -> Result<Vec<u8>, Box<dyn Error>> {
    match serde_json::from_slice(&fs::read(TASK)?)? {
        Task::Run { scenario, seed } => {
            let scenario = Scenario::from_str(&scenario, "the task")?;
            let config = compile(&scenario, seed)?;
            let options = kernel_options(&scenario, live::Options::in_virtual_time());
            let outcome = live::run(&config, &options)?;
            let answer = RunAnswer { result: outcome.result, kernel: outcome.kernel };
            Ok(serde_json::to_vec(&answer)?)
        }
        Task::Calibrate { quick } => {
            let options = calibrate::Options::in_virtual_time(effort(quick));
            let calibration = calibrate::run(&calibrate::points(), &options, &mut |_| {})?;
            Ok(serde_json::to_vec(&calibration)?)
        }
    }
}
