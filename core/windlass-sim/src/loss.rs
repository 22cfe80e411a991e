//! Error models and outages, which determine the frames that a link direction loses.

use std::fmt::Debug;

use windlass_cc::{Span, Time};

use crate::extension::{Custom, cloneable};
use crate::random::{Chance, Purpose, Stream};

/// Conversion of a bit-error rate to a frame-error rate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BerFormula {
    /// `1 − (1 − BER)^bits`.
    Exact,
    /// `BER · bits`, at most 1: Reno-BER's equation 3 (RB-1).
    Linear,
}

impl BerFormula {
    /// Every formula with its name in scenarios.
    pub const ALL: [(&'static str, BerFormula); 2] =
        [("exact", BerFormula::Exact), ("linear", BerFormula::Linear)];
}

/// An error model. Probabilities are between 0 and 1.
#[derive(Clone, PartialEq, Debug)]
pub enum LossModel {
    /// Each frame is lost with this probability, regardless of its size.
    Drop {
        /// Probability of loss.
        probability: f64,
    },
    /// Each bit of the frame is wrong with this probability. One wrong bit loses the frame.
    Ber {
        /// Bit-error rate.
        rate: f64,
        /// Formula of the frame-error rate.
        formula: BerFormula,
    },
    /// Two states with their own loss probabilities; the state may change before each frame.
    GilbertElliott {
        /// Probability of a change from the good to the bad state.
        good_to_bad: f64,
        /// Probability of a change from the bad to the good state.
        bad_to_good: f64,
        /// Loss probability in the good state.
        loss_good: f64,
        /// Loss probability in the bad state.
        loss_bad: f64,
    },
    /// The frames with these numbers are lost, counted from 1 in the order of transmission.
    List {
        /// Frame numbers in ascending order.
        packets: Vec<u64>,
    },
    /// An error model that another crate defines.
    Custom(Custom<dyn ErrorModel>),
}

/// An error model that another crate defines, as a configuration holds it in [`LossModel::Custom`].
pub trait ErrorModel: Debug + Send + Sync {
    /// The model at the beginning of a run, on one link direction or at one station. It draws
    /// random values only from this stream.
    fn start(&self, stream: Stream) -> Box<dyn ErrorProcess>;
}

/// State of an error model on one link direction or at one station.
pub trait ErrorProcess: Debug + Send + Sync + CloneErrorProcess {
    /// Returns true if the next frame, of this many bytes, is lost.
    fn takes(&mut self, frame_bytes: u32) -> bool;
}

cloneable! {
    /// Copies of a simulation copy their error models. Every [`ErrorProcess`] that is `Clone`
    /// implements this trait.
    CloneErrorProcess, ErrorProcess
}

impl LossModel {
    /// Checks that this can be simulated; an error is a sentence.
    pub(crate) fn check(&self) -> Result<(), String> {
        let probabilities = match self {
            LossModel::Drop { probability } => vec![*probability],
            LossModel::Ber { rate, .. } => vec![*rate],
            LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                vec![*good_to_bad, *bad_to_good, *loss_good, *loss_bad]
            }
            LossModel::List { packets } => {
                let ascending = packets.windows(2).all(|w| w[0] < w[1]);
                if !ascending || packets.first() == Some(&0) {
                    return Err("frame numbers must ascend, the first being 1 or more".to_string());
                }
                Vec::new()
            }
            LossModel::Custom(_) => Vec::new(),
        };
        match probabilities.iter().find(|p| !(0.0..=1.0).contains(*p)) {
            Some(p) => Err(format!("a loss probability must be between 0 and 1, not {p}")),
            None => Ok(()),
        }
    }
}

/// Probability that a frame of `bits` bits has an error.
///
/// ```
/// use windlass_sim::loss::{BerFormula, frame_error_rate};
/// let per = frame_error_rate(1e-5, 8 * 1250, BerFormula::Exact);
/// assert!((per - 0.0952).abs() < 1e-4);
/// ```
pub fn frame_error_rate(ber: f64, bits: u64, formula: BerFormula) -> f64 {
    match formula {
        BerFormula::Exact => -libm::expm1(bits as f64 * libm::log1p(-ber)),
        BerFormula::Linear => (ber * bits as f64).min(1.0),
    }
}

/// Bursts of losses in time: a good and a bad state with exponentially distributed lengths, which
/// are independent of the frames. Two algorithms therefore have the same bursts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bursts {
    /// Mean length of the good state, in which a run begins; more than zero.
    pub mean_good: Span,
    /// Mean length of the bad state; more than zero.
    pub mean_bad: Span,
    /// Loss probability in the good state.
    pub loss_good: f64,
    /// Loss probability of a frame if the state was bad during any part of its transmission.
    pub loss_bad: f64,
}

