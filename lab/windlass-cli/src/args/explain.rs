//! Arguments of `explain`.

use std::path::PathBuf;

use clap::Args;
use windlass_lab::scenario::units::Duration;
use windlass_lab::why::Which;

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass run scenarios/lossy-download.toml --out download
  windlass explain download                                  every reduction, one per line
  windlass explain download --flow download --at 12.3s       the reduction nearest to that time, in sentences
  windlass explain scenarios/dumbbell.toml --at 5s           a scenario without an earlier run
  windlass explain scenarios/telemetry-alarms.toml --flow alarms --message worst
  windlass explain download --json | jq '.[].lost[].fate'
  windlass explain download --qlog download.sqlog            every decision, for qlog tools
  windlass explain download --qvis download.sqlog            also every packet, for qvis

The command repeats the run with full records, and checks that its totals are equal. It cannot repeat a
kernel's run.";

/// Arguments of `explain`.
#[derive(Args)]
pub struct Explain {
    /// Results folder, or scenario file.
    pub result: PathBuf,
    /// Explain only this flow; a subflow is FLOW:SUBFLOW.
    #[arg(long, value_name = "NAME")]
    pub flow: Option<String>,
    /// Describe in sentences the reduction nearest to this simulated time, such as 12.3s.
    #[arg(long, value_name = "TIME")]
    pub at: Option<Duration>,
    /// Explain why a message was late: its packets in order of time, and the longest wait. N is the
    /// number of a message of the flow, from 1; `worst` is the one with the largest latency.
    #[arg(long, value_name = "N", conflicts_with_all = ["at", "json", "qlog", "qvis"])]
    pub message: Option<Which>,
    /// Explain the run with this seed, instead of the smallest seed.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Explain the run of this point, instead of the run written last.
    #[arg(long, value_name = "POINT")]
    pub point: Option<String>,
    /// Print a JSON list with all data of each reduction.
    #[arg(long)]
    pub json: bool,
    /// Write every decision and every loss as a qlog file, such as run.sqlog, not only the
    /// reductions.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "json"])]
    pub qlog: Option<PathBuf>,
    /// Write the decisions and every packet of the senders as qlog 0.3 for qvis, such as run.sqlog.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["at", "json", "qlog"])]
    pub qvis: Option<PathBuf>,
}
