//! Windowed filters compared with the exact extreme of all samples.

use windlass_cc::filter::{DeliveredRounds, TwoSlotMax, WindowedMax, WindowedMin};

/// Samples that vary in steps up and down: `(time, value)`.
fn walk(seed: u64, n: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut x = seed;
    let mut level = 1e6;
    let mut at = 1_000;
    (0..n).map(move |_| {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let noise = (x >> 33) as f64 / 2f64.powi(31);
        level = (level * (0.9 + 0.2 * noise)).clamp(1.0, 1e12);
        at += 1 + (x >> 60) % 5;
        (at, level as u64)
    })
}

fn exact(past: &[(u64, u64)], since: u64, best: impl Fn(u64, u64) -> u64) -> u64 {
    let recent = past.iter().rev().take_while(|(at, _)| *at >= since);
    recent.map(|(_, value)| *value).reduce(best).expect("the latest is always there")
}

#[test]
fn a_windowed_maximum_is_a_sample_of_the_window_and_keeps_the_best_while_it_stands() {
    const WINDOW: u64 = 100;
    for seed in 1..50 {
        let mut filter = WindowedMax::new(1_000, 0);
        let mut past = vec![];
        // The latest sample that was the best of its window.
        let mut peak = (0, 0);
        for (at, value) in walk(seed, 2_000) {
            filter.update(WINDOW, at, value);
            past.push((at, value));
            let answer = filter.get();
            let best = exact(&past, at - WINDOW, u64::max);
            assert!(answer <= best, "older than the window");
            assert!(answer >= value, "worse than the latest");
            if value == best {
                peak = (at, value);
            }
            assert!(at - peak.0 > WINDOW || answer == peak.1, "forgot {peak:?} at {at}");
        }
    }
}

#[test]
fn a_windowed_minimum_is_the_maximum_of_the_mirrored_samples() {
    const MIRROR: u64 = 2_000_000_000_000;
    for seed in 1..50 {
        let (mut low, mut high) = (WindowedMin::new(0, MIRROR), WindowedMax::new(0, 0));
        for (at, value) in walk(seed, 2_000) {
            low.update(100, at, MIRROR - value);
            high.update(100, at, value);
            assert_eq!(low.get(), MIRROR - high.get());
        }
    }
}

#[test]
fn a_single_peak_is_forgotten_exactly_when_it_leaves_the_window() {
    let mut filter = WindowedMax::new(0, 0);
    filter.update(10, 0, 100);
    for round in 1..=10 {
        filter.update(10, round, 50);
        assert_eq!(filter.get(), 100, "round {round}");
    }
    filter.update(10, 11, 50);
    assert_eq!(filter.get(), 50);
}

#[test]
fn after_a_silence_longer_than_the_window_only_the_new_sample_counts() {
    let mut filter = WindowedMin::new(0, 5);
    filter.update(10, 1, 7);
    filter.update(10, 1_000, 9);
    assert_eq!(filter.get(), 9);
}

#[test]
fn two_slots_remember_this_period_and_the_one_before() {
    let mut filter = TwoSlotMax::default();
    filter.update(70);
    filter.update(90);
    filter.advance();
    filter.update(50);
    assert_eq!(filter.get(), 90);
    filter.advance();
    assert_eq!(filter.get(), 50, "the period of 90 is two back");
    filter.advance();
    assert_eq!(filter.get(), 50, "a period without samples does not end");
}

#[test]
fn a_round_ends_with_data_sent_after_its_beginning() {
    // A window of ten segments, each acknowledged in order and followed by a new segment at once.
    let mut rounds = DeliveredRounds::new(0);
    let mut sent: std::collections::VecDeque<u64> = std::iter::repeat_n(0, 10).collect();
    let mut beginnings = vec![];
    for n in 1..=100u64 {
        let prior = sent.pop_front().unwrap();
        if rounds.on_ack(prior, n) {
            beginnings.push(n);
        }
        sent.push_back(n);
    }
    // The first acknowledgement ends the empty round 0, and then every tenth segment sent after it ends
    // a round.
    let expected: Vec<u64> = (0..10).map(|k| 1 + 10 * k).collect();
    assert_eq!(beginnings, expected);
    assert_eq!(rounds.count(), 10);
}
