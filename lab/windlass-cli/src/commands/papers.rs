//! `windlass papers`.

use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

use windlass_lab::catalogue::wrap;
use windlass_lab::papers::{PAPERS, Paper};

use crate::args::Named;
use crate::output::{Failure, print};

/// Lists the papers, or prints the summary and citation of one paper.
pub fn run(args: &Named) -> Result<(), Failure> {
    let Some(id) = &args.name else { return print(&list()) };
    print(&describe(&*find(id)?))
}

/// The paper with this identifier, or in this folder.
pub fn find(word: &str) -> Result<Cow<'static, Paper>, Failure> {
    if let Some(paper) = Paper::by_id(word) {
        return Ok(Cow::Borrowed(paper));
    }
    let path = Path::new(word);
    if path.is_dir() || word.contains(['/', '.']) {
        return Paper::read(path).map(Cow::Owned).map_err(Failure::of_folder);
    }
    let known: Vec<&str> = PAPERS.iter().map(|p| p.id.as_str()).collect();
    Err(Failure::unknown("paper", word, &known))
}

fn list() -> String {
    let mut out = String::new();
    for p in PAPERS.iter() {
        let _ = writeln!(out, "{:<14} {}\n{:<14} {}", p.id, p.title, "", p.published);
    }
    out.push_str("\nwindlass papers NAME prints more; windlass reproduce NAME runs it.\n");
    out
}

fn describe(paper: &Paper) -> String {
    let mut out = format!("{}\n{}\n{}\n\n", paper.title, paper.authors.join(", "), paper.published);
    out.push_str(&wrap(&paper.summary, 78, ""));
    let _ = writeln!(out, "\n{}", paper.citation.trim());
    out
}
