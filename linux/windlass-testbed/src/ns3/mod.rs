//! ns-3 as a backend. A program of Windlass, built against the ns-3 of PyPI on the user's machine, simulates
//! the scenario's links and flows with ns-3's own TCP. Random losses are drawn here as in Windlass's
//! simulator, so that both simulators lose the same frames.

mod outcome;
mod program;
mod task;

use std::fs;

use windlass_cc::AnyParams;
use windlass_run::{Backend, Ran, RunError, World, no_kernels};
use windlass_scenario::Scenario;
use windlass_scenario::compile::compile;
use windlass_sim::FlowResult;
use windlass_sim::config::FlowConfig;

use self::program::Error;
use self::task::Ours;

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
        let task = task::write(&config, None)?;
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
        task::write(&config, None)?;
        Ok(task::differences(&config))
    }
}

/// Returns each flow's result with Windlass's algorithm in ns-3's sockets (`TcpWindlass` of `integrations/ns3`), and
/// its sender's recording.
///
/// # Errors
///
/// Returns an error if ns-3 does not support the scenario, if no program with `TcpWindlass` is given, or if
/// the run failed.
pub fn recorded(
    scenario: &Scenario,
    params: &AnyParams,
    seed: u64,
) -> Result<Vec<(FlowResult, String)>, RunError> {
    no_radio(World::Ns3, scenario)?;
    program::with_ours().map_err(RunError::backend)?;
    let failed = |source| RunError::backend(Error::System { what: "recordings".into(), source });
    let folder = tempfile::tempdir().map_err(failed)?;
    let config = compile(scenario, seed)?;
    let task = task::write(&config, Some(&Ours { params: *params, folder: folder.path() }))?;
    let answer = program::ask(&task).map_err(RunError::backend)?;
    let result = outcome::read(&answer, &config).map_err(RunError::backend)?;
    let with_recording = |(flow, result): (&FlowConfig, FlowResult)| {
        let path = folder.path().join(format!("{}-0.jsonl", flow.from));
        Ok((result, fs::read_to_string(path).map_err(failed)?))
    };
    config.flows.iter().zip(result.flows).map(with_recording).collect()
}
