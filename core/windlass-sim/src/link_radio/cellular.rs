//! States of a cellular radio.
//!
//! * *Connected*: frames pass. Without frames the receiver is on in cycles (connected DRX).
//! * *Idle*: the device listens at paging occasions, all the time or in windows (eDRX). A downlink
//!   packet waits for the next occasion, and then for the connection.
//! * *Sleep*: power saving mode. A downlink packet waits until the device connects, which it does
//!   for an uplink packet or to update its registration.
//! * *Connecting*: random access and set-up, in which nothing passes.
//!
//! A run begins in the state in which the device rests. The connection of an update ends at once if
//! no packet waits.

use windlass_cc::{Span, Time};

use super::config::{Cellular, Release};
use super::meter::{State, Times, on_time};
use super::state::RadioState;
use super::way::{Way, after};

#[derive(Clone, Copy, Debug)]
enum Phase {
    Sleep {
        /// Time of the next update.
        update: Time,
    },
    Idle {
        /// End of the last connection.
        from: Time,
    },
    Connecting {
        until: Time,
        /// True if no packet has caused the connection.
        updates: bool,
    },
    Connected {
        /// Time from which the receiver is on only in cycles.
        awake_until: Time,
        /// End of the connection if no packet waits.
        release: Time,
        /// Time of the grant for the next uplink frame.
        granted: Time,
        /// End and state of the last frame.
        frame: (Time, State),
    },
}

