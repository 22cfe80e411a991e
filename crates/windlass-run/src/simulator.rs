//! The back end that is always there: the simulator, with Windlass's own TCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_cc::{Span, Time};
use windlass_scenario::compile::compile;
use windlass_scenario::{FlowSpec, Scenario};
use windlass_sim::{Config, RunResult, Simulation};
use windlass_tcp::CongestionControl;

use crate::{Backend, Ran, RunError, World, no_kernels};

/// Simulated time after which a run looks whether it is to stop.
const LOOK_EVERY: Span = Span(1_000_000_000);

/// The algorithm that is to run on a flow in place of the scenario's; `None` leaves that.
pub type Controllers = dyn Fn(&FlowSpec) -> Option<Box<dyn CongestionControl>> + Send + Sync;

/// The simulator.
#[derive(Clone, Default)]
pub struct Simulator {
    stop: Option<Arc<AtomicBool>>,
    controllers: Option<Arc<Controllers>>,
}

impl Simulator {
    /// One whose runs end with [`RunError::Stopped`] soon after `stop` has become true.
    pub fn until(stop: Arc<AtomicBool>) -> Simulator {
        Simulator { stop: Some(stop), controllers: None }
    }

    /// The same with algorithms from outside. Their runs are none of the scenario's, and are not for a store.
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

/// Runs as far as anything happens, unless it is to stop.
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
/// The simulator does not take the scenario, or its books do not close.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    no_kernels(World::Sim, scenario)?;
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
    concluded(simulation, name, seed)
}

fn concluded(simulation: Simulation, name: &str, seed: u64) -> Result<RunResult, RunError> {
    let books = |source| RunError::Books { scenario: name.to_owned(), seed, source };
    simulation.finish().map_err(books)
}
