//! A configuration on this machine: kernel sockets in network namespaces, joined by the simulator.
use windlass_sim::{Config, RunResult};
/// e
#[derive(Debug, thiserror::Error)]
#[error("stub")]
pub struct Error;
/// o
#[derive(Default)]
pub struct Options;
impl Options {
    /// v
    pub fn virtual_time() -> Options {
        Options
    }
}
/// o
pub struct Outcome {
    /// r
    pub result: RunResult,
    /// k
    pub kernel: String,
}
/// r
pub fn run(_: &Config, _: &Options) -> Result<Outcome, Error> {
    Err(Error)
}
/// c
pub fn check() -> Result<(), Error> {
    Err(Error)
}
/// d
pub fn differences(_: &Config) -> Vec<String> {
    vec![]
}
