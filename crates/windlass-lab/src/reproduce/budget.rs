//! What is run where not everything can be: a budget, spent where it decides most.
//!
//! A run's cost is foretold from its scenario, in packet-hops, and not measured, so that the same budget makes the same
//! runs on every machine. First come the claims, the cheapest first, each with so many runs as may decide it; then the
//! points that no claim reads, with few runs; then more of both.

use std::collections::BTreeMap;

use crate::claims::{Claim, Quantity};
use crate::outlook;
use crate::scenario::{Scenario, Traffic};

/// After how many runs it is looked whether a claim is decided.
pub(super) const LOOKS: [u64; 6] = [6, 12, 20, 40, 80, u64::MAX];
/// Runs with which a claim begins: fewer decide no median beside a hundred others.
const FIRST: u64 = 12;
/// Packet-hops that two processors are taken to simulate in a second.
const SPEED: f64 = 2e6;
/// Acknowledgements and retransmissions for each data packet, about.
const ANSWERS: f64 = 0.6;
/// What a packet-hop over the air costs beside one over a link, and for each station that hears it.
const AIR: [f64; 2] = [4.0, 0.2];

/// A point and its runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    /// `experiment/point`.
    pub place: String,
    /// Cost of a run.
    pub cost: f64,
    /// Runs that a whole reproduction makes.
    pub all: u64,
    /// Runs that are enough where no claim reads the point.
    pub few: u64,
    /// Runs that are made.
    pub granted: u64,
}

/// Which sites a claim reads. A traced run is read with its point; which one is not known before it is there, so that
/// each of `traced` may be meant.
pub(super) fn read_by<'a>(claim: &'a Claim, traced: &'a [String]) -> Vec<&'a str> {
    let mut places: Vec<&str> = Vec::new();
    for quantity in claim.quantities() {
        match quantity {
            Quantity::Metric(at) => places.push(&at.at),
            Quantity::Trace(_) => places.extend(traced.iter().map(String::as_str)),
            _ => {}
        }
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// Grants runs for so many seconds of two processors.
pub(super) fn spend(sites: &mut [Site], claims: &[Claim], traced: &[String], seconds: f64) {
    let mut purse = Purse { sites, left: seconds * SPEED };
    let at: BTreeMap<String, usize> =
        purse.sites.iter().enumerate().map(|(i, s)| (s.place.clone(), i)).collect();
    let known = |place: &&str| at.get(*place).copied();
    let mut read: Vec<Vec<usize>> =
        claims.iter().map(|c| read_by(c, traced).iter().filter_map(known).collect()).collect();
    read.retain(|places: &Vec<usize>| !places.is_empty());
    let cost = |places: &[usize]| places.iter().map(|i| purse.sites[*i].cost).sum::<f64>();
    read.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let mut others: Vec<usize> =
        (0..purse.sites.len()).filter(|i| !read.iter().any(|places| places.contains(i))).collect();
    others.sort_by(|a, b| purse.sites[*a].cost.total_cmp(&purse.sites[*b].cost));

    read.iter().for_each(|places| purse.grant(places, |_| FIRST));
    others.iter().for_each(|i| purse.grant(&[*i], |site| site.few));
    for look in LOOKS.into_iter().filter(|look| *look > FIRST) {
        read.iter().for_each(|places| purse.grant(places, |_| look));
    }
    others.iter().for_each(|i| purse.grant(&[*i], |site| site.all));
}

struct Purse<'a> {
    sites: &'a mut [Site],
    left: f64,
}

impl Purse<'_> {
    /// As many runs as are `wanted` of each of these sites, if they can all be paid.
    fn grant(&mut self, places: &[usize], wanted: impl Fn(&Site) -> u64) {
        let goal = |site: &Site| wanted(site).min(site.all).max(site.granted);
        let price = |site: &Site| (goal(site) - site.granted) as f64 * site.cost;
        let sum: f64 = places.iter().map(|i| price(&self.sites[*i])).sum();
        if sum > self.left {
            return;
        }
        self.left -= sum;
        for i in places {
            self.sites[*i].granted = goal(&self.sites[*i]);
        }
    }
}

