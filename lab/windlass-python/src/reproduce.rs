//! Papers and assessments: the list of papers, verdicts on claims, and grades of criteria.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use windlass_lab::assess::{EXAMINATIONS, Subject};
use windlass_lab::claims::{Judgement, headline};
use windlass_lab::papers::{PAPERS, Paper};
use windlass_lab::reproduce::{Options, ReproduceError, Reproduction};
use windlass_lab::run::store::{Column, Format, Table as Plain, Values};
use windlass_lab::run::{Failed, World};
use windlass_lab::scenario::{Candidate, did_you_mean};
use windlass_lab::units::Duration;

use crate::count::{count, some_count};
use crate::elsewhere::{Elsewhere, runner};
use crate::errors::{failed, input, of};
use crate::table::Table;
use crate::watch::watched;

/// The table of verdicts, a summary sentence, the path of the report, and the runs without a result.
type Reproduced = (Table, String, PathBuf, Vec<String>);

/// Reproduces a paper: makes the missing runs and judges the claims.
#[pyfunction]
#[pyo3(signature = (paper, budget, seeds, folder, jobs, command, progress, elsewhere))]
#[allow(clippy::too_many_arguments)]
pub fn reproduce(
    py: Python<'_>,
    paper: &str,
    budget: Option<String>,
    #[pyo3(from_py_with = some_count)] seeds: Option<u32>,
    folder: PathBuf,
    #[pyo3(from_py_with = count)] jobs: usize,
    command: String,
    progress: Option<Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<Reproduced> {
    let paper = find(paper)?;
    let budget = budget.map(|b| b.parse::<Duration>()).transpose();
    let budget = budget.map_err(|e| input(&format!("budget: {e}")))?;
    let options = Options {
        budget: budget.map(|Duration(span)| span.0 as f64 / 1e9),
        seeds,
        on: Vec::new(),
        shard: None,
        out: folder,
        command,
    };
    let (outcome, without) = watched(py, progress.as_ref(), |watch| {
        let runner = runner(watch.stop(), jobs, elsewhere);
        let mut work = Reproduction::prepare(&paper, &options).map_err(wrong)?;
        watch.expect(work.total() - work.finished());
        let without = work.work(&runner, |_| watch.made()).map_err(wrong)?;
        let outcome = work.conclude(&[Format::Parquet], &runner).map_err(wrong)?;
        Ok::<_, PyErr>((outcome, without))
    })??;
    let without = without.iter().map(Failed::to_string).collect();
    let words = headline(&outcome.judgements).to_string();
    let report = outcome.report.map_err(|e| failed(&e.to_string()))?;
    Ok((verdicts(&outcome.judgements)?, words, report, without))
}

/// Assesses an algorithm by the built-in examination. Returns the folder of the scorecards, and the runs without a
/// result.
#[pyfunction]
#[pyo3(signature = (algorithm, budget, seeds, only, folder, jobs, command, progress, elsewhere))]
#[allow(clippy::too_many_arguments, reason = "they are the arguments of the function in Python")]
pub fn assess(
    py: Python<'_>,
    algorithm: &str,
    budget: String,
    #[pyo3(from_py_with = some_count)] seeds: Option<u32>,
    only: Vec<String>,
    folder: PathBuf,
    #[pyo3(from_py_with = count)] jobs: usize,
    command: String,
    progress: Option<Py<PyAny>>,
    elsewhere: Elsewhere,
) -> PyResult<(PathBuf, Vec<String>)> {
    let candidate = Candidate::parse(algorithm).map_err(|e| crate::errors::scenario(&e, false))?;
    World::Sim.takes(&candidate).map_err(|e| input(&e))?;
    let subject = Subject::from(&candidate);
    let mut examination = EXAMINATIONS[0].clone();
    if !only.is_empty() {
        let wrong =
            |known: Vec<String>| input(&format!("only: the families are {}", known.join(", ")));
        examination = examination.only(&only).map_err(wrong)?;
    }
    let examination = examination.suited(&candidate);
    let Duration(span) = budget.parse().map_err(|e| input(&format!("budget: {e}")))?;
    let options = Options {
        budget: Some(span.0 as f64 / 1e9),
        seeds,
        on: vec![World::Sim],
        shard: None,
        out: folder.join(examination.id()),
        command,
    };
    let paper = examination.of(&subject, World::Sim, &options.command);
    watched(py, progress.as_ref(), |watch| {
        let runner = runner(watch.stop(), jobs, elsewhere);
        let mut work = Reproduction::prepare(&paper, &options).map_err(wrong)?;
        watch.expect(work.total() - work.finished());
        let without = work.work(&runner, |_| watch.made()).map_err(wrong)?;
        let assessed = examination.conclude(&subject, &work, &runner, &[Format::Parquet]);
        let assessed = assessed.map_err(|e| failed(&e.to_string()))?;
        assessed.files.map_err(|e| failed(&e.to_string()))?;
        let dir = assessed.dir;
        Ok::<_, PyErr>((dir, without.iter().map(Failed::to_string).collect()))
    })?
}

/// Every built-in paper.
#[pyfunction]
pub fn papers() -> PyResult<Table> {
    let column = |name: &'static str, meaning, of: fn(&Paper) -> &str| Column {
        name: name.into(),
        meaning,
        values: Values::Text(PAPERS.iter().map(|p| Some(of(p).to_owned())).collect()),
    };
    let columns = vec![
        column("id", "Identifier for commands", |p| &p.id),
        column("title", "Title", |p| &p.title),
        column("published", "Publication and year", |p| &p.published),
        column("summary", "Summary of the paper", |p| &p.summary),
    ];
    Table::of(vec![Plain { name: "papers", columns }])
}

