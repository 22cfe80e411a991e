//! Parses `readings.toml`: the questions that a paper leaves open, and their possible answers.

use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::Value;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::overlap::may_overlap;
use crate::claims::matches;
use crate::experiment::{FileError, Point};
use crate::papers::paper::Paper;
use crate::scenario::{Document, Scenario};
use crate::sweep::spelt_out_for;
use crate::template::Vars;

/// Name of the file in a paper's folder.
pub const FILE: &str = "readings.toml";

/// The source of an alternative. The order of the variants is the rule that selects the headline's answer, without
/// regard to results. The literal text is first if it runs. The default of the paper's simulator is second, and the
/// standard of its year third.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The paper's text.
    Literal,
    /// The default of the paper's simulator in the year of the paper.
    Simulator,
    /// The standard of the paper's year.
    Standard,
    /// Anything else that a careful reader might try.
    Other,
}

/// The questions that a paper leaves open and that have several plausible answers.
#[derive(Clone, Debug, Default)]
pub struct Readings {
    /// The questions in the order of the file.
    pub axes: Vec<Axis>,
}

/// One question, and its answers.
#[derive(Clone, Debug)]
pub struct Axis {
    /// The fidelity note that it belongs to.
    pub id: String,
    /// The open question.
    pub question: String,
    /// The answers in the order of the file.
    pub alternatives: Vec<Alternative>,
    /// Position of the headline's answer in `alternatives`.
    pub headline: usize,
}

/// One answer, as in the file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    why: String,
    kind: Option<Kind>,
    #[serde(default)]
    set: BTreeMap<String, toml::Value>,
    #[serde(default)]
    over: BTreeMap<String, toml::Value>,
    #[serde(default)]
    claims: BTreeMap<String, toml::Value>,
    algorithm: Option<String>,
    #[serde(default)]
    experiments: Vec<String>,
    #[serde(default)]
    at: Vec<String>,
    fails: Option<String>,
    one_side: Option<String>,
    #[serde(default)]
    keep: BTreeMap<String, String>,
    #[serde(default)]
    not_for: BTreeMap<String, String>,
}

/// One answer to a question.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Name, unique on its axis.
    pub name: String,
    /// The reason why it is plausible.
    pub why: String,
    /// The source of the alternative.
    pub kind: Kind,
    /// The reason why it cannot run, if it cannot. It is then listed only.
    pub fails: Option<String>,
    /// Scenario keys and values for points that do not set the key themselves.
    set: Vec<(String, String)>,
    /// Scenario keys and values that override the point's own.
    over: Vec<(String, String)>,
    /// Values for names in the `let` table of `claims.toml`.
    pub(super) claims: Vars,
    /// If set, the alternative applies only to scenarios with a flow of this algorithm, and a `*` stands for these
    /// flows.
    algorithm: Option<String>,
    /// Only these experiments; empty for all.
    pub(super) experiments: Vec<String>,
    /// Only points with one of these coordinates, such as `p=1%`; empty for all.
    pub(super) at: Vec<String>,
    /// Exceptions of the answer for comparisons.
    pub(super) terms: Terms,
    pub(super) span: Range<usize>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAxis {
    id: Spanned<String>,
    question: String,
    alternative: Vec<Spanned<Raw>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    axis: Vec<RawAxis>,
}

/// Exceptions of an answer, each with its reason.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    /// The reason why it changes only one side of a comparison.
    pub one_side: Option<String>,
    /// Coordinates, such as `increase=per-ack`, of points that the answer does not change, with the reason.
    pub keep: BTreeMap<String, String>,
    /// Claims that are not judged under it, with the reason. The keys are identifiers, in which `*` stands for any
    /// text.
    pub not_for: BTreeMap<String, String>,
}

impl Terms {
    /// True if the answer excludes the claim.
    pub fn spares(&self, claim: &str) -> bool {
        self.not_for.keys().any(|pattern| matches(pattern, claim))
    }
}

/// Changes of keys to values, as for `--set`.
pub(super) type Changes = Vec<(String, String)>;