/// About what a run costs, in packet-hops over links: what the flows offer, as far as their bottlenecks and windows
/// let it through.
pub(super) fn cost(scenario: &Scenario) -> f64 {
    let Ok(paths) = outlook::paths(scenario) else { return f64::INFINITY };
    let mut sharing: BTreeMap<&str, f64> = BTreeMap::new();
    for path in &paths {
        *sharing.entry(&path.bottleneck).or_default() += 1.0;
    }
    let seconds = scenario.duration.0 as f64 / 1e9;
    let stations: usize = scenario.wifi.iter().map(|w| w.radio.stations.len()).sum();
    let mut sum = 0.0;
    for path in &paths {
        let name = path.flow.split(':').next().unwrap_or_default();
        let flow = scenario.flows.iter().find(|f| f.name == name);
        let window = path.window_bytes.map_or(f64::INFINITY, |w| w as f64 * 8e9);
        let by_window = window / (path.base_rtt.0 as f64).max(1.0);
        let rate = (path.rate_bps as f64 / sharing[path.bottleneck.as_str()]).min(by_window);
        let offered = flow.map_or(f64::INFINITY, |f| offered_bits(&f.traffic, seconds));
        let packets = (rate * seconds).min(offered) / (8.0 * f64::from(path.packet_bytes.max(1)));
        let hops = path.nodes.len().saturating_sub(1) as f64;
        let weight = if path.shared { AIR[0] + AIR[1] * stations as f64 } else { 1.0 };
        sum += packets * hops * weight * (1.0 + ANSWERS);
    }
    sum.max(1.0)
}

/// Most that the application has to send.
fn offered_bits(traffic: &Traffic, seconds: f64) -> f64 {
    match traffic {
        Traffic::Bulk { bytes } => bytes.map_or(f64::INFINITY, |bytes| bytes as f64 * 8.0),
        Traffic::RequestResponse { request, response, requests, .. } => {
            (request + response) as f64 * 8.0 * f64::from(*requests)
        }
        Traffic::Cbr { rate_bps, .. } => *rate_bps as f64 * seconds,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::parse;

    fn site(place: &str, cost: f64) -> Site {
        Site { place: place.to_owned(), cost: cost * SPEED, all: 40, few: 2, granted: 0 }
    }

    fn claim(id: &str, a: &str, b: &str) -> String {
        let metric = |at: &str| format!("{{ metric = {{ path = 'run.events', at = '{at}' }} }}");
        format!(
            "[[claim]]\nid='{id}'\nsource='s'\nquantity='q'\nunit='1'\nmeasure = {}\n\
             direction = {{ less_than = {} }}\n",
            metric(a),
            metric(b)
        )
    }

    fn granted(seconds: f64) -> [u64; 4] {
        let text = claim("cheap", "e/a", "e/b") + &claim("dear", "e/b", "e/c");
        let claims = parse(&text, "claims.toml").unwrap_or_else(|e| panic!("{e}"));
        let mut sites =
            [site("e/a", 0.01), site("e/b", 0.01), site("e/c", 1.0), site("e/unread", 0.02)];
        spend(&mut sites, &claims, &[], seconds);
        sites.map(|s| s.granted)
    }

    #[test]
    fn a_budget_goes_to_whole_claims_the_cheapest_first_and_then_to_what_none_reads() {
        assert_eq!(granted(0.1), [0, 0, 0, 2]);
        // Twelve runs of two points are 0.24 s; more of them come after a few of the fourth point.
        assert_eq!(granted(0.25), [12, 12, 0, 0]);
        assert_eq!(granted(0.3), [12, 12, 0, 2]);
        assert_eq!(granted(13.0), [40, 40, 12, 2]);
        assert_eq!(granted(100.0), [40; 4]);
    }
}
