//! Configured deviations of a link direction from a constant rate and a constant delay.

use std::sync::Arc;

use windlass_cc::{Span, Time};

use crate::both_ways::Usual;
use crate::loss::{Bursts, LossSteps};

/// Deviations of one link direction from a constant rate and delay. The default has no deviations
/// and no run-time cost.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Course {
    /// The rate over time, which replaces the link's own rate.
    pub rate: Option<RateCourse>,
    /// Times from which on the propagation delay has another value, in ascending order.
    pub delays: Vec<(Time, Span)>,
    /// Time after which these delays repeat, from the link's own delay on; `None` if the last holds.
    pub delays_repeat: Option<Span>,
    /// Variation of the delay from packet to packet.
    pub jitter: Option<Jitter>,
    /// Packets that other packets overtake.
    pub reorder: Option<Reorder>,
    /// Treatment of acknowledgements.
    pub acks: Option<AckShaping>,
    /// Bursts of losses in time, in addition to the link's error model.
    pub bursts: Option<Bursts>,
    /// Loss probabilities over time, in addition to the error model and instead of bursts.
    pub loss: Option<LossSteps>,
}

impl Usual for Course {
    const USUAL: &Course = &Course {
        rate: None,
        delays: Vec::new(),
        delays_repeat: None,
        jitter: None,
        reorder: None,
        acks: None,
        bursts: None,
        loss: None,
    };
}

/// A rate that changes over time.
#[derive(Clone, PartialEq, Debug)]
pub enum RateCourse {
    /// Bits per second from each time on. The first time is zero. A rate of 0 stops the
    /// transmission. A rate change also applies to the rest of the frame in transmission.
    Steps(Vec<(Time, u64)>),
    /// Steps that repeat periodically.
    Repeat {
        /// Bits per second from each time of a period on. The first time is the start of the
        /// period.
        steps: Vec<(Time, u64)>,
        /// Length of the period.
        period: Span,
    },
    /// Delivery opportunities of a trace.
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
            return Err("the times of the rates must ascend from zero".to_string());
        }
        let (last, rate) = steps[steps.len() - 1];
        match period {
            Some(period) if Time::ZERO + period <= last => {
                Err("the period must be longer than the time of the last rate".to_string())
            }
            Some(_) if steps.iter().all(|(_, rate)| *rate == 0) => {
                Err("one of the rates must be at least 1 bit/s".to_string())
            }
            None if rate == 0 => {
                Err("the last rate must be at least 1 bit/s; use `down` for an outage".to_string())
            }
            _ => Ok(()),
        }
    }
}

/// Times at which up to [`Trace::OPPORTUNITY`] bytes of IP packets can leave, repeated
/// periodically. These are Mahimahi's traces of cellular links (Netravali et al., "Mahimahi:
/// Accurate Record-and-Replay for HTTP", USENIX ATC 2015, section 3.2).
///
/// A packet leaves at the opportunity that takes its last byte. Several packets can share an
/// opportunity, and a large packet takes several. The rest of an opportunity is lost if no packet
/// waits. A packet may use an opportunity at the time of its arrival.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Milliseconds from the start of a period, not descending. The last value is the length of the
    /// period.
    ms: Vec<u32>,
}

impl Trace {
    /// Bytes of IP packets that one opportunity takes.
    pub const OPPORTUNITY: u32 = 1500;

    /// Creates a trace of these times.
    ///
    /// # Errors
    ///
    /// A sentence, with the index of the wrong time if the fault is at one time.
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

    /// The times of one period, milliseconds from its start.
    pub fn ms(&self) -> &[u32] {
        &self.ms
    }

    /// Length of the period.
    pub fn period(&self) -> Span {
        Span::from_millis(self.ms.last().copied().unwrap_or(1).into())
    }

    /// Bits per second of IP packets over a period, at least 1.
    pub fn mean_bps(&self) -> u64 {
        let bits = 8 * u128::from(Trace::OPPORTUNITY) * self.ms.len() as u128;
        u64::try_from(bits * 1_000_000_000 / u128::from(self.period().0)).unwrap_or(u64::MAX).max(1)
    }

    /// Time of the opportunity with this number, counted from 0 over all periods.
    pub(crate) fn at(&self, number: u64) -> Time {
        let n = self.ms.len() as u64;
        let within = Span::from_millis(self.ms[(number % n) as usize].into());
        Time(number / n * self.period().0) + within
    }

