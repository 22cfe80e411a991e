//! Adversarial search: finds the network behaviour within given bounds that harms an algorithm most on one path.
//!
//! An [`Attack`] is a list of losses, bursts of other traffic, outages, steps of the rate, delays of the
//! subject's packets, held acknowledgements, a queue, and the start of a second flow. The search keeps the
//! most damaging attacks, varies them, and keeps the most damaging attacks again. Its random numbers depend
//! only on its seed, and a run is exact, so that the same search finds the same attack. The search then
//! removes parts of the attack as long as nine tenths of the damage remain.
//!
//! Each attack runs once. Published searchers have noisy runs and evaluate each attack five times (CC-Fuzz,
//! HotNets 2022, and AdvNet, 2026).

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

/// Number of attacks that a round passes to the next round.
const KEPT: usize = 8;
/// Number of attacks that a round tries.
const TRIED: usize = 24;
/// Minimum share of the damage that a simpler attack must keep.
const STILL: f64 = 0.9;

/// Kind of damage that the search maximises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// The flows leave capacity unused.
    Idleness,
    /// The flows leave capacity unused in the second half of the run, although the attack ends with the first half.
    Stall,
    /// One of two flows has a low goodput.
    Starvation,
    /// The flow takes a rival's share.
    Harm,
    /// The flow keeps the queue full.
    Delay,
}

impl Goal {
    /// All goals with their names.
    pub const ALL: [(&'static str, Goal); 5] = [
        ("idleness", Goal::Idleness),
        ("stall", Goal::Stall),
        ("starvation", Goal::Starvation),
        ("harm", Goal::Harm),
        ("delay", Goal::Delay),
    ];

    /// Definition of the damage, a number from 0 to 1.
    pub const fn meaning(self) -> &'static str {
        match self {
            Goal::Idleness => "unused share of the available capacity",
            Goal::Stall => {
                "unused share of the available capacity in the second half, after an attack in the first half"
            }
            Goal::Starvation => "missing share of the smaller flow, relative to half of both flows",
            Goal::Harm => "missing share of the rival, relative to half of both flows",
            Goal::Delay => "mean share of the buffer that is full",
        }
    }

    /// End of the attack, ms.
    fn until_ms(self) -> u64 {
        if self == Goal::Stall { LENGTH_MS / 2 } else { LENGTH_MS }
    }

    /// The damage in a run, from 0 to 1.
    fn damage(self, attack: &Attack, run: &RunResult) -> f64 {
        let delivered: Vec<f64> =
            run.flows.iter().take(2).map(|f| 8.0 * f.delivered_bytes as f64).collect();
        let [first, second] = [0, 1].map(|i| delivered.get(i).copied().unwrap_or_default());
        // Half is the fair share only while both flows are active.
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

/// The attacked direction of the bottleneck.
const BOTTLENECK: &str = "bottleneck:router>client";

/// Payload that all TCP flows deliver after a time, bits.
fn carried(run: &RunResult, from_ms: u64) -> f64 {
    let until = |flow: usize| {
        let samples = run.samples.iter().filter(|s| s.series == Series::Delivered);
        let mut mine =
            samples.filter(|s| s.flow as usize == flow && s.time.0 <= from_ms * 1_000_000);
        if from_ms == 0 { 0 } else { mine.next_back().map_or(0, |s| s.value) }
    };
    // Datagrams do not count. `available_bits` leaves out their capacity.
    let tcp = run.flows.iter().enumerate().filter(|(_, f)| f.algorithm != "none");
    tcp.map(|(i, f)| 8.0 * (f.delivered_bytes.saturating_sub(until(i))) as f64).sum()
}

/// A search.
#[derive(Clone, Debug)]
pub struct Search {
    /// The algorithm.
    pub subject: Candidate,
    /// The algorithm of a second flow. Without a rival, the goal `Starvation` has a second flow with the subject's
    /// algorithm.
    pub rival: Option<Candidate>,
    /// Kind of damage.
    pub goal: Goal,
    /// Bounds of the attack.
    pub bounds: Bounds,
    /// Maximum number of runs of the search.
    pub runs: u64,
    /// Seed of the search's random numbers.
    pub seed: u64,
    /// Backend of the runs. The algorithms are the backend's own.
    pub world: World,
}

/// Result of a search.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// The algorithm.
    pub algorithm: String,
    /// The algorithm of the second flow, if the scenario has a second flow.
    pub second: Option<String>,
    /// Kind of damage.
    pub goal: Goal,
    /// Backend.
    pub world: String,
    /// The damage without an attack.
    pub unharmed: f64,
    /// The largest damage.
    pub worst: f64,
    /// The attack after the removal of unnecessary parts.
    pub attack: Attack,
    /// Damage of this attack.
    pub damage: f64,
    /// Number of runs of the search.
    pub runs: u64,
    /// The attack's damage on another backend, if the attack was replayed.
    pub replay: Option<Replay>,
    /// The path with the attack.
    #[serde(skip)]
    pub scenario: Scenario,
}

/// An attack on another backend.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// The backend.
    pub world: String,
    /// The damage without the attack.
    pub unharmed: f64,
    /// The damage with the attack.
    pub damage: f64,
}

