//! Measurements of NADA's receiver (RFC 8698, section 5.1), and its signal and mode (section 4.2).

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use super::nada::{self, Feedback};

/// Delays of which the minimum is the queuing delay (section 5.1.1).
const TAPS: usize = 15;
/// Weights of the newest loss intervals (RFC 5348, section 5.4).
const WEIGHTS: [f64; 8] = [1.0, 1.0, 1.0, 1.0, 0.8, 0.6, 0.4, 0.2];

/// A packet that arrived within the observation window.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: Time,
    delay: f64,
    bytes: u32,
    /// Packets that are missing before it.
    missing: u64,
    marked: bool,
}

/// State of a receiver. Times are milliseconds.
#[derive(Clone, Debug)]
pub struct Receiver {
    window: VecDeque<Arrival>,
    /// Missing and marked packets of the window.
    counts: [u64; 2],
    /// The newest delays, at most [`TAPS`].
    delays: VecDeque<f64>,
    /// Minimum one-way delay, `d_base`.
    base: f64,
    /// Number of the packet that is expected next.
    expected: u64,
    lost: f64,
    marked: f64,
    losses: LossIntervals,
}

/// Packets between losses (RFC 5348, section 5.4). Packets that are missing in a row are one loss,
/// because the receiver does not know the RTT in which RFC 5348 counts losses as one.
#[derive(Clone, Debug, Default)]
struct LossIntervals {
    /// Closed intervals, newest first.
    closed: VecDeque<f64>,
    /// Packets from the first of the last loss on.
    open: f64,
}

impl LossIntervals {
    fn received(&mut self, missing: u64) {
        if missing > 0 {
            self.closed.truncate(WEIGHTS.len() - 1);
            self.closed.push_front(self.open);
            self.open = missing as f64;
        }
        self.open += 1.0;
    }

    /// True if the last loss is recent: within MULTILOSS average intervals. The average is of closed
    /// intervals. With the open interval it would always be more than a seventh of that interval.
    fn is_recent(&self) -> bool {
        let weighted = || self.closed.iter().zip(WEIGHTS);
        let sum: f64 = weighted().map(|(interval, weight)| interval * weight).sum();
        let weights: f64 = weighted().map(|(_, weight)| weight).sum();
        self.open * weights < nada::MULTILOSS * sum
    }
}

/// Milliseconds of a span.
pub(super) fn ms(span: Span) -> f64 {
    span.0 as f64 / 1e6
}

impl Receiver {
    /// A receiver before the first packet.
    pub fn new() -> Receiver {
        Receiver {
            window: VecDeque::new(),
            counts: [0; 2],
            delays: VecDeque::with_capacity(TAPS),
            base: f64::INFINITY,
            expected: 0,
            lost: 0.0,
            marked: 0.0,
            losses: LossIntervals::default(),
        }
    }

    /// Receives the packet with this number. A packet that was overtaken counts as lost
    /// (section 5.1.2).
    pub fn receive(&mut self, now: Time, sent: Time, number: u64, bytes: u32, marked: bool) {
        let delay = ms(now.since(sent));
        let missing = number.saturating_sub(self.expected);
        self.base = self.base.min(delay);
        if self.delays.len() == TAPS {
            self.delays.pop_front();
        }
        self.delays.push_back(delay);
        self.window.push_back(Arrival { at: now, delay, bytes, missing, marked });
        self.counts[0] += missing;
        self.counts[1] += u64::from(marked);
        self.forget(now);
        if number >= self.expected {
            self.expected = number + 1;
            self.losses.received(missing);
        }
        self.smooth();
    }

    /// Removes packets that arrived before the observation window.
    fn forget(&mut self, now: Time) {
        let is_old = |arrival: &Arrival| ms(now.since(arrival.at)) > nada::LOGWIN;
        while self.window.front().is_some_and(is_old) {
            let Some(old) = self.window.pop_front() else { return };
            self.counts[0] -= old.missing;
            self.counts[1] -= u64::from(old.marked);
        }
    }

    /// Updates the smoothed loss and marking ratios from the ratios in the observation window.
    fn smooth(&mut self) {
        let arrived = self.window.len() as f64;
        let [missing, marked] = self.counts.map(|count| count as f64);
        self.lost += nada::ALPHA * (missing / (arrived + missing) - self.lost);
        self.marked += nada::ALPHA * (marked / arrived - self.marked);
    }

