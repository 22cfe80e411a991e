//! Growth of a cwnd that does not limit the sender: RFC 9438 section 4.6 and draft-ietf-ccwg-ratelimited-increase.

use crate::script::{Script, plain_with};
use windlass_cc::{AnyParams, Flavour, Setup};
use windlass_tcp::stack::WindowValidation;

// RFC 9438-4.6-3
#[test]
fn validated_cwnd_grows_only_while_it_limits_the_sender() {
    let grown = |validate: bool| {
        let mut s = Script::connected(plain_with(|s| s.window_validation = validate.into()));
        s.run("100ms write 1000\n 100ms > . 1+1000\n 200ms < . 1 ack 1001");
        s.stack.endpoint.control().cwnd
    };
    assert_eq!(grown(true), 10_000);
    assert_eq!(grown(false), 11_000);
}

/// A script that sends this number of segments from an offset on at a time, and acknowledges each of them
/// 50 ms later.
fn flight(at: u64, from: u64, segments: u64) -> String {
    let mut script = format!("{at}ms write {}\n", 1000 * segments);
    for n in 0..segments {
        script += &format!("{at}ms > . {}+1000\n", from + 1000 * n);
    }
    for n in 1..=segments {
        script += &format!("{}ms < . 1 ack {}\n", at + 50, from + 1000 * n);
    }
    script
}

#[test]
fn rate_limited_cwnd_grows_to_twice_the_largest_flight_since_its_last_reduction() {
    // The example of draft-ietf-ccwg-ratelimited-increase: ten segments, a pause, and four segments.
    let grown = |validation| {
        let mut s = Script::connected(plain_with(|s| s.window_validation = validation));
        s.run(&(flight(100, 1, 10) + &flight(300, 10_001, 4)));
        s.stack.endpoint.control().cwnd
    };
    assert_eq!(grown(WindowValidation::Off), 24_000);
    assert_eq!(grown(WindowValidation::RateLimited), 20_000);
}

#[test]
fn rate_limited_cwnd_grows_by_a_segment_beyond_the_largest_flight_in_congestion_avoidance() {
    let mut p = plain_with(|s| s.window_validation = WindowValidation::RateLimited);
    p.params.set_common(&Setup { initial_ssthresh: 10_000, ..p.params.common() });
    let mut s = Script::connected(p);
    // Flights of four segments; the initial window of ten counts as a flight.
    let script = (0..20).map(|n| flight(100 + 100 * n, 4000 * n + 1, 4)).collect::<String>();
    s.run(&script);
    let cwnd = s.stack.endpoint.control().cwnd;
    assert!((11_000..11_100).contains(&cwnd), "{cwnd}");
}

/// Cwnd after twenty flights of four segments by ns-3's rule, with an algorithm of ns-3 that begins with an
/// initial window of ten segments and this threshold.
fn unfilled_cwnd_of_ns3(algorithm: &str, initial_ssthresh: u64) -> u64 {
    let mut p = plain_with(|s| s.window_validation = WindowValidation::Ns3);
    p.params = AnyParams::by_name(algorithm).unwrap().flavoured(Flavour::Ns3);
    p.params.set_common(&Setup { initial_ssthresh, ..p.params.common() });
    let mut s = Script::connected(p);
    s.run(&(0..20).map(|n| flight(100 + 100 * n, 4000 * n + 1, 4)).collect::<String>());
    s.stack.endpoint.control().cwnd
}

#[test]
fn each_algorithm_of_ns3_decides_about_the_growth_of_an_unfilled_cwnd() {
    let (start, avoidance) = (u64::MAX, 10_000);
    assert_eq!(unfilled_cwnd_of_ns3("cubic", start), 10_000);
    assert_eq!(unfilled_cwnd_of_ns3("cubic", avoidance), 10_000);
    assert_eq!(unfilled_cwnd_of_ns3("reno", start), 90_000);
    assert_eq!(unfilled_cwnd_of_ns3("reno", avoidance), 10_000);
    assert_eq!(unfilled_cwnd_of_ns3("newreno", start), 90_000);
    assert!(unfilled_cwnd_of_ns3("newreno", avoidance) > 14_000);
}

#[test]
fn cubic_of_ns3_grows_while_each_flight_fills_its_cwnd() {
    let mut p = plain_with(|s| s.window_validation = WindowValidation::Ns3);
    p.params = AnyParams::by_name("cubic").unwrap().flavoured(Flavour::Ns3);
    let mut s = Script::connected(p);
    s.run(&flight(100, 1, 10));
    assert_eq!(s.stack.endpoint.control().cwnd, 20_000);
}
