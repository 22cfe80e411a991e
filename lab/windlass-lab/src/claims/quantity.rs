//! Quantities of claims.

use serde::Deserialize;

use super::Metric;

/// A quantity that is computed from the evidence.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// A metric in every run of a point.
    Metric(At),
    /// A closed form of the paper, by name.
    Model(String),
    /// A quantity read from a traced run, by name.
    Trace(String),
    /// A named measure of the claims' file. Reading the file replaces it by the measure.
    Measure(String),
    /// A number.
    Constant(f64),
    /// The first minus the second.
    Difference(#[serde(deserialize_with = "two")] Box<[Quantity; 2]>),
    /// The first divided by the second.
    Ratio(#[serde(deserialize_with = "two")] Box<[Quantity; 2]>),
    /// The difference of the first from the second, in % of the second.
    PercentChange(#[serde(deserialize_with = "two")] Box<[Quantity; 2]>),
    /// Absolute value.
    Abs(Box<Quantity>),
    /// Sum.
    Sum(Vec<Quantity>),
    /// Mean.
    Mean(Vec<Quantity>),
    /// Median.
    Median(Vec<Quantity>),
    /// Maximum.
    Largest(Vec<Quantity>),
    /// Minimum.
    Least(Vec<Quantity>),
    /// Kendall's rank correlation of the values with their order: 1 if each value exceeds all values before
    /// it, −1 if each is less.
    Trend(Vec<Quantity>),
}

fn two<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Box<[Quantity; 2]>, D::Error> {
    crate::template::two(from).map(Box::new)
}

/// A metric and the point whose runs it is read from.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct At {
    /// Path of the metric.
    pub path: String,
    /// `experiment/point`.
    pub at: String,
}

impl At {
    /// Experiment and point.
    pub fn place(&self) -> Option<(&str, &str)> {
        self.at.split_once('/')
    }
}

impl Quantity {
    /// Its word in `claims.toml`.
    pub(crate) fn key(&self) -> &'static str {
        match self {
            Quantity::Metric(_) => "metric",
            Quantity::Model(_) => "model",
            Quantity::Trace(_) => "trace",
            Quantity::Measure(_) => "measure",
            Quantity::Constant(_) => "constant",
            Quantity::Difference(_) => "difference",
            Quantity::Ratio(_) => "ratio",
            Quantity::PercentChange(_) => "percent_change",
            Quantity::Abs(_) => "abs",
            Quantity::Sum(_) => "sum",
            Quantity::Mean(_) => "mean",
            Quantity::Median(_) => "median",
            Quantity::Largest(_) => "largest",
            Quantity::Least(_) => "least",
            Quantity::Trend(_) => "trend",
        }
    }

    /// The operands of an operation on any number of quantities.
    pub(super) fn several(&self) -> Option<&[Quantity]> {
        match self {
            Quantity::Sum(all)
            | Quantity::Mean(all)
            | Quantity::Median(all)
            | Quantity::Largest(all)
            | Quantity::Least(all)
            | Quantity::Trend(all) => Some(all),
            _ => None,
        }
    }

    /// The two quantities of a difference or ratio.
    pub(crate) fn pair(&self) -> Option<&[Quantity; 2]> {
        match self {
            Quantity::Difference(pair) | Quantity::Ratio(pair) | Quantity::PercentChange(pair) => {
                Some(pair)
            }
            _ => None,
        }
    }

    /// The quantities directly inside it.
    pub(super) fn parts(&self) -> &[Quantity] {
        match self {
            Quantity::Abs(one) => std::slice::from_ref(one),
            other => other.pair().map(|p| &p[..]).or(other.several()).unwrap_or_default(),
        }
    }

    pub(super) fn parts_mut(&mut self) -> &mut [Quantity] {
        match self {
            Quantity::Abs(one) => std::slice::from_mut(one),
            Quantity::Difference(pair) | Quantity::Ratio(pair) | Quantity::PercentChange(pair) => {
                &mut pair[..]
            }
            Quantity::Sum(all)
            | Quantity::Mean(all)
            | Quantity::Median(all)
            | Quantity::Largest(all)
            | Quantity::Least(all)
            | Quantity::Trend(all) => all,
            _ => &mut [],
        }
    }

    /// The path of a part, below the path of this quantity.
    pub(super) fn path_of(&self, path: &str, part: usize) -> String {
        match self {
            Quantity::Abs(_) => format!("{path}.abs"),
            _ => format!("{path}.{}.{part}", self.key()),
        }
    }

    /// Calls `visit` with this quantity and every one inside it.
    pub fn walk<'a>(&'a self, visit: &mut dyn FnMut(&'a Quantity)) {
        self.walk_at("", &mut |_, quantity| visit(quantity));
    }

    /// Calls `visit` with this quantity and every one inside it, and their paths.
    pub(crate) fn walk_at<'a>(&'a self, path: &str, visit: &mut dyn FnMut(&str, &'a Quantity)) {
        visit(path, self);
        for (i, part) in self.parts().iter().enumerate() {
            part.walk_at(&self.path_of(path, i), visit);
        }
    }

    /// Unit of its metrics. Empty for a count or fraction.
    ///
    /// # Errors
    ///
    /// The path of a quantity whose parts have different units, and two of these units.
    pub(super) fn unit(&self, path: &str) -> Result<Option<&'static str>, (String, [String; 2])> {
        let mut units = Vec::new();
        for (i, part) in self.parts().iter().enumerate() {
            units.extend(part.unit(&self.path_of(path, i))?);
        }
        let other = units.iter().find(|unit| **unit != units[0]);
        Ok(match self {
            Quantity::Metric(at) => Metric::parse(&at.path).ok().map(|m| m.unit()),
            Quantity::Ratio(_) => (units.len() == 2 && other.is_none()).then_some(""),
            _ => match other {
                Some(other) => {
                    let shown = [units[0], other].map(|u| if u.is_empty() { "1" } else { u });
                    return Err((path.to_owned(), shown.map(str::to_owned)));
                }
                None if matches!(self, Quantity::PercentChange(_) | Quantity::Trend(_)) => Some(""),
                None => units.first().copied(),
            },
        })
    }
}

#[cfg(test)]
mod tests;
