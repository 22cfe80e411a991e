//! Checks of a claim without runs.

use std::collections::BTreeMap;

use super::{Basis, Claim, Direction, Evidence, LeastEffect, Metric, Quantity, Tolerance, Value};
use crate::experiment::FileError;
use crate::report::numbers::number;

/// A relative tolerance of this size or more is probably a percentage instead of a fraction.
const MOST_RELATIVE: f64 = 5.0;
/// Largest sensible tolerance, as a multiple of the published value.
const MOST_TIMES: f64 = 100.0;

/// Maximum relative rounding error of a printed value.
const ROUNDING: f64 = 0.005;

/// A mistake, with the path of the value in the claim.
#[derive(Debug)]
pub(crate) struct Wrong {
    path: String,
    message: String,
}

impl Wrong {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Wrong {
        Wrong { path: path.into(), message: message.into() }
    }
}

impl Claim {
    /// A mistake as an error in the claims' file.
    pub(crate) fn error(&self, text: &str, file: &str, wrong: &Wrong) -> FileError {
        let span = self.places.of(&wrong.path).unwrap_or_else(|| self.span.clone());
        let gap = if wrong.message.starts_with(':') { "" } else { " " };
        FileError::at(file, text, span, format!("claim `{}`{gap}{}", self.id, wrong.message))
    }

    /// All mistakes of the claim that need no other data.
    pub(super) fn check(&self) -> Vec<Wrong> {
        let mut wrong = self.words();
        wrong.extend(self.numbers());
        for (path, quantity) in self.placed_quantities() {
            wrong.extend(alone(&path, quantity).err());
        }
        if wrong.is_empty() {
            wrong.extend(self.units().err());
        }
        if self.has_criterion() {
            wrong.extend(self.compares().err());
        }
        wrong.extend(self.criterion().err());
        wrong
    }

