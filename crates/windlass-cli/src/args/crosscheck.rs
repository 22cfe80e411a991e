//! Arguments of `crosscheck`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::crosscheck::{PAGE, RUNS};
use windlass_lab::run::World;

use super::{Work, known};

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass crosscheck --kept                     beside the recorded runs of the kernel: seconds
  windlass crosscheck --quick                    four networks, every algorithm
  windlass crosscheck --algorithm cubic          one algorithm, every network
  windlass crosscheck --on linux-vt=6.1          another kernel
  windlass crosscheck --write                    make and record what is missing, and fill in the page

The whole grid is some 850 runs on the kernel, hours of processor time; --verbose tells of each.";

/// Arguments of `crosscheck`.
#[derive(Args)]
pub struct Crosscheck {
    /// The kernel: linux-vt=6.12 or linux-vt=6.1 (Debian's, in virtual time; needs QEMU), or linux
    /// (this machine's, in real time; needs root).
    #[arg(long, value_name = "WORLD", default_value = "linux-vt=6.12", value_parser = known::world(), hide_possible_values = true)]
    pub on: World,
    /// Four networks and one seed.
    #[arg(long)]
    pub quick: bool,
    /// Only this algorithm (may be repeated).
    #[arg(long, value_name = "ID")]
    pub algorithm: Vec<String>,
    /// Only this part of the grid, such as single, shared, messages or dense-loss (may be repeated).
    #[arg(long, value_name = "PART")]
    pub grid: Vec<String>,
    /// Compare what the kernel has run already, running no more of it.
    #[arg(long)]
    pub kept: bool,
    /// The file of the kernel's runs that need not be made again.
    #[arg(long, value_name = "FILE", default_value = RUNS)]
    pub runs: PathBuf,
    /// Put the tables into this page, between its marks, and the kernel's runs into their file.
    #[arg(long, value_name = "PAGE", num_args = 0..=1, default_missing_value = PAGE)]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub work: Work,
}
