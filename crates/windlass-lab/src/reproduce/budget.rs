//! What is run where not everything can be: a budget, spent where it decides most.
//!
//! A run's cost is foretold from its scenario, in packet-hops, and not measured, so that the same budget makes the same
//! runs on every machine. First come the claims that test the abstract, then the others, the cheapest first, each with as
//! many runs as may decide it; then the points that no claim reads, with few runs; then more of both.

use std::collections::{BTreeMap, BTreeSet};

use crate::claims::{Claim, Quantity};
use crate::experiment::{Experiment, Plan, Point};
use crate::outlook;
use crate::papers::Paper;
use crate::run::World;
use crate::scenario::{LossModel, Scenario, Traffic};
use crate::stats::decision::MIN_RUNS;

/// After how many runs it is looked whether a claim is decided.
pub(super) const LOOKS: [u64; 6] = [6, 12, 20, 40, 80, u64::MAX];
/// Runs with which a claim begins in the simulator, since fewer decide no median beside a hundred others; and the most of a
/// point that no claim reads, in any world.
pub(super) const FIRST: u64 = 12;
/// And in other worlds, whose runs are dear: what hardly differs is decided by so many.
const FIRST_ELSEWHERE: u64 = 3;
/// Packet-hops that two processors are taken to simulate in a second: those of the papers on wires, of 2026, do 7 to 12
/// million each.
const SPEED: f64 = 15e6;
/// Acknowledgements and retransmissions for each data packet, about.
const ANSWERS: f64 = 0.6;
/// Seconds of one processor that a kernel in virtual time takes to boot and to idle through a run, and packet-hops that it makes of
/// one after that: of Linux 6.12 under QEMU 7.2, 8 s, 34 s and 126 s at 1, 10 and 50 Mbit/s for 40 s.
const GUEST: [f64; 2] = [5.0, 4000.0];
/// Packet-hops of the simulator in the time of one of ns-3's, the package of PyPI: 112 to 396 over wires.
const NS3: f64 = 200.0;
/// What a packet-hop costs where there is Wi-Fi, beside one where there is none, and for each station, which hears it: so
/// that cells of four stations and a mesh of a hundred take about as long a unit as wires.
const AIR: [f64; 2] = [4.0, 1.5];

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
    /// Runs with which a claim begins.
    pub first: u64,
    /// Runs that are made.
    pub granted: u64,
}

/// The sites that a claim reads. A traced run is read with its point; `sources` are the traces that quantities are read
/// from.
pub(crate) fn read_by(
    claim: &Claim,
    plan: &Plan,
    sources: &BTreeMap<String, Vec<usize>>,
) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    for quantity in claim.quantities() {
        match quantity {
            Quantity::Metric(at) => _ = places.insert(at.at.clone()),
            Quantity::Trace(name) => {
                let traces = sources.get(name).into_iter().flatten();
                places.extend(traces.map(|at| plan.traces[*at].place()));
            }
            _ => {}
        }
    }
    places
}

/// The places that a claim reads, and their rank in a budget: claims that test the abstract are first.
pub(super) struct Reads {
    /// False for a claim that tests the abstract.
    pub later: bool,
    /// `experiment/point`.
    pub places: BTreeSet<String>,
}

