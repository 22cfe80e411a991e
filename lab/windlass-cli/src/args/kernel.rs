//! Arguments of `kernel`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use windlass_lab::run::World;

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass doctor                                capabilities of this machine, and remedies
  windlass kernel build cubic bbr3               build objects, in a checkout of Windlass
  windlass kernel load cubic:keep=0.8            sockets can choose wl_cubic until it is unloaded
  windlass kernel unload wl_cubic
  windlass run s.toml --on linux --set flow.0.home=bpf    loaded for the time of the run";

/// Arguments of `kernel`.
#[derive(Args)]
pub struct Kernel {
    /// The command to execute.
    #[command(subcommand)]
    pub verb: KernelVerb,
}

/// Commands on algorithms for a kernel.
#[derive(Subcommand)]
pub enum KernelVerb {
    /// Build objects of algorithms by the recipe in a checkout of Windlass, and keep them in the
    /// cache.
    Build {
        /// Algorithms [default: all that a kernel accepts].
        algorithms: Vec<String>,
        /// Use this checkout, instead of the checkout that contains the working folder.
        #[arg(long, value_name = "DIR")]
        source: Option<PathBuf>,
    },
    /// Load an algorithm into this machine's kernel. Sockets can choose it (TCP_CONGESTION) until
    /// it is unloaded or the machine restarts. No default changes. Needs root and Linux 6.4.
    Load {
        /// Algorithm, with parameters if necessary, such as cubic:keep=0.8.
        algorithm: String,
        /// Set its name in the kernel [default: `wl_` and the algorithm's name].
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
    },
    /// Measure in a kernel the run time of an algorithm per acknowledgement (BPF run statistics).
    Cost {
        /// Algorithms [default: all that a kernel accepts]. `linux:reno` and `linux:cubic` are the kernel's own
        /// C.
        algorithms: Vec<String>,
        /// Measure on this kernel. In linux-vt=6.12, linux-vt=7.3 and linux-vt=6.1, a nanosecond is an instruction. linux is
        /// this machine's kernel and needs root.
        #[arg(long, value_name = "BACKEND", default_value = "linux-vt=6.12")]
        on: World,
    },
    /// Print the names of the loaded algorithms.
    List,
    /// Unload algorithms from the kernel. Connections that run one of them keep it until they end.
    Unload {
        /// Names of the algorithms in the kernel.
        #[arg(required_unless_present = "all")]
        names: Vec<String>,
        /// Unload all algorithms that `list` prints.
        #[arg(long, conflicts_with = "names")]
        all: bool,
    },
}
