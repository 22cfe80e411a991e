//! `windlass reproduce`.

use std::borrow::Cow;
use std::path::Path;
use std::time::Instant;

use windlass_lab::claims::headline;
use windlass_lab::papers::check::check;
use windlass_lab::papers::{FINDINGS, LONG, PAPERS, Paper};
use windlass_lab::readings::{Budget, Survey};
use windlass_lab::report::model::{Block, Section};
use windlass_lab::report::text;
use windlass_lab::reproduce::{Options, Outcome, Reproduction};
use windlass_lab::run::store::Format;
use windlass_lab::run::{Failed, Runner};

use super::making::{Making, line, runner};
use super::papers::find;
use super::play::lay_beside;
use crate::args::Reproduce;
use crate::output::{Chatter, Failure, keeps, print, width};

/// Budget of a quick reproduction, seconds for all its papers, or of a quick assessment.
pub const QUICK: f64 = 120.0;
/// Default budget of the interpretations of a paper, seconds.
const READINGS: f64 = 1800.0;

/// Reproduces each paper.
pub fn run(args: &Reproduce, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let papers: Vec<Cow<'static, Paper>> = match args.papers.as_slice() {
        [] => PAPERS.iter().map(Cow::Borrowed).collect(),
        ids => ids.iter().map(|id| find(id)).collect::<Result<_, _>>()?,
    };
    for paper in &papers {
        // Built-in papers are tested.
        if let Cow::Owned(paper) = paper {
            check(paper).map_err(Failure::located)?;
        }
    }
    let mut left = budget(args);
    let mut options = Options {
        budget: None,
        seeds: args.seeds,
        on: args.on.clone(),
        shard: args.shard,
        out: args.work.out.clone(),
        command: command.to_owned(),
    };
    lay_beside(&options.out)?;
    let runner = runner(args.work.jobs.into());
    if !args.looks.is_empty() {
        return papers.iter().try_for_each(|paper| look(paper, args, &options, &runner, chatter));
    }
    for (done, paper) in papers.iter().enumerate() {
        // Each remaining paper has an equal part of the remaining time.
        options.budget = left.map(|seconds| seconds / (papers.len() - done) as f64);
        let work = Reproduction::prepare(paper, &options).map_err(Failure::of_reproduction)?;
        left = left.map(|seconds| seconds - work.spent);
        reproduce(work, paper, (args, &options), &runner, chatter)?;
    }
    Ok(())
}

/// Judges after few runs and after more runs, and prints the verdicts that differ.
fn look(
    paper: &Paper,
    args: &Reproduce,
    options: &Options,
    runner: &Runner,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let mut runs = args.looks.clone();
    runs.sort_unstable();
    runs.dedup();
    let work = Reproduction::prepare(paper, options).map_err(Failure::of_reproduction)?;
    let missing = work.to_look_at(&runs).map_err(Failure::of_reproduction)?;
    let making = Making { noun: &paper.id, runner, line, chatter };
    let looked = making.shown((0, missing), |made| work.looks(&runs, runner, made));
    let (looks, failed) = looked.map_err(Failure::of_reproduction)?;
    print(&text::tables([&looks.section(&paper.title)], width()))?;
    super::making::outcome(&failed, Some(&options.out.join(&paper.id)))?;
    match looks.claims.iter().filter(|c| c.changed_side()).count() {
        0 => Ok(()),
        n => Err(Failure::work(format!("{}: {n} verdicts changed their side", paper.id))),
    }
}

/// Seconds for all papers together, of `--budget` or of a quick reproduction.
fn budget(args: &Reproduce) -> Option<f64> {
    let quick = args.quick.then_some(QUICK);
    args.budget.map(|b| b.0.0 as f64 / 1e9).or(quick)
}

/// Executes the paper's interpretations, and stores them with its runs.
fn read(
    paper: &Paper,
    options: &Options,
    runner: &Runner,
    chatter: &Chatter,
) -> Result<Vec<Failed>, Failure> {
    let begun = Instant::now();
    let budget = Budget::seconds(options.budget.unwrap_or(READINGS));
    let Some(survey) = Survey::prepare(paper, &options.out, budget, options.shard)
        .map_err(Failure::of_reproduction)?
    else {
        chatter.say(format!("{}: its folder has no `readings.toml`", paper.id));
        return Ok(Vec::new());
    };
    let told = |line: &str| chatter.say(format!("{}: {line}", paper.id));
    let (outcome, failed) = survey.work(runner, &told).map_err(Failure::of_reproduction)?;
    let (made, seconds) = (outcome.readings.len(), begun.elapsed().as_secs_f64());
    let left = match outcome.left_out {
        0 => String::new(),
        n => format!(", {n} left out by the budget"),
    };
    told(&format!("{made} of {} readings{left}, {seconds:.1} s", outcome.total));
    Ok(failed)
}

