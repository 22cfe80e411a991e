//! The program `windlass`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(all(feature = "linux", target_os = "linux"))]
    windlass_testbed::serve_if_guest();
    ExitCode::from(windlass_cli::run(std::env::args_os()))
}
