//! What can go wrong on the way to a kernel's packets, each in one sentence.

use std::io;

use windlass_sim::{ConfigError, ConservationError};

use super::lateness::{Bound, Lateness};

/// Why a configuration did not run on this machine's kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine lacks something that every run needs.
    #[error("the live testbed needs {what}: {remedy}")]
    Missing {
        /// What is missing.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// The kernel has refused something.
    #[error("{action}: {source}")]
    System {
        /// What was tried, and on whose behalf.
        action: String,
        /// The kernel's answer.
        source: io::Error,
    },
    /// The configuration has a radio.
    #[error(
        "radio \"{radio}\": kernels are joined by links only; simulate it, or replace it by links"
    )]
    Radio {
        /// The radio.
        radio: String,
    },
    /// The algorithm of a flow has no counterpart in any kernel.
    #[error(
        "flow \"{flow}\": Linux has no algorithm that corresponds to \"{algorithm}\"; those it may have are {known}"
    )]
    NoCounterpart {
        /// The flow.
        flow: String,
        /// Windlass's identifier.
        algorithm: String,
        /// Identifiers that have one.
        known: String,
    },
    /// This kernel lacks the algorithm of a flow.
    #[error(
        "flow \"{flow}\": this kernel does not offer the algorithm \"{name}\", only {offered}; load it with `modprobe tcp_{name}`, or run in virtual time, where a Debian kernel has all of its own"
    )]
    Unavailable {
        /// The flow.
        flow: String,
        /// The kernel's name of the algorithm.
        name: String,
        /// What the kernel offers.
        offered: String,
    },
    /// An algorithm of ours does not get into the kernel.
    #[error("flow \"{flow}\": {source}")]
    Home {
        /// The flow.
        flow: String,
        /// Why not.
        source: crate::bpf::Error,
    },
    /// The configuration asks for what a kernel cannot be asked.
    #[error("{of}: {problem}")]
    Unsupported {
        /// Whose value: `flow "a"`.
        of: String,
        /// What is wrong and what would be right.
        problem: String,
    },
    /// The configuration cannot be simulated either.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Deliveries came too late in every attempt.
    #[error(
        "deliveries were too late in each of {attempts} runs (the last one: {lateness}; allowed: {bound}), so that none is valid; \
         keep other work off the machine, or run in virtual time"
    )]
    Late {
        /// Runs that were made.
        attempts: u32,
        /// Lateness of the last one.
        lateness: Lateness,
        /// What was allowed.
        bound: Bound,
    },
    /// Packets are unaccounted for.
    #[error(transparent)]
    Conservation(#[from] ConservationError),
    /// A part of the testbed has panicked.
    #[error("the {0} of the live testbed has failed: this is a defect of Windlass")]
    Defect(&'static str),
}

impl Error {
    /// For `map_err`: the kernel's answer to `action`.
    pub fn on(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let action = action.into();
        move |source| Error::System { action, source }
    }
}
