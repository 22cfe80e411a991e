//! BBR version 1: draft-cardwell-iccrg-bbr-congestion-control-00, whose sections are quoted. Linux
//! adds a pacing margin of 1 %, windows of an even number of segments, room for aggregated
//! acknowledgements, policers (`policer`), and a new search for the full pipe after a timeout or an
//! undo. If both define a rule, the model follows Linux: only a lower RTT refreshes the estimate,
//! and after a timeout cwnd is the data in flight plus one segment.
//!
//! Bytes, nanoseconds, bytes per second: whole nanoseconds are exact, and phases end when a time has
//! just passed.

use windlass_cc::{Ack, Conn, Event, Phase, RateSample};

use super::Model;
use super::aggregation::Aggregation;
use super::filters::{Best, DeliveryRounds, delivery_rate};
use super::policer::Policer;

/// BBRHighGain with Linux's value, section 4.3.2.1.
const HIGH_GAIN: f64 = 2.885;
/// Pacing gains of ProbeBW, section 4.3.4.1.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
const PACING_MARGIN: f64 = 0.01;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// BBR version 1.
pub struct Bbr {
    state: State,
    initial_window: f64,
    cwnd: f64,
    prior_cwnd: f64,
    pacing_rate: f64,
    pacing_gain: f64,
    has_seen_rtt: bool,
    rounds: DeliveryRounds,
    bandwidth: Best,
    rtprop: Option<f64>,
    rtprop_stamp: f64,
    probe_rtt_done: Option<f64>,
    probe_rtt_round_done: bool,
    /// Range of delivered bytes. Segments that were sent within it were limited by ProbeRTT.
    held_back: Option<(u64, u64)>,
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    cycle_index: usize,
    cycle_stamp: f64,
    packet_conservation: bool,
    idle_restart: bool,
    aggregation: Aggregation,
    policer: Policer,
    /// Bytes delivered by the latest acknowledgement.
    packets_delivered: f64,
}

fn now(c: &Conn) -> f64 {
    c.now.0 as f64
}

fn mss(c: &Conn) -> f64 {
    f64::from(c.mss)
}

fn min_pipe_cwnd(c: &Conn) -> f64 {
    4.0 * mss(c)
}

impl Bbr {
    /// Sections 4.2.1 and 4.3.1.
    pub fn new(cwnd: f64, c: &Conn) -> Bbr {
        Bbr {
            state: State::Startup,
            initial_window: cwnd,
            cwnd,
            prior_cwnd: 0.0,
            pacing_rate: (1.0 - PACING_MARGIN) * HIGH_GAIN * cwnd / 1e-3,
            pacing_gain: HIGH_GAIN,
            has_seen_rtt: false,
            rounds: DeliveryRounds::new(c.delivered),
            bandwidth: Best::largest(),
            rtprop: None,
            rtprop_stamp: now(c),
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            held_back: None,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            cycle_index: 0,
            cycle_stamp: now(c),
            packet_conservation: false,
            idle_restart: false,
            aggregation: Aggregation::new(now(c)),
            policer: Policer::new(c),
            packets_delivered: 0.0,
        }
    }

