//! The program that contains ns-3's libraries. It is built once and started once per run.

use std::env;
use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use nix::fcntl::{Flock, FlockArg};

use crate::vm::cache;

/// Scripts that build the program, from `bench` in the repository.
const BUILDER: [(&str, &str); 2] = [
    ("program.py", include_str!("../../../../bench/program.py")),
    ("ns3/setup.py", include_str!("../../../../bench/ns3/setup.py")),
];
/// Source text of the program, from the same folder: a main file and its parts.
const NETWORK: [(&str, &str); 7] = [
    ("ns3/network.cc", include_str!("../../../../bench/ns3/network.cc")),
    ("ns3/network/flows.h", include_str!("../../../../bench/ns3/network/flows.h")),
    ("ns3/network/links.h", include_str!("../../../../bench/ns3/network/links.h")),
    ("ns3/network/print.h", include_str!("../../../../bench/ns3/network/print.h")),
    ("ns3/network/probes.h", include_str!("../../../../bench/ns3/network/probes.h")),
    ("ns3/network/read.h", include_str!("../../../../bench/ns3/network/read.h")),
    ("ns3/network/run.h", include_str!("../../../../bench/ns3/network/run.h")),
];
const DIGEST_DIGITS: usize = 8;
/// Environment variable with the path of a program to use instead: `network.cc` built against the user's own
/// ns-3, or with additional classes.
const OWN_PROGRAM: &str = "WINDLASS_NS3_PROGRAM";

/// Reason why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The machine does not meet a requirement.
    #[error("ns-3 is not available: {0}")]
    Missing(String),
    /// The program failed.
    #[error("ns-3 failed ({status}): {said}")]
    Failed { status: String, said: String },
    /// An operation on a file or a process failed.
    #[error("{what}: {source}")]
    System { what: String, source: std::io::Error },
    /// The answer is invalid.
    #[error("cannot read ns-3's answer: {0}")]
    Answer(#[from] serde_json::Error),
}

/// Identity of the backend for a run: ns-3's release, and the digest of the program.
pub(super) fn release() -> String {
    let named =
        |what: &str, bytes: &[u8]| format!("{what} {}", &cache::sha256(bytes)[..DIGEST_DIGITS]);
    match own().and_then(|path| fs::read(path).ok()) {
        Some(program) => format!("ns-3 ({})", named(OWN_PROGRAM, &program)),
        None => {
            let text = NETWORK.map(|(_, text)| text).concat();
            format!("ns-3.44 ({})", named("network.cc", text.as_bytes()))
        }
    }
}

/// Returns the path of the user's own program, if one is given.
fn own() -> Option<PathBuf> {
    env::var_os(OWN_PROGRAM).filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// Checks that the user gives a program, which may contain Windlass's algorithms. A program without the
/// algorithms fails when it runs.
pub(super) fn with_ours() -> Result<(), Error> {
    own().map(drop).ok_or_else(|| {
        Error::Missing(format!(
            "this ns-3 does not contain Windlass's algorithms; build one that does, \
             `export {OWN_PROGRAM}=$(python3 integrations/ns3/build.py bench/ns3/network.cc)`"
        ))
    })
}

/// Returns the path of the program. The first call downloads ns-3 and builds the program.
pub(super) fn path() -> Result<PathBuf, Error> {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = BUILT.get() {
        return Ok(path.clone());
    }
    let path = match own() {
        Some(path) if path.is_file() => path,
        Some(path) => {
            return Err(Error::Missing(format!("{OWN_PROGRAM}: {} not found", path.display())));
        }
        None => build()?,
    };
    Ok(BUILT.get_or_init(|| path).clone())
}

fn build() -> Result<PathBuf, Error> {
    let folder = cache::folder().map_err(|e| Error::Missing(e.to_string()))?.join("ns3");
    make(&folder.join("ns3/network"))?;
    let lock = system("cannot lock", &folder, File::create(folder.join("lock")))?;
    // Two processes must not build into the same files at once.
    let _alone = Flock::lock(lock, FlockArg::LockExclusive)
        .map_err(|(_, e)| failed("cannot lock", &folder, e.into()))?;
    for (name, text) in BUILDER.iter().chain(&NETWORK) {
        let path = folder.join(name);
        system("cannot write", &path, fs::write(&path, text))?;
    }
    let mut command = Command::new("python3");
    command.arg(folder.join("ns3/setup.py")).arg("network");
    let done = command.stderr(Stdio::piped()).output();
    let Output { status, stdout, stderr } =
        done.map_err(|e| Error::Missing(format!("python3: {e}")))?;
    if !status.success() {
        let said = String::from_utf8_lossy(&stderr);
        let last = said.lines().last().unwrap_or_default();
        return Err(Error::Missing(last.trim_start_matches("skipped: ").to_owned()));
    }
    Ok(PathBuf::from(String::from_utf8_lossy(&stdout).trim()))
}

/// Simulates the task and returns the answer.
pub(super) fn ask(task: &str) -> Result<String, Error> {
    let path = path()?;
    let command = Command::new(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let mut child = system("cannot start", &path, command)?;
    if let Some(mut input) = child.stdin.take() {
        // A program that ended early reports the reason itself.
        let _ = input.write_all(task.as_bytes());
    }
    let done = system("cannot wait for", &path, child.wait_with_output())?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
    let status = match done.status.signal() {
        Some(libc::SIGXCPU | libc::SIGKILL) => {
            "stopped, or an hour of processor time was not enough".to_owned()
        }
        _ => done.status.to_string(),
    };
    Err(Error::Failed { status, said })
}

fn make(folder: &Path) -> Result<(), Error> {
    system("cannot make the folder", folder, fs::create_dir_all(folder))
}

fn system<T>(what: &str, path: &Path, done: std::io::Result<T>) -> Result<T, Error> {
    done.map_err(|source| failed(what, path, source))
}

fn failed(what: &str, path: &Path, source: std::io::Error) -> Error {
    Error::System { what: format!("{what} {}", path.display()), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_the_program_is_written_out_and_named() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/ns3/network");
        let parts = fs::read_dir(folder).expect("a folder").flatten();
        let parts = parts.map(|part| format!("ns3/network/{}", part.file_name().display()));
        let mut there: Vec<String> = parts.chain(["ns3/network.cc".to_owned()]).collect();
        there.sort();
        assert_eq!(there, NETWORK.map(|(name, _)| name));
    }
}
