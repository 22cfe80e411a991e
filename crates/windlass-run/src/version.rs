//! What a stored result is a result of.

/// Raised by hand with every change after which some simulated run comes to another record: runs that
/// are kept under another number are made again. The test `results` fails when results move and
/// this does not.
macro_rules! results {
    () => {
        "results.8"
    };
}

/// The same for runs on kernels, in which the simulator's endpoints and algorithms have no part.
macro_rules! kernel_results {
    () => {
        "kernel-results.2"
    };
}

/// Version of Windlass, and of what its simulated runs come to.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", results!());

/// The same of runs on kernels.
pub(crate) const KERNEL_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", kernel_results!());

/// The part of a version by which runs are the same: another release of Windlass alone does not make
/// them stale.
pub(crate) fn results(version: &str) -> &str {
    version.split_once('+').map_or(version, |(_, results)| results)
}
