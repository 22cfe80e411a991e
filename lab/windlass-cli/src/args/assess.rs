//! Arguments of `assess`.

use clap::Args;
use windlass_lab::Shard;
use windlass_lab::run::World;
use windlass_lab::units::Duration;

use super::work::Work;

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass assess cubic --quick                    two minutes on two processors
  windlass assess cubic:keep=0.5                   a different parameter
  windlass assess --quick cubic bbr3 tcp-modified  three algorithms in one comparison
  windlass assess cubic --only general,loss        two families
  windlass assess cubic --on linux-vt --budget 2h  Linux's CUBIC, on a kernel in virtual time
  windlass assess linux:nv --on linux-vt --seeds 6 --only reordering,mixed-short
                                                   an algorithm that only a kernel has, by its kernel name

docs/src/guides/assess.md explains the criteria and the verdicts.";

/// Arguments of `assess`.
#[derive(Args)]
pub struct Assess {
    /// Algorithms, with parameters if necessary: cubic, scalable:cut=0.001. linux:nv is a kernel's
    /// algorithm of this name.
    #[arg(required = true, value_name = "ALGORITHM", value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// Limit the runs to about two minutes per algorithm, as `--budget 2min`; the remaining
    /// criteria are undecided or not run.
    #[arg(long, conflicts_with = "budget")]
    pub quick: bool,
    /// Limit the time for the runs of each algorithm, as an approximate time on two processors.
    /// Runs are added where they decide most. The same budget executes the same runs on every
    /// machine.
    #[arg(long, value_name = "TIME", default_value = "30min")]
    pub budget: Duration,
    /// Set the number of replications per point. Without it, runs are added until the verdicts are
    /// decided.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "budget"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: Option<u32>,
    /// Run on this backend: sim, linux or linux-vt. On linux and linux-vt, the algorithm is the
    /// kernel's algorithm of this name. A run takes many times longer there, so that a budget
    /// allows fewer runs.
    #[arg(long, value_name = "BACKEND", default_value_t = World::Sim)]
    pub on: World,
    /// Assess only these parts: FAMILY, FAMILY.CRITERION or FAMILY.CRITERION.NETWORK, by the names
    /// of scorecard.json. A full assessment reuses their runs.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Execute one part of the runs, such as 3/8, independent of earlier verdicts, and grade nothing.
    /// Shards may share a folder on a network disk; the same command without --shard combines their
    /// runs.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Submit an array job with this number of shards to Slurm, and run nothing here; the folder
    /// keeps its script as slurm.sh.
    #[arg(long, value_name = "SHARDS", conflicts_with = "shard", value_parser = clap::value_parser!(u16).range(1..))]
    pub slurm: Option<u16>,
    /// Set the examination: the name of a built-in examination, or a folder with your own.
    #[arg(long, value_name = "NAME", default_value = "rfc9743")]
    pub examination: String,
    #[command(flatten)]
    pub work: Work,
}
