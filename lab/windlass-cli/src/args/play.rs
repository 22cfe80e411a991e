//! Arguments of `play`.

use std::path::PathBuf;

use clap::Args;

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass play                                  the examples
  windlass play scenarios/lossy-download.toml    this scenario
  windlass play --save play.html                 write the page to a file, to open or to send it";

/// Arguments of `play`.
#[derive(Args)]
pub struct Play {
    /// Scenario to start with.
    pub scenario: Option<PathBuf>,
    /// Set the port on this machine; 0 is any free port.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Write the page to this file instead of serving it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "scenario"])]
    pub save: Option<PathBuf>,
    /// Use this page, instead of the page in the folder of this binary or of its build.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}
