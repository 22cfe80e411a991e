//! ProbeBW: DOWN, CRUISE, REFILL, UP (draft-ietf-ccwg-bbr-06 section 5.3.3).

use super::state::UNBOUNDED;
use super::{Bbr3, Params, Sample, State};
use crate::arithmetic::math::mul;
use crate::event::{Ack, Conn};
use crate::params::Ratio;
use crate::setup::Setup;
use crate::time::{Rate, Span};

/// Limit of the growth of the long-term bound: 2^30 segments per round.
const MAX_UP_ROUNDS: u8 = 30;

impl Bbr3 {
    pub(super) fn start_down(&mut self, p: &Params, c: &Conn) {
        self.reset_congestion_signals();
        self.up_acked_per_segment = UNBOUNDED;
        self.pick_probe_wait(p, c);
        self.cycle_stamp = c.now;
        self.probe_stopping = true;
        self.rounds.restart(c.delivered);
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self, c: &Conn) {
        self.reset_short_term();
        self.up_rounds = 0;
        self.up_acked = 0;
        self.probe_precautionary = false;
        self.probe_stopping = false;
        self.rounds.restart(c.delivered);
        self.state = State::Refill;
    }

    fn start_up(&mut self, c: &Conn, s: Sample) {
        self.probe_stopping = false;
        self.rounds.restart(c.delivered);
        self.reset_full_bw(s.rate);
        self.state = State::Up;
        self.raise_slope(c);
    }

    /// Section 5.3.3.8.3: selects a wait of two to three seconds, and of 62 or 63 rounds.
    fn pick_probe_wait(&mut self, p: &Params, c: &Conn) {
        self.rounds_since_probe = c.entropy & 1;
        // The upper bits as a fraction of the spread.
        let fraction = Ratio(u64::from(c.entropy >> 16));
        self.probe_wait = p.probe_wait + Span(fraction.times(p.probe_wait_spread.0));
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, p: &Setup<Params>, c: &Conn, a: &Ack, s: Sample) {
        if !self.full_bw_reached || !s.known || self.adapt_long_term(c, a, s) {
            return;
        }
        match self.state {
            State::Down => {
                if self.is_time_to_probe(p, c) {
                    self.start_refill(c);
                } else if self.is_time_to_cruise(p, c) {
                    self.state = State::Cruise;
                }
            }
            State::Cruise if self.is_time_to_probe(p, c) => self.start_refill(c),
            State::Refill if self.rounds.started() => {
                self.probe_samples = true;
                self.start_up(c, s);
            }
            State::Up => self.check_probe(p, c, s),
            _ => {}
        }
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, p: &Setup<Params>, c: &Conn) -> bool {
        // With a segment per round, Reno regains a window of segments in as many rounds.
        let rounds = u64::from(self.rounds_since_probe);
        let regained = mul(rounds, u64::from(c.mss.max(1)));
        c.now.since(self.cycle_stamp) > self.probe_wait
            || rounds >= p.own.reno_rounds
            || regained >= self.target_inflight(p)
    }

    fn is_time_to_cruise(&self, p: &Setup<Params>, c: &Conn) -> bool {
        let max_bw = Rate(self.max_bw.get());
        c.in_flight <= self.inflight_with_headroom(&p.own, c)
            && c.in_flight <= self.inflight(p, c, max_bw, Ratio::ONE)
    }

    /// `IsTimeToGoDown`: a probe ends when the pipe is full; after a probe with loss, the next probe
    /// ends at the bound.
    fn check_probe(&mut self, p: &Setup<Params>, c: &Conn, s: Sample) {
        if self.probe_too_high && c.in_flight >= self.inflight_longterm {
            self.probe_precautionary = true;
        } else if c.cwnd_limited() && self.cwnd >= self.inflight_longterm {
            // The bound, not the path, limits the rate.
            self.reset_full_bw(s.rate);
            return;
        } else if !self.full_bw_now {
            return;
        }
        self.probe_too_high = false;
        self.start_down(&p.own, c);
    }

    /// The long-term bound minus the headroom for other flows.
    pub(super) fn inflight_with_headroom(&self, p: &Params, c: &Conn) -> u64 {
        if self.inflight_longterm == UNBOUNDED {
            return UNBOUNDED;
        }
        let headroom = p.headroom.times(self.inflight_longterm).max(u64::from(c.mss));
        self.inflight_longterm.saturating_sub(headroom).max(super::window::min_cwnd(p, c))
    }

    /// `RaiseInflightLongtermSlope`: doubles the growth in each round.
    fn raise_slope(&mut self, c: &Conn) {
        let growth = self.up_rounds.min(MAX_UP_ROUNDS);
        self.up_rounds = growth + 1;
        self.up_acked_per_segment = (self.cwnd >> growth).max(u64::from(c.mss.max(1)));
    }

    /// `ProbeInflightLongtermUpward`.
    fn raise_long_term(&mut self, c: &Conn, a: &Ack) {
        if !c.cwnd_limited() || self.cwnd < self.inflight_longterm {
            return;
        }
        self.up_acked = self.up_acked.saturating_add(a.delivered);
        let per_segment = self.up_acked_per_segment.max(1);
        let segments = self.up_acked / per_segment;
        self.up_acked %= per_segment;
        let raise = mul(segments, u64::from(c.mss));
        self.inflight_longterm = self.inflight_longterm.saturating_add(raise).min(UNBOUNDED - 1);
        if self.rounds.started() {
            self.raise_slope(c);
        }
    }

    /// `AdaptLongTermModel`: returns true if it has changed the state.
    fn adapt_long_term(&mut self, c: &Conn, a: &Ack, s: Sample) -> bool {
        if self.probe_stopping && self.rounds.started() {
            self.probe_samples = false;
            self.probe_stopping = false;
            if self.state.is_probe_bw() {
                if !s.limited {
                    self.cycle_ended = true;
                }
                if self.probe_precautionary && !self.probe_too_high {
                    self.start_refill(c);
                    return true;
                }
            }
        }
        if !s.too_high && self.inflight_longterm != UNBOUNDED {
            self.inflight_longterm =
                self.inflight_longterm.max(a.rate.tx_in_flight.min(UNBOUNDED - 1));
            if self.state == State::Up {
                self.raise_long_term(c, a);
            }
        }
        false
    }
}
