//! States of a LoRaWAN class A device.
//!
//! The device sleeps unless it sends, listens in a receive window, or receives. After each uplink
//! frame it opens two windows. A downlink frame can start only at the beginning of a window. If one
//! starts in the first window, the second is not opened. The next uplink frame starts after the
//! windows, and when the duty cycle allows it.

use windlass_cc::{Span, Time};

use super::config::{ClassA, spacing};
use super::lora::Modulation;
use super::meter::{State, Times};
use super::way::{Way, after};

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    config: ClassA,
    /// Time up to which the states are counted.
    since: Time,
    pub(super) times: Times,
    /// End and state of the last frame.
    frame: (Time, State),
    /// End of the uplink frame whose windows are not over.
    windows: Option<Time>,
    /// End of the last window or of the frame in it.
    silent_until: Time,
    /// Time from which on the duty cycle allows an uplink frame.
    allowed: Time,
    /// Time from which on its duty cycle allows the gateway a frame, by receive window.
    gateway: [Time; 2],
}

impl Machine {
    pub(super) fn new(config: ClassA) -> Machine {
        Machine {
            config,
            since: Time::ZERO,
            times: Times::default(),
            frame: (Time::ZERO, State::Sleep),
            windows: None,
            silent_until: Time::ZERO,
            allowed: Time::ZERO,
            gateway: [Time::ZERO; 2],
        }
    }

    /// Start of a receive window after an uplink frame that ended at `sent`.
    fn window(&self, sent: Time, window: usize) -> Time {
        after(sent, [self.config.rx1_delay, self.config.rx2_delay][window])
    }

    /// Length of a receive window in which no frame arrives.
    fn length(&self, window: usize) -> Span {
        self.config.modulation(window).symbols(self.config.window_symbols)
    }

    pub(super) fn advance(&mut self, now: Time) {
        while self.since < now {
            let (state, until) = self.state();
            let to = until.min(now);
            self.times.add(state, to.since(self.since));
            self.since = to;
        }
        if self.windows.is_some_and(|sent| now > self.end_of_windows(sent)) {
            self.windows = None;
        }
    }

    /// Counts the time up to `to` as time without power.
    pub(super) fn off_until(&mut self, to: Time) {
        self.times.add(State::Off, to.since(self.since));
        self.since = to;
    }

    /// The power returns: the device sleeps. The duty cycles have not forgotten earlier frames.
    pub(super) fn restart(&mut self, now: Time) {
        self.frame = (now, State::Sleep);
        self.windows = None;
        self.silent_until = now;
    }

    fn end_of_windows(&self, sent: Time) -> Time {
        after(self.window(sent, 1), self.length(1))
    }

    /// Present state and its end.
    fn state(&self) -> (State, Time) {
        let (ends, state) = self.frame;
        if self.since < ends {
            return (state, ends);
        }
        let Some(sent) = self.windows else { return (State::Sleep, Time::NEVER) };
        for window in 0..2 {
            let opens = self.window(sent, window);
            let closes = after(opens, self.length(window));
            if self.since < opens {
                return (State::Sleep, opens);
            }
            if self.since < closes {
                return (State::Listen, closes);
            }
        }
        (State::Sleep, Time::NEVER)
    }

    /// The receive window that begins at this time.
    fn window_at(&self, now: Time) -> Option<usize> {
        let sent = self.windows?;
        (0..2).find(|window| self.window(sent, *window) == now)
    }

    pub(super) fn start(&self, now: Time, way: Way) -> Option<Time> {
        match way {
            Way::Up => Some(now.max(self.allowed).max(self.silent_until)),
            Way::Down => {
                let sent = self.windows?;
                let free = |window: usize| {
                    let opens = self.window(sent, window);
                    (opens >= now && self.gateway[window] <= opens).then_some(opens)
                };
                free(0).or_else(|| free(1))
            }
        }
    }

    pub(super) fn sent(&mut self, now: Time, way: Way, ends: Time) {
        self.advance(now);
        let airtime = ends.since(now);
        match way {
            Way::Up => {
                self.frame = (ends, State::Transmit);
                self.windows = Some(ends);
                self.silent_until = self.end_of_windows(ends);
                self.allowed = after(now, spacing(airtime, self.config.duty_cycle));
            }
            Way::Down => {
                let duty = [self.config.duty_cycle, self.config.rx2_duty_cycle];
                if let Some(window) = self.window_at(now) {
                    self.gateway[window] = after(now, spacing(airtime, duty[window]));
                }
                self.frame = (ends, State::Receive);
                self.windows = None;
                self.silent_until = ends;
            }
        }
    }

    pub(super) fn modulation(&self, now: Time, way: Way) -> (Modulation, u32) {
        let window = match way {
            Way::Up => 0,
            Way::Down => self.window_at(now).unwrap_or(0),
        };
        (self.config.modulation(window), self.config.compressed)
    }
}
