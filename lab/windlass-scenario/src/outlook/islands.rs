//! Warnings for flows whose packets no chain of stations can carry. If stations find their routes
//! themselves, this is a possible result of a run and not an error.

use std::collections::BTreeMap;

use windlass_cc::Time;
use windlass_sim::config::Config;
use windlass_sim::radio::Hops;

use crate::Scenario;

/// A warning for each flow that cannot deliver a packet, with the place of the flow.
pub(super) fn sentences(scenario: &Scenario, config: &Config) -> Vec<(usize, String)> {
    if !config.radios.iter().any(|radio| matches!(radio.hops, Hops::Aodv(_))) {
        return Vec::new();
    }
    let mut moments: BTreeMap<usize, Islands> = BTreeMap::new();
    let whole = Islands::of(config, Time::ZERO, false);
    let mut found = Vec::new();
    for (place, (spec, flow)) in scenario.flows.iter().zip(&config.flows).enumerate() {
        // The number of stations that are switched off before the flow starts identifies the state.
        let off = config.radios.iter().flat_map(|radio| &radio.off);
        let changes = off.filter(|(_, at)| *at <= flow.start).count();
        let islands =
            moments.entry(changes).or_insert_with(|| Islands::of(config, flow.start, true));
        let senders = if spec.draw.is_empty() { vec![flow.from] } else { spec.draw.clone() };
        let cut_off: Vec<usize> =
            senders.iter().copied().filter(|from| !islands.join(*from, flow.to)).collect();
        if cut_off.is_empty() {
            continue;
        }
        let by_distance = cut_off.iter().any(|from| !whole.join(*from, flow.to));
        found.push((place, sentence([cut_off.len(), senders.len()], by_distance)));
    }
    found
}

/// The warning for a flow from which `cut_off` of the `senders` possible senders cannot reach the
/// receiver.
fn sentence([cut_off, senders]: [usize; 2], by_distance: bool) -> String {
    let when = match senders {
        n if n == cut_off => String::new(),
        n => format!(" from {cut_off} of the {n} nodes that it may draw"),
    };
    let why = if by_distance {
        "no chain of stations in range of each other leads from its sender to its receiver; increase \
         their range, or move them nearer"
    } else {
        "stations that are `off` when it starts separate its sender from its receiver"
    };
    format!("nothing can arrive{when}: {why}")
}

/// Sets of nodes that can reach each other. Each node has the representative of its set.
struct Islands(Vec<usize>);

impl Islands {
    /// The sets at this time. If `counting_off`, stations that are off by then do not count.
    fn of(config: &Config, now: Time, counting_off: bool) -> Islands {
        let mut islands = Islands((0..config.nodes.len()).collect());
        for link in &config.links {
            islands.unite(link.ends);
        }
        for radio in &config.radios {
            let pairs = match radio.hops {
                Hops::Aodv(_) => radio.in_range(),
                _ => radio.pairs(),
            };
            let off = |s: &usize| radio.off.iter().any(|(station, at)| station == s && *at <= now);
            for pair in pairs {
                if !(counting_off && pair.iter().any(off)) {
                    islands.unite(pair.map(|s| radio.stations[s].node));
                }
            }
        }
        islands
    }

    fn unite(&mut self, [a, b]: [usize; 2]) {
        let (a, b) = (self.head(a), self.head(b));
        self.0[a.max(b)] = a.min(b);
    }

    fn head(&self, mut node: usize) -> usize {
        while self.0[node] != node {
            node = self.0[node];
        }
        node
    }

    fn join(&self, a: usize, b: usize) -> bool {
        self.head(a) == self.head(b)
    }
}