    fn words(&self) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        if self.id.is_empty() || self.id.contains(char::is_control) {
            wrong.push(Wrong::new("id", "needs an `id` of printable characters"));
        }
        let statement = self.statement.as_deref().unwrap_or("-");
        let all =
            [("source", &*self.source), ("quantity", &self.quantity), ("statement", statement)];
        for (key, _) in all.iter().filter(|(_, text)| text.trim().is_empty()) {
            wrong.push(Wrong::new(*key, format!("has an empty `{key}`; write it, in words")));
        }
        let corrected = self.compare_with.as_ref().map(|c| ("compare_with.reason", &c.reason));
        let reasons = [
            self.tolerance.as_ref().map(|t| ("tolerance.reason", &t.reason)),
            self.least_effect.as_ref().map(|t| ("least_effect.reason", &t.reason)),
            corrected,
        ];
        for (path, _) in reasons.iter().flatten().filter(|(_, text)| text.trim().is_empty()) {
            wrong.push(Wrong::new(*path, "has an empty `reason`; give the reason for this size"));
        }
        wrong
    }

    fn numbers(&self) -> Vec<Wrong> {
        let mut wrong = Vec::new();
        let corrected = self.compare_with.as_ref().map(|c| c.value);
        for (path, value) in [("paper", self.paper), ("compare_with.value", corrected)] {
            if value.is_some_and(|v| !v.is_finite()) {
                wrong.push(Wrong::new(path, "has a value that is not a finite number"));
            }
        }
        if self.compare_with.is_some() && self.paper.is_none() {
            let message = "has `compare_with` but no `paper`, the printed value that it replaces";
            wrong.push(Wrong::new("compare_with", message));
        }
        if let Some(t) = &self.tolerance {
            wrong.extend(t.check("tolerance", "tolerance").err());
            match self.target() {
                None => {
                    let message = "has a tolerance but no `paper` value to compare with";
                    wrong.push(Wrong::new("tolerance", message));
                }
                Some(target) => wrong.extend(t.suits(target).err()),
            }
        }
        if self.sides.is_some() && super::sides::sides(self).is_none() {
            wrong.push(Wrong::new(
                "sides",
                "has words for the sides of a comparison, but compares no two measures of runs; leave `sides` out",
            ));
        }
        wrong.extend(
            self.least_effect.as_ref().and_then(|t| t.check("least_effect", "least effect").err()),
        );
        wrong
    }

    /// Checks that no sum, difference or comparison mixes units, and that the claim has the unit of its measure.
    fn units(&self) -> Result<(), Wrong> {
        let of = |quantity: &Quantity, path: &str| {
            let mixed = |(path, [a, b]): (String, [String; 2])| {
                let message = format!(
                    "combines `{a}` and `{b}`; convert one of them by a `ratio` with a `constant`"
                );
                Wrong::new(path, message)
            };
            quantity.unit(path).map_err(mixed)
        };
        let Some(measure) = &self.measure else { return Ok(()) };
        let measured = of(measure, "measure")?;
        let own = &self.unit;
        if let Some(unit) = measured.filter(|unit| !["", own].contains(unit)) {
            let message = format!(
                "is in `{own}` and its metric in `{unit}`; convert the metric by a `ratio` with a `constant`"
            );
            return Err(Wrong::new("unit", message));
        }
        let Some(direction) = &self.direction else { return Ok(()) };
        let baseline = of(direction.baseline(), direction.path())?;
        match (measured, baseline) {
            (Some(a), Some(b)) if a != b => {
                let [a, b] = [a, b].map(|unit| if unit.is_empty() { "1" } else { unit });
                let message = format!("is measured in `{a}` and compared with a measure in `{b}`");
                Err(Wrong::new(direction.path(), message))
            }
            _ => Ok(()),
        }
    }

    /// Checks that no difference or ratio compares a measure with itself.
    fn compares(&self) -> Result<(), Wrong> {
        let twice = |(path, quantity): (String, &Quantity)| {
            let pair = quantity.pair().filter(|pair| pair[0] == pair[1])?;
            let (path, key) = (quantity.path_of(&path, pair.len() - 1), quantity.key());
            Some(Wrong::new(path, format!("takes the `{key}` of a measure and itself")))
        };
        self.placed_quantities().into_iter().find_map(twice).map_or(Ok(()), Err)
    }

    fn criterion(&self) -> Result<(), Wrong> {
        let runs =
            self.quantities().iter().any(|q| matches!(q, Quantity::Metric(_) | Quantity::Trace(_)));
        match (self.kind, self.measure.is_some()) {
            (Some(Basis::Measured), true) if !runs => {
                return Err(Wrong::new(
                    "kind",
                    "reads no run, so that it is not `measured`; leave `kind` out",
                ));
            }
            (Some(Basis::Arithmetic), true) if runs => {
                return Err(Wrong::new(
                    "kind",
                    "reads runs, so that it is not `arithmetic`; leave `kind` out",
                ));
            }
            _ => {}
        }
        if let (Some(direction), Some(measure)) = (&self.direction, &self.measure)
            && direction.baseline() == measure
        {
            return Err(Wrong::new(direction.path(), "compares its measure with itself"));
        }
        match (&self.not_comparable, self.has_criterion(), &self.measure) {
            (Some(_), true, _) => Err(Wrong::new(
                "not_comparable",
                "is `not_comparable` and has a criterion; keep one",
            )),
            (None, false, _) => {
                Err(Wrong::new("", "needs a `tolerance`, a `direction` or `not_comparable`"))
            }
            (None, true, None) => Err(Wrong::new("", "needs a `measure`")),
            _ => Ok(()),
        }
    }

    /// Errors that need the values of the paper's closed forms.
    pub(crate) fn check_with(&self, models: &BTreeMap<String, f64>) -> Vec<Wrong> {
        let (traces, least) = (BTreeMap::new(), LeastEffect::default());
        let evidence =
            Evidence { records: &[], models, traces: &traces, least: &least, planned: None };
        let exact = |quantity: &Quantity| match evidence.value(quantity) {
            Ok(Value::Exact { value, .. }) => Some(value),
            _ => None,
        };
        let mut wrong = Vec::new();
        for (path, quantity) in self.placed_quantities() {
            let divides = matches!(quantity, Quantity::Ratio(_) | Quantity::PercentChange(_));
            if let Some(pair) = quantity.pair().filter(|p| divides && exact(&p[1]) == Some(0.0)) {
                let (key, zero) = (quantity.key(), quantity.path_of(&path, 1));
                let what = match &pair[1] {
                    Quantity::Model(name) => format!("`{name}`, which is 0"),
                    _ => "0".to_owned(),
                };
                wrong.push(Wrong::new(zero, format!("takes the `{key}` to {what}")));
            }
        }
        if wrong.is_empty() {
            wrong.extend(self.own_direction(exact).err());
        }
        wrong
    }

    /// Checks that the published value agrees with the claim's direction.
    fn own_direction(&self, exact: impl Fn(&Quantity) -> Option<f64>) -> Result<(), Wrong> {
        let Some((direction, own)) = self.direction.as_ref().zip(self.target()) else {
            return Ok(());
        };
        let Some(baseline) = exact(direction.baseline()) else { return Ok(()) };
        // A printed value is rounded, but the value of a closed form is not.
        let computed = !matches!(direction.baseline(), Quantity::Constant(_));
        let rounding = if computed { ROUNDING * baseline.abs() } else { 0.0 };
        let (holds, word) = match direction {
            Direction::GreaterThan(_) => (own + rounding > baseline, "greater"),
            Direction::LessThan(_) => (own - rounding < baseline, "less"),
        };
        if holds {
            return Ok(());
        }
        let (own, baseline) = (number(own), number(baseline));
        let message = format!(
            "has the published value {own}, which is not {word} than {baseline}; reverse the direction, or correct the value"
        );
        Err(Wrong::new(direction.path(), message))
    }
}

