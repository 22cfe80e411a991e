//! The version of stored results.

/// The number of the results' version. Raise it by hand with every change after which any simulated
/// run has another record. Runs that are stored under another number are repeated. The test `results`
/// fails if results change and this number does not.
macro_rules! results {
    () => {
        "results.9"
    };
}

/// The number for runs on kernels, which use neither the simulator's endpoints nor its algorithms.
macro_rules! kernel_results {
    () => {
        "kernel-results.2"
    };
}

/// Version of Windlass, and of the results of simulated runs.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", results!());

/// Version of Windlass, and of the results of runs on kernels.
pub(crate) const KERNEL_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "+", kernel_results!());

/// The part of a version that determines the results. Another release of Windlass alone does not make
/// runs stale.
pub(crate) fn results(version: &str) -> &str {
    version.split_once('+').map_or(version, |(_, results)| results)
}
