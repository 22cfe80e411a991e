//! Evaluation of a timer on a recorded connection.

use std::collections::VecDeque;

use windlass_cc::rto::cmbo::{Draws, Objective, TICK_BITS};
use windlass_cc::rto::{AnyParams, AnyRto, Rfc6298, Rfc6298Params, RtoEstimator, RttSample};
use windlass_cc::{Span, Time};

use crate::record::{Fate, Recorded, Step};

/// RTT samples in the empirical distribution.
const SAMPLES: usize = 64;

/// Result of one timer.
pub struct Verdict {
    /// Share of the acknowledged segments that would have timed out.
    pub spurious: f64,
    /// Mean timeout of lost segments, seconds.
    pub wait: f64,
    /// Cost of the timer's timeouts over the minimum cost, both summed over all segments.
    pub cost: f64,
    /// Mean distance from the cheapest timeout, as a share of the cheapest timeout.
    pub distance: f64,
}

/// State of the objective at one time.
struct Moment {
    rtts: VecDeque<u32>,
    smoothed: Rfc6298,
    marks: [(u64, u64); 2],
    now: (u64, u64),
}

impl Moment {
    fn new() -> Moment {
        let smoothed = Rfc6298::init(&Rfc6298Params::default());
        Moment { rtts: VecDeque::new(), smoothed, marks: [(0, 0); 2], now: (0, 0) }
    }

    fn on_sample(&mut self, s: &RttSample) {
        self.smoothed.on_sample(&Rfc6298Params::default(), s);
        self.rtts.push_back((s.rtt.0 >> TICK_BITS) as u32);
        if self.rtts.len() > SAMPLES {
            self.rtts.pop_front();
        }
        self.now = (s.sent, s.resent);
        if s.sent - self.marks[1].0 >= SAMPLES as u64 {
            self.marks = [self.marks[1], self.now];
        }
    }

    /// Costs of this timeout and of the cheapest timeout, and the cheapest timeout in ticks. `None`
    /// while there are fewer than `SAMPLES` samples.
    fn look(&mut self, timeout: Span) -> Option<(u64, u64, u32)> {
        if self.rtts.len() < SAMPLES {
            return None;
        }
        let (all, again) = (self.now.0 - self.marks[0].0, self.now.1 - self.marks[0].1);
        let loss = 65_536 * (again + 1) / (all + 2);
        let spurious = self.smoothed.srtt().0 >> TICK_BITS;
        let objective = Objective::new(self.rtts.make_contiguous(), spurious, loss);
        let cheapest = objective.cheapest(objective.range().0);
        let timeout = (timeout.0 >> TICK_BITS).min(u64::from(u32::MAX)) as u32;
        Some((objective.at(timeout), objective.at(cheapest), cheapest))
    }
}

/// `part / whole`, or not a number if `whole` is zero.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { f64::NAN }
}

impl Recorded {
    /// Replays the connection to a timer.
    pub fn judge(&self, p: &AnyParams, seed: u32) -> Verdict {
        let (mut timer, mut moment) = (AnyRto::init(p), Moment::new());
        let mut draws = Draws::new(seed);
        let [mut acknowledged, mut spurious, mut lost, mut wait] = [0.0; 4];
        let [mut cost, mut least, mut distance, mut looks] = [0.0; 4];
        let mut now = Time::ZERO;
        for step in &self.steps {
            match step {
                Step::Sample(s) => {
                    now = s.now;
                    timer.on_sample(p, s);
                    timer.on_progress(p);
                    moment.on_sample(s);
                }
                Step::Sent(number) => {
                    let timeout = timer.arm(p, now, draws.next());
                    match self.fates[*number] {
                        Fate::Acknowledged(rtt) => {
                            acknowledged += 1.0;
                            spurious += f64::from(u8::from(rtt > timeout));
                        }
                        Fate::Lost => {
                            lost += 1.0;
                            wait += timeout.0 as f64 * 1e-9;
                        }
                        Fate::Unclear => {}
                    }
                    if let Some((ours, best, cheapest)) = moment.look(timeout) {
                        cost += ours as f64;
                        least += best as f64;
                        let off = (timeout.0 >> TICK_BITS) as f64 - f64::from(cheapest);
                        distance += off.abs() / f64::from(cheapest);
                        looks += 1.0;
                    }
                }
            }
        }
        Verdict {
            spurious: ratio(spurious, acknowledged),
            wait: ratio(wait, lost),
            cost: ratio(cost, least),
            distance: ratio(distance, looks),
        }
    }
}
