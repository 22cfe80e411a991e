//! TCP-Illinois compared with its equations in `f64`.

use crate::common::flow::{Flow, Model, Seen, Win, follows, q16};
use windlass_cc::congestion_avoidance::CongestionEvent;
use windlass_cc::illinois::{Illinois, Params};
use windlass_cc::loss_based::LossBased;
use windlass_cc::slow_start::Standard;

const ALPHA_MAX: f64 = 10.0;
const BETA_MIN: f64 = 0.125;
const BETA_MAX: f64 = 0.5;
const THRESHOLD: f64 = 15.0;
const THETA: u32 = 5;

/// Times in seconds, windows in segments.
struct IllinoisModel {
    alpha: f64,
    beta: f64,
    max_rtt: f64,
    samples: Vec<f64>,
    round_end: u64,
    below: u32,
    above: bool,
    unclear: bool,
}

impl IllinoisModel {
    fn new() -> IllinoisModel {
        IllinoisModel {
            alpha: 1.0,
            beta: 0.5,
            max_rtt: 0.0,
            samples: Vec::new(),
            round_end: 0,
            below: 0,
            above: false,
            unclear: false,
        }
    }

    /// f1 as the paper writes it: kappa1 / (kappa2 + d_a).
    fn f1(da: f64, d1: f64, dm: f64) -> f64 {
        let alpha_min = q16(0.3);
        let kappa1 = (dm - d1) * alpha_min * ALPHA_MAX / (ALPHA_MAX - alpha_min);
        let kappa2 = (dm - d1) * alpha_min / (ALPHA_MAX - alpha_min) - d1;
        kappa1 / (kappa2 + da)
    }

    /// f2: kappa3 + kappa4·d_a between d2 and d3.
    fn f2(da: f64, d2: f64, d3: f64) -> f64 {
        if da <= d2 {
            return BETA_MIN;
        }
        if da >= d3 {
            return BETA_MAX;
        }
        let kappa3 = (BETA_MIN * d3 - BETA_MAX * d2) / (d3 - d2);
        let kappa4 = (BETA_MAX - BETA_MIN) / (d3 - d2);
        kappa3 + kappa4 * da
    }

    fn adapt(&mut self, s: &Seen, w: &Win) {
        let segments = w.cwnd / s.mss;
        self.unclear |= segments != THRESHOLD && (segments - THRESHOLD).abs() < 1e-3;
        if segments < THRESHOLD {
            (self.alpha, self.beta) = (1.0, 0.5);
            return;
        }
        let mean = self.samples.iter().sum::<f64>() / self.samples.len() as f64;
        let (da, dm) = (mean - s.min_rtt, self.max_rtt - s.min_rtt);
        let [d1, d2, d3] = [0.01, 0.1, 0.8].map(|eta| q16(eta) * dm);
        self.unclear |= dm > 0.0 && (da - d1).abs() < 1e-5 * dm;
        self.beta = Self::f2(da, d2, d3);
        if da > d1 {
            (self.above, self.below) = (true, 0);
            self.alpha = Self::f1(da, d1, dm);
            return;
        }
        self.below += 1;
        if !self.above || self.below >= THETA {
            (self.above, self.below) = (false, 0);
            self.alpha = ALPHA_MAX;
        }
    }
}

impl Model for IllinoisModel {
    fn observe(&mut self, s: &Seen, w: &Win) {
        self.max_rtt = self.max_rtt.max(s.rtt);
        self.samples.push(s.rtt);
        if s.una > self.round_end {
            self.adapt(s, w);
            self.samples.clear();
            self.round_end = s.next_id;
        }
    }

    fn avoid(&mut self, s: &Seen, w: &mut Win) {
        w.cwnd += self.alpha.min(w.cwnd / s.mss) * s.mss * s.acked / w.cwnd;
    }

    fn cut(&mut self, s: &Seen, _w: &Win, why: CongestionEvent) -> f64 {
        let ssthresh = (1.0 - self.beta) * s.flight;
        if why == CongestionEvent::Timeout {
            (self.alpha, self.beta) = (1.0, 0.5);
            (self.below, self.above) = (0, false);
            self.samples.clear();
            self.round_end = s.next_id;
        }
        ssthresh
    }

    fn unclear(&self) -> bool {
        self.unclear
    }
}

const MS: u64 = 1_000_000;

fn illinois(cwnd: u64) -> Flow<Illinois, IllinoisModel> {
    Flow::new(Params::default(), IllinoisModel::new(), 1_000, cwnd, cwnd)
}

