//! The backend that is always available: the simulator, with Windlass's TCP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use windlass_cc::{Span, Time};
use windlass_scenario::compile::compile;
use windlass_scenario::{ClassHost, Fault, FlowSpec, Scenario, class_host};
use windlass_sim::external::Carrier;
use windlass_sim::{Config, ConservationError, RunResult, Simulation};
use windlass_tcp::CongestionControl;

use crate::outside::{Outside, Run};
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

impl Simulator {
    /// Runs a configuration of a scenario.
    fn run_as(&self, config: Config, scenario: &Scenario) -> Result<RunResult, RunError> {
        no_kernels(World::Sim, scenario)?;
        let mut outside = Outside::of(scenario, &config)?;
        let (duration, seed) = (config.duration, config.seed);
        // The configuration of a million devices is not copied for ends that it does not have.
        let kept = (!outside.ends().is_empty()).then(|| config.clone());
        let mut simulation = Simulation::new(config)?;
        if let Some(controllers) = &self.controllers {
            for (flow, spec) in scenario.flows.iter().enumerate() {
                if let Some(controller) = controllers(spec)
                    && (spec.library.is_some() || !simulation.set_controller(flow, controller))
                {
                    return Err(RunError::NoConnection(spec.name.clone()));
                }
            }
        }
        let classes = Classes::set(scenario, &mut simulation)?;
        let run = |classes| {
            let mut ends = outside.ends();
            let ended = match &kept {
                None => self.to_the_end(simulation, duration, classes)?,
                Some(config) => {
                    let run = Carrier::new(simulation, config, &mut ends);
                    self.to_the_end(run.map_err(RunError::backend)?, duration, classes)?
                }
            };
            let scenario = scenario.name.clone();
            ended.map_err(|source| RunError::Books { scenario, seed, source })
        };
        let mut result = match &classes {
            None => run(None),
            Some(classes) => classes.hold(|| run(Some(classes))),
        }?;
        for (flow, spec) in result.flows.iter_mut().zip(&scenario.flows) {
            if spec.class.is_some() || spec.library.is_some() {
                flow.algorithm = spec.algorithm().into_owned();
            }
        }
        Ok(result)
    }

    /// Runs to the end of the simulation, unless it must stop, and returns its results.
    fn to_the_end(
        &self,
        mut run: impl Run,
        duration: Time,
        classes: Option<&Classes>,
    ) -> Result<Result<RunResult, ConservationError>, RunError> {
        let mut end = Time::ZERO;
        while self.stop.is_some() || classes.is_some() {
            if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(RunError::Stopped);
            }
            end += LOOK_EVERY;
            let more = run.until(end)?;
            classes.map_or(Ok(()), Classes::check)?;
            if !more {
                break;
            }
        }
        run.until(duration)?;
        Ok(run.finish())
    }
}

/// The classes in Python of a run.
struct Classes {
    host: &'static dyn ClassHost,
    /// Name and fault of each flow with a class.
    faults: Vec<(String, Fault)>,
}

impl Classes {
    /// Gives the flows their classes; `None` if no flow has a class.
    fn set(scenario: &Scenario, simulation: &mut Simulation) -> Result<Option<Classes>, RunError> {
        let mut faults = Vec::new();
        for (place, spec) in scenario.flows.iter().enumerate() {
            let Some(class) = &spec.class else { continue };
            let failed = |message| RunError::Class { flow: spec.name.clone(), message };
            let host = class_host().ok_or_else(|| failed(NO_PYTHON.to_owned()))?;
            let fault = Fault::default();
            let controller = host.controller(class, fault.clone()).map_err(failed)?;
            if !simulation.set_controller(place, controller) {
                return Err(RunError::NoConnection(spec.name.clone()));
            }
            faults.push((spec.name.clone(), fault));
        }
        let host = class_host().filter(|_| !faults.is_empty());
        Ok(host.map(|host| Classes { host, faults }))
    }

    /// The first failure of a class.
    fn check(&self) -> Result<(), RunError> {
        let failed = self.faults.iter().find_map(|(flow, fault)| Some((flow, fault.get()?)));
        failed.map_or(Ok(()), |(flow, message)| {
            Err(RunError::Class { flow: flow.clone(), message: message.clone() })
        })
    }

    /// Runs a simulation while the host keeps its other simulations waiting.
    fn hold(
        &self,
        run: impl FnOnce() -> Result<RunResult, RunError> + Send,
    ) -> Result<RunResult, RunError> {
        let (mut run, mut result) = (Some(run), None);
        self.host.hold(&mut || result = run.take().map(|run| run()));
        result.unwrap_or(Err(RunError::Stopped))
    }
}

/// The reason why this program has no class.
const NO_PYTHON: &str = "the algorithm is a class in Python, and this program has no Python; use the command of the Python package";

impl Backend for Simulator {
    fn world(&self) -> World {
        World::Sim
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        let result = self.run_as(compile(scenario, seed)?, scenario)?;
        Ok(Ran { result, kernel: None })
    }
}

/// Runs a scenario once in the simulator.
///
/// # Errors
///
/// The simulator does not support the scenario, or its packet counts do not add up.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    Ok(Simulator::default().run(scenario, seed)?.result)
}

/// Runs a configuration of a scenario, which may record other data than the scenario.
///
/// # Errors
///
/// As [`simulate`].
pub fn simulate_as(config: Config, scenario: &Scenario) -> Result<RunResult, RunError> {
    Simulator::default().run_as(config, scenario)
}
