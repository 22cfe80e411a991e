//! How a link direction departs from a constant rate and a constant delay: what a configuration says of it.

use std::sync::Arc;

use windlass_cc::{Span, Time};

use crate::loss::Bursts;

/// What one direction of a link does beside transmitting at one rate and delaying by one time. By default nothing, which costs
/// nothing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Course {
    /// The rate over time, in place of the link's own.
    pub rate: Option<RateCourse>,
    /// From which moments on the propagation delay is another; they ascend.
    pub delays: Vec<(Time, Span)>,
    /// By how much the delay varies from packet to packet.
    pub jitter: Option<Jitter>,
    /// Packets that others overtake.
    pub reorder: Option<Reorder>,
    /// What becomes of acknowledgements.
    pub acks: Option<AckShaping>,
    /// Bursts of losses in time, beside the link's error model.
    pub bursts: Option<Bursts>,
}

/// A rate that changes.
#[derive(Clone, PartialEq, Debug)]
pub enum RateCourse {
    /// Bits per second from each moment on, the first of which is the beginning; 0 stops the transmission. A frame that is being transmitted when the rate
    /// changes goes on at the new one.
    Steps(Vec<(Time, u64)>),
    /// The same over and over again.
    Repeat {
        /// Bits per second from each moment of a period on, the first of which is its beginning.
        steps: Vec<(Time, u64)>,
        /// After which time they begin again.
        period: Span,
    },
    /// By the delivery opportunities of a trace.
    Trace(Arc<Trace>),
}

impl RateCourse {
    fn check(&self) -> Result<(), String> {
        let (steps, period) = match self {
            RateCourse::Steps(steps) => (steps, None),
            RateCourse::Repeat { steps, period } => (steps, Some(*period)),
            RateCourse::Trace(_) => return Ok(()),
        };
        let first = steps.first().map(|(from, _)| *from);
        if first != Some(Time::ZERO) || !steps.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the moments of its rates must ascend from zero".to_string());
        }
        let (last, rate) = steps[steps.len() - 1];
        match period {
            Some(period) if Time::ZERO + period <= last => {
                Err("its rates must begin again after the last of them".to_string())
            }
            Some(_) if steps.iter().all(|(_, rate)| *rate == 0) => {
                Err("one of its rates must be at least 1 bit/s".to_string())
            }
            None if rate == 0 => {
                Err("its last rate must be at least 1 bit/s, or nothing ever leaves again; \
                                      `down` takes a link out"
                    .to_string())
            }
            _ => Ok(()),
        }
    }
}

/// Moments at which up to [`Trace::OPPORTUNITY`] bytes of IP packets can leave, over and over again: Mahimahi's traces of
/// cellular links (Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, section 3.2).
///
/// A packet leaves at the opportunity that takes its last byte; several share one, and a large one takes several. What is left of
/// an opportunity when nothing waits is lost. A packet may use an opportunity of the very moment at which it comes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Milliseconds from the beginning of a period, not descending; the last one is its length.
    ms: Vec<u32>,
}

impl Trace {
    /// Bytes of IP packets that one opportunity takes.
    pub const OPPORTUNITY: u32 = 1500;

    /// A trace of these moments.
    ///
    /// # Errors
    ///
    /// A sentence, with the place of the moment that is wrong, counted from 0, if it is one alone.
    pub fn new(ms: Vec<u32>) -> Result<Trace, (Option<usize>, String)> {
        let Some(&last) = ms.last() else {
            return Err((None, "a trace needs at least one delivery opportunity".to_string()));
        };
        if let Some(place) = ms.windows(2).position(|pair| pair[1] < pair[0]) {
            let (before, after) = (ms[place], ms[place + 1]);
            return Err((Some(place + 1), format!("{after} ms comes after {before} ms")));
        }
        if last == 0 {
            let problem = "a trace whose last opportunity is at 0 ms has no length to repeat";
            return Err((Some(ms.len() - 1), problem.to_string()));
        }
        Ok(Trace { ms })
    }

    /// The moments of one period, milliseconds from its beginning.
    pub fn ms(&self) -> &[u32] {
        &self.ms
    }

    /// After which time it begins again.
    pub fn period(&self) -> Span {
        Span::from_millis(self.ms.last().copied().unwrap_or(1).into())
    }

    /// Bits per second of IP packets over a period, at least 1.
    pub fn mean_bps(&self) -> u64 {
        let bits = 8 * u128::from(Trace::OPPORTUNITY) * self.ms.len() as u128;
        u64::try_from(bits * 1_000_000_000 / u128::from(self.period().0)).unwrap_or(u64::MAX).max(1)
    }

    /// When the opportunity with this number is, counted from 0 over all periods.
    pub(crate) fn at(&self, number: u64) -> Time {
        let n = self.ms.len() as u64;
        let within = Span::from_millis(self.ms[(number % n) as usize].into());
        Time(number / n * self.period().0) + within
    }

