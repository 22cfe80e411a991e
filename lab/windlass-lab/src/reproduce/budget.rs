//! The choice of runs within a budget of time.
//!
//! The [cost](crate::cost) of a run is predicted and not measured. The same budget therefore makes the same runs on
//! every machine. The budget is spent in this order:
//!
//! 1. Claims that test the abstract, and then the other claims, the cheapest first. Each gets enough runs to be
//!    decided.
//! 2. Points that no claim reads, with few runs.
//! 3. More runs of both.

use std::collections::{BTreeMap, BTreeSet};

use crate::claims::{Claim, Quantity};
use crate::cost::{SPEED, cost_in};
use crate::experiment::{Experiment, Plan, Point};
use crate::papers::Paper;
use crate::run::World;
use crate::scenario::Scenario;
use crate::stats::decision::MIN_RUNS;

/// Numbers of runs of the interim analyses: after each, decided claims need no more runs.
pub(crate) const LOOKS: [u64; 6] = [6, 12, 20, 40, 80, u64::MAX];
/// First number of runs of a claim in the simulator, because fewer runs decide no median among a hundred
/// statements. Also the maximum number of runs of a point that no claim reads, on any backend.
pub(crate) const FIRST: u64 = 12;
/// First number of runs of a claim on other backends, whose runs are expensive. It decides claims whose runs hardly
/// differ.
const FIRST_ELSEWHERE: u64 = 3;
/// A point, and the cost and numbers of its runs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Site {
    /// `experiment/point`.
    pub place: String,
    /// Cost of a run.
    pub cost: f64,
    /// Number of runs of a full reproduction.
    pub all: u64,
    /// Number of runs that is sufficient if no claim reads the point.
    pub few: u64,
    /// First number of runs of a claim.
    pub first: u64,
    /// Number of runs that the budget grants.
    pub granted: u64,
}

/// The places that a claim reads. A traced run belongs to its point. `sources` has the traces of each quantity.
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

/// The places that a claim reads, and their order in a budget: claims that test the abstract are first.
pub(super) struct Reads {
    /// False for a claim that tests the abstract.
    pub later: bool,
    /// `experiment/point`.
    pub places: BTreeSet<String>,
}

/// Grants runs for a time in seconds on two processors, and returns the estimated time of the granted runs.
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
    /// Grants the `wanted` number of runs to each of these sites, if the rest of the budget covers all of them.
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

/// First number of runs of a point that a claim reads.
pub(super) fn first(world: World) -> u64 {
    if world == World::Sim { FIRST } else { FIRST_ELSEWHERE }
}

/// Estimated time on two processors for the first runs of the claims of these places, seconds.
pub(crate) fn seconds_of(paper: &Paper, plan: &Plan, places: &BTreeSet<String>) -> f64 {
    let cost = |place: &String| {
        let (id, point) = place.split_once('/')?;
        let experiment = plan.experiment(id)?;
        let point = experiment.point(point)?;
        let text = paper.scenario(&experiment.scenario)?;
        let scenario = Scenario::with_overrides(text, &paper.id, &point.overrides).ok()?;
        let world = experiment.world(&point);
        let runs = all_seeds(experiment, &point).min(first(world));
        Some(runs as f64 * cost_in(world, &scenario))
    };
    places.iter().filter_map(cost).sum::<f64>() / SPEED
}

/// Number of runs of a point in a full reproduction. In the simulator it is at least [`MIN_RUNS`], because
/// fewer runs do not show whether the point is random.
pub(crate) fn all_seeds(experiment: &Experiment, point: &Point) -> u64 {
    let told = *experiment.seeds(point, false).end();
    if experiment.world(point) == World::Sim { told.max(MIN_RUNS as u64) } else { told }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::cost;
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
    fn a_budget_is_spent_on_whole_claims_by_cost_and_then_on_points_without_claims() {
        assert_eq!(granted(0.1), [0, 0, 0, 2]);
        // Twelve runs of two points take 0.24 s. The fourth point gets its few runs before these points get more.
        assert_eq!(granted(0.25), [12, 12, 0, 0]);
        assert_eq!(granted(0.3), [12, 12, 0, 2]);
        assert_eq!(granted(13.0), [40, 40, 12, 2]);
        assert_eq!(granted(100.0), [40, 40, 40, FIRST]);
    }

    #[test]
    fn claims_that_test_the_abstract_get_runs_before_cheaper_claims() {
        let mut sites = [site("e/cheap", 0.01), site("e/dear", 0.05)];
        let of = |later, place: &str| Reads { later, places: [place.to_owned()].into() };
        // Twelve runs of the expensive point take 0.6 s, so that the rest is too small for the other point.
        spend(&mut sites, &[of(true, "e/cheap"), of(false, "e/dear")], 0.65);
        assert_eq!(sites.map(|s| s.granted), [0, 12]);
    }

    #[test]
    fn a_point_that_no_claim_reads_gets_at_most_the_first_number_of_runs() {
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

    /// Compares the estimates of `cost` with the events of finished runs, for their calibration:
    /// `WINDLASS_RUNS=results cargo test -p windlass-lab --lib estimated -- --ignored --nocapture`.
    #[test]
    #[ignore = "needs WINDLASS_RUNS, a folder of reproductions"]
    fn estimated_costs_are_within_a_factor_of_ten_of_the_events() {
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
            println!("{}: estimated {:.3e}, events {:.3e}", paper.id, sum[0], sum[1]);
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
