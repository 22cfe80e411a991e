//! `windlass run`.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use windlass_lab::experiment::RunRecord;
use windlass_lab::run::{RunError, Task, execute};
use windlass_lab::scenario::Scenario;
use windlass_lab::store::export::{Format, Provenance, write};
use windlass_lab::store::table;
use windlass_lab::{VERSION, keep, overview};

use crate::args::Run;
use crate::output::{Chatter, Failure, print};

/// Runs a scenario.
pub fn run(args: &Run, chatter: &Chatter) -> Result<(), Failure> {
    let scenario = load(args)?;
    if args.dry_run {
        return print(&scenario.resolved_toml());
    }
    for line in overview::warnings(&scenario) {
        chatter.say(format!("note: {line}"));
    }
    if let Some(dir) = &args.out {
        keep::prepare(dir).map_err(Failure::work)?;
    }
    let records = simulate(&scenario, args, chatter)?;
    if let Some(dir) = &args.out {
        let command = format!("windlass run {}", args.file.display());
        let kept = keep::results(dir, &scenario, &records, &command).map_err(Failure::work)?;
        for path in kept {
            chatter.detail(format!("wrote {}", path.display()));
        }
        chatter.say(format!("results: {}", dir.display()));
    }
    show(&scenario, &records, args)
}

fn load(args: &Run) -> Result<Scenario, Failure> {
    let mut overrides = Vec::new();
    for set in &args.set {
        let Some((key, value)) = set.split_once('=') else {
            return Err(Failure::input(format!(
                "--set {set}: write KEY=VALUE, such as link.0.rate=2Mbps"
            )));
        };
        overrides.push((key.trim().to_string(), value.trim().to_string()));
    }
    let mut scenario = Scenario::from_file_with(Path::new(&args.file), &overrides)
        .map_err(|e| Failure::Located(miette::Report::new(e)))?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    Ok(scenario)
}

fn simulate(scenario: &Scenario, args: &Run, chatter: &Chatter) -> Result<Vec<RunRecord>, Failure> {
    let hash: Arc<str> = scenario.hash().into();
    let mut plain = scenario.clone();
    plain.record = Default::default(); // series and captures are of the first seed, see `keep`
    let plain = Arc::new(plain);
    let tasks: Vec<Task> = (0..u64::from(args.runs))
        .map(|i| Task {
            experiment: scenario.name.clone(),
            point: "all".to_string(),
            seed: scenario.seed.saturating_add(i),
            scenario: plain.clone(),
            scenario_hash: hash.clone(),
        })
        .collect();
    let bar = chatter.bar(tasks.len() as u64, &scenario.name);
    let records = Mutex::new(Vec::new());
    let outcome = execute(&tasks, args.jobs, |record| {
        bar.inc(1);
        records.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(record);
        Ok::<(), RunError>(())
    });
    bar.finish_and_clear();
    outcome.map_err(Failure::work)?;
    let mut records = records.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    records.sort_by_key(|r| r.seed);
    Ok(records)
}

/// An item of a run with the seed that made it.
#[derive(Serialize)]
struct Seeded<'a, T> {
    seed: u64,
    #[serde(flatten)]
    item: &'a T,
}

/// The document of `--json`. With several runs the lists hold the items of all of them.
#[derive(Serialize)]
struct Document<'a> {
    scenario: &'a str,
    scenario_hash: String,
    version: &'static str,
    duration_s: f64,
    seeds: Vec<u64>,
    flows: Vec<Seeded<'a, windlass_sim::FlowResult>>,
    links: Vec<Seeded<'a, windlass_sim::LinkResult>>,
}

fn show(scenario: &Scenario, records: &[RunRecord], args: &Run) -> Result<(), Failure> {
    if args.json {
        let document = Document {
            scenario: &scenario.name,
            scenario_hash: scenario.hash(),
            version: VERSION,
            duration_s: scenario.duration.as_nanos() as f64 / 1e9,
            seeds: records.iter().map(|r| r.seed).collect(),
            flows: records
                .iter()
                .flat_map(|r| r.flows.iter().map(|item| Seeded { seed: r.seed, item }))
                .collect(),
            links: records
                .iter()
                .flat_map(|r| r.links.iter().map(|item| Seeded { seed: r.seed, item }))
                .collect(),
        };
        let text = serde_json::to_string_pretty(&document).map_err(Failure::work)?;
        return print(&format!("{text}\n"));
    }
    if args.csv {
        let mut out = Vec::new();
        let provenance = Provenance::of(records, "windlass run");
        write(&mut out, Format::Csv, [table::summary(records)], &provenance)?;
        return print(&String::from_utf8_lossy(&out));
    }
    print(&overview::text(scenario, records))
}