/// Reads the file; `file` names it in errors, and `fidelity` is the text of the notes.
pub(super) fn parse(text: &str, file: &str, fidelity: &str) -> Result<Readings, FileError> {
    let raw: RawFile = crate::template::read(text, file)?;
    let fail = |span: Range<usize>, message: String| Err(FileError::at(file, text, span, message));
    let mut axes: Vec<Axis> = Vec::new();
    for axis in raw.axis {
        let (span, id) = (axis.id.span(), axis.id.into_inner());
        let note = id.split('.').next().unwrap_or_default();
        if !fidelity.contains(&format!("## {note}: ")) {
            return fail(span, format!("fidelity.md has no note {note}"));
        }
        if axes.iter().any(|a| a.id == id) {
            return fail(span, format!("axis `{id}` exists already; write such as `{note}.2`"));
        }
        let mut alternatives: Vec<Alternative> = Vec::new();
        for one in axis.alternative {
            let (span, raw) = (one.span(), one.into_inner());
            let twice = alternatives.iter().any(|a| a.name == raw.name);
            let checked = if twice {
                Err(format!("axis `{id}` has an alternative `{}` already", raw.name))
            } else {
                Alternative::of(raw, span.clone())
            };
            match checked {
                Ok(alternative) => alternatives.push(alternative),
                Err(message) => return fail(span, message),
            }
        }
        match headline(&id, &alternatives) {
            Ok(headline) => {
                let question = axis.question;
                axes.push(Axis { id, question, alternatives, headline });
            }
            Err((place, message)) => return fail(place.unwrap_or(span), message),
        }
    }
    Ok(Readings { axes })
}

/// The place of a fault, if it is known, and its message.
type Wrong = (Option<Range<usize>>, String);

/// A value for templates.
fn value(given: &toml::Value) -> Value {
    match given {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(n) => Value::from(*n),
        toml::Value::Float(v) => Value::from(*v),
        toml::Value::Boolean(b) => Value::from(*b),
        toml::Value::Array(all) => Value::from(all.iter().map(value).collect::<Vec<Value>>()),
        other => Value::from(other.to_string()),
    }
}

/// Position of the alternative that the rule makes the headline's.
fn headline(id: &str, all: &[Alternative]) -> Result<usize, Wrong> {
    if all.len() < 2 {
        return Err((None, format!("axis `{id}` needs at least two alternatives")));
    }
    let first = all.iter().filter(|a| a.fails.is_none()).map(|a| a.kind).min();
    let mut chosen =
        (0..all.len()).filter(|i| all[*i].fails.is_none() && Some(all[*i].kind) == first);
    let Some(headline) = chosen.next() else {
        return Err((None, format!("axis `{id}` needs an alternative that runs")));
    };
    if let Some(second) = chosen.next() {
        let message = format!(
            "`{}` and `{}` are both of the kind that decides axis `{id}`; only one can be the headline's",
            all[headline].name, all[second].name
        );
        return Err((Some(all[second].span.clone()), message));
    }
    let plain: Vec<&Alternative> =
        all.iter().filter(|a| a.is_plain() && a.fails.is_none()).collect();
    match plain.as_slice() {
        [one] if one.name == all[headline].name => Ok(headline),
        [one] => {
            let message = format!(
                "by the rule the headline of axis `{id}` is `{}`, but the paper's files run `{}`, the \
                 alternative that changes nothing",
                all[headline].name, one.name
            );
            Err((Some(all[headline].span.clone()), message))
        }
        [_, second, ..] => {
            let message = format!("alternative `{}` changes nothing, as another does", second.name);
            Err((Some(second.span.clone()), message))
        }
        [] => {
            let message = format!(
                "axis `{id}` needs one alternative that changes nothing, for the paper's own files"
            );
            Err((None, message))
        }
    }
}

