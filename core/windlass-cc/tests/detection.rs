//! Matching of loss events: examples computed by hand, a comparison with the maximum matching, and the
//! rates of true and false alarms for independent and shared events.

use proptest::prelude::*;
use windlass_cc::coupling::detection::{Detector, Matching, REMEMBERED};
use windlass_cc::{Ratio, Span, Time};

const INTERVAL: u64 = 200;
const HALF: Ratio = Ratio::of(1, 2);

/// Events of two paths, in ms, passed in order of time.
fn detect(matching: Matching, a: &[u64], b: &[u64]) -> Detector {
    let mut events: Vec<(u64, usize)> = a.iter().map(|at| (*at, 0)).collect();
    events.extend(b.iter().map(|at| (*at, 1)));
    events.sort_unstable();
    let mut detector = Detector::new(matching, Span::from_millis(INTERVAL));
    for (at, place) in events {
        detector.record(Time::from_millis(at), place, 1);
    }
    detector
}

fn matches(matching: Matching, a: &[u64], b: &[u64]) -> u32 {
    let detector = detect(matching, a, b);
    assert_eq!(detector.matches(0, 1), detector.matches(1, 0));
    assert_eq!((detector.events(0), detector.events(1)), (a.len() as u32, b.len() as u32));
    detector.matches(0, 1)
}

#[test]
fn events_less_than_the_interval_apart_match_and_others_do_not() {
    for matching in [Matching::Pairs, Matching::OneToOne] {
        assert_eq!(matches(matching, &[1_000], &[1_199]), 1);
        assert_eq!(matches(matching, &[1_199], &[1_000]), 1);
        assert_eq!(matches(matching, &[1_000], &[1_200]), 0, "less than, not equal");
        assert_eq!(matches(matching, &[1_000], &[1_000]), 1);
        assert_eq!(matches(matching, &[], &[1_000]), 0);
    }
}

#[test]
fn one_event_matches_many_in_the_printed_algorithm_and_one_in_the_work_cited() {
    // One loss on a path, with five on the other: 5 pairs with 1 event, ratio 5.
    let (a, b) = ([1_000], [850, 900, 1_000, 1_050, 1_100]);
    assert_eq!(matches(Matching::Pairs, &a, &b), 5);
    assert_eq!(matches(Matching::OneToOne, &a, &b), 1);
    // Two and two within an interval: four pairs, two matches.
    assert_eq!(matches(Matching::Pairs, &[0, 50], &[20, 60]), 4);
    assert_eq!(matches(Matching::OneToOne, &[0, 50], &[20, 60]), 2);
    // A chain: matching the nearest events would leave one event of each side without a partner.
    assert_eq!(matches(Matching::OneToOne, &[0, 190], &[150, 340]), 2);
}

#[test]
fn simultaneous_events_are_counted_separately() {
    let mut pairs = Detector::new(Matching::Pairs, Span::from_millis(INTERVAL));
    let mut single = Detector::new(Matching::OneToOne, Span::from_millis(INTERVAL));
    for detector in [&mut pairs, &mut single] {
        detector.record(Time::from_millis(10), 0, 7);
        detector.record(Time::from_millis(20), 1, 3);
        detector.record(Time::from_millis(30), 1, 6);
    }
    assert_eq!((pairs.matches(0, 1), single.matches(0, 1)), (63, 7));
    assert_eq!((single.events(0), single.events(1)), (7, 9));
}

#[test]
fn paths_share_if_the_ratio_exceeds_delta_and_both_have_events() {
    // One of two: not more than a half.
    assert!(!detect(Matching::OneToOne, &[0, 5_000], &[100, 9_000]).shared(0, 1, HALF));
    // Two of three.
    assert!(detect(Matching::OneToOne, &[0, 5_000, 7_000], &[1, 5_001, 9_000]).shared(0, 1, HALF));
    // The smaller number counts: both events of the first path.
    let many = [0, 1_000, 2_000, 3_000, 4_000, 5_000];
    assert!(detect(Matching::OneToOne, &[0, 5_000], &many).shared(0, 1, HALF));
    assert!(!detect(Matching::Pairs, &[], &many).shared(0, 1, Ratio(0)), "MF-14");
}

