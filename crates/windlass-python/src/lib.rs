//! The inside of the Python package `windlass`: what its Python files hand on to the laboratory.
//!
//! Nothing here decides anything: scenarios, plans, runs and tables are the laboratory's, as the command has them.

mod algorithms;
mod compare;
mod controllers;
mod errors;
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
    use crate::algorithms::algorithms;
    #[pymodule_export]
    use crate::compare::compare;
    #[pymodule_export]
    use crate::reproduce::{assess, papers, reproduce};
    #[pymodule_export]
    use crate::results::{Records, load, run, series_name};
    #[pymodule_export]
    use crate::scenario::{Scenario, toml_of, value_text};
    #[pymodule_export]
    use crate::sweep::{Sweep, work_on};
    #[pymodule_export]
    use crate::table::Table;

    /// Does what the words of a command say, and returns its exit code.
    #[pyfunction]
    fn command(py: Python<'_>, words: Vec<String>) -> u8 {
        py.detach(|| windlass_cli::run(words.into_iter().map(Into::into)))
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", windlass_lab::run::VERSION)
    }
}
