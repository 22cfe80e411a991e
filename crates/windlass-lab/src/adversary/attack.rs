//! What an adversary does to a path, and how much of it.

use serde::Serialize;

use crate::dice::Dice;
use crate::scenario::{Scenario, ScenarioError};
use crate::units::Duration;

/// The path without an adversary.
const PATH: &str = include_str!("path.toml");
/// Its rate, bit/s; a test reads the file.
pub(super) const RATE_BPS: f64 = 10e6;
/// Its length, ms.
pub(super) const LENGTH_MS: u64 = 20_000;
/// Packets of a full flow in that time, about: what a list of losses may name.
const PACKETS: u64 = 16_000;
/// Payload rate of a burst, over the bottleneck's.
const BURST: f64 = 2.0;

/// How much an adversary may do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// Packets that may be lost.
    pub losses: usize,
    /// Share of the time in which datagrams may fill the bottleneck.
    pub bursts: f64,
    /// Time in which the bottleneck may be down, ms.
    pub outages_ms: u64,
    /// Least and largest queue, packets.
    pub queue: [u64; 2],
}

/// Bursts of datagrams at twice the bottleneck's rate, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bursts {
    /// Begin of the first, ms.
    pub first_ms: u64,
    /// From the begin of one to that of the next, ms.
    pub period_ms: u64,
    /// Length of each, ms.
    pub length_ms: u64,
}

/// What an adversary does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Attack {
    /// Numbers of the packets that the bottleneck loses, ascending.
    pub losses: Vec<u64>,
    /// Other traffic.
    pub bursts: Option<Bursts>,
    /// From when until when the bottleneck is down, ms, ascending.
    pub outages_ms: Vec<[u64; 2]>,
    /// Its queue, packets.
    pub queue: u64,
    /// When the second flow begins, where there is one, ms.
    pub second_ms: u64,
}

impl Bursts {
    /// From when until when there is one, ms.
    fn on(&self) -> Vec<[u64; 2]> {
        let begins = (0..).map(|i| self.first_ms + i * self.period_ms);
        let begins = begins.take_while(|begin| begin + self.length_ms < LENGTH_MS);
        begins.map(|begin| [begin, begin + self.length_ms]).collect()
    }
}

impl Attack {
    /// None, on a queue of one bandwidth-delay product as far as the bounds have one.
    pub(super) fn none(bounds: &Bounds) -> Attack {
        let queue = 33.clamp(bounds.queue[0], bounds.queue[1]);
        Attack { losses: Vec::new(), bursts: None, outages_ms: Vec::new(), queue, second_ms: 0 }
    }

    /// The path under attack, with a second flow of the algorithm where `two`.
    ///
    /// # Errors
    ///
    /// The algorithm is none.
    pub(super) fn scenario(&self, algorithm: &str, two: bool) -> Result<Scenario, ScenarioError> {
        let pairs = |all: &[[u64; 2]]| {
            let each: Vec<String> =
                all.iter().map(|[a, b]| format!("[\"{a}ms\", \"{b}ms\"]")).collect();
            format!("[{}]", each.join(", "))
        };
        let mut text = PATH.to_owned();
        let mut set = vec![
            ("flow.subject.algorithm".to_owned(), algorithm.to_owned()),
            ("link.bottleneck.queue".to_owned(), format!("{}pkt", self.queue)),
        ];
        if two {
            text += "\n[[flow]]\nname = \"second\"\nfrom = \"server\"\nto = \"client\"\nalgorithm = \"cubic\"\n";
            set.push(("flow.second.algorithm".to_owned(), algorithm.to_owned()));
            set.push(("flow.second.start".to_owned(), format!("{}ms", self.second_ms)));
        }
        if let Some(on) = self.bursts.map(|b| b.on()).filter(|on| !on.is_empty()) {
            let rate = BURST * RATE_BPS;
            text += &format!(
                "\n[[flow]]\nname = \"burst\"\nfrom = \"router\"\nto = \"client\"\nalgorithm = \"none\"\n\
                 traffic = {{ kind = \"cbr\", transport = \"udp\", rate = \"{rate}bps\", packet = \"1000B\", on = {} }}\n",
                pairs(&on)
            );
        }
        if !self.losses.is_empty() {
            let loss = format!("{{ model = \"list\", packets = {:?} }}", self.losses);
            set.push(("link.bottleneck.loss".to_owned(), loss));
        }
        if !self.outages_ms.is_empty() {
            set.push(("link.bottleneck.down".to_owned(), pairs(&self.outages_ms)));
        }
        Scenario::with_overrides(&text, "adversary", &set)
    }

