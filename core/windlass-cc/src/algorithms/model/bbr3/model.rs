//! Model of the path from delivery and loss (draft-ietf-ccwg-bbr-06 section 5.5).

use super::params::is_too_high;
use super::state::UNBOUNDED;
use super::{Bbr3, Params, Sample, State};
use crate::arithmetic::math::mul_div;
use crate::event::{Ack, Conn, Loss};
use crate::params::Ratio;
use crate::setup::Setup;
use crate::time::Rate;

/// Section 5.5.10.2: returns the flight at which the losses exceeded the threshold. If the losses
/// before this segment already exceed it, this is the flight before the segment.
pub(super) fn inflight_at_loss(p: &Params, l: &Loss) -> u64 {
    let before = l.tx_in_flight.saturating_sub(l.bytes);
    let lost_before = l.lost_since_sent.saturating_sub(l.bytes);
    let budget = p.loss_threshold.times(before).saturating_sub(lost_before);
    let rest = Ratio::ONE.0.saturating_sub(p.loss_threshold.0);
    before.saturating_add(mul_div(budget, Ratio::ONE.0, rest))
}

impl Bbr3 {
    /// Sections 5.5.10.3 (`UpdateLatestDeliverySignals`, `UpdateCongestionSignals`) and 5.5.5.
    pub(super) fn update_signals(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack, s: Sample) {
        self.loss_round_start = false;
        if !s.known {
            self.rounds.no_sample();
            return;
        }
        self.bw_latest = self.bw_latest.max(s.rate);
        self.inflight_latest = self.inflight_latest.max(a.rate.delivered);
        if a.rate.prior_delivered >= self.loss_round_end {
            self.loss_round_end = c.delivered;
            self.loss_round_start = true;
        }
        if self.rounds.on_ack(a.rate.prior_delivered, c.delivered) {
            self.rounds_since_probe = self.rounds_since_probe.saturating_add(1);
        }
        if s.rate > 0 && (s.rate >= self.max_bw.get() || !s.limited) {
            if core::mem::take(&mut self.cycle_ended) {
                self.max_bw.advance();
            }
            self.max_bw.update(s.rate);
        }
        if self.loss_round_start {
            self.adapt_lower_bounds(&p.own);
            self.loss_in_round = false;
        }
    }

    /// Once per round with losses, except while probing: lowers the short-term bounds towards the
    /// delivered values.
    fn adapt_lower_bounds(&mut self, p: &Params) {
        if self.state.is_probing() || !self.loss_in_round {
            return;
        }
        if self.bw_shortterm == UNBOUNDED {
            self.bw_shortterm = self.max_bw.get();
        }
        if self.inflight_shortterm == UNBOUNDED {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(p.beta.times(self.bw_shortterm));
        self.inflight_shortterm = self.inflight_latest.max(p.beta.times(self.inflight_shortterm));
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_signals(&mut self, a: &Ack, s: Sample) {
        if self.loss_round_start {
            self.bw_latest = s.rate;
            self.inflight_latest = a.rate.delivered;
        }
    }

    pub(super) fn reset_congestion_signals(&mut self) {
        self.loss_in_round = false;
        self.bw_latest = 0;
        self.inflight_latest = 0;
    }

    pub(super) fn reset_short_term(&mut self) {
        self.bw_shortterm = UNBOUNDED;
        self.inflight_shortterm = UNBOUNDED;
    }

    pub(super) fn bound_bw(&mut self) {
        self.bw = Rate(self.max_bw.get().min(self.bw_shortterm));
    }

    /// Section 5.5.9: measures acknowledgements that arrive faster than the bandwidth explains.
    pub(super) fn update_aggregation(&mut self, p: &Params, c: &Conn, a: &Ack) {
        let mut expected = self.bw.volume(c.now.since(self.extra_acked_begin));
        if self.extra_acked_delivered <= expected {
            self.extra_acked_delivered = 0;
            self.extra_acked_begin = c.now;
            expected = 0;
        }
        self.extra_acked_delivered = self.extra_acked_delivered.saturating_add(a.delivered);
        let extra = self.extra_acked_delivered.saturating_sub(expected).min(self.cwnd);
        let window = if self.full_bw_reached { p.extra_acked_rounds } else { 1 };
        self.extra_acked.update(window, u64::from(self.rounds.count()), extra);
    }

    /// Section 5.5.10.2 (`HandleLostPacket`).
    pub(super) fn handle_loss(&mut self, p: &Setup<Params>, c: &Conn, l: &Loss) {
        if !self.loss_in_round {
            self.loss_round_end = c.delivered;
            self.loss_in_round = true;
            self.save_cwnd(c.phase);
            self.save_once();
        }
        if self.probe_samples && is_too_high(p, l.lost_since_sent, l.tx_in_flight) {
            self.too_much_in_flight(p, c, inflight_at_loss(&p.own, l), l.app_limited);
        }
    }

    /// Handles a probe that exceeds the path's capacity; at most one response per probe.
    fn too_much_in_flight(&mut self, p: &Setup<Params>, c: &Conn, flight: u64, limited: bool) {
        self.probe_too_high = true;
        self.probe_samples = false;
        if !limited {
            self.inflight_longterm = flight.max(p.own.beta.times(self.target_inflight(p)));
        }
        if self.state == State::Up {
            self.saved.probing = Some(State::Up);
            self.start_down(&p.own, c);
        }
    }
}
