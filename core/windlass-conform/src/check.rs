//! Reads vectors and compares controllers with them.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use windlass_cc::{AnyController, AnyParams, Conn, Control, Event};

use super::bytes::History;
use super::format::{Expect, Header, Line};

/// The case of a file and the controller's result.
#[derive(Debug)]
pub struct Outcome {
    /// Identifier of the algorithm.
    pub algorithm: String,
    /// Name of the case.
    pub case: String,
    /// Answers compared.
    pub answers: usize,
    /// Largest difference as a fraction of its tolerance; above 1 the case has failed.
    pub worst: f64,
    /// The first answer that differs from the expected answer.
    pub failure: Option<Mismatch>,
}

/// An answer that differs from the expected answer.
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
    /// The controller's value.
    pub got: f64,
    /// The tolerance.
    pub tolerance: f64,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { file, line, what, expected, got, tolerance } = self;
        let file = file.display();
        write!(f, "{file}:{line}: {what}: expected {expected} within {tolerance}, got {got}")
    }
}

/// The reason why a file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// It is not a vector.
    #[error("{}:{line}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The error.
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

/// The text of a file.
pub fn read(path: &Path) -> Result<String, CheckError> {
    fs::read_to_string(path).map_err(|error| CheckError::Io { path: path.to_path_buf(), error })
}

/// Reads a vector and plays it to its algorithm.
pub fn check_file(path: &Path) -> Result<Outcome, CheckError> {
    check_text(path, &read(path)?)
}

/// The algorithm of a vector. Other errors in the vector are found when it is played.
pub fn algorithm_of(text: &str) -> Option<String> {
    serde_json::from_str::<Header>(text.lines().next()?).ok().map(|header| header.algorithm)
}

/// The events of a vector, without the expected answers.
pub fn history(path: &Path, text: &str) -> Result<History, CheckError> {
    let mut history = None;
    walk(path, text, |params, c, step| {
        let History { steps, .. } = history.get_or_insert_with(|| History {
            params: *params,
            first: *c,
            steps: Vec::new(),
        });
        steps.extend(step.event.map(|e| (*c, e)));
    })?;
    history.ok_or_else(|| empty(path))
}

/// The content of a line.
pub(crate) struct Step {
    /// Number from 0.
    number: usize,
    /// `None` in the header.
    pub(crate) event: Option<Event>,
    pub(crate) expect: Expect,
}

pub(crate) fn empty(path: &Path) -> CheckError {
    wrong(path, 0, "the file is empty".to_owned())
}

fn wrong(path: &Path, number: usize, message: String) -> CheckError {
    CheckError::Format { path: path.to_path_buf(), line: number + 1, message }
}

/// Reads a vector line by line, with the connection after each. Returns the header.
pub(crate) fn walk(
    path: &Path,
    text: &str,
    mut visit: impl FnMut(&AnyParams, &Conn, Step),
) -> Result<Header, CheckError> {
    let mut lines = text.lines().enumerate();
    let (_, first) = lines.next().ok_or_else(|| empty(path))?;
    let header: Header = serde_json::from_str(first).map_err(|e| wrong(path, 0, json_error(&e)))?;
    let params = header.to_params().map_err(|e| wrong(path, 0, e))?;
    let mut c = header.conn.first().map_err(|e| wrong(path, 0, e))?;
    visit(&params, &c, Step { number: 0, event: None, expect: header.expect });
    for (number, text) in lines {
        let line: Line =
            serde_json::from_str(text).map_err(|e| wrong(path, number, json_error(&e)))?;
        line.conn.apply(&mut c).map_err(|e| wrong(path, number, e))?;
        let event = Some(line.to_event().map_err(|e| wrong(path, number, e))?);
        visit(&params, &c, Step { number, event, expect: line.expect });
    }
    Ok(header)
}

/// Checks a text; `path` is for messages.
pub fn check_text(path: &Path, text: &str) -> Result<Outcome, CheckError> {
    let mut state = None;
    check_answers(path, text, |params, c, event| {
        let state = state.get_or_insert_with(|| AnyController::init(params, c));
        if let Some(event) = event {
            state.apply(params, c, event);
        }
        state.control(params, c)
    })
}

/// Checks the answers of any implementation of the algorithm. `answer` gets the parameters, the connection and the
/// event, which is missing for the new connection.
pub fn check_answers(
    path: &Path,
    text: &str,
    mut answer: impl FnMut(&AnyParams, &Conn, Option<&Event>) -> Control,
) -> Result<Outcome, CheckError> {
    let mut play = Play { path, answers: 0, worst: 0.0, failure: None };
    let Header { case, algorithm, .. } = walk(path, text, |params, c, step| {
        play.step(&step, answer(params, c, step.event.as_ref()));
    })?;
    Ok(Outcome { algorithm, case, answers: play.answers, worst: play.worst, failure: play.failure })
}

/// The message without the place, because for a single line only the column is known.
fn json_error(e: &serde_json::Error) -> String {
    let text = e.to_string();
    match text.rsplit_once(" at line ") {
        Some((message, _)) => format!("{message} (column {})", e.column()),
        None => text,
    }
}

struct Play<'a> {
    path: &'a Path,
    answers: usize,
    worst: f64,
    failure: Option<Mismatch>,
}

impl Play<'_> {
    fn step(&mut self, step: &Step, Control { cwnd, ssthresh, pacing }: Control) {
        let (line, e) = (step.number, &step.expect);
        self.answers += 1;
        self.one(line, "cwnd", Some(e.cwnd), cwnd, e.tolerance);
        self.one(line, "ssthresh", e.ssthresh, ssthresh, e.tolerance);
        self.one(line, "pacing", e.pacing, pacing.0, e.pacing_tolerance.unwrap_or(0.0));
    }

    fn one(&mut self, line: usize, what: &'static str, e: Option<f64>, got: u64, tolerance: f64) {
        let Some(expected) = e else { return };
        let difference = (got as f64 - expected).abs();
        // Not `>`: a difference that is NaN is a mismatch too.
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
