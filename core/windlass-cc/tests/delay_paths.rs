//! Equilibria of the algorithms that use delay or marks, on a path with one bottleneck that can be
//! computed by hand.

use crate::common::begins_at;
use crate::common::path::{MSS, Path};
use windlass_cc::{AnyParams, Phase, Span, Time};

/// The algorithm with a small initial window and no threshold.
fn fresh(id: &str) -> AnyParams {
    begins_at(id, 2 * MSS, 1 << 40)
}

/// The algorithm in congestion avoidance from two segments up.
fn careful(id: &str) -> AnyParams {
    begins_at(id, 2 * MSS, 2 * MSS)
}

/// A path that holds 41 segments: a thousand per second, 40 ms and the segment's own service time.
fn path_of_41(p: AnyParams) -> Path {
    Path::new(p, 1_000, Span::from_millis(40))
}

#[test]
fn vegas_rests_between_alpha_and_beta_segments_queued() {
    for (alpha, beta) in [(1, 3), (2, 4), (5, 8)] {
        let mut p = careful("vegas");
        assert!(p.set(0, alpha) && p.set(1, beta));
        let mut path = path_of_41(p);
        path.run_until(Time::from_secs(10));
        let full = path.capacity_segments();
        let (least, most) = path.range(60, Path::cwnd_segments);
        assert_eq!(least, most, "the window rests");
        // W·(rtt - base)/rtt segments are queued, rtt·rate = W: W - full.
        let queued = least - full;
        assert!(queued >= alpha as f64 - 1.0 / MSS as f64, "{queued} of {alpha}");
        assert!(queued <= beta as f64, "{queued} of {beta}");
    }
}

#[test]
fn vegas_comes_down_to_beta_from_a_window_that_is_too_large() {
    let mut path = path_of_41(begins_at("vegas", 70 * MSS, 70 * MSS));
    path.run_until(Time::from_secs(10));
    let queued = path.cwnd_segments() - path.capacity_segments();
    assert!((1.0..=3.0).contains(&queued), "{queued}");
    let (cwnd, ssthresh) = (path.control().cwnd, path.control().ssthresh);
    assert!(ssthresh <= cwnd, "closing must not lead back to slow start: {ssthresh} > {cwnd}");
}

#[test]
fn fast_rests_at_the_capacity_and_alpha_segments_more() {
    for (alpha, gamma_q16, interval) in [(10, 32_768, 2), (30, 32_768, 1), (5, 65_536, 2)] {
        let mut p = careful("fast");
        assert!(p.set(0, alpha) && p.set(1, gamma_q16) && p.set(2, interval));
        let mut path = path_of_41(p);
        path.run_until(Time::from_secs(30));
        let expected = path.capacity_segments() + alpha as f64;
        let (least, most) = path.range(30, Path::cwnd_segments);
        assert!(least >= expected - 1.5 && most <= expected + 1.5, "{least}..{most}, {expected}");
    }
}

#[test]
fn fast_leaves_slow_start_when_a_queue_begins() {
    let mut path = path_of_41(fresh("fast"));
    path.run_until(Time::from_secs(1));
    let first_queue = path.capacity_segments() * 2.0;
    assert!(path.control().ssthresh < (first_queue * MSS as f64) as u64);
}

#[test]
fn ledbat_holds_the_target_delay() {
    for target_ms in [25, 60, 100] {
        let mut p = careful("ledbat");
        assert!(p.set(1, target_ms * 1_000_000));
        let mut path = path_of_41(p);
        path.run_until(Time::from_secs(60));
        // The first segment found an empty path, so the base delay is known exactly.
        let (least, most) = path.range(30, |path| path.queued() as f64);
        let target = target_ms as f64;
        assert!(least >= target - 2.0 && most <= target + 2.0, "{least}..{most} of {target}");
    }
}

#[test]
fn ledbat_ends_slow_start_at_its_target_and_not_at_a_loss() {
    let mut path = path_of_41(fresh("ledbat"));
    path.run_until(Time::from_secs(2));
    // The window that gave the 100 ms doubles until the delay is measured.
    let (exit, full) = (path.control().ssthresh as f64 / MSS as f64, path.capacity_segments());
    assert!(exit > full + 100.0 && exit <= 2.0 * (full + 100.0) + 1.0, "{exit} segments");
}

#[test]
fn ledbat_forgets_a_base_delay_after_its_history() {
    // Ten minutes after the path became 200 ms longer, the old base delay is forgotten.
    let mut path = path_of_41(careful("ledbat"));
    path.run_until(Time::from_secs(30));
    assert_eq!(path.traced("base_delay_us"), path.least_rtt() / 1_000);
    path.lengthen(Span::from_millis(200));
    path.run_until(Time::from_secs(500));
    assert_eq!(path.control().cwnd, 2 * MSS, "the longer path looks like a queue above TARGET");
    path.run_until(Time::from_secs(700));
    assert_eq!(path.traced("base_delay_us"), path.least_rtt() / 1_000);
    assert!(path.control().cwnd > 100 * MSS);
}

/// Windows of LEDBAT++ over time: (time, window in segments) at each acknowledgement.
fn plus_plus(seconds: u64) -> Vec<(f64, f64)> {
    let mut p = fresh("ledbat");
    assert!(p.set(0, 1));
    let mut path = path_of_41(p);
    let mut seen = Vec::new();
    while path.c.now < Time::from_secs(seconds) {
        path.step();
        seen.push((path.c.now.0 as f64 * 1e-9, path.cwnd_segments()));
    }
    seen
}

