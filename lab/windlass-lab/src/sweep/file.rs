//! Sweep files: a scenario, axes and the number of runs.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::axes;
use super::measure::{Goal, Measure};
use super::warm::WarmUp;
use crate::experiment::file::AxisFile;
use crate::experiment::{Axis, AxisValue, FileError};
use crate::run::World;

/// The contents of a sweep file. Options of the command line take precedence.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    scenario: Spanned<String>,
    name: Option<Spanned<String>>,
    #[serde(default)]
    set: BTreeMap<String, String>,
    #[serde(default)]
    on: Vec<World>,
    seeds: Option<Spanned<u64>>,
    min_seeds: Option<Spanned<u64>>,
    max_seeds: Option<Spanned<u64>>,
    #[serde(default)]
    metric: Vec<Spanned<String>>,
    #[serde(default)]
    until: Vec<Spanned<String>>,
    warmup: Option<Spanned<String>>,
    #[serde(default)]
    axis: Vec<RawAxis>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawAxis {
    name: Spanned<String>,
    key: Option<Keys>,
    values: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    value: Vec<Spanned<AxisValue>>,
}

/// One key, or several keys that change together.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Keys {
    One(String),
    Several(Vec<String>),
}

/// A sweep file after its check.
#[derive(Debug, Default)]
pub(super) struct SweepFile {
    /// Path of the scenario, relative to the sweep file's folder.
    pub(super) scenario: String,
    /// Name of the sweep.
    pub(super) name: Option<String>,
    pub(super) set: Vec<(String, String)>,
    pub(super) on: Vec<World>,
    pub(super) seeds: Option<u64>,
    pub(super) min_seeds: Option<u64>,
    pub(super) max_seeds: Option<u64>,
    pub(super) measures: Vec<Measure>,
    pub(super) goals: Vec<Goal>,
    pub(super) warm_up: Option<WarmUp>,
    pub(super) axes: Vec<Axis>,
}

/// True if the text is a sweep file and not a scenario.
pub(super) fn is_sweep(text: &str) -> bool {
    let table: Option<toml::Table> = toml::from_str(text).ok();
    table.is_some_and(|t| t.contains_key("scenario") || t.contains_key("axis"))
}

impl SweepFile {
    /// Parses a sweep file; `file` is its name in errors.
    pub(super) fn parse(text: &str, file: &str) -> Result<SweepFile, FileError> {
        let raw: Raw = toml::from_str(text).map_err(|e| FileError::toml(file, text, &e))?;
        let fail = |span, message: String| FileError::at(file, text, span, message);
        let count = |n: Option<Spanned<u64>>| match n {
            Some(n) if *n.get_ref() == 0 => {
                Err(fail(n.span(), "a point needs at least one run".to_owned()))
            }
            n => Ok(n.map(Spanned::into_inner)),
        };
        if let (Some(seeds), false) = (&raw.seeds, raw.until.is_empty()) {
            let message = "`seeds` is a fixed number of runs, and `until` adds runs up to a precision; give one";
            return Err(fail(seeds.span(), message.to_owned()));
        }
        let fixed = raw.until.is_empty();
        for value in raw.axis.iter().flat_map(|a| &a.value) {
            let message = match (value.get_ref().seeds, value.get_ref().quick_seeds) {
                (_, Some(_)) => "`quick_seeds` is for papers; a sweep has `seeds` alone",
                (Some(_), _) if !fixed => {
                    "`seeds` at a value is a fixed number of runs, and `until` adds \
                                           runs up to a precision; give one"
                }
                _ => continue,
            };
            return Err(fail(value.span(), message.to_owned()));
        }
        if fixed && (raw.min_seeds.is_some() || raw.max_seeds.is_some()) {
            let span = raw.min_seeds.or(raw.max_seeds).map_or(0..0, |n| n.span());
            let message =
                "`min_seeds` and `max_seeds` bound the runs that `until` adds; give it too";
            return Err(fail(span, message.to_owned()));
        }
        if let Some(name) = raw.name.as_ref().filter(|n| n.get_ref().trim().is_empty()) {
            return Err(fail(name.span(), "the name of a sweep cannot be empty".to_owned()));
        }
        Ok(SweepFile {
            scenario: raw.scenario.into_inner(),
            name: raw.name.map(Spanned::into_inner),
            set: raw.set.into_iter().collect(),
            on: raw.on,
            seeds: count(raw.seeds)?,
            min_seeds: count(raw.min_seeds)?,
            max_seeds: count(raw.max_seeds)?,
            measures: each(raw.metric, Measure::parse, &fail)?,
            goals: each(raw.until, Goal::parse, &fail)?,
            warm_up: each(raw.warmup, |w| w.parse(), &fail)?.pop(),
            axes: raw.axis.into_iter().map(|a| a.check(&fail)).collect::<Result<_, _>>()?,
        })
    }
}

