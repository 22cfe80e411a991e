//! `windlass sweep`.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::HumanDuration;
use windlass_lab::Error;
use windlass_lab::report::text;
use windlass_lab::run::Runner;
use windlass_lab::run::store::Format;
use windlass_lab::run::store::export::{Provenance, write};
use windlass_lab::sweep::{Cell, Estimate, Plan, Progress, Request, Standing, Sweep};

use super::making::{outcome, runner};
use super::run::overrides;
use crate::args::Sweep as Args;
use crate::output::{Chatter, Failure, keeps, print, several, width};

/// Time after which a dry run stops timing further points.
const PATIENCE: Duration = Duration::from_secs(10);
/// Maximum number of printed warnings.
const MOST_WARNINGS: usize = 12;

/// Runs a sweep.
pub fn run(args: &Args, command: &str, chatter: &Chatter) -> Result<(), Failure> {
    let plan = Plan::of(&request(args)?).map_err(Failure::of)?;
    let dir = args.out.clone().unwrap_or_else(|| Path::new("results").join(plan.folder()));
    let runner = runner(args.jobs.into());
    warn(&plan, &runner, chatter)?;
    if args.dry_run {
        return estimate(plan, &dir, &runner, args, command, chatter);
    }
    if let Some(shards) = args.slurm {
        return super::slurm::submit(command, &plan.name, shards, &dir, chatter);
    }
    if args.kept {
        let sweep = Sweep::look(plan, &dir, command.to_owned()).map_err(Failure::of)?;
        tell_of_another(&sweep, &dir, chatter)?;
        return conclude(&sweep, &dir, args, chatter);
    }
    let mut sweep = Sweep::open(plan, &dir, command.to_owned(), &runner).map_err(Failure::of)?;
    for notice in sweep.notices() {
        chatter.say(format!("note: {notice}"));
    }
    tell_of_another(&sweep, &dir, chatter)?;
    for world in sweep.worlds() {
        runner.backend(world).and_then(|b| b.check()).map_err(Failure::of)?;
    }
    keeps(Some(&dir));
    let outcome = work(&mut sweep, &runner, args, chatter)?;
    match args.shard {
        Some(shard) => {
            chatter.say(format!(
                "shard {shard} is done; when all are, the same command without --shard sums them \
                 up in {}",
                dir.display()
            ));
        }
        None => {
            let concluded = conclude(&sweep, &dir, args, chatter);
            // Without any result, the reason for the failure is the error.
            return outcome.and(concluded);
        }
    }
    outcome
}

fn request(args: &Args) -> Result<Request, Failure> {
    let seed = args.seed.map(|seed| format!("seed={seed}"));
    Ok(Request {
        file: args.file.clone(),
        text: None,
        set: overrides(&args.set.iter().cloned().chain(seed).collect::<Vec<_>>())?,
        axes: args.axis.clone(),
        on: args.on.clone(),
        seeds: args.seeds,
        min_seeds: args.min_seeds,
        max_seeds: args.max_seeds,
        measures: args.metric.clone(),
        goals: args.until.clone(),
        warm_up: args.warmup,
        shard: args.shard,
    })
}

/// Warns if tables and report of another sweep will be overwritten. Its runs stay.
fn tell_of_another(sweep: &Sweep, dir: &Path, chatter: &Chatter) -> Result<(), Failure> {
    if sweep.plan().shard.is_none() && sweep.replaces_another().map_err(Failure::work)? {
        chatter.say(format!(
            "note: {} has points.* and report.html of another sweep, which this sweep overwrites. The runs \
             stay, and the command of the other sweep with --kept writes its files again; use --out DIR to keep both",
            dir.display()
        ));
    }
    Ok(())
}

fn warn(plan: &Plan, runner: &Runner, chatter: &Chatter) -> Result<(), Failure> {
    let warnings = plan.warnings(runner).map_err(Failure::of)?;
    for (sentence, points) in warnings.iter().take(MOST_WARNINGS) {
        let all = plan.points.len();
        match points.as_slice() {
            points if points.len() == all => chatter.say(format!("note: {sentence}")),
            [one] => chatter.say(format!("note: at {one}: {sentence}")),
            [first, ..] => chatter.say(format!(
                "note: at {} of {all} points, {first} the first: {sentence}",
                points.len()
            )),
            [] => {}
        }
    }
    match warnings.len().saturating_sub(MOST_WARNINGS) {
        0 => {}
        more => chatter.say(format!("note: and {more} similar notes")),
    }
    Ok(())
}

