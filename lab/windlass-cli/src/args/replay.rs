//! Arguments of `replay`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::run::World;

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass kernel build cubic && windlass replay cubic
  windlass replay cubic --network lossy --on linux
  windlass replay cubic bbr --write replays.csv                  add a row per network to a file
  windlass replay cubic --on ns3                                 Windlass's CUBIC in ns-3's sockets
  windlass replay --recorded my-host.jsonl                       recordings of another host

The exit code is 1 if an answer differs or an event was not recorded.";

/// Arguments of `replay`.
#[derive(Args)]
pub struct Replay {
    /// Algorithms [default: all that a kernel accepts].
    #[arg(value_parser = super::known::ALGORITHM, hide_possible_values = true)]
    pub algorithms: Vec<String>,
    /// Check on this backend. The kernels linux-vt=6.12, linux-vt=7.3 and linux-vt=6.1 are Debian's, in virtual
    /// time, and need QEMU. The kernel of linux is this machine's, in real time, and needs root.
    /// With ns3, Windlass's algorithms run in ns-3's sockets. WINDLASS_NS3_PROGRAM names a program
    /// with them.
    #[arg(long, value_name = "BACKEND", default_value = "linux-vt=6.12")]
    pub on: World,
    /// Run only this network (may be repeated): clean, shallow, deep, lossy, bursty or narrow. A
    /// coupled algorithm has two paths, and the networks alike, unlike, lossy and shared.
    #[arg(long, value_name = "NAME")]
    pub network: Vec<String>,
    /// Replay recordings (JSON lines) instead; a folder stands for all recordings in it (may be
    /// repeated). A recording with the name of a network as its `case` is compared with this
    /// network.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["algorithms", "on", "network"])]
    pub recorded: Vec<PathBuf>,
    /// Set the seed of the losses.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: u64,
    /// Write the events of the algorithm in host and simulator into this folder. The files are
    /// ALGORITHM-NETWORK-kernel.csv, with the host's name for kernel, and
    /// ALGORITHM-NETWORK-simulated.csv.
    #[arg(long, value_name = "FOLDER")]
    pub events: Option<PathBuf>,
    /// Write one row per network into this CSV file, and replace the rows of the same algorithm and
    /// host.
    #[arg(long, value_name = "FILE", conflicts_with = "network")]
    pub write: Option<PathBuf>,
}