impl Phase {
    fn state(self) -> RadioState {
        match self {
            Phase::Sleep { .. } => RadioState::Sleep,
            Phase::Idle { .. } => RadioState::Idle,
            Phase::Connecting { .. } => RadioState::Connecting,
            Phase::Connected { .. } => RadioState::Connected,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Machine {
    config: Cellular,
    phase: Phase,
    /// Time up to which the states are counted.
    since: Time,
    pub(super) times: Times,
    pub(super) connections: u64,
    /// Beginning of each state, if they are recorded.
    pub(super) states: Option<Vec<(Time, RadioState)>>,
}

impl Machine {
    pub(super) fn new(config: Cellular) -> Machine {
        let phase = match config.psm_period {
            Span::ZERO => Phase::Idle { from: Time::ZERO },
            period => Phase::Sleep { update: Time::ZERO + period },
        };
        let (since, times) = (Time::ZERO, Times::default());
        Machine { config, phase, since, times, connections: 0, states: None }
    }

    pub(super) fn advance(&mut self, now: Time, waiting: [bool; 2]) {
        while let Some((at, phase)) = self.transition(waiting)
            && at <= now
        {
            self.settle(at);
            self.enter(phase);
        }
        self.settle(now);
    }

    /// Records the states from now on.
    pub(super) fn record(&mut self) {
        self.states = Some(vec![(self.since, self.phase.state())]);
    }

    fn note(&mut self, state: RadioState) {
        if let Some(states) = &mut self.states
            && states.last().is_none_or(|(_, last)| *last != state)
        {
            states.push((self.since, state));
        }
    }

    /// Counts the time up to `to` as time without power.
    pub(super) fn off_until(&mut self, to: Time) {
        self.note(RadioState::Off);
        self.times.add(State::Off, to.since(self.since));
        self.since = to;
    }

    /// The power returns: the device connects to register.
    pub(super) fn restart(&mut self, now: Time) {
        let until = after(now, self.config.promotion);
        self.enter(Phase::Connecting { until, updates: true });
    }

    fn enter(&mut self, phase: Phase) {
        self.connections += u64::from(matches!(phase, Phase::Connecting { .. }));
        self.phase = phase;
        self.note(phase.state());
    }

    pub(super) fn change(&self, waiting: [bool; 2]) -> Option<Time> {
        self.transition(waiting).map(|(at, _)| at)
    }

    /// Next state and its time, if no packet arrives; `None` if the present state has no end.
    fn transition(&self, waiting: [bool; 2]) -> Option<(Time, Phase)> {
        let Cellular { promotion, inactivity, drx_after, psm_active, psm_period, .. } = self.config;
        match self.phase {
            Phase::Sleep { update } => {
                let until = after(update, promotion);
                Some((update, Phase::Connecting { until, updates: true }))
            }
            Phase::Idle { from } => {
                let sleeps = match psm_period {
                    Span::ZERO => Time::NEVER,
                    _ => after(from, psm_active),
                };
                let paged =
                    if waiting[Way::Down as usize] { self.paging(from) } else { Time::NEVER };
                if paged < sleeps {
                    let until = after(paged, promotion);
                    return Some((paged, Phase::Connecting { until, updates: false }));
                }
                let update = after(from, psm_period);
                (!sleeps.is_never()).then_some((sleeps, Phase::Sleep { update }))
            }
            Phase::Connecting { until, updates } => {
                let release = if updates { until } else { after(until, inactivity) };
                let awake_until = after(until, drx_after);
                let frame = (until, State::Listen);
                Some((until, Phase::Connected { awake_until, release, granted: until, frame }))
            }
            Phase::Connected { release, .. } => {
                let from = release;
                (waiting == [false; 2]).then_some((release, Phase::Idle { from }))
            }
        }
    }

    /// First paging occasion from `since` on, in an idle state that began at `from`.
    fn paging(&self, from: Time) -> Time {
        let Cellular { paging_cycle, edrx_cycle, edrx_window, .. } = self.config;
        let elapsed = self.since.since(from);
        if edrx_cycle == Span::ZERO {
            let occasions = elapsed.0.div_ceil(paging_cycle.0).max(1);
            return after(from, Span(occasions.saturating_mul(paging_cycle.0)));
        }
        let (cycle, within) = (elapsed.0 / edrx_cycle.0, elapsed.0 % edrx_cycle.0);
        let next = within.div_ceil(paging_cycle.0) * paging_cycle.0;
        let (cycle, within) = match cycle > 0 && next < edrx_window.0 {
            true => (cycle, next),
            false => (cycle + 1, 0),
        };
        after(from, Span(cycle.saturating_mul(edrx_cycle.0).saturating_add(within)))
    }

    pub(super) fn arrive(&mut self, now: Time, way: Way, sending: bool) {
        if way == Way::Down {
            return;
        }
        let Cellular { promotion, scheduling_request, .. } = self.config;
        match &mut self.phase {
            Phase::Sleep { .. } | Phase::Idle { .. } => {
                let until = after(now, promotion);
                self.enter(Phase::Connecting { until, updates: false });
            }
            // The connection serves the packet.
            Phase::Connecting { updates, .. } => *updates = false,
            // A frame on the air reports the packets behind it.
            Phase::Connected { .. } if sending => {}
            Phase::Connected { granted, awake_until, .. } => {
                *granted = after(now, scheduling_request);
                *awake_until = (*awake_until).max(*granted);
            }
        }
    }

    pub(super) fn start(&self, now: Time, way: Way) -> Option<Time> {
        let Phase::Connected { awake_until, granted, .. } = self.phase else { return None };
        Some(match way {
            Way::Up => granted.max(now),
            Way::Down => self.next_on(awake_until, now),
        })
    }

    /// First time from `now` on at which the receiver is on.
    fn next_on(&self, awake_until: Time, now: Time) -> Time {
        let Cellular { drx_cycle, drx_on, .. } = self.config;
        if drx_cycle == Span::ZERO || now <= awake_until {
            return now;
        }
        let elapsed = now.since(awake_until).0;
        let (cycle, within) = (elapsed / drx_cycle.0, elapsed % drx_cycle.0);
        match cycle > 0 && within < drx_on.0 || within == 0 {
            true => now,
            false => after(awake_until, Span((cycle + 1).saturating_mul(drx_cycle.0))),
        }
    }

    pub(super) fn sent(&mut self, now: Time, way: Way, ends: Time) {
        self.settle(now);
        let Cellular { inactivity, release: rule, drx_after, .. } = self.config;
        let at_once = matches!(
            (rule, way),
            (Release::AfterUplink, Way::Up) | (Release::AfterDownlink, Way::Down)
        );
        let state = match way {
            Way::Up => State::Transmit,
            Way::Down => State::Receive,
        };
        if let Phase::Connected { awake_until, release, frame, .. } = &mut self.phase {
            *awake_until = after(ends, drx_after);
            *release = if at_once { ends } else { after(ends, inactivity) };
            *frame = (ends, state);
        }
    }

    /// Counts the time up to `to`, which is not after the next transition.
    fn settle(&mut self, to: Time) {
        let passed = to.since(self.since);
        match self.phase {
            Phase::Sleep { .. } => self.times.add(State::Sleep, passed),
            Phase::Connecting { .. } => self.times.add(State::Connect, passed),
            Phase::Idle { from } => {
                let on = Span(self.paged(to.since(from)).0 - self.paged(self.since.since(from)).0);
                self.add_listening(on, passed);
            }
            Phase::Connected { awake_until, frame: (ends, state), .. } => {
                let framed = ends.min(to).since(self.since);
                self.times.add(state, framed);
                self.since = self.since.max(ends.min(to));
                let asleep = awake_until.max(self.since).min(to);
                let awake = match self.config.drx_cycle {
                    Span::ZERO => to.since(self.since),
                    _ => asleep.since(self.since),
                };
                self.times.add(State::Listen, awake);
                let rest = Span(to.since(self.since).0 - awake.0);
                if rest > Span::ZERO {
                    let Cellular { drx_cycle, drx_on, .. } = self.config;
                    let on = |at: Time| on_time(at.since(awake_until), drx_cycle, drx_on).0;
                    self.add_listening(Span(on(to) - on(asleep)), rest);
                }
            }
        }
        self.since = self.since.max(to);
    }

    fn add_listening(&mut self, on: Span, whole: Span) {
        self.times.add(State::Listen, on);
        self.times.add(State::Idle, Span(whole.0 - on.0));
    }

    /// Time for which the receiver is on during the first `elapsed` without a connection.
    fn paged(&self, elapsed: Span) -> Span {
        let Cellular { paging_cycle, paging_on, edrx_cycle, edrx_window, .. } = self.config;
        if edrx_cycle == Span::ZERO {
            return on_time(elapsed, paging_cycle, paging_on);
        }
        // The occasions of a window are at multiples of the paging cycle from its beginning on.
        let within = |time: u64| {
            let time = time.min(edrx_window.0);
            let (whole, rest) = (time / paging_cycle.0, time % paging_cycle.0);
            whole * paging_on.0 + rest.min(paging_on.0)
        };
        let (cycles, rest) = (elapsed.0 / edrx_cycle.0, elapsed.0 % edrx_cycle.0);
        match cycles {
            0 => Span::ZERO,
            _ => Span((cycles - 1) * within(edrx_cycle.0) + within(rest)),
        }
    }
}
