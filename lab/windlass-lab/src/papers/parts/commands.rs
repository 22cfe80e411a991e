//! The commands that repeat a part of the report.

use crate::experiment::Point;
use crate::papers::material::Material;
use crate::report::model::Block;
use crate::run::World;
use crate::scenario::{Document, Scenario};

/// Key and value, as for `--set`.
type Override = (String, String);

/// The runs of one point: `windlass run` prints the medians of its table row.
pub(crate) fn runs(m: &Material, about: &str, experiment: &str, point: &str) -> Option<Block> {
    let of_point = |r: &&crate::run::RunRecord| r.experiment == experiment && r.point == point;
    let seeds = m.records.iter().filter(of_point).count();
    let (scenario, overrides) = setting(m, experiment, point)?;
    let many = if seeds > 1 { format!(" --seeds {seeds}") } else { String::new() };
    let (on, again) = match world(m, experiment, point)? {
        World::Sim => (String::new(), one(m, scenario, &overrides, 1)),
        elsewhere => (format!(" --on {elsewhere}"), None),
    };
    Some(block(about, run(m, scenario, &overrides) + &on + &many, again))
}

/// One traced run: its series as Parquet, or its packets as pcapng, in the folder `out`.
pub(crate) fn recording(
    m: &Material,
    about: &str,
    trace: &str,
    record: (&str, &str),
) -> Option<Block> {
    let request = m.plan.traces.iter().find(|t| t.id == trace)?;
    let (scenario, mut overrides) = setting(m, &request.experiment, &request.point)?;
    let seed = m.plan.shown_seed(request, m.records);
    let again = one(m, scenario, &overrides, seed);
    overrides.push((record.0.to_owned(), record.1.to_owned()));
    let seed = if seed == 1 { String::new() } else { format!(" --seed {seed}") };
    let out = format!("{seed} --out out");
    Some(block(about, run(m, scenario, &overrides) + &out, again))
}

/// The command for the whole report.
pub(crate) fn whole(m: &Material) -> Block {
    block("The whole report:", format!("windlass reproduce {}", m.paper.called()), None)
}

/// The command for a quick run of everything.
pub(crate) fn quick(m: &Material, about: &str) -> Block {
    block(about, format!("windlass reproduce {} --quick", m.paper.called()), None)
}

fn block(about: &str, command: String, scenario: Option<String>) -> Block {
    Block::Command { about: Some(about.to_owned()), command, scenario }
}

/// The scenario of one of the runs.
fn one(m: &Material, scenario: &str, overrides: &[Override], seed: u64) -> Option<String> {
    let read = Scenario::with_overrides(m.paper.scenario(scenario)?, scenario, overrides).ok()?;
    Some(Scenario { seed, ..read }.resolved_toml())
}

/// The backend of a point.
fn world(m: &Material, experiment: &str, point: &str) -> Option<World> {
    let experiment = m.plan.experiment(experiment)?;
    experiment.points().iter().find(|p| p.id == point).map(|p| experiment.world(p))
}

/// The scenario's file name, and the overrides of a point that affect the scenario.
fn setting<'a>(
    m: &Material<'a>,
    experiment: &str,
    point: &str,
) -> Option<(&'a str, Vec<Override>)> {
    let experiment = m.plan.experiment(experiment)?;
    let point: Point = experiment.point(point)?;
    let text = m.paper.scenario(&experiment.scenario)?;
    let document = Document::parse(text, &experiment.scenario).ok()?;
    let hash = |set: &[Override]| document.with(set).ok().map(|s| s.hash());
    let mut needed = point.overrides;
    let wanted = hash(&needed)?;
    for k in (0..needed.len()).rev() {
        let mut fewer = needed.clone();
        fewer.remove(k);
        if hash(&fewer).as_ref() == Some(&wanted) {
            needed = fewer;
        }
    }
    Some((&experiment.scenario, needed))
}

fn run(m: &Material, scenario: &str, overrides: &[Override]) -> String {
    let set = |(key, value): &Override| format!(" --set {}", shell_word(&format!("{key}={value}")));
    let sets = overrides.iter().map(set);
    format!("windlass run {}{}", m.paper.place(scenario), sets.collect::<String>())
}

/// A word, quoted if a shell would interpret it.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+.,/:%@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_with_special_characters_are_quoted() {
        assert_eq!(shell_word("link.a.loss.probability=1%"), "link.a.loss.probability=1%");
        assert_eq!(shell_word("record.series=[\"a b\"]"), "'record.series=[\"a b\"]'");
        assert_eq!(shell_word("name=it's"), "'name=it'\\''s'");
    }
}
