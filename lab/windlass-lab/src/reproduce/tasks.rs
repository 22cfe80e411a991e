//! The runs of a plan, all of them or within a budget.

use std::collections::{BTreeMap, BTreeSet};

use super::budget::{Reads, Site, all_seeds, first, read_by, spend};
use super::error::ReproduceError;
use crate::claims::{Claim, Quantity};
use crate::cost::cost_in;
use crate::experiment::{Experiment, Plan, Point};
use crate::papers::Paper;
use crate::run::{Task, World};
use crate::scenario::Scenario;

/// Identifier of a point in a plan: `experiment/point`.
pub(super) fn place(experiment: &str, point: &str) -> String {
    format!("{experiment}/{point}")
}

/// The points that each claim reads.
pub(super) fn read_by_all(
    paper: &Paper,
    plan: &Plan,
    claims: &[Claim],
) -> Result<Vec<BTreeSet<String>>, ReproduceError> {
    let sources = paper.sources(plan)?;
    Ok(claims.iter().map(|claim| read_by(claim, plan, &sources)).collect())
}

/// The number of runs of each point within a budget of seconds, and the estimated time of these runs. For a
/// paper the budget covers the simulator's points, because the user requests other backends by name. For an
/// examination it covers the points of the examination's backend.
pub(super) fn within(
    paper: &Paper,
    plan: &Plan,
    claims: &[Claim],
    seconds: f64,
) -> Result<(BTreeMap<String, u64>, f64), ReproduceError> {
    let sources = paper.sources(plan)?;
    let read = read_by_all(paper, plan, claims)?;
    let quantities = claims.iter().flat_map(Claim::quantities).filter_map(|q| match q {
        Quantity::Trace(name) => sources.get(name),
        _ => None,
    });
    let traced: BTreeSet<String> =
        quantities.flatten().map(|at| plan.traces[*at].place()).collect();
    let mut sites = Vec::new();
    for experiment in &plan.experiments {
        let within = |p: &Point| experiment.world(p) == World::Sim || paper.question().is_some();
        for point in experiment.points().into_iter().filter(within) {
            let world = experiment.world(&point);
            let place = place(&experiment.id, &point.id);
            // A point with a traced run that a claim reads is run twice.
            let times = if traced.contains(&place) { 2.0 } else { 1.0 };
            let scenario = load(paper, &experiment.scenario, &point.overrides)?;
            sites.push(Site {
                place,
                cost: times * cost_in(world, &scenario),
                all: all_seeds(experiment, &point),
                few: *experiment.seeds(&point, true).end(),
                first: first(world),
                granted: 0,
            });
        }
    }
    let sentences = crate::front::sentences(paper, claims)?;
    let reads = |(claim, places): (&Claim, BTreeSet<String>)| Reads {
        later: !sentences.iter().any(|s| s.is_tested_by(&claim.id, claim.statement())),
        places,
    };
    let reads: Vec<Reads> = claims.iter().zip(read).map(reads).collect();
    let spent = spend(&mut sites, &reads, seconds);
    Ok((sites.into_iter().map(|s| (s.place, s.granted)).collect(), spent))
}

pub(super) fn load(
    paper: &Paper,
    file: &str,
    overrides: &[(String, String)],
) -> Result<Scenario, ReproduceError> {
    let name = paper.place(file);
    let text = paper.scenario(file).ok_or_else(|| ReproduceError::NoScenario(name.clone()))?;
    Ok(Scenario::with_overrides(text, &name, overrides)?)
}

/// The runs of a plan, in its order, with the seeds that `seeds` gives each point.
pub(super) fn draw_up(
    paper: &Paper,
    plan: &Plan,
    seeds: impl Fn(&Experiment, &Point) -> Vec<u64>,
) -> Result<Vec<Task>, ReproduceError> {
    let mut tasks = Vec::new();
    for experiment in &plan.experiments {
        for point in experiment.points() {
            let scenario = load(paper, &experiment.scenario, &point.overrides)?;
            let task = experiment.task(&point, scenario);
            let seeds = seeds(experiment, &point).into_iter();
            tasks.extend(seeds.map(|seed| Task { seed, ..task.clone() }));
        }
    }
    Ok(tasks)
}
