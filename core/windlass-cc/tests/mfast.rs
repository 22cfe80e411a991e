//! MFast compared with its equation: its equilibrium, and the parts that it shares with FAST.

use crate::common::begins_at;
use crate::common::path::{MSS, Path};
use windlass_cc::mfast::Multiplicative;
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Ratio, Span, Time};

const SIGMA: usize = 0;
const ALPHA: usize = 1;
const WEIGHT: usize = 4;
const MI: usize = 6;
const START_GAMMA: usize = 7;

fn mfast(segments: u64, mi: Multiplicative) -> AnyParams {
    let mut p = begins_at("mfast", segments * MSS, segments * MSS);
    assert!(p.set(MI, mi as u64));
    p
}

/// The minimum and maximum window over the last 50 of 200 seconds, on a path of `rate` segments per
/// second with an RTT of 140 ms including its service time.
fn rest(p: AnyParams, rate: u64) -> (f64, f64) {
    let own = Span(140_000_000 - 1_000_000_000 / rate);
    let mut path = Path::new(p, rate, own);
    path.run_until(Time::from_secs(150));
    path.range(50, Path::cwnd_segments)
}

#[test]
fn it_rests_where_its_equation_has_a_fixed_point() {
    // sigma·(alpha + C·base): 3 Mbit/s, 2 Mbit/s (1 of 3 used by others) and 1 Mbit/s in packets of
    // 1000 bytes, 140 ms: 76, 67.5 and 59 segments.
    for (rate, expected) in [(375, 76.25), (250, 67.5), (125, 58.75)] {
        for mi in [Multiplicative::Always, Multiplicative::Start] {
            let (least, most) = rest(mfast(10, mi), rate);
            let close = |w: f64| (w - expected).abs() < 1.0;
            assert!(close(least) && close(most), "{rate}/s: {least}..{most}, not {expected}");
        }
    }
}

#[test]
fn the_fixed_point_moves_with_sigma_and_alpha() {
    for (sigma_q16, alpha) in [(65_536, 30), (49_152, 100), (32_768, 200), (16_384, 400)] {
        let mut p = mfast(10, Multiplicative::Start);
        assert!(p.set(SIGMA, sigma_q16) && p.set(ALPHA, alpha));
        let sigma = sigma_q16 as f64 / 65_536.0;
        let expected = sigma * (alpha as f64 + 375.0 * 0.14);
        let (least, most) = rest(p, 375);
        let close = |w: f64| (w - expected).abs() < 1.5;
        assert!(close(least) && close(most), "{sigma}, {alpha}: {least}..{most}, not {expected}");
    }
}

#[test]
fn a_path_of_more_than_100_segments_is_not_filled_but_by_multiplicative_increase() {
    // 2000 per second for 140 ms: 280 segments. Without a queue w = sigma·alpha/(1 - sigma) = 100.
    let (least, most) = rest(mfast(10, Multiplicative::Start), 2_000);
    assert!(least > 99.0 && most < 101.0, "{least}..{most}");
    // The module's increase starts whenever the queue is empty, and the law reverts it.
    let (least, most) = rest(mfast(10, Multiplicative::Always), 2_000);
    assert!(most > 280.0, "it reaches the capacity: {most}");
    assert!(least < 200.0, "and does not stay: {least}");
}

#[test]
fn with_sigma_one_it_is_fast() {
    let mut one = begins_at("mfast", 4 * MSS, 1 << 40);
    assert!(one.set(SIGMA, 65_536) && one.set(WEIGHT, 0));
    assert!(one.set(MI, Multiplicative::Start as u64) && one.set(ALPHA, 20));
    let mut fast = begins_at("fast", 4 * MSS, 1 << 40);
    assert!(fast.set(0, 20));
    let make = |p| Path::new(p, 1_000, Span::from_millis(40));
    let (mut one, mut fast) = (make(one), make(fast));
    for _ in 0..20_000 {
        one.step();
        fast.step();
        assert_eq!(one.control(), fast.control());
    }
}

/// The number of RTTs of slow start over an empty path until it ends, from a window of ten segments.
fn ends_slow_start(gamma: Ratio, rtts_ms: &[u64]) -> Option<usize> {
    let mut p = begins_at("mfast", 10 * MSS, 1 << 40);
    assert!(p.set(START_GAMMA, gamma.0));
    let mut c = Conn::new(MSS as u32);
    c.min_rtt = Span::from_millis(100);
    let mut cc = AnyController::init(&p, &c);
    (0..rtts_ms.len()).find(|i| {
        cc.on_ack(&p, &c, &Ack { rtt: Span::from_millis(rtts_ms[*i]), ..Ack::of(0) });
        cc.control(&p, &c).ssthresh < 1 << 40
    })
}

/// MF-40: uses the queue of the present RTT; an earlier full queue has no effect.
#[test]
fn slow_start_ends_at_start_gamma_queued_segments() {
    let half = Ratio::of(1, 2);
    // 10 segments, of which 100/105 fit the path: 0.48 are queued; at 106 ms 0.57 are.
    assert_eq!(ends_slow_start(half, &[100, 105, 106]), Some(2));
    assert_eq!(ends_slow_start(Ratio::of(2, 1), &[100, 106, 126]), Some(2));
    // With the average, in which a new sample has weight 1/256, a past queue still counts.
    assert_eq!(ends_slow_start(Ratio(0), &[300, 100]), Some(0));
    assert_eq!(ends_slow_start(half, &[100, 100, 100]), None);
}