#[test]
fn beyond_the_moments_that_are_remembered_the_oldest_are_forgotten() {
    let a: Vec<u64> = (0..REMEMBERED as u64 + 5).collect();
    let detector = detect(Matching::Pairs, &a, &[150]);
    assert_eq!(detector.matches(0, 1), REMEMBERED as u32);
    assert_eq!(detector.events(0), REMEMBERED as u32 + 5, "they are counted all the same");
}

#[test]
fn a_new_cycle_forgets_events_and_keeps_matches_only_if_asked() {
    let mut detector = detect(Matching::Pairs, &[0], &[10]);
    let mut kept = detector;
    kept.begin(true);
    assert_eq!((kept.matches(0, 1), kept.events(0)), (1, 0));
    kept.record(Time::from_millis(20), 0, 1);
    assert_eq!(kept.matches(0, 1), 1, "what was before has gone");
    detector.begin(false);
    assert_eq!((detector.matches(0, 1), detector.events(1)), (0, 0));
}

/// The size of the maximum matching, by augmenting paths (Kuhn).
fn largest_matching(a: &[u64], b: &[u64]) -> u32 {
    fn augment(
        from: usize,
        a: &[u64],
        b: &[u64],
        seen: &mut [bool],
        owner: &mut [Option<usize>],
    ) -> bool {
        for to in 0..b.len() {
            if a[from].abs_diff(b[to]) < INTERVAL && !seen[to] {
                seen[to] = true;
                if owner[to].is_none_or(|other| augment(other, a, b, seen, owner)) {
                    owner[to] = Some(from);
                    return true;
                }
            }
        }
        false
    }
    let mut owner = vec![None; b.len()];
    (0..a.len()).filter(|from| augment(*from, a, b, &mut vec![false; b.len()], &mut owner)).count()
        as u32
}

fn all_pairs(a: &[u64], b: &[u64]) -> u32 {
    a.iter().map(|a| b.iter().filter(|b| a.abs_diff(**b) < INTERVAL).count() as u32).sum()
}

proptest! {
    #[test]
    fn streaming_finds_every_pair_and_the_largest_matching(
        a in prop::collection::vec(0u64..6_000, 0..30),
        b in prop::collection::vec(0u64..6_000, 0..30),
    ) {
        prop_assert_eq!(matches(Matching::Pairs, &a, &b), all_pairs(&a, &b));
        prop_assert_eq!(matches(Matching::OneToOne, &a, &b), largest_matching(&a, &b));
    }

    #[test]
    fn other_paths_change_nothing_between_two(
        events in prop::collection::vec((0u64..5_000, 0usize..4), 0..60),
    ) {
        let mut events = events;
        events.sort_unstable();
        let mut detector = Detector::new(Matching::OneToOne, Span::from_millis(INTERVAL));
        for (at, place) in &events {
            detector.record(Time::from_millis(*at), *place, 1);
        }
        let of = |wanted: usize| -> Vec<u64> {
            events.iter().filter(|(_, place)| *place == wanted).map(|(at, _)| *at).collect()
        };
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            prop_assert_eq!(detector.matches(a, b), largest_matching(&of(a), &of(b)));
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(n)) >> 64) as u64
    }
}

const CYCLE: u64 = 50_000;

fn independent(random: &mut Random, n: u64) -> Vec<u64> {
    (0..n).map(|_| random.below(CYCLE)).collect()
}

/// Share of 400 cycles in which a shared bottleneck is detected.
fn alarms(matching: Matching, mut draw: impl FnMut(&mut Random) -> (Vec<u64>, Vec<u64>)) -> f64 {
    let mut random = Random(7);
    let seen = (0..400).filter(|_| {
        let (a, b) = draw(&mut random);
        detect(matching, &a, &b).shared(0, 1, HALF)
    });
    seen.count() as f64 / 400.0
}

