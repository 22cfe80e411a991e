//! ProbeRTT and the round-trip estimate (draft-ietf-ccwg-bbr-06 section 5.3.4).

use super::{Bbr3, Params, State};
use crate::event::{Ack, Conn};
use crate::setup::Setup;
use crate::time::Time;

impl Bbr3 {
    /// `UpdateMinRTT`: updates two filters of different length. Returns true if the estimate of the
    /// shorter filter had expired (`BBR.probe_rtt_expired`).
    pub(super) fn update_min_rtt(&mut self, p: &Params, c: &Conn, a: &Ack) -> bool {
        let probe_rtt_expired = c.now.since(self.probe_rtt_stamp) > p.probe_rtt_interval;
        if a.rtt.is_known() && (a.rtt < self.probe_rtt_min || probe_rtt_expired) {
            self.probe_rtt_min = a.rtt;
            self.probe_rtt_stamp = c.now;
        }
        let expired = c.now.since(self.min_rtt_stamp) > p.min_rtt_window;
        if self.probe_rtt_min < self.min_rtt || expired {
            self.min_rtt = self.probe_rtt_min;
            self.min_rtt_stamp = self.probe_rtt_stamp;
        }
        probe_rtt_expired
    }

    /// `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack, expired: bool) {
        if self.state != State::ProbeRtt && expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd(c.phase);
            self.probe_rtt_done = Time::NEVER;
            self.probe_stopping = true;
            self.rounds.restart(c.delivered);
            self.limited_from = c.delivered;
        }
        if self.state == State::ProbeRtt {
            self.hold_probe_rtt(p, c);
        }
        if a.rate.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT`: keeps the small flight for the minimum time and at least a round.
    fn hold_probe_rtt(&mut self, p: &Setup<Params>, c: &Conn) {
        // The low rate of ProbeRTT is no measure of the path.
        self.limited_until = c.delivered.saturating_add(c.in_flight);
        if self.probe_rtt_done.is_never() {
            if c.in_flight <= self.probe_rtt_cwnd(p, c) {
                self.probe_rtt_done = c.now + p.own.probe_rtt_time;
                self.probe_rtt_round_done = false;
                self.rounds.restart(c.delivered);
            }
            return;
        }
        if self.rounds.started() {
            self.probe_rtt_round_done = true;
        }
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(&p.own, c);
        }
    }

    /// Leaves ProbeRTT if its time has passed. The queue is empty, so ProbeBW begins with CRUISE.
    pub(super) fn check_probe_rtt_done(&mut self, p: &Params, c: &Conn) {
        if self.probe_rtt_done.is_never() || c.now <= self.probe_rtt_done {
            return;
        }
        self.probe_rtt_stamp = c.now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_short_term();
        if self.full_bw_reached {
            self.start_down(p, c);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