    /// What the subject could have carried under it, bits.
    pub(super) fn available_bits(&self) -> f64 {
        let span = |all: &[[u64; 2]]| all.iter().map(|[a, b]| b - a).sum::<u64>() as f64 / 1e3;
        let bursts = self.bursts.map(|b| span(&b.on())).unwrap_or_default();
        let left = LENGTH_MS as f64 / 1e3 - span(&self.outages_ms) - bursts;
        left.max(0.0) * RATE_BPS
    }

    /// Another one, not far from it, within the bounds.
    pub(super) fn varied(&self, dice: &mut Dice, bounds: &Bounds) -> Attack {
        let mut attack = self.clone();
        for _ in 0..dice.between(1, 3) {
            match dice.between(0, 6) {
                0 | 1 => attack.lose(dice),
                2 => attack.repeat(dice),
                3 => attack.spare(dice),
                4 => attack.burst(dice, bounds),
                5 => attack.interrupt(dice, bounds),
                _ => {
                    attack.queue = dice.between(bounds.queue[0], bounds.queue[1]);
                    attack.second_ms = dice.between(0, LENGTH_MS / 2);
                }
            }
        }
        attack.within(bounds)
    }

    /// Some packets in a row, near another loss or anywhere.
    fn lose(&mut self, dice: &mut Dice) {
        let near = dice.between(0, 1) == 1 && !self.losses.is_empty();
        let begin = if near {
            let at = dice.between(0, self.losses.len() as u64 - 1) as usize;
            self.losses[at] + dice.between(1, 100)
        } else {
            // As likely between 10 and 100 as between 100 and 1000: where a flow is young there is more to break.
            (PACKETS as f64).powf(dice.next()) as u64 + 1
        };
        self.losses.extend(begin..begin + dice.between(1, 8));
    }

    /// What was lost once more, later.
    fn repeat(&mut self, dice: &mut Dice) {
        let shift = dice.between(1, 2000);
        let again: Vec<u64> = self.losses.iter().map(|l| l + shift).collect();
        self.losses.extend(again);
    }

    /// Some losses less.
    fn spare(&mut self, dice: &mut Dice) {
        for _ in 0..dice.between(1, 3).min(self.losses.len() as u64) {
            let at = dice.between(0, self.losses.len() as u64 - 1) as usize;
            self.losses.remove(at);
        }
    }

    fn burst(&mut self, dice: &mut Dice, bounds: &Bounds) {
        if bounds.bursts <= 0.0 {
            return;
        }
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
        if bounds.outages_ms == 0 {
            return;
        }
        let begin = dice.between(0, LENGTH_MS - 1);
        let end = begin + dice.between(1, bounds.outages_ms);
        self.outages_ms.push([begin, end.min(LENGTH_MS)]);
    }

    /// Put in order, and cut to what is allowed.
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

    /// Simpler ones, the simplest first.
    pub(super) fn simpler(&self, bounds: &Bounds) -> Vec<Attack> {
        let none = Attack::none(bounds);
        let mut all = vec![
            Attack { losses: Vec::new(), ..self.clone() },
            Attack { bursts: None, ..self.clone() },
            Attack { outages_ms: Vec::new(), ..self.clone() },
            Attack { queue: none.queue, ..self.clone() },
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
        for i in 0..self.outages_ms.len() {
            let mut outages_ms = self.outages_ms.clone();
            outages_ms.remove(i);
            all.push(Attack { outages_ms, ..self.clone() });
        }
        all.retain(|attack| attack != self);
        all
    }

    /// In words.
    pub fn words(&self) -> String {
        let mut parts = vec![format!("a queue of {} packets", self.queue)];
        match self.losses.as_slice() {
            [] => {}
            [one] => parts.push(format!("packet {one} lost")),
            all => parts.push(format!("{} packets lost, the first number {}", all.len(), all[0])),
        }
        if let Some(b) = self.bursts {
            let (length, period) = (b.length_ms, b.period_ms);
            parts.push(format!("bursts of {length} ms every {period} ms from {} ms", b.first_ms));
        }
        for [a, b] in &self.outages_ms {
            parts.push(format!("down from {a} to {b} ms"));
        }
        parts.join(", ")
    }
}

impl Bounds {
    /// That they leave something to do, and that it is possible.
    ///
    /// # Errors
    ///
    /// What is not right, in a sentence.
    pub(super) fn check(&self) -> Result<(), String> {
        if !(0.0..=0.5).contains(&self.bursts) {
            return Err("bursts may take from 0 to half of the time".to_owned());
        }
        let length = Duration(windlass_cc::Span(LENGTH_MS * 1_000_000));
        if self.outages_ms >= LENGTH_MS {
            return Err(format!("outages must be shorter than the {length} of a run"));
        }
        if self.queue[0] == 0 || self.queue[0] > self.queue[1] {
            return Err(
                "a queue holds at least one packet, and the least no more than the most".to_owned()
            );
        }
        Ok(())
    }
}
