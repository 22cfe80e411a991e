//! Scenarios: from files, from text and from Python objects.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString};
use toml::Value;
use windlass_lab::outlook;
use windlass_lab::run::RunError;
use windlass_lab::scenario::{Candidate, Scenario as Read};
use windlass_lab::sweep::spelt_out;

use crate::errors::{input, of_run, scenario};

/// A scenario that has been parsed.
#[pyclass(frozen, module = "windlass._native")]
pub struct Scenario {
    /// Source text, before any change.
    pub text: String,
    /// Name of the source in error messages.
    pub name: String,
    /// Changes, with every `*` as written.
    pub set: Vec<(String, String)>,
    /// True if the source is a file.
    pub is_file: bool,
    /// The parsed scenario.
    pub read: Arc<Read>,
}

#[pymethods]
impl Scenario {
    /// Parses text with changes; `name` is the file, or the name in error messages.
    #[staticmethod]
    fn of_text(
        text: String,
        name: String,
        is_file: bool,
        set: Vec<(String, String)>,
    ) -> PyResult<Scenario> {
        let wrong = |e| scenario(&e, is_file);
        // Errors in the original text are reported first.
        let alone = Read::from_str(&text, &name).map_err(wrong)?;
        let read = match set.as_slice() {
            [] => alone,
            set => {
                let set = spelt_out(&text, set).map_err(|e| input(&e))?;
                Read::with_overrides(&text, &name, &set).map_err(|e| scenario(&e, is_file))?
            }
        };
        Ok(Scenario { text, name, set, is_file, read: Arc::new(read) })
    }

    /// Reads a file with changes.
    #[staticmethod]
    fn of_file(path: PathBuf, set: Vec<(String, String)>) -> PyResult<Scenario> {
        let text = Read::text_of(&path).map_err(|e| scenario(&e, true))?;
        Scenario::of_text(text, path.display().to_string(), true, set)
    }

    #[getter]
    fn name(&self) -> &str {
        &self.read.name
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.read.seed
    }

    #[getter]
    fn duration_s(&self) -> f64 {
        self.read.duration.as_nanos() as f64 / 1e9
    }

    #[getter]
    fn flows(&self) -> Vec<String> {
        self.read.flows.iter().map(|f| f.name.clone()).collect()
    }

    #[getter]
    fn links(&self) -> Vec<String> {
        self.read.links.iter().map(|l| l.name.clone()).collect()
    }

    #[getter]
    fn hash(&self) -> String {
        self.read.hash()
    }

    /// Algorithm of each flow, as in tables.
    #[getter]
    fn algorithms(&self) -> Vec<String> {
        self.read.flows.iter().map(|f| f.algorithm().into_owned()).collect()
    }

    /// The scenario with other algorithms of some flows, as TOML: `python:MODULE:CLASS` by the name of the flow.
    fn with_algorithms(&self, of: BTreeMap<String, String>) -> PyResult<String> {
        let mut read = (*self.read).clone();
        for (flow, text) in of {
            let known = read.flows.iter_mut().find(|f| f.name == flow);
            let Some(flow) = known else {
                return Err(input(&format!("flow `{flow}` not found")));
            };
            let candidate = Candidate::parse(&text).map_err(|e| scenario(&e, false))?;
            if flow.controller.is_none() || flow.multipath.is_some() {
                return Err(of_run(&RunError::NoConnection(flow.name.clone())));
            }
            match candidate.class {
                Some(class) => flow.set_class(class),
                None => candidate.give(flow),
            }
        }
        Ok(read.resolved_toml())
    }

    /// The whole scenario as TOML, with all defaults.
    fn to_toml(&self) -> String {
        self.read.resolved_toml()
    }

    /// Values that are probably mistakes, a sentence each.
    fn warnings(&self) -> PyResult<Vec<String>> {
        outlook::warnings(&self.read).map_err(|e| input(&e.to_string()))
    }

    /// Paths, queues and windows, as `windlass run --dry-run` prints them.
    fn outlook(&self) -> PyResult<String> {
        let paths = outlook::paths(&self.read).map_err(|e| input(&e.to_string()))?;
        let cells = outlook::cells(&self.read).map_err(|e| input(&e.to_string()))?;
        Ok(outlook::text(&paths) + &outlook::cells_text(&cells))
    }
}

/// Converts a dictionary to a TOML document.
#[pyfunction]
pub fn toml_of(tree: &Bound<'_, PyDict>) -> PyResult<String> {
    let Value::Table(table) = value(tree, "")? else {
        return Err(input("a scenario must be a dictionary"));
    };
    toml::to_string(&table).map_err(|e| input(&e.to_string()))
}

/// Converts a value for `--set`: text without change, everything else as TOML.
#[pyfunction]
pub fn value_text(key: &str, of: &Bound<'_, PyAny>) -> PyResult<String> {
    match value(of, key)? {
        Value::String(text) => Ok(text),
        other => Ok(other.to_string()),
    }
}

/// Converts a Python object to TOML; `path` is its position.
fn value(of: &Bound<'_, PyAny>, path: &str) -> PyResult<Value> {
    if of.is_instance_of::<PyBool>() {
        return Ok(Value::Boolean(of.extract()?));
    }
    if of.is_instance_of::<PyInt>() {
        let too_large = |_| input(&format!("{path}: {of} does not fit an integer of 64 bits"));
        return of.extract().map(Value::Integer).map_err(too_large);
    }
    if of.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(of.extract()?));
    }
    if of.is_instance_of::<PyString>() {
        return Ok(Value::String(of.extract()?));
    }
    if let Ok(mapping) = of.cast::<PyMapping>() {
        return table(&mapping.items()?, path);
    }
    if let Ok(items) = of.cast::<PySequence>() {
        let item = |i: usize| value(&items.get_item(i)?, &format!("{path}[{i}]"));
        return Ok(Value::Array((0..items.len()?).map(item).collect::<PyResult<_>>()?));
    }
    // Numbers of NumPy and similar libraries.
    if let Ok(number) = of.call_method0("item")
        && !number.is(of)
    {
        return value(&number, path);
    }
    let place = if path.is_empty() { String::new() } else { format!("{path}: ") };
    let kind = of.get_type().name()?;
    Err(input(&format!(
        "{place}invalid value of type {kind}; expected text, a number, a bool, a list or a dictionary"
    )))
}

fn table(items: &Bound<'_, PyList>, path: &str) -> PyResult<Value> {
    let mut table = toml::Table::new();
    for item in items {
        let (key, inner): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
        let dot = if path.is_empty() { "" } else { "." };
        let key: String = key
            .extract()
            .map_err(|_| input(&format!("{path}{dot}{key}: a key of a scenario must be text")))?;
        let inner = value(&inner, &format!("{path}{dot}{key}"))?;
        table.insert(key, inner);
    }
    Ok(Value::Table(table))
}
