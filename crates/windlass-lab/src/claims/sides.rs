//! The two sides of a comparison: what a direction compares.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Claim, Direction, Evidence, Metric, Quantity, Statistic, Value};
use crate::run::RunRecord;
use crate::stats::Summary;

/// One side of a comparison with its measured value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// Coordinates or flow that distinguish it from the other side.
    pub name: String,
    /// Median or mean over the runs, as the claim's.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
}

/// The two quantities of runs that a direction compares, if any: a difference against zero and a ratio against one
/// compare their parts.
pub(super) fn sides<'a>(
    claim: &'a Claim,
    direction: Option<&'a Direction>,
) -> Option<[&'a Quantity; 2]> {
    let constant = |q: &Quantity| matches!(q, Quantity::Constant(_) | Quantity::Model(_));
    let sides = match (claim.measure.as_ref()?, direction.map(Direction::baseline)) {
        (
            Quantity::Difference(p) | Quantity::PercentChange(p),
            None | Some(Quantity::Constant(_)),
        ) => [&p[0], &p[1]],
        (Quantity::Ratio(p), None | Some(Quantity::Constant(_))) => [&p[0], &p[1]],
        (measure, Some(baseline)) => [measure, baseline],
        (_, None) => return None,
    };
    (!sides.iter().any(|q| constant(q))).then_some(sides)
}

/// The median or mean of a value over its runs; none without a run that has one.
fn median_or_mean(value: &Value, statistic: Statistic) -> Option<f64> {
    let known: Vec<f64> = value.values().into_iter().filter(|v| !v.is_nan()).collect();
    let summary = Summary::of(&known)?;
    Some(match statistic {
        Statistic::Median => summary.median,
        Statistic::Mean => summary.mean,
    })
}

/// Both sides with their values; none if the claim compares no two quantities of runs, or one has no value.
pub(super) fn told(claim: &Claim, evidence: &Evidence) -> Vec<Side> {
    let Some(sides) = sides(claim, claim.direction.as_ref()) else { return Vec::new() };
    let labels = sides.map(labels);
    let side = |i: usize| {
        let value = median_or_mean(&evidence.value(sides[i]).ok()?, claim.statistic)?;
        let own: Vec<&str> = labels[i].difference(&labels[1 - i]).map(String::as_str).collect();
        let unit = unit(sides[i]).unwrap_or_default();
        value.is_finite().then(|| Side { name: own.join(", "), value, unit })
    };
    let told: Vec<Side> = (0..2).filter_map(side).collect();
    if told.len() == 2 && told.iter().all(|s| !s.name.is_empty()) { told } else { Vec::new() }
}

/// Coordinates and flows that all that a side reads has in common.
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
            Quantity::Trace(name) => of.extend([name.clone()]),
            _ => return,
        }
        common = Some(match common.take() {
            None => of,
            Some(so_far) => so_far.intersection(&of).cloned().collect(),
        });
    });
    common.unwrap_or_default()
}

/// The unit of a side, where all that it reads has one and it is a mean, the largest or the least of these.
fn unit(side: &Quantity) -> Option<String> {
    match side {
        Quantity::Metric(at) => Some(match Metric::parse(&at.path).ok()?.field.unit() {
            "bps" => "bit/s".to_owned(),
            unit => unit.to_owned(),
        }),
        Quantity::Mean(all) | Quantity::Largest(all) | Quantity::Least(all) => unit(all.first()?),
        _ => None,
    }
}

/// True if two runs have the same packets; the names of their algorithms may differ.
fn same_packets(a: &RunRecord, b: &RunRecord) -> bool {
    let network = |r: &RunRecord| {
        (r.end_s.to_bits(), r.events, r.packet_hops, r.links.clone(), r.radios.clone(), r.messages)
    };
    let flows = |r: &RunRecord| -> Vec<_> {
        let of = |f: &windlass_sim::FlowResult| {
            (f.name.clone(), f.completion_s, f.delivered_bytes, f.goodput_bps, f.retransmits)
        };
        r.flows.iter().map(of).collect()
    };
    (a.events, a.packet_hops) == (b.events, b.packet_hops)
        && network(a) == network(b)
        && flows(a) == flows(b)
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
