//! HighSpeed TCP compared with RFC 3649's own numbers.

use crate::common::flow::Flow;

const MS: u64 = 1_000_000;

fn highspeed(cwnd: u64) -> Flow {
    Flow::new("highspeed", 1_000, cwnd, cwnd)
}

/// a(w) as the algorithm applies it: growth over the first acknowledgement.
fn increase(cwnd: u64) -> f64 {
    let mut flow = highspeed(cwnd);
    let before = flow.cwnd();
    // A whole window acknowledged at once counts as an RTT.
    flow.ack(MS, MS, cwnd);
    (flow.cwnd() - before) as f64 / 1_000.0
}

fn decrease(cwnd: u64) -> f64 {
    let mut flow = highspeed(cwnd);
    flow.lose();
    1.0 - flow.segments() / cwnd as f64
}

#[test]
fn increase_and_decrease_follow_the_response_function() {
    for cwnd in (39..2_000).chain((2_000..90_000).step_by(997)) {
        let mut flow = highspeed(cwnd);
        flow.ack(MS, MS, cwnd);
        flow.assert_close(1.0 + 3e-4 * (flow.cwnd() - 1_000 * cwnd) as f64, 0.0);
        flow = highspeed(cwnd);
        flow.lose();
        flow.assert_close(0.0, 2e-4);
    }
}

/// RFC 3649 appendix B: some rows at which its rounded a(w) rises.
#[test]
fn growth_and_cut_agree_with_the_first_and_last_rows_of_the_table() {
    for (cwnd, rounded_a, rounded_b) in [(118, 2.0, 0.44), (221, 3.0, 0.41), (83_000, 72.0, 0.10)] {
        assert!((increase(cwnd) - rounded_a).abs() < 0.6, "{cwnd} {}", increase(cwnd));
        assert!((decrease(cwnd) - rounded_b).abs() < 0.006, "{cwnd} {}", decrease(cwnd));
    }
}

#[test]
fn up_to_low_window_it_is_reno() {
    for cwnd in [2, 10, 38] {
        assert!((increase(cwnd) - 1.0).abs() < 1e-2, "{cwnd}");
    }
    assert!((decrease(38) - 0.5).abs() < 1e-9);
}

#[test]
fn beyond_the_response_function_growth_and_cut_stay_sane() {
    for cwnd in [600_000u64, 10_000_000, 1_000_000_000] {
        assert!((decrease(cwnd) - 0.01).abs() < 1e-3, "{cwnd} {}", decrease(cwnd));
        let gained = increase(cwnd);
        assert!(gained > 1.0 && gained < cwnd as f64, "{cwnd} {gained}");
    }
}

/// Deterministic loss of one in 1/p packets; the windows of RFC 3649 table 2 follow p(w).
#[test]
fn the_average_window_is_the_response_functions() {
    for (interval, expected) in [(10_000u64, 263.0), (100_000, 1_795.0)] {
        let mut flow = highspeed(expected as u64);
        let (mut acked, mut area, mut time) = (0u64, 0.0, 0.0);
        while acked < 40 * interval {
            let w = flow.segments();
            flow.ack(MS, 100 * MS, 1);
            acked += 1;
            if acked > 10 * interval {
                // An acknowledgement takes 1/w of an RTT.
                area += 1.0;
                time += 1.0 / w;
            }
            if acked.is_multiple_of(interval) {
                flow.lose();
                flow.repair(MS);
            }
        }
        let average = area / time;
        assert!((average / expected - 1.0).abs() < 0.1, "1/{interval}: {average} {expected}");
    }
}

#[test]
fn the_default_slow_start_is_limited_slow_start() {
    let p = windlass_cc::AnyParams::by_name("highspeed").expect("it is registered");
    assert_eq!(p.common().slow_start.info().id, "limited");
}
