//! The timers of CoCoA3+ and ICC-TCP.

use windlass_cc::Ratio;
use windlass_cc::rto::cmbo::{Order, Reading, Solver};
use windlass_cc::rto::{Cmbo, CmboParams, Icc, IccParams, RtoEstimator, RttSample};
use windlass_cc::{Span, Time};

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// A time, rounded down to the timer's resolution of 256 ns.
fn ticks(span: Span) -> Span {
    Span(span.0 & !255)
}

/// Four samples, the exact optimum, no minimum.
fn exact() -> CmboParams {
    CmboParams {
        min: Span::ZERO,
        samples: 4,
        warm_up: 4,
        solver: Solver::Exact,
        reading: Reading::Best,
        ..Default::default()
    }
}

/// The sample of round `n`, in a separate RTT.
fn round(rtt: Span, n: u64, sent: u64, resent: u64) -> RttSample {
    let at = 1000 * n;
    RttSample { una: at + 1000, next_id: at + 1000, sent, resent, ..RttSample::of(rtt) }
}

fn after(p: &CmboParams, rtts: &[u64], sent: u64, resent: u64) -> Cmbo {
    let mut timer = Cmbo::init(p);
    for (n, rtt) in rtts.iter().enumerate() {
        timer.on_sample(p, &round(ms(*rtt), n as u64 + 1, sent, resent));
    }
    timer
}

#[test]
fn until_there_are_samples_enough_the_standard_rule_holds() {
    let p = CmboParams { min: Span::ZERO, ..Default::default() };
    assert_eq!(Cmbo::init(&p).rto(&p), Span::from_secs(1));
    assert_eq!(after(&p, &[100], 1, 0).rto(&p), ms(300)); // R + 4 · R/2
    // Deviation of 37.5 ms after the second sample: 100 + 4 · 37.5.
    assert_eq!(after(&p, &[100, 100], 2, 0).rto(&p), ms(250));
}

/// Samples of 100, 100, 100 and 200 ms, with an SRTT of 112.5 ms. A timeout at 100 ms is too early for
/// a quarter of the samples, 0.25 · 112.5 ms = 28.1 ms. A timeout at 200 ms waits 75 ms longer on
/// average.
#[test]
fn the_more_is_lost_the_earlier_the_best_timeout() {
    let rtts = [100, 100, 100, 200];
    let p = exact();
    // (9 + 1)/(98 + 2) = 0.1 lost: 7.5 ms.
    assert_eq!(after(&p, &rtts, 98, 9).rto(&p), ticks(ms(200)));
    // (49 + 1)/(98 + 2) = 0.5 lost: 37.5 ms.
    assert_eq!(after(&p, &rtts, 98, 49).rto(&p), ticks(ms(100)));
    // A spurious timeout with twice the cost: 56.2 ms.
    let p = CmboParams { spurious: Ratio::of(2, 1), ..p };
    assert_eq!(after(&p, &rtts, 98, 49).rto(&p), ticks(ms(200)));
}

/// Without a recent loss, a wait beyond the largest sample still has a cost.
#[test]
fn without_losses_the_best_timeout_is_the_largest_sample() {
    let p = exact();
    assert_eq!(after(&p, &[100, 130, 120, 170], 1_000_000, 0).rto(&p), ticks(ms(170)));
}

#[test]
fn a_population_that_has_arrived_leaves_no_margin_and_no_difference() {
    let rtts = [100, 100, 100, 200];
    let p = CmboParams { reading: Reading::Margin, ..exact() };
    assert_eq!(after(&p, &rtts, 98, 9).rto(&p), Span(112_500_000));
    let p = CmboParams { reading: Reading::Literal, ..exact() };
    assert_eq!(after(&p, &rtts, 98, 9).rto(&p), ms(1)); // the granularity
}

#[test]
fn a_search_runs_once_per_rtt_or_after_a_change_of_the_rtt() {
    let p = exact();
    let mut timer = after(&p, &[100, 100, 100, 100], 98, 9);
    assert_eq!(timer.rto(&p), ticks(ms(100)));
    // Still the same round: up to offset 5000.
    let mut sample = RttSample { una: 4500, next_id: 9000, ..round(ms(150), 0, 98, 9) };
    timer.on_sample(&p, &sample);
    assert_eq!(timer.rto(&p), ticks(ms(100)));
    let mut other = timer;
    // The next round.
    sample.una = 5001;
    timer.on_sample(&p, &sample);
    assert_eq!(timer.rto(&p), ticks(ms(150)));
    // Or the SRTT has moved from 100 ms by more than 10 ms.
    other.on_sample(&p, &RttSample { una: 4600, rtt: ms(200), ..sample });
    assert_eq!(other.rto(&p), ticks(ms(200)));
}

