//! The axes of points as columns of numbers, if their labels are quantities.
//!
//! The name of a point has its values on the axes: `loss=0.1%,delay=20ms`. A plot or a fit needs the numbers 0.001 and
//! 0.02 s.

use std::borrow::Cow;
use std::str::FromStr;

use windlass_scenario::units::{BitRate, Bytes, Distance, Duration, Packets};

use super::table::{Column, Values};

/// A way to parse a label: the ending of the column's name for the unit, the column's meaning, and the function that
/// parses the number.
type Reading = (&'static str, &'static str, fn(&str) -> Option<f64>);

/// Every way. The first way that parses all labels of an axis is used.
const READINGS: [Reading; 6] = [
    ("", "Value on the axis of this name; a fraction where the label has a %", number),
    ("_s", "Value on the axis of this name, seconds", |t| {
        Some(read::<Duration>(t)?.0.0 as f64 / 1e9)
    }),
    ("_bps", "Value on the axis of this name, bits per second", |t| {
        Some(read::<BitRate>(t)?.0 as f64)
    }),
    ("_bytes", "Value on the axis of this name, bytes", |t| Some(read::<Bytes>(t)?.0 as f64)),
    ("_packets", "Value on the axis of this name, packets", |t| Some(read::<Packets>(t)?.0 as f64)),
    ("_m", "Value on the axis of this name, metres", |t| {
        Some(read::<Distance>(t)?.mm as f64 / 1e3)
    }),
];

fn read<T: FromStr>(label: &str) -> Option<T> {
    label.parse().ok()
}

fn number(label: &str) -> Option<f64> {
    match label.strip_suffix('%') {
        Some(percent) => Some(percent.trim_end().parse::<f64>().ok()? / 100.0),
        None => label.parse().ok(),
    }
    .filter(|x| x.is_finite())
}

/// One column per axis of these points, one row per point. If all labels of an axis are quantities with the same
/// dimension, the column has numbers, and its name ends in the unit. Otherwise it has text. It is null at points
/// without the axis. A name that is `taken` gets the prefix `axis_`.
///
/// ```
/// use windlass_run::store::{Values, axes};
///
/// let columns = axes(&["loss=1%,queue=10pkt", "loss=0,queue=1bdp"], |name| name == "queue");
/// assert_eq!(columns[0].name, "loss");
/// assert_eq!(columns[0].values, Values::Real(vec![Some(0.01), Some(0.0)]));
/// assert_eq!(columns[1].name, "axis_queue");
/// assert_eq!(columns[1].values, Values::Text(vec![Some("10pkt".into()), Some("1bdp".into())]));
/// ```
pub fn axes(points: &[&str], taken: impl Fn(&str) -> bool) -> Vec<Column> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in points.iter().flat_map(|p| places(p)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.into_iter().map(|name| column(name, points, &taken)).collect()
}

/// The values of a point on its axes; nothing for `all`.
fn places(point: &str) -> impl Iterator<Item = (&str, &str)> {
    point.split(',').filter_map(|place| place.split_once('='))
}

fn column(axis: &str, points: &[&str], taken: &impl Fn(&str) -> bool) -> Column {
    let of =
        |point: &&'_ str| places(point).find(|(name, _)| *name == axis).map(|(_, l)| l.to_owned());
    let labels: Vec<Option<String>> = points.iter().map(of).collect();
    let numbers = |(ending, meaning, reading): &Reading| {
        let read = |label: &Option<String>| label.as_deref().map(reading);
        let all: Option<Vec<Option<f64>>> =
            labels.iter().map(|l| read(l).map_or(Some(None), |number| number.map(Some))).collect();
        Some((*ending, *meaning, Values::Real(all?)))
    };
    let (ending, meaning, values) = READINGS.iter().find_map(numbers).unwrap_or_else(|| {
        ("", "Label of the point on the axis of this name", Values::Text(labels.clone()))
    });
    let name = format!("{axis}{ending}");
    let name = if taken(&name) { format!("axis_{name}") } else { name };
    Column { name: Cow::Owned(name), meaning, values }
}
