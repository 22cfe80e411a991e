//! Calls the command as a user does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A short transfer over a lossy link; deterministic, and a fraction of a second long.
pub const SMALL: &str = r#"
duration = "20s"

[[link]]
name = "wire"
between = ["server", "client"]
rate = "2Mbps"
delay = "10ms"
loss = { model = "drop", probability = "2%", direction = "both" }

[[flow]]
name = "download"
from = "server"
to = "client"
algorithm = "newreno"
traffic = { kind = "bulk", bytes = "300kB" }
"#;

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The command in the repository's root.
pub fn windlass<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(args).current_dir(root());
    for variable in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"] {
        command.env_remove(variable);
    }
    command
}

/// The output and the exit code of a call.
pub struct Said {
    /// Exit code.
    pub code: Option<i32>,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Said {
        Said {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).expect("UTF-8 on standard output"),
            err: String::from_utf8(output.stderr).expect("UTF-8 on standard error"),
        }
    }
}

/// Executes the command to its end.
pub fn call<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Said {
    windlass(args).output().expect("started").into()
}

/// Executes the command to its end, and asserts success.
pub fn done<S: AsRef<std::ffi::OsStr>>(args: &[S]) -> Said {
    let said = call(args);
    assert_eq!(said.code, Some(0), "{}", said.err);
    said
}

/// A folder for the test, and a scenario file of this text in it.
pub fn scenario(text: impl AsRef<[u8]>) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("case.toml");
    fs::write(&path, text).expect("written");
    let path = path.to_str().expect("a plain path").to_owned();
    (dir, path)
}

/// The files of this kind (`series`, `captures`, `scenarios`) of a point in a results folder, one per
/// form of its scenario.
pub fn forms(out: &Path, kind: &str, experiment: &str, point: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(out.join(kind).join(experiment)) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let begins = format!("{point}@");
    let mut found: Vec<PathBuf> = paths
        .filter(|p| p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&begins)))
        .collect();
    found.sort();
    found
}

/// Every file below `dir` with its content, in order of path, without the files that contain a date.
pub fn files(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    collect(dir, dir, &mut found);
    found.sort();
    found
}

fn collect(root: &Path, dir: &Path, found: &mut Vec<(PathBuf, Vec<u8>)>) {
    for entry in fs::read_dir(dir).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(root, &path, found);
        } else if !path.ends_with("meta.json") && !path.ends_with("journal.jsonl") {
            let name = path.strip_prefix(root).expect("below it").to_path_buf();
            let content = fs::read(&path).expect("readable");
            found.push((name, content));
        }
    }
}

/// Asserts that two folders have the same files with the same bytes, and returns their number.
pub fn assert_same_files(a: &Path, b: &Path) -> usize {
    let (a, b) = (files(a), files(b));
    let names = |files: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        files.iter().map(|f| f.0.clone()).collect()
    };
    assert_eq!(names(&a), names(&b));
    for ((name, left), (_, right)) in a.iter().zip(&b) {
        assert!(left == right, "{} differs", name.display());
    }
    a.len()
}
