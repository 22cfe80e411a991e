//! Timers: retransmission, delayed acknowledgement, zero-window probe, TIME-WAIT.

use windlass_cc::{Phase, Span, Time};

use super::{Endpoint, Failure, Profile, State};

impl Endpoint {
    /// When [`on_deadline`](Endpoint::on_deadline) must be called, [`Time::NEVER`] for not at all.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.rto_deadline
            .min(self.delack_deadline)
            .min(self.persist_deadline)
            .min(self.pace_deadline)
            .min(self.rack.deadline)
            .min(self.rack.probe_deadline)
            .min(self.time_wait_deadline)
    }

    /// A deadline has come: timers that are due act. Calling it early does nothing.
    pub fn on_deadline(&mut self, p: &Profile, now: Time) {
        if now >= self.delack_deadline {
            self.delack_deadline = Time::NEVER;
            self.ack_now = true;
        }
        if now >= self.rack.deadline {
            self.on_reordering_timeout(p, now);
        }
        if now >= self.rack.probe_deadline {
            self.on_probe_timeout(p, now);
        }
        if now >= self.rto_deadline {
            self.on_retransmission_timeout(p, now);
        }
        if now >= self.pace_deadline {
            self.pace_deadline = Time::NEVER; // what waited for it is asked for next
        }
        if now >= self.persist_deadline {
            self.persist_deadline = Time::NEVER;
            self.probe_now = true;
            self.give_up_after(p.stack.max_data_retries, Failure::DataTimeout);
        }
        if now >= self.time_wait_deadline {
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
        self.retries += 1;
        if self.retries <= limit {
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
        self.rto.on_timeout(&p.stack.rto);
        if handshake {
            self.syn_retransmitted = true;
            self.snd_nxt = 0;
        } else {
            // A timeout of other data than the last timeout's is a new loss (RFC 5681 equation 4).
            let flight = self.flight_size();
            // RFC 5682 sections 2.1 and 3.1, step 1: not while a recovery is under way, since what
            // is acknowledged may be what that sent again.
            let judges = matches!(self.phase, Phase::Open | Phase::Cwr);
            if self.phase == Phase::Loss && self.retries == 1 {
                self.set_phase(p, now, Phase::Open, flight);
            }
            self.recover = self.snd_max;
            let first = self.phase != Phase::Loss;
            self.go_back(p, now);
            self.set_phase(p, now, Phase::Loss, flight);
            if first {
                self.watch_for_spurious(p, now, judges);
            } else {
                self.spurious.stop_judging_timeout();
            }
            self.retransmit_first = true;
        }
        self.arm_rto(p, now);
    }

    /// Enters TIME-WAIT, or stays in it for its full time once more.
    pub(super) fn start_time_wait(&mut self, p: &Profile, now: Time) {
        self.state = State::TimeWait;
        self.time_wait_deadline = now + p.stack.time_wait.max(Span(1));
    }
}
