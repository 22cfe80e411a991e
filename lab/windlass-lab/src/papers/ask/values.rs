//! The values of a measure in the runs of a point, and functions that compute with them run by run.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr};
use minijinja::{Environment, Error, Value};

use super::summing::Summing;
use crate::papers::parts::cells;
use crate::report::model::ChartPoint;
use crate::stats::Summary;
use crate::template::{absent, is_missing, mistake};

/// A number in each run of a point, by seed. Its text is the summary with its interval.
#[derive(Clone, Debug)]
pub(crate) struct Values {
    pub(super) values: BTreeMap<u64, f64>,
    pub(super) summing: Summing,
}

impl Values {
    fn all(&self) -> Vec<f64> {
        self.values.values().copied().collect()
    }

    fn summary(&self) -> Option<Summary> {
        Summary::of(&self.all())
    }

    /// The summary as a cell of a table.
    pub(crate) fn cell(&self) -> String {
        match (self.summing, self.summary()) {
            (Summing::Median, Some(s)) => cells::median(&s),
            (_, s) => cells::mean(s),
        }
    }

    /// The summary as a point with its interval; `None` without runs.
    pub(crate) fn point(&self) -> Option<ChartPoint> {
        let s = self.summary()?;
        let (y, ci) = match self.summing {
            Summing::Median => (s.median, s.ci95_median),
            Summing::Mean => (s.mean, s.ci95_mean),
        };
        let (lo, hi) = (ci.map(|c| c[0]), ci.map(|c| c[1]));
        y.is_finite().then(|| ChartPoint { y, lo, hi, ..ChartPoint::default() })
    }

    fn paired(&self, other: &Values, f: impl Fn(f64, f64) -> f64) -> Values {
        let both = |(seed, a): (&u64, &f64)| Some((*seed, f(*a, *other.values.get(seed)?)));
        let mut values: BTreeMap<u64, f64> = self.values.iter().filter_map(both).collect();
        values.retain(|_, v| !v.is_nan());
        Values { values, summing: self.summing }
    }

    fn scaled(&self, f: impl Fn(f64) -> f64) -> Value {
        let values = self.values.iter().map(|(seed, v)| (*seed, f(*v))).collect();
        Value::from_object(Values { values, summing: self.summing })
    }
}

impl Object for Values {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let s = || self.summary();
        Some(match key.as_str()? {
            "n" => self.values.len().into(),
            "text" => cells::optional(s().map(|s| s.median)).into(),
            "signed" => signed(s()).into(),
            "all" => self.all().into(),
            "value" => match self.summing {
                Summing::Median => s()?.median.into(),
                Summing::Mean => s()?.mean.into(),
            },
            "mean" => s()?.mean.into(),
            "median" => s()?.median.into(),
            "min" => s()?.min.into(),
            "max" => s()?.max.into(),
            "sum" => self.all().iter().sum::<f64>().into(),
            _ => return None,
        })
    }

    fn is_true(self: &Arc<Self>) -> bool {
        !self.values.is_empty()
    }

    fn render(self: &Arc<Self>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cell())
    }
}

/// A change in % with its interval.
fn signed(summary: Option<Summary>) -> String {
    match summary {
        None => cells::NONE.to_owned(),
        Some(Summary { median, ci95_median: Some([low, high]), .. }) if low < high => {
            format!("{} [{}, {}]", cells::signed(median), cells::signed(low), cells::signed(high))
        }
        Some(s) => cells::signed(s.median),
    }
}

fn values(v: &Value) -> Result<&Values, Error> {
    if is_missing(v) {
        return Err(absent());
    }
    v.downcast_object_ref::<Values>()
        .ok_or_else(|| mistake(format!("`{v}` is not a measure of runs")))
}

/// The numbers of a measure's runs or of a list.
pub(super) fn numbers(v: &Value) -> Result<Vec<f64>, Error> {
    if let Some(values) = v.downcast_object_ref::<Values>() {
        return Ok(values.all());
    }
    v.try_iter()?.map(f64::try_from).collect()
}

fn pair(a: &Value, b: &Value, f: impl Fn(f64, f64) -> f64) -> Result<Value, Error> {
    Ok(Value::from_object(values(a)?.paired(values(b)?, f)))
}

/// The relative difference of the first number from the second, in %; zero if both are equal, also if both are
/// zero.
fn change(a: f64, b: f64) -> f64 {
    let change = if a == b { 0.0 } else { (a - b) / b * 100.0 };
    if change.is_finite() { change } else { f64::NAN }
}

fn over_all(all: Vec<Value>, f: impl Fn(&[f64]) -> f64) -> Result<Value, Error> {
    let all: Vec<&Values> = all.iter().map(values).collect::<Result<_, _>>()?;
    let first = all.first().ok_or_else(absent)?;
    let of = |seed: &u64| {
        let row: Option<Vec<f64>> = all.iter().map(|v| v.values.get(seed).copied()).collect();
        Some((*seed, f(&row?)))
    };
    let values = first.values.keys().filter_map(of).collect();
    Ok(Value::from_object(Values { values, summing: first.summing }))
}

/// Returns the value if it exists. Otherwise the text that reads it is left out.
fn some(v: Value) -> Result<Value, Error> {
    let there = if let Some(v) = v.downcast_object_ref::<Values>() {
        !v.values.is_empty()
    } else {
        !v.is_undefined() && !v.is_none() && !is_missing(&v)
    };
    if there { Ok(v) } else { Err(absent()) }
}

fn list_of(all: &[Value]) -> Result<Vec<f64>, Error> {
    all.iter().map(|v| f64::try_from(v.clone())).collect()
}

pub(super) fn add(env: &mut Environment<'static>) {
    env.add_filter("some", some);
    env.add_function("change", |a: &Value, b: &Value| pair(a, b, change));
    env.add_function("minus", |a: &Value, b: &Value| pair(a, b, |a, b| a - b));
    env.add_function("over", |a: &Value, b: &Value| pair(a, b, |a, b| a / b));
    env.add_function("log_ratio", |a: &Value, b: &Value| {
        pair(a, b, |a, b| if a > 0.0 && b > 0.0 { libm::log(a / b) } else { f64::NAN })
    });
    env.add_function("times", |a: &Value, k: f64| Ok::<_, Error>(values(a)?.scaled(|v| v * k)));
    env.add_function("mean_of", |all: Vec<Value>| {
        over_all(all, |row| row.iter().sum::<f64>() / row.len() as f64)
    });
    env.add_function("within", |v: &Value, low: f64, high: f64| {
        let all = values(v)?.all();
        Ok::<_, Error>(all.iter().filter(|v| (low..=high).contains(*v)).count())
    });
    env.add_filter("means", |all: Vec<Value>| {
        let all: Vec<&Values> = all.iter().map(values).collect::<Result<_, _>>()?;
        Ok::<_, Error>(all.iter().filter_map(|v| Some(v.summary()?.mean)).collect::<Vec<f64>>())
    });
    env.add_filter("average", |all: Vec<Value>| {
        let all = list_of(&all)?;
        if all.is_empty() { Err(absent()) } else { Ok(all.iter().sum::<f64>() / all.len() as f64) }
    });
}
