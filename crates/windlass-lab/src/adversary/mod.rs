//! An adversary: the worst that can be done to an algorithm on one path within stated bounds.
//!
//! An [`Attack`] is a list of losses, bursts of other traffic, outages, steps of the rate, delays of the subject's packets,
//! held acknowledgements, a queue, and when a second flow begins. The search keeps the most damaging few,
//! varies them, and keeps the best again; what it draws follows from its seed alone, and a run is exact, so that the same
//! search finds the same attack. What is found is made smaller as long as nine tenths of the damage stay.
//!
//! Published searchers fight noise and evaluate everything five times (CC-Fuzz, HotNets 2022; AdvNet, 2026); here once
//! is enough.

mod attack;
mod moves;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use windlass_sim::{RunResult, Series};

pub use attack::{Acks, Attack, Bursts};
pub use moves::Bounds;

use crate::Error;
use crate::dice::Dice;
use crate::run::{RunError, Runner, Task, World};
use crate::scenario::{Candidate, Scenario};
use attack::LENGTH_MS;

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
    /// That it still does long after the last that was done to it: all of that is over in the first half, and the second counts.
    Stall,
    /// That of two flows one gets nothing.
    Starvation,
    /// That the flow takes a rival's share.
    Harm,
    /// That the flow keeps the queue full.
    Delay,
}

impl Goal {
    /// All of them with their names.
    pub const ALL: [(&'static str, Goal); 5] = [
        ("idleness", Goal::Idleness),
        ("stall", Goal::Stall),
        ("starvation", Goal::Starvation),
        ("harm", Goal::Harm),
        ("delay", Goal::Delay),
    ];

    /// What its damage is, from 0 to 1.
    pub const fn meaning(self) -> &'static str {
        match self {
            Goal::Idleness => "share of what the flows could have carried and did not",
            Goal::Stall => {
                "share of what the flows could have carried in the second half and did not, with all that was done to them in the first"
            }
            Goal::Starvation => "what the lesser of two flows lacks of its half, as a share of it",
            Goal::Harm => "what the rival lacks of its half, as a share of it",
            Goal::Delay => "share of the buffer that is full on average",
        }
    }

    /// When all that is done has to be over, ms.
    fn until_ms(self) -> u64 {
        if self == Goal::Stall { LENGTH_MS / 2 } else { LENGTH_MS }
    }

