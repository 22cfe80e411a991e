//! A test that this machine cannot run is no test that has passed. Rust's test runner knows no skip
//! that is decided while the test runs, and hides what a passing test prints; so a skip is written down
//! where `./test` finds and counts it.
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Names a file to which each skip adds a line.
pub const FILE: &str = "WINDLASS_SKIPS";
/// When set to anything, a skip fails its test.
pub const FORBIDDEN: &str = "WINDLASS_NO_SKIPS";

/// Says that the calling test, or a part of it, is skipped and why: what is missing.
///
/// # Panics
///
/// `WINDLASS_NO_SKIPS` is set.
pub fn skip(why: impl Display) {
    let why = why.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(std::env::var_os(FORBIDDEN).is_none(), "skipped, which {FORBIDDEN} forbids: {why}");
    eprintln!("\n*** SKIPPED: {why} ***\n");
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("main");
    if let Some(path) = std::env::var_os(FILE) {
        let file = OpenOptions::new().create(true).append(true).open(&path);
        // One write, so that tests that run side by side do not mix their lines.
        let line = format!("{test}: {why}\n");
        let written = file.and_then(|mut file| file.write_all(line.as_bytes()));
        written.unwrap_or_else(|e| panic!("cannot note a skip in {}: {e}", path.display()));
    }
}