#[test]
fn the_optimizer_finds_nearly_the_exact_optimum_and_its_seed_is_the_flows() {
    let rtts: Vec<u64> = (0..64).map(|i| 100 + (i * 37) % 64).collect();
    // Cheap spurious timeouts, so that the optimum is among the samples and not the maximum.
    let spurious = Ratio::of(1, 10);
    let p = CmboParams { min: Span::ZERO, reading: Reading::Best, spurious, ..Default::default() };
    let run = |p: &CmboParams, entropy: u32| {
        let mut timer = Cmbo::init(p);
        for (n, rtt) in (1..).zip(&rtts) {
            timer.arm(p, Time::ZERO, entropy);
            timer.on_sample(p, &round(ms(*rtt), n, 10 * n, 4 * n));
        }
        timer.rto(p)
    };
    let best = run(&CmboParams { solver: Solver::Exact, ..p }, 0);
    for entropy in 0..20 {
        for order in [Order::Cmbo, Order::Paper] {
            let p = CmboParams { order, ..p };
            assert!(run(&p, entropy).0.abs_diff(best.0) < ms(5).0, "{} {best}", run(&p, entropy));
            assert_eq!(run(&p, entropy), run(&p, entropy));
        }
    }
    assert_ne!(run(&p, 1), run(&p, 2));
}

#[test]
fn the_timer_of_cocoa3_backs_off_until_the_next_sample_and_keeps_its_bounds() {
    let p = CmboParams { max: Span::from_secs(1), ..exact() };
    let mut timer = after(&p, &[100, 100, 100, 200], 98, 9);
    let mut all = vec![];
    for _ in 0..4 {
        timer.on_timeout(&p);
        timer.on_progress(&p);
        all.push(timer.rto(&p));
    }
    let twice = |n| Span(n * ticks(ms(200)).0);
    assert_eq!(all, [twice(2), twice(4), Span::from_secs(1), Span::from_secs(1)]);
    timer.on_sample(&p, &round(ms(100), 9, 98, 9));
    assert_eq!(timer.rto(&p), ticks(ms(200)));
    let floor = CmboParams { min: ms(250), ..p };
    assert_eq!(after(&floor, &[100, 100, 100, 200], 98, 9).rto(&floor), ms(250));
}

/// With a share of one the estimate is the strong estimate: 3·R after the first sample.
fn icc(rtt: Span) -> (IccParams, Icc) {
    let p = IccParams { strong_share: Ratio::ONE, dithering: false, ..Default::default() };
    let mut timer = Icc::init(&p);
    timer.on_sample(&p, &RttSample::of(rtt));
    (p, timer)
}

#[test]
fn the_back_off_of_icc_stops_the_sooner_the_longer_the_estimate() {
    for (rtt, most) in [(100, 8), (333, 8), (334, 4), (1000, 4), (1001, 2), (9000, 2)] {
        let (p, mut timer) = icc(ms(rtt));
        for _ in 0..6 {
            timer.on_timeout(&p);
        }
        assert_eq!(timer.rto(&p), ms(3 * rtt * most), "{rtt}");
        timer.on_progress(&p);
        assert_eq!(timer.rto(&p), ms(3 * rtt));
    }
    let (p, mut timer) = icc(ms(100));
    let p = IccParams { limits: false, ..p };
    for _ in 0..6 {
        timer.on_timeout(&p);
    }
    assert_eq!(timer.rto(&p), ms(300 * 64));
}

#[test]
fn each_part_of_icc_can_be_turned_off() {
    // Weak samples: 0.25 · (1000 + 500) + 0.75 · 300.
    let weak = RttSample { retransmits: 3, ..RttSample::of(ms(1000)) };
    let (p, mut timer) = icc(ms(100));
    assert!(Icc::wants_ambiguous(&p));
    timer.on_sample(&p, &weak);
    assert_eq!(timer.rto(&p), ms(600));
    let (p, mut timer) = icc(ms(100));
    let off = IccParams { weak: false, ..p };
    assert!(!Icc::wants_ambiguous(&off));
    timer.on_sample(&off, &weak);
    assert_eq!(timer.rto(&off), ms(300));
    // Dithering.
    let on = IccParams { dithering: true, ..off };
    assert_eq!(timer.arm(&off, Time::ZERO, u32::MAX), ms(300));
    assert_eq!(timer.arm(&on, Time::ZERO, 0), ms(300));
    assert_eq!(timer.arm(&on, Time::ZERO, u32::MAX), ms(450));
}
