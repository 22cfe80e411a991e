//! Values of quantities, computed from the evidence.

use super::{LeastEffect, Metric, Quantity, Verdict};
use crate::experiment::Plan;
use crate::run::RunRecord;
use std::collections::BTreeMap;
use windlass_stats::decision::MIN_RUNS;

/// The evidence for verdicts.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// Runs of the paper's experiments.
    pub records: &'a [RunRecord],
    /// The paper's closed forms by name.
    pub models: &'a BTreeMap<String, f64>,
    /// Quantities read from traced runs by name.
    pub traces: &'a BTreeMap<String, Value>,
    /// Smallest effect that matters in the paper.
    pub least: &'a LeastEffect,
    /// The planned runs, and the command that makes them. Without a plan, a point without runs is unknown.
    pub planned: Option<(&'a Plan, &'a str)>,
}

/// Value of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A value without randomness: arithmetic, or `n` runs with equal records.
    Exact {
        /// The value.
        value: f64,
        /// Number of runs; 0 for arithmetic.
        n: u64,
    },
    /// Values by seed. NaN if a run's value is unknown.
    Runs(BTreeMap<u64, f64>),
    /// No run has a value, for this reason.
    Missing(String),
}

/// Verdict and reason if a value is missing.
pub(super) type Missing = (Verdict, String);

impl Evidence<'_> {
    pub(super) fn value(&self, quantity: &Quantity) -> Result<Value, Missing> {
        let pair = |pair: &[Quantity; 2], f: fn(f64, f64) -> f64| {
            self.value(&pair[0])?.combine(&self.value(&pair[1])?, f)
        };
        let unknown = |note: String| (Verdict::NotComparable, note);
        match quantity {
            Quantity::Constant(v) => Ok(Value::exact(*v)),
            Quantity::Model(name) => {
                let value = self.models.get(name).copied().map(Value::exact);
                value.ok_or_else(|| unknown(format!("Closed form `{name}` not found.")))
            }
            Quantity::Trace(name) => {
                let why = match self.traces.get(name) {
                    Some(Value::Missing(why)) => format!(": {}", why.trim_end_matches('.')),
                    Some(value) => return Ok(value.clone()),
                    None => String::new(),
                };
                Err(unknown(format!("No traced run yields `{name}`{why}.")))
            }
            Quantity::Metric(at) => {
                let (experiment, point) = at.place().unwrap_or((&at.at, ""));
                self.runs(&Metric::parse(&at.path).map_err(unknown)?, experiment, point)
            }
            Quantity::Measure(name) => Err(unknown(format!("Measure `{name}` not found."))),
            Quantity::Difference(p) => pair(p, |a, b| a - b),
            Quantity::Ratio(p) => pair(p, |a, b| if alike(a, b) { 1.0 } else { a / b }),
            Quantity::PercentChange(p) => {
                pair(p, |a, b| if alike(a, b) { 0.0 } else { (a - b) / b * 100.0 })
            }
            Quantity::Abs(one) => self.value(one)?.combine(&Value::exact(0.0), |a, _| a.abs()),
            Quantity::Sum(all) => self.of_all(all, |row| row.iter().sum()),
            Quantity::Mean(all) => {
                self.of_all(all, |row| row.iter().sum::<f64>() / row.len() as f64)
            }
            Quantity::Median(all) => self.of_all(all, median),
            Quantity::Largest(all) => self.of_all(all, |row| extreme(row, f64::max)),
            Quantity::Least(all) => self.of_all(all, |row| extreme(row, f64::min)),
            Quantity::Trend(all) => self.of_all(all, trend),
        }
    }

    /// Applies `f` to the values of all quantities, run by run.
    fn of_all(&self, all: &[Quantity], f: impl Fn(&[f64]) -> f64) -> Result<Value, Missing> {
        let values: Vec<Value> = all.iter().map(|q| self.value(q)).collect::<Result<_, _>>()?;
        let at = |seed: u64| -> Option<Vec<f64>> { values.iter().map(|v| v.at(seed)).collect() };
        let runs = values.iter().find_map(|v| match v {
            Value::Runs(runs) => Some(runs),
            Value::Exact { .. } | Value::Missing(_) => None,
        });
        let Some(runs) = runs else {
            let row: Vec<f64> = values.iter().flat_map(Value::values).collect();
            let n = values.iter().map(Value::n).max().unwrap_or(0);
            return Ok(Value::Exact { value: f(&row), n });
        };
        let rows = runs.keys().filter_map(|seed| Some((*seed, f(&at(*seed)?))));
        let rows: BTreeMap<u64, f64> = rows.collect();
        if rows.is_empty() { Err(no_seed_in_common()) } else { Ok(Value::Runs(rows)) }
    }

    /// Values of a metric in every run of a point. A run without a value counts as the worst value, if more or less is
    /// better.
    fn runs(&self, metric: &Metric, experiment: &str, point: &str) -> Result<Value, Missing> {
        let here = |r: &&RunRecord| r.experiment == experiment && r.point == point;
        let records: Vec<&RunRecord> = self.records.iter().filter(here).collect();
        let Some(first) = records.first() else { return Err(self.not_run(experiment, point)) };
        if records.iter().all(|r| metric.of(r).is_none()) {
            let note = format!("No run of {experiment}/{point} has this metric.");
            return Err((Verdict::NotComparable, note));
        }
        let value = |r: &RunRecord| metric.of(r).unwrap_or_else(|| metric.worst());
        if without_chance(&records) {
            return Ok(Value::Exact { value: value(first), n: records.len() as u64 });
        }
        Ok(Value::Runs(records.iter().map(|r| (r.seed, value(r))).collect()))
    }

    fn not_run(&self, experiment: &str, point: &str) -> Missing {
        let Some((plan, command)) = self.planned else {
            let note = format!("No runs of {experiment}/{point} found.");
            return (Verdict::NotComparable, note);
        };
        let place = format!("{experiment}/{point}");
        let on = plan.backend(&place);
        (Verdict::NotRun, format!("{place} was not run; `{command}{on}` does."))
    }
}

