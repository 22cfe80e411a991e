//! `windlass report`.

use std::borrow::Cow;
use windlass_lab::papers::{PAPERS, Paper};
use windlass_lab::reproduce::Reproduction;
use windlass_lab::run::Runner;
use windlass_lab::run::store::Format;

use super::papers::find;
use super::reproduce::show;
use crate::args::{Export, Report};
use crate::output::{Chatter, Failure};

/// Writes reports again from the stored runs.
pub fn run(args: &Report, chatter: &Chatter) -> Result<(), Failure> {
    let papers: Vec<Cow<'static, Paper>> = match args.papers.as_slice() {
        [] => PAPERS.iter().filter(|p| args.out.join(&p.id).is_dir()).map(Cow::Borrowed).collect(),
        ids => ids.iter().map(|id| find(id)).collect::<Result<_, _>>()?,
    };
    if papers.is_empty() {
        let out = args.out.display();
        return Err(Failure::input(format!(
            "{out} holds no results of a paper; `windlass reproduce --out {out}` makes them"
        )));
    }
    let mut formats = vec![Format::Parquet];
    formats.extend(args.export.map(|e| match e {
        Export::Csv => Format::Csv,
        Export::Json => Format::Json,
    }));
    for paper in &papers {
        let work = Reproduction::revisit(paper, &args.out).map_err(Failure::of_reproduction)?;
        for notice in &work.notices {
            chatter.say(format!("note: {notice}"));
        }
        let outcome = work.conclude(&formats, &Runner::new(0)).map_err(Failure::of_reproduction)?;
        show(paper, &outcome, args.tables, chatter)?;
    }
    Ok(())
}
