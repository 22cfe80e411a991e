//! Arguments of `assess`.

use clap::Args;
use windlass_lab::run::World;
use windlass_lab::units::Duration;

use super::Work;

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass assess cubic --quick                    two minutes on two processors
  windlass assess cubic:keep=0.5                   with another parameter
  windlass assess --quick cubic bbr3 tcp-modified  beside each other
  windlass assess cubic --only general,loss        two families
  windlass assess cubic --on linux-vt --budget 2h  Linux's own, on a kernel in virtual time
  windlass assess linux:nv --on linux-vt --seeds 6 --only reordering,mixed-short
                                                   one that only a kernel has, by the kernel's name

docs/src/guides/assess.md says what is asked and what the verdicts mean.";

/// Arguments of `assess`.
#[derive(Args)]
pub struct Assess {
    /// The algorithms, with parameters where wanted: cubic, scalable:cut=0.001; linux:nv is what a kernel has under this name.
    #[arg(required = true, value_name = "ALGORITHM", value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// As much as takes about two minutes for each, `--budget 2min`; what that leaves open is undecided or not run.
    #[arg(long, conflicts_with = "budget")]
    pub quick: bool,
    /// Time for the runs of each algorithm, about and on two processors; it is spent where it decides most. The same
    /// budget makes the same runs on every machine.
    #[arg(long, value_name = "TIME", default_value = "30min")]
    pub budget: Duration,
    /// Replications of each point, instead of as many as it takes to decide.
    #[arg(long, value_name = "N", conflicts_with_all = ["quick", "budget"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub seeds: Option<u32>,
    /// Where to run it: sim, linux or linux-vt. Outside of the simulator the algorithm is the kernel's of this name, a run takes many times as long, and a budget
    /// makes as many fewer.
    #[arg(long, value_name = "WORLD", default_value_t = World::Sim)]
    pub on: World,
    /// These parts only, FAMILY, FAMILY.CRITERION or FAMILY.CRITERION.NETWORK by the names of scorecard.json. Their runs count
    /// for the whole too.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub only: Vec<String>,
    /// The examination: one that is built in, or a folder of one's own.
    #[arg(long, value_name = "NAME", default_value = "rfc9743")]
    pub examination: String,
    #[command(flatten)]
    pub work: Work,
}
