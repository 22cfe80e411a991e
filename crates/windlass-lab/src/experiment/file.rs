//! Reading `experiments.toml`.

use std::ops::{Range, RangeInclusive};

use serde::Deserialize;
use toml::Spanned;

use super::error::FileError;
use super::{Axis, AxisValue, Experiment, Plan, TraceRequest};
use crate::template::Vars;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    experiment: Vec<ExperimentFile>,
    #[serde(default)]
    trace: Vec<Spanned<TraceRequest>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExperimentFile {
    id: Spanned<String>,
    title: String,
    scenario: String,
    seeds: Spanned<u64>,
    quick_seeds: u64,
    #[serde(default)]
    axis: Vec<AxisFile>,
}

/// An axis as a file has it, with the places of its parts.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AxisFile {
    pub(crate) name: Spanned<String>,
    pub(crate) value: Vec<Spanned<AxisValue>>,
}

impl Plan {
    /// Reads a plan; `file` names it in errors.
    ///
    /// # Errors
    ///
    /// The first thing wrong with the text, with its line and column.
    pub fn parse(text: &str, file: &str) -> Result<Plan, FileError> {
        Plan::parse_given(text, file, &Vars::new())
    }

    /// The same with other values for some names of the file's `let` tables.
    pub(crate) fn parse_given(text: &str, file: &str, given: &Vars) -> Result<Plan, FileError> {
        let raw: PlanFile = crate::template::read_given(text, file, given)?;
        let fail = |span, message: String| FileError::at(file, text, span, message);
        let mut plan = Plan { experiments: Vec::new(), traces: Vec::new() };
        for e in raw.experiment {
            if plan.experiment(e.id.get_ref()).is_some() {
                let message =
                    format!("experiment `{}` exists already, give it another id", e.id.get_ref());
                return Err(fail(e.id.span(), message));
            }
            plan.experiments.push(e.check(&fail)?);
        }
        for t in raw.trace {
            let span = t.span();
            plan.check_trace(t.get_ref()).map_err(|message| fail(span, message))?;
            plan.traces.push(t.into_inner());
        }
        Ok(plan)
    }

    fn check_trace(&self, t: &TraceRequest) -> Result<(), String> {
        if self.traces.iter().any(|other| other.id == t.id) {
            return Err(format!("trace `{}` exists already, give it another id", t.id));
        }
        self.look_up(&t.place())?;
        t.series.iter().try_for_each(|name| super::series(name).map(|_| ()))
    }
}

/// Runs that a point may have.
const SEEDS: RangeInclusive<u64> = 1..=100_000;

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
        Ok(Experiment {
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
    /// The axis, if its values can be told apart; `fail` makes an error of a place and a sentence.
    pub(crate) fn check(
        self,
        fail: &impl Fn(Range<usize>, String) -> FileError,
    ) -> Result<Axis, FileError> {
        let name = self.name.get_ref().clone();
        if self.value.is_empty() {
            return Err(fail(self.name.span(), format!("axis `{name}` needs at least one value")));
        }
        let mut values: Vec<AxisValue> = Vec::new();
        for value in self.value {
            let (span, value) = (value.span(), value.into_inner());
            if value.seeds.is_some_and(|n| !SEEDS.contains(&n)) {
                return Err(fail(span, seeds_of(&format!("value `{}`", value.label))));
            }
            if value.label.contains([',', '=']) {
                let message = format!("label `{}` must not contain `,` or `=`", value.label);
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
