//! Runs an algorithm and an `f64` model of it over the same acknowledgements.

use windlass_cc::{Ack, AnyController, AnyParams, Conn, Phase, Span, Time};

use crate::common::avoidance;

pub const MSS: u64 = 1_000;

/// Input of a model for one acknowledgement. Times in seconds, volumes in segments.
pub struct Seen {
    pub now: f64,
    pub rtt: f64,
    pub base: f64,
    pub flight: f64,
    pub una: u64,
    pub next: u64,
}

/// An algorithm in congestion avoidance, in segments and seconds.
pub trait Model {
    fn window(&self) -> f64;
    fn ack(&mut self, s: &Seen);
    /// The window that a loss leaves.
    fn loss(&mut self, s: &Seen) -> f64;
}

/// Rounds as in the papers: a round ends when data sent after its start is acknowledged.
#[derive(Default)]
pub struct Rounds {
    end: u64,
    samples: Vec<f64>,
}

impl Rounds {
    pub fn ack(&mut self, s: &Seen) -> Option<Vec<f64>> {
        self.samples.push(s.rtt);
        if s.una <= self.end {
            return None;
        }
        self.end = s.next;
        Some(std::mem::take(&mut self.samples))
    }

    pub fn restart(&mut self, s: &Seen) {
        self.end = s.next;
        self.samples.clear();
    }
}

pub fn least(samples: &[f64]) -> f64 {
    samples.iter().copied().fold(f64::INFINITY, f64::min)
}

pub fn mean(samples: &[f64]) -> f64 {
    samples.iter().sum::<f64>() / samples.len() as f64
}

/// An RTT that varies between 40 and 100 ms, in steps of up to 4 ms.
struct Wander {
    seed: u64,
    rtt_us: u64,
}

impl Wander {
    fn next(&mut self) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let up = (self.seed >> 33) % 8_001;
        self.rtt_us = (self.rtt_us + up).saturating_sub(4_000).clamp(40_000, 100_000);
        self.rtt_us * 1_000
    }
}

/// Runs algorithm and model over the same `acks` acknowledgements of a full window, with a loss every
/// `loss_every` of them. Compares their windows after each, and returns the maximum difference in
/// bytes.
pub fn distance(
    p: &AnyParams,
    model: &mut impl Model,
    acks: u64,
    loss_every: u64,
    seed: u64,
) -> (f64, Vec<f64>) {
    let mut c = Conn::new(MSS as u32);
    let mut state = AnyController::init(p, &c);
    let mut wander = Wander { seed, rtt_us: 40_000 };
    let (mut worst, mut windows) = (0.0f64, Vec::new());
    for at in 1..=acks {
        let cwnd = state.control(p, &c).cwnd;
        c.next_id = c.next_id.max(c.una + cwnd / MSS * MSS);
        let rtt = wander.next();
        let prior_in_flight = c.next_id - c.una;
        c.now = Time(c.now.0 + rtt * MSS / cwnd);
        c.una += MSS;
        c.flight_size = c.next_id - c.una;
        c.in_flight = c.flight_size;
        c.min_rtt = c.min_rtt.min(Span(rtt));
        c.srtt = Span(if c.srtt.is_known() { (7 * c.srtt.0 + rtt) / 8 } else { rtt });
        state.on_ack(p, &c, &Ack { rtt: Span(rtt), prior_in_flight, ..Ack::of(MSS) });
        let seen = Seen {
            now: c.now.0 as f64 * 1e-9,
            rtt: rtt as f64 * 1e-9,
            base: c.min_rtt.0 as f64 * 1e-9,
            flight: c.flight_size as f64 / MSS as f64,
            una: c.una,
            next: c.next_id,
        };
        model.ack(&seen);
        if at % loss_every == 0 {
            let kept = model.loss(&seen);
            c.phase = Phase::Recovery;
            state.on_phase(p, &c, Phase::Open, Phase::Recovery);
            let ssthresh = state.control(p, &c).ssthresh as f64;
            worst = worst.max((ssthresh - kept * MSS as f64).abs());
            c.una = c.next_id;
            (c.flight_size, c.in_flight, c.phase) = (0, 0, Phase::Open);
            state.on_phase(p, &c, Phase::Recovery, Phase::Open);
        }
        let ours = state.control(p, &c).cwnd as f64;
        worst = worst.max((ours - model.window() * MSS as f64).abs());
        windows.push(ours / MSS as f64);
    }
    (worst, windows)
}

/// The range of the window over a run, so that a test of a constant window fails.
pub fn spread(windows: &[f64]) -> f64 {
    windows.iter().copied().fold(0.0, f64::max) - least(windows)
}

/// Parameters that begin congestion avoidance with a window of `segments` segments.
pub fn from_segments(id: &str, segments: u64) -> AnyParams {
    avoidance(id, segments * MSS)
}

/// Maximum difference from the model in bytes, due to a cut to whole bytes at each loss and to 2^-16 at
/// each step. A wrong decision makes a difference of a good part of a segment.
pub const BYTES: f64 = 8.0;
