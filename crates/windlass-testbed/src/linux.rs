//! This machine's kernel as a back end.

use windlass_run::{Backend, Ran, RunError, World};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;

use crate::live;

/// This machine's kernel, over links that the simulator emulates in real time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Backend for Linux {
    fn world(&self) -> World {
        World::Linux
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        no_radio(World::Linux, scenario)?;
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
    no_radio(world, scenario)?;
    Ok(live::differences(&compile(scenario, scenario.seed)?))
}

/// Whether there is what the scenario asks for: these worlds have links only.
pub(crate) fn no_radio(world: World, scenario: &Scenario) -> Result<(), RunError> {
    match scenario.wifi.first() {
        Some(cell) => Err(RunError::NoRadio { world, cell: cell.radio.name.clone() }),
        None => Ok(()),
    }
}
