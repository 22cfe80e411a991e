//! Scalable TCP compared with its equations in `f64`.

use crate::common::flow::{Flow, Model, Seen, Win, follows};
use windlass_cc::Ratio;
use windlass_cc::congestion_avoidance::CongestionEvent;
use windlass_cc::loss_based::LossBased;
use windlass_cc::scalable::{Params, Scalable};
use windlass_cc::slow_start::Standard;

struct ScalableModel {
    per_segment: f64,
    legacy_window: f64,
    cuts: (f64, f64),
    unclear: bool,
}

impl ScalableModel {
    fn kelly() -> ScalableModel {
        ScalableModel { per_segment: 0.01, legacy_window: 16.0, cuts: (0.5, 0.125), unclear: false }
    }

    /// One segment per min(W, 50) acknowledged, 1/8 at any window.
    fn ns3() -> ScalableModel {
        ScalableModel {
            per_segment: 0.02,
            legacy_window: 50.0,
            cuts: (0.125, 0.125),
            unclear: false,
        }
    }

    fn legacy(&mut self, s: &Seen, w: &Win) -> bool {
        let beyond = w.cwnd - self.legacy_window * s.mss;
        self.unclear |= beyond != 0.0 && beyond.abs() < 1.0;
        beyond <= 0.0
    }
}

impl Model for ScalableModel {
    fn avoid(&mut self, s: &Seen, w: &mut Win) {
        w.cwnd += s.acked * if self.legacy(s, w) { s.mss / w.cwnd } else { self.per_segment };
    }

    fn cut(&mut self, s: &Seen, w: &Win, _why: CongestionEvent) -> f64 {
        let cut = if self.legacy(s, w) { self.cuts.0 } else { self.cuts.1 };
        s.flight * (1.0 - cut)
    }

    fn unclear(&self) -> bool {
        self.unclear
    }
}

fn ns3() -> Params {
    let eighth = Ratio::of(1, 8);
    Params { acks_per_segment: 50, legacy_window: 50, legacy_cut: eighth, cut: eighth }
}

const MS: u64 = 1_000_000;

fn scalable(cwnd: u64) -> Flow<Scalable, ScalableModel> {
    Flow::new(Params::default(), ScalableModel::kelly(), 1_460, cwnd, cwnd)
}

#[test]
fn trajectories_follow_the_equations() {
    follows::<Scalable, _>(Params::default, ScalableModel::kelly, 8.0, 1e-5);
}

#[test]
fn trajectories_follow_with_the_constants_of_ns_3() {
    follows::<Scalable, _>(ns3, ScalableModel::ns3, 8.0, 1e-5);
}

/// ln(8/7) / ln(1.01) = 13.4 RTTs, at any window.
#[test]
fn the_time_to_recover_does_not_depend_on_the_window() {
    for cwnd in [100u64, 1_000, 10_000] {
        let mut flow = scalable(cwnd);
        flow.lose();
        flow.repair(MS);
        let mut rounds = 0.0;
        while flow.segments() < cwnd as f64 {
            rounds += 1.0 / flow.segments();
            flow.ack(MS, MS, 1);
        }
        // Each acknowledgement also adds a hundredth to the number of its own RTT.
        assert!((rounds - (8f64 / 7.0).ln() * 100.0).abs() < 0.1, "{cwnd}: {rounds}");
    }
}

/// W ≈ 0.08/p, here with one loss in 10,000 packets.
#[test]
fn the_average_window_under_periodic_loss_is_eight_percent_of_its_interval() {
    let mut flow = scalable(800);
    let (mut area, mut time) = (0.0, 0.0);
    for acked in 1..=400_000u64 {
        let w = flow.segments();
        flow.ack(MS, MS, 1);
        if acked > 100_000 {
            area += 1.0;
            time += 1.0 / w;
        }
        if acked.is_multiple_of(10_000) {
            flow.lose();
            flow.repair(MS);
        }
    }
    let average: f64 = area / time;
    // Exactly: the 100 segments gained per interval are an eighth of the window at its end.
    let exact = 100.0 / (8f64 / 7.0).ln();
    assert!(
        (average / exact - 1.0).abs() < 0.01 && (average / 800.0 - 1.0).abs() < 0.08,
        "{average}"
    );
}

#[test]
fn two_segments_acknowledged_at_once_count_twice() {
    let (mut one, mut two) = (scalable(1_000), scalable(1_000));
    for _ in 0..100 {
        one.ack(MS, MS, 1);
        one.ack(MS, MS, 1);
        two.ack(2 * MS, MS, 2);
    }
    assert_eq!(one.ours.cwnd(), two.ours.cwnd());
}

#[test]
fn the_state_fits_the_kernels_104_bytes() {
    assert!(size_of::<LossBased<Scalable, Standard>>() <= 104);
}
