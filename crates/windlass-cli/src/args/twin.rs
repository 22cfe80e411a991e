//! Arguments of `twin`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::run::World;

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass kernel build cubic && windlass twin cubic
  windlass twin cubic --network lossy --on linux
  windlass twin cubic bbr --write docs/src/trust/twins.md      fill in their rows
  windlass twin cubic --on ns3                                 our algorithm in ns-3's sockets
  windlass twin --recorded my-host.jsonl                       what a host of one's own has recorded

Exit code 1: an answer differs, or an event was not recorded.";

/// Arguments of `twin`.
#[derive(Args)]
pub struct Twin {
    /// The algorithms; all that a kernel takes when none is named.
    #[arg(value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// The kernel: linux-vt=6.12 or linux-vt=6.1 (Debian's, in virtual time; needs QEMU), or linux
    /// (this machine's, in real time; needs root). Or ns3, with our algorithms in its sockets; WINDLASS_NS3_PROGRAM names
    /// a program that has them.
    #[arg(long, value_name = "WORLD", default_value = "linux-vt=6.12")]
    pub on: World,
    /// Only this network (may be repeated): clean, shallow, deep, lossy, bursty or narrow; for a coupled algorithm, which has two
    /// paths, alike, unlike, lossy or shared.
    #[arg(long, value_name = "NAME")]
    pub network: Vec<String>,
    /// Replay recordings, JSON lines, instead (may be repeated; a folder: all in it). Those whose `case` is one of the networks
    /// are compared with it.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["algorithms", "on", "network"])]
    pub recorded: Vec<PathBuf>,
    /// Seed of the losses.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: u64,
    /// Write what the algorithm heard in either world into this folder: ALGORITHM-NETWORK-kernel.csv, or the host's name
    /// for kernel, and -simulated.csv.
    #[arg(long, value_name = "FOLDER")]
    pub events: Option<PathBuf>,
    /// Put the rows into this page, in place of those of the same algorithm and host, and the networks of each into the
    /// algorithm's own page beside it, twins/ALGORITHM.md.
    #[arg(long, value_name = "PAGE", conflicts_with = "network")]
    pub write: Option<PathBuf>,
}
