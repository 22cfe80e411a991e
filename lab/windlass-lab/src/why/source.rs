//! Repetition of runs of results folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::run::store::{Batch, JOURNAL, StoreError, file_name};
use crate::run::{RunRecord, World};
use crate::scenario::Scenario;

use super::Case;

/// Selection of a run in a folder.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// The point. Default: the point of the last run.
    pub point: Option<String>,
    /// The seed. Default: the smallest seed.
    pub seed: Option<u64>,
}

/// Repeats a run of a results folder, or of a scenario file, with the record of decisions.
///
/// # Errors
///
/// * The folder does not contain the run, or its scenario.
/// * Another backend than the simulator made the run.
/// * The totals differ from the totals of the version that made the run.
pub fn find(path: &Path, choice: &Choice) -> Result<Case, Error> {
    if path.is_file() {
        let scenario = Scenario::from_file(path)?;
        let seed = choice.seed.unwrap_or(scenario.seed);
        return Ok(Case::of(&scenario, seed)?);
    }
    if !path.join(JOURNAL).is_file() {
        let place = path.display();
        return Err(Error::Input(format!(
            "{place} holds no runs: {JOURNAL} not found; name the folder of a `run --out`, or a scenario file"
        )));
    }
    let (batch, _) = Batch::open(path)?;
    let record = chosen(&batch, choice, path)?;
    let scenario = scenario_of(path, record)?;
    let case = Case::of(&scenario, record.seed)?;
    if case.result.flows != record.flows || case.result.packet_hops != record.packet_hops {
        return Err(Error::Input(format!(
            "the totals differ from version {}, which made the run of {} with seed {}; repeat the run to explain it",
            record.version, record.experiment, record.seed
        )));
    }
    Ok(case)
}

/// The selected run: of the runs that match the choice, the run with the smallest seed at the point of the last written
/// run.
fn chosen<'a>(batch: &'a Batch, choice: &Choice, path: &Path) -> Result<&'a RunRecord, Error> {
    let fits = |r: &&RunRecord| {
        choice.point.as_ref().is_none_or(|point| r.point == *point)
            && choice.seed.is_none_or(|seed| r.seed == seed)
    };
    let all: Vec<&RunRecord> = batch.records().iter().filter(fits).collect();
    let Some(last) = all.last() else {
        let mut known: Vec<String> =
            batch.records().iter().map(|r| format!("{} seed {}", r.point, r.seed)).collect();
        known.dedup();
        known.truncate(10);
        let known = known.join(", ");
        return Err(Error::Input(format!("{} has no such run; it has {known}", path.display())));
    };
    let of_last = |r: &&&RunRecord| r.point == last.point && r.scenario_hash == last.scenario_hash;
    let record = all.iter().filter(of_last).min_by_key(|r| r.seed).unwrap_or(last);
    if record.world != World::Sim.to_string() {
        return Err(Error::Input(format!(
            "`explain` needs a run of the simulator; this run used `{}`",
            record.world
        )));
    }
    Ok(record)
}

/// The scenario of a run, from the scenario files of its experiment in the folder.
fn scenario_of(path: &Path, record: &RunRecord) -> Result<Scenario, Error> {
    let folder = path.join("scenarios").join(file_name(&record.experiment));
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .map(|entries| entries.flatten().map(|e| e.path()).collect())
        .map_err(StoreError::io("read", &folder))?;
    files.sort();
    let toml = files.iter().filter(|f| f.extension().is_some_and(|e| e == "toml"));
    let mut scenarios = toml.filter_map(|f| Scenario::from_file(f).ok());
    let found = scenarios.find(|s| World::Sim.hash(s) == record.scenario_hash);
    found.ok_or_else(|| {
        let place = folder.display();
        Error::Input(format!("{place} does not contain the scenario of the run; repeat the run"))
    })
}
