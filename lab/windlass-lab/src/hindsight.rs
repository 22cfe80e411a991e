//! Warnings about finished runs that probably are not as intended: flows that delivered nothing, and
//! stations at the ends of flows that went off.

use std::collections::BTreeMap;

use crate::run::RunRecord;
use crate::scenario::Scenario;

/// Maximum number of names in a sentence.
const MOST: usize = 10;

/// The warnings about a scenario's runs, one sentence each.
pub fn warnings(scenario: &Scenario, records: &[RunRecord]) -> Vec<String> {
    let mut warnings = silent(scenario, records);
    if !warnings.is_empty() {
        warnings.extend(searches(records));
    }
    warnings.extend(gone(scenario, records));
    warnings
}

/// Flows that delivered nothing. One sentence has the flows with the same number of such runs.
fn silent(scenario: &Scenario, records: &[RunRecord]) -> Vec<String> {
    let mut by_runs: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (i, spec) in scenario.flows.iter().enumerate() {
        let nothing = |r: &&RunRecord| r.flows.get(i).is_some_and(|f| f.delivered_bytes == 0);
        match records.iter().filter(nothing).count() {
            0 => {}
            runs => by_runs.entry(runs).or_default().push(&spec.name),
        }
    }
    let sentence = |(runs, flows): (usize, Vec<&str>)| {
        let who = match flows.len() {
            1 => format!("flow {}", flows[0]),
            n => format!("{n} flows ({})", listed(&flows)),
        };
        match records.len() {
            1 => format!("{who} delivered nothing"),
            n => format!("{who} delivered nothing in {runs} of {n} runs"),
        }
    };
    by_runs.into_iter().rev().map(sentence).collect()
}

/// The first names, and the number of the other names.
fn listed(names: &[&str]) -> String {
    match names.len() {
        n if n > MOST => format!("{} and {} more", names[..MOST].join(", "), n - MOST),
        _ => names.join(", "),
    }
}

/// Numbers of route discoveries and of their successes, for each cell with a failed discovery.
fn searches(records: &[RunRecord]) -> Vec<String> {
    let mut cells: BTreeMap<&str, [u64; 2]> = BTreeMap::new();
    for cell in records.iter().flat_map(|r| &r.radios) {
        let Some(routing) = &cell.routing else { continue };
        let [begun, found] = cells.entry(&cell.name).or_default();
        *begun += routing.discoveries;
        *found += routing.discoveries_succeeded;
    }
    let sentence = |(cell, [begun, found]): (&str, [u64; 2])| {
        (found < begun)
            .then(|| format!("cell {cell}: {found} of {begun} searches for a route succeeded"))
    };
    cells.into_iter().filter_map(sentence).collect()
}

/// Nodes at the ends of flows whose station went off.
fn gone(scenario: &Scenario, records: &[RunRecord]) -> Option<String> {
    let is_end = |name: &str| {
        let node = scenario.nodes.iter().position(|node| node == name);
        scenario.flows.iter().any(|f| {
            let ends = f.draw.iter().chain([&f.from, &f.to]);
            node.is_some_and(|node| ends.into_iter().any(|end| *end == node))
        })
    };
    let stations = records.iter().flat_map(|r| &r.radios).flat_map(|cell| &cell.stations);
    let mut first: BTreeMap<&str, f64> = BTreeMap::new();
    for station in stations {
        let Some(at) = station.died_s.filter(|_| is_end(&station.name)) else { continue };
        let earliest = first.entry(&station.name).or_insert(at);
        *earliest = earliest.min(at);
    }
    let (name, at) = first.iter().min_by(|a, b| a.1.total_cmp(b.1))?;
    let who = match first.len() {
        1 => format!("station {name}, at which flows begin or end, went off at {at:.3} s"),
        n => format!(
            "{n} stations at which flows begin or end went off, the first, {name}, at {at:.3} s"
        ),
    };
    Some(format!("{who}; goodputs include the time after that"))
}
