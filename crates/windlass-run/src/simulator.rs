//! The back end that is always there: the simulator, with Windlass's own TCP.

use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::{RunResult, Simulation};

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
    let mut simulation = Simulation::new(compile(scenario, seed)?)?;
    simulation.run();
    let books = |source| RunError::Books { scenario: scenario.name.clone(), seed, source };
    simulation.finish().map_err(books)
}