    /// The damage in a run, from 0 to 1.
    fn damage(self, attack: &Attack, run: &RunResult) -> f64 {
        let delivered: Vec<f64> =
            run.flows.iter().take(2).map(|f| 8.0 * f.delivered_bytes as f64).collect();
        let [first, second] = [0, 1].map(|i| delivered.get(i).copied().unwrap_or_default());
        // Only while both are there is half a fair share.
        let half = (1.0 - attack.second_ms as f64 / LENGTH_MS as f64) * (first + second) / 2.0;
        let damage = match self {
            Goal::Idleness => 1.0 - carried(run, 0) / attack.available_bits(0),
            Goal::Stall => {
                let from = self.until_ms();
                1.0 - carried(run, from) / attack.available_bits(from)
            }
            Goal::Starvation => 1.0 - first.min(second) / half,
            Goal::Harm => 1.0 - second / half,
            Goal::Delay => {
                let link = run.links.iter().find(|l| l.name == BOTTLENECK);
                link.map_or(0.0, |l| l.mean_queue_packets / attack.queue as f64)
            }
        };
        if damage.is_finite() { damage.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The direction of the bottleneck that the adversary works on.
const BOTTLENECK: &str = "bottleneck:router>client";

/// What all TCP flows have brought over from a moment on, bits.
fn carried(run: &RunResult, from_ms: u64) -> f64 {
    let until = |flow: usize| {
        let samples = run.samples.iter().filter(|s| s.series == Series::Delivered);
        let mut mine =
            samples.filter(|s| s.flow as usize == flow && s.time.0 <= from_ms * 1_000_000);
        if from_ms == 0 { 0 } else { mine.next_back().map_or(0, |s| s.value) }
    };
    // Datagrams are no part of it: what they take is not there for the others.
    let tcp = run.flows.iter().enumerate().filter(|(_, f)| f.algorithm != "none");
    tcp.map(|(i, f)| 8.0 * (f.delivered_bytes.saturating_sub(until(i))) as f64).sum()
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The algorithm.
    pub subject: Candidate,
    /// The algorithm of a second flow; without it there is one where the goal needs it, of the subject's.
    pub rival: Option<Candidate>,
    /// What for.
    pub goal: Goal,
    /// Within what.
    pub bounds: Bounds,
    /// Runs that it may take.
    pub runs: u64,
    /// Seed of what it draws.
    pub seed: u64,
    /// Where runs are made; the algorithms are that world's own.
    pub world: World,
}

/// What a search has found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The algorithm.
    pub algorithm: String,
    /// That of the second flow, where there is one.
    pub second: Option<String>,
    /// What was looked for.
    pub goal: Goal,
    /// Where.
    pub world: String,
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
    /// What it does in another world, where it was tried.
    pub replay: Option<Replay>,
    /// The path under it.
    #[serde(skip)]
    pub scenario: Scenario,
}

/// An attack in another world.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// The world.
    pub world: String,
    /// The damage without the attack.
    pub unharmed: f64,
    /// The damage with it.
    pub damage: f64,
}

/// An attack with its damage.
type Tried = (f64, Attack);

impl Search {
    /// Searches, telling `done` of each run.
    ///
    /// # Errors
    ///
    /// The bounds or the number of runs are not right, or a run gives no result.
    pub fn work(&self, runner: &Runner, done: impl Fn() + Sync) -> Result<Found, Error> {
        self.bounds.check().map_err(Error::Input)?;
        if self.goal == Goal::Harm && self.rival.is_none() {
            return Err(Error::Input(
                "harm is done to a rival, and none is named; one such as `--rival cubic` can be"
                    .to_owned(),
            ));
        }
        if self.runs < (TRIED + 1) as u64 {
            let (runs, least) = (self.runs, TRIED + 1);
            return Err(Error::Input(format!("{runs} runs find nothing; {least} or more may")));
        }
        let mut dice = Dice::new(self.seed);
        let mut kept = self.tried(
            vec![Attack::none(self.bounds.usual_queue(), self.goal.until_ms())],
            runner,
            &done,
        )?;
        let unharmed = kept[0].0;
        let mut runs = 1;
        while runs + TRIED as u64 <= self.runs {
            let vary = |dice: &mut Dice| {
                let parent = dice.between(0, kept.len() as u64 - 1) as usize;
                kept[parent].1.varied(dice, &self.bounds, self.second().is_some())
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
        Ok(Found {
            algorithm: self.subject.label.clone(),
            second: self.second().map(str::to_owned),
            goal: self.goal,
            world: self.world.to_string(),
            unharmed,
            worst,
            scenario: self.scenario(&attack)?,
            attack,
            damage,
            runs: runs + more,
            replay: None,
        })
    }

    /// The simplest attack on the way that still does most of the damage.
    fn smaller(
        &self,
        (worst, attack): Tried,
        runner: &Runner,
        done: &(impl Fn() + Sync),
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

    /// The same attack in another world, where the algorithm is that world's own: what it does there too is the algorithm's
    /// doing, and not the model's.
    ///
    /// # Errors
    ///
    /// The world does not take the scenario, or a run gives no result.
    pub fn replay(&self, found: &Found, world: World, runner: &Runner) -> Result<Replay, Error> {
        let none = Attack {
            second_ms: found.attack.second_ms,
            ..Attack::none(found.attack.queue, LENGTH_MS)
        };
        let mut attack = found.attack.clone();
        if self.world == World::Sim && matches!(world, World::Linux | World::LinuxVt(_)) {
            // A kernel ends the handshake with a packet of its own; ours sends that with its first data.
            attack.losses.iter_mut().filter(|number| **number > 1).for_each(|number| *number += 1);
        }
        let tried = self.damages(&[none, attack], world, runner, &|| ())?;
        Ok(Replay { world: world.to_string(), unharmed: tried[0], damage: tried[1] })
    }

    /// The algorithm of the second flow, if there is one.
    fn second(&self) -> Option<&str> {
        let own = (self.goal == Goal::Starvation).then_some(&self.subject);
        self.rival.as_ref().or(own).map(|c| c.label.as_str())
    }

    fn scenario(&self, attack: &Attack) -> Result<Scenario, Error> {
        Ok(attack.scenario(&self.subject.label, self.second())?)
    }

    fn tried(
        &self,
        attacks: Vec<Attack>,
        runner: &Runner,
        done: &(impl Fn() + Sync),
    ) -> Result<Vec<Tried>, Error> {
        let damages = self.damages(&attacks, self.world, runner, done)?;
        Ok(damages.into_iter().zip(attacks).collect())
    }

    /// The damage of each.
    fn damages(
        &self,
        attacks: &[Attack],
        world: World,
        runner: &Runner,
        done: &(impl Fn() + Sync),
    ) -> Result<Vec<f64>, Error> {
        let task = |(i, attack): (usize, &Attack)| -> Result<Task, Error> {
            let scenario = Arc::new(self.scenario(attack)?);
            let scenario_hash = world.hash(&scenario).into();
            let (experiment, point) = ("adversary".to_owned(), i.to_string());
            let seed = scenario.seed;
            Ok(Task { experiment, point, seed, scenario, scenario_hash, world })
        };
        let tasks: Vec<Task> = attacks.iter().enumerate().map(task).collect::<Result<_, _>>()?;
        let damages = Mutex::new(BTreeMap::new());
        let failed = runner.execute(&tasks, |task, ran, _| -> Result<(), RunError> {
            let i = task.point.parse().unwrap_or(usize::MAX);
            let damage = attacks.get(i).map_or(0.0, |a| self.goal.damage(a, &ran.result));
            damages.lock().unwrap_or_else(PoisonError::into_inner).insert(i, damage);
            done();
            Ok(())
        })?;
        if let Some(first) = failed.first() {
            return Err(Error::Input(format!("a run gave no result: {first}")));
        }
        Ok(damages.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect())
    }
}
