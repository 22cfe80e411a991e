//! ns-3 as a back end: a program of ours, built against the ns-3 of PyPI on the user's machine, simulates the scenario's
//! links and flows with ns-3's own TCP. Random losses are drawn here as our simulator draws them, so that both lose the
//! same frames.

mod outcome;
mod program;
mod task;

use windlass_run::{Backend, Ran, RunError, World, no_kernels};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;

use crate::linux::no_radio;

/// ns-3 3.44.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns3;

impl Backend for Ns3 {
    fn world(&self) -> World {
        World::Ns3
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        no_radio(World::Ns3, scenario)?;
        no_kernels(World::Ns3, scenario)?;
        let config = compile(scenario, seed)?;
        let task = task::write(&config)?;
        let answer = program::ask(&task).map_err(RunError::backend)?;
        let result = outcome::read(&answer, &config).map_err(RunError::backend)?;
        Ok(Ran { result, kernel: self.release() })
    }

    fn check(&self) -> Result<(), RunError> {
        program::path().map(drop).map_err(RunError::backend)
    }

    fn release(&self) -> Option<String> {
        Some(program::release())
    }

    fn differences(&self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        no_radio(World::Ns3, scenario)?;
        no_kernels(World::Ns3, scenario)?;
        let config = compile(scenario, scenario.seed)?;
        task::write(&config)?;
        Ok(task::differences(&config))
    }
}
