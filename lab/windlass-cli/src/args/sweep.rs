//! Arguments of `sweep`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::Shard;
use windlass_lab::run::World;
use windlass_lab::sweep::{Goal, Measure, WarmUp};

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass sweep scenarios/lossy-download.toml --axis 'flow.*.algorithm=reno,cubic,bbr'
  windlass sweep scenarios/lossy-download.toml --axis 'link.0.rate=1Mbps..16Mbps times 2' \\
      --axis 'flow.*.algorithm=reno,cubic' --until 'flow.*.goodput_bps ±2%'
  windlass sweep scenarios/sweeps/loss.toml --dry-run       points, runs and estimated cost
  windlass sweep scenarios/sweeps/loss.toml --shard 3/8     the third of eight jobs on a cluster
  windlass sweep scenarios/sweeps/loss.toml --slurm 8       all eight jobs, as a Slurm array job
  windlass sweep scenarios/sweeps/loss.toml --kept          a summary of the finished runs

docs/src/guides/sweeps.md explains sweep files, statistics and clusters.";

/// Arguments of `sweep`.
#[derive(Args)]
pub struct Sweep {
    /// Scenario, or sweep file that names a scenario.
    pub file: PathBuf,
    /// Vary a key: `link.0.queue=10pkt,50pkt,1bdp`, `link.0.rate=1Mbps..8Mbps times 2`,
    /// `'flow.*.algorithm=cubic,reno'`. Keys joined by `+` change together. A prefix `NAME:` names
    /// the axis.
    #[arg(long, value_name = "KEY=VALUES", value_parser = super::known::KEY, hide_possible_values = true)]
    pub axis: Vec<String>,
    /// Change a value at every point, as in `windlass run`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Run on this backend: sim, linux, linux-vt=6.12, linux-vt=7.3, linux-vt=6.1, ns3; several backends form an
    /// axis.
    #[arg(long, value_name = "BACKEND", value_delimiter = ',', value_parser = super::known::world(), hide_possible_values = true)]
    pub on: Vec<World>,
    /// Set the number of runs per point [default: 10].
    #[arg(long, value_name = "N", conflicts_with = "until", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub seeds: Option<u64>,
    /// Set the first seed, instead of the scenario's seed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Add runs until the 95 % interval of a metric's mean is at most this wide:
    /// `'flow.*.goodput_bps ±2%'` (may be repeated).
    #[arg(long, value_name = "METRIC ±WIDTH", value_parser = Goal::parse)]
    pub until: Vec<Goal>,
    /// Set the minimum number of runs per point with --until [default: 30].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub min_seeds: Option<u64>,
    /// Set the maximum number of runs per point with --until [default: 1000].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub max_seeds: Option<u64>,
    /// Tabulate this metric: flow.NAME.FIELD, link.NAME.FIELD or run.FIELD, with `*` for the mean
    /// over all (may be repeated) [default: `flow.*.goodput_bps`].
    #[arg(long, value_name = "METRIC", value_parser = super::known::measure(), hide_possible_values = true)]
    pub metric: Vec<Measure>,
    /// Omit the beginning of each flow in flow.NAME.steady_goodput_bps: a time, or `mser` for the
    /// length by the MSER-5 rule.
    #[arg(long, value_name = "TIME")]
    pub warmup: Option<WarmUp>,
    /// Execute one part of the runs, such as 3/8; shards may share a folder on a network disk.
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Submit an array job with this number of shards to Slurm, and run nothing here; the folder
    /// keeps its script as slurm.sh.
    #[arg(long, value_name = "SHARDS", conflicts_with_all = ["shard", "kept", "dry_run"], value_parser = clap::value_parser!(u16).range(1..))]
    pub slurm: Option<u16>,
    /// Summarise the finished runs without new runs, also while other processes are running.
    #[arg(long, conflicts_with = "shard")]
    pub kept: bool,
    /// Print the numbers of points and runs and the estimated cost. Some runs may be timed for the
    /// estimate; none of them is kept.
    #[arg(long, conflicts_with = "kept")]
    pub dry_run: bool,
    /// Print the points as one JSON array instead of a table.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the points as CSV instead of a table.
    #[arg(long)]
    pub csv: bool,
    /// Set the folder for results [default: results/sweep-NAME].
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}
