//! The running kernel as a backend.

use windlass_run::{Backend, Ran, RunError, World, no_classes};
use windlass_scenario::compile::compile;
use windlass_scenario::{Home, Scenario};

use crate::bpf::{self, replay::Replayed};
use crate::live;

/// The running kernel, over links that the simulator emulates in real time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Linux;

impl Backend for Linux {
    fn world(&self) -> World {
        World::Linux
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        no_radio(World::Linux, scenario)?;
        let objects = bpf::object::folder().map_err(RunError::backend)?;
        let (ran, _) = run(scenario, seed, live::Options { objects, ..live::Options::default() })?;
        Ok(ran)
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

/// Runs a scenario on the running kernel.
pub(crate) fn run(
    scenario: &Scenario,
    seed: u64,
    options: live::Options,
) -> Result<(Ran, Vec<Replayed>), RunError> {
    let receive_window = scenario.testbed.receive_window;
    let options =
        live::Options { receive_window, ours: ours(scenario), named: named(scenario), ..options };
    let outcome = live::run(&compile(scenario, seed)?, &options).map_err(RunError::backend)?;
    let mut result = outcome.result;
    for (place, _) in &options.named {
        let (spec, flow) = (&scenario.flows[*place], &mut result.flows[*place]);
        flow.algorithm = spec.algorithm().into_owned();
        for subflow in flow.multipath.iter_mut().flat_map(|m| &mut m.subflows) {
            subflow.algorithm.clone_from(&flow.algorithm);
        }
    }
    Ok((Ran { result, kernel: Some(outcome.kernel) }, outcome.replayed))
}

/// Positions of the flows whose algorithm is given by the kernel's name, with this name.
fn named(scenario: &Scenario) -> Vec<(usize, String)> {
    let flows = scenario.flows.iter().enumerate();
    flows.filter_map(|(place, flow)| Some((place, flow.kernel.clone()?))).collect()
}

/// Positions of the flows that use Windlass's algorithm.
pub(crate) fn ours(scenario: &Scenario) -> Vec<usize> {
    let flows = scenario.flows.iter().enumerate();
    flows.filter(|(_, flow)| flow.home == Home::Bpf).map(|(place, _)| place).collect()
}

/// Returns the parts of the scenario that a kernel cannot reproduce.
pub(crate) fn differences(world: World, scenario: &Scenario) -> Result<Vec<String>, RunError> {
    no_radio(world, scenario)?;
    let ours = ours(scenario);
    for place in &ours {
        let flow = &scenario.flows[*place];
        let checked = flow.controller.as_ref().map_or(Ok(()), bpf::object::check);
        checked
            .map_err(|source| live::Error::Home { flow: flow.name.clone(), source })
            .map_err(RunError::backend)?;
    }
    Ok(live::differences(&compile(scenario, scenario.seed)?, &ours, &named(scenario)))
}

/// Checks that the scenario has no radio cell, no link with a radio and no class in Python, because these backends
/// only have links and their own algorithms.
pub(crate) fn no_radio(world: World, scenario: &Scenario) -> Result<(), RunError> {
    no_classes(world, scenario)?;
    if let Some(link) = scenario.links.iter().find(|link| link.radio.is_some()) {
        return Err(RunError::NoLinkRadio { world, link: link.name.clone() });
    }
    match scenario.wifi.first() {
        Some(cell) => Err(RunError::NoRadio { world, cell: cell.radio.name.clone() }),
        None => Ok(()),
    }
}
