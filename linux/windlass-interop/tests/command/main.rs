//! `windlass-dev`, as contributors to Windlass call it.

mod calibrate;
mod conform;
mod interop;
mod lockstep;
mod script;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Output and exit code of a call.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

/// Returns the root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs the command to its end, in the root of the repository.
fn call<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-dev"));
    let output = command.args(args).current_dir(root()).output().expect("started");
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        err: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

/// Runs the command to its end, which must be successful.
fn done<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Said {
    let said = call(args);
    assert_eq!(said.code, Some(0), "{}", said.err);
    said
}
