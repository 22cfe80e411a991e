//! TCP-Illinois' rules at work: growth and cuts computed by hand.

use crate::common::flow::Flow;

const MS: u64 = 1_000_000;

fn illinois(cwnd: u64) -> Flow {
    Flow::new("illinois", 1_000, cwnd, cwnd)
}

/// Runs `count` rounds with one sample; returns the growth of the window in the last round.
fn rounds(flow: &mut Flow, count: u32, rtt: u64) -> f64 {
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
fn calibrated() -> Flow {
    let mut flow = illinois(1_000);
    rounds(&mut flow, 1, 100 * MS);
    rounds(&mut flow, 2, 200 * MS);
    flow
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
