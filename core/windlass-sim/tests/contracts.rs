//! Rates as functions of one signal, compared with the closed forms of their papers: losses, marks, and a delay that
//! the flow takes for a queue. `controllers_response.rs` has NewReno and CUBIC.

use crate::common::bottleneck::SEGMENT;
use crate::common::{Traffic, drops, flow, link, network, profile, run};
use windlass_cc::{Span, Time};
use windlass_sim::config::LinkConfig;
use windlass_sim::queue::{Discipline, Level, Threshold};
use windlass_tcp::stack::LINUX;

/// Mean number of bytes that reach the receiver until this time, from three seeds.
fn delivered(algorithm: &'static str, wire: &LinkConfig, seconds: u64) -> f64 {
    let one = |seed| {
        let mut profile = profile(LINUX, algorithm);
        (profile.stack.receive_buffer, profile.stack.send_buffer) = (64 << 20, 64 << 20);
        profile.stack.ecn = true.into();
        let bulk = flow([0, 1], profile, Traffic::Bulk { bytes: None });
        let mut config = network(vec![wire.clone()], vec![bulk], Time::from_secs(seconds));
        config.seed = seed;
        run(config).flows[0].delivered_bytes as f64
    };
    (1..=3).map(one).sum::<f64>() / 3.0
}

/// Segments per second from one time to another.
fn rate(algorithm: &'static str, wire: &LinkConfig, [from, to]: [u64; 2]) -> f64 {
    let bytes = delivered(algorithm, wire, to) - delivered(algorithm, wire, from);
    bytes / SEGMENT / (to - from) as f64
}

/// Mean cwnd in segments with an RTT of 100 ms.
fn window(algorithm: &'static str, change: impl Fn(&mut LinkConfig)) -> f64 {
    let mut wire = link([0, 1], 1_000_000_000, 50);
    change(&mut wire);
    rate(algorithm, &wire, [40, 240]) * 0.1
}

#[test]
fn rates_under_random_losses_follow_the_response_functions() {
    let cases: [(&str, f64, f64); 5] = [
        // An increase of 0.01 per acknowledged segment and a reduction by 1/8.
        ("scalable", 1e-3, 0.01 / 0.125 / 1e-3),
        // RFC 3649 section 5, above 38 segments.
        ("highspeed", 3e-4, 0.12 / 3e-4f64.powf(0.835)),
        // Reno with rho^2 segments per RTT; rho is 100 ms over 25 ms.
        ("hybla", 1e-3, 4.0 * (1.5 / 1e-3f64).sqrt()),
        // Reno with a reduction by 1/5 if no queue explains the loss.
        ("veno", 1e-3, (4.5 / 1e-3f64).sqrt()),
        // Reno: the other laws are at least 1.7 times this.
        ("newreno", 1e-3, (1.5 / 1e-3f64).sqrt()),
    ];
    for (algorithm, p, expected) in cases {
        let got = window(algorithm, |wire| wire.loss[0] = drops(p));
        assert!(
            (0.85..1.15).contains(&(got / expected)),
            "{algorithm}: {got}, {expected} expected"
        );
    }
}

#[test]
fn dctcp_and_prague_keep_a_number_of_marks_per_rtt() {
    // DCTCP has one segment more per RTT, and p/2 of the window less: W = 2/p. Prague also grows in the RTT after a
    // reduction, and meets the next mark 1/(pW) RTTs after it. Then pW/2 = (1 - p)(1 + 1/(pW)).
    for (algorithm, marks) in [
        ("dctcp", (|_| 2.0) as fn(f64) -> f64),
        ("prague", |p| 1.0 - p + ((1.0 - p) * (3.0 - p)).sqrt()),
    ] {
        for p in [0.03, 0.1] {
            let mark = Level::Packets(u64::MAX);
            let discipline = Discipline::Threshold(Threshold { mark, probability: p });
            let got = window(algorithm, |wire| wire.discipline = discipline.clone()) * p;
            assert!((0.9..1.1).contains(&(got / marks(p))), "{algorithm} at {p}: {got} marks");
        }
    }
}

#[test]
fn delay_based_algorithms_keep_their_number_of_segments_in_a_delay() {
    // alpha to beta of the defaults; segments per second times the delay.
    for (algorithm, ms, [low, high]) in [
        ("vegas", 20, [1.0, 3.0]),
        ("vegas", 80, [1.0, 3.0]),
        ("wvegas", 80, [9.0, 11.0]),
        ("fast", 160, [95.0, 105.0]),
    ] {
        let mut wire = link([0, 1], 10_000_000, 10);
        wire.course[0].delays = vec![(Time::from_secs(5), Span::from_millis(10 + ms))];
        let queued = rate(algorithm, &wire, [60, 100]) * ms as f64 / 1e3;
        assert!((low..=high).contains(&queued), "{algorithm} at {ms} ms: {queued} segments");
    }
}

#[test]
fn a_mark_cuts_the_window_of_fast_as_a_loss_does() {
    // Linux spreads both cuts over an RTT. A target at the window before the cut gives 2.8.
    let mark = Level::Packets(u64::MAX);
    let discipline = Discipline::Threshold(Threshold { mark, probability: 0.003 });
    let marks = window("fast", |wire| wire.discipline = discipline.clone());
    let losses = window("fast", |wire| wire.loss[0] = drops(0.003));
    assert!((0.8..1.5).contains(&(marks / losses)), "{marks} with marks, {losses} with losses");
}
