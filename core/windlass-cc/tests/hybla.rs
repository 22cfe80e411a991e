//! TCP Hybla's rules at work: growth computed by hand.

use crate::common::chosen;
use crate::common::flow::Flow;
use windlass_cc::window::MAX_WINDOW;

const MS: u64 = 1_000_000;

fn hybla(cwnd: u64, ssthresh: u64) -> Flow {
    Flow::new("hybla", 1_000, cwnd, ssthresh)
}

/// Growth in segments per second squared, W/RTT, of a flow in congestion avoidance.
fn growth_of_the_rate(rtt: u64) -> f64 {
    let mut flow = hybla(1_000, 1);
    let seconds = 20.0;
    let begin = flow.segments();
    let until = flow.c.now.0 + (seconds * 1e9) as u64;
    while flow.c.now.0 < until {
        let gap = (rtt as f64 / flow.segments()) as u64;
        flow.ack(gap, rtt, 1);
    }
    (flow.segments() - begin) / (rtt as f64 * 1e-9) / seconds
}

#[test]
fn the_rate_grows_as_fast_on_a_long_path_as_on_the_reference_path() {
    let reference = 1.0 / 0.025f64.powi(2);
    for rtt in [25, 50, 100, 600] {
        let ours = growth_of_the_rate(rtt * MS);
        assert!((ours / reference - 1.0).abs() < 0.02, "{rtt} ms: {ours} {reference}");
    }
}

#[test]
fn a_path_shorter_than_the_reference_is_left_to_reno() {
    let mut flow = hybla(100, 1);
    for _ in 0..100 {
        flow.ack(MS, 5 * MS, 1);
    }
    assert!((flow.segments() - 101.0).abs() < 0.02, "{}", flow.segments());
}

#[test]
fn slow_start_multiplies_by_two_to_the_rho_less_one() {
    // 62.5 ms: rho = 2.5, 2^2.5 - 1 = 4.657.
    let mut flow = hybla(10, u64::MAX);
    flow.ack(MS, 62_500_000, 1);
    assert!((flow.segments() - (10.0 + 2.5f64.exp2() - 1.0)).abs() < 0.002, "{}", flow.segments());
}

#[test]
fn a_satellites_first_acknowledgement_stops_at_the_threshold() {
    let mut flow = hybla(10, 200);
    flow.ack(MS, 600 * MS, 1);
    assert_eq!(flow.segments(), 200.0);
}

#[test]
fn the_exponent_is_limited() {
    let mut flow = hybla(10, u64::MAX);
    flow.ack(MS, 10_000 * MS, 1);
    assert!((flow.segments() - (10.0 + 65_535.0)).abs() < 1.0, "{}", flow.segments());
    let p = chosen("hybla", &[("slow_start_rho", 2 << 16)]);
    let mut flow = Flow::with(p, 1_000, 10, u64::MAX);
    flow.ack(MS, 10_000 * MS, 1);
    assert_eq!(flow.segments(), 13.0);
    assert!(flow.cwnd() < MAX_WINDOW);
}

/// rho² of 100.5 ms is 16.1604: whole-number arithmetic would give 16.
#[test]
fn the_square_keeps_its_fraction() {
    let mut flow = hybla(1_000, 1);
    for _ in 0..1_000 {
        flow.ack(MS, 100_500_000, 1);
    }
    let gained = flow.segments() - 1_000.0;
    // Over an RTT in which the window itself grows by this amount.
    let expected = (1_000f64.powi(2) + 2.0 * 16.1604 * 1_000.0).sqrt() - 1_000.0;
    assert!((gained - expected).abs() < 0.002, "{gained} {expected}");
}
