//! The two sides of a comparison.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use windlass_sim::FlowResult;

use super::{Claim, Direction, Evidence, Metric, Quantity, Statistic, Value};
use crate::run::RunRecord;
use crate::stats::Summary;

/// One side of a comparison with its measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Coordinates or flow that distinguish it from the other side.
    pub name: String,
    /// Median or mean over the runs, by the claim's statistic.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
}

/// Names and unit of the two sides of a comparison, where those of the measures do not suffice. They do not affect a verdict.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SideWords {
    /// A name for each side.
    #[serde(default, deserialize_with = "two_names")]
    pub names: Option<[String; 2]>,
    /// Unit of both sides.
    pub unit: Option<String>,
}

fn two_names<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<[String; 2]>, D::Error> {
    crate::template::two(from).map(Some)
}

/// The two quantities of runs that a claim compares, if any: its measure and the baseline of its direction, or the parts of
/// a difference or ratio if the baseline is a number.
pub(super) fn sides(claim: &Claim) -> Option<[&Quantity; 2]> {
    let constant = |q: &Quantity| matches!(q, Quantity::Constant(_) | Quantity::Model(_));
    let measure = claim.measure.as_ref()?;
    let sides = match claim.direction.as_ref().map(Direction::baseline) {
        Some(baseline) if !constant(baseline) => [measure, baseline],
        _ => measure.pair().map(|[a, b]| [a, b])?,
    };
    (!sides.iter().any(|q| constant(q))).then_some(sides)
}

/// The two sides of [`sides`] if equal sides contradict the claim: one side must be more or less than the other.
pub(super) fn rivals(claim: &Claim) -> Option<[&Quantity; 2]> {
    let neutral = match (claim.measure.as_ref()?, claim.direction.as_ref()?.baseline()) {
        (Quantity::Ratio(_), Quantity::Constant(value)) => *value == 1.0,
        (_, Quantity::Constant(value)) => *value == 0.0,
        (_, Quantity::Model(_)) => false,
        _ => true,
    };
    sides(claim).filter(|_| neutral)
}

/// The median or mean of a value over its runs. `None` if no run has a value.
fn median_or_mean(value: &Value, statistic: Statistic) -> Option<f64> {
    let known: Vec<f64> = value.values().into_iter().filter(|v| !v.is_nan()).collect();
    let summary = Summary::of(&known)?;
    Some(match statistic {
        Statistic::Median => summary.median,
        Statistic::Mean => summary.mean,
    })
}

/// Both sides with their values over the runs that both have. Empty if the claim does not compare two quantities of runs, or a side has no value.
pub(super) fn told(claim: &Claim, evidence: &Evidence) -> Vec<Side> {
    let Some(sides) = sides(claim) else { return Vec::new() };
    let labels = sides.map(labels);
    let [Ok(a), Ok(b)] = sides.map(|side| evidence.value(side)) else { return Vec::new() };
    // Only runs that have a partner on the other side, as in the comparison.
    let paired = [a.combine(&b, |a, _| a), a.combine(&b, |_, b| b)];
    let words = claim.sides.as_ref();
    let side = |i: usize| {
        let value = median_or_mean(paired[i].as_ref().ok()?, claim.statistic)?;
        let own: Vec<&str> = labels[i].difference(&labels[1 - i]).map(String::as_str).collect();
        let given = words.and_then(|words| words.names.as_ref()).map(|names| names[i].clone());
        let name = given.unwrap_or_else(|| own.join(", "));
        let unit = words.and_then(|words| words.unit.as_deref());
        let unit = unit.or(sides[i].unit("").ok().flatten()).or_else(|| same_unit(claim));
        value.is_finite().then(|| Side { name, value, unit: unit.unwrap_or_default().to_owned() })
    };
    let told: Vec<Side> = (0..2).filter_map(side).collect();
    if told.len() == 2 && told.iter().all(|s| !s.name.is_empty()) { told } else { Vec::new() }
}

/// The claim's unit if its sides have the same: a difference has the unit of its parts, a quotient does not.
fn same_unit(claim: &Claim) -> Option<&str> {
    let quotient = matches!(claim.measure, Some(Quantity::Ratio(_) | Quantity::PercentChange(_)));
    (!quotient).then_some(claim.unit.as_str())
}

/// Coordinates and flows that are common to all quantities of a side.
fn labels(side: &Quantity) -> BTreeSet<String> {
    let mut common: Option<BTreeSet<String>> = None;
    side.walk(&mut |q| {
        let mut of: BTreeSet<String> = BTreeSet::new();
        match q {
            Quantity::Metric(at) => {
                let point = at.place().map_or("", |(_, point)| point);
                of.extend(point.split(',').map(str::to_owned));
                of.extend(
                    Metric::parse(&at.path).ok().filter(|m| !m.name.is_empty()).map(|m| m.name),
                );
            }
            Quantity::Trace(name) => of.extend(parts(name)),
            _ => return,
        }
        common = Some(match common.take() {
            None => of,
            Some(so_far) => so_far.intersection(&of).cloned().collect(),
        });
    });
    common.unwrap_or_default()
}

/// The parts of a measure's name, such as `cwnd_max.p = 0.1%`. A point between digits belongs to a number.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (i, letter) in letters.iter().enumerate() {
        let digit = |i: usize| letters.get(i).is_some_and(char::is_ascii_digit);
        match letter {
            '.' if !(i > 0 && digit(i - 1) && digit(i + 1)) => parts.push(String::new()),
            _ => parts.last_mut().expect("a part").push(*letter),
        }
    }
    parts
}

/// True if two runs have the same packets; the names of their algorithms may differ.
fn same_packets(a: &RunRecord, b: &RunRecord) -> bool {
    let flow = |f: &FlowResult| (f.completion_s, f.delivered_bytes, f.goodput_bps, f.retransmits);
    (a.events, a.packet_hops, a.end_s, &a.messages)
        == (b.events, b.packet_hops, b.end_s, &b.messages)
        && (&a.links, &a.radios) == (&b.links, &b.radios)
        && a.flows.iter().map(|f| &f.name).eq(b.flows.iter().map(|f| &f.name))
        && a.flows.iter().map(flow).eq(b.flows.iter().map(flow))
}

/// The number of compared pairs of runs, if both sides read the same number of points and each pair has identical
/// packets.
pub(super) fn identical_runs([a, b]: [&Quantity; 2], records: &[RunRecord]) -> Option<u64> {
    let places = |side: &Quantity| {
        let mut all = Vec::new();
        side.walk(&mut |q| {
            if let Quantity::Metric(at) = q {
                all.push((at.at.clone(), at.path.clone()));
            }
        });
        all
    };
    let [a, b] = [places(a), places(b)];
    let runs = |place: &str| -> Vec<&RunRecord> {
        let here = |r: &&RunRecord| {
            Some((r.experiment.as_str(), r.point.as_str())) == place.split_once('/')
        };
        records.iter().filter(here).collect()
    };
    let mut compared = 0;
    for ((a, of_a), (b, of_b)) in a.iter().zip(&b) {
        if a == b || of_a != of_b {
            return None;
        }
        for one in runs(a) {
            let other = runs(b).into_iter().find(|r| r.seed == one.seed)?;
            if !same_packets(one, other) {
                return None;
            }
            compared += 1;
        }
    }
    (a.len() == b.len() && compared > 0).then_some(compared)
}

#[cfg(test)]
mod tests;
