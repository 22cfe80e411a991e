//! The backend that is always available: the simulator, with Windlass's TCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_cc::{Span, Time};
use windlass_scenario::compile::compile;
use windlass_scenario::{FlowSpec, Scenario};
use windlass_sim::{Config, RunResult, Simulation};
use windlass_tcp::CongestionControl;

use crate::{Backend, Ran, RunError, World, no_kernels};

/// Interval of simulated time after which a run checks whether it must stop.
const LOOK_EVERY: Span = Span(1_000_000_000);

/// Selects the algorithm that replaces the scenario's algorithm on a flow; `None` keeps the scenario's.
pub type Controllers = dyn Fn(&FlowSpec) -> Option<Box<dyn CongestionControl>> + Send + Sync;

/// The simulator.
#[derive(Clone, Default)]
pub struct Simulator {
    stop: Option<Arc<AtomicBool>>,
    controllers: Option<Arc<Controllers>>,
}

impl Simulator {
    /// A simulator whose runs end with [`RunError::Stopped`] soon after `stop` has become true.
    pub fn until(stop: Arc<AtomicBool>) -> Simulator {
        Simulator { stop: Some(stop), controllers: None }
    }

    /// Uses external algorithms. Such runs differ from the scenario's runs, and must not be stored.
    pub fn with_controllers(self, controllers: Arc<Controllers>) -> Simulator {
        Simulator { controllers: Some(controllers), ..self }
    }
}

impl Backend for Simulator {
    fn world(&self) -> World {
        World::Sim
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        no_kernels(World::Sim, scenario)?;
        let mut simulation = Simulation::new(compile(scenario, seed)?)?;
        if let Some(controllers) = &self.controllers {
            for (flow, spec) in scenario.flows.iter().enumerate() {
                if let Some(controller) = controllers(spec)
                    && !simulation.set_controller(flow, controller)
                {
                    return Err(RunError::NoConnection(spec.name.clone()));
                }
            }
        }
        if let Some(stop) = &self.stop {
            run_unless(stop, &mut simulation)?;
        }
        simulation.run();
        Ok(Ran { result: concluded(simulation, &scenario.name, seed)?, kernel: None })
    }
}

/// Runs to the end of the simulation, unless `stop` becomes true.
fn run_unless(stop: &AtomicBool, simulation: &mut Simulation) -> Result<(), RunError> {
    let mut end = Time::ZERO;
    loop {
        if stop.load(Ordering::Relaxed) {
            return Err(RunError::Stopped);
        }
        end += LOOK_EVERY;
        if !simulation.run_until(end) {
            return Ok(());
        }
    }
}

/// Runs a scenario once in the simulator.
///
/// # Errors
///
/// The simulator does not support the scenario, or its packet counts do not add up.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    no_kernels(World::Sim, scenario)?;
    simulate_as(compile(scenario, seed)?, &scenario.name)
}

/// Runs a configuration, which may record other data than its scenario. `name` is for errors.
///
/// # Errors
///
/// As [`simulate`].
pub fn simulate_as(config: Config, name: &str) -> Result<RunResult, RunError> {
    let seed = config.seed;
    let mut simulation = Simulation::new(config)?;
    simulation.run();
    concluded(simulation, name, seed)
}

fn concluded(simulation: Simulation, name: &str, seed: u64) -> Result<RunResult, RunError> {
    let books = |source| RunError::Books { scenario: name.to_owned(), seed, source };
    simulation.finish().map_err(books)
}
