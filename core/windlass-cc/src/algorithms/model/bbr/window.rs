//! The pacing rate and the congestion window, in recovery and outside.

use super::params::PROBE;
use super::{Bbr, Mode, Params};
use crate::arithmetic::math::mul;
use crate::arithmetic::window::MAX_WINDOW;
use crate::event::{Ack, Conn, Phase};
use crate::params::Ratio;
use crate::setup::Setup;
use crate::time::{Rate, Span};

/// Bandwidth below which an aggregate may be a single segment (Linux: 1.2 Mbit/s).
const SLOW: Rate = Rate(150_000);
/// Maximum aggregate, bytes.
const MAX_QUANTUM: u64 = 65_536;

fn segment(c: &Conn) -> u64 {
    u64::from(c.mss.max(1))
}

/// The smallest window, bytes.
pub(super) fn min_cwnd(p: &Params, c: &Conn) -> u64 {
    mul(p.min_cwnd, segment(c)).min(MAX_WINDOW)
}

impl Bbr {
    /// Pacing rate before the first estimate: the initial window per RTT, or per 1 ms.
    pub(super) fn init_pacing(&mut self, p: &Params, c: &Conn) {
        self.has_seen_rtt = c.srtt.is_known();
        let rtt = if self.has_seen_rtt { c.srtt.max(Span(1)) } else { Span::from_millis(1) };
        self.pacing = paced(p, Rate::of(self.cwnd, rtt), p.startup_gain);
    }

    /// Paces at the estimate. Before the pipe is full, the rate does not decrease.
    pub(super) fn set_pacing(&mut self, p: &Params, c: &Conn, gain: Ratio) {
        if !self.has_seen_rtt && c.srtt.is_known() {
            self.init_pacing(p, c);
        }
        let rate = paced(p, self.bandwidth(), gain);
        if self.full_bw_reached || rate > self.pacing {
            self.pacing = rate;
        }
    }

    /// Flight that fills the path at the estimated bandwidth times `gain`.
    pub(super) fn target_flight(&self, p: &Params, c: &Conn, gain: Ratio) -> u64 {
        self.target_flight_at(p, c, self.max_bw(), gain)
    }

    /// Flight that fills the path at the bandwidth `bw` times `gain`.
    pub(super) fn target_flight_at(&self, p: &Params, c: &Conn, bw: Rate, gain: Ratio) -> u64 {
        self.with_budget(p, c, self.bdp(bw, gain).unwrap_or(self.cwnd))
    }

    /// Bandwidth-delay product times `gain`, rounded up so that rounding does not feed back;
    /// `None` before a round-trip sample.
    fn bdp(&self, bw: Rate, gain: Ratio) -> Option<u64> {
        let known = self.min_rtt.is_known();
        known.then(|| gain.times(bw.volume(self.min_rtt)).saturating_add(1))
    }

    /// Adds room for the aggregates of both hosts, rounds to an even number of segments for receivers
    /// that acknowledge every second segment, and adds two more segments while probing, for a small
    /// product.
    fn with_budget(&self, p: &Params, c: &Conn, flight: u64) -> u64 {
        let pair = 2 * segment(c);
        let gathered = flight.min(MAX_WINDOW) + 3 * self.quantum(p, c);
        let even = gathered.div_ceil(pair) * pair;
        let probing = self.mode == Mode::ProbeBw && self.cycle == PROBE;
        if probing { even + pair } else { even }
    }

    /// Aggregate of the sending host, bytes: Linux's `bbr_tso_segs_goal`.
    pub(super) fn quantum(&self, p: &Params, c: &Conn) -> u64 {
        let least = if self.pacing < SLOW { segment(c) } else { 2 * segment(c) };
        let gathered = self.pacing.volume(p.quantum_time).min(MAX_QUANTUM);
        (gathered - gathered % segment(c)).max(least)
    }

    /// Target window of the model.
    fn target_cwnd(&self, p: &Setup<Params>, c: &Conn) -> u64 {
        let bdp = self.bdp(self.bandwidth(), self.cwnd_gain).unwrap_or(p.initial_window);
        self.with_budget(&p.own, c, bdp.saturating_add(self.aggregation_allowance(&p.own)))
    }

