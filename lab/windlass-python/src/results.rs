//! Finished runs and their tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::prelude::*;
use windlass_lab::report::html;
use windlass_lab::report::text::WIDTH;
use windlass_lab::run::fields::{LISTINGS, Listing};
use windlass_lab::run::store::export::{Provenance, write};
use windlass_lab::run::store::table::series;
use windlass_lab::run::store::{self, Batch, Format, RunKey, SeriesRun};
use windlass_lab::run::{Failed, Folder, RunRecord, Task, World};
use windlass_lab::scenario::{RecordSpec, class_label, did_you_mean, listed};
use windlass_lab::sweep::check_seeds;
use windlass_lab::{hindsight, overview, run_page};
use windlass_sim::{Sample, Series};

use crate::count::count;
use crate::elsewhere::{Elsewhere, runner};
use crate::errors::{failed, input, of, of_making};
use crate::scenario::Scenario;
use crate::table::Table;
use crate::watch::watched;

/// The time series of a run in memory.
struct Traced {
    task: Task,
    tracks: Vec<String>,
    samples: Vec<Sample>,
}

/// Finished runs.
#[pyclass(frozen, module = "windlass._native")]
pub struct Records {
    records: Vec<RunRecord>,
    traced: Vec<Traced>,
    failed: Vec<Failed>,
    scenario: Option<Arc<windlass_lab::scenario::Scenario>>,
    command: String,
}

impl Records {
    /// The records of a plan with many points.
    pub fn new(records: Vec<RunRecord>, failed: Vec<Failed>, command: String) -> Records {
        Records { records, traced: Vec::new(), failed, scenario: None, command }
    }
}

fn listing(name: &str) -> PyResult<Listing> {
    let found = LISTINGS.into_iter().find(|l| l.name == name);
    found.ok_or_else(|| input(&format!("table `{name}` not found")))
}

/// The table with the axes of its points as columns after the point.
pub fn with_axes(mut table: store::Table) -> store::Table {
    let Some(at) = table.columns.iter().position(|c| c.name == "point") else { return table };
    let store::Values::Text(points) = &table.columns[at].values else { return table };
    let points: Vec<&str> = points.iter().map(|p| p.as_deref().unwrap_or_default()).collect();
    let columns = store::axes(&points, |name| table.columns.iter().any(|c| c.name == name));
    for (i, column) in columns.into_iter().enumerate() {
        table.columns.insert(at + 1 + i, column);
    }
    table
}

fn series_table(traced: &[&Traced]) -> PyResult<Table> {
    let forms: Vec<String> = traced.iter().map(|t| t.task.form()).collect();
    let runs = traced.iter().zip(&forms).map(|(t, form)| SeriesRun {
        place: t.task.place(form),
        seed: t.task.seed,
        flows: &t.tracks,
        samples: &t.samples,
    });
    Table::of(series(runs).collect())
}

/// The series with this name, or the only series whose name begins with it: `cwnd` is `cwnd_bytes`.
#[pyfunction]
pub fn series_name(word: &str) -> PyResult<String> {
    let known: Vec<String> =
        Series::known().into_iter().map(|(name, _)| name.to_string()).collect();
    let begins = |name: &&String| name.starts_with(&format!("{word}_"));
    let found = known.iter().find(|name| *name == word);
    match (found, known.iter().filter(begins).collect::<Vec<_>>().as_slice()) {
        (Some(name), _) => Ok(name.clone()),
        (None, [name]) => Ok((*name).clone()),
        _ => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let near = did_you_mean(word, &known);
            Err(input(&format!(
                "time series `{word}` not found{near}; expected one of {}",
                listed(&known)
            )))
        }
    }
}

#[pymethods]
impl Records {
    fn __len__(&self) -> usize {
        self.records.len()
    }

    /// One of the tables of `docs/src/reference/results.md`, with a column per axis.
    fn table(&self, name: &str) -> PyResult<Table> {
        Table::of(vec![with_axes(listing(name)?.table(&self.records))])
    }

    /// The time series of all runs.
    fn series(&self) -> PyResult<Table> {
        series_table(&self.traced.iter().collect::<Vec<_>>())
    }

