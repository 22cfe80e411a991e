//! `windlass new`.

use std::fmt::Write as _;
use std::path::PathBuf;

use crate::args::New;
use crate::output::{Failure, print, write_new};
use crate::templates::TEMPLATES;

/// Lists the templates, or writes a template as a scenario file, which must not exist yet.
pub fn run(args: &New) -> Result<(), Failure> {
    let Some(name) = &args.template else { return print(&list()) };
    let Some((name, text)) = TEMPLATES.iter().find(|(known, _)| known == name) else {
        let known: Vec<&str> = TEMPLATES.iter().map(|(name, _)| *name).collect();
        return Err(Failure::unknown("template", name, &known));
    };
    let file = args.file.clone().unwrap_or_else(|| PathBuf::from(format!("{name}.toml")));
    write_new(&file, text)?;
    print(&format!("{0} is written; windlass run {0}\n", file.display()))
}

fn list() -> String {
    let mut out = String::new();
    for (name, text) in TEMPLATES {
        let _ = writeln!(out, "{name:<16} {}", description(text));
    }
    out.push_str("\nwindlass new NAME writes NAME.toml here.\n");
    out
}

/// The description in a scenario's text.
fn description(text: &str) -> &str {
    let value = text.lines().find_map(|line| line.strip_prefix("description = "));
    value.unwrap_or_default().trim_matches('"')
}
