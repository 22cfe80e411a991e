//! H-TCP's rules at work: growth and cuts computed by hand.

use crate::common::chosen;
use crate::common::flow::Flow;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn htcp(cwnd: u64) -> Flow {
    Flow::new("htcp", 1_000, cwnd, cwnd)
}

/// Acknowledgements at the rate of the window, for `time` nanoseconds.
fn clocked(flow: &mut Flow, rtt: u64, time: u64) {
    let until = flow.c.now.0 + time;
    while flow.c.now.0 < until {
        let gap = (rtt as f64 / flow.segments()) as u64;
        flow.ack(gap, rtt, 1);
    }
}

/// Share of the flight that a loss leaves.
fn kept(flow: &mut Flow) -> f64 {
    let before = flow.cwnd();
    flow.lose();
    flow.cwnd() as f64 / before as f64
}

/// α(Δ) = 1 + 10·(Δ - 1) + ((Δ - 1)/2)², times 2·(1 - 0.5).
#[test]
fn growth_per_round_trip_rises_with_the_time_since_the_loss() {
    for (after, alpha) in
        [(500, 1.0), (1_000, 1.0), (1_500, 6.0625), (3_000, 22.0), (11_000, 126.0)]
    {
        let mut flow = htcp(10_000);
        flow.lose();
        flow.repair(0);
        flow.c.now.0 += after * MS;
        let before = flow.segments();
        flow.ack(0, 100 * MS, before as u64);
        let gained = flow.segments() - before;
        assert!((gained / alpha - 1.0).abs() < 1e-3, "{after} ms: {gained} {alpha}");
    }
}

#[test]
fn the_first_loss_halves_and_a_later_one_leaves_the_ratio_of_round_trip_times() {
    let mut flow = htcp(100);
    clocked(&mut flow, 100 * MS, SECOND / 2);
    assert!((kept(&mut flow) - 0.5).abs() < 0.01, "nothing to compare the throughput with");
    flow.repair(100 * MS);
    // The rate of the acknowledgements, not the window, gives the throughput: 1000 per second.
    for (rtt, expected) in [(140, 1.0 / 1.4), (150, 1.0 / 1.5), (100, 0.8), (500, 0.5)] {
        for _ in 0..400 {
            flow.ack(MS, 100 * MS, 1);
        }
        flow.ack(MS, rtt * MS, 1);
        let first = kept(&mut flow);
        flow.repair(MS);
        for _ in 0..400 {
            flow.ack(MS, 100 * MS, 1);
        }
        flow.ack(MS, rtt * MS, 1);
        let second = kept(&mut flow);
        flow.repair(MS);
        assert!((second - expected).abs() < 0.01, "{rtt} ms: {first} {second} {expected}");
    }
}

#[test]
fn a_change_of_the_throughput_by_a_fifth_halves() {
    for (gap, steady) in [(1_150_000, true), (1_350_000, false), (880_000, true), (800_000, false)]
    {
        let mut flow = htcp(100);
        for _ in 0..400 {
            flow.ack(MS, 100 * MS, 1);
        }
        flow.lose();
        flow.repair(0);
        for _ in 0..400 {
            flow.ack(gap, 140 * MS, 1);
        }
        let expected = if steady { 1.0 / 1.4 } else { 0.5 };
        let ours = kept(&mut flow);
        assert!((ours - expected).abs() < 0.01, "{gap}: {ours} {expected}");
    }
}

#[test]
fn the_share_never_reaches_one_with_an_empty_queue() {
    let mut flow = htcp(100);
    for _ in 0..3 {
        for _ in 0..400 {
            flow.ack(MS, 100 * MS, 1);
        }
        assert!(kept(&mut flow) <= 0.8001);
        flow.repair(0);
    }
}

#[test]
fn without_adaptive_backoff_every_loss_halves() {
    let mut flow = Flow::with(chosen("htcp", &[("adaptive_backoff", 0)]), 1_000, 100, 100);
    for _ in 0..3 {
        for _ in 0..400 {
            flow.ack(MS, 100 * MS, 1);
        }
        let ours = kept(&mut flow);
        assert!((ours - 0.5).abs() < 1e-3, "{ours}");
        flow.repair(0);
    }
}

#[test]
fn weeks_of_silence_and_idle_time_do_not_overflow_and_idle_time_does_not_count() {
    let mut flow = htcp(1_000);
    flow.lose();
    flow.repair(0);
    let before = flow.segments();
    flow.idle(3_600 * SECOND, false);
    flow.ack(MS, 100 * MS, 1);
    assert!(flow.segments() - before <= 0.01, "an hour is not 36,000 segments a round trip");
    let before = flow.segments();
    flow.c.now.0 += 100 * 7 * 86_400 * SECOND;
    flow.ack(MS, 100 * MS, 1);
    assert!(flow.segments() - before <= 1.0, "one segment for one acknowledged at most");
}

#[test]
fn undo_takes_the_clock_back_to_the_loss_before() {
    let mut flow = htcp(10_000);
    flow.lose();
    flow.repair(0);
    flow.c.now.0 += 3 * SECOND;
    flow.lose();
    flow.undo();
    let before = flow.segments();
    flow.ack(0, 100 * MS, before as u64);
    assert!((flow.segments() - before - 22.0).abs() < 0.05, "{}", flow.segments() - before);
}
