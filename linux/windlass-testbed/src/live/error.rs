//! Errors of a run on the kernel, each in one sentence.

use std::io;

use windlass_sim::{ConfigError, ConservationError};

use super::lateness::{Bound, Lateness};

/// Reason why a configuration did not run on this machine's kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This machine does not meet a requirement of every run.
    #[error("the live testbed needs {what}: {remedy}")]
    Missing {
        /// Missing requirement.
        what: String,
        /// Remedy.
        remedy: String,
    },
    /// The kernel rejected an operation.
    #[error("{action}: {source}")]
    System {
        /// Attempted operation, and the flow or device that it was for.
        action: String,
        /// Error of the kernel.
        source: io::Error,
    },
    /// The configuration has a radio.
    #[error(
        "radio \"{radio}\": kernels are joined by links only; simulate it, or replace it by links"
    )]
    Radio {
        /// Name of the radio.
        radio: String,
    },
    /// The algorithm of a flow has no counterpart in any kernel.
    #[error(
        "flow \"{flow}\": Linux has no algorithm that corresponds to \"{algorithm}\"; algorithms with a counterpart: {known}"
    )]
    NoCounterpart {
        /// Name of the flow.
        flow: String,
        /// Windlass's identifier.
        algorithm: String,
        /// Identifiers of the algorithms that have a counterpart.
        known: String,
    },
    /// This kernel does not offer the algorithm of a flow.
    #[error(
        "flow \"{flow}\": this kernel does not offer the algorithm \"{name}\", only {offered}; load it with `modprobe tcp_{name}`, or run in virtual time, where a Debian kernel offers all Linux algorithms"
    )]
    Unavailable {
        /// Name of the flow.
        flow: String,
        /// The kernel's name of the algorithm.
        name: String,
        /// Algorithms that the kernel offers.
        offered: String,
    },
    /// This kernel refuses a value of a sysctl.
    #[error(
        "this kernel refuses {value} as net.ipv4.{name}; Linux has accurate ECN from 7.0 on: choose linux-vt=7.3"
    )]
    NoAccurateEcn {
        /// Name of the sysctl.
        name: &'static str,
        /// The refused value.
        value: String,
    },
    /// Windlass's algorithm cannot be loaded into the kernel.
    #[error("flow \"{flow}\": {source}")]
    Home {
        /// Name of the flow.
        flow: String,
        /// Reason.
        source: crate::bpf::Error,
    },
    /// The configuration has a setting that a kernel does not support.
    #[error("{of}: {problem}")]
    Unsupported {
        /// Owner of the setting: `flow "a"`.
        of: String,
        /// The fault and the remedy.
        problem: String,
    },
    /// The configuration cannot be simulated either.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Deliveries were too late in every attempt.
    #[error(
        "deliveries were too late in each of {attempts} runs (last run {lateness}; allowed {bound}), so no run is valid: \
         keep other work off the machine, or run in virtual time"
    )]
    Late {
        /// Number of attempted runs.
        attempts: u32,
        /// Lateness of the last run.
        lateness: Lateness,
        /// Allowed lateness.
        bound: Bound,
    },
    /// Packets are unaccounted for.
    #[error(transparent)]
    Conservation(#[from] ConservationError),
    /// A thread of the testbed has panicked.
    #[error("the {0} of the live testbed has failed: this is a defect of Windlass")]
    Defect(&'static str),
}

impl Error {
    /// For `map_err`: names the operation `action` that failed.
    pub fn on(action: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let action = action.into();
        move |source| Error::System { action, source }
    }
}
