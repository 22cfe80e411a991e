//! BIC's rules at work: growth and cuts computed by hand.

use crate::common::flow::Flow;

fn bic(cwnd: u64) -> Flow {
    Flow::new("bic", 1_000, cwnd, cwnd)
}

const MS: u64 = 1_000_000;

/// One RTT: one acknowledgement for each segment in the window.
fn round(flow: &mut Flow) -> f64 {
    let before = flow.segments();
    for _ in 0..before as u64 {
        flow.ack(MS, 100 * MS, 1);
    }
    flow.segments() - before
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
    assert!((flow.traced("w_max_q16") as f64 / 65_536.0 - expected).abs() < 0.1);
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
    assert!((flow.segments() - 5.5).abs() < 0.1);
}

#[test]
fn without_a_maximum_growth_is_at_least_a_twentieth() {
    let mut flow = bic(1_000);
    let gained = round(&mut flow);
    assert!((gained - 1_000.0 / 20.0).abs() < 2.0, "{gained}");
    flow.timeout(1_000 * MS);
    while flow.cwnd() < flow.ssthresh() {
        flow.ack(MS, 100 * MS, 1);
    }
    let before = flow.segments();
    let gained = round(&mut flow);
    assert!((gained - before / 20.0).abs() < 2.0, "a timeout forgets the maximum: {gained}");
}
