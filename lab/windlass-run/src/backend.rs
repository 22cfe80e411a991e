//! Backends: the systems that run scenarios. Each backend runs the same scenario.

use std::error::Error;

use windlass_scenario::Scenario;
use windlass_sim::{ConfigError, ConservationError, RunResult};

use crate::World;

/// The result of a run, with the kernel that ran it.
#[derive(Clone, PartialEq, Debug)]
pub struct Ran {
    /// The result.
    pub result: RunResult,
    /// The kernel's release, such as `6.12.117+deb12-cloud-amd64`, with the emulator of its processor if one is used.
    /// `None` in the simulator.
    pub kernel: Option<String>,
}

/// A system that runs scenarios.
pub trait Backend: Send + Sync {
    /// The backend's name.
    fn world(&self) -> World;

    /// Runs a scenario once.
    ///
    /// # Errors
    ///
    /// The backend does not support the scenario, or is not available here. The error names the missing part.
    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError>;

    /// Checks that scenarios can run here.
    ///
    /// # Errors
    ///
    /// The missing part, with a remedy.
    fn check(&self) -> Result<(), RunError> {
        Ok(())
    }

    /// The kernel that a run would use now, in the form of [`Ran::kernel`]. `None` if the backend's name implies it,
    /// as in the simulator, or if it is not known before a run.
    fn release(&self) -> Option<String> {
        None
    }

    /// Differences between a run here and a run of the simulator, apart from the other stack. One sentence each.
    ///
    /// # Errors
    ///
    /// As [`Backend::run`], if the error is known before a run.
    fn differences(&self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        let _ = scenario;
        Ok(Vec::new())
    }
}

/// The reason why a run gave no result.
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
        /// The packets that are not accounted for.
        source: ConservationError,
    },
    /// An external algorithm is set for a flow that is not an ordinary TCP connection.
    #[error("`{0}` is not an ordinary TCP connection: it runs only the scenario's algorithm")]
    NoConnection(String),
    /// This program was built without the backend.
    #[error(
        "this Windlass has no backend `{0}`: it was built for another system, or without the feature `linux`, as is the \
         Python package; on Linux use the release's binary archive or `cargo install --path lab/windlass-cli`"
    )]
    NotBuilt(World),
    /// The command needs a kernel, and the simulator has no kernel.
    #[error(
        "the simulator has no kernel; choose linux, linux-vt=6.12, linux-vt=7.3 or linux-vt=6.1"
    )]
    NoKernel,
    /// The scenario has a Wi-Fi cell, and the backend has only links.
    #[error(
        "the backend `{world}` has no radio for the Wi-Fi cell `{cell}`: its nodes are joined by links; \
         run it with --on sim, or write links instead of the cell"
    )]
    NoRadio {
        /// The backend.
        world: World,
        /// Name of the cell.
        cell: String,
    },
    /// A link has a radio, and the backend has only plain links.
    #[error(
        "the backend `{world}` has no `radio` for the link `{link}`: its links have no states and no energy; run it \
         with --on sim, or remove `radio` and write `rate` and `delay`"
    )]
    NoLinkRadio {
        /// The backend.
        world: World,
        /// Name of the link.
        link: String,
    },
    /// The scenario has an algorithm that only kernels have, and the backend has no kernel.
    #[error(
        "flow `{flow}`: only a kernel has `{algorithm}`, and the backend `{world}` has no kernel; run it with --on linux or \
         linux-vt, or choose an algorithm of `windlass algorithms`"
    )]
    NoSuchKernel {
        /// The backend.
        world: World,
        /// Name of the flow.
        flow: String,
        /// The algorithm.
        algorithm: String,
    },
    /// The scenario has a class in Python, and the backend has only its own algorithms.
    #[error(
        "flow `{flow}`: `{algorithm}` is a class in Python, which the backend `{world}` does not have; run it with --on sim"
    )]
    NoClass {
        /// The backend.
        world: World,
        /// Name of the flow.
        flow: String,
        /// The class.
        algorithm: String,
    },
    /// A flow does not suit the QUIC library that it names, or this program does not have the library.
    #[error("flow `{flow}`: {message}")]
    Library {
        /// Name of the flow.
        flow: String,
        /// The reason, with a remedy.
        message: String,
    },
    /// A class in Python failed.
    #[error("flow `{flow}`: {message}")]
    Class {
        /// Name of the flow.
        flow: String,
        /// The exception.
        message: String,
    },
    /// The process that should make the run refused it.
    #[error("{0}")]
    Refused(String),
    /// The processes that make the runs do not answer.
    #[error("{0}")]
    Lost(String),
    /// The run was stopped before its end.
    #[error("the run was stopped before its end")]
    Stopped,
    /// The backend failed. The error has its message.
    #[error(transparent)]
    Backend(Box<dyn Error + Send + Sync>),
}

impl RunError {
    /// A failure of a backend.
    pub fn backend(error: impl Into<Box<dyn Error + Send + Sync>>) -> RunError {
        RunError::Backend(error.into())
    }

    /// True if the scenario or the choice of the backend causes the error, and not the machine.
    pub fn is_input(&self) -> bool {
        !matches!(
            self,
            RunError::Books { .. } | RunError::Stopped | RunError::Lost(_) | RunError::Backend(_)
        )
    }

    /// True if no further run can succeed.
    pub fn ends_all(&self) -> bool {
        self.is_input() || matches!(self, RunError::Stopped | RunError::Lost(_))
    }
}

/// Checks, for a backend without a kernel, that the scenario has only Windlass's algorithms.
///
/// # Errors
///
/// The first flow with a kernel's algorithm.
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

/// Checks, for a backend without Python and without QUIC libraries, that the scenario needs neither.
///
/// # Errors
///
/// The first flow with a class or a library.
pub fn no_classes(world: World, scenario: &Scenario) -> Result<(), RunError> {
    if let Some(flow) = scenario.flows.iter().find(|flow| flow.library.is_some()) {
        return Err(RunError::Library {
            flow: flow.name.clone(),
            message: format!(
                "only the backend sim has `{}`; run it with --on sim",
                flow.algorithm()
            ),
        });
    }
    match scenario.flows.iter().find(|flow| flow.class.is_some()) {
        Some(flow) => Err(RunError::NoClass {
            world,
            flow: flow.name.clone(),
            algorithm: flow.algorithm().into_owned(),
        }),
        None => Ok(()),
    }
}