#[test]
fn ledbat_plus_plus_slows_down_for_about_a_tenth_of_the_time() {
    let seen = plus_plus(200);
    // A slowdown begins when the window decreases to two segments from a larger value.
    let begins: Vec<usize> =
        (1..seen.len()).filter(|&at| seen[at].1 == 2.0 && seen[at - 1].1 > 2.0).collect();
    assert!(begins.len() >= 3, "{} slowdowns", begins.len());
    for pair in begins.windows(2) {
        let (begin, next) = (pair[0], pair[1]);
        let before = seen[begin - 1].1;
        let frozen = seen[begin..].iter().take_while(|(_, w)| *w == 2.0).count();
        let thaw = seen[begin + frozen].0 - seen[begin].0;
        assert!(thaw > 2.0 * 0.041, "two round trips: {thaw} s");
        let back = begin + seen[begin..].iter().position(|(_, w)| *w >= before.floor()).unwrap();
        let duration = seen[back].0 - seen[begin].0;
        let spacing = seen[next].0 - seen[back].0;
        assert!((8.0..10.5).contains(&(spacing / duration)), "{spacing} s after {duration} s");
    }
}

#[test]
fn ledbat_plus_plus_leaves_its_first_slow_start_at_three_quarters_of_60_ms() {
    let mut p = fresh("ledbat");
    assert!(p.set(0, 1));
    let mut path = path_of_41(p);
    let mut before = 0;
    while path.control().cwnd < path.control().ssthresh {
        before = path.traced("queueing_delay_us");
        path.step();
        assert!(path.c.now < Time::from_secs(20), "slow start never ends");
    }
    let after = path.traced("queueing_delay_us");
    assert!(before <= 45_000 && after > 45_000, "{before} us, then {after} us");
}

#[test]
fn ledbat_plus_plus_opens_by_its_gain_in_slow_start() {
    // 41 ms: GAIN = 1/ceil(120/41) = 1/3, so that the window grows by a third per RTT.
    let mut p = begins_at("ledbat", 12 * MSS, 1 << 40);
    assert!(p.set(0, 1));
    let mut path = Path::new(p, 100_000, Span::from_millis(41));
    for _ in 0..12 {
        path.step();
    }
    assert!((path.cwnd_segments() - 16.0).abs() < 0.01, "{}", path.cwnd_segments());
}

#[test]
fn westwood_measures_the_bottleneck_and_keeps_the_pipe_full_after_a_loss() {
    for filter in [0, 1] {
        let mut p = begins_at("westwood", 60 * MSS, 60 * MSS);
        assert!(p.set(0, filter));
        let mut path = path_of_41(p);
        path.run_until(Time::from_secs(20));
        let bandwidth = path.traced("bandwidth_Bps") as f64;
        assert!((bandwidth - 1_000_000.0).abs() < 0.03 * 1_000_000.0, "{bandwidth} B/s");
        path.state.on_phase(&path.p, &path.c, Phase::Open, Phase::Recovery);
        let kept = path.control().ssthresh as f64 / MSS as f64;
        // The minimum RTT is the RTT of the empty path, which holds 41 segments.
        assert!((kept - path.capacity_segments()).abs() < 1.5, "{kept} segments");
    }
}

#[test]
fn yeah_takes_a_long_queue_out_at_once() {
    let mut p = begins_at("yeah", 90 * MSS, 90 * MSS);
    assert!(p.set(0, 20));
    let mut path = path_of_41(p);
    // Begins with 90 segments on a path of 41: 49 are queued, and half of a window of 90 exceeds the
    // queue after the first round has measured it.
    path.run_until(Time::from_millis(300));
    let left = path.cwnd_segments() - path.capacity_segments();
    assert!((0.0..=20.0).contains(&left), "{left} segments queued");
    assert!(path.control().ssthresh <= path.control().cwnd, "not back to slow start");
}

#[test]
fn veno_slows_its_growth_from_beta_segments_on() {
    let grown = |from: u64| {
        let mut path = path_of_41(begins_at("veno", from * MSS, from * MSS));
        // The path begins empty; two seconds pass before counting.
        path.run_until(Time::from_secs(1));
        let (before, acked) = (path.cwnd_segments(), path.c.delivered);
        path.run_until(Time::from_secs(3));
        let windows_acked = (path.c.delivered - acked) as f64 / MSS as f64 / path.cwnd_segments();
        (path.cwnd_segments() - before) / windows_acked
    };
    // Segments per acknowledged window; the window grows by less than a tenth in between.
    assert!((0.9..1.1).contains(&grown(2)), "{}", grown(2));
    assert!((0.45..0.55).contains(&grown(60)), "{}", grown(60));
}

#[test]
fn compound_keeps_its_delay_window_until_gamma_segments_are_queued() {
    // A path of 400 segments: the delay window fills it long before Reno's window would.
    let path_with =
        |id| Path::new(begins_at(id, 50 * MSS, 50 * MSS), 10_000, Span::from_millis(40));
    let mut compound = path_with("compound");
    let mut reno = path_with("reno");
    compound.run_until(Time::from_secs(4));
    reno.run_until(Time::from_secs(4));
    assert!(reno.cwnd_segments() < 160.0, "{}", reno.cwnd_segments());
    assert!(compound.cwnd_segments() > 380.0, "{}", compound.cwnd_segments());
    // From 30 queued segments the delay window shrinks as the loss window grows.
    let (_, most) = compound.range(10, |path| path.queued() as f64);
    assert!(most < 60.0, "{most}");
    let dwnd = compound.traced("dwnd_B");
    assert!(dwnd < compound.control().cwnd, "{dwnd}");
}
