//! Timers: retransmission, delayed acknowledgement, zero-window probe, TIME-WAIT.

use windlass_cc::{Flavour, Phase, Span, Time};

use crate::decision::{Cause, LossRule};

use super::{Endpoint, Failure, Profile, State};

/// Expiry times of an endpoint's timers; [`Time::NEVER`] for a timer that is off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timers {
    /// Retransmission.
    pub(super) rto: Time,
    /// Delayed acknowledgement.
    pub(super) delack: Time,
    /// Delayed reports of a hole.
    pub(super) report: Time,
    /// Zero-window probe.
    pub(super) persist: Time,
    /// Time at which the pacer permits the next segment.
    pub(super) pace: Time,
    pub(super) time_wait: Time,
}

impl Default for Timers {
    fn default() -> Timers {
        let never = Time::NEVER;
        Timers {
            rto: never,
            delack: never,
            report: never,
            persist: never,
            pace: never,
            time_wait: never,
        }
    }
}

/// `TCP_RTO_MIN`: first of the timeouts whose sum is the time limit of Linux.
const FIRST_TIMEOUT: Span = Span::from_millis(200);

/// Duration of `retries + 1` timeouts that begin at `first` and double up to `most` (`tcp_model_timeout`).
fn backed_off(retries: u32, first: Span, most: Span) -> Span {
    let doublings = (most.0 / first.0).max(1).ilog2();
    let steep = retries.min(doublings);
    let rest = u64::from(retries - steep);
    Span((((2 << steep) - 1) * first.0).saturating_add(rest.saturating_mul(most.0)))
}

/// Slots of a level of the kernel's timer wheel. A tick of a level is eight ticks of the level below.
const WHEEL_SLOTS: u64 = 64;
const WHEEL_SHIFT: u32 = 3;
/// A tick at 250 Hz, nanoseconds.
const USUAL_TICK: u64 = 4_000_000;
/// Levels of the wheel at 250 Hz.
const WHEEL_LEVELS: u32 = 9;

/// Expiry time of a timer of the kernel's wheel that is set to `after` at `now`. It is never early, and late
/// by up to an eighth (`calc_wheel_index`).
#[inline]
fn wheel_slot(now: Time, after: Span, tick: u64) -> Time {
    // A division by a constant is a multiplication.
    let (now, ticks) = match tick {
        USUAL_TICK => (now.0 / USUAL_TICK, after.0.div_ceil(USUAL_TICK)),
        _ => (now.0 / tick, after.0.div_ceil(tick)),
    };
    let mut shift = 0;
    while ticks >= (WHEEL_SLOTS - 1) << shift && shift < WHEEL_SHIFT * (WHEEL_LEVELS - 1) {
        shift += WHEEL_SHIFT;
    }
    let slot = (now.saturating_add(ticks) >> shift) + 1;
    Time((slot << shift).saturating_mul(tick))
}

