//! `windlass paper`.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

use windlass_lab::claims::Claim;
use windlass_lab::papers::check::{Checked, check};
use windlass_lab::papers::registered::{self, Registered};
use windlass_lab::papers::{PAPERS, Paper, new};
use windlass_lab::run::store::{Invocation, replace};

use super::papers::find;
use crate::args::{PaperArgs, PaperVerb};
use crate::output::{Failure, print, several};

/// Creates or checks folders.
pub fn run(args: &PaperArgs) -> Result<(), Failure> {
    match &args.verb {
        PaperVerb::New { folder } => {
            let made = new(folder).map_err(Failure::of_folder)?;
            let path = made.display();
            let shown =
                if made.components().count() > 1 { path.to_string() } else { format!("./{path}") };
            print(&format!(
                "{shown} is a complete paper; check and reproduce it with:\n  windlass paper check {shown}\n  \
                 windlass reproduce {shown} --quick\n"
            ))
        }
        PaperVerb::Register { folder } => register(folder),
        PaperVerb::Check { papers, list } => {
            let papers: Vec<Cow<Paper>> = match papers.as_slice() {
                [] => PAPERS.iter().map(Cow::Borrowed).collect(),
                words => words.iter().map(|word| find(word)).collect::<Result<_, _>>()?,
            };
            let mut failed = Vec::new();
            for paper in &papers {
                if *list {
                    print(&listed(paper)?)?;
                    continue;
                }
                match check(paper) {
                    Ok(checked) => print(&said(paper, checked))?,
                    Err(errors) => failed.extend(errors),
                }
            }
            if failed.is_empty() { Ok(()) } else { Err(Failure::located(failed)) }
        }
    }
}

/// Writes `registered.toml` with today's date.
fn register(folder: &Path) -> Result<(), Failure> {
    let paper = Paper::read(folder).map_err(Failure::of_folder)?;
    let mut now = Invocation::now("", String::new(), Vec::new()).started;
    now.truncate("2026-01-31".len());
    let registered =
        Registered::renewed(&paper, &now, registered::commit_of(folder)).map_err(Failure::input)?;
    let written =
        replace(folder, registered::FILE, |out| out.write_all(registered.text().as_bytes()));
    let path = written.map_err(Failure::work)?;
    let (held, changes) = (registered.hash.len(), registered.change.len());
    print(&format!(
        "{}: {held} registered since {}, {changes} changes\n",
        path.display(),
        registered.since
    ))
}

fn said(paper: &Paper, c: Checked) -> String {
    let Checked { experiments, points, claims, sections, notes, .. } = c;
    let mut warning = match c.unregistered {
        0 => String::new(),
        n => format!(
            "note: {n} claims or questions are not registered; `windlass paper register` does\n"
        ),
    };
    if c.old_scheme {
        warning += "note: registered.toml has an older scheme, which covers neither models nor scenarios nor traced runs; \
                    `windlass paper register` renews it\n";
    }
    if c.undecidable > 0 {
        let (n, least) = (several(c.undecidable, "claim"), c.least_runs);
        warning += &format!(
            "note: {n} may stay undecided, because a median over all statements of the paper needs {least} runs, and `seeds` of a point has fewer\n"
        );
    }
    format!(
        "{}: {} with {}, {}, {}, {}: nothing is wrong\n{warning}",
        paper.id,
        several(experiments, "experiment"),
        several(points, "point"),
        several(claims, "claim"),
        several(sections, "section"),
        several(notes, "note")
    )
}

/// The points and claims after `for`, one per line.
fn listed(paper: &Paper) -> Result<String, Failure> {
    let mut out = String::new();
    for e in paper.plan().map_err(Failure::of)?.experiments {
        for point in e.points() {
            let runs = [false, true].map(|quick| e.seeds(&point, quick).count());
            let set: Vec<String> =
                point.overrides.iter().map(|(k, v)| format!("{k}={v}")).collect();
            let _ = writeln!(
                out,
                "{}/{}: {runs:?} {} {}",
                e.id,
                point.id,
                e.world(&point),
                set.join(" ")
            );
        }
    }
    for claim in paper.parsed_claims().map_err(Failure::of)? {
        let Claim { id, source, quantity, measure, .. } = &claim;
        let criteria = (claim.paper, &claim.compare_with, &claim.tolerance, &claim.direction);
        let rest = (&claim.statistic, &claim.not_comparable, &claim.note, &claim.unit);
        let _ = writeln!(out, "{id}: {source}: {quantity}: {measure:?} {criteria:?} {rest:?}");
    }
    Ok(out)
}
