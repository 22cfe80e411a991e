//! The native part of the Python package `windlass`: the interface between its Python files and the
//! laboratory.
//!
//! This crate decides nothing. The laboratory handles scenarios, plans, runs and tables, as for the command.
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod advice;
mod algorithms;
mod compare;
mod controllers;
mod count;
mod elsewhere;
mod errors;
mod facts;
mod frame;
mod raised;
mod reproduce;
mod results;
mod scenario;
mod sweep;
mod table;
mod watch;

use pyo3::prelude::*;

/// The module `windlass._native`.
#[pymodule]
mod _native {
    use super::*;

    #[pymodule_export]
    use crate::advice::{attack, choose};
    #[pymodule_export]
    use crate::algorithms::algorithms;
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::controllers::conform;
    #[pymodule_export]
    use crate::controllers::write_vectors;
    #[pymodule_export]
    use crate::elsewhere::work_on;
    #[pymodule_export]
    use crate::facts::{Ack, Conn, Loss, RateSample, Setup};
    #[pymodule_export]
    use crate::frame::Window;
    #[pymodule_export]
    use crate::reproduce::{assess, papers, reproduce};
    #[pymodule_export]
    use crate::results::{Records, axes, load, run, series_name, stored_series};
    #[pymodule_export]
    use crate::scenario::{Scenario, toml_of, value_text};
    #[pymodule_export]
    use crate::sweep::Sweep;
    #[pymodule_export]
    use crate::table::Table;

    /// Runs a command with these words, and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, words: Vec<String>) -> u8 {
        py.detach(|| windlass_cli::run(words.into_iter().map(Into::into)))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::controllers::host();
        module.add("VERSION", windlass_lab::run::VERSION)
    }
}
