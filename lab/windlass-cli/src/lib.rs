//! The `windlass` command: reproduce papers, run scenarios, read reports. The program and the Python package call
//! [`run`], so that both installations have the same command.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod args;
#[cfg(test)]
mod book_test;
mod commands;
mod located;
mod output;
mod repeat;
mod templates;

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches};
use windlass_lab::scenario::nearest;

#[cfg(not(all(feature = "linux", target_os = "linux")))]
use windlass_lab::run::{RunError, World};

use crate::args::{Cli, Command};
use crate::output::Failure;

/// Executes a command line, whose first word is the program's name, and returns the exit code.
pub fn run(words: impl IntoIterator<Item = OsString>) -> u8 {
    run_as("windlass", words)
}

/// As [`run`], for a program with this name. Help, and the commands that results name, begin with it.
pub fn run_as(program: &'static str, words: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = words.into_iter().collect();
    old_names(&words).for_each(|(old, new)| {
        output::remark(format!(
            "warning: `{old}` is now `{new}`; the old name will stop working in version 0.4"
        ));
    });
    match parse(program, words)
        .map_err(answer)
        .and_then(|(cli, words)| dispatch(&cli, &words.join(" ")))
    {
        Ok(()) | Err(Failure::OutputClosed) => 0,
        Err(failure) => {
            failure.print();
            failure.code()
        }
    }
}

/// Commands and options that have a new name, and are accepted under the old name.
const RENAMED: [(&str, &str); 2] = [("twin", "replay"), ("--readings", "--interpretations")];

/// The old names among the words. A command is the first word after the program's name.
fn old_names(words: &[OsString]) -> impl Iterator<Item = (&'static str, &'static str)> {
    RENAMED.into_iter().filter(|(old, _)| match old.starts_with("--") {
        true => words.iter().any(|word| word == old),
        false => words.get(1).is_some_and(|word| word == old),
    })
}

/// The parsed command line, and the words that repeat it. A negative number is the value of the preceding option, so
/// that the error names the option.
fn parse(
    program: &'static str,
    words: impl IntoIterator<Item = OsString>,
) -> Result<(Cli, Vec<String>), clap::Error> {
    let mut command = Cli::command().name(program).mut_subcommands(|verb| {
        verb.mut_args(|arg| {
            let negative = arg.get_action().takes_values() && !arg.is_positional();
            if negative { arg.allow_negative_numbers(true) } else { arg }
        })
    });
    let matches = command.try_get_matches_from_mut(words).map_err(|e| suggesting(e, &command))?;
    let words = repeat::words(&command, &matches).unwrap_or_default();
    let cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut command))?;
    Ok((cli, words))
}

/// Adds the verb that was probably meant if letters are swapped. clap suggests verbs for other errors.
fn suggesting(mut e: clap::Error, command: &clap::Command) -> clap::Error {
    if let Some(ContextValue::String(word)) = e.get(ContextKind::InvalidSubcommand)
        && e.get(ContextKind::SuggestedSubcommand).is_none()
    {
        let known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        if let Some(near) = nearest(word, &known) {
            let near = ContextValue::Strings(vec![near.to_owned()]);
            e.insert(ContextKind::SuggestedSubcommand, near);
        }
    }
    e
}

/// Help and version are printed to standard output; other results are clap's errors.
fn answer(e: clap::Error) -> Failure {
    if e.use_stderr() {
        e.exit();
    }
    match e.print() {
        Ok(()) => Failure::OutputClosed,
        Err(e) => Failure::of_stdout(e),
    }
}

fn dispatch(cli: &Cli, words: &str) -> Result<(), Failure> {
    let chatter = output::Chatter::new(cli.quiet, cli.verbose);
    output::tell_when_stopped();
    match &cli.command {
        Command::Reproduce(a) => commands::reproduce::run(a, words, &chatter),
        Command::New(a) => commands::new::run(a),
        Command::Run(a) => commands::run::run(a, words, &chatter),
        Command::Compare(a) => commands::compare::run(a, words, &chatter),
        Command::Choose(a) => commands::choose::run(a, words, &chatter),
        Command::Break(a) => commands::adversary::run(a, &chatter),
        Command::Assess(a) => commands::assess::run(a, words, &chatter),
        Command::Audit(a) => commands::audit::run(a, &chatter),
        Command::Figure(a) => commands::artefact::figure(a, words, &chatter),
        Command::Pack(a) => commands::artefact::pack(a, &chatter),
        Command::Unpack(a) => commands::artefact::unpack(a, &chatter),
        Command::Sweep(a) => commands::sweep::run(a, words, &chatter),
        Command::Explain(a) => commands::explain::run(a, &chatter),
        Command::Play(a) => commands::play::run(a, &chatter),
        Command::Diff(a) => commands::diff::run(a),
        Command::Crosscheck(a) => commands::crosscheck::run(a, words, &chatter),
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Kernel(a) => commands::kernel::run(a, &chatter),
        #[cfg(not(all(feature = "linux", target_os = "linux")))]
        Command::Kernel(_) | Command::Replay(_) => {
            Err(Failure::of(RunError::NotBuilt(World::Linux)))
        }
        #[cfg(all(feature = "linux", target_os = "linux"))]
        Command::Replay(a) => commands::replay::run(a, &chatter),
        Command::Doctor => commands::doctor::run(),
        Command::Report(a) => commands::report::run(a, &chatter),
        Command::Algorithms(a) => commands::algorithms::run(a),
        Command::Presets(a) => commands::presets::run(a),
        Command::Papers(a) => commands::papers::run(a),
        Command::Paper(a) => commands::paper::run(a),
        Command::Schema(args) => commands::schema::run(args.of),
        Command::Completions(a) => commands::completions::run(a),
        Command::Book(a) => commands::book::run(a),
    }
}
