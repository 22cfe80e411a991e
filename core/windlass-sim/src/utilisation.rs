//! Recent utilisation of a link direction, for routers that answer Quick-Start requests.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

/// Transmission times of a link direction in the last intervals.
#[derive(Clone, Debug)]
pub(crate) struct UtilisationMeter {
    interval: u64,
    /// Number of each interval, and the transmission time in it, nanoseconds, in order.
    busy: VecDeque<(u64, u64)>,
}

impl UtilisationMeter {
    pub(crate) fn new(interval: Span) -> UtilisationMeter {
        UtilisationMeter { interval: interval.0.max(1), busy: VecDeque::new() }
    }

    /// Records a transmission from `starts` to `ends`, of a packet that arrives now. Transmissions
    /// are recorded in order, and may be in the future.
    pub(crate) fn note(&mut self, now: Time, starts: Time, ends: Time) {
        let running = now.0 / self.interval;
        while self.busy.front().is_some_and(|(number, _)| number + 2 < running) {
            self.busy.pop_front();
        }
        let mut from = starts.0;
        while from < ends.0 {
            let number = from / self.interval;
            let to = ends.0.min((number + 1) * self.interval);
            match self.busy.back_mut() {
                Some((last, busy)) if *last == number => *busy += to - from,
                _ => self.busy.push_back((number, to - from)),
            }
            from = to;
        }
    }

    /// Transmission time in the busier of the last two complete intervals, nanoseconds.
    pub(crate) fn peak(&self, now: Time) -> u64 {
        let running = now.0 / self.interval;
        let recent = self
            .busy
            .iter()
            .filter(|(number, _)| (1..=2).contains(&(running.wrapping_sub(*number))));
        recent.map(|(_, busy)| *busy).max().unwrap_or(0)
    }
}