/// Runs `count` rounds with one sample; returns the growth of the window in the last round.
fn rounds(flow: &mut Flow<Illinois, IllinoisModel>, count: u32, rtt: u64) -> f64 {
    let mut gained = 0.0;
    for _ in 0..count {
        let before = flow.segments();
        for _ in 0..before.ceil() as u64 {
            flow.ack(MS, rtt, 1);
        }
        gained = flow.segments() - before;
    }
    gained
}

/// A flow of 1000 segments with samples of 100 ms and 200 ms.
fn calibrated() -> Flow<Illinois, IllinoisModel> {
    let mut flow = illinois(1_000);
    rounds(&mut flow, 1, 100 * MS);
    rounds(&mut flow, 2, 200 * MS);
    flow
}

#[test]
fn trajectories_follow_the_equations() {
    follows::<Illinois, _>(Params::default, IllinoisModel::new, 16.0, 2e-4);
}

#[test]
fn growth_falls_along_a_hyperbola_from_10_to_3_tenths() {
    // d_m = 100 ms, d_1 = 1 ms.
    for (delay, alpha) in [(100, 0.3), (50, 0.594), (10, 2.538)] {
        let mut flow = calibrated();
        let gained = rounds(&mut flow, 4, (100 + delay) * MS);
        assert!((gained / alpha - 1.0).abs() < 0.02, "{delay} ms: {gained} {alpha}");
    }
}

#[test]
fn a_loss_takes_an_eighth_without_a_queue_and_half_with_a_long_one() {
    for (delay, beta) in [(0, 0.125), (10, 0.125), (45, 0.3125), (80, 0.5), (100, 0.5)] {
        let mut flow = calibrated();
        rounds(&mut flow, 4, (100 + delay) * MS);
        let before = flow.segments();
        flow.lose();
        let ours = 1.0 - flow.segments() / before;
        assert!((ours - beta).abs() < 1e-3, "{delay} ms: {ours} {beta}");
    }
}

#[test]
fn growth_is_at_its_largest_again_only_after_five_quiet_round_trips_in_a_row() {
    let mut flow = calibrated();
    let slow = rounds(&mut flow, 2, 200 * MS);
    assert!(slow < 0.31, "{slow}");
    // One RTT is under way when the queue empties, and the next four are not enough.
    let waiting = rounds(&mut flow, 5, 100 * MS);
    assert!(waiting < 1.0, "{waiting}");
    let full = rounds(&mut flow, 2, 100 * MS);
    assert!((full - 10.0).abs() < 0.2, "{full}");

    let mut flow = calibrated();
    rounds(&mut flow, 4, 100 * MS);
    rounds(&mut flow, 1, 150 * MS);
    let waiting = rounds(&mut flow, 4, 100 * MS);
    assert!(waiting < 2.0, "a queue in between restarts the count: {waiting}");
}

#[test]
fn a_path_that_never_had_a_queue_gives_full_growth_at_once() {
    let mut flow = illinois(1_000);
    let gained = rounds(&mut flow, 2, 100 * MS);
    assert!((gained - 10.0).abs() < 0.2, "{gained}");
}

#[test]
fn small_windows_are_left_to_reno() {
    let mut flow = illinois(10);
    let gained = rounds(&mut flow, 3, 100 * MS);
    assert!((gained - 1.0).abs() < 0.1, "{gained}");
    let before = flow.segments();
    flow.lose();
    assert!((flow.segments() / before - 0.5).abs() < 1e-3);
}

#[test]
fn a_timeout_goes_back_to_reno_until_there_are_samples() {
    let mut flow = calibrated();
    rounds(&mut flow, 8, 100 * MS);
    flow.timeout(MS);
    let before = flow.segments();
    assert_eq!(before, 1.0);
    let threshold = flow.ssthresh();
    flow.lose();
    assert_eq!(flow.ssthresh(), 2_000, "half of one segment, at least two");
    assert!(threshold > 800_000, "the cut at the timeout used the measured delay: {threshold}");
}

/// A queue of 50 µs on a path of 1 ms, which whole milliseconds would not show.
#[test]
fn queues_below_a_millisecond_are_seen() {
    let mut flow = illinois(1_000);
    rounds(&mut flow, 1, MS);
    let gained = rounds(&mut flow, 3, MS + 50_000);
    assert!((gained - 0.3).abs() < 0.01, "{gained}");
}

#[test]
fn the_state_fits_the_kernels_104_bytes() {
    assert!(size_of::<LossBased<Illinois, Standard>>() <= 104);
}