    /// The time series of the run with this seed.
    fn series_of(&self, #[pyo3(from_py_with = count)] seed: u64) -> PyResult<Table> {
        series_table(&self.traced.iter().filter(|t| t.task.seed == seed).collect::<Vec<_>>())
    }

    /// A table in the format that the command prints with `--csv`.
    fn csv(&self, py: Python<'_>, name: &str) -> PyResult<String> {
        let listing = listing(name)?;
        py.detach(|| {
            let mut out = Vec::new();
            let provenance = Provenance::of(&self.records, &self.command);
            write(&mut out, Format::Csv, [listing.table(&self.records)], &provenance)
                .map_err(|e| failed(&e.to_string()))?;
            Ok(String::from_utf8_lossy(&out).into_owned())
        })
    }

    /// The overview that `windlass run` prints; empty for runs of several scenarios.
    fn overview(&self) -> String {
        self.scenario.as_ref().map(|s| overview::text(s, &self.records, WIDTH)).unwrap_or_default()
    }

    /// The page that `windlass run --out` writes; empty if there is nothing to draw.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        let Some(scenario) = &self.scenario else { return Ok(String::new()) };
        py.detach(|| {
            let page = run_page::report(scenario, &self.records, &self.command).map_err(of)?;
            let text = page.map(|page| html::render(&page)).transpose();
            text.map(Option::unwrap_or_default).map_err(|e| failed(&e.to_string()))
        })
    }

    /// Unexpected results of the finished runs, a sentence each.
    fn warnings(&self) -> Vec<String> {
        let of = |s: &Arc<_>| hindsight::warnings(s, &self.records);
        self.scenario.as_ref().map(of).unwrap_or_default()
    }

    /// Runs without a result, with the reason.
    #[getter]
    fn failed(&self) -> Vec<String> {
        self.failed.iter().map(ToString::to_string).collect()
    }

    /// Versions of Windlass that made the runs.
    #[getter]
    fn versions(&self) -> Vec<String> {
        Provenance::of(&self.records, "").versions.into_iter().collect()
    }
}

