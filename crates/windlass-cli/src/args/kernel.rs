//! Arguments of `kernel`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use windlass_lab::run::World;

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass doctor                                what this machine can do, and what it lacks
  windlass kernel build cubic bbr3               objects, in a checkout of Windlass
  windlass kernel load cubic:keep=0.8            now sockets can choose wl_cubic, until it is unloaded
  windlass kernel unload wl_cubic
  windlass run s.toml --on linux --set flow.0.home=bpf    loaded for the time of the run";

/// Arguments of `kernel`.
#[derive(Args)]
pub struct Kernel {
    /// What to do.
    #[command(subcommand)]
    pub verb: KernelVerb,
}

/// What is done with algorithms for a kernel.
#[derive(Subcommand)]
pub enum KernelVerb {
    /// Build objects of algorithms by the recipe in a checkout of Windlass, and keep them in the cache.
    Build {
        /// The algorithms; all that a kernel takes when none is named.
        algorithms: Vec<String>,
        /// The checkout, instead of the one that the working folder is in.
        #[arg(long, value_name = "DIR")]
        source: Option<PathBuf>,
    },
    /// Put an algorithm into this machine's kernel, where sockets can choose it (TCP_CONGESTION) until it is unloaded or
    /// the machine restarts. No default is changed. Needs root and Linux 6.4.
    Load {
        /// The algorithm, with parameters if need be, such as cubic:keep=0.8.
        algorithm: String,
        /// Its name in the kernel, instead of `wl_` and the algorithm's.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Have a kernel count how long an algorithm runs at each acknowledgement (BPF run statistics).
    Cost {
        /// The algorithms; all that a kernel takes when none is named. `linux:reno` and `linux:cubic` are the kernel's own C.
        algorithms: Vec<String>,
        /// The kernel: linux-vt=6.12 or linux-vt=6.1, where a nanosecond is an instruction, or linux (this machine's; root).
        #[arg(long, value_name = "WORLD", default_value = "linux-vt=6.12")]
        on: World,
    },
    /// Print the names of the algorithms that are loaded.
    List,
    /// Take algorithms from the kernel. Connections that run one keep it until they end.
    Unload {
        /// Their names in the kernel.
        #[arg(required_unless_present = "all")]
        names: Vec<String>,
        /// All that `list` prints.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
}