impl Bursts {
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.mean_good == Span::ZERO || self.mean_bad == Span::ZERO {
            return Err(
                "the mean lengths of good and bad states must be more than zero".to_string()
            );
        }
        match [self.loss_good, self.loss_bad].iter().find(|p| !(0.0..=1.0).contains(*p)) {
            Some(p) => Err(format!("a loss probability must be between 0 and 1, not {p}")),
            None => Ok(()),
        }
    }
}

/// State of the bursts on one link direction.
#[derive(Clone, Debug)]
pub(crate) struct BurstProcess {
    bad: bool,
    /// Time of the next state change.
    until: Time,
    /// Mean lengths of the good and of the bad state.
    means: [Span; 2],
    loss: [Chance; 2],
    /// Random stream of the lengths, which is independent of the frames.
    lengths: Stream,
    draws: Stream,
}

impl BurstProcess {
    pub(crate) fn new(bursts: &Bursts, seed: u64, entity: u64) -> BurstProcess {
        let mut process = BurstProcess {
            bad: false,
            until: Time::ZERO,
            means: [bursts.mean_good, bursts.mean_bad],
            loss: [bursts.loss_good, bursts.loss_bad].map(Chance::new),
            lengths: Stream::new(seed, entity, Purpose::Bursts),
            draws: Stream::new(seed, entity, Purpose::Loss),
        };
        process.until = Time::ZERO + process.length();
        process
    }

    fn length(&mut self) -> Span {
        let mean = self.means[usize::from(self.bad)].0 as f64;
        Span((-mean * libm::log(self.lengths.unit())).round().max(1.0) as u64)
    }

    fn turn(&mut self) {
        self.bad = !self.bad;
        let length = self.length();
        self.until += length;
    }

    /// Returns true if the next frame, which is transmitted from `starts` to `ends`, is lost.
    fn takes(&mut self, starts: Time, ends: Time) -> bool {
        while self.until <= starts {
            self.turn();
        }
        let mut hit = self.bad;
        while self.until < ends {
            self.turn();
            hit |= self.bad;
        }
        self.loss[usize::from(hit)].draw(&mut self.draws)
    }
}

/// Loss probabilities over time.
#[derive(Clone, PartialEq, Debug)]
pub struct LossSteps {
    /// Probability from each time on. The first time is zero.
    pub steps: Vec<(Time, f64)>,
    /// Time after which the steps repeat; `None` if the last holds.
    pub period: Option<Span>,
}

impl LossSteps {
    pub(crate) fn check(&self) -> Result<(), String> {
        let first = self.steps.first().map(|(from, _)| *from);
        if first != Some(Time::ZERO) || !self.steps.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the times of the loss probabilities must ascend from zero".to_string());
        }
        let last = self.steps.last().map_or(Time::ZERO, |(from, _)| *from);
        if self.period.is_some_and(|period| Time::ZERO + period <= last) {
            return Err("loss steps must repeat after the time of the last step".to_string());
        }
        match self.steps.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            Some((_, p)) => Err(format!("a loss probability must be between 0 and 1, not {p}")),
            None => Ok(()),
        }
    }
}

/// State of losses over time on one link direction.
#[derive(Clone, Debug)]
pub(crate) enum InTime {
    Bursts(BurstProcess),
    Steps(StepProcess),
}

impl InTime {
    fn takes(&mut self, starts: Time, ends: Time) -> bool {
        match self {
            InTime::Bursts(process) => process.takes(starts, ends),
            InTime::Steps(process) => process.takes(starts),
        }
    }
}

/// State of loss steps on one link direction.
#[derive(Clone, Debug)]
pub(crate) struct StepProcess {
    steps: Vec<(Time, Chance)>,
    period: Option<Span>,
    draws: Stream,
}

impl StepProcess {
    pub(crate) fn new(steps: &LossSteps, seed: u64, entity: u64) -> StepProcess {
        StepProcess {
            steps: steps.steps.iter().map(|(from, p)| (*from, Chance::new(*p))).collect(),
            period: steps.period,
            draws: Stream::new(seed, entity, Purpose::Loss),
        }
    }

    /// Returns true if the frame that starts at `starts` is lost.
    fn takes(&mut self, starts: Time) -> bool {
        let chance = step_at(&self.steps, self.period, starts);
        chance.is_some_and(|chance| chance.draw(&mut self.draws))
    }
}

/// The value of steps at a time. The steps may repeat after a period.
pub(crate) fn step_at<T: Copy>(
    steps: &[(Time, T)],
    period: Option<Span>,
    moment: Time,
) -> Option<T> {
    let moment = period.map_or(moment, |period| Time(moment.0 % period.0.max(1)));
    let after = steps.partition_point(|(from, _)| *from <= moment);
    steps.get(after.checked_sub(1)?).map(|(_, value)| *value)
}

/// Causes of frame losses on one link direction: an error model, losses over time, and outages.
#[derive(Clone, Debug)]
pub struct Errors {
    model: Option<LossProcess>,
    in_time: Option<InTime>,
    /// Start and end of each outage, in ascending order.
    down: Vec<[Time; 2]>,
    /// Number of outages that are over.
    over: usize,
}