    /// The number of the first opportunity at this moment or later.
    pub(crate) fn first_from(&self, moment: Time) -> u64 {
        let n = self.ms.len() as u64;
        let period = self.period().0;
        // The last opportunity of a period is at the beginning of the next.
        let cycle = moment.0.saturating_sub(1) / period;
        let within = moment.0 - cycle * period;
        let before = self.ms.partition_point(|ms| u64::from(*ms) * 1_000_000 < within);
        cycle * n + before as u64
    }
}

/// How delays differ from packet to packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// How the difference is distributed.
    pub distribution: Distribution,
    /// Its size, by distribution; more than zero.
    pub by: Span,
    /// Whether a packet may overtake those before it; otherwise it comes out no earlier than they do.
    pub overtaking: bool,
}

/// A distribution of delays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Distribution {
    /// Evenly up to so much shorter or longer than the link's delay.
    Uniform,
    /// Normally about the link's delay, with this standard deviation, drawn anew beyond three of them.
    Normal,
    /// Longer than the link's delay, exponentially distributed with this mean.
    Exponential,
}

impl Distribution {
    /// Every distribution with its name in scenarios.
    pub const ALL: [(&'static str, Distribution); 3] = [
        ("uniform", Distribution::Uniform),
        ("normal", Distribution::Normal),
        ("exponential", Distribution::Exponential),
    ];

    /// By how many times its size it makes a delay shorter at most.
    pub fn reach(self) -> u64 {
        match self {
            Distribution::Uniform => 1,
            Distribution::Normal => 3,
            Distribution::Exponential => 0,
        }
    }
}

/// Some packets are held back until others have passed them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reorder {
    /// Share of the packets that are held back, 0 to 1.
    pub share: f64,
    /// How many packets pass one before it goes on, at least 1: its extent in the sense of RFC 4737 section 4.2.2, where packets are
    /// numbered as they were sent and none else is held back.
    pub packets: u32,
    /// How long it is held back at most.
    pub within: Span,
}

/// What a link does to acknowledgements: segments with neither data nor anything else to say, such as a SYN or FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckShaping {
    /// Whether they are dropped or only held.
    pub rule: AckRule,
    /// After how many of a connection the link lets go, at least 2.
    pub count: u32,
    /// After which time it does so anyway, counted from the first that it holds; more than zero.
    pub within: Span,
}

/// What becomes of the acknowledgements that a link holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AckRule {
    /// The newest one goes on in place of all. One that repeats the number before it, has SACK blocks or echoes a mark is not held,
    /// since it says what later ones may not.
    Thin,
    /// They go on together.
    Gather,
}

impl AckRule {
    /// Every rule with its name in scenarios.
    pub const ALL: [(&'static str, AckRule); 2] =
        [("thin", AckRule::Thin), ("gather", AckRule::Gather)];
}

impl Course {
    /// Whether packets come out after other times than the link's constant delay.
    pub(crate) fn has_line(&self) -> bool {
        !self.delays.is_empty()
            || self.jitter.is_some()
            || self.reorder.is_some()
            || self.acks.is_some()
    }

    /// Whether this can be simulated on a link with this delay; an error is a sentence.
    pub(crate) fn check(&self, delay: Span) -> Result<(), String> {
        self.rate.as_ref().map_or(Ok(()), RateCourse::check)?;
        self.bursts.as_ref().map_or(Ok(()), Bursts::check)?;
        if !self.delays.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the moments of its delays must ascend".to_string());
        }
        if let Some(jitter) = self.jitter {
            let least = self.delays.iter().map(|(_, delay)| *delay).fold(delay, Span::min);
            let reach = jitter.by.0.checked_mul(jitter.distribution.reach());
            if reach.is_none_or(|reach| reach > least.0) {
                return Err("its jitter is larger than its delay".to_string());
            }
        }
        if self.reorder.is_some_and(|r| !(0.0..=1.0).contains(&r.share) || r.packets == 0) {
            return Err("a share from 0 to 1 is reordered, by at least 1 packet".to_string());
        }
        if self.acks.is_some_and(|acks| acks.count < 2 || acks.within == Span::ZERO) {
            return Err("at least 2 acknowledgements are held, for more than no time".to_string());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn opportunities_go_on_in_the_next_period() {
        let trace = Trace::new(vec![0, 3, 3, 10]).unwrap();
        let moments: Vec<Time> = (0..6).map(|n| trace.at(n)).collect();
        assert_eq!(moments, [0, 3, 3, 10, 10, 13].map(MS));
        assert_eq!([0, 1, 3, 4, 10, 11].map(|ms| trace.first_from(MS(ms))), [0, 1, 1, 3, 3, 5]);
        assert_eq!(trace.first_from(Time(10_000_001)), 5);
        assert_eq!(trace.mean_bps(), 4 * 12_000 * 100);
    }

    #[test]
    fn a_trace_without_length_or_order_is_refused_with_its_place() {
        assert_eq!(Trace::new(vec![]).unwrap_err().0, None);
        assert_eq!(Trace::new(vec![1, 5, 4]).unwrap_err().0, Some(2));
        assert_eq!(Trace::new(vec![0, 0]).unwrap_err().0, Some(1));
    }
}
