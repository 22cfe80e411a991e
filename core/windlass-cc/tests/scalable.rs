//! Scalable TCP's rules at work: times and averages computed by hand.

use crate::common::flow::Flow;

const MS: u64 = 1_000_000;

fn scalable(cwnd: u64) -> Flow {
    Flow::new("scalable", 1_460, cwnd, cwnd)
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
    assert_eq!(one.cwnd(), two.cwnd());
}