/// Each text, parsed by `read`.
fn each<T>(
    texts: impl IntoIterator<Item = Spanned<String>>,
    read: impl Fn(&str) -> Result<T, String>,
    fail: &impl Fn(std::ops::Range<usize>, String) -> FileError,
) -> Result<Vec<T>, FileError> {
    let one = |t: Spanned<String>| read(t.get_ref()).map_err(|message| fail(t.span(), message));
    texts.into_iter().map(one).collect()
}

impl RawAxis {
    fn check(
        self,
        fail: &impl Fn(std::ops::Range<usize>, String) -> FileError,
    ) -> Result<Axis, FileError> {
        let mut value = self.value;
        match (&self.key, &self.values) {
            (Some(key), Some(texts)) if value.is_empty() => {
                let keys: Vec<&str> = match key {
                    Keys::One(key) => vec![key],
                    Keys::Several(keys) => keys.iter().map(String::as_str).collect(),
                };
                let values = axes::values(&keys, texts.get_ref());
                let values = values.map_err(|message| fail(texts.span(), message))?;
                value = values.into_iter().map(|v| Spanned::new(texts.span(), v)).collect();
            }
            (None, None) => {}
            _ => {
                let name = self.name.get_ref();
                let message = format!(
                    "axis `{name}` has either `key` and `values`, or an [[axis.value]] with \
                     `label` and `set` for each value"
                );
                return Err(fail(self.name.span(), message));
            }
        }
        AxisFile { name: self.name, value }.check(fail)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sequential::Width;

    const FILE: &str = r#"
scenario = "dumbbell.toml"
until = ["flow.*.goodput_bps ±2%"]
max_seeds = 200

[[axis]]
name = "queue"
key = "topology.bottleneck.queue"
values = ["10pkt", "20pkt..40pkt step 20pkt"]

[[axis]]
name = "pair"
[[axis.value]]
label = "both cubic"
set = { "flow.*.algorithm" = "cubic" }
[[axis.value]]
label = "mixed"
set = { "flow.0.algorithm" = "cubic", "flow.1.algorithm" = "reno" }
"#;

    #[test]
    fn axes_have_keys_with_values_or_labels_with_sets() {
        let file = SweepFile::parse(FILE, "f").unwrap();
        let labels = |i: usize| -> Vec<&str> {
            file.axes[i].values.iter().map(|v| v.label.as_str()).collect()
        };
        assert_eq!(labels(0), ["10pkt", "20pkt", "40pkt"]);
        assert_eq!(labels(1), ["both cubic", "mixed"]);
        assert_eq!(file.goals[0].width, Width::Relative(0.02));
        assert_eq!((file.scenario.as_str(), file.max_seeds), ("dumbbell.toml", Some(200)));
        assert!(is_sweep(FILE) && !is_sweep("duration = \"1s\""));
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        for (from, to, expected) in [
            ("scenario = ", "scene = ", "f:2:1: unknown field `scene`"),
            ("±2%", "±0%", "f:3:10: invalid width `0%`"),
            ("flow.*.goodput_bps ±", "flow.*.goodput ±", "f:3:10: metric `flow.*.goodput` ends in"),
            ("max_seeds = 200", "max_seeds = 0", "f:4:13: a point needs at least one run"),
            ("until =", "metric =", "f:4:13: `min_seeds` and `max_seeds` bound the runs"),
            ("label = \"mixed\"", "label = \"mixed\"\nseeds = 3", "`seeds` at a value is"),
            ("label = \"mixed\"", "label = \"mixed\"\nquick_seeds = 3", "is for papers"),
            ("max_seeds", "seeds", "f:4:9: `seeds` is a fixed number of runs, and `until`"),
            ("max_seeds = 200", "warmup = \"soon\"", "f:4:10: invalid warm-up `soon`"),
            ("max_seeds = 200", "on = [\"mars\"]", "backend `mars` not found"),
            ("max_seeds = 200", "name = \" \"", "f:4:8: the name of a sweep cannot be empty"),
            ("step 20pkt", "step 0pkt", "f:9:10: `20pkt..40pkt step 0pkt` never ends"),
            ("\"10pkt\", ", "\"20pkt\", ", "axis `queue` has the value `20pkt` already"),
            (
                "key = \"topology.bottleneck.queue\"",
                "",
                "axis `queue` has either `key` and `values`",
            ),
            ("name = \"pair\"", "name = \"pair\"\nkey = \"a\"", "axis `pair` has either"),
            ("label = \"mixed\"", "label = \"a=b\"", "label `a=b` must not contain"),
            ("\"10pkt\", \"20pkt..40pkt step 20pkt\"", "", "axis `queue` needs at least one value"),
        ] {
            assert!(FILE.contains(from), "{from}");
            let error = SweepFile::parse(&FILE.replacen(from, to, 1), "f").unwrap_err();
            assert!(error.to_string().contains(expected), "{from} to {to}: {error}");
        }
    }
}
