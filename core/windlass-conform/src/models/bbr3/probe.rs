//! Startup, Drain, ProbeBW and ProbeRTT (section 5.3).

use windlass_cc::{Ack, Conn, Phase, RateSample};

use super::Bbr3;
use super::terms::{AckPhase, INFINITY, State, min_pipe_cwnd, now, smss};
use crate::models::filters::delivery_rate;

const SECOND: f64 = 1e9;

impl Bbr3 {
    // Section 5.3.1

    pub(super) fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    pub(super) fn check_full_bw_reached(&mut self, rs: &RateSample) {
        if self.full_bw_now || !self.rounds.begins || self.is_app_limited(rs) {
            return;
        }
        if delivery_rate(rs) >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = delivery_rate(rs);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        self.full_bw_reached |= self.full_bw_now;
    }

    pub(super) fn check_startup_done(&mut self, c: &Conn, a: &Ack) {
        self.check_startup_high_loss(c, a);
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// Section 5.3.1.3.
    fn check_startup_high_loss(&mut self, c: &Conn, a: &Ack) {
        if self.full_bw_reached {
            return;
        }
        self.loss_events_in_round += u32::from(a.lost > 0);
        if !self.loss_round_start {
            return;
        }
        let ranges = std::mem::take(&mut self.loss_events_in_round);
        let too_high = self.is_inflight_too_high(a.rate.lost as f64, a.rate.tx_in_flight as f64);
        let many = ranges >= 6 || !self.has_selective_acks;
        if c.phase == Phase::Recovery && too_high && many {
            self.undo.state = Some(State::Startup);
            self.full_bw_reached = true;
            self.inflight_longterm = self.bdp_multiple(self.bw, 1.0).max(self.inflight_latest);
        }
    }

    /// Section 5.3.2.
    pub(super) fn check_drain_done(&mut self, c: &Conn) {
        let drained = c.in_flight as f64 <= self.inflight(c, self.bw, 1.0);
        let late = self.rounds.count > self.drain_start_round + 3;
        if self.state == State::Drain && (drained || late) {
            self.start_probe_bw_down(c);
        }
    }

    // Section 5.3.3.9

    pub(super) fn start_probe_bw_down(&mut self, c: &Conn) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITY;
        self.pick_probe_wait(c);
        self.cycle_stamp = now(c);
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.begin(c.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_probe_bw_refill(&mut self, c: &Conn) {
        self.reset_short_term_model();
        self.bw_probe_up_rounds = 0;
        self.bw_probe_up_acked = 0.0;
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.begin(c.delivered);
        self.state = State::Refill;
    }

    fn start_probe_bw_up(&mut self, c: &Conn, rs: &RateSample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.begin(c.delivered);
        self.reset_full_bw();
        self.full_bw = delivery_rate(rs);
        self.state = State::Up;
        self.raise_inflight_longterm_slope(c);
    }

    pub(super) fn update_probe_bw_cycle_phase(&mut self, c: &Conn, a: &Ack) {
        if !self.full_bw_reached || self.adapt_long_term_model(c, a) {
            return;
        }
        match self.state {
            State::Down | State::Cruise if self.is_time_to_probe_bw(c) => {
                self.start_probe_bw_refill(c);
            }
            State::Down if self.is_time_to_cruise(c) => self.state = State::Cruise,
            State::Refill if self.rounds.begins => {
                self.is_bw_probe_sample = true;
                self.start_probe_bw_up(c, &a.rate);
            }
            State::Up => self.go_down_if_it_is_time(c, &a.rate),
            _ => {}
        }
    }

    fn go_down_if_it_is_time(&mut self, c: &Conn, rs: &RateSample) {
        if self.is_time_to_go_down(c, rs) {
            self.prev_probe_too_high = false;
            self.start_probe_bw_down(c);
        }
    }

    /// Section 5.3.3.8.3. `random_int_between(0, 1)` is the lowest bit of the entropy, and
    /// `random_float_between(0.0, 1.0)` its upper half as a fraction.
    fn pick_probe_wait(&mut self, c: &Conn) {
        self.rounds_since_probe_up = c.entropy % 2;
        self.bw_probe_wait = (2.0 + f64::from(c.entropy / 65_536) / 65_536.0) * SECOND;
    }

    /// Reno grows by a segment per round, so bytes of the target are counted in segments.
    fn is_time_to_probe_bw(&self, c: &Conn) -> bool {
        let reno_rounds = (self.target_inflight() / smss(c)).min(63.0);
        now(c) > self.cycle_stamp + self.bw_probe_wait
            || f64::from(self.rounds_since_probe_up) >= reno_rounds
    }

    fn is_time_to_cruise(&self, c: &Conn) -> bool {
        let inflight = c.in_flight as f64;
        inflight <= self.inflight_with_headroom(c)
            && inflight <= self.inflight(c, self.max_bw(), 1.0)
    }

    fn is_time_to_go_down(&mut self, c: &Conn, rs: &RateSample) -> bool {
        if self.prev_probe_too_high && c.in_flight as f64 >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if c.cwnd_limited() && self.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = delivery_rate(rs);
            return false;
        }
        self.full_bw_now
    }

    pub(super) fn inflight_with_headroom(&self, c: &Conn) -> f64 {
        if self.inflight_longterm == INFINITY {
            return INFINITY;
        }
        let headroom = smss(c).max(0.15 * self.inflight_longterm);
        (self.inflight_longterm - headroom).max(min_pipe_cwnd(c))
    }

    fn raise_inflight_longterm_slope(&mut self, c: &Conn) {
        let growth_this_round = 2.0_f64.powi(self.bw_probe_up_rounds);
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(30);
        self.probe_up_acked_per_inc = (self.cwnd / growth_this_round).max(smss(c));
    }

    fn probe_inflight_longterm_upward(&mut self, c: &Conn, a: &Ack) {
        if !c.cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += a.delivered as f64;
        let delta = (self.bw_probe_up_acked / self.probe_up_acked_per_inc).floor();
        if delta >= 1.0 {
            self.bw_probe_up_acked -= delta * self.probe_up_acked_per_inc;
            self.inflight_longterm += delta * smss(c);
        }
        if self.rounds.begins {
            self.raise_inflight_longterm_slope(c);
        }
    }

    /// True if it made a state transition.
    fn adapt_long_term_model(&mut self, c: &Conn, a: &Ack) -> bool {
        let rs = &a.rate;
        if self.ack_phase == AckPhase::ProbeStarting && self.rounds.begins {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.rounds.begins {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.is_in_a_probe_bw_state() && !self.is_app_limited(rs) {
                self.cycle_count += 1.0;
            }
            let clean = self.prev_probe_precautionary && !self.prev_probe_too_high;
            if self.is_in_a_probe_bw_state() && clean {
                self.start_probe_bw_refill(c);
                return true;
            }
        }
        let tx_in_flight = rs.tx_in_flight as f64;
        if !self.is_inflight_too_high(rs.lost as f64, tx_in_flight)
            && self.inflight_longterm != INFINITY
        {
            self.inflight_longterm = self.inflight_longterm.max(tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(c, a);
            }
        }
        false
    }

    // Section 5.3.4.3

    pub(super) fn update_min_rtt(&mut self, c: &Conn, a: &Ack) {
        self.probe_rtt_expired = now(c) > self.probe_rtt_min_stamp + 5.0 * SECOND;
        let rtt = a.rtt.0 as f64;
        if a.rtt.is_known() && (rtt < self.probe_rtt_min_delay || self.probe_rtt_expired) {
            self.probe_rtt_min_delay = rtt;
            self.probe_rtt_min_stamp = now(c);
        }
        let min_rtt_expired = now(c) > self.min_rtt_stamp + 10.0 * SECOND;
        if self.probe_rtt_min_delay < self.min_rtt || min_rtt_expired {
            self.min_rtt = self.probe_rtt_min_delay;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
    }

    pub(super) fn check_probe_rtt(&mut self, c: &Conn, rs: &RateSample) {
        if self.state != State::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.save_cwnd_entering_probe_rtt(c);
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.begin(c.delivered);
            self.held_back = Some((c.delivered, c.delivered));
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(c);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `EnterProbeRTT` and `SaveCwnd`, in this order.
    fn save_cwnd_entering_probe_rtt(&mut self, c: &Conn) {
        self.state = State::ProbeRtt;
        self.save_cwnd(c.phase);
    }

    fn handle_probe_rtt(&mut self, c: &Conn) {
        let from = self.held_back.map_or(c.delivered, |(from, _)| from);
        self.held_back = Some((from, c.delivered + c.in_flight));
        if self.probe_rtt_done_stamp.is_some() {
            self.probe_rtt_round_done |= self.rounds.begins;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(c);
            }
        } else if c.in_flight as f64 <= self.probe_rtt_cwnd(c) {
            self.probe_rtt_done_stamp = Some(now(c) + 0.2 * SECOND);
            self.probe_rtt_round_done = false;
            self.rounds.begin(c.delivered);
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, c: &Conn) {
        if self.probe_rtt_done_stamp.is_none_or(|done| now(c) <= done) {
            return;
        }
        self.probe_rtt_min_stamp = now(c);
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full_bw_reached {
            self.start_probe_bw_down(c);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
