//! Arguments of `break`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::adversary::Goal;
use windlass_lab::run::World;
use windlass_lab::units::{Duration, Probability};

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass break newreno --losses 0 --bursts 15%     other traffic alone: the low-rate attack
  windlass break bbr --outages 500ms --runs 5000     longer
  windlass break vegas --goal starvation --jitter 10ms   two flows of it, the first over a path that varies
  windlass break bbr3 --goal harm --rival cubic      what it does to another
  windlass break bbr --goal stall --replay linux-vt  is it the model or the algorithm?
  windlass break cubic --seed 2 --out attack         the scenario, to run and to capture

docs/src/guides/break.md says what an adversary can do.";

/// Arguments of `break`.
#[derive(Args)]
pub struct Break {
    /// The algorithm, with parameters where wanted: cubic, cubic:keep=0.5.
    #[arg(value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithm: String,
    /// What the adversary wants: idleness, stall (for good), starvation (of one of two flows), harm (to the rival) or delay.
    #[arg(long, value_name = "GOAL", default_value = "idleness", value_parser = super::known::one_of(&Goal::ALL))]
    pub goal: Goal,
    /// Packets that may be lost.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub losses: u16,
    /// Share of the time in which other traffic may fill the bottleneck.
    #[arg(long, value_name = "SHARE", default_value = "10%")]
    pub bursts: Probability,
    /// Time in which the bottleneck may be down.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub outages: Duration,
    /// Least and largest queue, packets; 33 are the path's bandwidth-delay product.
    #[arg(long, value_name = "LEAST,MOST", default_value = "8,132", value_parser = queue)]
    pub queue: [u64; 2],
    /// Least rate of the bottleneck, as a share of the whole: it changes in steps.
    #[arg(long, value_name = "SHARE", default_value_t = 1.0)]
    pub rate: f64,
    /// Most delay that the subject's packets may have beside the path's, now more and now less.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub jitter: Duration,
    /// Longest time for which acknowledgements may be held, to come together or thinned out.
    #[arg(long, value_name = "TIME", default_value = "0s")]
    pub acks: Duration,
    /// Algorithm of a second flow, which begins when it does most damage. Starvation has one of the algorithm's own without this.
    #[arg(long, value_name = "ALGORITHM", value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub rival: Option<String>,
    /// Where to search: sim, linux-vt or ns3, with its own version of the algorithm. Outside of the simulator a run takes from a tenth
    /// of a second, in ns3, to many seconds.
    #[arg(long, value_name = "WORLD", default_value_t = World::Sim, value_parser = super::known::world(), hide_possible_values = true)]
    pub on: World,
    /// Also make the run in this world, such as linux-vt, with its own version of the algorithm.
    #[arg(long, value_name = "WORLD", value_parser = super::known::world())]
    pub replay: Option<World>,
    /// Runs that the search may take; making what it finds smaller takes some more.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub runs: u64,
    /// Seed of the search.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print one JSON document.
    #[arg(long)]
    pub json: bool,
    /// Folder for the scenario that shows it, and attack.json.
    #[arg(short, long, value_name = "DIR", default_value = "attack")]
    pub out: PathBuf,
    /// Runs side by side; 0 takes one for each processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}

fn queue(text: &str) -> Result<[u64; 2], String> {
    let ends = text
        .split_once(',')
        .and_then(|(least, most)| Some([least.trim().parse().ok()?, most.trim().parse().ok()?]));
    ends.ok_or_else(|| format!("`{text}`: write LEAST,MOST in packets, such as 8,132"))
}
