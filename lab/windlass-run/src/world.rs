//! The names of the backends, and their properties.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use windlass_scenario::{Candidate, Home, Scenario};

use crate::version::{KERNEL_VERSION, VERSION, results};

/// A backend.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum World {
    /// The simulator, with Windlass's TCP.
    #[default]
    Sim,
    /// This machine's kernel, over links that the simulator emulates in real time.
    Linux,
    /// A Debian kernel of this series under QEMU, in virtual time.
    LinuxVt(KernelSeries),
    /// ns-3 3.44, with its TCP.
    Ns3,
}

impl World {
    /// Every backend; the default series comes first.
    pub const ALL: [World; 6] = [
        World::Sim,
        World::Linux,
        World::LinuxVt(KernelSeries::V6_12),
        World::LinuxVt(KernelSeries::V7_3),
        World::LinuxVt(KernelSeries::V6_1),
        World::Ns3,
    ];

    /// The hash of the scenario parts that the backend uses. Kernels and ns-3 identify algorithms by name only,
    /// so their runs stay valid if Windlass's parameters change. If Windlass's implementation runs in the kernel,
    /// its parameters and the version of the simulated results count too.
    pub fn hash(self, scenario: &Scenario) -> String {
        match self {
            World::Sim => scenario.hash(),
            World::Linux | World::LinuxVt(_)
                if scenario.flows.iter().any(|flow| flow.home == Home::Bpf) =>
            {
                format!("{}-{}", scenario.hash_without_parameters(), results(VERSION))
            }
            World::Linux | World::LinuxVt(_) | World::Ns3 => scenario.hash_without_parameters(),
        }
    }

    /// Checks that the backend can run a candidate. A kernel selects algorithms by their names alone, and only a
    /// kernel has `linux:` algorithms.
    ///
    /// # Errors
    ///
    /// The fault, in a sentence.
    pub fn takes(self, candidate: &Candidate) -> Result<(), String> {
        let label = &candidate.label;
        let kernel = matches!(self, World::Linux | World::LinuxVt(_));
        if let (Some(_), false) = (&candidate.class, self == World::Sim) {
            return Err(format!(
                "{label}: a class in Python runs on the backend sim only, not on `{self}`"
            ));
        }
        match candidate.kernel {
            Some(_) if !kernel => Err(format!(
                "{label}: only a kernel has this algorithm, and the backend `{self}` has no kernel; choose linux or linux-vt"
            )),
            None if self != World::Sim && label.contains(':') => Err(format!(
                "{label}: parameters can be set only on the backend sim; other backends select an algorithm by its name"
            )),
            _ => Ok(()),
        }
    }

    /// Number of concurrent runs, if `wanted` are requested (0: one per processor). By default a run in real time
    /// uses the machine alone.
    pub fn jobs(self, wanted: usize) -> usize {
        if self == World::Linux { wanted.max(1) } else { wanted }
    }

    /// The version that determines a run's result. For a kernel it covers only the links and the testbed.
    pub fn version(self) -> &'static str {
        if self == World::Sim { VERSION } else { KERNEL_VERSION }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            World::Sim => f.write_str("sim"),
            World::Linux => f.write_str("linux"),
            World::LinuxVt(series) => write!(f, "linux-vt={series}"),
            World::Ns3 => f.write_str("ns3"),
        }
    }
}

impl FromStr for World {
    type Err = String;

    fn from_str(text: &str) -> Result<World, String> {
        let text = if text == "linux-vt" { "linux-vt=6.12" } else { text };
        World::ALL.into_iter().find(|w| w.to_string() == text).ok_or_else(|| {
            let known: Vec<String> = World::ALL.iter().map(ToString::to_string).collect();
            format!("backend `{text}` not found; expected one of {}", known.join(", "))
        })
    }
}

impl<'de> Deserialize<'de> for World {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<World, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A series of Linux kernels: the long-term releases that Debian 12 and 13 are built on, and one with accurate ECN.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum KernelSeries {
    /// Linux 6.12, of Debian 13.
    V6_12,
    /// Linux 7.3, of the backports of Debian 13. From 7.0 on the kernel has accurate ECN.
    V7_3,
    /// Linux 6.1, of Debian 12.
    V6_1,
}

impl KernelSeries {
    /// Every series; the default is first.
    pub const ALL: [KernelSeries; 3] =
        [KernelSeries::V6_12, KernelSeries::V7_3, KernelSeries::V6_1];

    /// The name, such as `6.12`.
    pub fn name(self) -> &'static str {
        match self {
            KernelSeries::V7_3 => "7.3",
            KernelSeries::V6_12 => "6.12",
            KernelSeries::V6_1 => "6.1",
        }
    }

    /// True if a kernel's release (the output of `uname -r`) belongs to this series.
    pub fn covers(self, release: &str) -> bool {
        release.strip_prefix(self.name()).is_some_and(|rest| rest.starts_with(['.', '-']))
    }
}

impl fmt::Display for KernelSeries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for KernelSeries {
    type Err = String;

    fn from_str(text: &str) -> Result<KernelSeries, String> {
        KernelSeries::ALL.into_iter().find(|series| series.name() == text).ok_or_else(|| {
            let known: Vec<_> = KernelSeries::ALL.iter().map(|series| series.name()).collect();
            format!("kernel series `{text}` not found; expected {}", known.join(" or "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_by_a_kernels_name_is_for_kernels_and_parameters_are_not() {
        let takes = |label: &str, world: World| {
            let candidate = Candidate::parse(label).expect("an algorithm");
            world.takes(&candidate).err().unwrap_or_default()
        };
        let vt = World::LinuxVt(KernelSeries::V6_12);
        assert_eq!(takes("linux:nv", vt) + &takes("cubic:keep=0.8", World::Sim), "");
        assert!(takes("linux:nv", World::Sim).contains("choose linux or linux-vt"));
        assert!(takes("linux:nv", World::Ns3).contains("the backend `ns3` has no kernel"));
        assert!(takes("cubic:keep=0.8", vt).contains("select an algorithm by its name"));
        let text = "duration = '1s'\n[[link]]\nbetween = ['a', 'b']\nrate = '1Mbps'\n[[flow]]\n\
            from = 'a'\nto = 'b'\nalgorithm = 'linux:nv'";
        let scenario = Scenario::from_str(text, "s.toml").expect("a scenario");
        let error = crate::simulate(&scenario, 1).expect_err("a simulator has no kernel");
        assert!(error.is_input() && error.to_string().contains("only a kernel has `linux:nv`"));
    }

    #[test]
    fn worlds_are_read_as_they_are_written() {
        for world in World::ALL {
            assert_eq!(world.to_string().parse(), Ok(world));
        }
        assert_eq!("linux-vt".parse(), Ok(World::LinuxVt(KernelSeries::V6_12)));
        let problem = "linux-vt=5.4".parse::<World>().unwrap_err();
        assert!(problem.contains("linux-vt=6.1"), "{problem}");
    }
}
