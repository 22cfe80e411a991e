//! Worlds: where a scenario runs. The scenario is the same in each.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use windlass_sim::{RunResult, Simulation};
use windlass_testbed::{live, vm};

pub use windlass_testbed::interop;
use windlass_testbed::interop::{Case, Direction, Report};

use crate::compile::compile;
use crate::run::RunError;
use crate::scenario::Scenario;

/// Where a scenario runs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum World {
    /// In the simulator, with Windlass's own TCP.
    #[default]
    Sim,
    /// On this machine's kernel, over links that the simulator emulates in real time.
    Linux,
    /// On a Debian kernel of this series under QEMU, in virtual time.
    LinuxVt(vm::Series),
}

/// What a run yielded, and on what.
#[derive(Clone, PartialEq, Debug)]
pub struct Ran {
    /// What it yielded.
    pub result: RunResult,
    /// The kernel's release, such as `6.12.117+deb12-cloud-amd64`; `None` in the simulator.
    pub kernel: Option<String>,
}

impl World {
    /// Every world, the default series of each first.
    pub const ALL: [World; 4] = [
        World::Sim,
        World::Linux,
        World::LinuxVt(vm::Series::V6_12),
        World::LinuxVt(vm::Series::V6_1),
    ];

    /// Runs a scenario once.
    ///
    /// # Errors
    ///
    /// The simulator does not take the scenario, the world has no radio for its Wi-Fi cells, or is not to
    /// be had here; the error says what is missing.
    pub fn run(self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        self.takes(scenario)?;
        match self {
            World::Sim => {
                let mut simulation = Simulation::new(compile(scenario, seed)?)?;
                simulation.run();
                let books =
                    |source| RunError::Books { scenario: scenario.name.clone(), seed, source };
                Ok(Ran { result: simulation.finish().map_err(books)?, kernel: None })
            }
            World::Linux => {
                let options = kernel_options(scenario, live::Options::default());
                let outcome = live::run(&compile(scenario, seed)?, &options)?;
                Ok(Ran { result: outcome.result, kernel: Some(outcome.kernel) })
            }
            World::LinuxVt(series) => crate::guest::run(series, scenario, seed),
        }
    }

    /// Whether there is what the scenario asks for: kernels get packets over links only.
    fn takes(self, scenario: &Scenario) -> Result<(), RunError> {
        if self == World::Sim {
            return Ok(());
        }
        match scenario.wifi.first() {
            Some(cell) => Err(RunError::NoRadio { world: self, cell: cell.radio.name.clone() }),
            None => Ok(()),
        }
    }

    /// Whether scenarios can run in this world here.
    ///
    /// # Errors
    ///
    /// What is missing, and what would help.
    pub fn check(self) -> Result<(), RunError> {
        match self {
            World::Sim => Ok(()),
            World::Linux => Ok(live::check()?),
            World::LinuxVt(series) => Ok(vm::check(series)?),
        }
    }

    /// What of the scenario a kernel cannot be told: where it differs from the simulator besides
    /// being another stack.
    ///
    /// # Errors
    ///
    /// The scenario is too large to simulate, or has a Wi-Fi cell where the world has
    /// none.
    pub fn differences(self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        self.takes(scenario)?;
        match self {
            World::Sim => Ok(Vec::new()),
            World::Linux | World::LinuxVt(_) => {
                Ok(live::differences(&compile(scenario, scenario.seed)?))
            }
        }
    }

    /// Holds our endpoint and this world's kernel to each other in these cases, and returns the reports
    /// and the kernel's release. `seed` is of the random losses. In virtual time only failures keep
    /// their packets. `done` is told of each case as it ends; in virtual time, when all have.
    ///
    /// # Errors
    ///
    /// The world has no kernel, or is not to be had here.
    pub fn interop(
        self,
        cases: &[(&Case, Direction)],
        seed: u64,
        done: impl Fn(&Report) + Sync,
    ) -> Result<(Vec<Report>, String), RunError> {
        match self {
            World::Sim => Err(RunError::NoKernel),
            World::Linux => {
                live::check()?;
                let options = interop::Options { seed, ..interop::Options::default() };
                let reports = interop::run(cases, &options, done)?;
                Ok((reports, live::kernel()))
            }
            World::LinuxVt(series) => {
                let (reports, kernel) = crate::guest::interop(series, cases, seed)?;
                reports.iter().for_each(done);
                Ok((reports, kernel))
            }
        }
    }

    /// The scenario's hash, as far as the world takes it: a kernel knows an algorithm by its name
    /// alone, so that its runs outlive a change of our parameters.
    pub fn hash(self, scenario: &Scenario) -> String {
        match self {
            World::Sim => scenario.hash(),
            World::Linux | World::LinuxVt(_) => scenario.hash_without_parameters(),
        }
    }

    /// Runs side by side, if so many are wanted (0: one for each processor). Unless told otherwise a
    /// run in real time has the machine for itself.
    pub fn jobs(self, wanted: usize) -> usize {
        if self == World::Linux { wanted.max(1) } else { wanted }
    }

    /// The version that makes a run's result what it is: for a kernel the links and the testbed
    /// alone.
    pub fn version(self) -> &'static str {
        if self == World::Sim { crate::VERSION } else { crate::TESTBED_VERSION }
    }
}

/// What a kernel's run is told beside the configuration.
pub(crate) fn kernel_options(scenario: &Scenario, options: live::Options) -> live::Options {
    live::Options { receive_window: scenario.testbed.receive_window, ..options }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            World::Sim => f.write_str("sim"),
            World::Linux => f.write_str("linux"),
            World::LinuxVt(series) => write!(f, "linux-vt={series}"),
        }
    }
}

impl FromStr for World {
    type Err = String;

    fn from_str(text: &str) -> Result<World, String> {
        let text = if text == "linux-vt" { "linux-vt=6.12" } else { text };
        World::ALL.into_iter().find(|w| w.to_string() == text).ok_or_else(|| {
            let known: Vec<String> = World::ALL.iter().map(ToString::to_string).collect();
            format!("there is no world `{text}`; there are {}", known.join(", "))
        })
    }
}

impl<'de> Deserialize<'de> for World {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<World, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worlds_are_read_as_they_are_written() {
        for world in World::ALL {
            assert_eq!(world.to_string().parse(), Ok(world));
        }
        assert_eq!("linux-vt".parse(), Ok(World::LinuxVt(vm::Series::V6_12)));
        let problem = "linux-vt=5.4".parse::<World>().unwrap_err();
        assert!(problem.contains("linux-vt=6.1"), "{problem}");
    }
}
