//! The pacing rate and the congestion window (draft-ietf-ccwg-bbr-06 section 5.6).

use super::state::UNBOUNDED;
use super::{Bbr3, Params, State};
use crate::arithmetic::math::mul;
use crate::arithmetic::window::MAX_WINDOW;
use crate::event::{Ack, Conn, Phase};
use crate::params::Ratio;
use crate::setup::Setup;
use crate::time::{Rate, Span};

/// Maximum aggregate, bytes.
const MAX_QUANTUM: u64 = 65_536;
/// Number of aggregates for which the window has room (section 5.5.8.1).
const QUANTA: u64 = 3;

fn segment(c: &Conn) -> u64 {
    u64::from(c.mss.max(1))
}

/// The smallest window, bytes.
pub(super) fn min_cwnd(p: &Params, c: &Conn) -> u64 {
    mul(p.min_cwnd, segment(c)).min(MAX_WINDOW)
}

impl Bbr3 {
    /// Pacing gain of the state (section 5.6.1).
    pub(super) fn state_gain(&self, p: &Params) -> Ratio {
        match self.state {
            State::Startup => p.startup_pacing_gain,
            State::Drain => p.drain_pacing_gain,
            State::Down => p.down_pacing_gain,
            State::Up => p.up_pacing_gain,
            State::Cruise | State::Refill | State::ProbeRtt => Ratio::ONE,
        }
    }

    fn cwnd_gain(&self, p: &Params) -> Ratio {
        match self.state {
            State::Up => p.up_cwnd_gain,
            State::ProbeRtt => p.probe_rtt_cwnd_gain,
            _ => p.cwnd_gain,
        }
    }

    /// `InitPacingRate`: the initial window per RTT, or per 1 ms.
    pub(super) fn init_pacing(&mut self, p: &Setup<Params>, c: &Conn) {
        self.has_seen_rtt = c.srtt.is_known();
        let rtt = if self.has_seen_rtt { c.srtt.max(Span(1)) } else { Span::from_millis(1) };
        let window = p.initial_window.clamp(segment(c), MAX_WINDOW);
        self.pacing = Rate(p.own.startup_pacing_gain.times(Rate::of(window, rtt).0).max(1));
    }

    /// `SetPacingRateWithGain`; the rate is never zero, which would mean no pacing.
    pub(super) fn set_pacing(&mut self, p: &Setup<Params>, c: &Conn, gain: Ratio) {
        if !self.has_seen_rtt && c.srtt.is_known() {
            self.init_pacing(p, c);
        }
        self.pacing_gain = gain;
        let margin = Ratio(Ratio::ONE.0.saturating_sub(p.own.pacing_margin.0));
        let rate = Rate(margin.times(gain.times(self.bw.0)).max(1));
        if self.full_bw_reached || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// `BDPMultiple`.
    pub(super) fn bdp(&self, p: &Setup<Params>, gain: Ratio) -> u64 {
        self.bdp_at(p, self.bw, gain)
    }

    fn bdp_at(&self, p: &Setup<Params>, bw: Rate, gain: Ratio) -> u64 {
        if self.min_rtt.is_known() { gain.times(bw.volume(self.min_rtt)) } else { p.initial_window }
    }

    /// `TargetInflight`: the estimated bandwidth-delay product, or the window if it is smaller.
    pub(super) fn target_inflight(&self, p: &Setup<Params>) -> u64 {
        self.bdp(p, Ratio::ONE).min(self.cwnd)
    }

    /// `Inflight`.
    pub(super) fn inflight(&self, p: &Setup<Params>, c: &Conn, bw: Rate, gain: Ratio) -> u64 {
        self.with_budget(&p.own, c, self.bdp_at(p, bw, gain))
    }

    /// `QuantizationBudget`.
    fn with_budget(&self, p: &Params, c: &Conn, flight: u64) -> u64 {
        let quantum = self.pacing.volume(p.quantum_time).min(MAX_QUANTUM).max(2 * segment(c));
        let flight = flight.min(MAX_WINDOW).max(QUANTA * quantum).max(min_cwnd(p, c));
        if self.state == State::Up { flight + 2 * segment(c) } else { flight }
    }

    pub(super) fn probe_rtt_cwnd(&self, p: &Setup<Params>, c: &Conn) -> u64 {
        self.bdp(p, p.own.probe_rtt_cwnd_gain).max(min_cwnd(&p.own, c))
    }

    /// `UpdateMaxInflight`.
    fn max_inflight(&self, p: &Setup<Params>, c: &Conn) -> u64 {
        let flight = self.bdp(p, self.cwnd_gain(&p.own)).saturating_add(self.extra_acked.get());
        self.with_budget(&p.own, c, flight)
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack) {
        let delivered = a.delivered.min(MAX_WINDOW);
        let target = self.max_inflight(p, c);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + delivered).min(target);
        } else if self.cwnd < target || c.delivered.wrapping_sub(self.origin) < p.initial_window {
            self.cwnd += delivered;
        }
        self.bound_cwnd(p, c);
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel`.
    fn bound_cwnd(&mut self, p: &Setup<Params>, c: &Conn) {
        self.cwnd = self.cwnd.max(min_cwnd(&p.own, c)).min(MAX_WINDOW);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd(p, c));
        }
        let bound = match self.state {
            State::Down | State::Refill | State::Up => self.inflight_longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(&p.own, c),
            State::Startup | State::Drain => UNBOUNDED,
        };
        let bound = bound.min(self.inflight_shortterm).max(min_cwnd(&p.own, c));
        self.cwnd = self.cwnd.min(bound);
    }

    /// `OnEnterRTO`: allows one segment.
    pub(super) fn after_timeout(&mut self, c: &Conn, from: Phase) {
        self.save_cwnd(from);
        self.save_once();
        self.cwnd = c.in_flight.saturating_add(segment(c)).min(MAX_WINDOW);
    }

    /// Restores the window before recovery, up to the limit of the model. In the draft, recovery ends
    /// before the acknowledgement that ends it is processed, and `SetCwnd` follows.
    pub(super) fn leave_recovery(&mut self, p: &Setup<Params>, c: &Conn) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_bw_reached {
            self.cwnd = self.cwnd.min(self.max_inflight(p, c));
        }
        self.recovery_is_over();
        self.bound_cwnd(p, c);
    }
}