fn work(
    sweep: &mut Sweep,
    runner: &Runner,
    args: &Args,
    chatter: &Chatter,
) -> Result<Result<(), Failure>, Failure> {
    let Estimate { finished, least, .. } = sweep.estimate(args.jobs.into());
    chatter.say(format!(
        "{}: {}, {} there, {}{least} to make",
        sweep.plan().name,
        several(sweep.plan().points.len(), "point"),
        several(finished as usize, "run"),
        if sweep.plan().goals.is_empty() { "" } else { "at least " }
    ));
    let progress = chatter.told();
    let begun = Instant::now();
    let result = sweep.work(runner, |record, told| {
        chatter.detail(format!("{} seed {}", record.point, record.seed));
        if let Some(Progress { made, missing, left_s, slowest: point }) = told.cloned() {
            let slowest = point.map(slowest).unwrap_or_default();
            progress.tell(made, made + missing, format!("about {} left{slowest}", spoken(left_s)));
        }
    });
    progress.end();
    let failed = result.map_err(Failure::of)?.to_vec();
    let outcome = outcome(&failed, Some(sweep.campaign().batch().own_dir()));
    if least > 0 {
        let slowest = sweep.estimate(args.jobs.into()).slowest.map(slowest).unwrap_or_default();
        chatter.say(format!("done in {}{slowest}", spoken(begun.elapsed().as_secs_f64())));
    }
    Ok(outcome)
}

fn slowest((point, seconds): (String, f64)) -> String {
    format!("; slowest point {point}, {} per run", spoken(seconds))
}

/// A duration in suitable units.
fn spoken(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 90.0 => format!("{s:.1} s"),
        s => HumanDuration(Duration::from_secs_f64(s.min(1e12))).to_string(),
    }
}

fn estimate(
    plan: Plan,
    dir: &Path,
    runner: &Runner,
    args: &Args,
    command: &str,
    chatter: &Chatter,
) -> Result<(), Failure> {
    let mut sweep = Sweep::look(plan, dir, command.to_owned()).map_err(Failure::of)?;
    sweep.time(runner, PATIENCE).map_err(Failure::of)?;
    let plan = sweep.plan();
    for p in &plan.points {
        chatter.detail(&p.point.id);
    }
    let e = sweep.estimate(args.jobs.into());
    let axes: Vec<String> =
        plan.axes.iter().map(|a| format!("{} ({})", a.name, a.values.len())).collect();
    let mut out = format!("points  {}", plan.points.len());
    if !axes.is_empty() {
        out += &format!(" = {}", axes.join(" x "));
    }
    out += &format!("\nruns    {} there, {}", e.finished, range(e.least, e.most));
    if let Some(shard) = args.shard {
        out += &format!(" for shard {shard}");
    }
    out += "\n";
    if let (Some([least, most]), 1..) = (e.seconds, e.most) {
        let time = match e.most > e.least {
            true => format!("{} to {}", spoken(least), spoken(most)),
            false => spoken(least),
        };
        let slowest = e.slowest.map(slowest).unwrap_or_default();
        out += &format!("time    about {time}, {} timed{slowest}\n", several(e.timed, "point"));
    }
    print(&out)
}

fn range(least: u64, most: u64) -> String {
    if most > least { format!("{least} to {most} to make") } else { format!("{least} to make") }
}

/// Writes tables and report, and prints the points.
fn conclude(sweep: &Sweep, dir: &Path, args: &Args, chatter: &Chatter) -> Result<(), Failure> {
    let cells = sweep.cells();
    let report = sweep.conclude(&cells);
    if let Err(e @ Error::Input(_)) = report {
        return Err(Failure::of(e));
    }
    // Results of long runs are shown even if the disk has no space for their files.
    if args.json || args.csv {
        let format = if args.json { Format::Json } else { Format::Csv };
        let mut out = Vec::new();
        write(&mut out, format, [sweep.table(&cells)], &Provenance::default())
            .map_err(Failure::work)?;
        print(&String::from_utf8_lossy(&out))?;
    } else {
        print(&text::table_within(&sweep.overview(&cells), width()))?;
    }
    let open = |s: Standing| distinct(&cells, s);
    match (open(Standing::AtMost), open(Standing::Unfinished)) {
        (0, 0) => {}
        (wide, unfinished) => chatter.say(format!(
            "{} not as narrow as asked, {unfinished} not finished",
            several(wide, "point")
        )),
    }
    let report = report.map_err(Failure::of)?;
    chatter.say(format!(
        "report:  {}\nresults: {} (points.csv, points.parquet and every run)",
        report.display(),
        dir.display()
    ));
    match sweep.empty_measures(&cells).as_slice() {
        [] => Ok(()),
        empty => {
            Err(Failure::work(format!("no run at any point has a value of {}", empty.join(", "))))
        }
    }
}

fn distinct(cells: &[Cell], standing: Standing) -> usize {
    cells.iter().filter(|c| c.measure == 0 && c.standing == standing).count()
}
