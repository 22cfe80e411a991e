//! `meta.json`: the commands that have worked on a folder.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use serde::{Deserialize, Deserializer, Serialize};

use super::error::StoreError;
use super::files;

/// The runs that gave no result in the last attempt.
pub const FAILURES: &str = "failures.jsonl";
/// Every call that worked on a batch.
pub(super) const META: &str = "meta.json";

/// One call of the command that worked on a batch.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Invocation {
    /// Windlass version.
    pub version: String,
    /// The command with its arguments, ready to type.
    #[serde(deserialize_with = "one_line")]
    pub command: String,
    /// Seeds of the replications.
    pub seeds: Vec<u64>,
    /// Start time in UTC: `2026-01-31T12:00:00Z`.
    pub started: String,
}

impl Invocation {
    /// An invocation that begins now.
    pub fn now(version: &str, command: String, seeds: Vec<u64>) -> Invocation {
        // A clock before 1970 must not cause an error.
        let now = SystemTime::now().max(SystemTime::UNIX_EPOCH);
        let started = humantime::format_rfc3339_seconds(now).to_string();
        Invocation { version: version.into(), command, seeds, started }
    }
}

/// Reads a command, which older folders have as a list of words.
fn one_line<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Command {
        Line(String),
        Words(Vec<String>),
    }
    Ok(match Command::deserialize(deserializer)? {
        Command::Line(line) => line,
        Command::Words(words) => words.join(" "),
    })
}

/// The content of `meta.json`.
#[derive(Serialize, Deserialize)]
pub(super) struct Meta {
    pub invocations: Vec<Invocation>,
}

impl Meta {
    pub fn write(&self, dir: &Path) -> Result<(), StoreError> {
        files::replace(dir, META, |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })?;
        Ok(())
    }
}

/// The calls in `meta.json` of `dir`; empty if the file is missing.
pub(super) fn read_meta(dir: &Path) -> Result<Vec<Invocation>, StoreError> {
    let path = dir.join(META);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("read", &path)(e)),
    };
    let meta: Meta = serde_json::from_str(&text)
        .map_err(|e| StoreError::Unreadable { path, reason: e.to_string() })?;
    Ok(meta.invocations)
}
