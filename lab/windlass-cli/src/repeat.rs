//! The command that repeats the results, independent of the place of the results and of the output.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use windlass_lab::papers::shell_word;

/// Arguments for the place of the results, the output, and the division of the work.
const ASIDE: [&str; 11] = [
    "out", "jobs", "json", "csv", "quiet", "verbose", "shard", "slurm", "kept", "dry_run", "write",
];

/// The words of a parsed command, in the order of its help.
pub fn words(command: &Command, matches: &ArgMatches) -> Option<Vec<String>> {
    let (verb, given) = matches.subcommand()?;
    let mut words = vec![command.get_name().to_owned(), verb.to_owned()];
    for arg in command.find_subcommand(verb)?.get_arguments() {
        let id = arg.get_id().as_str();
        let is_given = given.ids().any(|i| i.as_str() == id)
            && given.value_source(id) == Some(ValueSource::CommandLine);
        if ASIDE.contains(&id) || !is_given {
            continue;
        }
        let option = arg.get_long().map(|long| format!("--{long}"));
        if !arg.get_action().takes_values() {
            words.extend(option);
            continue;
        }
        for values in given.get_raw_occurrences(id).into_iter().flatten() {
            let values: Vec<_> = values.map(|v| v.to_string_lossy()).collect();
            words.extend(option.clone());
            match arg.get_value_delimiter() {
                Some(comma) => words.push(shell_word(&values.join(comma.encode_utf8(&mut [0; 4])))),
                None => words.extend(values.iter().map(|value| shell_word(value))),
            }
        }
    }
    Some(words)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn a_repeated_command_executes_the_same_runs() {
        for (line, expected) in [
            ("run x.toml --seeds 3 -o there --json -q -j4", "run x.toml --seeds 3"),
            (
                "compare it's.toml --set x=\"1\" --set=y=2 -a reno,bbr --no-harm --csv",
                r#"compare 'it'\''s.toml' --algorithms reno,bbr --no-harm --set 'x="1"' --set y=2"#,
            ),
            ("sweep s.toml --seeds 5 --slurm 8", "sweep s.toml --seeds 5"),
            ("sweep s.toml --seeds 5 --shard 1/2", "sweep s.toml --seeds 5"),
            ("sweep s.toml --on sim,linux --kept", "sweep s.toml --on sim,linux"),
            ("crosscheck --quick --algorithm reno --write", "crosscheck --quick --algorithm reno"),
        ] {
            let mut command = Cli::command();
            let given = ["windlass"].into_iter().chain(line.split(' '));
            let matches = command.try_get_matches_from_mut(given).expect("a command");
            let words = words(&command, &matches).expect("a verb");
            assert_eq!(words.join(" "), format!("windlass {expected}"));
        }
    }
}
