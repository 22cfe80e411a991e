//! The bandwidth estimate; Startup and Drain.

use super::{Bbr, Mode, Params};
use crate::event::{Ack, Conn};
use crate::params::Ratio;
use crate::time::Rate;

impl Bbr {
    /// Takes a delivery-rate sample. A sample limited by the application counts only if it exceeds the
    /// estimate.
    pub(super) fn update_bandwidth(&mut self, p: &Params, c: &Conn, a: &Ack) {
        if !a.rate.is_valid() {
            self.rounds.no_sample();
            return;
        }
        if self.rounds.on_ack(a.rate.prior_delivered, c.delivered) {
            self.conserving = false;
        }
        self.sample_policer(p, c, a.lost > 0, self.is_limited(&a.rate), self.rounds.started());
        let bw = a.rate.rate().0;
        if !self.is_limited(&a.rate) || bw >= self.max_bw.get() {
            self.max_bw.update(p.bw_window, u64::from(self.rounds.count()), bw);
        }
    }

    /// Tests once per round if the bandwidth has stopped growing.
    pub(super) fn check_full_pipe(&mut self, p: &Params, a: &Ack) {
        if self.full_bw_reached || !self.rounds.started() || self.is_limited(&a.rate) {
            return;
        }
        if self.max_bw.get() >= p.full_bw_growth.times(self.full_bw.0) {
            self.full_bw = Rate(self.max_bw.get());
            self.full_bw_rounds = 0;
            return;
        }
        self.full_bw_rounds = self.full_bw_rounds.saturating_add(1);
        self.full_bw_reached = u64::from(self.full_bw_rounds) >= p.full_bw_rounds;
    }

    /// Moves from Startup to Drain when the pipe is full, and from Drain to ProbeBW when the queue is
    /// empty.
    pub(super) fn check_drain(&mut self, p: &Params, c: &Conn) {
        if self.mode == Mode::Startup && self.full_bw_reached {
            self.mode = Mode::Drain;
        }
        if self.mode == Mode::Drain && c.in_flight <= self.target_flight(p, c, Ratio::ONE) {
            self.enter_probe_bw(c);
        }
    }
}