/// Grants runs for so many seconds of two processors, and returns the seconds that they take.
pub(super) fn spend(sites: &mut [Site], read: &[Reads], seconds: f64) -> f64 {
    let mut purse = Purse { sites, left: seconds * SPEED };
    let at: BTreeMap<String, usize> =
        purse.sites.iter().enumerate().map(|(i, s)| (s.place.clone(), i)).collect();
    let known = |place: &String| at.get(place).copied();
    let cost = |places: &[usize]| places.iter().map(|i| purse.sites[*i].cost).sum::<f64>();
    let mut ranked: Vec<(bool, Vec<usize>)> =
        read.iter().map(|r| (r.later, r.places.iter().filter_map(known).collect())).collect();
    ranked.retain(|(_, places): &(bool, Vec<usize>)| !places.is_empty());
    ranked.sort_by(|(a, one), (b, other)| a.cmp(b).then(cost(one).total_cmp(&cost(other))));
    let read: Vec<Vec<usize>> = ranked.into_iter().map(|(_, places)| places).collect();
    let mut others: Vec<usize> =
        (0..purse.sites.len()).filter(|i| !read.iter().any(|places| places.contains(i))).collect();
    others.sort_by(|a, b| purse.sites[*a].cost.total_cmp(&purse.sites[*b].cost));

    read.iter().for_each(|places| purse.grant(places, |site| site.first));
    others.iter().for_each(|i| purse.grant(&[*i], |site| site.few));
    for look in LOOKS {
        let wanted = |site: &Site| if look > site.first { look } else { 0 };
        read.iter().for_each(|places| purse.grant(places, wanted));
    }
    others.iter().for_each(|i| purse.grant(&[*i], |_| FIRST));
    seconds - purse.left / SPEED
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

/// Runs of a point with which a claim that reads it begins.
pub(super) fn first(world: World) -> u64 {
    if world == World::Sim { FIRST } else { FIRST_ELSEWHERE }
}

/// About what a run costs in a world, in packet-hops of the simulator.
pub(super) fn cost_in(world: World, scenario: &Scenario) -> f64 {
    let hops = cost(scenario);
    match world {
        World::Sim => hops,
        World::Ns3 => NS3 * hops,
        // One at a time, for as long as it lasts.
        World::Linux => scenario.duration.0 as f64 / 1e9 * SPEED,
        World::LinuxVt(_) => (GUEST[0] + hops / GUEST[1]) * SPEED / 2.0,
    }
}

/// About what a run costs, in packet-hops over links: what the flows offer, as far as their bottlenecks and windows
/// let it through.
pub(super) fn cost(scenario: &Scenario) -> f64 {
    let Ok(paths) = outlook::paths(scenario) else { return f64::INFINITY };
    // All that is on the air shares it.
    let neck = |path: &'_ outlook::Path| (!path.shared).then(|| path.bottleneck.clone());
    let mut sharing: BTreeMap<Option<String>, f64> = BTreeMap::new();
    for path in &paths {
        *sharing.entry(neck(path)).or_default() += 1.0;
    }
    let seconds = scenario.duration.0 as f64 / 1e9;
    let stations: usize = scenario.wifi.iter().map(|w| w.radio.stations.len()).sum();
    let by_loss = packets_between(scenario);
    let weight = if stations > 0 { AIR[0] + AIR[1] * stations as f64 } else { 1.0 };
    let mut sum = 0.0;
    for path in &paths {
        let name = path.flow.split(':').next().unwrap_or_default();
        let flow = scenario.flows.iter().find(|f| f.name == name);
        let round_trip = (path.base_rtt.0 as f64 / 1e9).max(1e-6);
        let window = |w: u64| w.min((f64::from(path.packet_bytes) * by_loss) as u64);
        let window = path.window_bytes.map_or(f64::INFINITY, |w| 8.0 * window(w) as f64);
        let rate = (path.rate_bps as f64 / sharing[&neck(path)]).min(window / round_trip);
        let offered = flow.map_or(f64::INFINITY, |f| offered_bits(&f.traffic, seconds));
        let packets = (rate * seconds).min(offered) / (8.0 * f64::from(path.packet_bytes.max(1)));
        let hops = if path.shared { 1 } else { path.nodes.len().saturating_sub(1) };
        sum += packets * hops as f64 * weight * (1.0 + ANSWERS);
    }
    sum.max(1.0)
}

/// About the packets in flight that random losses leave a connection: two over the root of their probability.
fn packets_between(scenario: &Scenario) -> f64 {
    let probability = |loss: &LossModel| match loss {
        LossModel::Drop { probability } => *probability,
        LossModel::Ber { rate, .. } => (rate * 12_000.0).min(1.0),
        _ => 0.0,
    };
    let all = scenario.links.iter().flat_map(|l| l.loss.iter().flatten());
    2.0 / all.map(probability).fold(0.0, f64::max).sqrt()
}

/// Most that the application has to send.
fn offered_bits(traffic: &Traffic, seconds: f64) -> f64 {
    match traffic {
        Traffic::Bulk { bytes } => bytes.map_or(f64::INFINITY, |bytes| bytes as f64 * 8.0),
        Traffic::RequestResponse { request, response, requests, .. } => {
            (request + response) as f64 * 8.0 * f64::from(*requests)
        }
        Traffic::Cbr { rate_bps, .. } => *rate_bps as f64 * seconds,
        Traffic::Messages { every, size, .. } => 8e9 * *size as f64 / every.0 as f64 * seconds,
        Traffic::Coap(coap) => 8e9 * f64::from(coap.size) / coap.every.0 as f64 * seconds,
    }
}

/// Seconds that two processors take about for the runs with which the claims of these places begin.
pub(crate) fn seconds_of(paper: &Paper, plan: &Plan, places: &BTreeSet<String>) -> f64 {
    let cost = |place: &String| {
        let (id, point) = place.split_once('/')?;
        let experiment = plan.experiment(id)?;
        let point = experiment.points().into_iter().find(|p| p.id == point)?;
        let text = paper.scenario(&experiment.scenario)?;
        let scenario = Scenario::with_overrides(text, &paper.id, &point.overrides).ok()?;
        let world = experiment.world(&point);
        let runs = all_seeds(experiment, &point).min(first(world));
        Some(runs as f64 * cost_in(world, &scenario))
    };
    places.iter().filter_map(cost).sum::<f64>() / SPEED
}

/// Runs of a point in a whole reproduction; with fewer than six it is not told whether anything is random there.
pub(crate) fn all_seeds(experiment: &Experiment, point: &Point) -> u64 {
    let told = *experiment.seeds(point, false).end();
    if experiment.world(point) == World::Sim { told.max(MIN_RUNS as u64) } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::PAPERS;
    use crate::reproduce::tasks::{place, read_by_all};
    use crate::reproduce::{Options, Reproduction};
    use crate::run::store::Batch;
    use crate::run::{RunRecord, Task};

    fn site(place: &str, cost: f64) -> Site {
        Site {
            place: place.to_owned(),
            cost: cost * SPEED,
            all: 40,
            few: 2,
            first: FIRST,
            granted: 0,
        }
    }

    fn granted(seconds: f64) -> [u64; 4] {
        let [cheap, dear] =
            [["e/a", "e/b"], ["e/b", "e/c"]].map(|all| all.map(str::to_owned).into());
        let mut sites =
            [site("e/a", 0.01), site("e/b", 0.01), site("e/c", 1.0), site("e/unread", 0.02)];
        let read = [cheap, dear].map(|places| Reads { later: true, places });
        spend(&mut sites, &read, seconds);
        sites.map(|s| s.granted)
    }

    #[test]
    fn a_budget_goes_to_whole_claims_the_cheapest_first_and_then_to_what_none_reads() {
        assert_eq!(granted(0.1), [0, 0, 0, 2]);
        // Twelve runs of two points are 0.24 s; more of them come after a few of the fourth point.
        assert_eq!(granted(0.25), [12, 12, 0, 0]);
        assert_eq!(granted(0.3), [12, 12, 0, 2]);
        assert_eq!(granted(13.0), [40, 40, 12, 2]);
        assert_eq!(granted(100.0), [40, 40, 40, FIRST]);
    }

    #[test]
    fn claims_that_test_the_abstract_have_their_runs_before_cheaper_ones() {
        let mut sites = [site("e/cheap", 0.01), site("e/dear", 0.05)];
        let of = |later, place: &str| Reads { later, places: [place.to_owned()].into() };
        // Twelve runs of the dear point are 0.6 s, which leaves nothing for the other.
        spend(&mut sites, &[of(true, "e/cheap"), of(false, "e/dear")], 0.65);
        assert_eq!(sites.map(|s| s.granted), [0, 12]);
    }

    #[test]
    fn a_point_that_no_claim_reads_gets_no_more_runs_than_a_claim_begins_with() {
        let dir = tempfile::tempdir().unwrap();
        let options = Options {
            budget: None,
            seeds: None,
            on: Vec::new(),
            shard: None,
            out: dir.path().to_owned(),
            command: String::new(),
        };
        let paper = Paper::by_id("reno-ber").unwrap();
        let work = Reproduction::prepare(paper, &options).unwrap();
        let read: BTreeSet<String> =
            read_by_all(paper, &work.plan, &work.claims).unwrap().into_iter().flatten().collect();
        let most = |is_read: bool| {
            let of = |t: &&Task| read.contains(&place(&t.experiment, &t.point)) == is_read;
            work.tasks.iter().filter(of).map(|t| t.seed).max()
        };
        assert_eq!(most(false), Some(FIRST));
        assert!(most(true) > Some(FIRST), "{:?}", most(true));
    }

    /// What `cost` foretells beside the events of runs that were made, for calibrating it:
    /// `WINDLASS_RUNS=results cargo test -p windlass-lab --lib foretold -- --ignored --nocapture`.
    #[test]
    #[ignore = "needs WINDLASS_RUNS, a folder of reproductions"]
    fn costs_are_foretold_within_a_factor_of_ten() {
        let dir =
            std::env::var_os("WINDLASS_RUNS").expect("WINDLASS_RUNS is a folder of reproductions");
        for paper in PAPERS.iter() {
            let (batch, _) = Batch::share(std::path::Path::new(&dir).join(&paper.id)).unwrap();
            let plan = paper.plan().unwrap();
            let (mut sum, mut ratios) = ([0.0; 2], Vec::new());
            for experiment in &plan.experiments {
                for point in experiment.points() {
                    let here =
                        |r: &&RunRecord| (&r.experiment, &r.point) == (&experiment.id, &point.id);
                    let events: Vec<f64> =
                        batch.records().iter().filter(here).map(|r| r.events as f64).collect();
                    if events.is_empty() {
                        continue;
                    }
                    let text = paper.scenario(&experiment.scenario).unwrap();
                    let scenario =
                        Scenario::with_overrides(text, &paper.id, &point.overrides).unwrap();
                    let (foretold, n) = (cost(&scenario), events.len() as f64);
                    let mean = events.iter().sum::<f64>() / n;
                    sum = [sum[0] + n * foretold, sum[1] + n * mean];
                    ratios.push((foretold / mean, format!("{}/{}", experiment.id, point.id)));
                }
            }
            ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
            println!("{}: foretold {:.3e}, events {:.3e}", paper.id, sum[0], sum[1]);
            let step = (ratios.len() / 8).max(1);
            ratios
                .iter()
                .step_by(step)
                .chain(ratios.last())
                .for_each(|(r, at)| println!("  {r:9.3} {at}"));
            for (ratio, at) in ratios {
                assert!((0.1..10.0).contains(&ratio), "{} {at}: {ratio}", paper.id);
            }
        }
    }
}
