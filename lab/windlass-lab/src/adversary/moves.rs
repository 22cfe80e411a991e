//! Changes of attacks during the search, and their bounds.

use serde::Serialize;

use super::attack::{Acks, Attack, Bursts, LENGTH_MS, RATE_KBPS};
use crate::dice::Dice;
use crate::units::Duration;

/// Largest number of a lost packet: approximately the packets of a flow at the full rate in a run.
const PACKETS: u64 = 16_000;
/// Largest number of a lost packet if the attack ends with the first half. A flow with four packets per 40
/// ms, the minimum cwnd of most algorithms, sends these packets in the first half. A slower flow still loses
/// packets later.
const EARLY_PACKETS: u64 = 1000;
/// The queue of one bandwidth-delay product, packets.
const BDP: u64 = 33;
/// Maximum number of steps of the rate, and of the delay.
const STEPS: usize = 12;

/// Bounds of an attack.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Maximum number of lost packets.
    pub losses: usize,
    /// Maximum share of the time with bursts of datagrams.
    pub bursts: f64,
    /// Maximum total time of outages, ms.
    pub outages_ms: u64,
    /// Minimum and maximum queue, packets.
    pub queue: [u64; 2],
    /// Minimum rate of the bottleneck, as a share of the full rate. With 1 the rate does not change.
    pub rate: f64,
    /// Maximum additional delay of the subject's packets, ms.
    pub jitter_ms: u64,
    /// Maximum time that acknowledgements are held, ms.
    pub acks_ms: u64,
}

/// One change of an attack: the test whether the bounds allow it, and the change.
type Move = (fn(&Bounds, bool) -> bool, fn(&mut Attack, &mut Dice, &Bounds));

/// The changes. Three of the nine concern losses, which are the most productive.
const MOVES: [Move; 9] = [
    (|b, _| b.losses > 0, |a, dice, _| a.lose(dice)),
    (|b, _| b.losses > 0, |a, dice, _| a.repeat(dice)),
    (|b, _| b.losses > 0, |a, dice, _| a.spare(dice)),
    (|b, _| b.bursts > 0.0, |a, dice, b| a.burst(dice, b)),
    (|b, _| b.outages_ms > 0, |a, dice, b| a.interrupt(dice, b)),
    (
        |b, _| b.rate < 1.0,
        |a, dice, b| {
            let least = ((b.rate * RATE_KBPS as f64) as u64).max(1);
            a.rates = stepped(&a.rates, dice, [least, RATE_KBPS], a.until_ms);
        },
    ),
    (
        |b, _| b.jitter_ms > 0,
        |a, dice, b| {
            a.delays = stepped(&a.delays, dice, [0, b.jitter_ms * 1000], a.until_ms);
        },
    ),
    (
        |b, _| b.acks_ms > 0,
        |a, dice, b| {
            let (count, within_ms) = (dice.between(2, 64), dice.between(1, b.acks_ms));
            a.acks = Some(Acks { count, within_ms, thin: dice.between(0, 1) == 1 });
        },
    ),
    (
        |b, two| two || b.queue[0] < b.queue[1],
        |a, dice, b| {
            a.queue = dice.between(b.queue[0], b.queue[1]);
            a.second_ms = dice.between(0, a.until_ms / 2);
        },
    ),
];

/// A random time. Its logarithm is uniform: 10 to 100 ms is as likely as 100 to 1000 ms, because a young flow is more
/// sensitive.
fn moment(dice: &mut Dice, until: u64) -> u64 {
    libm::pow(until as f64, dice.next()) as u64 - 1
}

/// Adds, removes or changes one step at random.
fn stepped(all: &[[u64; 2]], dice: &mut Dice, [low, high]: [u64; 2], until: u64) -> Vec<[u64; 2]> {
    let mut all = all.to_vec();
    let pick = |dice: &mut Dice, all: &[[u64; 2]]| dice.between(0, all.len() as u64 - 1) as usize;
    let value = match dice.between(0, 2) {
        0 => low,
        1 => high,
        _ => dice.between(low, high),
    };
    match dice.between(0, 2) {
        0 if !all.is_empty() => {
            let at = pick(dice, &all);
            all.remove(at);
        }
        1 if !all.is_empty() => {
            let at = pick(dice, &all);
            all[at][1] = value;
        }
        _ => all.push([moment(dice, until), value]),
    }
    all.sort_unstable();
    all.dedup_by_key(|[at, _]| *at);
    all.truncate(STEPS);
    all
}

impl Attack {
    /// The attack after one to three random changes within the bounds.
    pub(super) fn varied(&self, dice: &mut Dice, bounds: &Bounds, two: bool) -> Attack {
        let possible: Vec<&Move> = MOVES.iter().filter(|(may, _)| may(bounds, two)).collect();
        let mut attack = self.clone();
        if possible.is_empty() {
            return attack;
        }
        for _ in 0..dice.between(1, 3) {
            let (_, does) = possible[dice.between(0, possible.len() as u64 - 1) as usize];
            does(&mut attack, dice, bounds);
        }
        attack.within(bounds)
    }

