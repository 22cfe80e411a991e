//! The program `windlass-quic`: the command `windlass` with flows of quinn.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    windlass_quic::flows::register();
    ExitCode::from(windlass_cli::run_as("windlass-quic", std::env::args_os()))
}