    fn max_bw(&self) -> f64 {
        self.bandwidth.get().unwrap_or(0.0)
    }

    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or(self.max_bw())
    }

    fn is_app_limited(&self, sample: &RateSample) -> bool {
        let held = |(from, until)| (from..=until).contains(&sample.prior_delivered);
        sample.app_limited || self.held_back.is_some_and(held)
    }

    /// Section 4.1.1.5: over ten rounds.
    fn update_bandwidth(&mut self, c: &Conn, a: &Ack) {
        if !a.rate.is_valid() {
            self.rounds.begins = false;
            return;
        }
        self.rounds.take(&a.rate, c.delivered);
        if self.rounds.begins {
            self.packet_conservation = false;
        }
        let limited = self.is_app_limited(&a.rate);
        self.sample_policer(c, a.lost > 0, limited, self.rounds.begins);
        let rate = delivery_rate(&a.rate);
        if !limited || rate >= self.max_bw() {
            self.bandwidth.take(10.0, f64::from(self.rounds.count), rate);
        }
    }

    fn sample_policer(&mut self, c: &Conn, lost: bool, limited: bool, round: bool) {
        let cycling = self.state == State::ProbeBw;
        if self.policer.take(c, lost, limited, round, cycling) {
            self.enter_probe_bw(c);
        }
    }

    fn update_aggregation(&mut self, c: &Conn, a: &Ack) {
        if a.delivered > 0 && a.rate.is_valid() {
            let (bw, cwnd) = (self.bw(), self.cwnd);
            self.aggregation.take(now(c), a.delivered as f64, self.rounds.begins, bw, cwnd);
        }
    }

    /// Section 4.3.2.2.
    fn check_full_pipe(&mut self, a: &Ack) {
        if self.filled_pipe || !self.rounds.begins || self.is_app_limited(&a.rate) {
            return;
        }
        if self.max_bw() >= 1.25 * self.full_bw {
            (self.full_bw, self.full_bw_count) = (self.max_bw(), 0);
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= 3;
    }

    /// Section 4.3.3.
    fn check_drain(&mut self, c: &Conn) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
        if self.state == State::Drain && c.in_flight as f64 <= self.inflight(c, 1.0) {
            self.enter_probe_bw(c);
        }
    }

    /// Section 4.3.4.3; `random_int_in_range(0..6)` is `7·entropy/2^32`, cut.
    fn enter_probe_bw(&mut self, c: &Conn) {
        let drawn = (7.0 * f64::from(c.entropy) / 4_294_967_296.0).floor() as usize;
        self.state = State::ProbeBw;
        self.cycle_index = (7 - drawn + 1) % CYCLE.len();
        self.cycle_stamp = now(c);
    }

    fn check_cycle_phase(&mut self, c: &Conn, a: &Ack) {
        let full_length = now(c) - self.cycle_stamp > self.rtprop.unwrap_or(f64::INFINITY);
        let prior_inflight = a.prior_in_flight as f64;
        let next = if self.pacing_gain > 1.0 {
            let reached = prior_inflight >= self.inflight(c, self.pacing_gain);
            full_length && (a.lost > 0 || reached)
        } else if self.pacing_gain < 1.0 {
            full_length || prior_inflight <= self.inflight(c, 1.0)
        } else {
            full_length
        };
        if self.state == State::ProbeBw && next {
            self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
            self.cycle_stamp = now(c);
        }
    }

    /// Sections 4.1.2.3 and 4.3.5.
    fn update_rtprop(&mut self, c: &Conn, a: &Ack) {
        let expired = now(c) > self.rtprop_stamp + 10e9;
        if a.rtt.is_known() {
            let rtt = a.rtt.0 as f64;
            if expired || self.rtprop.is_none_or(|rtprop| rtt < rtprop) {
                (self.rtprop, self.rtprop_stamp) = (Some(rtt), now(c));
            }
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.save_cwnd(c.phase);
            self.probe_rtt_done = None;
            self.held_back = Some((c.delivered, c.delivered));
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(c);
        }
        if a.rate.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, c: &Conn) {
        let from = self.held_back.map_or(c.delivered, |(from, _)| from);
        self.held_back = Some((from, c.delivered + c.in_flight));
        if self.probe_rtt_done.is_some() {
            self.probe_rtt_round_done |= self.rounds.begins;
            if self.probe_rtt_round_done {
                self.check_probe_rtt_done(c);
            }
        } else if c.in_flight as f64 <= min_pipe_cwnd(c) {
            self.probe_rtt_done = Some(now(c) + 0.2e9);
            self.probe_rtt_round_done = false;
            self.rounds.begin(c.delivered);
        }
    }

    fn check_probe_rtt_done(&mut self, c: &Conn) {
        if self.probe_rtt_done.is_none_or(|done| now(c) <= done) {
            return;
        }
        self.rtprop_stamp = now(c);
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.filled_pipe {
            self.enter_probe_bw(c);
        } else {
            self.state = State::Startup;
        }
    }

    /// Pacing gain and window gain of the state.
    fn gains(&self) -> (f64, f64) {
        match self.state {
            State::Startup => (HIGH_GAIN, HIGH_GAIN),
            State::Drain => (1.0 / HIGH_GAIN, HIGH_GAIN),
            State::ProbeBw if self.policer.rate().is_some() => (1.0, 2.0),
            State::ProbeBw => (CYCLE[self.cycle_index], 2.0),
            State::ProbeRtt => (1.0, 1.0),
        }
    }

    /// Section 4.2.1.
    fn set_pacing_rate(&mut self, c: &Conn, gain: f64) {
        if !self.has_seen_rtt && c.srtt.is_known() {
            self.has_seen_rtt = true;
            let srtt = c.srtt.0 as f64 * 1e-9;
            self.pacing_rate = (1.0 - PACING_MARGIN) * HIGH_GAIN * self.cwnd / srtt;
        }
        let rate = (1.0 - PACING_MARGIN) * gain * self.bw();
        if self.filled_pipe || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// Section 4.2.2 with Linux's rule: whole segments of a millisecond, at least one segment below
    /// 1.2 Mbit/s and at least two above.
    fn send_quantum(&self, c: &Conn) -> f64 {
        let least = if self.pacing_rate < 150_000.0 { 1.0 } else { 2.0 };
        let segments = (self.pacing_rate * 1e-3).min(65_536.0) / mss(c);
        segments.floor().max(least) * mss(c)
    }

    /// Adds room for three quanta, rounds to an even number of segments, and adds two segments while
    /// probing.
    fn quantized(&self, c: &Conn, flight: f64) -> f64 {
        let pair = 2.0 * mss(c);
        let even = ((flight + 3.0 * self.send_quantum(c)) / pair).ceil() * pair;
        let probing = self.state == State::ProbeBw && self.cycle_index == 0;
        if probing { even + pair } else { even }
    }

    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.rtprop.map_or(self.initial_window, |rtprop| gain * bw * rtprop * 1e-9)
    }

    /// Section 4.2.3.2, with the bandwidth of the maximum filter.
    fn inflight(&self, c: &Conn, gain: f64) -> f64 {
        self.quantized(c, self.bdp(self.max_bw(), gain))
    }

    fn target_cwnd(&self, c: &Conn) -> f64 {
        let (_, gain) = self.gains();
        let extra = if self.filled_pipe { self.aggregation.allowance(self.bw()) } else { 0.0 };
        self.quantized(c, self.bdp(self.bw(), gain) + extra)
    }

    /// Sections 4.2.3.4 to 4.2.3.6.
    fn set_cwnd(&mut self, c: &Conn, a: &Ack) {
        let delivered = a.delivered as f64;
        if delivered > 0.0 {
            if matches!(c.phase, Phase::Recovery | Phase::Loss) {
                self.cwnd = (self.cwnd - a.lost as f64).max(mss(c));
            }
            if self.packet_conservation {
                self.cwnd = self.cwnd.max(c.in_flight as f64 + delivered);
            } else {
                let target = self.target_cwnd(c);
                if self.filled_pipe {
                    self.cwnd = (self.cwnd + delivered).min(target);
                } else if self.cwnd < target || (c.delivered as f64) < self.initial_window {
                    self.cwnd += delivered;
                }
                self.cwnd = self.cwnd.max(min_pipe_cwnd(c));
            }
        }
        self.modulate_for_probe_rtt(c);
    }

    fn modulate_for_probe_rtt(&mut self, c: &Conn) {
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(min_pipe_cwnd(c));
        }
    }

    fn save_cwnd(&mut self, phase: Phase) {
        let modulated =
            matches!(phase, Phase::Recovery | Phase::Loss) || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn on_ack(&mut self, c: &Conn, a: &Ack) {
        self.packets_delivered = a.delivered as f64;
        self.update_bandwidth(c, a);
        self.update_aggregation(c, a);
        self.check_cycle_phase(c, a);
        self.check_full_pipe(a);
        self.check_drain(c);
        self.update_rtprop(c, a);
        (self.pacing_gain, _) = self.gains();
        self.set_pacing_rate(c, self.pacing_gain);
        self.set_cwnd(c, a);
    }

    /// Section 4.2.3.4.
    fn on_phase(&mut self, c: &Conn, from: Phase, to: Phase) {
        match (from, to) {
            (_, Phase::Loss) => {
                if from != Phase::Loss {
                    self.save_cwnd(from);
                }
                self.cwnd = c.in_flight as f64 + mss(c);
                self.full_bw = 0.0;
                self.sample_policer(c, true, false, true);
            }
            (Phase::Open, Phase::Recovery) => {
                self.save_cwnd(from);
                self.packet_conservation = true;
                self.rounds.begin(c.delivered);
                self.cwnd = c.in_flight as f64 + self.packets_delivered.max(mss(c));
            }
            (Phase::Recovery | Phase::Loss, Phase::Open) => {
                self.packet_conservation = false;
                self.cwnd = self.cwnd.max(self.prior_cwnd);
                if self.filled_pipe {
                    self.cwnd = self.cwnd.min(self.target_cwnd(c)).max(min_pipe_cwnd(c));
                }
                self.modulate_for_probe_rtt(c);
            }
            _ => {}
        }
    }

    /// Section 4.3.4.4.
    fn on_idle_restart(&mut self, c: &Conn) {
        self.idle_restart = true;
        self.aggregation.restart(now(c));
        match self.state {
            State::ProbeBw => self.set_pacing_rate(c, 1.0),
            State::ProbeRtt => self.check_probe_rtt_done(c),
            State::Startup | State::Drain => {}
        }
    }
}

impl Model for Bbr {
    fn apply(&mut self, c: &Conn, e: &Event) {
        match e {
            Event::Ack(a) => self.on_ack(c, a),
            Event::Phase { from, to } => self.on_phase(c, *from, *to),
            Event::Undo(_) => {
                (self.full_bw, self.full_bw_count) = (0.0, 0);
                self.policer = Policer::new(c);
            }
            Event::IdleRestart { .. } => self.on_idle_restart(c),
            Event::Loss(_) | Event::Mss(_) | Event::Group(_) | Event::CrossLayer(_) => {}
        }
    }

    fn windows(&self) -> (f64, f64) {
        (self.cwnd, f64::INFINITY)
    }

    fn pacing(&self) -> Option<f64> {
        Some(self.pacing_rate)
    }

    /// Windows are whole segments or numbers of bytes.
    fn tolerance(&self) -> f64 {
        1.0
    }
}