/// Executes the missing runs with progress. Returns the runs that gave no result.
pub fn make(
    work: &mut Reproduction,
    (name, dir): (&str, &Path),
    runner: &Runner,
    chatter: &Chatter,
) -> Result<Vec<Failed>, Failure> {
    for notice in &work.notices {
        chatter.say(format!("note: {notice}"));
    }
    let (total, finished) = (work.total(), work.finished());
    if finished > 0 {
        chatter.say(format!("{name}: {finished} of {total} runs are there already"));
    }
    for world in work.worlds() {
        runner.backend(world).and_then(|b| b.check()).map_err(Failure::of)?;
    }
    keeps(Some(dir));
    let making = Making { noun: name, runner, line, chatter };
    let made = making.shown((finished, total), |made| work.work(runner, made));
    made.map_err(Failure::of_reproduction)
}

/// Executes a paper's runs, and its interpretations if they are wanted, and judges. A shard judges nothing.
fn reproduce(
    mut work: Reproduction,
    paper: &Paper,
    (args, options): (&Reproduce, &Options),
    runner: &Runner,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let (begun, total, dir) = (Instant::now(), work.total(), options.out.join(&paper.id));
    let mut failed = make(&mut work, (&paper.id, &dir), runner, chatter)?;
    if args.interpretations {
        failed.extend(read(paper, options, runner, chatter)?);
    }
    let end = super::making::outcome(&failed, Some(&dir));
    if let Some(shard) = args.shard {
        end?;
        chatter.say(format!(
            "{}: shard {shard} is done; when all are, the same command without --shard judges",
            paper.id
        ));
        return Ok(());
    }
    let outcome = match work.conclude(&[Format::Parquet], runner) {
        Ok(outcome) => outcome,
        // Without any result, the reason for the failure is the error.
        Err(e) => return Err(end.err().unwrap_or_else(|| Failure::work(e))),
    };
    chatter.say(format!("{}: {total} runs, {:.1} s", paper.id, begun.elapsed().as_secs_f64()));
    show(paper, &outcome, args.tables, chatter)?;
    end
}

/// Prints the findings and the counts of verdicts. If `tables`, it first prints the tables that are short enough for a
/// terminal, and all findings. The report has everything.
pub fn show(
    paper: &Paper,
    outcome: &Outcome,
    tables: bool,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let width = width();
    print(&format!("{}\n\n", paper.title))?;
    if tables {
        let short = outcome.sections.iter().filter(|s| !LONG.contains(&s.id.as_str()));
        print(&text::tables(short, width))?;
    }
    print(&text::answers(&outcome.answers, width))?;
    for warning in &outcome.warnings {
        chatter.say(warning);
    }
    for findings in outcome.sections.iter().filter(|s| s.id == FINDINGS) {
        let told = if tables { findings } else { &shortened(findings) };
        print(&text::prose(told, width))?;
    }
    print(&format!("{}\n", headline(&outcome.judgements)))?;
    let report = outcome.report.as_ref().map_err(|e| Failure::work(e.to_string()))?;
    chatter.say(format!(
        "report:   {} (every claim, table, figure and fidelity note{})\nverdicts: {}",
        report.display(),
        if tables { "" } else { "; --tables prints the tables" },
        outcome.dir.join("verdicts.json").display()
    ));
    Ok(())
}

/// The first paragraphs of the findings, which are a summary.
fn shortened(findings: &Section) -> Section {
    const QUOTED: usize = 3;
    let first = findings.blocks.first().and_then(|block| match block {
        Block::Text { text } => {
            Some(text.split("\n\n").take(QUOTED).collect::<Vec<_>>().join("\n\n"))
        }
        _ => None,
    });
    let blocks = first.into_iter().map(|text| Block::Text { text }).collect();
    Section { blocks, ..findings.clone() }
}