    /// Adds the loss of one to eight consecutive packets, after another loss or at a random place.
    fn lose(&mut self, dice: &mut Dice) {
        let last = if self.until_ms < LENGTH_MS { EARLY_PACKETS } else { PACKETS };
        let near = dice.between(0, 1) == 1 && !self.losses.is_empty();
        let begin = if near {
            let at = dice.between(0, self.losses.len() as u64 - 1) as usize;
            self.losses[at] + dice.between(1, 100)
        } else {
            moment(dice, last) + 2
        };
        self.losses.extend((begin..begin + dice.between(1, 8)).filter(|n| *n <= last));
    }

    /// Repeats all losses later.
    fn repeat(&mut self, dice: &mut Dice) {
        let shift = dice.between(1, EARLY_PACKETS);
        let last = self.losses.last().copied().unwrap_or_default().max(EARLY_PACKETS);
        let again: Vec<u64> =
            self.losses.iter().map(|l| l + shift).filter(|l| *l <= last).collect();
        self.losses.extend(again);
    }

    /// Removes one to three losses.
    fn spare(&mut self, dice: &mut Dice) {
        for _ in 0..dice.between(1, 3).min(self.losses.len() as u64) {
            let at = dice.between(0, self.losses.len() as u64 - 1) as usize;
            self.losses.remove(at);
        }
    }

    fn burst(&mut self, dice: &mut Dice, bounds: &Bounds) {
        let period_ms = match self.bursts {
            Some(b) if dice.between(0, 2) > 0 => {
                (b.period_ms as f64 * (0.8 + 0.4 * dice.next())) as u64
            }
            _ => dice.between(100, 3000),
        };
        let longest = (period_ms as f64 * bounds.bursts) as u64;
        let length_ms = dice.between(1, longest.max(1));
        let first_ms = dice.between(0, 2000);
        self.bursts = Some(Bursts { first_ms, period_ms: period_ms.max(50), length_ms });
    }

    fn interrupt(&mut self, dice: &mut Dice, bounds: &Bounds) {
        let begin = dice.between(0, self.until_ms - 1);
        let end = begin + dice.between(1, bounds.outages_ms);
        self.outages_ms.push([begin, end.min(self.until_ms)]);
    }

    /// The attack in order, cut to the bounds.
    fn within(mut self, bounds: &Bounds) -> Attack {
        self.losses.sort_unstable();
        self.losses.dedup();
        self.losses.truncate(bounds.losses);
        self.outages_ms.sort_unstable();
        let (mut spent, mut until) = (0, 0);
        self.outages_ms.retain(|[a, b]| {
            let fits = *a >= until && spent + (b - a) <= bounds.outages_ms;
            if fits {
                (spent, until) = (spent + (b - a), *b);
            }
            fits
        });
        self
    }

    /// Simpler attacks, the simplest first.
    pub(super) fn simpler(&self, bounds: &Bounds) -> Vec<Attack> {
        let mut all = vec![
            Attack { losses: Vec::new(), ..self.clone() },
            Attack { bursts: None, ..self.clone() },
            Attack { outages_ms: Vec::new(), ..self.clone() },
            Attack { rates: Vec::new(), ..self.clone() },
            Attack { delays: Vec::new(), ..self.clone() },
            Attack { acks: None, ..self.clone() },
            Attack { queue: bounds.usual_queue(), ..self.clone() },
            Attack { second_ms: 0, ..self.clone() },
        ];
        let mut piece = self.losses.len() / 2;
        while piece > 0 {
            for begin in (0..self.losses.len()).step_by(piece) {
                let end = (begin + piece).min(self.losses.len());
                let mut losses = self.losses.clone();
                losses.drain(begin..end);
                all.push(Attack { losses, ..self.clone() });
            }
            piece /= 2;
        }
        let without = |list: &[[u64; 2]], i: usize| {
            let mut list = list.to_vec();
            list.remove(i);
            list
        };
        let each = |n: usize| 0..n;
        all.extend(
            each(self.outages_ms.len())
                .map(|i| Attack { outages_ms: without(&self.outages_ms, i), ..self.clone() }),
        );
        all.extend(
            each(self.rates.len())
                .map(|i| Attack { rates: without(&self.rates, i), ..self.clone() }),
        );
        all.extend(
            each(self.delays.len())
                .map(|i| Attack { delays: without(&self.delays, i), ..self.clone() }),
        );
        all.retain(|attack| attack != self);
        all
    }
}

impl Bounds {
    /// The queue of one bandwidth-delay product, clamped to the bounds.
    pub(super) fn usual_queue(&self) -> u64 {
        BDP.clamp(self.queue[0], self.queue[1])
    }

    /// Checks that the bounds are valid.
    ///
    /// # Errors
    ///
    /// A sentence about the invalid bound.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(0.0..=0.5).contains(&self.bursts) {
            return Err("the share of bursts must be from 0 to half of the time".to_owned());
        }
        let length = Duration(windlass_cc::Span(LENGTH_MS * 1_000_000));
        for (what, ms) in
            [("outages", self.outages_ms), ("jitter", self.jitter_ms), ("held acks", self.acks_ms)]
        {
            if ms >= LENGTH_MS {
                return Err(format!("{what} must be shorter than the {length} of a run"));
            }
        }
        if self.queue[0] == 0 || self.queue[0] > self.queue[1] {
            return Err(
                "the queue needs at least one packet, and a minimum up to its maximum".to_owned()
            );
        }
        if !(0.001..=1.0).contains(&self.rate) {
            return Err("the minimum rate must be a share from 0.001 to 1".to_owned());
        }
        Ok(())
    }
}
