//! Transmitter of a link direction with a varying rate. It computes the end of each frame's
//! transmission.

use std::sync::Arc;

use windlass_cc::{Span, Time};

use crate::course::{RateCourse, Trace};
use crate::link_radio::lora::{LORAWAN_BYTES, Modulation};

/// State of the transmitter. It is called in the order of the frames.
#[derive(Clone, Debug)]
pub(crate) enum Schedule {
    Steps(Steps),
    Trace {
        trace: Arc<Trace>,
        /// The next opportunity to use, and its remaining bytes.
        number: u64,
        left: u32,
    },
    /// The frames of a LoRa radio, with this many bytes less per packet by header compression.
    Lora {
        modulation: Modulation,
        compressed: u32,
    },
}

/// Rates in steps.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    rates: Vec<(Time, u64)>,
    /// Period after which the rates repeat, if they do.
    period: Option<Span>,
    /// Start of the present period, and index of the present step.
    began: Time,
    place: usize,
}

impl Schedule {
    pub(crate) fn new(course: &RateCourse) -> Schedule {
        match course {
            RateCourse::Steps(rates) => Schedule::Steps(Steps::new(rates, None)),
            RateCourse::Repeat { steps, period } => {
                Schedule::Steps(Steps::new(steps, Some(*period)))
            }
            RateCourse::Trace(trace) => {
                Schedule::Trace { trace: trace.clone(), number: 0, left: Trace::OPPORTUNITY }
            }
        }
    }

    /// End of the transmission of a frame that starts at `starts`. The frame takes `bits` on the
    /// wire, and `bytes` as an IP packet.
    pub(crate) fn finish(&mut self, starts: Time, bits: u64, bytes: u32) -> Time {
        match self {
            Schedule::Steps(steps) => steps.finish(starts, bits),
            Schedule::Lora { modulation, compressed } => {
                starts + modulation.airtime(bytes.saturating_sub(*compressed) + LORAWAN_BYTES)
            }
            Schedule::Trace { trace, number, left } => {
                if trace.at(*number) < starts {
                    (*number, *left) = (trace.first_from(starts), Trace::OPPORTUNITY);
                }
                let mut rest = bytes;
                loop {
                    if *left == 0 {
                        (*number, *left) = (*number + 1, Trace::OPPORTUNITY);
                    }
                    let taken = rest.min(*left);
                    (rest, *left) = (rest - taken, *left - taken);
                    if rest == 0 {
                        return trace.at(*number);
                    }
                }
            }
        }
    }
}

impl Steps {
    fn new(rates: &[(Time, u64)], period: Option<Span>) -> Steps {
        Steps { rates: rates.to_vec(), period, began: Time::ZERO, place: 0 }
    }

    fn finish(&mut self, starts: Time, bits: u64) -> Time {
        self.skip_to(starts);
        let mut at = starts;
        let mut work = bits * 1_000_000_000;
        loop {
            let next = self.next();
            if at >= next {
                self.advance();
                continue;
            }
            let rate = self.rates[self.place].1;
            if rate > 0 {
                let end = at + Span(work.div_ceil(rate));
                if end <= next {
                    return end;
                }
            }
            work -= next.since(at).0 * rate;
            at = next;
        }
    }

    /// Skips whole periods without transmissions.
    fn skip_to(&mut self, moment: Time) {
        let Some(period) = self.period else { return };
        let periods = moment.since(self.began).0 / period.0;
        if periods > 0 {
            (self.began, self.place) = (self.began + Span(periods * period.0), 0);
        }
    }

    /// End of the present step.
    fn next(&self) -> Time {
        match (self.rates.get(self.place + 1), self.period) {
            (Some((from, _)), _) => self.began + from.since(Time::ZERO),
            (None, Some(period)) => self.began + period,
            (None, None) => Time::NEVER,
        }
    }

    fn advance(&mut self) {
        self.place += 1;
        if let Some(period) = self.period.filter(|_| self.place == self.rates.len()) {
            (self.began, self.place) = (self.began + period, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn a_frame_continues_at_the_new_rate() {
        let course = RateCourse::Steps(vec![(Time::ZERO, 1_000_000), (MS(10), 100_000)]);
        let mut schedule = Schedule::new(&course);
        // 12000 bits take 12 ms at 1 Mbit/s. The frame starts at 4 ms. At 10 ms half of it remains,
        // and takes 60 ms.
        assert_eq!(schedule.finish(MS(4), 12_000, 1500), MS(70));
        assert_eq!(schedule.finish(MS(70), 1_000, 125), MS(80));
    }

    #[test]
    fn nothing_is_transmitted_while_the_rate_is_zero() {
        let steps = vec![(Time::ZERO, 1_000_000), (MS(10), 0), (MS(30), 1_000_000)];
        let mut schedule = Schedule::new(&RateCourse::Steps(steps));
        // 6000 bits remain at 10 ms, and are transmitted from 30 ms on.
        assert_eq!(schedule.finish(MS(4), 12_000, 1500), MS(36));
        assert_eq!(schedule.finish(MS(40), 1_000, 125), MS(41));
    }

    #[test]
    fn periodic_rates_restart_after_their_period() {
        let steps = vec![(Time::ZERO, 1_000_000), (MS(10), 0)];
        let course = RateCourse::Repeat { steps, period: Span::from_millis(20) };
        let mut schedule = Schedule::new(&course);
        // The rate is above zero for 10 of each 20 ms. 25 ms of work include two pauses.
        assert_eq!(schedule.finish(MS(0), 25_000, 3125), MS(45));
        // The frame starts in a pause, many periods later.
        assert_eq!(schedule.finish(MS(2_015), 1_000, 125), MS(2_021));
        assert_eq!(schedule.finish(MS(2_021), 1_000, 125), MS(2_022));
    }

    #[test]
    fn packets_share_opportunities_and_unused_opportunities_are_lost() {
        let trace = Trace::new(vec![5, 10, 20]).unwrap();
        let mut schedule = Schedule::new(&RateCourse::Trace(Arc::new(trace)));
        let mut ends = Vec::new();
        for (starts, bytes) in [(0, 1000), (5, 500), (5, 2000), (12, 40), (20, 1500), (41, 1)] {
            ends.push(schedule.finish(MS(starts), 0, bytes));
        }
        // The first two packets leave at 5 ms. 2000 B take the opportunity of 10 ms and a part of
        // 20 ms. 40 B take a part of its rest. At 20 ms 1500 B take the remaining rest and a part
        // of the next opportunity. The first opportunity after 41 ms is at 45 ms.
        assert_eq!(ends, [5, 5, 20, 20, 25, 45].map(MS));
    }
}
