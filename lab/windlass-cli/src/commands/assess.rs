//! `windlass assess`.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use windlass_lab::assess::{
    Assessed, EXAMINATIONS, Examination, Scorecard, Subject, comparison, one_page,
};
use windlass_lab::report::{markdown, text};
use windlass_lab::reproduce::{Options, Reproduction};
use windlass_lab::run::store::{Format, replace};
use windlass_lab::run::{Runner, World};
use windlass_lab::scenario::Candidate;

use super::making::{outcome, runner};
use super::reproduce::{QUICK, make};
use crate::args::Assess;
use crate::output::{Chatter, Failure, print, width};

/// Assesses each algorithm with the set of criteria.
pub fn run(args: &Assess, words: &str, chatter: &Chatter) -> Result<(), Failure> {
    let mut examination = find(&args.examination)?;
    if !args.only.is_empty() {
        let wrong = |known: Vec<String>| {
            Failure::input(format!("--only takes the families {}", known.join(", ")))
        };
        examination = Cow::Owned(examination.only(&args.only).map_err(wrong)?);
    }
    let seconds = if args.quick { QUICK } else { args.budget.0.0 as f64 / 1e9 };
    if seconds <= 0.0 {
        return Err(Failure::input("a budget of zero allows no run; --quick takes two minutes"));
    }
    let subjects: Vec<Candidate> = args
        .algorithms
        .iter()
        .map(|text| Candidate::parse(text))
        .collect::<Result<_, _>>()
        .map_err(Failure::input)?;
    subjects.iter().try_for_each(|s| args.on.takes(s)).map_err(Failure::input)?;
    if let Some(shards) = args.slurm {
        return super::slurm::submit(words, examination.id(), shards, &args.work.out, chatter);
    }
    let runner = runner(args.work.jobs.into());
    let out = args.work.out.join(examination.id());
    let mut cards = Vec::new();
    let mut end = Ok(());
    for subject in &subjects {
        let options = Options {
            budget: Some(seconds),
            seeds: args.seeds,
            on: vec![args.on],
            shard: args.shard,
            out: out.clone(),
            command: command(args, &subject.text()),
        };
        let (assessed, ended) = assess(&examination, subject, &options, &runner, chatter)?;
        end = end.and(ended);
        if let Some(assessed) = assessed {
            show(&assessed, chatter)?;
            cards.push(assessed.scorecard);
        }
    }
    if cards.len() > 1 {
        beside(&cards, &out, chatter)?;
    }
    end
}

fn find(word: &str) -> Result<Cow<'static, Examination>, Failure> {
    if let Some(found) = EXAMINATIONS.iter().find(|e| e.id().eq_ignore_ascii_case(word)) {
        return Ok(Cow::Borrowed(found));
    }
    let path = Path::new(word);
    if path.is_dir() || word.contains(['/', '.']) {
        return Examination::read(path).map(Cow::Owned).map_err(Failure::of_folder);
    }
    let known: Vec<&str> = EXAMINATIONS.iter().map(Examination::id).collect();
    Err(Failure::unknown("examination", word, &known))
}

/// The command that repeats the assessment of a single algorithm.
fn command(args: &Assess, label: &str) -> String {
    let mut words = format!("windlass assess {label}");
    match (args.quick, args.seeds) {
        (true, _) => words += " --quick",
        (_, Some(n)) => words += &format!(" --seeds {n}"),
        _ => words += &format!(" --budget {}", args.budget),
    }
    if args.on != World::Sim {
        words += &format!(" --on {}", args.on);
    }
    if !args.only.is_empty() {
        words += &format!(" --only {}", args.only.join(","));
    }
    if args.examination != EXAMINATIONS[0].id() {
        words += &format!(" --examination {}", args.examination);
    }
    words
}

fn assess(
    examination: &Examination,
    subject: &Candidate,
    options: &Options,
    runner: &Runner,
    chatter: &Chatter,
) -> Result<(Option<Assessed>, Result<(), Failure>), Failure> {
    let [world] = options.on[..] else { return Err(Failure::input("choose one backend")) };
    let examination = &examination.suited(subject).on(world);
    let subject = &Subject::from(subject);
    let paper = examination.of(subject, world, &options.command);
    let mut work = Reproduction::prepare(&paper, options).map_err(Failure::of_reproduction)?;
    let dir = options.out.join(&paper.id);
    let failed = make(&mut work, (&subject.label, &dir), runner, chatter)?;
    let end = outcome(&failed, Some(&dir));
    if let Some(shard) = options.shard {
        chatter.say(format!(
            "{}: shard {shard} is done; when all are, the same command without --shard grades",
            subject.label
        ));
        return Ok((None, end));
    }
    match examination.conclude(subject, &work, runner, &[Format::Parquet]) {
        Ok(assessed) => Ok((Some(assessed), end)),
        // Without any result, the reason for the failure is the error.
        Err(e) => Err(end.err().unwrap_or_else(|| Failure::work(e))),
    }
}

fn show(assessed: &Assessed, chatter: &Chatter) -> Result<(), Failure> {
    let page = one_page(&assessed.scorecard);
    print(&format!("{}\n\n", page.title))?;
    print(&text::tables(&page.sections, width()))?;
    let tally: Vec<String> = page.verdicts.iter().map(|(b, n)| format!("{n} {}", b.name)).collect();
    let families = match assessed.scorecard.families.len() {
        1 => "1 family".to_owned(),
        n => format!("{n} families"),
    };
    print(&format!("{families}: {}\n", tally.join(", ")))?;
    assessed.files.as_ref().map_err(|e| Failure::work(e.to_string()))?;
    let dir = assessed.dir.display();
    chatter.say(format!(
        "scorecard in {dir}/scorecard.html (also .md and .json)\nreport in {dir}/report.html (every network, with its bounds and commands)"
    ));
    Ok(())
}

/// Writes a page with the algorithms of one call next to each other.
fn beside(cards: &[Scorecard], out: &Path, chatter: &Chatter) -> Result<(), Failure> {
    let table = comparison(cards);
    print(&text::table_within(&table, width()))?;
    let name = "scorecards.md";
    let text = markdown::table(&table);
    let path = replace(out, name, |file| file.write_all(text.as_bytes())).map_err(Failure::work)?;
    chatter.say(format!("all: {}", path.display()));
    Ok(())
}
