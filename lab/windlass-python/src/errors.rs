//! Conversion of the laboratory's errors to exceptions of `windlass._errors`.

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass_lab::experiment::FileError;
use windlass_lab::run::RunError;
use windlass_lab::scenario::ScenarioError;
use windlass_lab::{Error, run};

use crate::raised::take;

/// An exception of this class with attributes.
fn raised(
    class: &str,
    message: &str,
    facts: impl FnOnce(&Bound<'_, PyDict>) -> PyResult<()>,
) -> PyErr {
    let made = Python::attach(|py| {
        let known = PyDict::new(py);
        facts(&known)?;
        let class = py.import("windlass._errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((message,), Some(&known))?))
    });
    made.unwrap_or_else(|e: PyErr| e)
}

/// An exception for invalid input.
pub fn input(message: &str) -> PyErr {
    // The laboratory uses the command's name of an argument.
    let message = message.strip_prefix("--").unwrap_or(message);
    raised("InputError", message, |_| Ok(()))
}

/// An exception for a failure during the work.
pub fn failed(message: &str) -> PyErr {
    raised("RunError", message, |_| Ok(()))
}

/// An exception for an error in a scenario. The position is the key alone if the source is not a file.
pub fn scenario(e: &ScenarioError, is_file: bool) -> PyErr {
    let file = e.file().filter(|_| is_file);
    let message = match (file, e.key()) {
        (Some(_), _) => e.to_string(),
        (None, Some(key)) => format!("{key}: {}", e.message()),
        (None, None) => e.message().to_owned(),
    };
    raised("InputError", &message, |known| {
        if file.is_some() {
            let place = e.line_and_column();
            known.set_item("file", file)?;
            known.set_item("line", place.map(|(line, _)| line))?;
            known.set_item("column", place.map(|(_, column)| column))?;
        }
        known.set_item("key", e.key())?;
        known.set_item("suggestion", e.suggestion())?;
        known.set_item("help", e.help_text())
    })
}

fn file(e: &FileError) -> PyErr {
    raised("InputError", &e.to_string(), |known| {
        known.set_item("file", &e.file)?;
        known.set_item("line", e.line)?;
        known.set_item("column", e.column)
    })
}

/// Converts an error of a run.
pub fn of_run(e: &RunError) -> PyErr {
    match e {
        RunError::Stopped => PyKeyboardInterrupt::new_err(()),
        RunError::Class { .. } => take().unwrap_or_else(|| input(&e.to_string())),
        e if e.is_input() => input(&e.to_string()),
        e => failed(&e.to_string()),
    }
}

/// Converts any error of the laboratory.
pub fn of(e: impl Into<Error>) -> PyErr {
    match e.into() {
        Error::Input(message) => input(&message),
        Error::File(e) => file(&e),
        Error::Scenario(e) => scenario(&e, true),
        Error::Run(e) => of_run(&e),
        e => failed(&e.to_string()),
    }
}

/// Converts any error of making and storing runs.
pub fn of_making(e: run::Error) -> PyErr {
    of(Error::from(e))
}
