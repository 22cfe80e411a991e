//! `windlass-audit-rust STACK ALGORITHM`: a Rust library behind the packet interface of `windlass audit`.

mod protocol;
#[cfg(feature = "quic")]
mod quic;
#[cfg(feature = "smoltcp")]
mod smoltcp;

use std::process::ExitCode;

use protocol::{Open, refuse, serve};

/// The stacks of this build, by name.
const STACKS: &[(&str, Open)] = &[
    #[cfg(feature = "quinn")]
    ("quinn", quic::quinn::open),
    #[cfg(feature = "noq")]
    ("noq", quic::noq::open),
    #[cfg(feature = "smoltcp")]
    ("smoltcp-0.12", smoltcp::v12::open),
    #[cfg(feature = "smoltcp")]
    ("smoltcp-0.13", smoltcp::v13::open),
    #[cfg(feature = "smoltcp")]
    ("smoltcp-0.14", smoltcp::v14::open),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let stack = words.first().map_or("", String::as_str);
    let algorithm = words.get(1).map_or("", String::as_str);
    let done = match STACKS.iter().find(|(name, _)| *name == stack) {
        Some((_, open)) => serve(*open, algorithm),
        None => {
            let names: Vec<&str> = STACKS.iter().map(|(name, _)| *name).collect();
            refuse(&format!("no stack is called \"{stack}\"; there are {}", names.join(", ")))
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("windlass-audit-rust: {e}");
            ExitCode::FAILURE
        }
    }
}
