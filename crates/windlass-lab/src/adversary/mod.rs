//! An adversary: the worst that can be done to an algorithm on one path within stated bounds.
//!
//! An [`Attack`] is a list of losses, bursts of other traffic, outages, and a queue. The search keeps the most damaging few,
//! varies them, and keeps the best again; what it draws follows from its seed alone, and a run is exact, so that the same
//! search finds the same attack. What is found is made smaller as long as nine tenths of the damage stay.
//!
//! Published searchers fight noise and evaluate everything five times (CC-Fuzz, HotNets 2022; AdvNet, 2026); here once
//! is enough.

mod attack;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

pub use attack::{Attack, Bounds, Bursts};

use crate::Error;
use crate::dice::Dice;
use crate::run::store::Memory;
use crate::run::{RunRecord, Runner, Task, World};
use crate::scenario::{Candidate, Scenario};

/// Attacks that live on from one round to the next.
const KEPT: usize = 8;
/// Attacks that are tried in a round.
const TRIED: usize = 24;
/// Share of the damage that a simpler attack must still do.
const STILL: f64 = 0.9;

/// What the adversary wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// That the flow leaves unused what it could have carried.
    Idleness,
    /// That of two flows of the algorithm one gets nothing.
    Starvation,
    /// That the flow keeps the queue full.
    Delay,
}