impl Alternative {
    fn of(raw: Raw, span: Range<usize>) -> Result<Alternative, String> {
        let spelt = |all: BTreeMap<String, toml::Value>| -> Changes {
            let text = |v: toml::Value| match v {
                toml::Value::String(text) => text,
                other => other.to_string(),
            };
            all.into_iter().map(|(key, value)| (key, text(value))).collect()
        };
        Ok(Alternative {
            kind: raw.kind.ok_or_else(|| {
                format!(
                    "alternative `{}` needs a `kind`: literal, simulator, standard or other",
                    raw.name
                )
            })?,
            claims: raw.claims.into_iter().map(|(k, v)| (k, value(&v))).collect(),
            set: spelt(raw.set),
            over: spelt(raw.over),
            name: raw.name,
            why: raw.why,
            fails: raw.fails,
            algorithm: raw.algorithm,
            experiments: raw.experiments,
            at: raw.at,
            terms: Terms { one_side: raw.one_side, keep: raw.keep, not_for: raw.not_for },
            span,
        })
    }

    /// True if it changes nothing in the paper's files.
    fn is_plain(&self) -> bool {
        self.set.is_empty() && self.over.is_empty() && self.claims.is_empty()
    }

    /// True if it changes no run.
    pub(super) fn spares_runs(&self) -> bool {
        self.set.is_empty() && self.over.is_empty()
    }

    /// True if it may change the scenario of a point.
    pub(super) fn touches(&self, experiment: &str, point: &Point) -> bool {
        let coordinates: Vec<String> =
            point.coordinates.iter().map(|(axis, label)| format!("{axis}={label}")).collect();
        let here = self.experiments.is_empty() || self.experiments.iter().any(|e| e == experiment);
        let meant = self.at.is_empty() || coordinates.iter().any(|c| self.at.contains(c));
        let kept = coordinates.iter().any(|c| self.terms.keep.contains_key(c));
        !self.spares_runs() && here && meant && !kept
    }

    /// Changes before a point's own settings, and changes after them.
    fn changes(&self, experiment: &str, text: &str, point: &Point) -> Result<[Changes; 2], String> {
        if !self.touches(experiment, point) {
            return Ok([Changes::new(), Changes::new()]);
        }
        let spelt = |set| spelt_out_for(text, &point.overrides, self.algorithm.as_deref(), set);
        Ok([spelt(&self.set)?, spelt(&self.over)?])
    }

    /// A key of `set` that the point itself sets to another value.
    pub(super) fn hidden_key(
        &self,
        (text, document): (&str, &Document),
        experiment: &str,
        point: &Point,
    ) -> Option<String> {
        let [set, _] = self.changes(experiment, text, point).ok()?;
        let hash = |overrides: &[(String, String)]| document.with(overrides).ok().map(|s| s.hash());
        let hidden = |change: &&(String, String)| {
            // Reading a scenario is expensive, and most keys are of different parts.
            if !point.overrides.iter().any(|(key, _)| may_overlap(key, &change.0)) {
                return false;
            }
            let one = [(*change).clone()];
            let beneath = [&one[..], &point.overrides].concat();
            let above = [&point.overrides, &one[..]].concat();
            hash(&beneath) != hash(&above)
        };
        set.iter().find(hidden).map(|(key, _)| key.clone())
    }
}

/// The scenario of a point of the experiment under these answers.
pub(super) fn scenario_of(
    (text, document): (&str, &Document),
    experiment: &str,
    point: &Point,
    chosen: &[&Alternative],
) -> Result<Scenario, String> {
    let (mut beneath, mut above) = (Changes::new(), Changes::new());
    for alternative in chosen {
        let [set, over] = alternative.changes(experiment, text, point)?;
        beneath.extend(set);
        above.extend(over);
    }
    let overrides = [beneath, point.overrides.clone(), above].concat();
    document.with(&overrides).map_err(|e| e.to_string())
}

/// A joint interpretation: for every axis the position of one of its alternatives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reading(pub Vec<usize>);

impl Readings {
    /// The headline's interpretation.
    pub fn headline(&self) -> Reading {
        Reading(self.axes.iter().map(|a| a.headline).collect())
    }

    /// Names of an interpretation's alternatives, axis by axis.
    pub fn names(&self, reading: &Reading) -> Vec<String> {
        self.chosen(reading).map(|a| a.name.clone()).collect()
    }

