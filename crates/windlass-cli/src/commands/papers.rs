//! `windlass papers`.

use std::fmt::Write;

use windlass_lab::catalogue::wrap;
use windlass_lab::papers::{PAPERS, Paper};

use crate::args::Named;
use crate::output::{Failure, print};

/// Lists the papers or prints one's summary and citation.
pub fn run(args: &Named) -> Result<(), Failure> {
    let Some(id) = &args.name else { return print(&list()) };
    print(&describe(find(id)?))
}

/// The paper with this identifier.
pub fn find(id: &str) -> Result<&'static Paper, Failure> {
    Paper::by_id(id).ok_or_else(|| {
        let known: Vec<&str> = PAPERS.iter().map(|p| p.id).collect();
        Failure::unknown("paper", id, &known)
    })
}

fn list() -> String {
    let mut out = String::new();
    for p in PAPERS {
        let _ = writeln!(out, "{:<14} {}\n{:<14} {}", p.id, p.title, "", p.published);
    }
    out.push_str("\nwindlass papers NAME tells more; windlass reproduce NAME runs it.\n");
    out
}

fn describe(paper: &Paper) -> String {
    let mut out = format!("{}\n{}\n{}\n\n", paper.title, paper.authors.join(", "), paper.published);
    out.push_str(&wrap(paper.summary, 78, ""));
    let _ = writeln!(out, "\n{}", paper.citation.trim());
    out
}
