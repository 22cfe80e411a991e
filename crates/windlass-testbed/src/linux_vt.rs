//! A kernel in virtual time as a back end: this very program boots as a guest's first process, runs the scenario on the
//! kernel there, and sends back what it yielded.

use serde::{Deserialize, Serialize};
use windlass_run::{Backend, Ran, RunError, World};
use windlass_scenario::Scenario;
use windlass_sim::RunResult;

use crate::{guest, linux, live, vm};

/// What a guest is to do: a scenario, resolved.
#[derive(Serialize, Deserialize)]
struct Task {
    scenario: String,
    seed: u64,
}

/// What it answers.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: RunResult,
    kernel: String,
}

/// A Debian kernel of this series under QEMU, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct LinuxVt(pub vm::Series);

impl Backend for LinuxVt {
    fn world(&self) -> World {
        World::LinuxVt(self.0)
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        linux::no_radio(self.world(), scenario)?;
        let task = Task { scenario: scenario.resolved_toml(), seed };
        let Answer { result, kernel } = guest::ask(self.0, &task)?;
        Ok(Ran { result, kernel: Some(emulated(&kernel).map_err(RunError::backend)?) })
    }

    fn check(&self) -> Result<(), RunError> {
        vm::check(self.0).map_err(RunError::backend)
    }

    fn release(&self) -> Option<String> {
        emulated(&vm::kept_release(self.0)?).ok()
    }

    fn differences(&self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        linux::differences(self.world(), scenario)
    }
}

/// A kernel's release with the QEMU that keeps its clock.
fn emulated(kernel: &str) -> Result<String, vm::Error> {
    Ok(format!("{kernel} (QEMU {})", vm::qemu_version()?))
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve_if_guest() {
    guest::serve(|Task { scenario, seed }| {
        let scenario = Scenario::from_str(&scenario, "the task")?;
        let ran = linux::run(&scenario, seed, live::Options::in_virtual_time())?;
        let answer = Answer { result: ran.result, kernel: ran.kernel.unwrap_or_default() };
        Ok(serde_json::to_vec(&answer)?)
    });
}
