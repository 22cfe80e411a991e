//! Reading `experiments.toml`.

use std::ops::{Range, RangeInclusive};

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::Spanned;

use super::error::FileError;
use super::{Axis, AxisValue, Experiment, Plan, TraceRequest};
use crate::template::{Placed, Vars, expanded};
use crate::units::{Duration, UnitError};

/// The tables of the file. Their elements are read one by one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    #[serde(rename = "experiment")]
    _experiment: Vec<IgnoredAny>,
    #[serde(default, rename = "trace")]
    _trace: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFile {
    id: Spanned<String>,
    title: String,
    scenario: String,
    seeds: Spanned<u64>,
    quick_seeds: u64,
    warmup: Option<Spanned<String>>,
    #[serde(default)]
    axis: Vec<AxisFile>,
}

/// An axis of a file, with the places of its parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AxisFile {
    pub(crate) name: Spanned<String>,
    pub(crate) value: Vec<Spanned<AxisValue>>,
}

impl Plan {
    /// Reads a plan. `file` is its name in errors.
    ///
    /// # Errors
    ///
    /// The first error in the text, with its line and column.
    pub fn parse(text: &str, file: &str) -> Result<Plan, FileError> {
        Plan::parse_every(text, file, &Vars::new()).map_err(|mut errors| errors.swap_remove(0))
    }

    /// Reads a plan as [`Plan::parse`] does, with the values `given` for some names of the file's `let` tables.
    ///
    /// # Errors
    ///
    /// An error for each wrong experiment and trace.
    pub(crate) fn parse_every(
        text: &str,
        file: &str,
        given: &Vars,
    ) -> Result<Plan, Vec<FileError>> {
        let tree = expanded(text, file, given).map_err(|e| vec![e])?;
        let fail = |span, message: String| FileError::at(file, text, span, message);
        let mut errors = tree.errors().to_vec();
        let mut plan = Plan { experiments: Vec::new(), traces: Vec::new() };
        for placed in tree.elements::<ExperimentFile>("experiment", &mut errors) {
            let e = placed.value;
            if let Some(message) = unusable("experiment's id", e.id.get_ref(), &['/']) {
                errors.push(fail(e.id.span(), message));
                continue;
            }
            if plan.experiment(e.id.get_ref()).is_some() {
                let message =
                    format!("experiment `{}` exists already, give it another id", e.id.get_ref());
                errors.push(fail(e.id.span(), message));
                continue;
            }
            match e.check(&fail) {
                Ok(experiment) => plan.experiments.push(experiment),
                // An axis without its wrong values may be empty, which is not another error.
                Err(error) if tree.errors().is_empty() => errors.push(error),
                Err(_) => {}
            }
        }
        // A missing experiment is not another error in every trace of it.
        let whole = errors.is_empty();
        for Placed { value, span, places } in tree.elements::<TraceRequest>("trace", &mut errors) {
            match plan.check_trace(&value) {
                Err((key, message)) if whole || key != "experiment" => {
                    errors.push(fail(places.of(key).unwrap_or(span), message));
                }
                _ => plan.traces.push(TraceRequest { places, ..value }),
            }
        }
        if errors.is_empty() {
            tree.whole::<PlanFile>()?;
            return Ok(plan);
        }
        Err(FileError::in_order(errors))
    }

    /// Checks a trace. The error has the wrong key and the message.
    fn check_trace(&self, t: &TraceRequest) -> Result<(), (&'static str, String)> {
        if let Some(message) = unusable("trace's id", &t.id, &[]) {
            return Err(("id", message));
        }
        if self.traces.iter().any(|other| other.id == t.id) {
            return Err(("id", format!("trace `{}` exists already, give it another id", t.id)));
        }
        let there = self.experiment(&t.experiment).is_some();
        let key = if there { "point" } else { "experiment" };
        self.look_up(&t.place()).map_err(|message| (key, message))?;
        let known = |name: &String| super::series(name).map(|_| ());
        t.series.iter().try_for_each(known).map_err(|message| ("series", message))?;
        let time = |Duration(_)| ();
        t.interval.parse().map(time).map_err(|e: UnitError| ("interval", e.to_string()))
    }
}

/// Maximum number of points of an experiment. The check of a paper reads all points.
const MOST_POINTS: usize = 10_000;
/// Valid numbers of runs of a point.
const SEEDS: RangeInclusive<u64> = 1..=100_000;

/// The error of an unusable name.
fn unusable(what: &str, name: &str, but: &[char]) -> Option<String> {
    if name.trim().is_empty() {
        return Some(format!("the {what} is empty; give one"));
    }
    let wrong = but.iter().find(|c| name.contains(**c))?;
    Some(format!("{what} `{name}` must not contain `{wrong}`; leave it out"))
}

fn seeds_of(what: &str) -> String {
    format!("{what} needs at least one seed, and at most {}", SEEDS.end())
}

impl ExperimentFile {
    fn check(
        self,
        fail: &impl Fn(Range<usize>, String) -> FileError,
    ) -> Result<Experiment, FileError> {
        if !SEEDS.contains(self.seeds.get_ref()) {
            return Err(fail(self.seeds.span(), seeds_of("an experiment")));
        }
        let mut axes: Vec<Axis> = Vec::new();
        for axis in self.axis {
            if axes.iter().any(|a| a.name == *axis.name.get_ref()) {
                let message = format!("axis `{}` exists already", axis.name.get_ref());
                return Err(fail(axis.name.span(), message));
            }
            axes.push(axis.check(fail)?);
        }
        let points = axes.iter().map(|a| a.values.len()).fold(1usize, usize::saturating_mul);
        if points > MOST_POINTS {
            let message = format!(
                "experiment `{}` has {points} points; an experiment of a paper has at most {MOST_POINTS}, and `windlass sweep` runs more",
                self.id.get_ref()
            );
            return Err(fail(self.id.span(), message));
        }
        let warm_up = |w: &Spanned<String>| w.get_ref().parse().map_err(|e| fail(w.span(), e));
        let warm_up = self.warmup.as_ref().map(warm_up).transpose()?;
        Ok(Experiment {
            warm_up,
            id: self.id.into_inner(),
            title: self.title,
            scenario: self.scenario,
            axes,
            seeds: self.seeds.into_inner(),
            quick_seeds: self.quick_seeds,
        })
    }
}

impl AxisFile {
    /// The axis, if its names and labels are valid and unique. `fail` makes an error of a place and a message.
    pub(crate) fn check(
        self,
        fail: &impl Fn(Range<usize>, String) -> FileError,
    ) -> Result<Axis, FileError> {
        let name = self.name.get_ref().clone();
        if let Some(message) = unusable("axis's name", &name, &[',', '=', '/']) {
            return Err(fail(self.name.span(), message));
        }
        if self.value.is_empty() {
            return Err(fail(self.name.span(), format!("axis `{name}` needs at least one value")));
        }
        let mut values: Vec<AxisValue> = Vec::new();
        for value in self.value {
            let (span, value) = (value.span(), value.into_inner());
            if value.seeds.is_some_and(|n| !SEEDS.contains(&n)) {
                return Err(fail(span, seeds_of(&format!("value `{}`", value.label))));
            }
            if let Some(message) = unusable("label", &value.label, &[',', '=']) {
                return Err(fail(span, message));
            }
            if values.iter().any(|v| v.label == value.label) {
                let message = format!("axis `{name}` has the value `{}` already", value.label);
                return Err(fail(span, message));
            }
            values.push(value);
        }
        Ok(Axis { name, values })
    }
}