impl Errors {
    /// Creates the causes for a link with this error model. The link is down from the first to the
    /// second time of each pair; the pairs are in ascending order.
    pub fn new(model: Option<LossProcess>, down: Vec<[Time; 2]>) -> Errors {
        Errors { model, in_time: None, down, over: 0 }
    }

    /// Adds losses over time.
    pub(crate) fn over_time(self, in_time: Option<InTime>) -> Errors {
        Errors { in_time, ..self }
    }

    /// Returns true if the next frame, of this many bytes and transmitted from `starts` to `ends`,
    /// is lost. The cause is the model, the time, or an outage during a part of the transmission.
    /// The model draws in every case, so that an outage does not change its later draws.
    pub fn take(&mut self, frame_bytes: u32, starts: Time, ends: Time) -> bool {
        let by_model = self.model.as_mut().is_some_and(|m| m.takes(frame_bytes));
        let by_time = self.in_time.as_mut().is_some_and(|t| t.takes(starts, ends));
        while self.down.get(self.over).is_some_and(|[_, up]| *up <= starts) {
            self.over += 1;
        }
        by_model || by_time || self.down.get(self.over).is_some_and(|[down, _]| *down < ends)
    }
}

/// Maximum number of frame sizes with a cached probability. It is recomputed for other sizes each
/// time.
const MAX_SIZES: usize = 16;

/// State of an error model on one link direction.
#[derive(Clone, Debug)]
pub struct LossProcess(Box<dyn ErrorProcess>);

impl LossProcess {
    /// Creates the state of the model, which draws from this stream. Two-state models begin in the
    /// good state.
    pub fn new(model: &LossModel, stream: Stream) -> LossProcess {
        LossProcess(match model {
            LossModel::Drop { probability } => {
                Box::new(Drops { chance: Chance::new(*probability), stream })
            }
            LossModel::Ber { rate, formula } => {
                let chances = Vec::with_capacity(MAX_SIZES);
                Box::new(BitErrors { rate: *rate, formula: *formula, chances, stream })
            }
            LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
                let leave = [Chance::new(*good_to_bad), Chance::new(*bad_to_good)];
                let loss = [Chance::new(*loss_good), Chance::new(*loss_bad)];
                Box::new(TwoStates { bad: false, leave, loss, stream })
            }
            LossModel::List { packets } => {
                Box::new(Listed { packets: packets.clone(), next: 0, seen: 0 })
            }
            LossModel::Custom(model) => model.start(stream),
        })
    }

    /// Returns true if the next frame, of this many bytes, is lost.
    pub fn takes(&mut self, frame_bytes: u32) -> bool {
        self.0.takes(frame_bytes)
    }
}

/// State of [`LossModel::Drop`].
#[derive(Clone, Debug)]
struct Drops {
    chance: Chance,
    stream: Stream,
}

impl ErrorProcess for Drops {
    fn takes(&mut self, _: u32) -> bool {
        self.chance.draw(&mut self.stream)
    }
}

/// State of [`LossModel::Ber`].
#[derive(Clone, Debug)]
struct BitErrors {
    rate: f64,
    formula: BerFormula,
    /// Cached frame sizes and their probabilities. A link carries few sizes.
    chances: Vec<(u32, Chance)>,
    stream: Stream,
}

impl ErrorProcess for BitErrors {
    fn takes(&mut self, frame_bytes: u32) -> bool {
        let chance = match self.chances.iter().find(|c| c.0 == frame_bytes) {
            Some(c) => c.1,
            None => {
                let per = frame_error_rate(self.rate, 8 * u64::from(frame_bytes), self.formula);
                let chance = Chance::new(per);
                if self.chances.len() < MAX_SIZES {
                    self.chances.push((frame_bytes, chance));
                }
                chance
            }
        };
        chance.draw(&mut self.stream)
    }
}

/// State of [`LossModel::GilbertElliott`].
#[derive(Clone, Debug)]
struct TwoStates {
    bad: bool,
    leave: [Chance; 2],
    loss: [Chance; 2],
    stream: Stream,
}

impl ErrorProcess for TwoStates {
    fn takes(&mut self, _: u32) -> bool {
        if self.leave[usize::from(self.bad)].draw(&mut self.stream) {
            self.bad = !self.bad;
        }
        self.loss[usize::from(self.bad)].draw(&mut self.stream)
    }
}

/// State of [`LossModel::List`].
#[derive(Clone, Debug)]
struct Listed {
    packets: Vec<u64>,
    next: usize,
    seen: u64,
}

impl ErrorProcess for Listed {
    fn takes(&mut self, _: u32) -> bool {
        self.seen += 1;
        let hit = self.packets.get(self.next) == Some(&self.seen);
        self.next += usize::from(hit);
        hit
    }
}

#[cfg(test)]
mod tests;
