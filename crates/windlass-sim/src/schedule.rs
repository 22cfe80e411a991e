//! The transmitter of a link direction whose rate changes: when a frame that it begins has left.

use std::sync::Arc;

use windlass_cc::{Span, Time};

use crate::course::{RateCourse, Trace};

/// At work; asked in the order of the frames.
#[derive(Clone, Debug)]
pub(crate) enum Schedule {
    Steps {
        steps: Vec<(Time, u64)>,
        /// The step that holds now.
        place: usize,
    },
    Trace {
        trace: Arc<Trace>,
        /// The opportunity that is used up next, and what is left of it.
        number: u64,
        left: u32,
    },
}

impl Schedule {
    pub(crate) fn new(course: &RateCourse) -> Schedule {
        match course {
            RateCourse::Steps(steps) => Schedule::Steps { steps: steps.clone(), place: 0 },
            RateCourse::Trace(trace) => {
                Schedule::Trace { trace: trace.clone(), number: 0, left: Trace::OPPORTUNITY }
            }
        }
    }

    /// When the last bit leaves of a frame whose transmission begins at `starts`: it takes `bits` of the wire, and `bytes` as an IP
    /// packet.
    pub(crate) fn finish(&mut self, starts: Time, bits: u64, bytes: u32) -> Time {
        match self {
            Schedule::Steps { steps, place } => finish_by_steps(steps, place, starts, bits),
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

fn finish_by_steps(steps: &[(Time, u64)], place: &mut usize, starts: Time, bits: u64) -> Time {
    let mut at = starts;
    let mut work = bits * 1_000_000_000;
    loop {
        let next = steps.get(*place + 1).map_or(Time::NEVER, |(from, _)| *from);
        if at >= next {
            *place += 1;
            continue;
        }
        let rate = steps[*place].1;
        let end = at + Span(work.div_ceil(rate));
        if end <= next {
            return end;
        }
        work -= next.since(at).0 * rate;
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Time = Time::from_millis;

    #[test]
    fn a_frame_goes_on_at_the_new_rate() {
        let course = RateCourse::Steps(vec![(Time::ZERO, 1_000_000), (MS(10), 100_000)]);
        let mut schedule = Schedule::new(&course);
        // 12000 bits: 12 ms at 1 Mbit/s; begun at 4 ms, half of them are left at 10 ms for 60 ms.
        assert_eq!(schedule.finish(MS(4), 12_000, 1500), MS(70));
        assert_eq!(schedule.finish(MS(70), 1_000, 125), MS(80));
    }

    #[test]
    fn packets_share_opportunities_and_idle_ones_are_lost() {
        let trace = Trace::new(vec![5, 10, 20]).unwrap();
        let mut schedule = Schedule::new(&RateCourse::Trace(Arc::new(trace)));
        let mut ends = Vec::new();
        for (starts, bytes) in [(0, 1000), (5, 500), (5, 2000), (12, 40), (20, 1500), (41, 1)] {
            ends.push(schedule.finish(MS(starts), 0, bytes));
        }
        // Both at 5 ms; 2000 B take those of 10 and, in part, of 20 ms; 40 B the rest of that one. At 20 ms 1500 B use what is
        // left there and the next one; the opportunity of 45 ms comes first after 41 ms.
        assert_eq!(ends, [5, 5, 20, 20, 25, 45].map(MS));
    }
}