    fn chosen<'a>(&'a self, reading: &'a Reading) -> impl Iterator<Item = &'a Alternative> {
        self.axes.iter().zip(&reading.0).map(|(axis, at)| &axis.alternatives[*at])
    }

    /// The scenario of a point in an interpretation.
    ///
    /// # Errors
    ///
    /// The alternatives contradict each other; the message has the reason.
    pub(super) fn scenario(
        &self,
        paper: &Paper,
        (experiment, file): (&str, &str),
        point: &Point,
        reading: &Reading,
    ) -> Result<Scenario, String> {
        let text = paper.scenario(file).ok_or_else(|| format!("{file} not found"))?;
        let document = Document::parse(text, &paper.place(file)).map_err(|e| e.to_string())?;
        let chosen: Vec<&Alternative> = self.chosen(reading).collect();
        scenario_of((text, &document), experiment, point, &chosen)
    }

    /// True if an answer of the interpretation excludes the claim.
    pub(super) fn spares(&self, reading: &Reading, claim: &str) -> bool {
        self.chosen(reading).any(|answer| answer.terms.spares(claim))
    }

    /// Values that an interpretation gives to names in the `let` table of `claims.toml`.
    pub(super) fn claims(&self, reading: &Reading) -> Vars {
        self.chosen(reading).flat_map(|a| a.claims.clone()).collect()
    }
}

impl Axis {
    /// Positions of the alternatives that can run.
    pub(super) fn running(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.alternatives.len()).filter(|i| self.alternatives[*i].fails.is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTES: &str = "## X-1: a\n\n## X-2: b\n";
    const FILE: &str = "[[axis]]\nid = 'X-1'\nquestion = 'q'\n\
        [[axis.alternative]]\nname = 'printed'\nwhy = 'w'\nkind = 'literal'\n\
        [[axis.alternative]]\nname = 'now'\nwhy = 'w'\nkind = 'standard'\nset = { 'stack.mss' = 1 }\n";

    #[test]
    fn the_headline_follows_the_order_of_kinds() {
        let kinds = |first: &str, second: &str| {
            let text = FILE.replace("'standard'", second).replace("'literal'", first);
            parse(&text, "f", NOTES).map(|r| r.headline()).map_err(|e| e.to_string())
        };
        assert_eq!(kinds("'literal'", "'simulator'"), Ok(Reading(vec![0])));
        assert_eq!(kinds("'simulator'", "'other'"), Ok(Reading(vec![0])));
        // The paper's files must run the answer that the rule selects.
        assert!(
            kinds("'standard'", "'simulator'").unwrap_err().contains("by the rule the headline")
        );
        // A literal text that does not run is not the headline's.
        let fails = "'literal'\nfails = 'the timer is negative'\nover = { 'a' = 1 }";
        let text = FILE.replace("'literal'", fails).replace("set = { 'stack.mss' = 1 }\n", "");
        assert_eq!(parse(&text, "f", NOTES).unwrap().headline(), Reading(vec![1]));
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let cases = [
            (FILE.replace("X-1", "X-9"), "2:6: fidelity.md has no note X-9"),
            (FILE.replace("question", "qestion"), "unknown field `qestion`"),
            (FILE.replace("'standard'", "'literal'"), "8:1: `printed` and `now` are both"),
            (FILE.replace("'now'", "'printed'"), "has an alternative `printed` already"),
            (
                FILE.replace("set = { 'stack.mss' = 1 }\n", ""),
                "8:1: alternative `now` changes nothing",
            ),
            (FILE[..FILE.rfind("[[").unwrap()].to_owned(), "2:6: axis `X-1` needs at least two"),
            (FILE.replace("kind = 'standard'\n", ""), "needs a `kind`: literal, simulator"),
            (format!("{FILE}{FILE}"), "axis `X-1` exists already; write such as `X-1.2`"),
        ];
        for (text, expected) in cases {
            let message = parse(&text, "readings.toml", NOTES).unwrap_err().to_string();
            assert!(message.starts_with("readings.toml:"), "{message}");
            assert!(message.contains(expected), "{message} does not contain {expected}");
        }
    }
}
