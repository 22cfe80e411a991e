//! `windlass crosscheck`.

use std::time::Instant;

use windlass_lab::crosscheck::{self, FOLDER, Options, Outcome};
use windlass_lab::report::text;

use super::making::{Making, line, runner};
use crate::args::Crosscheck;
use crate::output::{Chatter, Failure, print, width};

/// Executes the missing runs, compares, and writes tables and report.
pub fn run(args: &Crosscheck, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let begun = Instant::now();
    let options = Options {
        world: args.on,
        quick: args.quick,
        kept: args.kept,
        runs: args.runs.clone(),
        algorithms: args.algorithm.clone(),
        grids: args.grid.clone(),
        out: args.work.out.clone(),
        command: command.to_owned(),
    };
    let runner = runner(args.work.jobs.into());
    let work = crosscheck::Crosscheck::prepare(&options, &runner).map_err(Failure::of)?;
    if !work.left_out().is_empty() {
        chatter.say(format!(
            "note: this machine's kernel does not offer {}, which are left out; `modprobe tcp_NAME` \
             may load them",
            work.left_out().join(", ")
        ));
    }
    for notice in work.notices() {
        chatter.say(format!("note: {notice}"));
    }
    if work.stale() > 0 {
        chatter.say(format!(
            "note: {} earlier runs come from another version of Windlass or of their scenario and \
             do not count",
            work.stale()
        ));
    }
    let (total, finished) = (work.total(), work.finished());
    if finished > 0 {
        chatter.say(format!("{finished} of {total} runs are there already"));
    }
    for world in work.worlds() {
        runner.backend(world).and_then(|b| b.check()).map_err(Failure::of)?;
    }
    let making = Making { noun: "crosscheck", runner: &runner, line, chatter };
    let outcome = making.shown((finished, total), |made| work.work(&runner, made));
    let outcome = outcome.map_err(Failure::of)?;
    chatter.say(format!("{total} runs, {:.1} s", begun.elapsed().as_secs_f64()));
    show(&outcome, args, chatter)?;
    super::making::outcome(&outcome.failed, Some(&args.work.out.join(FOLDER)))
}

fn show(outcome: &Outcome, args: &Crosscheck, chatter: &Chatter) -> Result<(), Failure> {
    let width = width();
    for table in &outcome.tables {
        print(&format!("{}\n", text::table_within(table, width)))?;
    }
    if let Some(page) = &args.write {
        outcome.write_page(page).map_err(Failure::of)?;
        chatter.say(format!("page:   {}", page.display()));
        outcome.write_runs(&args.runs).map_err(Failure::of)?;
        chatter.say(format!("runs:   {}", args.runs.display()));
    }
    chatter.say(format!("report: {} (also the congestion windows)", outcome.report.display()));
    Ok(())
}