impl Goal {
    /// All of them with their names.
    pub const ALL: [(&'static str, Goal); 3] =
        [("idleness", Goal::Idleness), ("starvation", Goal::Starvation), ("delay", Goal::Delay)];

    /// What its damage is, from 0 to 1.
    pub const fn meaning(self) -> &'static str {
        match self {
            Goal::Idleness => "share of what the flow could have carried and did not",
            Goal::Starvation => "what the lesser of two flows lacks of its half, as a share of it",
            Goal::Delay => "share of the buffer that is full on average",
        }
    }

    fn two(self) -> bool {
        self == Goal::Starvation
    }

    /// The damage in a run, from 0 to 1.
    fn damage(self, attack: &Attack, run: &RunRecord) -> f64 {
        let delivered = |name: &str| -> f64 {
            run.flows
                .iter()
                .find(|f| f.name == name)
                .map_or(0.0, |f| 8.0 * f.delivered_bytes as f64)
        };
        let damage = match self {
            Goal::Idleness => 1.0 - delivered("subject") / attack.available_bits(),
            Goal::Starvation => {
                let [a, b] = ["subject", "second"].map(delivered);
                // Only while both are there is half a fair share.
                let both = 1.0 - attack.second_ms as f64 / attack::LENGTH_MS as f64;
                1.0 - 2.0 * a.min(b) / (a + b).max(1.0) / both
            }
            Goal::Delay => {
                let link = run.links.iter().find(|l| l.name == "bottleneck:router>client");
                link.map_or(0.0, |l| l.mean_queue_packets / attack.queue as f64)
            }
        };
        if damage.is_finite() { damage.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The algorithm.
    pub subject: Candidate,
    /// What for.
    pub goal: Goal,
    /// Within what.
    pub bounds: Bounds,
    /// Runs that it may take.
    pub runs: u64,
    /// Seed of what it draws.
    pub seed: u64,
}

/// What a search has found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The algorithm.
    pub algorithm: String,
    /// What was looked for.
    pub goal: Goal,
    /// The damage without an attack.
    pub unharmed: f64,
    /// The most damage that was found.
    pub worst: f64,
    /// The attack after it was made smaller.
    pub attack: Attack,
    /// What that one still does.
    pub damage: f64,
    /// Runs made.
    pub runs: u64,
    /// The path under it.
    #[serde(skip)]
    pub scenario: Scenario,
}

/// An attack with its damage.
type Tried = (f64, Attack);

impl Search {
    /// Searches, telling `done` of each run.
    ///
    /// # Errors
    ///
    /// The bounds or the number of runs are not right, or a run gives no result.
    pub fn work(&self, runner: &Runner, done: impl Fn(&RunRecord) + Sync) -> Result<Found, Error> {
        self.bounds.check().map_err(Error::Input)?;
        if self.runs < (TRIED + 1) as u64 {
            let (runs, least) = (self.runs, TRIED + 1);
            return Err(Error::Input(format!("{runs} runs find nothing; {least} or more may")));
        }
        let mut dice = Dice::new(self.seed);
        let mut kept = self.tried(vec![Attack::none(&self.bounds)], runner, &done)?;
        let unharmed = kept[0].0;
        let mut runs = 1;
        while runs + TRIED as u64 <= self.runs {
            let vary = |dice: &mut Dice| {
                let parent = dice.between(0, kept.len() as u64 - 1) as usize;
                kept[parent].1.varied(dice, &self.bounds)
            };
            let children: Vec<Attack> = (0..TRIED).map(|_| vary(&mut dice)).collect();
            kept.extend(self.tried(children, runner, &done)?);
            runs += TRIED as u64;
            // Sorting keeps the order of equals: the earlier one stays before.
            kept.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            kept.dedup_by(|(_, a), (_, b)| a == b);
            kept.truncate(KEPT);
        }
        let (worst, attack) = kept.swap_remove(0);
        let (damage, attack, more) = self.smaller((worst, attack), runner, &done)?;
        let scenario = attack.scenario(&self.subject.label, self.goal.two())?;
        let (algorithm, goal) = (self.subject.label.clone(), self.goal);
        let runs = runs + more;
        Ok(Found { algorithm, goal, unharmed, worst, attack, damage, runs, scenario })
    }

    /// The simplest attack on the way that still does most of the damage.
    fn smaller(
        &self,
        (worst, attack): Tried,
        runner: &Runner,
        done: &(impl Fn(&RunRecord) + Sync),
    ) -> Result<(f64, Attack, u64), Error> {
        let (mut now, mut runs) = ((worst, attack), 0);
        loop {
            let simpler = now.1.simpler(&self.bounds);
            runs += simpler.len() as u64;
            let tried = self.tried(simpler, runner, done)?;
            match tried.into_iter().find(|(damage, _)| *damage >= STILL * worst) {
                Some(found) => now = found,
                None => return Ok((now.0, now.1, runs)),
            }
        }
    }

    /// The damage of each.
    fn tried(
        &self,
        attacks: Vec<Attack>,
        runner: &Runner,
        done: &(impl Fn(&RunRecord) + Sync),
    ) -> Result<Vec<Tried>, Error> {
        let task = |(i, attack): (usize, &Attack)| -> Result<Task, Error> {
            let scenario = Arc::new(attack.scenario(&self.subject.label, self.goal.two())?);
            let scenario_hash = World::Sim.hash(&scenario).into();
            let (experiment, point) = ("adversary".to_owned(), i.to_string());
            let (seed, world) = (scenario.seed, World::Sim);
            Ok(Task { experiment, point, seed, scenario, scenario_hash, world })
        };
        let tasks: Vec<Task> = attacks.iter().enumerate().map(task).collect::<Result<_, _>>()?;
        let mut store = Memory::default();
        let failed = runner.fill(
            &tasks,
            &mut store,
            |task, ran| Ok(task.record(ran)),
            |_, record, _| done(record),
        )?;
        if let Some(first) = failed.first() {
            return Err(Error::Input(format!("a run gave no result: {first}")));
        }
        let records: BTreeMap<usize, RunRecord> = store
            .into_records()
            .into_iter()
            .filter_map(|r| Some((r.point.parse().ok()?, r)))
            .collect();
        let damage = |(i, attack): (usize, Attack)| {
            let run = records.get(&i)?;
            Some((self.goal.damage(&attack, run), attack))
        };
        Ok(attacks.into_iter().enumerate().filter_map(damage).collect())
    }
}
