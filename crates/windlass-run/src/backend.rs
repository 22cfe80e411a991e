//! Back ends: what a scenario can run on. The scenario is the same on each.

use std::error::Error;

use windlass_scenario::Scenario;
use windlass_sim::{ConfigError, ConservationError, RunResult};

use crate::World;

/// What a run yielded, and on what.
#[derive(Clone, PartialEq, Debug)]
pub struct Ran {
    /// What it yielded.
    pub result: RunResult,
    /// The kernel's release, such as `6.12.117+deb12-cloud-amd64`, and what emulates its processor, if something does;
    /// `None` in the simulator.
    pub kernel: Option<String>,
}

/// One place where scenarios run.
pub trait Backend: Send + Sync {
    /// Its name.
    fn world(&self) -> World;

    /// Runs a scenario once.
    ///
    /// # Errors
    ///
    /// The simulator does not take the scenario, or the back end lacks what it asks for or is not to be
    /// had here; the error says what is missing.
    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError>;

    /// Whether scenarios can run here.
    ///
    /// # Errors
    ///
    /// What is missing, and what would help.
    fn check(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// What a run here would be on now, as its [`Ran::kernel`] will have it; `None` where that follows from the
    /// name, as in the simulator, or cannot be told before a run.
    fn release(&self) -> Option<String> {
        None
    }

    /// Where a run of the scenario differs from the simulator's besides being another stack's: a
    /// sentence each.
    ///
    /// # Errors
    ///
    /// As [`Backend::run`], as far as that can be known beforehand.
    fn differences(&self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        let _ = scenario;
        Ok(Vec::new())
    }
}

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The simulator does not take the scenario.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The simulator lost count of packets.
    #[error("run of \"{scenario}\" with seed {seed}: {source}")]
    Books {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the run.
        seed: u64,
        /// What is unaccounted for.
        source: ConservationError,
    },
    /// An algorithm from outside is to run on what is no ordinary TCP connection.
    #[error("`{0}` is no ordinary TCP connection: it runs no algorithm but the scenario's")]
    NoConnection(String),
    /// This program has no such back end.
    #[error(
        "this Windlass cannot run anything in the world `{0}`: it was built for another system, or \
         without the feature `linux`"
    )]
    NotBuilt(World),
    /// A kernel was asked of the simulator.
    #[error("there is no kernel in a simulator; choose linux, linux-vt=6.12 or linux-vt=6.1")]
    NoKernel,
    /// The scenario has a Wi-Fi cell, and the world links only.
    #[error(
        "the world `{world}` has no radio for the Wi-Fi cell `{cell}`: its nodes are joined by links; \
         run it with --on sim, or write links instead of the cell"
    )]
    NoRadio {
        /// The world.
        world: World,
        /// Name of the cell.
        cell: String,
    },
    /// The scenario has an algorithm by a kernel's name of it, and the world has no kernel.
    #[error(
        "flow `{flow}`: only a kernel has `{algorithm}`, and the world `{world}` has none; run it with --on linux or \
         linux-vt, or name one of `windlass algorithms`"
    )]
    NoSuchKernel {
        /// The world.
        world: World,
        /// Name of the flow.
        flow: String,
        /// The algorithm.
        algorithm: String,
    },
    /// It was to stop before its end.
    #[error("the run was stopped before its end")]
    Stopped,
    /// The back end failed, in its own words.
    #[error(transparent)]
    Backend(Box<dyn Error + Send + Sync>),
}

impl RunError {
    /// A failure of a back end.
    pub fn backend(error: impl Into<Box<dyn Error + Send + Sync>>) -> RunError {
        RunError::Backend(error.into())
    }

    /// Whether the scenario, or the world that was asked for, is at fault, and not the machine.
    pub fn is_input(&self) -> bool {
        !matches!(self, RunError::Books { .. } | RunError::Stopped | RunError::Backend(_))
    }
}

/// That every algorithm of the scenario is one of ours, for a world that has no kernel.
///
/// # Errors
///
/// The first flow whose is not.
pub fn no_kernels(world: World, scenario: &Scenario) -> Result<(), RunError> {
    match scenario.flows.iter().find(|flow| flow.kernel.is_some()) {
        Some(flow) => Err(RunError::NoSuchKernel {
            world,
            flow: flow.name.clone(),
            algorithm: flow.algorithm().into_owned(),
        }),
        None => Ok(()),
    }
}
