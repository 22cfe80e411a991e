//! BBR version 3 of draft-ietf-ccwg-bbr-06. Functions and fields have the names of its pseudocode.
//! Units are bytes, nanoseconds and bytes per second.
//!
//! If the draft leaves a choice, `windlass algorithms bbr3` also states the choice made here. The
//! lost ranges that end Startup are acknowledgements that find losses. The state for an undo is saved
//! at the first loss of a recovery. The application limit of ProbeRTT is kept here. A recovery ends
//! after its acknowledgement, so the bounds are applied once more.

mod control;
mod probe;
mod terms;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::{Ack, Conn, Event, Loss, Phase, RateSample};

use super::Model;
use super::filters::{Best, DeliveryRounds, delivery_rate};
use terms::{AckPhase, INFINITY, State, now, smss};

const LOSS_THRESH: f64 = 0.02;
const BETA: f64 = 0.7;
/// The undo state. The flag is true if it belongs to the present recovery.
#[derive(Clone, Copy)]
struct Undo {
    state: Option<State>,
    bw_shortterm: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    in_recovery: bool,
}

/// BBR version 3.
pub struct Bbr3 {
    state: State,
    has_selective_acks: bool,
    initial_cwnd: f64,
    cwnd: f64,
    prior_cwnd: f64,
    pacing_rate: f64,
    has_seen_rtt: bool,
    rounds: DeliveryRounds,
    max_bw_filter: Best,
    cycle_count: f64,
    bw: f64,
    bw_shortterm: f64,
    bw_latest: f64,
    inflight_shortterm: f64,
    inflight_longterm: f64,
    inflight_latest: f64,
    loss_round_delivered: u64,
    loss_round_start: bool,
    is_loss_in_round: bool,
    loss_events_in_round: u32,
    extra_acked_filter: Best,
    extra_acked_interval_start: f64,
    extra_acked_delivered: f64,
    full_bw: f64,
    full_bw_count: u32,
    full_bw_now: bool,
    full_bw_reached: bool,
    drain_start_round: u32,
    ack_phase: AckPhase,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    bw_probe_up_rounds: i32,
    bw_probe_up_acked: f64,
    probe_up_acked_per_inc: f64,
    rounds_since_probe_up: u32,
    bw_probe_wait: f64,
    cycle_stamp: f64,
    min_rtt: f64,
    min_rtt_stamp: f64,
    probe_rtt_min_delay: f64,
    probe_rtt_min_stamp: f64,
    probe_rtt_expired: bool,
    probe_rtt_done_stamp: Option<f64>,
    probe_rtt_round_done: bool,
    /// Range of delivered bytes. Segments that were sent within it were limited by ProbeRTT.
    held_back: Option<(u64, u64)>,
    idle_restart: bool,
    undo: Undo,
}

impl Bbr3 {
    /// Section 5.2.1.
    pub fn new(initial_cwnd: f64, style: LossRecovery, c: &Conn) -> Bbr3 {
        Bbr3 {
            state: State::Startup,
            has_selective_acks: matches!(style, LossRecovery::Sack | LossRecovery::Prr),
            initial_cwnd,
            cwnd: initial_cwnd,
            prior_cwnd: 0.0,
            pacing_rate: control::initial_pacing_rate(initial_cwnd, 1e6),
            has_seen_rtt: false,
            rounds: DeliveryRounds::new(c.delivered),
            max_bw_filter: Best::largest(),
            cycle_count: 0.0,
            bw: 0.0,
            bw_shortterm: INFINITY,
            bw_latest: 0.0,
            inflight_shortterm: INFINITY,
            inflight_longterm: INFINITY,
            inflight_latest: 0.0,
            loss_round_delivered: c.delivered,
            loss_round_start: false,
            is_loss_in_round: false,
            loss_events_in_round: 0,
            extra_acked_filter: Best::largest(),
            extra_acked_interval_start: now(c),
            extra_acked_delivered: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            drain_start_round: 0,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            bw_probe_up_rounds: 0,
            bw_probe_up_acked: 0.0,
            probe_up_acked_per_inc: INFINITY,
            rounds_since_probe_up: 0,
            bw_probe_wait: 0.0,
            cycle_stamp: now(c),
            min_rtt: INFINITY,
            min_rtt_stamp: now(c),
            probe_rtt_min_delay: INFINITY,
            probe_rtt_min_stamp: now(c),
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            held_back: None,
            idle_restart: false,
            undo: Undo {
                state: None,
                bw_shortterm: 0.0,
                inflight_shortterm: 0.0,
                inflight_longterm: 0.0,
                in_recovery: false,
            },
        }
    }

