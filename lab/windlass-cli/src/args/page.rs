//! The reference of the command line in Markdown, made from the command's own help.

use std::fmt::Write as _;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};

use super::Cli;

/// Options of every command, listed once.
const COMMON: [&str; 4] = ["quiet", "verbose", "help", "version"];

/// All commands and options of `windlass`.
pub fn markdown() -> String {
    let mut command = Cli::command();
    command.build();
    let mut out = after_help(&command);
    out += "\nEvery command takes:\n\n| option | meaning |\n| --- | --- |\n";
    let common = command.get_arguments().filter(|arg| COMMON.contains(&arg.get_id().as_str()));
    common.for_each(|arg| out += &row(arg));
    let shown = |c: &&Command| c.get_name() != "help" && !c.is_hide_set();
    command.get_subcommands().filter(shown).for_each(|c| out += &section(c));
    out
}

fn section(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about()).map(plain).unwrap_or_default();
    let mut command_line = command.clone();
    let usage = plain(&command_line.render_usage());
    let mut out = format!("\n## `windlass {}`\n\n{about}\n\n", command.get_name());
    // Writing to a String cannot fail.
    let _ = writeln!(out, "```text\n{}\n```", usage.trim_start_matches("Usage: "));
    let own = |arg: &&Arg| !COMMON.contains(&arg.get_id().as_str()) && !arg.is_hide_set();
    if command.get_arguments().any(|arg| own(&arg)) {
        out += "\n| option | meaning |\n| --- | --- |\n";
    }
    command.get_arguments().filter(own).for_each(|arg| out += &row(arg));
    let after = after_help(command);
    if !after.is_empty() {
        let _ = write!(out, "\n{after}");
    }
    out
}

fn row(arg: &Arg) -> String {
    let names: Vec<String> =
        arg.get_value_names().unwrap_or_default().iter().map(|n| format!("<{n}>")).collect();
    let value = if arg.get_action().takes_values() { names.join(" ") } else { String::new() };
    let short = arg.get_short().map(|c| format!("-{c}"));
    let long = arg.get_long().map(|name| format!("--{name}"));
    let option: Vec<String> = short.into_iter().chain(long).collect();
    let option = [option.join(", "), value].join(" ");
    let help = arg.get_long_help().or(arg.get_help()).map(plain).unwrap_or_default();
    let defaults: Vec<_> = arg.get_default_values().iter().map(|v| v.to_string_lossy()).collect();
    let default = match arg.get_action().takes_values() && !defaults.is_empty() {
        true => format!(" [default: {}]", defaults.join(" ")),
        false => String::new(),
    };
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("| `{}` | {} |\n", option.trim(), cell(&format!("{help}{default}")))
}

/// A text in a table: bars would end the cell, and angle brackets outside of code begin a tag.
fn cell(text: &str) -> String {
    let outside = |(place, part): (usize, &str)| match place % 2 {
        0 => part.replace('<', "&lt;"),
        _ => part.to_owned(),
    };
    let parts: Vec<String> = text.split('`').enumerate().map(outside).collect();
    parts.join("`").replace('|', "\\|")
}

fn after_help(command: &Command) -> String {
    let text = command.get_after_long_help().or(command.get_after_help()).map(plain);
    text.map(|text| format!("```text\n{}\n```\n", text.trim_end())).unwrap_or_default()
}

fn plain(text: &StyledStr) -> String {
    text.to_string()
}
