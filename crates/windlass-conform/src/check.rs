//! Reading vectors and holding controllers against them.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use windlass_cc::{AnyController, AnyParams, Conn, Control};

use super::format::{Expect, Header, Line};

/// What a file says and how the controller did.
#[derive(Debug)]
pub struct Outcome {
    /// Identifier of the algorithm.
    pub algorithm: String,
    /// Name of the case.
    pub case: String,
    /// Answers compared.
    pub answers: usize,
    /// Largest difference as a part of its tolerance: above 1 the case has failed.
    pub worst: f64,
    /// The first answer that was not the expected one.
    pub failure: Option<Mismatch>,
}

/// An answer that is not the expected one.
#[derive(Debug)]
pub struct Mismatch {
    /// The file.
    pub file: PathBuf,
    /// Line, from 1.
    pub line: usize,
    /// `cwnd`, `ssthresh` or `pacing`.
    pub what: &'static str,
    /// The file's value.
    pub expected: f64,
    /// The controller's.
    pub got: f64,
    /// What would have been admissible.
    pub tolerance: f64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { file, line, what, expected, got, tolerance } = self;
        let file = file.display();
        write!(f, "{file}:{line}: {what}: expected {expected} within {tolerance}, got {got}")
    }
}

/// Why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// It is not a vector.
    #[error("{}:{line}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// Every `.jsonl` file at or below a path, in order of path.
pub fn files(path: &Path) -> Result<Vec<PathBuf>, CheckError> {
    let io = |error| CheckError::Io { path: path.to_path_buf(), error };
    if !fs::metadata(path).map_err(io)?.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let mut entries: Vec<PathBuf> = fs::read_dir(path)
        .and_then(|dir| dir.map(|entry| entry.map(|e| e.path())).collect())
        .map_err(io)?;
    entries.sort();
    let mut found = Vec::new();
    for entry in entries {
        if entry.is_dir() {
            found.extend(files(&entry)?);
        } else if entry.extension().is_some_and(|e| e == "jsonl") {
            found.push(entry);
        }
    }
    Ok(found)
}

/// Reads a vector and plays it to the algorithm that it names.
pub fn check_file(path: &Path) -> Result<Outcome, CheckError> {
    let text = fs::read_to_string(path)
        .map_err(|error| CheckError::Io { path: path.to_path_buf(), error })?;
    check_text(path, &text)
}

/// The algorithm that a vector names; what else is wrong with it shows when it is played.
pub fn algorithm_of(text: &str) -> Option<String> {
    serde_json::from_str::<Header>(text.lines().next()?).ok().map(|header| header.algorithm)
}

/// The same for a text that is at hand; `path` is for messages.
pub fn check_text(path: &Path, text: &str) -> Result<Outcome, CheckError> {
    let wrong = |line: usize, message: String| CheckError::Format {
        path: path.to_path_buf(),
        line: line + 1,
        message,
    };
    let mut lines = text.lines().enumerate();
    let (_, first) = lines.next().ok_or_else(|| wrong(0, "the file is empty".to_owned()))?;
    let header: Header = serde_json::from_str(first).map_err(|e| wrong(0, json_error(&e)))?;
    let params = header.to_params().map_err(|e| wrong(0, e))?;
    let mut c = header.conn.first().map_err(|e| wrong(0, e))?;
    let mut play = Play::new(path, &params, &c);
    play.compare(0, &c, &header.expect);
    for (number, text) in lines {
        let line: Line = serde_json::from_str(text).map_err(|e| wrong(number, json_error(&e)))?;
        line.conn.apply(&mut c).map_err(|e| wrong(number, e))?;
        let event = line.to_event().map_err(|e| wrong(number, e))?;
        play.state.apply(&params, &c, &event);
        play.compare(number, &c, &line.expect);
    }
    Ok(Outcome {
        algorithm: params.info().id.to_owned(),
        case: header.case,
        answers: play.answers,
        worst: play.worst,
        failure: play.failure,
    })
}

/// Without the place, which for a single line says column only.
fn json_error(e: &serde_json::Error) -> String {
    let text = e.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} (column {})", e.column()),
        None => text,
    }
}

struct Play<'a> {
    path: &'a Path,
    params: &'a AnyParams,
    state: AnyController,
    answers: usize,
    worst: f64,
    failure: Option<Mismatch>,
}

impl<'a> Play<'a> {
    fn new(path: &'a Path, params: &'a AnyParams, c: &Conn) -> Play<'a> {
        let state = AnyController::init(params, c);
        Play { path, params, state, answers: 0, worst: 0.0, failure: None }
    }

    fn compare(&mut self, line: usize, c: &Conn, e: &Expect) {
        let Control { cwnd, ssthresh, pacing } = self.state.control(self.params, c);
        self.answers += 1;
        self.one(line, "cwnd", Some(e.cwnd), cwnd, e.tolerance);
        self.one(line, "ssthresh", e.ssthresh, ssthresh, e.tolerance);
        self.one(line, "pacing", e.pacing, pacing.0, e.pacing_tolerance.unwrap_or(0.0));
    }

    fn one(&mut self, line: usize, what: &'static str, e: Option<f64>, got: u64, tolerance: f64) {
        let Some(expected) = e else { return };
        let difference = (got as f64 - expected).abs();
        // Not `>`: a difference that is not a number is no agreement either.
        let agrees = difference <= tolerance;
        let part = if difference == 0.0 { 0.0 } else { difference / tolerance };
        self.worst = self.worst.max(part);
        if !agrees && self.failure.is_none() {
            let (file, got) = (self.path.to_path_buf(), got as f64);
            let line = line + 1;
            self.failure = Some(Mismatch { file, line, what, expected, got, tolerance });
        }
    }
}
