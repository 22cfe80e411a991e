//! Arguments of `paper`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Text after the options in the help.
pub(super) const HELP: &str = "\
Examples:
  windlass paper new mine        write a folder that runs unchanged
  windlass paper check ./mine    check that its files are consistent, without a run
  windlass reproduce ./mine      run it";

/// Arguments of `paper`.
#[derive(Args)]
pub struct PaperArgs {
    /// The command to execute.
    #[command(subcommand)]
    pub verb: PaperVerb,
}

/// Commands on a paper's folder.
#[derive(Subcommand)]
pub enum PaperVerb {
    /// Write a folder with an example of every file; the example runs unchanged.
    New {
        /// Folder; its last part is the paper's name.
        folder: PathBuf,
    },
    /// Record the content that decides the verdicts, with today's date, in the folder's
    /// registered.toml. It and the report list each change since the last registration.
    Register {
        /// Folder of the paper.
        folder: PathBuf,
    },
    /// Check that every measure names an existing point and flow, that every cited note exists,
    /// that every closed form is computed, and that every template renders. Nothing is run.
    ///
    /// Each mistake is one line with file, line and column. The exit code is then 2.
    Check {
        /// Folders, or names of built-in papers [default: all built-in papers].
        papers: Vec<String>,
        /// Print every point and claim after the expansion of `for`, one per line, and check nothing else.
        #[arg(long)]
        list: bool,
    },
}
