//! Arguments of `play`.

use std::path::PathBuf;

use clap::Args;

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass play                                  the examples
  windlass play scenarios/lossy-download.toml    this scenario
  windlass play --save play.html                 the page as a file, to open or to send";

/// Arguments of `play`.
#[derive(Args)]
pub struct Play {
    /// A scenario to begin with.
    pub scenario: Option<PathBuf>,
    /// Port on this machine; 0 takes any that is free.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,
    /// Write the page to this file instead of serving it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["port", "scenario"])]
    pub save: Option<PathBuf>,
    /// The page, instead of the one beside this binary or in the folder of its build.
    #[arg(long, value_name = "FILE")]
    pub page: Option<PathBuf>,
}
