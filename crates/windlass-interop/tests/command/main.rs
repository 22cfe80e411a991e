//! `windlass-dev`, as those who work on Windlass call it.

mod calibrate;
mod conform;
mod interop;
mod lockstep;
mod script;

use std::path::{Path, PathBuf};
use std::process::Command;

/// What a call printed and how it ended.
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

/// The repository's root.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Calls it to the end, in the repository's root.
fn call<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Said {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass-dev"));
    let output = command.args(args).current_dir(root()).output().expect("started");
    Said {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
        err: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
    }
}

/// Calls it to the end, which has to be a good one.
fn done<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Said {
    let said = call(args);
    assert_eq!(said.code, Some(0), "{}", said.err);
    said
}
