//! `windlass completions`.

use clap::CommandFactory;

use crate::args::{Cli, Completions};
use crate::output::{Failure, print};

/// Prints the script.
pub fn run(args: &Completions) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "windlass", &mut script);
    print(&String::from_utf8_lossy(&script))
}
