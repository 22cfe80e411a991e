//! Arguments of `paper`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What follows the help.
pub(super) const HELP: &str = "\
Examples:
  windlass paper new mine        a folder that runs as it is
  windlass paper check ./mine    whether its files fit each other; nothing is run
  windlass reproduce ./mine      run it";

/// Arguments of `paper`.
#[derive(Args)]
pub struct PaperArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: PaperVerb,
}

/// What is done with a paper's folder.
#[derive(Subcommand)]
pub enum PaperVerb {
    /// Write a folder with an example of everything, which runs as it is.
    New {
        /// The folder; its last part is the paper's name.
        folder: PathBuf,
    },
    /// Note what decides the verdicts, with today's date, in the folder's registered.toml; a change since the last time
    /// is listed there and in the report.
    Register {
        /// The folder.
        folder: PathBuf,
    },
    /// Whether every measure names a point and a flow that exist, every note that is cited exists, every
    /// closed form is computed and every template renders. Nothing is run.
    ///
    /// Each mistake is one line with file, line and column, and ends with exit code 2.
    Check {
        /// Folders, or names of built-in papers; all of these when none is named.
        papers: Vec<String>,
        /// Print every point and claim as they stand after `for`, one a line, and check nothing else.
        #[arg(long)]
        list: bool,
    },
}