    /// Moves the window towards its target by the delivered bytes.
    pub(super) fn set_cwnd(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack) {
        let delivered = a.delivered.min(MAX_WINDOW);
        if delivered > 0 {
            // Lost segments do not allow new ones: an acknowledgement releases at most twice the bytes
            // that it delivers. For the losses that begin a recovery, `enter_recovery` saves and sets
            // the window.
            if matches!(c.phase, Phase::Recovery | Phase::Loss) {
                self.cwnd = self.cwnd.saturating_sub(a.lost).max(segment(c));
            }
            if self.conserving {
                self.cwnd = self.cwnd.max(c.in_flight.saturating_add(delivered)).min(MAX_WINDOW);
            } else {
                self.grow(p, c, delivered);
            }
        }
        self.bound(&p.own, c);
    }

    fn grow(&mut self, p: &Setup<Params>, c: &Conn, delivered: u64) {
        let target = self.target_cwnd(p, c);
        if self.full_bw_reached {
            self.cwnd = (self.cwnd + delivered).min(target);
        } else if self.cwnd < target || c.delivered.wrapping_sub(self.origin) < p.initial_window {
            self.cwnd += delivered;
        }
        self.cwnd = self.cwnd.max(min_cwnd(&p.own, c));
    }

    fn bound(&mut self, p: &Params, c: &Conn) {
        self.cwnd = self.cwnd.min(MAX_WINDOW);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(min_cwnd(p, c));
        }
    }

    /// Limits the first round of recovery to packet conservation: the window is the flight plus the
    /// bytes that the acknowledgement with the loss has delivered.
    pub(super) fn enter_recovery(&mut self, c: &Conn, from: Phase) {
        self.save_cwnd(from);
        self.conserving = true;
        self.rounds.restart(c.delivered);
        let delivered = u64::from(self.delivered).max(segment(c));
        self.cwnd = c.in_flight.saturating_add(delivered).min(MAX_WINDOW);
    }

    /// Restores the window before recovery, up to the target of the model.
    pub(super) fn leave_recovery(&mut self, p: &Setup<Params>, c: &Conn) {
        self.conserving = false;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_bw_reached {
            self.cwnd = self.cwnd.min(self.target_cwnd(p, c)).max(min_cwnd(&p.own, c));
        }
        self.bound(&p.own, c);
    }

    /// Reduces the window to the flight plus one segment, restarts the search for the full pipe, and
    /// samples for a policer.
    pub(super) fn after_timeout(&mut self, p: &Params, c: &Conn, from: Phase) {
        if from != Phase::Loss {
            self.save_cwnd(from);
        }
        self.cwnd = c.in_flight.saturating_add(segment(c)).min(MAX_WINDOW);
        self.full_bw = Rate(0);
        self.sample_policer(p, c, true, false, true);
    }
}

/// Returns the pacing rate for a bandwidth. It is never zero, which would mean no pacing.
fn paced(p: &Params, bw: Rate, gain: Ratio) -> Rate {
    let margin = Ratio(Ratio::ONE.0.saturating_sub(p.pacing_margin.0));
    Rate(margin.times(gain.times(bw.0)).max(1))
}

impl Bbr {
    /// Adds an acknowledgement to the measurement of aggregation.
    pub(super) fn update_aggregation(&mut self, p: &Params, c: &Conn, a: &Ack) {
        if p.extra_acked_time.0 == 0 || a.delivered == 0 || !a.rate.is_valid() {
            return;
        }
        if self.rounds.started() {
            self.aggregation.on_round(p.extra_acked_rounds);
        }
        self.aggregation.on_acked(c, self.bandwidth(), a.delivered, self.cwnd);
    }

    /// Increase of the window for aggregation, bytes.
    pub(super) fn aggregation_allowance(&self, p: &Params) -> u64 {
        if !self.full_bw_reached {
            return 0;
        }
        self.aggregation.max().min(self.bandwidth().volume(p.extra_acked_time))
    }
}