/// Checks a quantity without its parts.
fn alone(path: &str, quantity: &Quantity) -> Result<(), Wrong> {
    let key = quantity.key();
    let own = format!("{path}.{key}");
    let fewest = if key == "trend" { 2 } else { 1 };
    if let Some(n) = quantity.several().map(<[Quantity]>::len).filter(|n| *n < fewest) {
        let of = if n == 0 { "nothing".to_owned() } else { format!("{n} measure") };
        return Err(Wrong::new(
            own,
            format!("takes the `{key}` of {of}; it needs {fewest} or more"),
        ));
    }
    match quantity {
        Quantity::Constant(v) if !v.is_finite() => {
            Err(Wrong::new(own, "has a constant that is not a finite number"))
        }
        Quantity::Metric(at) => {
            Metric::parse(&at.path).map_err(|e| Wrong::new(format!("{own}.path"), e))?;
            let shape = || format!("reads `{}`, which must look like experiment/point", at.at);
            at.place().map(|_| ()).ok_or_else(|| Wrong::new(format!("{own}.at"), shape()))
        }
        _ => Ok(()),
    }
}

impl Tolerance {
    fn check(&self, path: &str, what: &str) -> Result<(), Wrong> {
        let given = [self.relative, self.absolute];
        if given.iter().flatten().count() != 1 {
            return Err(Wrong::new(path, format!("needs either a relative or an absolute {what}")));
        }
        if given.iter().flatten().any(|v| !v.is_finite() || *v < 0.0) {
            let message = format!("has a {what} that is not a finite number of at least 0");
            return Err(Wrong::new(path, message));
        }
        fraction(self.relative).map_err(|message| {
            Wrong::new(format!("{path}.relative"), format!("has a {what} {message}"))
        })
    }

    /// Checks that the tolerance distinguishes the value from other values.
    fn suits(&self, target: f64) -> Result<(), Wrong> {
        if target == 0.0 && self.relative.is_some_and(|v| v > 0.0) {
            let message =
                "has a relative tolerance, but its value is 0; give an `absolute` tolerance";
            return Err(Wrong::new("tolerance.relative", message));
        }
        if self.absolute.is_some_and(|v| v >= MOST_TIMES * target.abs() && target != 0.0) {
            let message = format!(
                "has a tolerance of {MOST_TIMES} times its value or more, which accepts any result; narrow it"
            );
            return Err(Wrong::new("tolerance.absolute", message));
        }
        Ok(())
    }
}

impl LeastEffect {
    /// Checks that every number is finite and at least 0, and that the relative effect is a fraction.
    pub(crate) fn check(&self) -> Result<(), String> {
        let mut all = self.absolute.values().chain([&self.relative]);
        if !all.all(|v| v.is_finite() && *v >= 0.0) {
            return Err("`least_effect` needs finite numbers of at least 0".to_owned());
        }
        if self.reason.trim().is_empty() {
            return Err(
                "`least_effect` has an empty `reason`; give the reason for this size".to_owned()
            );
        }
        fraction(Some(self.relative)).map_err(|message| format!("`least_effect` is {message}"))
    }
}

fn fraction(relative: Option<f64>) -> Result<(), String> {
    match relative.filter(|v| *v >= MOST_RELATIVE) {
        None => Ok(()),
        Some(v) => Err(format!(
            "of {} %: `relative` is a fraction below {MOST_RELATIVE}, and 0.05 is 5 %",
            number(100.0 * v)
        )),
    }
}

#[cfg(test)]
mod tests;