impl Endpoint {
    /// Time of the next call of [`on_deadline`](Endpoint::on_deadline); [`Time::NEVER`] if no timer is set.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers
            .rto
            .min(self.timers.delack)
            .min(self.timers.report)
            .min(self.timers.persist)
            .min(self.timers.pace)
            .min(self.send.rack.deadline)
            .min(self.send.rack.probe_deadline)
            .min(self.timers.time_wait)
    }

    /// Processes the timers that are due. An early call has no effect.
    pub fn on_deadline(&mut self, p: &Profile, now: Time) {
        (self.bursting, self.at_rest) = (false, false);
        if now >= self.timers.delack {
            self.timers.delack = Time::NEVER;
            self.recv.ack_now = true;
            self.note_ack_delayed(p);
        }
        if now >= self.timers.report {
            self.timers.report = Time::NEVER;
            self.recv.ack_now = true;
        }
        if now >= self.send.rack.deadline {
            self.on_reordering_timeout(p, now);
        }
        if now >= self.send.rack.probe_deadline {
            self.on_probe_timeout(p, now);
        }
        if now >= self.timers.rto {
            self.on_retransmission_timeout(p, now);
        }
        if now >= self.timers.pace {
            self.timers.pace = Time::NEVER; // the next `poll_transmit` returns the waiting segments
        }
        if now >= self.timers.persist {
            self.timers.persist = Time::NEVER;
            self.send.probe_now = true;
            self.note(p, now, Cause::PersistTimer, self.send.phase, self.send.flight_size());
            self.give_up_after(now, p.stack.max_data_retries, Failure::ProbeTimeout);
        }
        if now >= self.timers.time_wait {
            self.shut();
        }
    }

    /// `now + after`, rounded up to the stack's timer period or to the slot of its timer wheel, if the stack
    /// has one.
    #[inline]
    pub(super) fn expiry(p: &Profile, now: Time, after: Span) -> Time {
        match (p.stack.timer_tick.0, p.stack.wheel_tick.0) {
            (0, 0) => now + after,
            (0, tick) => wheel_slot(now, after, tick),
            (tick, _) => Time((now + after).0.div_ceil(tick).saturating_mul(tick)),
        }
    }

    /// Counts one more transmission without an acknowledgement. Above `limit` the connection fails (RFC 1122
    /// section 4.2.3.5). Returns true if it failed.
    // RFC 9293-3.8.3-MUST-20
    fn give_up_after(&mut self, now: Time, limit: u32, why: Failure) -> bool {
        self.count_retry(now);
        if self.send.retries <= limit {
            return false;
        }
        if self.established {
            self.reset_peer();
        }
        self.fail(why);
        true
    }

    /// Linux converts its number of retransmissions to a time: the duration of this number of timeouts from
    /// the minimum timeout on. The time counts from the first retransmission (`retransmits_timed_out`).
    fn give_up_in_time(&mut self, p: &Profile, now: Time) -> bool {
        self.count_retry(now);
        let limit = backed_off(p.stack.max_data_retries, FIRST_TIMEOUT, p.stack.rto.max());
        if self.send.retries == 1 || now.since(self.send.retries_since) < limit {
            return false;
        }
        self.reset_peer();
        self.fail(self.no_acknowledgement());
        true
    }

    /// Counts a retransmission or a probe, and keeps the time of the first.
    fn count_retry(&mut self, now: Time) {
        if self.send.retries == 0 {
            self.send.retries_since = now;
        }
        self.send.retries += 1;
    }

    /// The failure if the outstanding segment is never acknowledged: data, or only the FIN.
    fn no_acknowledgement(&self) -> Failure {
        if self.all_acknowledged() { Failure::FinTimeout } else { Failure::DataTimeout }
    }

    /// Processes an expiry of the retransmission timer (RFC 6298 rules 5.4 to 5.6).
    // RFC 6298-5.6-1
    #[cold]
    fn on_retransmission_timeout(&mut self, p: &Profile, now: Time) {
        self.stats.rto_count += 1;
        self.note_echo(None);
        let handshake = matches!(self.state, State::SynSent | State::SynReceived);
        let gone = if handshake {
            let linear = if self.passive { 0 } else { p.stack.syn_linear_timeouts };
            // RFC 9293-3.8.3-MUST-22
            self.give_up_after(now, p.stack.max_syn_retries + linear, Failure::ConnectTimeout)
        } else if p.stack.rules == Flavour::Linux {
            self.give_up_in_time(p, now)
        } else {
            self.give_up_after(now, p.stack.max_data_retries, self.no_acknowledgement())
        };
        if gone {
            return;
        }
        let why = Cause::Timeout { rto: self.rto(p), expiries: self.send.retries };
        let linear =
            self.state == State::SynSent && self.send.retries <= p.stack.syn_linear_timeouts;
        if !linear {
            self.send.rto.on_timeout(&p.stack.rto);
        }
        if handshake {
            self.note(p, now, why, self.send.phase, self.send.flight_size());
            self.syn_retransmitted = true;
            self.send.nxt = 0;
        } else {
            // A timeout of other data than the data of the last timeout is a new loss (RFC 5681 equation 4).
            let flight = self.send.flight_size();
            // RFC 5682 sections 2.1 and 3.1, step 1: not during a recovery, because an acknowledgement may
            // cover data that the recovery retransmitted; but also if the same data time out again
            // (`tcp_enter_loss`).
            let judges = matches!(self.send.phase, Phase::Open | Phase::Cwr);
            let linux = p.stack.rules == Flavour::Linux;
            let answered =
                linux && self.send.phase == Phase::Cwr && self.send.una >= self.answered_to();
            if answered || self.send.phase == Phase::Loss && self.send.retries == 1 {
                self.set_phase(p, now, Phase::Open, flight, why);
            }
            if self.send.scoreboard.sacked() >= u64::from(p.stack.dupthresh * self.agreed.mss)
                && judges
            {
                self.send.rack.expect_less_reordering(p.stack.dupthresh);
            }
            if linux && self.send.holds_recovery() {
                // Its loss is repaired: this is a new one (`tcp_enter_loss`). Only the response to it changes cwnd.
                self.send.phase = Phase::Open;
            }
            // RFC 6675-5.1-2
            self.send.recover = self.send.max;
            self.send.spurious.end_hold();
            let before = self.send.phase;
            // RFC 6675-5.1-1
            self.go_back(p, now, LossRule::Timeout);
            self.set_phase(p, now, Phase::Loss, flight, why);
            match before {
                Phase::Loss => self.send.spurious.judge_again(p, self.send.max),
                // If cwnd had been reduced already, that reduction may be undone (`tcp_enter_loss`).
                Phase::Cwr if linux => self.send.spurious.judge_timeout_alone(p, self.send.max),
                Phase::Recovery if linux => {}
                _ => self.watch_for_spurious(p, now, judges),
            }
            // RFC 6298-5.4-1
            self.send.retransmit_first = true;
        }
        self.arm_rto(p, now);
    }

    /// Enters TIME-WAIT, or restarts its full time.
    // RFC 9293-3.6.1-MUST-13
    pub(super) fn start_time_wait(&mut self, p: &Profile, now: Time) {
        self.state = State::TimeWait;
        self.timers.time_wait = now + p.stack.time_wait.max(Span(1));
    }
}
