//! Arguments of commands that make runs.

use std::path::PathBuf;

use clap::Args;

/// Folder for results and number of parallel runs.
#[derive(Args)]
pub struct Work {
    /// Set the folder for results.
    #[arg(short, long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    /// Set the number of parallel runs; 0 is one run per processor.
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    pub jobs: u16,
}
