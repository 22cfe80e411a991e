//! `windlass presets`.

use std::fmt::Write;

use windlass_lab::catalogue::wrap;
use windlass_lab::scenario::stack_values;
use windlass_tcp::Preset;
use windlass_tcp::stack::PRESETS;

use crate::args::Named;
use crate::output::{Failure, print};

/// Lists the presets or prints one value by value.
pub fn run(args: &Named) -> Result<(), Failure> {
    let Some(name) = &args.name else { return print(&list()) };
    match Preset::by_name(name) {
        Some(preset) => print(&describe(preset)),
        None => {
            let known: Vec<&str> = PRESETS.iter().map(|p| p.name).collect();
            let known = known.join(", ");
            Err(Failure::input(format!("no preset is called \"{name}\"; there are {known}")))
        }
    }
}

fn list() -> String {
    let mut out = String::new();
    for p in PRESETS {
        let _ = writeln!(out, "{:<12} {}", p.name, p.origin);
    }
    out.push_str("\nwindlass presets NAME prints one value by value.\n");
    out
}

fn describe(preset: &Preset) -> String {
    let mut out = format!("{}\n{}\n\n", preset.name, preset.origin);
    out.push_str(&wrap(preset.description, 78, ""));
    out.push_str("\n[stack]\n");
    for (key, value) in stack_values(&preset.config) {
        let _ = writeln!(out, "{key} = {value}");
    }
    out
}
