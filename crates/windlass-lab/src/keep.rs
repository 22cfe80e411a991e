//! The results folder of `windlass run --out`.

use std::io;
use std::path::{Path, PathBuf};

use crate::capture::{CaptureOptions, FlowAddresses, write_pcapng};
use crate::compile::compile;
use crate::experiment::RunRecord;
use crate::run::{RunError, simulate};
use crate::scenario::Scenario;
use crate::store::export::{export, export_records};
use crate::store::{Format, Provenance, SeriesRun, StoreError, replace, table};

/// Why results could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// The folder or a file in it.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run that is recorded.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// Makes sure that the folder can be written before any work is done for it.
pub fn prepare(dir: &Path) -> Result<(), StoreError> {
    let name = ".windlass-probe";
    let path = replace(dir, name, |_| Ok(()))?;
    // Leaving an empty file behind would harm nobody.
    let _ = std::fs::remove_file(path);
    Ok(())
}

/// Writes the resolved scenario, the tables and, where the scenario records them, the time series
/// and packets of the first seed. Returns the paths.
pub fn results(
    dir: &Path,
    scenario: &Scenario,
    records: &[RunRecord],
    command: &str,
) -> Result<Vec<PathBuf>, KeepError> {
    let resolved = scenario.resolved_toml();
    let mut paths =
        vec![replace(dir, "scenario.toml", |out| io::Write::write_all(out, resolved.as_bytes()))?];
    paths.extend(export_records(dir, records, command, &[Format::Parquet])?);
    if !scenario.record.series.is_empty() || !scenario.record.capture.is_empty() {
        paths.extend(recording(dir, scenario, records, command)?);
    }
    Ok(paths)
}

/// The first seed once more, recording. Runs repeat exactly, so this is the run of the tables.
fn recording(
    dir: &Path,
    scenario: &Scenario,
    records: &[RunRecord],
    command: &str,
) -> Result<Vec<PathBuf>, KeepError> {
    let result = simulate(scenario, scenario.seed)?;
    let mut paths = Vec::new();
    if !scenario.record.series.is_empty() {
        let flows: Vec<String> = scenario.flows.iter().map(|f| f.name.clone()).collect();
        let run = SeriesRun {
            experiment: &scenario.name,
            point: "all",
            seed: scenario.seed,
            flows: &flows,
            samples: &result.samples,
        };
        let provenance = Provenance::of(&records[..records.len().min(1)], command);
        paths.push(export(dir, "series", Format::Parquet, table::series([run]), &provenance)?);
    }
    if !scenario.record.capture.is_empty() {
        let config = compile(scenario, scenario.seed).map_err(RunError::from)?;
        let flows: Vec<FlowAddresses> = (0u32..)
            .zip(&config.flows)
            .map(|(i, f)| FlowAddresses::new(i, f.from as u32, f.to as u32))
            .collect();
        let links: Vec<&str> = result.links.iter().map(|l| l.name.as_str()).collect();
        paths.push(replace(dir, "capture.pcapng", |out| {
            write_pcapng(out, &links, &flows, &result.packets, CaptureOptions::default())
                .map(|_| ())
        })?);
    }
    Ok(paths)
}
