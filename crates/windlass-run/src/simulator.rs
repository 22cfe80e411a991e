//! The back end that is always there: the simulator, with Windlass's own TCP.

use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::{Config, RunResult, Simulation};

use crate::{Backend, Ran, RunError, World};

/// The simulator.
#[derive(Clone, Copy, Debug, Default)]
pub struct Simulator;

impl Backend for Simulator {
    fn world(&self) -> World {
        World::Sim
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        Ok(Ran { result: simulate(scenario, seed)?, kernel: None })
    }
}

/// Runs a scenario once in the simulator.
///
/// # Errors
///
/// The simulator does not take the scenario, or its books do not close.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    simulate_as(compile(scenario, seed)?, &scenario.name)
}

/// The same of a configuration, which may have something else recorded than its scenario says; `name` is for errors.
///
/// # Errors
///
/// As [`simulate`].
pub fn simulate_as(config: Config, name: &str) -> Result<RunResult, RunError> {
    let seed = config.seed;
    let mut simulation = Simulation::new(config)?;
    simulation.run();
    let books = |source| RunError::Books { scenario: name.to_owned(), seed, source };
    simulation.finish().map_err(books)
}
