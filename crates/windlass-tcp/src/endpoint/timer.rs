//! Timers: retransmission, delayed acknowledgement, zero-window probe, TIME-WAIT.

use windlass_cc::{Phase, Span, Time};

use crate::decision::{Cause, LossRule};

use super::{Endpoint, Failure, Profile, State};

/// When an endpoint has to act of itself; [`Time::NEVER`] for what does not wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Timers {
    /// Retransmission.
    pub(super) rto: Time,
    /// Delayed acknowledgement.
    pub(super) delack: Time,
    /// Zero-window probe.
    pub(super) persist: Time,
    /// The pacer lets go what waits to be sent.
    pub(super) pace: Time,
    pub(super) time_wait: Time,
}

impl Default for Timers {
    fn default() -> Timers {
        let never = Time::NEVER;
        Timers { rto: never, delack: never, persist: never, pace: never, time_wait: never }
    }
}

impl Endpoint {
    /// When [`on_deadline`](Endpoint::on_deadline) must be called, [`Time::NEVER`] for not at all.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timers
            .rto
            .min(self.timers.delack)
            .min(self.timers.persist)
            .min(self.timers.pace)
            .min(self.send.rack.deadline)
            .min(self.send.rack.probe_deadline)
            .min(self.timers.time_wait)
    }

    /// A deadline has come: timers that are due act. Calling it early does nothing.
    pub fn on_deadline(&mut self, p: &Profile, now: Time) {
        if now >= self.timers.delack {
            self.timers.delack = Time::NEVER;
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
            self.timers.pace = Time::NEVER; // what waited for it is asked for next
        }
        if now >= self.timers.persist {
            self.timers.persist = Time::NEVER;
            self.send.probe_now = true;
            self.note(p, now, Cause::PersistTimer, self.send.phase, self.send.flight_size());
            self.give_up_after(p.stack.max_data_retries, Failure::DataTimeout);
        }
        if now >= self.timers.time_wait {
            self.shut();
        }
    }

    /// `now + after`, moved up to the stack's timer period where it has one.
    pub(super) fn expiry(p: &Profile, now: Time, after: Span) -> Time {
        let at = (now + after).0;
        match p.stack.timer_tick.0 {
            0 => Time(at),
            tick => Time(at.div_ceil(tick).saturating_mul(tick)),
        }
    }

    /// Counts one more transmission that nothing has answered; beyond `limit` the connection fails
    /// (RFC 1122 section 4.2.3.5). Returns whether it did.
    fn give_up_after(&mut self, limit: u32, why: Failure) -> bool {
        self.send.retries += 1;
        if self.send.retries <= limit {
            return false;
        }
        if self.established {
            self.reset_peer();
        }
        self.fail(why);
        true
    }

    /// The retransmission timer expired (RFC 6298 rules 5.4 to 5.6).
    fn on_retransmission_timeout(&mut self, p: &Profile, now: Time) {
        self.stats.rto_count += 1;
        let handshake = matches!(self.state, State::SynSent | State::SynReceived);
        let gone = if handshake {
            self.give_up_after(p.stack.max_syn_retries, Failure::ConnectTimeout)
        } else {
            self.give_up_after(p.stack.max_data_retries, Failure::DataTimeout)
        };
        if gone {
            return;
        }
        let why = Cause::Timeout { rto: self.rto(p), expiries: self.send.retries };
        self.send.rto.on_timeout(&p.stack.rto);
        if handshake {
            self.note(p, now, why, self.send.phase, self.send.flight_size());
            self.syn_retransmitted = true;
            self.send.nxt = 0;
        } else {
            // A timeout of other data than the last timeout's is a new loss (RFC 5681 equation 4).
            let flight = self.send.flight_size();
            // RFC 5682 sections 2.1 and 3.1, step 1: not while a recovery is under way, since what
            // is acknowledged may be what that sent again; but again when the same data time out again (`tcp_enter_loss`).
            let judges = matches!(self.send.phase, Phase::Open | Phase::Cwr);
            if self.send.phase == Phase::Loss && self.send.retries == 1 {
                self.set_phase(p, now, Phase::Open, flight, why);
            }
            self.send.recover = self.send.max;
            let first = self.send.phase != Phase::Loss;
            self.go_back(p, now, LossRule::Timeout);
            self.set_phase(p, now, Phase::Loss, flight, why);
            if first {
                self.watch_for_spurious(p, now, judges);
            } else {
                self.send.spurious.judge_again(p, self.send.max);
            }
            self.send.retransmit_first = true;
        }
        self.arm_rto(p, now);
    }

    /// Enters TIME-WAIT, or stays in it for its full time once more.
    pub(super) fn start_time_wait(&mut self, p: &Profile, now: Time) {
        self.state = State::TimeWait;
        self.timers.time_wait = now + p.stack.time_wait.max(Span(1));
    }
}
