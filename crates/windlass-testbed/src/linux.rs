//! This machine's kernel as a back end.

use windlass_run::{Backend, Ran, RunError, World};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;

use crate::interop::{self, Case, Direction, Report};
use crate::{linux_vt, live};

/// This machine's kernel, over links that the simulator emulates in real time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Backend for Linux {
    fn world(&self) -> World {
        World::Linux
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        takes(World::Linux, scenario)?;
        run(scenario, seed, live::Options::default())
    }

    fn check(&self) -> Result<(), RunError> {
        live::check().map_err(RunError::backend)
    }

    fn release(&self) -> Option<String> {
        Some(live::kernel())
    }

    fn differences(&self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        differences(World::Linux, scenario)
    }
}

/// A run on the kernel that this process is on.
pub(crate) fn run(scenario: &Scenario, seed: u64, options: live::Options) -> Result<Ran, RunError> {
    let options = live::Options { receive_window: scenario.testbed.receive_window, ..options };
    let outcome = live::run(&compile(scenario, seed)?, &options).map_err(RunError::backend)?;
    Ok(Ran { result: outcome.result, kernel: Some(outcome.kernel) })
}

/// What of the scenario a kernel cannot be told.
pub(crate) fn differences(world: World, scenario: &Scenario) -> Result<Vec<String>, RunError> {
    takes(world, scenario)?;
    Ok(live::differences(&compile(scenario, scenario.seed)?))
}

/// Whether there is what the scenario asks for: kernels get packets over links only.
pub(crate) fn takes(world: World, scenario: &Scenario) -> Result<(), RunError> {
    match scenario.wifi.first() {
        Some(cell) => Err(RunError::NoRadio { world, cell: cell.radio.name.clone() }),
        None => Ok(()),
    }
}

/// Holds our endpoint and a world's kernel to each other in these cases, and returns the reports
/// and the kernel's release. `seed` is of the random losses. In virtual time only failures keep
/// their packets. `done` is told of each case as it ends; in virtual time, when all have.
///
/// # Errors
///
/// The world has no kernel, or is not to be had here.
pub fn interoperate(
    world: World,
    cases: &[(&Case, Direction)],
    seed: u64,
    done: impl Fn(&Report) + Sync,
) -> Result<(Vec<Report>, String), RunError> {
    match world {
        World::Sim => Err(RunError::NoKernel),
        World::Linux => {
            live::check().map_err(RunError::backend)?;
            let options = interop::Options { seed, ..interop::Options::default() };
            let reports = interop::run(cases, &options, done).map_err(RunError::backend)?;
            Ok((reports, live::kernel()))
        }
        World::LinuxVt(series) => {
            let (reports, kernel) = linux_vt::interop(series, cases, seed)?;
            reports.iter().for_each(done);
            Ok((reports, kernel))
        }
    }
}
