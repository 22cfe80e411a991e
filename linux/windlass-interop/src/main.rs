//! The `windlass-dev` command.
#![forbid(unsafe_code)]

mod args;
mod commands;
mod failure;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};

fn main() -> ExitCode {
    windlass_interop::worlds::serve_if_guest();
    let done = match &Cli::parse().command {
        Command::Conform(a) => commands::conform::run(a),
        Command::Script(a) => commands::script::run(a),
        Command::Interop(a) => commands::interop::run(a),
        Command::Lockstep(a) => commands::lockstep::run(a),
        Command::Calibrate(a) => commands::calibrate::run(a),
    };
    done.map_or_else(|failure| failure.tell(), |()| ExitCode::SUCCESS)
}