/// An attack with its damage.
type Tried = (f64, Attack);

impl Search {
    /// Searches, and calls `done` after each run.
    ///
    /// # Errors
    ///
    /// The bounds or the number of runs are invalid, or a run gives no result.
    pub fn work(&self, runner: &Runner, done: impl Fn() + Sync) -> Result<Found, Error> {
        self.bounds.check().map_err(Error::Input)?;
        if self.goal == Goal::Harm && self.rival.is_none() {
            return Err(Error::Input(
                "the goal `harm` needs a rival; name one, such as `--rival cubic`".to_owned(),
            ));
        }
        if self.runs < (TRIED + 1) as u64 {
            let (runs, least) = (self.runs, TRIED + 1);
            return Err(Error::Input(format!("{runs} runs are too few; expected {least} or more")));
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
            // The sort is stable: of attacks with equal damage, the earlier attack remains first.
            kept.sort_by(|(a, _), (b, _)| b.total_cmp(a));
            kept.dedup_by(|(_, a), (_, b)| a == b);
            kept.truncate(KEPT);
        }
        let (worst, attack) = kept.swap_remove(0);
        let (damage, attack, more) = self.smaller((worst, attack), runner, &done)?;
        Ok(Found {
            algorithm: self.subject.label.clone(),
            second: self.second().map(|c| c.label.clone()),
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

    /// Simplifies an attack step by step as long as it keeps [`STILL`] of the damage.
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

    /// Runs an attack on another backend with this backend's own algorithm. Damage on both backends is a
    /// property of the algorithm, and not of the simulator's model.
    ///
    /// # Errors
    ///
    /// The backend does not accept the scenario, or a run gives no result.
    pub fn replay(&self, found: &Found, world: World, runner: &Runner) -> Result<Replay, Error> {
        let none = Attack {
            second_ms: found.attack.second_ms,
            ..Attack::none(found.attack.queue, LENGTH_MS)
        };
        let mut attack = found.attack.clone();
        if self.world == World::Sim && matches!(world, World::Linux | World::LinuxVt(_)) {
            // A kernel sends the last packet of the handshake separately. The simulator sends it with the first data.
            attack.losses.iter_mut().filter(|number| **number > 1).for_each(|number| *number += 1);
        }
        let tried = self.damages(&[none, attack], world, runner, &|| ())?;
        Ok(Replay { world: world.to_string(), unharmed: tried[0], damage: tried[1] })
    }

    /// The algorithm of the second flow, if the search has a second flow.
    fn second(&self) -> Option<&Candidate> {
        let own = (self.goal == Goal::Starvation).then_some(&self.subject);
        self.rival.as_ref().or(own)
    }

    fn scenario(&self, attack: &Attack) -> Result<Scenario, Error> {
        let second = self.second().map(Candidate::text);
        Ok(attack.scenario(&self.subject.text(), second.as_deref())?)
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

    /// The damage of each attack.
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