fn no_seed_in_common() -> Missing {
    (Verdict::NotRun, "The points have no seed in common.".to_owned())
}

fn extreme(row: &[f64], f: fn(f64, f64) -> f64) -> f64 {
    row.iter().copied().reduce(f).unwrap_or(f64::NAN)
}

/// The median; NaN if a value of the row is NaN.
fn median(row: &[f64]) -> f64 {
    let (mut row, n) = (row.to_vec(), row.len());
    if row.is_empty() || row.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    row.sort_by(f64::total_cmp);
    (row[(n - 1) / 2] + row[n / 2]) / 2.0
}

/// Kendall's rank correlation of the values with their order.
fn trend(row: &[f64]) -> f64 {
    let rises = |a: f64, b: f64| f64::from(i8::from(b > a) - i8::from(b < a));
    let all =
        || row.iter().enumerate().flat_map(|(i, a)| row[i + 1..].iter().map(move |b| (*a, *b)));
    all().map(|(a, b)| rises(a, b)).sum::<f64>() / all().count() as f64
}

/// True if two values are equal, including two zeros: their ratio is 1 and their change 0.
fn alike(a: f64, b: f64) -> bool {
    a == b && a.is_finite()
}

/// True if the runs have no randomness: their records are equal except for the seed, and there are at least
/// [`MIN_RUNS`] of them. With fewer runs, a rare loss may not have occurred.
pub(crate) fn without_chance(records: &[&RunRecord]) -> bool {
    let Some((first, rest)) = records.split_first() else { return false };
    let same = |r: &&RunRecord| {
        (r.events, r.packet_hops) == (first.events, first.packet_hops)
            && RunRecord { seed: first.seed, ..(**r).clone() } == **first
    };
    records.len() >= MIN_RUNS && rest.iter().all(same)
}

impl Value {
    /// A value that no run gives.
    pub fn exact(value: f64) -> Value {
        Value::Exact { value, n: 0 }
    }

    /// Number of runs that give the value.
    pub(super) fn n(&self) -> u64 {
        match self {
            Value::Exact { n, .. } => *n,
            Value::Runs(runs) => runs.len() as u64,
            Value::Missing(_) => 0,
        }
    }

    /// The value with a seed. An exact value applies to every seed.
    fn at(&self, seed: u64) -> Option<f64> {
        match self {
            Value::Exact { value, .. } => Some(*value),
            Value::Runs(runs) => runs.get(&seed).copied(),
            Value::Missing(_) => None,
        }
    }

    /// The values, without their seeds.
    pub(super) fn values(&self) -> Vec<f64> {
        match self {
            Value::Exact { value, .. } => vec![*value],
            Value::Runs(runs) => runs.values().copied().collect(),
            Value::Missing(_) => Vec::new(),
        }
    }

    /// Combines two values run by run. Runs are matched by seed, and an exact value applies to every run.
    pub(super) fn combine(
        &self,
        other: &Value,
        f: impl Fn(f64, f64) -> f64,
    ) -> Result<Value, Missing> {
        use Value::{Exact, Missing, Runs};
        Ok(match (self, other) {
            (Missing(why), _) | (_, Missing(why)) => {
                return Err((Verdict::NotComparable, why.clone()));
            }
            (Exact { value: a, n }, Exact { value: b, n: m }) => {
                Exact { value: f(*a, *b), n: *n.max(m) }
            }
            (Runs(a), Exact { value: b, .. }) => {
                Runs(a.iter().map(|(seed, a)| (*seed, f(*a, *b))).collect())
            }
            (Exact { value: a, .. }, Runs(b)) => {
                Runs(b.iter().map(|(seed, b)| (*seed, f(*a, *b))).collect())
            }
            (Runs(a), Runs(b)) => {
                let matched = |(seed, a): (&u64, &f64)| Some((*seed, f(*a, *b.get(seed)?)));
                let both: BTreeMap<u64, f64> = a.iter().filter_map(matched).collect();
                if both.is_empty() {
                    return Err(no_seed_in_common());
                }
                Runs(both)
            }
        })
    }
}

#[cfg(test)]
mod tests;
