//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::Shard;
use windlass_lab::run::World;
use windlass_lab::sweep::{Goal, Measure, WarmUp};

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass sweep scenarios/lossy-download.toml --axis 'flow.*.algorithm=reno,cubic,bbr'
  windlass sweep scenarios/lossy-download.toml --axis 'link.0.rate=1Mbps..16Mbps times 2' \\
      --axis 'flow.*.algorithm=reno,cubic' --until 'flow.*.goodput_bps ±2%'
  windlass sweep scenarios/sweeps/loss.toml --dry-run       points, runs and what they will cost
  windlass sweep scenarios/sweeps/loss.toml --shard 3/8     the third of a cluster's eight jobs
  windlass sweep scenarios/sweeps/loss.toml --slurm 8       all eight of them as a job of Slurm
  windlass sweep scenarios/sweeps/loss.toml --kept          what is there by now

docs/src/guides/sweeps.md tells of sweep files, statistics and clusters.";

/// Arguments of `sweep`.
#[derive(Args)]
pub struct Sweep {
    /// A scenario, or a sweep file that names one.
    pub file: PathBuf,
    /// Vary a key: `link.0.queue=10pkt,50pkt,1bdp`, `link.0.rate=1Mbps..8Mbps times 2`,
    /// `'flow.*.algorithm=cubic,reno'`; keys joined by `+` move together; `NAME:` in front names it.
    #[arg(long, value_name = "KEY=VALUES", value_parser = super::known::KEY, hide_possible_values = true)]
    pub axis: Vec<String>,
    /// Change a value at every point, as in `windlass run`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Where to run it: sim, linux, linux-vt=6.12, linux-vt=6.1, ns3; several make an axis.
    #[arg(long, value_name = "WORLD", value_delimiter = ',', value_parser = super::known::world(), hide_possible_values = true)]
    pub on: Vec<World>,
    /// Runs of each point; 10 unless told otherwise.
    #[arg(long, value_name = "N", conflicts_with = "until", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seeds: Option<u64>,
    /// First seed, instead of the scenario's.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Add runs until the 95 % interval of a metric's mean is as narrow as this:
    /// `'flow.*.goodput_bps ±2%'`; may be given several times.
    #[arg(long, value_name = "METRIC ±WIDTH", value_parser = Goal::parse)]
    pub until: Vec<Goal>,
    /// With --until: runs of a point before it may stop; 30 unless told otherwise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub min_seeds: Option<u64>,
    /// With --until: runs of a point at most; 1000 unless told otherwise.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub max_seeds: Option<u64>,
    /// What to tabulate: flow.NAME.FIELD, link.NAME.FIELD or run.FIELD, `*` for the mean over all;
    /// `flow.*.goodput_bps` unless told otherwise; may be given several times.
    #[arg(long, value_name = "METRIC", value_parser = super::known::measure(), hide_possible_values = true)]
    pub metric: Vec<Measure>,
    /// Leave out each flow's beginning in flow.NAME.steady_goodput_bps: a time, or `mser` for as much
    /// as the MSER-5 rule says.
    #[arg(long, value_name = "TIME")]
    pub warmup: Option<WarmUp>,
    /// Do one part of the work, such as 3/8; shards may share a folder on a network disk.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Submit an array job of so many shards to Slurm, and make nothing here; its script stays in the folder as slurm.sh.
    #[arg(long, value_name = "SHARDS", conflicts_with_all = ["shard", "kept", "dry_run"], value_parser = clap::value_parser!(u16).range(1..))]
    pub slurm: Option<u16>,
    /// Make no run; sum up what is there, be it at work or not.
    #[arg(long, conflicts_with = "shard")]
    pub kept: bool,
    /// Print the number of points and runs and what they will cost; some runs may be timed for that,
    /// none is kept.
    #[arg(long, conflicts_with = "kept")]
    pub dry_run: bool,
    /// Print the points as one JSON array instead of a table.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the points as CSV instead of a table.
    #[arg(long)]
    pub csv: bool,
    /// Folder for results; results/sweep-NAME unless told otherwise.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Runs side by side; 0 takes one for each processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}