/// Makes runs of a scenario with consecutive seeds.
#[pyfunction]
#[pyo3(signature = (scenario, seeds, folder, jobs, command, progress, elsewhere))]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of the function in Python")]
pub fn run(
    py: Python<'_>,
    scenario: &Scenario,
    #[pyo3(from_py_with = count)] seeds: u64,
    folder: Option<PathBuf>,
    #[pyo3(from_py_with = count)] jobs: usize,
    command: String,
    progress: Option<Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<Records> {
    let read = scenario.read.clone();
    check_seeds(&read, seeds).map_err(of)?;
    let mut recorded = (*read).clone();
    if folder.is_none() {
        // Captured packets are written to a folder during the run, and there is no folder.
        recorded.record = RecordSpec { capture: Vec::new(), ..recorded.record };
    }
    let recorded = Arc::new(recorded);
    let hash: Arc<str> = World::Sim.hash(&read).into();
    let tasks: Vec<Task> = (0..seeds)
        .map(|i| Task {
            experiment: read.name.clone(),
            point: "all".to_owned(),
            seed: read.seed + i,
            scenario: recorded.clone(),
            scenario_hash: hash.clone(),
            world: World::Sim,
        })
        .collect();
    let place = (folder.as_deref(), command.as_str());
    let made = made(py, &tasks, place, jobs, progress.as_ref(), elsewhere)?;
    let (records, mut samples, failed) = made;
    let traced = tasks
        .into_iter()
        .filter_map(|task| {
            let samples = samples.remove(&task.key())?;
            Some(Traced { tracks: task.scenario.tracks(), task, samples })
        })
        .collect();
    Ok(Records { records, traced, failed, scenario: Some(read), command })
}

/// Runs, their time series, and the runs without a result.
pub type Made = (Vec<RunRecord>, BTreeMap<RunKey, Vec<Sample>>, Vec<Failed>);

/// Makes runs in a folder, where the time series stay, or in memory. `command` repeats them.
pub fn made(
    py: Python<'_>,
    tasks: &[Task],
    (folder, command): (Option<&Path>, &str),
    jobs: usize,
    progress: Option<&Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<Made> {
    watched(py, progress, |watch| {
        let runner = runner(watch.stop(), jobs, elsewhere);
        watch.expect(tasks.len());
        let Some(folder) = folder else {
            let (memory, failed) = runner.in_memory(tasks, |_| watch.made()).map_err(of_making)?;
            let (records, samples) = memory.into_parts();
            return Ok((records, samples, failed));
        };
        let mut folder =
            Folder::open(folder, tasks.to_vec(), None, command, &runner).map_err(of)?;
        watch.expect(folder.total() - folder.finished());
        let filled = folder.fill(&runner, |_| watch.made()).map_err(of_making)?;
        filled.tables.map_err(of)?;
        Ok((filled.records, BTreeMap::new(), filled.failed))
    })?
}

/// The axes of points as columns, with numbers if their labels are quantities.
#[pyfunction]
pub fn axes(points: Vec<String>) -> PyResult<Table> {
    let points: Vec<&str> = points.iter().map(String::as_str).collect();
    Table::of(vec![store::Table { name: "axes", columns: store::axes(&points, |_| false) }])
}

/// Values of a series by point, flow and the flow's algorithm.
type Stored = Vec<(String, String, String, Vec<u64>)>;

/// The values of a series in a folder of results, by point, flow and algorithm. Runs of several scenarios can
/// have the same point.
#[pyfunction]
pub fn stored_series(py: Python<'_>, folder: PathBuf, name: String) -> PyResult<Stored> {
    py.detach(|| {
        let mut values: BTreeMap<(String, String, String), Vec<u64>> = BTreeMap::new();
        for path in parquet_files(&folder.join("series")) {
            let algorithms = algorithms_of(&folder, &path);
            for (point, flow, value) in store::parquet_file::events(&path, &name).map_err(of)? {
                let algorithm = algorithms.get(&flow).cloned().unwrap_or_default();
                values.entry((point, flow, algorithm)).or_default().push(value);
            }
        }
        Ok(values.into_iter().map(|((p, flow, algorithm), v)| (p, flow, algorithm, v)).collect())
    })
}

/// The algorithm of each flow of a stored run, by the scenario that the folder keeps.
fn algorithms_of(folder: &Path, series: &Path) -> BTreeMap<String, String> {
    let place = series.parent().and_then(|dir| dir.strip_prefix(folder.join("series")).ok());
    let read = place.and_then(|place| {
        let scenario = folder.join("scenarios").join(place);
        let text = fs::read_to_string(format!("{}.toml", scenario.display())).ok()?;
        toml::from_str::<toml::Table>(&text).ok()
    });
    let flows = read.as_ref().and_then(|table| table.get("flow")?.as_array());
    let named = |flow: &toml::Value| {
        let algorithm = flow.get("algorithm")?.as_str()?;
        Some((flow.get("name")?.as_str()?.to_owned(), class_label(algorithm).to_owned()))
    };
    flows.into_iter().flatten().filter_map(named).collect()
}

/// The Parquet files below a folder, sorted.
fn parquet_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(parquet_files(&path));
        } else if path.extension().is_some_and(|e| e == "parquet") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The runs in a folder, by experiment, point and seed.
#[pyfunction]
pub fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Records> {
    let journal = folder.join(store::JOURNAL);
    if !journal.is_file() && !folder.join("parts").is_dir() {
        return Err(input(&format!(
            "{} holds no runs: it has no {}",
            folder.display(),
            store::JOURNAL
        )));
    }
    py.detach(|| {
        let (batch, _) = Batch::share(&folder).map_err(of)?;
        let mut runs: BTreeMap<RunKey, RunRecord> = BTreeMap::new();
        for record in batch.records() {
            runs.insert(RunKey::of(record), record.clone());
        }
        let command = batch.invocations().map_err(of)?.pop();
        let command = command.map(|c| c.command).unwrap_or_default();
        Ok(Records::new(runs.into_values().collect(), Vec::new(), command))
    })
}
