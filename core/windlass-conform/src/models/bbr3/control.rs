//! The pacing rate and the congestion window (section 5.6).

use windlass_cc::{Conn, Phase};

use super::Bbr3;
use super::terms::{INFINITY, State, min_pipe_cwnd, smss};

const STARTUP_PACING_GAIN: f64 = 2.77;
const PACING_MARGIN_PERCENT: f64 = 1.0;

/// Section 5.6.2, for a round-trip time in nanoseconds.
pub(super) fn initial_pacing_rate(initial_cwnd: f64, srtt: f64) -> f64 {
    STARTUP_PACING_GAIN * initial_cwnd / (srtt * 1e-9)
}

impl Bbr3 {
    /// The table of section 5.6.1.
    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => 0.5,
            State::Down => 0.9,
            State::Cruise | State::Refill | State::ProbeRtt => 1.0,
            State::Up => 1.25,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => 2.25,
            State::ProbeRtt => 0.5,
            _ => 2.0,
        }
    }

    /// Section 5.6.2. The first known RTT sets the rate again.
    pub(super) fn set_pacing_rate_with_gain(&mut self, c: &Conn, gain: f64) {
        if !self.has_seen_rtt && c.srtt.is_known() {
            self.has_seen_rtt = true;
            self.pacing_rate = initial_pacing_rate(self.initial_cwnd, c.srtt.0 as f64);
        }
        let rate = gain * self.bw * (100.0 - PACING_MARGIN_PERCENT) / 100.0;
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    // Section 5.6.4.2

    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> f64 {
        if self.min_rtt == INFINITY { self.initial_cwnd } else { gain * bw * self.min_rtt * 1e-9 }
    }

    fn quantization_budget(&self, c: &Conn, inflight_cap: f64) -> f64 {
        // Sections 5.6.3 and 5.5.8.1.
        let send_quantum = (self.pacing_rate * 1e-3).min(65_536.0).max(2.0 * smss(c));
        let cap = inflight_cap.max(3.0 * send_quantum).max(min_pipe_cwnd(c));
        if self.state == State::Up { cap + 2.0 * smss(c) } else { cap }
    }

    pub(super) fn inflight(&self, c: &Conn, bw: f64, gain: f64) -> f64 {
        self.quantization_budget(c, self.bdp_multiple(bw, gain))
    }

    /// Section 5.3.3.8.3.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp_multiple(self.bw, 1.0).min(self.cwnd)
    }

    // Sections 5.6.4.4 to 5.6.4.7

    pub(super) fn save_cwnd(&mut self, phase: Phase) {
        let in_loss_recovery = matches!(phase, Phase::Recovery | Phase::Loss);
        self.prior_cwnd = if in_loss_recovery || self.state == State::ProbeRtt {
            self.prior_cwnd.max(self.cwnd)
        } else {
            self.cwnd
        };
    }

    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    pub(super) fn probe_rtt_cwnd(&self, c: &Conn) -> f64 {
        self.bdp_multiple(self.bw, 0.5).max(min_pipe_cwnd(c))
    }

    pub(super) fn set_cwnd(&mut self, c: &Conn, newly_acked: f64) {
        let extra_acked = self.extra_acked_filter.get().unwrap_or(0.0);
        let cap = self.bdp_multiple(self.bw, self.cwnd_gain()) + extra_acked;
        let max_inflight = self.quantization_budget(c, cap);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || (c.delivered as f64) < self.initial_cwnd {
            self.cwnd += newly_acked;
        }
        self.cwnd = self.cwnd.max(min_pipe_cwnd(c));
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd(c));
        }
        self.bound_cwnd_for_model(c);
    }

    fn bound_cwnd_for_model(&mut self, c: &Conn) {
        let cap = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(c),
            State::Startup | State::Drain => INFINITY,
        };
        let cap = cap.min(self.inflight_shortterm).max(min_pipe_cwnd(c));
        self.cwnd = self.cwnd.min(cap);
    }
}
