//! Arguments of `explain`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::scenario::units::Duration;

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass run scenarios/lossy-download.toml --out download
  windlass explain download                                  every reduction, a line each
  windlass explain download --flow download --at 12.3s       the one nearest to that moment, in sentences
  windlass explain scenarios/dumbbell.toml --at 5s           a scenario that has not been run
  windlass explain download --json | jq '.[].lost[].fate'
  windlass explain download --qlog download.sqlog            every decision, for tools that read qlog
  windlass explain download --qvis download.sqlog            with every packet, for qvis

The run is made again with everything noted, and must come to the same totals; a kernel's cannot be.";

/// Arguments of `explain`.
#[derive(Args)]
pub struct Explain {
    /// A results folder, or a scenario file.
    pub result: PathBuf,
    /// Only this flow, or subflow as FLOW:SUBFLOW.
    #[arg(long, value_name = "NAME")]
    pub flow: Option<String>,
    /// The reduction nearest to this moment of simulated time, in sentences, such as 12.3s.
    #[arg(long, value_name = "TIME")]
    pub at: Option<Duration>,
    /// The run with this seed, instead of the least.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// The run of this point, instead of the one written last.
    #[arg(long, value_name = "POINT")]
    pub point: Option<String>,
    /// Print a JSON list with everything that is known of each reduction.
    #[arg(long)]
    pub json: bool,
    /// Write every decision and every loss, not only reductions, as a qlog file, such as run.sqlog.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "json"])]
    pub qlog: Option<PathBuf>,
    /// Write them and every packet of the senders as qlog 0.3, which qvis draws, such as run.sqlog.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "json", "qlog"])]
    pub qvis: Option<PathBuf>,
    /// Write every packet on every link as a trace of ns-2, such as run.tr.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "json", "qlog", "qvis"])]
    pub ns2: Option<PathBuf>,
}
