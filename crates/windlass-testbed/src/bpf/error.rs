//! What can go wrong on an algorithm's way into a kernel.

use std::io;

/// Why an algorithm is not in the kernel.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// libbpf is not to be had.
    #[error(
        "{} cannot be opened ({why}): on Debian `apt-get install libbpf1`; `windlass doctor` says what else is needed",
        "libbpf.so.1"
    )]
    NoLibbpf {
        /// The loader's reason.
        why: String,
    },
    /// The kernel takes no congestion control from BPF.
    #[error(
        "this kernel ({release}) takes no congestion control from BPF: it needs Linux 6.1 or later with CONFIG_BPF_SYSCALL, \
         CONFIG_BPF_JIT and CONFIG_DEBUG_INFO_BTF; `windlass doctor` says more, and `--on linux-vt` needs nothing of this kernel"
    )]
    NoStructOps {
        /// What `uname -r` prints.
        release: String,
    },
    /// Nobody has built the object.
    #[error(
        "there is no object of `{algorithm}` for the kernel; build it with `windlass kernel build {algorithm}` in a checkout of Windlass"
    )]
    NotBuilt {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// The object cannot be built.
    #[error("building the object of `{algorithm}` failed: {why}")]
    Build {
        /// What was to be built.
        algorithm: String,
        /// The recipe's reason.
        why: String,
    },
    /// The kernel home has no such algorithm, or not so.
    #[error("{0}")]
    Unsupported(String),
    /// The object is none that this loader knows.
    #[error("the object is not usable: {0}; build it again with `windlass kernel build`")]
    Object(String),
    /// The kernel has refused a program.
    #[error("the kernel refused the algorithm: {why} ({verifier})")]
    Refused {
        /// The system's word.
        why: String,
        /// The verifier's last word.
        verifier: String,
    },
    /// Before Linux 6.4.
    #[error(
        "this kernel cannot hold an algorithm by a file (Linux 6.4 can); a flow with `home = \"bpf\"` runs here all the same"
    )]
    NoLinks,
    /// The system has refused something.
    #[error("{what}: {source}")]
    System {
        /// What was tried.
        what: String,
        /// The answer.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`: the system's answer to `what`.
    pub(super) fn on(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        let what = what.into();
        move |source| Error::System { what, source }
    }
}
