//! `windlass algorithms`.

use std::fmt::Write;

use windlass_cc::recovery::Style;
use windlass_cc::{ALGORITHMS, AnyParams};
use windlass_lab::scenario::{range_text, value_text};

use crate::args::Named;
use crate::output::{Failure, print};

/// Lists the algorithms or describes one.
pub fn run(args: &Named) -> Result<(), Failure> {
    let Some(name) = &args.name else { return print(&list()) };
    match AnyParams::by_name(name) {
        Some(params) => print(&describe(&params)),
        None => Err(unknown_algorithm(name)),
    }
}

/// What to say of a name that no algorithm has.
pub fn unknown_algorithm(name: &str) -> Failure {
    let known: Vec<&str> = ALGORITHMS.iter().map(|i| i.id).collect();
    let known = known.join(", ");
    Failure::input(format!("no algorithm is called \"{name}\"; there are {known}"))
}

fn list() -> String {
    let mut out = String::new();
    for info in ALGORITHMS {
        let _ = writeln!(out, "{:<12} {:<10} {}", info.id, info.name, info.origin);
    }
    out.push_str("\nwindlass algorithms NAME describes one.\n");
    out
}

fn describe(params: &AnyParams) -> String {
    let info = params.info();
    let mut out = format!("{} ({})\n{}\n\n", info.name, info.id, info.origin);
    out.push_str(&wrap(info.description, 78, ""));
    let style = Style::ALL.iter().find(|s| s.1 == params.wants().recovery).map_or("", |s| s.0);
    let _ = writeln!(out, "\nLoss recovery: {style}\nCitation key:  {}", info.citation);
    out.push_str("\nParameters (params = { ... } of a flow)\n");
    for (place, p) in info.params.iter().enumerate() {
        let default = value_text(p.kind, params.get(place).unwrap_or_default());
        let _ = writeln!(out, "  {}\n    {}; default {default}", p.name, range_text(p.kind));
        out.push_str(&wrap(p.doc, 74, "    "));
        let _ = writeln!(out, "    Source: {}", p.source);
    }
    out.push_str("\nTrace fields\n");
    for f in info.trace {
        let _ = writeln!(out, "  {:<20} {}", f.name, f.unit);
    }
    out
}

/// Breaks a paragraph into lines of at most `width` characters.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let mut out = String::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + 1 + word.len() > width {
            let _ = writeln!(out, "{indent}{line}");
            line.clear();
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    let _ = writeln!(out, "{indent}{line}");
    out
}
