//! Arguments of `crosscheck`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::crosscheck::{PAGE, RUNS};
use windlass_lab::run::World;

use super::known;
use super::work::Work;

/// Examples.
pub const HELP: &str = "\
Examples:
  windlass crosscheck --kept                     compare with recorded kernel runs: seconds
  windlass crosscheck --quick                    four networks, every algorithm
  windlass crosscheck --algorithm cubic          one algorithm, every network
  windlass crosscheck --on linux-vt=6.1          another kernel
  windlass crosscheck --write                    execute and record missing runs, and fill in the page

The whole grid is about 850 runs on the kernel, hours of processor time; --verbose reports each run.";

/// Arguments of `crosscheck`.
#[derive(Args)]
pub struct Crosscheck {
    /// Compare with this kernel. linux-vt=6.12, linux-vt=7.3 and linux-vt=6.1 are Debian's, in virtual time, and
    /// need QEMU. linux is this machine's kernel, in real time, and needs root.
    #[arg(long, value_name = "BACKEND", default_value = "linux-vt=6.12", value_parser = known::world(), hide_possible_values = true)]
    pub on: World,
    /// Run only four networks and one seed.
    #[arg(long)]
    pub quick: bool,
    /// Run only this algorithm (may be repeated).
    #[arg(long, value_name = "ID")]
    pub algorithm: Vec<String>,
    /// Run only this part of the grid, such as single, shared, messages or dense-loss (may be
    /// repeated).
    #[arg(long, value_name = "PART")]
    pub grid: Vec<String>,
    /// Compare with the finished runs of the kernel, without new kernel runs.
    #[arg(long)]
    pub kept: bool,
    /// Read recorded kernel runs from this file, and do not repeat them.
    #[arg(long, value_name = "FILE", default_value = RUNS)]
    pub runs: PathBuf,
    /// Write the tables into this page, between its marks, and the kernel's runs into their file.
    #[arg(long, value_name = "PAGE", num_args = 0..=1, default_missing_value = PAGE)]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub work: Work,
}
