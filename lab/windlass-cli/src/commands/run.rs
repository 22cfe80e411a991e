//! `windlass run`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use windlass_lab::report::html;
use windlass_lab::run::fields::SUMMARY;
use windlass_lab::run::store::export::{Format, Provenance, write};
use windlass_lab::run::store::replace;
use windlass_lab::run::{RunRecord, Task, World};
use windlass_lab::scenario::{RecordSpec, Scenario};
use windlass_lab::sweep::{check_seeds, spelt_out};
use windlass_lab::{hindsight, outlook, overview, run_page};

use super::making::{Making, ready, runner, tell_unkept};
use crate::args::Run;
use crate::output::{Chatter, Failure, print, width};

/// Runs a scenario.
pub fn run(args: &Run, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let scenario = scenario(args)?;
    if args.dry_run {
        print(&scenario.resolved_toml())?;
        let paths = outlook::paths(&scenario).map_err(Failure::input)?;
        let cells = outlook::cells(&scenario).map_err(Failure::input)?;
        let text = outlook::text(&paths) + &outlook::cells_text(&cells);
        chatter.say(format!("\n{}", text.trim_end()));
    }
    for line in outlook::warnings(&scenario).map_err(Failure::input)? {
        chatter.say(format!("note: {line}"));
    }
    if args.dry_run {
        return Ok(());
    }
    let runner = runner(args.jobs.into());
    ready(&runner, args.on, &scenario, chatter)?;
    let tasks = draw_up(&scenario, args);
    let line = |r: &RunRecord| format!("{} seed {}", r.experiment, r.seed);
    let making = Making { noun: "runs", runner: &runner, line, chatter };
    if args.out.is_none() {
        tell_unkept(&scenario, chatter);
    }
    let (records, mut outcome) = making.make(args.out.as_deref(), tasks, None, command)?;
    if let Some(dir) = &args.out {
        chatter.say(format!("results: {}", dir.display()));
        if args.on == World::Sim {
            outcome = outcome.and(write_page(&scenario, dir, &records, command, chatter));
        }
    }
    show(&scenario, &records, args, command)?;
    for line in hindsight::warnings(&scenario, &records) {
        chatter.say(format!("warning: {line}"));
    }
    outcome
}

fn scenario(args: &Run) -> Result<Scenario, Failure> {
    let mut scenario = load(&args.file, &args.set)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    check_seeds(&scenario, args.seeds.into()).map_err(Failure::of)?;
    Ok(scenario)
}

/// Reads a scenario file, with the values changed by `--set`.
pub fn load(file: &Path, sets: &[String]) -> Result<Scenario, Failure> {
    load_with(file, sets, &[])
}

/// As [`load`], with further changes of keys.
pub fn load_with(
    file: &Path,
    sets: &[String],
    more: &[(String, String)],
) -> Result<Scenario, Failure> {
    let located = |e| Failure::located([e]);
    let overrides = [&overrides(sets)?, more].concat();
    // Errors in the file alone are reported first.
    Scenario::from_file(file).map_err(located)?;
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let overrides =
        spelt_out(&text, &overrides).map_err(|e| Failure::input(format!("--set {e}")))?;
    Scenario::from_file_with(file, &overrides).map_err(located)
}

/// The keys and values of `--set`.
pub fn overrides(sets: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |set: &String| {
        let (key, value) = set.split_once('=').ok_or_else(|| {
            Failure::input(format!("--set {set}: write KEY=VALUE, such as link.0.rate=2Mbps"))
        })?;
        Ok((key.trim().to_string(), value.trim().to_string()))
    };
    sets.iter().map(pair).collect()
}

fn draw_up(scenario: &Scenario, args: &Run) -> Vec<Task> {
    let scenario_hash: Arc<str> = args.on.hash(scenario).into();
    let mut shared = scenario.clone();
    if args.out.is_none() {
        // Series and captures need a folder; the other data are part of a run's record.
        let RecordSpec { bins, delays, .. } = shared.record;
        shared.record = RecordSpec { bins, delays, ..RecordSpec::default() };
    }
    let shared = Arc::new(shared);
    (0..u64::from(args.seeds))
        .map(|i| Task {
            experiment: scenario.name.clone(),
            point: match args.on {
                World::Sim => "all".to_string(),
                elsewhere => format!("on={elsewhere}"),
            },
            seed: scenario.seed + i,
            scenario: shared.clone(),
            scenario_hash: scenario_hash.clone(),
            world: args.on,
        })
        .collect()
}

/// Draws the first run. Captures are the only source for a kernel's behaviour.
fn write_page(
    scenario: &Scenario,
    dir: &Path,
    records: &[RunRecord],
    command: &str,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let page = run_page::report(scenario, records, command).map_err(Failure::of)?;
    let Some(page) = page else { return Ok(()) };
    let text = html::render(&page).map_err(Failure::work)?;
    replace(dir, "report.html", |out| out.write_all(text.as_bytes())).map_err(Failure::work)?;
    chatter.say(format!("report:  {}", dir.join("report.html").display()));
    Ok(())
}

/// An item of a run with the seed of the run.
#[derive(Serialize)]
struct Seeded<'a, T> {
    seed: u64,
    #[serde(flatten)]
    item: &'a T,
}

/// The document of `--json`. With several runs, the lists have the items of all runs.
#[derive(Serialize)]
struct Document<'a> {
    scenario: &'a str,
    scenario_hash: String,
    version: &'static str,
    world: String,
    kernel: Option<&'a str>,
    duration_s: f64,
    seeds: Vec<u64>,
    flows: Vec<Seeded<'a, windlass_sim::FlowResult>>,
    links: Vec<Seeded<'a, windlass_sim::LinkResult>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cells: Vec<Seeded<'a, windlass_sim::RadioResult>>,
}

fn show(
    scenario: &Scenario,
    records: &[RunRecord],
    args: &Run,
    command: &str,
) -> Result<(), Failure> {
    if args.json {
        let document = Document {
            scenario: &scenario.name,
            scenario_hash: scenario.hash(),
            version: args.on.version(),
            world: args.on.to_string(),
            kernel: records.first().and_then(|r| r.kernel.as_deref()),
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
            cells: records
                .iter()
                .flat_map(|r| r.radios.iter().map(|item| Seeded { seed: r.seed, item }))
                .collect(),
        };
        let text = serde_json::to_string_pretty(&document).map_err(Failure::work)?;
        return print(&format!("{text}\n"));
    }
    if args.csv {
        let mut out = Vec::new();
        let provenance = Provenance::of(records, command);
        write(&mut out, Format::Csv, [SUMMARY.table(records)], &provenance)
            .map_err(Failure::work)?;
        return print(&String::from_utf8_lossy(&out));
    }
    print(&overview::text(scenario, records, width()))
}
