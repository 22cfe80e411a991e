//! Random networks around a network that is not known exactly.

use serde::Serialize;
use windlass_cc::Span;

use crate::dice;
use crate::run::Task;
use crate::scenario::{LinkSpec, LossModel, Scenario};

/// Uncertainty of each property of the links, as a factor: 1 is known exactly, 2 is from half to twice the value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Factor of the rates.
    pub rate: f64,
    /// Factor of the propagation delays.
    pub delay: f64,
    /// Factor of the probabilities of random loss.
    pub loss: f64,
}

/// A property of the links that a draw changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Property {
    /// The rates of all links.
    Rate,
    /// The propagation delays of all links.
    Delay,
    /// The probabilities of random loss of all links.
    Loss,
}

impl Property {
    /// All properties.
    pub const ALL: [Property; 3] = [Property::Rate, Property::Delay, Property::Loss];

    /// Name in sentences.
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

    /// True if the property is uncertain, and the network has this property.
    pub(super) fn varies(&self, property: Property, scenario: &Scenario) -> bool {
        let bursts = |l: &LinkSpec| l.course.iter().any(|c| c.bursts.is_some());
        let random = |l: &LinkSpec| l.loss.iter().flatten().any(is_random) || bursts(l);
        let lossy = || scenario.links.iter().any(random);
        self.of(property) > 1.0 && (property != Property::Loss || lossy())
    }

    /// The factor of a property in the draw of this seed. Its logarithm is uniform. It depends only on the
    /// property and the seed, not on the candidate.
    pub(super) fn factor(&self, property: Property, seed: u64) -> f64 {
        let fraction = dice::fraction(&format!("{} {seed}", property.name()));
        libm::pow(self.of(property), 2.0 * fraction - 1.0)
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
                // The bursts are `loss` times as frequent, and their lengths are unchanged.
                bursts.mean_good = Span((bursts.mean_good.0 as f64 / loss).round().max(1.0) as u64);
            }
        }
        scenario
    }
}

fn is_random(model: &LossModel) -> bool {
    !matches!(model, LossModel::List { .. } | LossModel::Custom(_))
}

/// Multiplies the probability of loss by a factor, up to a probability of 1.
fn scale(model: &mut LossModel, factor: f64) {
    match model {
        LossModel::Drop { probability: p }
        | LossModel::Ber { rate: p, .. }
        | LossModel::GilbertElliott { good_to_bad: p, .. } => *p = (*p * factor).min(1.0),
        LossModel::List { .. } | LossModel::Custom(_) => {}
    }
}

/// Checks that the factors are valid and that the network can be varied.
pub(super) fn check(spread: &Spread, scenario: &Scenario) -> Result<(), String> {
    for property in Property::ALL {
        let factor = spread.of(property);
        if !(1.0..=100.0).contains(&factor) {
            let name = property.name();
            return Err(format!(
                "invalid factor {factor} of the {name}; expected a factor from 1 (known exactly) to 100"
            ));
        }
    }
    let changes = |l: &LinkSpec| l.course.iter().any(|c| c.rate.is_some() || !c.delays.is_empty());
    if let Some(link) = scenario.links.iter().find(|l| changes(l))
        && (spread.rate > 1.0 || spread.delay > 1.0)
    {
        let name = &link.name;
        return Err(format!(
            "link `{name}` changes over time, and its rate and delay cannot vary in addition; set them as known exactly: \
             rate=1,delay=1"
        ));
    }
    Ok(())
}
