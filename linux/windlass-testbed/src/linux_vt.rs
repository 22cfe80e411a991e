//! A kernel in virtual time as a backend. This program boots as a guest's first process, runs the scenario on
//! the guest's kernel, and returns the result.

use serde::{Deserialize, Serialize};
use windlass_run::{Backend, Ran, RunError, World};
use windlass_scenario::Scenario;
use windlass_sim::RunResult;

use crate::bpf::{self, object::Whose, replay::Replayed};
use crate::{guest, linux, live, vm};

/// Task of a guest: a resolved scenario.
#[derive(Serialize, Deserialize)]
struct Task {
    scenario: String,
    seed: u64,
    /// Data to keep of Windlass's algorithms.
    watch: live::Watch,
}

/// Answer of a guest.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: RunResult,
    kernel: String,
    replayed: Vec<Replayed>,
}

/// A Debian kernel of this series under QEMU, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct LinuxVt(pub vm::Series);

impl Backend for LinuxVt {
    fn world(&self) -> World {
        World::LinuxVt(self.0)
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        self.ask(scenario, seed, live::Watch::Nothing, Whose::Ours).map(|(ran, _)| ran)
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

impl LinuxVt {
    /// Runs a scenario. Returns the run and the replays of Windlass's algorithms.
    pub(crate) fn ask(
        self,
        scenario: &Scenario,
        seed: u64,
        watch: live::Watch,
        whose: Whose,
    ) -> Result<(Ran, Vec<Replayed>), RunError> {
        linux::no_radio(self.world(), scenario)?;
        let ours = linux::ours(scenario);
        let params = ours.iter().filter_map(|place| scenario.flows[*place].controller);
        let objects = bpf::object::for_guest(params, whose).map_err(RunError::backend)?;
        let task = Task { scenario: scenario.resolved_toml(), seed, watch };
        let Answer { result, kernel, replayed } = guest::ask(self.0, &task, objects)?;
        let kernel = emulated(&kernel).map_err(RunError::backend)?;
        Ok((Ran { result, kernel: Some(kernel) }, replayed))
    }
}

/// Returns a kernel's release, with the version of the QEMU that emulates its clock.
fn emulated(kernel: &str) -> Result<String, vm::Error> {
    Ok(format!("{kernel} (QEMU {})", vm::qemu_version()?))
}

/// Does the work of a guest and does not return, if this process is a guest's first process. Call this at the
/// very start of the program.
pub fn serve_if_guest() {
    guest::serve(|Task { scenario, seed, watch }| {
        let scenario = Scenario::from_str(&scenario, "the task")?;
        let options = live::Options { watch, ..live::Options::in_virtual_time() };
        let (ran, replayed) = linux::run(&scenario, seed, options)?;
        let kernel = ran.kernel.unwrap_or_default();
        let answer = Answer { result: ran.result, kernel, replayed };
        Ok(serde_json::to_vec(&answer)?)
    });
}