#[test]
fn independent_events_match_with_the_expected_probability() {
    // Two times in a cycle T are less than I apart with probability 2·I/T - (I/T)²: 0.008 minus the
    // effect of the cycle's ends.
    let part = INTERVAL as f64 / CYCLE as f64;
    let chance = 2.0 * part - part * part;
    for (n1, n2) in [(20, 20), (62, 62), (40, 150)] {
        let mut random = Random(3);
        let trials = 2_000;
        let counts: Vec<f64> = (0..trials)
            .map(|_| {
                let (a, b) = (independent(&mut random, n1), independent(&mut random, n2));
                f64::from(matches(Matching::Pairs, &a, &b))
            })
            .collect();
        let mean = counts.iter().sum::<f64>() / f64::from(trials);
        let variance = counts.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / f64::from(trials);
        let expected = chance * (n1 * n2) as f64;
        let error = (variance / f64::from(trials)).sqrt();
        assert!((mean - expected).abs() < 4.0 * error, "{n1}, {n2}: {mean} ± {error}, {expected}");
        assert!((expected / (0.008 * (n1 * n2) as f64) - 1.0).abs() < 0.003, "MF-13");
    }
}

#[test]
fn many_independent_events_alarm_the_printed_algorithm_and_later_the_one_to_one_too() {
    let rate = |matching, n| alarms(matching, |r| (independent(r, n), independent(r, n)));
    // The expected ratio is 0.008·n: a half at 62 events.
    assert!(rate(Matching::Pairs, 20) < 0.05);
    assert!((0.3..0.7).contains(&rate(Matching::Pairs, 62)));
    assert!(rate(Matching::Pairs, 120) > 0.99);
    assert!(rate(Matching::OneToOne, 62) < 0.02);
    assert!(rate(Matching::OneToOne, 90) < 0.25);
    // One-to-one matching only delays it: with 250 events in 50 s every second event has a partner.
    assert!(rate(Matching::OneToOne, 250) > 0.99);
}

#[test]
fn few_events_match_many_by_chance_with_either_matching() {
    // One of n others is near an event with probability 1 - e^(-0.008·n).
    for matching in [Matching::Pairs, Matching::OneToOne] {
        let rate = |n| alarms(matching, move |r| (independent(r, 5), independent(r, n)));
        assert!(rate(30) < 0.15, "{matching:?}");
        assert!((0.3..0.75).contains(&rate(87)), "{matching:?}: {}", rate(87));
        assert!(rate(250) > 0.95, "{matching:?}: {}", rate(250));
        println!("{matching:?}, 120: {}", rate(120));
    }
}

#[test]
fn shared_events_are_found_by_either_matching_unless_most_losses_are_each_paths_own() {
    // Both paths lose at a queue overflow, up to 150 ms apart, and each has `own` further losses.
    let rate = |matching, shared, own| {
        alarms(matching, move |r| {
            let overflow = independent(r, shared);
            let late = |r: &mut Random| -> Vec<u64> {
                overflow.iter().map(|at| at + r.below(150)).collect()
            };
            let (mut a, mut b) = (late(r), late(r));
            a.extend(independent(r, own));
            b.extend(independent(r, own));
            (a, b)
        })
    };
    for matching in [Matching::Pairs, Matching::OneToOne] {
        assert_eq!(rate(matching, 20, 0), 1.0);
        assert_eq!(rate(matching, 20, 10), 1.0, "{matching:?}");
        assert!(rate(matching, 5, 25) < 0.3, "{matching:?}");
    }
}

/// Prints the table of alarms for docs/src/studies/shared-bottlenecks.md.
#[test]
#[ignore = "prints a table"]
fn table_of_alarms() {
    println!("| events per path in 50 s | every pair | one to one |\n| --- | --- | --- |");
    for n in [5, 10, 20, 40, 50, 62, 80, 100, 120, 160, 250] {
        let rate = |matching| alarms(matching, |r| (independent(r, n), independent(r, n)));
        let (pairs, single) = (rate(Matching::Pairs), rate(Matching::OneToOne));
        println!("| {n} | {:.0} % | {:.0} % |", 100.0 * pairs, 100.0 * single);
    }
}
