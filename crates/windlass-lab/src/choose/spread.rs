//! Networks around one that is not known exactly.

use serde::Serialize;
use windlass_cc::Span;

use crate::dice;
use crate::run::Task;
use crate::scenario::{LinkSpec, LossModel, Scenario};

/// By which factor each property of the links may be off: 1 is known exactly, 2 from half to twice.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Of the rates.
    pub rate: f64,
    /// Of the propagation delays.
    pub delay: f64,
    /// Of the probabilities of random loss.
    pub loss: f64,
}

/// What a draw changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// The rates of all links.
    Rate,
    /// Their propagation delays.
    Delay,
    /// Their probabilities of random loss.
    Loss,
}

impl Property {
    /// All of them.
    pub const ALL: [Property; 3] = [Property::Rate, Property::Delay, Property::Loss];

    /// As a sentence has it.
    pub const fn name(self) -> &'static str {
        match self {
            Property::Rate => "rate",
            Property::Delay => "delay",
            Property::Loss => "random loss",
        }
    }
}

impl Spread {
    fn of(&self, property: Property) -> f64 {
        match property {
            Property::Rate => self.rate,
            Property::Delay => self.delay,
            Property::Loss => self.loss,
        }
    }

    /// Whether anything is uncertain that the network has.
    pub(super) fn varies(&self, property: Property, scenario: &Scenario) -> bool {
        let bursts = |l: &LinkSpec| l.course.iter().any(|c| c.bursts.is_some());
        let random = |l: &LinkSpec| l.loss.iter().flatten().any(is_random) || bursts(l);
        let lossy = || scenario.links.iter().any(random);
        self.of(property) > 1.0 && (property != Property::Loss || lossy())
    }

    /// The factor of a property in the draw of this seed: its logarithm is uniform, and no other seed, property or
    /// candidate has a part in it.
    pub(super) fn factor(&self, property: Property, seed: u64) -> f64 {
        let fraction = dice::fraction(&format!("{} {seed}", property.name()));
        self.of(property).powf(2.0 * fraction - 1.0)
    }

    /// The run on the network that its seed draws.
    pub(super) fn drawn(&self, task: Task) -> Task {
        let scenario = self.network(&task.scenario, task.seed);
        let scenario_hash = task.world.hash(&scenario).into();
        Task { scenario: scenario.into(), scenario_hash, ..task }
    }

    fn network(&self, scenario: &Scenario, seed: u64) -> Scenario {
        let mut scenario = scenario.clone();
        let [rate, delay, loss] = Property::ALL.map(|p| self.factor(p, seed));
        for link in &mut scenario.links {
            let times = |rate_bps: &mut u64, span: &mut Span| {
                *rate_bps = (*rate_bps as f64 * rate).round().max(1.0) as u64;
                *span = Span((span.0 as f64 * delay).round() as u64);
            };
            times(&mut link.rate_bps, &mut link.delay);
            link.back.iter_mut().for_each(|back| times(&mut back.rate_bps, &mut back.delay));
            for model in link.loss.iter_mut().flatten() {
                scale(model, loss);
            }
            for bursts in link.course.iter_mut().filter_map(|c| c.bursts.as_mut()) {
                // As many more bursts, each as long.
                bursts.mean_good = Span((bursts.mean_good.0 as f64 / loss).round().max(1.0) as u64);
            }
        }
        scenario
    }
}

fn is_random(model: &LossModel) -> bool {
    !matches!(model, LossModel::List { .. } | LossModel::Custom(_))
}

/// Losses so many times as frequent, never more than certain.
fn scale(model: &mut LossModel, factor: f64) {
    match model {
        LossModel::Drop { probability: p }
        | LossModel::Ber { rate: p, .. }
        | LossModel::GilbertElliott { good_to_bad: p, .. } => *p = (*p * factor).min(1.0),
        LossModel::List { .. } | LossModel::Custom(_) => {}
    }
}

/// Advice is for networks that can be varied.
pub(super) fn check(spread: &Spread, scenario: &Scenario) -> Result<(), String> {
    for property in Property::ALL {
        let factor = spread.of(property);
        if !(1.0..=100.0).contains(&factor) {
            let name = property.name();
            return Err(format!(
                "the {name} can be off by a factor from 1, known exactly, to 100, not {factor}"
            ));
        }
    }
    let changes = |l: &LinkSpec| l.course.iter().any(|c| c.rate.is_some() || !c.delays.is_empty());
    if let Some(link) = scenario.links.iter().find(|l| changes(l))
        && (spread.rate > 1.0 || spread.delay > 1.0)
    {
        let name = &link.name;
        return Err(format!(
            "link `{name}` changes over time and cannot be varied beside that; say that rate and delay are known \
             exactly: rate=1,delay=1"
        ));
    }
    Ok(())
}
