//! The estimate of the round-trip propagation time, and ProbeRTT, which refreshes it.

use super::{Bbr, Mode, Params};
use crate::event::{Ack, Conn};
use crate::time::Time;

impl Bbr {
    /// Keeps the minimum RTT. After it expires, drains the queue to measure it again.
    pub(super) fn update_min_rtt(&mut self, p: &Params, c: &Conn, a: &Ack) {
        let expired = c.now.since(self.min_rtt_stamp) > p.min_rtt_window;
        if a.rtt.is_known() && (a.rtt < self.min_rtt || expired) {
            self.min_rtt = a.rtt;
            self.min_rtt_stamp = c.now;
        }
        // An idle period has already drained the queue.
        if expired && !self.idle_restart && self.mode != Mode::ProbeRtt {
            self.mode = Mode::ProbeRtt;
            self.save_cwnd(c.phase);
            self.probe_rtt_done = Time::NEVER;
            self.limited_from = c.delivered;
        }
        if self.mode == Mode::ProbeRtt {
            self.hold_probe_rtt(p, c);
        }
        if a.rate.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Keeps the small flight for the minimum time and at least a round.
    fn hold_probe_rtt(&mut self, p: &Params, c: &Conn) {
        // The low rate of ProbeRTT is no measure of the path.
        self.limited_until = c.delivered.saturating_add(c.in_flight);
        if self.probe_rtt_done.is_never() {
            if c.in_flight <= super::window::min_cwnd(p, c) {
                self.probe_rtt_done = c.now + p.probe_rtt_time;
                self.probe_rtt_round_done = false;
                self.rounds.restart(c.delivered);
            }
            return;
        }
        if self.rounds.started() {
            self.probe_rtt_round_done = true;
        }
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(c);
        }
    }

    /// Leaves ProbeRTT if its time has passed.
    pub(super) fn check_probe_rtt_done(&mut self, c: &Conn) {
        if !self.probe_rtt_done.is_never() && c.now > self.probe_rtt_done {
            self.min_rtt_stamp = c.now;
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.reset_mode(c);
        }
    }
}
