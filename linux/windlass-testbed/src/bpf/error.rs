//! Errors of building and loading an algorithm for a kernel.

use std::io;

/// Reason why an algorithm is not in the kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// libbpf cannot be opened.
    #[error(
        "{} cannot be opened ({why}): on Debian `apt-get install libbpf1`; `windlass doctor` lists all requirements",
        "libbpf.so.1"
    )]
    NoLibbpf {
        /// Error text of the dynamic loader.
        why: String,
    },
    /// The kernel does not accept congestion control from BPF.
    #[error(
        "this kernel ({release}) does not accept congestion control from BPF: this needs Linux 6.1 or later with CONFIG_BPF_SYSCALL, \
         CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF; `windlass doctor` gives details, and `--on linux-vt` does not use this kernel"
    )]
    NoStructOps {
        /// Release of the kernel, as `uname -r` prints it.
        release: String,
    },
    /// The object has not been built.
    #[error(
        "object of `{algorithm}` not found; build it with `windlass kernel build {algorithm}` in a checkout of Windlass"
    )]
    NotBuilt {
        /// Identifier of the algorithm.
        algorithm: &'static str,
    },
    /// Building the object failed.
    #[error("building the object of `{algorithm}` failed: {why}")]
    Build {
        /// Identifiers of the algorithms.
        algorithm: String,
        /// Reason that the recipe printed.
        why: String,
    },
    /// The algorithm or its parameters cannot run in a kernel.
    #[error("{0}")]
    Unsupported(String),
    /// The loader cannot use the object.
    #[error("the object is not usable: {0}; build it again with `windlass kernel build`")]
    Object(String),
    /// The kernel rejected a program.
    #[error("the kernel refused the algorithm: {why} ({verifier})")]
    Refused {
        /// Text of the system's error.
        why: String,
        /// Last line of the verifier's log.
        verifier: String,
    },
    /// The kernel is older than Linux 6.4 and cannot pin an algorithm.
    #[error(
        "this kernel cannot pin an algorithm to a file (Linux 6.4 or later can); a flow with `home = \"bpf\"` still runs here"
    )]
    NoLinks,
    /// A system call or a libbpf call failed.
    #[error("{what}: {source}")]
    System {
        /// The failed operation.
        what: String,
        /// Error of the system.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: names the operation `what` that failed.
    pub(super) fn on(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::System { what, source }
    }
}
