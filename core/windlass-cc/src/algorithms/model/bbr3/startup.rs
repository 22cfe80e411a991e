//! Startup and Drain (draft-ietf-ccwg-bbr-06 sections 5.3.1 and 5.3.2).

use super::params::is_blind;
use super::{Bbr3, Params, Sample, State};
use crate::event::{Ack, Conn, Phase};
use crate::params::Ratio;
use crate::setup::Setup;
use crate::time::Rate;

/// Maximum number of rounds of Drain.
const DRAIN_ROUNDS: u32 = 3;

impl Bbr3 {
    /// Starts a search for a plateau of the delivery rate, with `rate` as its reference.
    pub(super) fn reset_full_bw(&mut self, rate: u64) {
        self.full_bw = Rate(rate);
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// Section 5.3.1.2: the path counts as full after three rounds with a growth of less than a
    /// quarter.
    pub(super) fn check_full_bw(&mut self, p: &Params, s: Sample) {
        if self.full_bw_now || !self.rounds.started() || s.limited {
            return;
        }
        if s.rate >= p.full_bw_growth.times(self.full_bw.0) {
            self.reset_full_bw(s.rate);
            return;
        }
        self.full_bw_count = self.full_bw_count.saturating_add(1);
        self.full_bw_now = u64::from(self.full_bw_count) >= p.full_bw_rounds;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// Moves from Startup to Drain at a plateau or at heavy loss.
    pub(super) fn check_startup(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack, s: Sample) {
        self.check_high_loss(p, c, a, s);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_round = self.rounds.count();
        }
    }

    /// Section 5.3.1.3: tests for many losses at the end of a full round of recovery.
    fn check_high_loss(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack, s: Sample) {
        if self.full_bw_reached {
            return;
        }
        self.lossy_acks = self.lossy_acks.saturating_add(u8::from(a.lost > 0));
        if !self.loss_round_start {
            return;
        }
        let many = u64::from(self.lossy_acks) >= p.own.full_loss_count || is_blind(p);
        self.lossy_acks = 0;
        if c.phase == Phase::Recovery && many && s.too_high {
            self.saved.probing = Some(State::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp(p, Ratio::ONE).max(self.inflight_latest);
        }
    }

    /// Moves from Drain to ProbeBW when the flight is down to one bandwidth-delay product, or after
    /// three rounds.
    pub(super) fn check_drain(&mut self, p: &Setup<Params>, c: &Conn) {
        if self.state != State::Drain {
            return;
        }
        let late = self.rounds.count() > self.drain_round.saturating_add(DRAIN_ROUNDS);
        if late || c.in_flight <= self.inflight(p, c, self.bw, Ratio::ONE) {
            self.start_down(&p.own, c);
        }
    }
}