    /// The feedback to send now; `None` if no packet arrived within the observation window.
    pub fn report(&mut self, now: Time) -> Option<Feedback> {
        self.forget(now);
        if self.window.is_empty() {
            return None;
        }
        let queuing = self.delays.iter().copied().fold(f64::INFINITY, f64::min) - self.base;
        let delay = if self.losses.is_recent() { nada::warped(queuing) } else { queuing };
        let congested = |a: &Arrival| a.missing > 0 || a.delay - self.base >= nada::QEPS;
        let bits: f64 = self.window.iter().map(|a| 8.0 * f64::from(a.bytes)).sum();
        Some(Feedback {
            gradual: self.window.iter().any(congested),
            signal: nada::signal(delay, self.marked, self.lost),
            received: bits / (nada::LOGWIN / 1e3),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Receives packets of 125 bytes every 10 ms, except the missing, with this delay in ms.
    fn receive(
        r: &mut Receiver,
        numbers: std::ops::Range<u64>,
        missing: &[u64],
        delay: u64,
    ) -> Time {
        let mut now = Time::ZERO;
        for number in numbers.filter(|n| !missing.contains(n)) {
            let sent = Time::from_millis(10 * number);
            now = sent + Span::from_millis(delay);
            r.receive(now, sent, number, 125, false);
        }
        now
    }

    #[test]
    fn an_idle_path_gives_no_signal_and_the_rate_of_the_window() {
        let mut r = Receiver::new();
        let now = receive(&mut r, 0..100, &[], 20);
        let report = r.report(now).unwrap();
        assert_eq!((report.gradual, report.signal), (false, 0.0));
        // Both ends of the window are inside: 51 packets of 1000 bits in half a second.
        assert_eq!(report.received, 102_000.0);
    }

    #[test]
    fn the_queuing_delay_is_the_minimum_of_fifteen_and_one_long_delay_ends_the_ramp_up() {
        let mut r = Receiver::new();
        receive(&mut r, 0..100, &[], 20);
        let now = receive(&mut r, 100..114, &[], 60);
        let report = r.report(now).unwrap();
        assert_eq!((report.gradual, report.signal), (true, 0.0));
        let now = receive(&mut r, 114..115, &[], 60);
        assert_eq!(r.report(now).unwrap().signal, 40.0);
    }

    #[test]
    fn a_long_queue_is_warped_only_after_a_loss_until_the_loss_is_forgotten() {
        let mut r = Receiver::new();
        receive(&mut r, 0..20, &[], 20);
        let now = receive(&mut r, 20..100, &[], 120);
        assert_eq!(r.report(now).unwrap().signal, 100.0);
        // The interval before the loss has 100 packets, and the loss counts for 700.
        let now = receive(&mut r, 100..799, &[100], 120);
        assert!((r.report(now).unwrap().signal - nada::warped(100.0)).abs() < 1e-6);
        let now = receive(&mut r, 799..800, &[], 120);
        assert!((r.report(now).unwrap().signal - 100.0).abs() < 1e-6);
    }

    #[test]
    fn a_steady_loss_ratio_becomes_the_smoothed_ratio() {
        let mut r = Receiver::new();
        let missing: Vec<u64> = (0..1000).filter(|n| n % 10 == 5).collect();
        let now = receive(&mut r, 0..1000, &missing, 20);
        let report = r.report(now).unwrap();
        assert!(report.gradual);
        // A tenth is ten times the reference: a penalty of 10 · 10². The window holds 46 packets of 51.
        assert!((report.signal / 1000.0 - 1.0).abs() < 0.1, "{report:?}");
    }

    #[test]
    fn a_packet_that_was_overtaken_counts_as_lost() {
        let mut r = Receiver::new();
        for number in [0, 2, 1, 3] {
            r.receive(Time::from_millis(50), Time::from_millis(30), number, 125, false);
        }
        assert_eq!((r.expected, r.losses.closed.len()), (4, 1));
        assert!(r.report(Time::from_millis(60)).unwrap().gradual);
    }

    #[test]
    fn nothing_is_reported_of_an_empty_window() {
        let mut r = Receiver::new();
        assert_eq!(r.report(Time::ZERO), None);
        let now = receive(&mut r, 0..1, &[], 20);
        assert!(r.report(now + Span::from_millis(500)).is_some());
        assert_eq!(r.report(now + Span::from_millis(501)), None);
    }
}
