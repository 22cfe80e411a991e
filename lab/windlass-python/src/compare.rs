//! Comparisons of algorithms.

use std::path::PathBuf;

use pyo3::prelude::*;
use windlass_lab::compare::{Measure, Request, files, report as page, text};
use windlass_lab::report::html::render;
use windlass_lab::run::World;
use windlass_lab::scenario::did_you_mean;

use crate::count::count;
use crate::elsewhere::Elsewhere;
use crate::errors::{failed, input, of};
use crate::results::{Records, made};
use crate::scenario::Scenario;
use crate::table::Table;

/// Width of the text, columns.
const WIDTH: usize = 110;

/// Result of a comparison: its runs, the tables `ranking` and (if requested) `harm`, a text, and a page.
type Compared = (Records, Vec<(String, Table)>, String, String);

/// Compares algorithms on a scenario.
#[pyfunction]
#[pyo3(signature = (scenario, algorithms, seeds, flows, baseline, jitter, metric, harm, folder, jobs, command, progress, elsewhere))]
#[allow(clippy::too_many_arguments)]
pub fn compare(
    py: Python<'_>,
    scenario: &Scenario,
    algorithms: Vec<String>,
    #[pyo3(from_py_with = count)] seeds: u64,
    flows: Vec<String>,
    baseline: Option<String>,
    jitter: Option<String>,
    metric: Option<&str>,
    harm: bool,
    folder: Option<PathBuf>,
    #[pyo3(from_py_with = count)] jobs: usize,
    command: String,
    progress: Option<Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<Compared> {
    let wrong = |e: windlass_lab::units::UnitError| input(&format!("jitter: {e}"));
    let request = Request {
        scenario: (*scenario.read).clone(),
        algorithms,
        settings: Vec::new(),
        flows,
        seeds,
        baseline,
        jitter: jitter.map(|j| j.parse()).transpose().map_err(wrong)?,
        measure: metric.map(|name| measure("metric", name)).transpose()?,
        harm,
        world: World::Sim,
    };
    let question = request.question().map_err(of)?;
    let place = (folder.as_deref(), command.as_str());
    let made = made(py, &question.tasks(), place, jobs, progress.as_ref(), elsewhere)?;
    let (records, _, without) = made;
    let findings = question.answer(&records);
    if let Some(dir) = &folder {
        files::keep(dir, &findings, &records, &command).map_err(of)?;
    }
    let tables = files::tables(&findings).into_iter();
    let tables = tables.map(|t| Ok((t.name.to_owned(), Table::of(vec![t])?)));
    let tables = tables.collect::<PyResult<_>>()?;
    let html = render(&page(&findings, &command)).map_err(|e| failed(&e.to_string()))?;
    let words = text(&findings, WIDTH);
    Ok((Records::new(records, without, command), tables, words, html))
}

/// The measure of this name, for an argument.
pub fn measure(argument: &str, name: &str) -> PyResult<Measure> {
    let known: Vec<&str> = Measure::ALL.iter().map(|(n, _)| *n).collect();
    let found = Measure::ALL.iter().find(|(n, _)| *n == name).map(|(_, m)| *m);
    found.ok_or_else(|| {
        let near = did_you_mean(name, &known);
        input(&format!(
            "{argument}: `{name}` not found{near}; expected one of {}",
            known.join(", ")
        ))
    })
}
