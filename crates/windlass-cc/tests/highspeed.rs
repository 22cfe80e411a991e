//! HighSpeed TCP compared with RFC 3649's equations and with the RFC's own numbers.

use crate::common::flow::Flow;
use windlass_cc::highspeed::HighSpeed;
use windlass_cc::loss_based::LossBased;
use windlass_cc::slow_start::Standard;

const LOW_WINDOW: f64 = 38.0;
const HIGH_WINDOW: f64 = 83_000.0;
const LOW_P: f64 = 1e-3;
const HIGH_P: f64 = 1e-7;
const HIGH_DECREASE: f64 = 0.1;

/// p(w), from W = (p/Low_P)^S · Low_Window.
fn p(w: f64) -> f64 {
    let s = (HIGH_WINDOW / LOW_WINDOW).ln() / (HIGH_P / LOW_P).ln();
    LOW_P * (w / LOW_WINDOW).powf(1.0 / s)
}

fn b(w: f64) -> f64 {
    let way = (w / LOW_WINDOW).ln() / (HIGH_WINDOW / LOW_WINDOW).ln();
    (HIGH_DECREASE - 0.5) * way + 0.5
}

fn a(w: f64) -> f64 {
    w * w * p(w) * 2.0 * b(w) / (2.0 - b(w))
}

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
        let (ours, expected) = (increase(cwnd), a(cwnd as f64).max(1.0));
        assert!(
            (ours / expected - 1.0).abs() < 3e-4 + 1e-3 / expected,
            "a({cwnd}) {ours} {expected}"
        );
        let (ours, expected) = (decrease(cwnd), b(cwnd as f64));
        assert!((ours - expected).abs() < 1e-4, "b({cwnd}) {ours} {expected}");
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

#[test]
fn the_state_fits_the_kernels_104_bytes() {
    assert!(size_of::<LossBased<HighSpeed, Standard>>() <= 104);
}
