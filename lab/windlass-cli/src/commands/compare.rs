//! `windlass compare`.

use std::time::Instant;

use windlass_lab::compare::{Findings, Question, Request, files, text};
use windlass_lab::outlook;
use windlass_lab::run::RunRecord;
use windlass_lab::run::store::export::{Format, Provenance, write};

use super::making::{Making, line, ready, runner, tell_unkept};
use crate::args::Compare;
use crate::output::{Chatter, Failure, print, width};

/// Compares algorithms on a scenario.
pub fn run(args: &Compare, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let question = question(args)?;
    tell_unkept(&question.scenario, chatter);
    for line in outlook::warnings(&question.scenario).map_err(Failure::input)? {
        chatter.say(format!("note: {line}"));
    }
    let runner = runner(args.jobs.into());
    ready(&runner, args.on, &question.scenario, chatter)?;
    if let (Some(shards), Some(dir)) = (args.slurm, &args.out) {
        return super::slurm::submit(command, &question.scenario.name, shards, dir, chatter);
    }
    let tasks = question.tasks();
    let begun = Instant::now();
    let making = Making { noun: "compare", runner: &runner, line, chatter };
    let (records, mut outcome) = making.make(args.out.as_deref(), tasks, args.shard, command)?;
    chatter.say(format!("{} runs, {:.1} s", records.len(), begun.elapsed().as_secs_f64()));
    if let Some(shard) = args.shard {
        chatter.say(format!(
            "shard {shard} is done; when all are, the same command without --shard compares"
        ));
        return outcome;
    }
    let findings = question.answer(&records);
    if findings.rankings.iter().all(|r| r.measure != question.measure) {
        let name = question.measure.name();
        chatter.say(format!("note: this scenario has no {name}; the ranking uses another metric"));
    }
    if let Some(dir) = &args.out {
        let written = files::keep(dir, &findings, &records, command);
        outcome = outcome.and(written.map_err(Failure::of));
        if outcome.is_ok() {
            chatter.say(format!("report:  {}", dir.join("report.html").display()));
        }
    }
    show(&findings, &records, args, command)?;
    outcome
}

/// The question of the command line, with all checks that need no run.
fn question(args: &Compare) -> Result<Question, Failure> {
    let mut scenario = super::run::load(&args.file, &args.set)?;
    if let Some(seed) = args.seed {
        scenario.seed = seed;
    }
    let request = Request {
        scenario,
        algorithms: args.algorithms.clone(),
        settings: Vec::new(),
        flows: args.flows.clone(),
        seeds: args.seeds.into(),
        baseline: args.baseline.clone(),
        jitter: args.jitter,
        measure: args.metric,
        harm: !args.no_harm,
        world: args.on,
    };
    request.question().map_err(Failure::of)
}

fn show(
    findings: &Findings,
    records: &[RunRecord],
    args: &Compare,
    command: &str,
) -> Result<(), Failure> {
    if args.json {
        let text = serde_json::to_string_pretty(findings).map_err(Failure::work)?;
        return print(&format!("{text}\n"));
    }
    if args.csv {
        let mut out = Vec::new();
        let provenance = Provenance::of(records, command);
        let ranking = files::tables(findings).into_iter().take(1);
        write(&mut out, Format::Csv, ranking, &provenance).map_err(Failure::work)?;
        return print(&String::from_utf8_lossy(&out));
    }
    print(&text(findings, width()))
}