/// The paper with this identifier, or in this folder.
fn find(word: &str) -> PyResult<Cow<'static, Paper>> {
    if let Some(paper) = Paper::by_id(word) {
        return Ok(Cow::Borrowed(paper));
    }
    if Path::new(word).is_dir() {
        return Paper::read(Path::new(word)).map(Cow::Owned).map_err(|e| input(&e.to_string()));
    }
    let known: Vec<&str> = PAPERS.iter().map(|p| p.id.as_str()).collect();
    let near = did_you_mean(word, &known);
    Err(input(&format!("no paper is called `{word}`{near}; there are {}", known.join(", "))))
}

fn wrong(e: ReproduceError) -> PyErr {
    match e {
        ReproduceError::File(e) => of(e),
        ReproduceError::Scenario(e) => of(e),
        ReproduceError::Run(e) => of(e),
        ReproduceError::Store(e) => of(e),
        e => failed(&e.to_string()),
    }
}

fn verdicts(all: &[Judgement]) -> PyResult<Table> {
    let text = |name: &'static str, meaning, of: fn(&Judgement) -> &str| Column {
        name: name.into(),
        meaning,
        values: Values::Text(all.iter().map(|j| Some(of(j).to_owned())).collect()),
    };
    let real = |name: &'static str, meaning, of: fn(&Judgement) -> Option<f64>| Column {
        name: name.into(),
        meaning,
        values: Values::Real(all.iter().map(of).collect()),
    };
    let columns = vec![
        text("id", "Identifier, unique within the paper", |j| &j.id),
        text("source", "Position in the paper", |j| &j.source),
        text("quantity", "Claimed quantity, in words", |j| &j.quantity),
        text("kind", "Basis of the claim", |j| j.kind.name()),
        text("statement", "Printed statement that contains the claim", |j| &j.statement),
        text("unit", "Unit of the columns paper, measured and ci95", |j| &j.unit),
        real("paper", "Published value", |j| j.paper),
        real("measured", "Measured value", |j| j.measured),
        real("ci95_low", "Lower end of the measured value's 95 % interval", |j| {
            j.ci95.map(|ci| ci[0])
        }),
        real("ci95_high", "Upper end of the measured value's 95 % interval", |j| {
            j.ci95.map(|ci| ci[1])
        }),
        Column {
            name: "runs".into(),
            meaning: "Number of runs; 0 for arithmetic",
            values: Values::Integer(all.iter().map(|j| Some(j.n)).collect()),
        },
        text("verdict", "Verdict", |j| j.verdict.badge().name),
        text("note", "Reason of the verdict, and deviations", |j| &j.note),
    ];
    Table::of(vec![Plain { name: "verdicts", columns }])
}