    /// Number of the first opportunity at or after this time.
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

/// Variation of the delay from packet to packet.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// Distribution of the variation.
    pub distribution: Distribution,
    /// Scale of the distribution; more than zero.
    pub by: Span,
    /// True if a packet may overtake earlier packets. Otherwise it arrives no earlier than they do.
    pub overtaking: bool,
}

/// A distribution of delays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Distribution {
    /// Uniform, at most this much below or above the link's delay.
    Uniform,
    /// Normal around the link's delay, with this standard deviation. Values beyond three standard
    /// deviations are drawn again.
    Normal,
    /// Above the link's delay, exponentially distributed with this mean.
    Exponential,
}

impl Distribution {
    /// Every distribution with its name in scenarios.
    pub const ALL: [(&'static str, Distribution); 3] = [
        ("uniform", Distribution::Uniform),
        ("normal", Distribution::Normal),
        ("exponential", Distribution::Exponential),
    ];

    /// Maximum reduction of the delay, as a multiple of the scale.
    pub fn reach(self) -> u64 {
        match self {
            Distribution::Uniform => 1,
            Distribution::Normal => 3,
            Distribution::Exponential => 0,
        }
    }
}

/// Reordering that holds some packets until others have passed them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reorder {
    /// Share of the packets that are held, 0 to 1.
    pub share: f64,
    /// Number of packets that pass a held packet before it continues, at least 1. This is its
    /// extent in the sense of RFC 4737 section 4.2.2, if packets are numbered in the order of
    /// sending and no other packet is held.
    pub packets: u32,
    /// Maximum time for which a packet is held.
    pub within: Span,
}

/// Treatment of pure acknowledgements, which are segments without data and without other flags such
/// as SYN or FIN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AckShaping {
    /// Rule: the acknowledgements are dropped or only held.
    pub rule: AckRule,
    /// Number of held acknowledgements of a connection after which the link releases them, at least
    /// 2.
    pub count: u32,
    /// Maximum time before the release, counted from the first held acknowledgement; more than
    /// zero.
    pub within: Span,
}

/// Treatment of the acknowledgements that a link holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AckRule {
    /// Only the newest acknowledgement continues. An acknowledgement that repeats the previous
    /// number, has SACK blocks or echoes a mark is not held, because later acknowledgements may
    /// lack its information.
    Thin,
    /// All held acknowledgements continue together.
    Gather,
}

impl AckRule {
    /// Every rule with its name in scenarios.
    pub const ALL: [(&'static str, AckRule); 2] =
        [("thin", AckRule::Thin), ("gather", AckRule::Gather)];
}

impl Course {
    /// True if the delay of packets can deviate from the link's constant delay.
    pub(crate) fn has_line(&self) -> bool {
        !self.delays.is_empty()
            || self.jitter.is_some()
            || self.reorder.is_some()
            || self.acks.is_some()
    }

    /// Checks that this can be simulated on a link with this delay; an error is a sentence.
    pub(crate) fn check(&self, delay: Span) -> Result<(), String> {
        self.rate.as_ref().map_or(Ok(()), RateCourse::check)?;
        self.bursts.as_ref().map_or(Ok(()), Bursts::check)?;
        self.loss.as_ref().map_or(Ok(()), LossSteps::check)?;
        if self.loss.is_some() && self.bursts.is_some() {
            return Err("losses over time are either bursts or steps".to_string());
        }
        let last = self.delays.last().map_or(Time::ZERO, |(from, _)| *from);
        if self.delays_repeat.is_some_and(|period| Time::ZERO + period <= last) {
            return Err("the delays must repeat after the time of the last delay".to_string());
        }
        if !self.delays.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("the times of the delays must ascend".to_string());
        }
        if let Some(jitter) = self.jitter {
            let least = self.delays.iter().map(|(_, delay)| *delay).fold(delay, Span::min);
            let reach = jitter.by.0.checked_mul(jitter.distribution.reach());
            if reach.is_none_or(|reach| reach > least.0) {
                return Err("the jitter is larger than the delay".to_string());
            }
        }
        if self.reorder.is_some_and(|r| !(0.0..=1.0).contains(&r.share) || r.packets == 0) {
            return Err("reordering needs a share from 0 to 1 and at least 1 packet".to_string());
        }
        if self.acks.is_some_and(|acks| acks.count < 2 || acks.within == Span::ZERO) {
            return Err(
                "ACK shaping needs at least 2 acknowledgements and a time above 0".to_string()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn opportunities_repeat_in_the_next_period() {
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
