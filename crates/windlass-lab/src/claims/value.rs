//! Quantities, evaluated on the evidence.

use super::{LeastEffect, Metric, Quantity, Verdict};
use crate::experiment::Plan;
use crate::run::{RunRecord, World};
use std::collections::BTreeMap;
use windlass_stats::decision::MIN_RUNS;

/// What the verdicts rest on.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// Runs of the paper's experiments.
    pub records: &'a [RunRecord],
    /// The paper's closed forms by name.
    pub models: &'a BTreeMap<String, f64>,
    /// Quantities read from traced runs by name.
    pub traces: &'a BTreeMap<String, Value>,
    /// The least effect that matters in the paper.
    pub least: &'a LeastEffect,
    /// What would have been run, and the command that does; without it a point without runs is unknown.
    pub planned: Option<(&'a Plan, &'a str)>,
}

/// A quantity, evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing is random: arithmetic, or `n` runs that are equal in everything.
    Exact {
        /// The value.
        value: f64,
        /// Runs behind it; 0 for arithmetic.
        n: u64,
    },
    /// One value a seed. Not a number where it cannot be told.
    Runs(BTreeMap<u64, f64>),
}

/// Why there is no value.
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
                value.ok_or_else(|| unknown(format!("There is no closed form `{name}`.")))
            }
            Quantity::Trace(name) => {
                let value = self.traces.get(name).cloned();
                value.ok_or_else(|| unknown(format!("No traced run yields `{name}`.")))
            }
            Quantity::Metric(at) => {
                let (experiment, point) = at.place().unwrap_or((&at.at, ""));
                self.runs(&Metric::parse(&at.path).map_err(unknown)?, experiment, point)
            }
            Quantity::Difference(p) => pair(p, |a, b| a - b),
            Quantity::Ratio(p) => pair(p, |a, b| if alike(a, b) { 1.0 } else { a / b }),
            Quantity::PercentChange(p) => {
                pair(p, |a, b| if alike(a, b) { 0.0 } else { (a - b) / b * 100.0 })
            }
            Quantity::Mean(all) => {
                let sum = self.fold(all, |a, b| a + b)?;
                sum.combine(&Value::exact(all.len() as f64), |sum, n| sum / n)
            }
            Quantity::Largest(all) => self.fold(all, f64::max),
            Quantity::Least(all) => self.fold(all, f64::min),
            Quantity::Trend(all) => self.trend(all),
        }
    }

    /// Kendall's rank correlation with the order, run by run.
    fn trend(&self, all: &[Quantity]) -> Result<Value, Missing> {
        let values: Vec<Value> = all.iter().map(|q| self.value(q)).collect::<Result<_, _>>()?;
        let (mut sum, mut pairs) = (Value::exact(0.0), 0.0);
        for (i, before) in values.iter().enumerate() {
            for after in &values[i + 1..] {
                let rises = |a: f64, b: f64| f64::from(i8::from(b > a) - i8::from(b < a));
                sum = sum.combine(&before.combine(after, rises)?, |sum, rise| sum + rise)?;
                pairs += 1.0;
            }
        }
        sum.combine(&Value::exact(pairs), |sum, pairs| sum / pairs)
    }

    /// One value of several, run by run.
    fn fold(&self, all: &[Quantity], f: fn(f64, f64) -> f64) -> Result<Value, Missing> {
        let nothing = || (Verdict::NotComparable, "There is nothing to take this of.".to_owned());
        let (first, rest) = all.split_first().ok_or_else(nothing)?;
        rest.iter().try_fold(self.value(first)?, |so_far, q| so_far.combine(&self.value(q)?, f))
    }

    /// A metric in every run of a point. A run without a value has the worst, where more or less is better.
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
            let note = format!("There is no run of {experiment}/{point}.");
            return (Verdict::NotComparable, note);
        };
        let found = plan.experiment(experiment);
        let at = found.and_then(|e| e.points().into_iter().find(|p| p.id == point));
        let world = found.zip(at).map(|(e, p)| e.world(&p)).filter(|w| *w != World::Sim);
        let on = world.map(|w| format!(" --on {w}")).unwrap_or_default();
        let note = format!("{experiment}/{point} was not run; `{command}{on}` does.");
        (Verdict::NotRun, note)
    }
}

/// Neither is more, zeros included: the ratio is one, the change none.
fn alike(a: f64, b: f64) -> bool {
    a == b && a.is_finite()
}

/// Whether runs are equal in all that is recorded of them but the seed, and so many that chance would have shown: with
/// fewer, a rare loss may just not have come.
pub(crate) fn without_chance(records: &[&RunRecord]) -> bool {
    let Some((first, rest)) = records.split_first() else { return false };
    let same = |r: &&RunRecord| {
        (r.events, r.packet_hops) == (first.events, first.packet_hops)
            && RunRecord { seed: first.seed, ..(**r).clone() } == **first
    };
    records.len() >= MIN_RUNS && rest.iter().all(same)
}

impl Value {
    /// A number that no run is behind.
    pub fn exact(value: f64) -> Value {
        Value::Exact { value, n: 0 }
    }

    /// How many runs are behind it.
    pub(super) fn n(&self) -> u64 {
        match self {
            Value::Exact { n, .. } => *n,
            Value::Runs(runs) => runs.len() as u64,
        }
    }

    /// Its values, without their seeds.
    pub(super) fn values(&self) -> Vec<f64> {
        match self {
            Value::Exact { value, .. } => vec![*value],
            Value::Runs(runs) => runs.values().copied().collect(),
        }
    }

    /// Run by run; runs are matched by seed, a single value goes with every run.
    pub(super) fn combine(
        &self,
        other: &Value,
        f: impl Fn(f64, f64) -> f64,
    ) -> Result<Value, Missing> {
        use Value::{Exact, Runs};
        Ok(match (self, other) {
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
                    let note = "The two points have no seed in common.".to_owned();
                    return Err((Verdict::NotRun, note));
                }
                Runs(both)
            }
        })
    }
}