    fn max_bw(&self) -> f64 {
        self.max_bw_filter.get().unwrap_or(0.0)
    }

    fn is_app_limited(&self, rs: &RateSample) -> bool {
        let held = |(from, until)| (from..=until).contains(&rs.prior_delivered);
        rs.app_limited || self.held_back.is_some_and(held)
    }

    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::Refill | State::Up)
    }

    fn is_in_a_probe_bw_state(&self) -> bool {
        matches!(self.state, State::Down | State::Cruise | State::Refill | State::Up)
    }

    /// Section 5.2.3, for an acknowledgement that delivers data.
    fn update_model_and_state(&mut self, c: &Conn, a: &Ack) {
        let rs = &a.rate;
        self.update_latest_delivery_signals(c, rs);
        self.update_congestion_signals(c, rs);
        self.update_ack_aggregation(c, a);
        self.check_full_bw_reached(rs);
        self.check_startup_done(c, a);
        self.check_drain_done(c);
        self.update_probe_bw_cycle_phase(c, a);
        self.update_min_rtt(c, a);
        self.check_probe_rtt(c, rs);
        self.advance_latest_delivery_signals(rs);
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    // Section 5.5.10.3

    fn update_latest_delivery_signals(&mut self, c: &Conn, rs: &RateSample) {
        self.bw_latest = self.bw_latest.max(delivery_rate(rs));
        self.inflight_latest = self.inflight_latest.max(rs.delivered as f64);
        self.loss_round_start = rs.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = c.delivered;
        }
    }

    fn update_congestion_signals(&mut self, c: &Conn, rs: &RateSample) {
        self.update_max_bw(c, rs);
        if self.loss_round_start {
            self.adapt_lower_bounds_from_congestion();
            self.is_loss_in_round = false;
        }
    }

    fn advance_latest_delivery_signals(&mut self, rs: &RateSample) {
        if self.loss_round_start {
            self.bw_latest = delivery_rate(rs);
            self.inflight_latest = rs.delivered as f64;
        }
    }

    fn adapt_lower_bounds_from_congestion(&mut self) {
        if self.is_probing_bw() || !self.is_loss_in_round {
            return;
        }
        if self.bw_shortterm == INFINITY {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == INFINITY {
            self.inflight_shortterm = self.cwnd;
        }
        self.bw_shortterm = self.bw_latest.max(BETA * self.bw_shortterm);
        self.inflight_shortterm = self.inflight_latest.max(BETA * self.inflight_shortterm);
    }

    fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    fn reset_short_term_model(&mut self) {
        self.bw_shortterm = INFINITY;
        self.inflight_shortterm = INFINITY;
    }

    /// Sections 5.5.1 and 5.5.5: over the current and the previous cycle.
    fn update_max_bw(&mut self, c: &Conn, rs: &RateSample) {
        self.rounds.take(rs, c.delivered);
        self.rounds_since_probe_up += u32::from(self.rounds.begins);
        let rate = delivery_rate(rs);
        if rate > 0.0 && (rate >= self.max_bw() || !self.is_app_limited(rs)) {
            self.max_bw_filter.take(1.0, self.cycle_count, rate);
        }
    }

    /// Section 5.5.9. Volumes are whole bytes, so an interval at exactly the bandwidth continues.
    fn update_ack_aggregation(&mut self, c: &Conn, a: &Ack) {
        let since = |start: f64| (now(c) - start) * 1e-9;
        let expected = self.bw * since(self.extra_acked_interval_start);
        if self.extra_acked_delivered + 1.0 <= expected || self.extra_acked_delivered == 0.0 {
            self.extra_acked_delivered = 0.0;
            self.extra_acked_interval_start = now(c);
        }
        self.extra_acked_delivered += a.delivered as f64;
        let expected = self.bw * since(self.extra_acked_interval_start);
        let extra = (self.extra_acked_delivered - expected).min(self.cwnd);
        let filter_len = if self.full_bw_reached { 10.0 } else { 1.0 };
        self.extra_acked_filter.take(filter_len, f64::from(self.rounds.count), extra);
    }

    // Section 5.5.10.2

    fn is_inflight_too_high(&self, lost: f64, tx_in_flight: f64) -> bool {
        lost > tx_in_flight * LOSS_THRESH || (lost > 0.0 && !self.has_selective_acks)
    }

    fn handle_lost_packet(&mut self, c: &Conn, p: &Loss) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = c.delivered;
            self.save_state_upon_loss(c.phase);
        }
        self.is_loss_in_round = true;
        let (lost, tx_in_flight) = (p.lost_since_sent as f64, p.tx_in_flight as f64);
        if !self.is_bw_probe_sample || !self.is_inflight_too_high(lost, tx_in_flight) {
            return;
        }
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !p.app_limited {
            // `InflightAtLoss`; a prefix has no negative length.
            let size = p.bytes as f64;
            let (inflight_prev, lost_prev) = (tx_in_flight - size, lost - size);
            let lost_prefix = (LOSS_THRESH * inflight_prev - lost_prev) / (1.0 - LOSS_THRESH);
            let at_loss = inflight_prev + lost_prefix.max(0.0);
            self.inflight_longterm = at_loss.max(self.target_inflight() * BETA);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_probe_bw_down(c);
        }
    }

    // Section 5.5.11

    fn save_state_upon_loss(&mut self, phase: Phase) {
        self.save_cwnd(phase);
        if self.undo.in_recovery {
            return;
        }
        self.undo = Undo {
            state: None,
            bw_shortterm: self.bw_shortterm,
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
            in_recovery: true,
        };
    }

    fn handle_spurious_loss_detection(&mut self, c: &Conn) {
        self.restore_cwnd();
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo.bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        let held = self.state == State::ProbeRtt;
        match self.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !held {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !held => self.start_probe_bw_refill(c),
            _ => {}
        }
    }

    /// Section 5.6.4.4.
    fn on_phase(&mut self, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (_, Phase::Loss) => {
                self.save_state_upon_loss(from);
                self.cwnd = c.in_flight as f64 + smss(c);
            }
            (Phase::Open, Phase::Recovery) => self.save_state_upon_loss(from),
            (Phase::Recovery | Phase::Loss, Phase::Open) => {
                self.undo.in_recovery = false;
                self.restore_cwnd();
                self.set_cwnd(c, 0.0);
            }
            _ => {}
        }
    }

    /// Section 5.4.1. The count starts again with its interval, as in Linux's and Google's BBR.
    fn handle_restart_from_idle(&mut self, c: &Conn) {
        self.idle_restart = true;
        self.extra_acked_interval_start = now(c);
        self.extra_acked_delivered = 0.0;
        if self.is_in_a_probe_bw_state() {
            self.set_pacing_rate_with_gain(c, 1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(c);
        }
    }
}

impl Model for Bbr3 {
    fn apply(&mut self, c: &Conn, e: &Event) {
        match e {
            Event::Ack(a) => {
                self.update_model_and_state(c, a);
                self.set_pacing_rate_with_gain(c, self.pacing_gain());
                self.set_cwnd(c, a.delivered as f64);
            }
            Event::Loss(p) => self.handle_lost_packet(c, p),
            Event::Phase { from, to } => self.on_phase(c, *from, *to),
            Event::Undo(_) => self.handle_spurious_loss_detection(c),
            Event::IdleRestart { .. } => self.handle_restart_from_idle(c),
            Event::Mss(_) | Event::Group(_) | Event::CrossLayer(_) => {}
        }
    }

    fn windows(&self) -> (f64, f64) {
        (self.cwnd, INFINITY)
    }

    fn pacing(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    /// A product of whole numbers and a gain with 16 fractional bits, and sums of several products.
    fn tolerance(&self) -> f64 {
        4.0 + self.cwnd / 10_000.0
    }
}
