//! BIC compared with an `f64` model of its equations.

use crate::common::flow::{Flow, Model, Seen, Win, follows, q16};
use windlass_cc::bic::{Bic, Params};
use windlass_cc::congestion_avoidance::CongestionEvent;
use windlass_cc::loss_based::LossBased;
use windlass_cc::slow_start::Standard;

/// Windows in segments. `None` means that no maximum is known.
#[derive(Default)]
struct BicModel {
    w_max: Option<f64>,
    prior: Option<f64>,
    unclear: bool,
}

const LOW: f64 = 14.0;
const S_MAX: f64 = 16.0;
const B: f64 = 4.0;
const SLOWEST: f64 = B / 20.0;

impl BicModel {
    fn increment(&self, w: f64) -> f64 {
        if w <= LOW {
            return 1.0;
        }
        let w_max = self.w_max.unwrap_or(0.0);
        let found = if w < w_max {
            match (w_max - w) / B {
                d if d > S_MAX => S_MAX,
                d if d <= 1.0 => SLOWEST,
                d => d,
            }
        } else if w < w_max + B {
            SLOWEST
        } else if w < w_max + S_MAX * (B - 1.0) {
            (w - w_max) / (B - 1.0)
        } else {
            S_MAX
        };
        if self.w_max.is_none() { found.max(w / 20.0) } else { found }
    }
}

impl Model for BicModel {
    fn avoid(&mut self, s: &Seen, w: &mut Win) {
        let segments = w.cwnd / s.mss;
        // The increment has jumps at 14 segments and at both ends of the search.
        let edges = self.w_max.map_or(vec![LOW], |m| vec![LOW, m - B, m, m + B]);
        self.unclear |= edges.iter().any(|edge| (segments - edge).abs() * s.mss < 1.0);
        w.cwnd += self.increment(segments) * s.mss * s.acked / w.cwnd;
    }

    fn cut(&mut self, s: &Seen, w: &Win, why: CongestionEvent) -> f64 {
        let segments = w.cwnd / s.mss;
        let keep = q16(819.0 / 1024.0);
        self.prior = self.w_max;
        self.unclear |= self.w_max.is_some_and(|m| (segments - m).abs() < 1e-5 * segments);
        self.unclear |= segments != LOW && (segments - LOW).abs() < 1e-4;
        self.w_max = match self.w_max {
            _ if why == CongestionEvent::Timeout => None,
            Some(w_max) if segments < w_max => Some(segments * (1.0 + keep) / 2.0),
            _ => Some(segments),
        };
        if segments <= LOW { (s.flight / 2.0).floor() } else { keep * s.flight }
    }

    fn undo(&mut self, _w: &Win) {
        self.w_max = self.prior;
    }

    fn unclear(&self) -> bool {
        self.unclear
    }
}

fn bic(cwnd: u64) -> Flow<Bic, BicModel> {
    Flow::new(Params::default(), BicModel::default(), 1_000, cwnd, cwnd)
}

const MS: u64 = 1_000_000;

/// One RTT: one acknowledgement for each segment in the window.
fn round(flow: &mut Flow<Bic, BicModel>) -> f64 {
    let before = flow.segments();
    for _ in 0..before as u64 {
        flow.ack(MS, 100 * MS, 1);
    }
    flow.segments() - before
}

#[test]
fn trajectories_follow_the_equations() {
    follows::<Bic, _>(Params::default, BicModel::default, 4.0, 1e-4);
}

#[test]
fn after_a_loss_at_400_segments_growth_is_16_then_a_quarter_then_a_fifth() {
    let mut flow = bic(400);
    flow.lose();
    flow.repair(100 * MS);
    assert!((flow.segments() - 400.0 * 819.0 / 1024.0).abs() < 0.01);
    // 80 segments below the maximum: 80/4 exceeds 16.
    assert!((round(&mut flow) - 16.0).abs() < 0.7);
    // 64 below: about 16 minus the growth within the round.
    let gained = round(&mut flow);
    assert!((11.0..16.0).contains(&gained), "{gained}");
    while flow.segments() < 398.0 {
        round(&mut flow);
    }
    let gained = round(&mut flow);
    assert!((gained - 0.2).abs() < 0.05, "{gained}");
}

#[test]
fn a_second_loss_below_the_maximum_aims_lower() {
    let mut flow = bic(400);
    flow.lose();
    flow.repair(100 * MS);
    let second = flow.segments();
    flow.lose();
    flow.repair(100 * MS);
    let expected = second * (1.0 + 819.0 / 1024.0) / 2.0;
    assert!((flow.model.w_max.unwrap() - expected).abs() < 0.1);
    while flow.segments() < expected - 1.0 {
        round(&mut flow);
    }
    assert!(round(&mut flow) < 0.3, "it slows down at the lower aim");
}

#[test]
fn small_windows_grow_and_are_halved_as_in_reno() {
    let mut flow = bic(10);
    assert!((round(&mut flow) - 1.0).abs() < 0.1);
    flow.lose();
    assert_eq!(flow.ssthresh(), (flow.w.ssthresh) as u64);
    assert!((flow.segments() - 5.5).abs() < 0.1);
}

#[test]
fn without_a_maximum_growth_is_at_least_a_twentieth() {
    let mut flow = bic(1_000);
    let gained = round(&mut flow);
    assert!((gained - 1_000.0 / 20.0).abs() < 2.0, "{gained}");
    flow.timeout(1_000 * MS);
    while flow.w.cwnd < flow.w.ssthresh {
        flow.ack(MS, 100 * MS, 1);
    }
    let before = flow.segments();
    let gained = round(&mut flow);
    assert!((gained - before / 20.0).abs() < 2.0, "a timeout forgets the maximum: {gained}");
}

#[test]
fn the_state_fits_the_kernels_104_bytes() {
    assert!(size_of::<LossBased<Bic, Standard>>() <= 104);
}
