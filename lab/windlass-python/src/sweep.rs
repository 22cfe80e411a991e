//! Sweeps: made in this process, or distributed as jobs and collected again.

use std::path::PathBuf;

use pyo3::prelude::*;
use tempfile::TempDir;
use windlass_lab::run::Runner;
use windlass_lab::sweep::{Goal, Measure, Plan, Request, Sweep as Work, WarmUp};

use crate::count::{count, some_count};
use crate::elsewhere::{Elsewhere, runner};
use crate::errors::{failed, input, of};
use crate::results::{Records, with_axes};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::watch::watched;

/// A sweep in progress.
#[pyclass(module = "windlass._native")]
pub struct Sweep {
    work: Work,
    command: String,
    folder: PathBuf,
    /// Temporary folder of the runs, deleted with this value.
    _passing: Option<TempDir>,
}

fn all<T>(texts: &[String], parse: fn(&str) -> Result<T, String>) -> PyResult<Vec<T>> {
    texts.iter().map(|text| parse(text).map_err(|e| input(&e))).collect()
}

#[pymethods]
impl Sweep {
    /// Plans the points and opens the folder, or a temporary folder.
    #[new]
    #[pyo3(signature = (scenario, axes, seeds, until, min_seeds, max_seeds, metrics, warm_up, folder, command))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        axes: Vec<String>,
        #[pyo3(from_py_with = some_count)] seeds: Option<u64>,
        until: Vec<String>,
        #[pyo3(from_py_with = some_count)] min_seeds: Option<u64>,
        #[pyo3(from_py_with = some_count)] max_seeds: Option<u64>,
        metrics: Vec<String>,
        warm_up: Option<String>,
        folder: Option<PathBuf>,
        command: String,
    ) -> PyResult<Sweep> {
        let warm_up: Option<WarmUp> =
            warm_up.map(|w| w.parse()).transpose().map_err(|e: String| input(&e))?;
        let request = Request {
            file: scenario.name.clone().into(),
            text: Some(scenario.text.clone()),
            set: scenario.set.clone(),
            axes,
            seeds,
            min_seeds,
            max_seeds,
            measures: all(&metrics, Measure::parse)?,
            goals: all(&until, Goal::parse)?,
            warm_up,
            ..Request::default()
        };
        let passing = match folder {
            None => Some(TempDir::new().map_err(|e| failed(&e.to_string()))?),
            Some(_) => None,
        };
        let folder =
            folder.or(passing.as_ref().map(|p| p.path().to_path_buf())).unwrap_or_default();
        let work = py.detach(|| {
            let plan = Plan::of(&request)?;
            Work::open(plan, &folder, command.clone(), &Runner::new(0))
        });
        Ok(Sweep { work: work.map_err(of)?, command, folder, _passing: passing })
    }

    /// Identifiers of the points, in order.
    #[getter]
    fn points(&self) -> Vec<String> {
        self.work.plan().points.iter().map(|p| p.point.id.clone()).collect()
    }

    /// Names of the axes, in order.
    #[getter]
    fn axes(&self) -> Vec<String> {
        self.work.plan().axes.iter().map(|a| a.name.clone()).collect()
    }

    #[getter]
    fn folder(&self) -> PathBuf {
        self.folder.clone()
    }

    /// Values that are probably mistakes, a sentence each.
    fn warnings(&self) -> PyResult<Vec<String>> {
        let told = self.work.plan().warnings(&Runner::new(0)).map_err(of)?;
        Ok(told.into_iter().map(|(sentence, _)| sentence).collect())
    }

    /// Makes the missing runs.
    fn run(
        &mut self,
        py: Python<'_>,
        #[pyo3(from_py_with = count)] jobs: usize,
        progress: Option<Py<PyAny>>,
        elsewhere: Elsewhere,
    ) -> PyResult<()> {
        let work = &mut self.work;
        watched(py, progress.as_ref(), |watch| {
            watch.expect(work.estimate(jobs).least as usize);
            let runner = runner(watch.stop(), jobs, elsewhere);
            let made = work.work(&runner, |_, _| watch.made());
            made.map(drop).map_err(of)
        })?
    }

    /// The runs, the table of the points, and the path of the report if the folder is not temporary.
    fn conclude(&self, py: Python<'_>) -> PyResult<(Records, Table, Option<PathBuf>)> {
        let (cells, report) = py.detach(|| {
            let cells = self.work.cells();
            let report = self._passing.is_none().then(|| self.work.conclude(&cells)).transpose();
            (cells, report)
        });
        let points = Table::of(vec![self.points_table(&cells)])?;
        let failed = self.work.campaign().failed().to_vec();
        let records = Records::new(self.work.runs(), failed, self.command.clone());
        Ok((records, points, report.map_err(of)?))
    }
}

impl Sweep {
    fn points_table(&self, cells: &[windlass_lab::sweep::Cell]) -> windlass_lab::run::store::Table {
        let mut table = self.work.table(cells);
        // The labels of the axes follow the point, as text.
        let axes = self.work.plan().axes.len();
        table.columns.drain(1..=axes);
        with_axes(table)
    }
}
