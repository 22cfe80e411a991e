//! Arguments of `compare`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::Shard;
use windlass_lab::compare::Measure;
use windlass_lab::run::World;
use windlass_lab::units::Duration;

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass compare scenarios/dumbbell.toml --algorithms cubic,bbr,reno --jitter 1s
  windlass compare scenarios/lossy-download.toml --algorithms newreno,cubic --seeds 30 --out lossy
  windlass compare scenarios/dumbbell.toml --algorithms cubic,cubic:keep=0.5 --baseline cubic
  windlass compare scenarios/dumbbell.toml --algorithms cubic,bbr --out shared --slurm 8
  windlass compare scenarios/two-rates.toml --algorithms reno,vegas --flows firmware --metric loss

docs/src/guides/compare.md explains the tables and the statistics.";

/// Arguments of `compare`.
#[derive(Args)]
pub struct Compare {
    /// Scenario file.
    pub file: PathBuf,
    /// Set the algorithms, two or more, with parameters if necessary:
    /// cubic,bbr,newreno:increase=per-byte. `slow_start=NAME` chooses a slow start. Each algorithm
    /// replaces `algorithm`, `params` and `slow_start` of a flow. If the compared flows are CoAP
    /// flows, list timers: coap,cocoa,coap:initial=15s.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', required = true, value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// Set the names of the compared flows; other flows do not change. [default: all TCP flows;
    /// without a TCP flow, all confirmable CoAP flows].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub flows: Vec<String>,
    /// Compare the others with this algorithm instead of with the best algorithm.
    #[arg(long, value_name = "ALGORITHM", value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub baseline: Option<String>,
    /// Rank the printed algorithms by this metric: goodput, queueing-delay, loss, retransmissions,
    /// jain, completion, late, latency, exchange (of CoAP) or battery-life. The report contains
    /// every ranking. [default: latency if all compared flows have messages with a deadline,
    /// otherwise exchange if all are CoAP, otherwise goodput].
    #[arg(long, value_name = "NAME", value_parser = super::known::one_of(&Measure::ALL))]
    pub metric: Option<Measure>,
    /// Set the number of replications over consecutive seeds.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub seeds: u32,
    /// Set the first seed, instead of the scenario's seed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Delay each flow's start by a random time up to this value, equal for every algorithm. In a
    /// scenario without randomness, this makes the replications differ.
    #[arg(long, value_name = "TIME")]
    pub jitter: Option<Duration>,
    /// Omit the mixtures: only the ranking, in a fraction of the runs.
    #[arg(long)]
    pub no_harm: bool,
    /// Change a value of the scenario, as in `run`: `--set link.0.rate=2Mbps`.
    #[arg(long, value_name = "KEY=VALUE", value_parser = super::known::KEY, hide_possible_values = true)]
    pub set: Vec<String>,
    /// Run on this backend, as in `run`: sim, linux, linux-vt=6.12, linux-vt=7.3, linux-vt=6.1 or ns3.
    #[arg(long, value_name = "BACKEND", default_value_t = World::Sim, value_parser = super::known::world(), hide_possible_values = true)]
    pub on: World,
    /// Print one JSON document with `rankings` and `harm` instead of tables.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the rankings as CSV instead of tables; with --out, OUT/harm.csv has the harm.
    #[arg(long)]
    pub csv: bool,
    /// Also write a folder with report.html, ranking and harm as Parquet and CSV, and every run.
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Execute one part of the runs, such as 3/8, and compare nothing. Shards may share the folder of
    /// --out on a network disk; the same command without --shard combines their runs.
    #[arg(long, value_name = "I/N", requires = "out")]
    pub shard: Option<Shard>,
    /// Submit an array job with this number of shards to Slurm, and run nothing here; the folder
    /// keeps its script as slurm.sh.
    #[arg(long, value_name = "SHARDS", requires = "out", conflicts_with = "shard", value_parser = clap::value_parser!(u16).range(1..))]
    pub slurm: Option<u16>,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}
