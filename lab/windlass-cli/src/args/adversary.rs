//! Arguments of `break`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::adversary::Goal;
use windlass_lab::run::World;
use windlass_lab::units::{Duration, Probability};

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass break newreno --losses 0 --bursts 15%     only other traffic: the low-rate attack
  windlass break bbr --outages 500ms --runs 5000     a longer search
  windlass break vegas --goal starvation --jitter 10ms   two vegas flows, the first with varying delay
  windlass break bbr3 --goal harm --rival cubic      the harm to another algorithm
  windlass break bbr --goal stall --replay linux-vt  check the attack on a kernel
  windlass break cubic --seed 2 --out attack         write the scenario, to run and capture it

docs/src/guides/break.md describes the choices of the adversary.";

/// Arguments of `break`.
#[derive(Args)]
pub struct Break {
    /// Algorithm, with parameters if necessary: cubic, cubic:keep=0.5.
    #[arg(value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithm: String,
    /// Set the adversary's goal: idleness, stall (permanent), starvation (of one of two flows),
    /// harm (to the rival) or delay.
    #[arg(long, value_name = "GOAL", default_value = "idleness", value_parser = super::known::one_of(&Goal::ALL))]
    pub goal: Goal,
    /// Set the maximum number of lost packets.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub losses: u16,
    /// Set the maximum share of the time in which other traffic fills the bottleneck.
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pub bursts: Probability,
    /// Set the maximum time in which the bottleneck is down.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub outages: Duration,
    /// Set the minimum and maximum queue, packets; the path's bandwidth-delay product is 33
    /// packets.
    #[arg(long, value_name = "LEAST,MOST", default_value = "8,132", value_parser = queue)]
    pub queue: [u64; 2],
    /// Set the minimum rate of the bottleneck, as a share of the full rate; the rate changes in
    /// steps.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub rate: f64,
    /// Set the maximum additional delay of the first flow's packets; the delay varies.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub jitter: Duration,
    /// Set the maximum time for which acknowledgements are held; they arrive together or thinned.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub acks: Duration,
    /// Add a second flow with this algorithm, which starts at the time of the greatest damage.
    /// Without a rival, the second flow of starvation has the same algorithm as the first.
    #[arg(long, value_name = "ALGORITHM", value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub rival: Option<String>,
    /// Search on this backend with its own implementation of the algorithm: sim, linux-vt or ns3. A
    /// run takes a tenth of a second in ns3, and up to many seconds in linux-vt.
    #[arg(long, value_name = "BACKEND", default_value_t = World::Sim, value_parser = super::known::world(), hide_possible_values = true)]
    pub on: World,
    /// Also run the attack on this backend, such as linux-vt, with its own implementation of the
    /// algorithm.
    #[arg(long, value_name = "BACKEND", value_parser = super::known::world())]
    pub replay: Option<World>,
    /// Set the maximum number of runs of the search; the reduction of the attack takes some
    /// additional runs.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub runs: u64,
    /// Set the seed of the search.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// Set the folder for attack.json and the scenario that shows the attack.
    #[arg(short, long, value_name = "DIR", default_value = "attack")]
    pub out: PathBuf,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

fn queue(text: &str) -> Result<[u64; 2], String> {
    let ends = text
        .split_once(',')
        .and_then(|(least, most)| Some([least.trim().parse().ok()?, most.trim().parse().ok()?]));
    ends.ok_or_else(|| format!("`{text}`: write LEAST,MOST in packets, such as 8,132"))
}
