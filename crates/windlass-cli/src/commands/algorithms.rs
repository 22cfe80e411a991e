//! `windlass algorithms`.

use std::fmt::Write;

use windlass_cc::info::ParamKind;
use windlass_cc::recovery::Style;
use windlass_cc::{ALGORITHMS, Info};

use crate::args::Named;
use crate::output::{Failure, print};

/// Lists the algorithms or describes one.
pub fn run(args: &Named) -> Result<(), Failure> {
    let Some(name) = &args.name else { return print(&list()) };
    match ALGORITHMS.iter().find(|i| i.id.eq_ignore_ascii_case(name)) {
        Some(info) => print(&describe(info)),
        None => {
            let known: Vec<&str> = ALGORITHMS.iter().map(|i| i.id).collect();
            Err(Failure::input(format!(
                "no algorithm is called \"{name}\"; there are {}",
                known.join(", ")
            )))
        }
    }
}

fn list() -> String {
    let mut out = String::new();
    for info in ALGORITHMS {
        let _ = writeln!(out, "{:<12} {:<10} {}", info.id, info.name, info.origin);
    }
    out.push_str("\nwindlass algorithms NAME describes one.\n");
    out
}

fn describe(info: &Info) -> String {
    let mut out = format!("{} ({})\n{}\n\n", info.name, info.id, info.origin);
    out.push_str(&wrap(info.description, 78, ""));
    let style = Style::ALL.iter().find(|s| s.1 == info.recovery).map_or("", |s| s.0);
    let _ = writeln!(out, "\nLoss recovery: {style}\nCitation key:  {}", info.citation);
    out.push_str("\nParameters (params = { ... } of a flow)\n");
    for p in info.params {
        let kind = match p.kind {
            ParamKind::Bytes { min, max } => format!("bytes with unit, {min} B to {max} B"),
            ParamKind::Choice(words) => words.join(" | "),
        };
        let _ = writeln!(out, "  {}\n    {kind}; default {}", p.name, p.default);
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
