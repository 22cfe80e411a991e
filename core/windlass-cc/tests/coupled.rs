//! Coupled congestion control: equations at selected points, and the behaviour on one path.

use crate::common::coupled::{MSS, Paths};
use crate::common::{avoidance, begins_at};
use windlass_cc::lia::ALPHA_SCALE;
use windlass_cc::{AnyParams, Group, PathView, Phase, Ratio, Span};

/// `algorithm` with one of its parameters set.
fn set(mut p: AnyParams, name: &str, raw: u64) -> AnyParams {
    let place = p.info().params.iter().position(|param| param.name == name);
    assert!(p.set(place.expect("a parameter of the algorithm"), raw), "{name} = {raw}");
    p
}

/// Paths of this algorithm with a parameter set.
fn with(id: &str, name: &str, raw: u64, paths: &[(u64, u64)]) -> Paths {
    let begin = |(window, rtt): &(u64, u64)| (set(avoidance(id, window * MSS), name, raw), *rtt);
    Paths::with(paths.iter().map(begin))
}

fn assert_near(got: f64, expected: f64, what: &str) {
    // Resolution of whole bytes in a thousand segments.
    assert!((got - expected).abs() < 5e-6, "{what}: {got}, expected {expected}");
}

/// RFC 6356 equation 2 with windows in segments and times in seconds.
fn alpha(paths: &[(f64, f64)]) -> f64 {
    let total: f64 = paths.iter().map(|(w, _)| w).sum();
    let best = paths.iter().map(|(w, r)| w / (r * r)).fold(0.0, f64::max);
    let rates: f64 = paths.iter().map(|(w, r)| w / r).sum();
    total * best / (rates * rates)
}

fn seconds(paths: &[(u64, u64)]) -> Vec<(f64, f64)> {
    paths.iter().map(|(w, ms)| (*w as f64, *ms as f64 / 1e3)).collect()
}

#[test]
fn two_equal_paths_each_open_by_a_quarter_of_renos_increase() {
    for id in ["lia", "olia", "balia", "d-lia", "emreno-approx"] {
        let paths = Paths::new(id, &[(10, 100), (10, 100)]);
        for place in 0..2 {
            assert_near(paths.increase(place), 0.025, id);
        }
    }
    assert_near(Paths::new("reno", &[(10, 100), (10, 100)]).increase(0), 0.1, "reno");
    assert!((alpha(&[(10.0, 0.1), (10.0, 0.1)]) - 0.5).abs() < 1e-12);
}

#[test]
fn lia_opens_by_alpha_over_the_total_window_and_never_faster_than_reno() {
    // The last case has a path so long that its cap applies.
    for case in
        [vec![(20, 50), (10, 100)], vec![(5, 10), (80, 40), (3, 400)], vec![(100, 1_000), (10, 10)]]
    {
        let paths = Paths::new("lia", &case);
        let free = with("lia", "cap", 0, &case);
        let total: f64 = case.iter().map(|(w, _)| *w as f64).sum();
        let linked = alpha(&seconds(&case)) / total;
        for (place, (window, _)) in case.iter().enumerate() {
            assert_near(paths.increase(place), linked.min(1.0 / *window as f64), "capped");
            assert_near(free.increase(place), linked, "not capped");
        }
    }
    let capped = Paths::new("lia", &[(100, 1_000), (10, 10)]);
    assert_near(capped.increase(0), 0.01, "as Reno on the long path");
}

/// MF-24: the integer form of equation 16 equals the exact equation, except for the fractions that
/// integers cut off.
#[test]
fn the_counted_form_opens_after_as_many_segments_as_the_equation_takes() {
    let counted = windlass_cc::lia::Form::Counted as u64;
    for case in [
        vec![(10, 100), (10, 100)],
        vec![(30, 140), (12, 140)],
        vec![(40, 50), (25, 80), (9, 300)],
        vec![(100, 146), (40, 161)],
    ] {
        for place in 0..case.len() {
            let mut paths = with("lia", "form", counted, &case);
            let before = paths.0[place].cwnd();
            let mut acknowledged = 0;
            while paths.0[place].cwnd() == before {
                // Not `ack`: the state does not change in between.
                paths.ack(place);
                acknowledged += 1;
                assert!(acknowledged < 10_000);
            }
            assert_eq!(paths.0[place].cwnd(), before + MSS, "whole segments");
            let total: f64 = case.iter().map(|(w, _)| *w as f64).sum();
            let exact = (total / alpha(&seconds(&case))).max(case[place].0 as f64);
            // The sum loses less than a segment per path, and its square twice this share. Alpha loses
            // less than 1 of its 512ths. "Exceeds" is one segment more.
            let integer_alpha = ALPHA_SCALE as f64 * alpha(&seconds(&case));
            let slack = 2.0 * case.len() as f64 / total + 1.0 / (integer_alpha - 1.0);
            let error = (f64::from(acknowledged) - 1.0) / exact - 1.0;
            assert!(
                (-slack - 1.0 / exact..=slack).contains(&error),
                "{case:?}, path {place}: {acknowledged}, exactly {exact}"
            );
        }
    }
}

#[test]
fn refresh_round_updates_alpha_once_per_rtt() {
    let round = windlass_cc::lia::Refresh::Round as u64;
    let mut paths = with("lia", "refresh", round, &[(10, 100), (10, 100)]);
    let before = paths.increase(0);
    for _ in 0..4 {
        paths.lose(1);
    }
    assert_near(paths.increase(0), before, "the round is not over");
    for _ in 0..12 {
        paths.ack(0);
    }
    assert!(paths.increase(0) > 1.5 * before, "a round later");
    let mut always = Paths::new("lia", &[(10, 100), (10, 100)]);
    always.lose(1);
    assert!(always.increase(0) > 1.2 * before);
}

#[test]
fn the_threshold_stands_for_an_inflated_window() {
    let mut paths = Paths::new("lia", &[(10, 100), (20, 100)]);
    paths.enter(1, Phase::Recovery);
    assert!(paths.0[1].cwnd() > 10 * MSS, "inflated by three segments");
    assert_near(paths.increase(0), 0.025, "as with ten segments");
    let mut inflated = with("lia", "in_recovery", 1, &[(10, 100), (20, 100)]);
    inflated.enter(1, Phase::Recovery);
    assert_near(inflated.increase(0), 13.0 / (23.0 * 23.0), "as with thirteen");
}

#[test]
fn a_path_of_unknown_round_trip_time_takes_no_part() {
    let mut paths = Paths::new("lia", &[(10, 100), (10, 100), (1, 1)]);
    paths.0[2].c.srtt = Span::NONE;
    paths.tell();
    assert_near(paths.increase(0), 0.025, "of two");
    paths.0[1].c.srtt = Span::NONE;
    paths.tell();
    assert_near(paths.increase(0), 0.1, "alone");
    assert_near(paths.increase(1), 0.1, "knows nothing of itself");
}

#[test]
fn a_path_that_goes_leaves_its_siblings_to_themselves() {
    for id in ["lia", "olia", "balia", "d-lia", "emreno-approx"] {
        let mut paths = Paths::new(id, &[(10, 100), (10, 100)]);
        assert_near(paths.increase(0), 0.025, id);
        paths.0.truncate(1);
        paths.tell();
        assert_near(paths.increase(0), 0.1, id);
    }
}

#[test]
fn olia_moves_window_to_the_best_path_that_is_not_the_largest() {
    let mut paths = Paths::new("olia", &[(20, 100), (10, 100), (20, 100)]);
    // Path 1 has acknowledged the most bytes without a loss.
    for place in [0, 1, 1, 1, 2] {
        paths.ack(place);
    }
    let at = |place: usize| paths.0[place].window();
    let total: f64 = (0..3).map(at).sum();
    let linked = |place: usize| at(place) / (total * total);
    // N = 3: one path gains, two paths give.
    assert_near(paths.increase(1), linked(1) + 1.0 / (3.0 * at(1)), "rises");
    for place in [0, 2] {
        assert_near(paths.increase(place), linked(place) - 1.0 / (6.0 * at(place)), "gives");
    }
}

#[test]
fn olia_looks_at_the_larger_of_the_last_two_stretches_without_loss() {
    let mut paths = Paths::new("olia", &[(10, 100), (10, 100)]);
    let loss_free = |paths: &Paths| paths.0[0].state.disclosed();
    assert_eq!(loss_free(&paths), 0);
    (0..5).for_each(|_| paths.ack(0));
    assert_eq!(loss_free(&paths), 5 * MSS);
    paths.lose(0);
    (0..3).for_each(|_| paths.ack(0));
    assert_eq!(loss_free(&paths), 5 * MSS, "between the losses");
    (0..4).for_each(|_| paths.ack(0));
    assert_eq!(loss_free(&paths), 7 * MSS, "since the last");
    paths.lose(0);
    paths.lose(0);
    assert_eq!(loss_free(&paths), 7 * MSS, "a loss right after another ends no stretch");
    paths.ack(0);
    paths.lose(0);
    assert_eq!(loss_free(&paths), MSS);
}

#[test]
fn olia_forgets_a_loss_that_was_none() {
    let mut paths = Paths::new("olia", &[(10, 100), (10, 100)]);
    (0..5).for_each(|_| paths.ack(0));
    paths.enter(0, Phase::Recovery);
    let path = &mut paths.0[0];
    path.state.on_undo(&path.p, &path.c, windlass_cc::Undo::Dsack);
    paths.enter(0, Phase::Open);
    paths.ack(0);
    assert_eq!(paths.0[0].state.disclosed(), 6 * MSS);
}

#[test]
fn olia_never_closes_a_path_below_a_segment_nor_into_slow_start() {
    let mut paths = Paths::new("olia", &[(4, 100), (1, 1)]);
    paths.ack(1);
    let mut least = u64::MAX;
    for _ in 0..500 {
        paths.0[0].c.srtt = Span::from_millis(100);
        paths.ack(0);
        let now = paths.0[0].state.control(&paths.0[0].p, &paths.0[0].c);
        assert!(now.cwnd >= MSS && now.ssthresh <= now.cwnd, "{now:?}");
        least = least.min(now.cwnd);
    }
    assert!(least < 3 * MSS, "it has given window: {least}");
}

#[test]
fn balia_opens_and_cuts_by_how_far_a_path_is_behind() {
    for (first, second, rtt) in
        [(10u64, 10u64, 100u64), (30, 10, 100), (24, 20, 100), (10, 20, 300)]
    {
        let mut paths = Paths::new("balia", &[(first, 100), (second, rtt)]);
        let (x0, x1) = (first as f64 / 0.1, second as f64 / (rtt as f64 / 1e3));
        let sum = (x0 + x1) * (x0 + x1);
        for (place, x, r) in [(0, x0, 0.1), (1, x1, rtt as f64 / 1e3)] {
            let a = x0.max(x1) / x;
            let expected = x / (r * sum) * ((1.0 + a) / 2.0) * ((4.0 + a) / 5.0);
            assert_near(paths.increase(place), expected, "increase");
            assert!(expected <= 1.0 / (x * r) + 1e-12, "never faster than Reno");
        }
        let a = (x0.max(x1) / x1).min(1.5);
        let kept = second as f64 * (1.0 - a / 2.0);
        paths.lose(1);
        let window = paths.0[1].window();
        assert!((window - kept.max(1.0)).abs() < 0.003, "{window} {kept}");
    }
}

#[test]
fn balia_of_linux_cuts_by_a_whole_ratio() {
    // The ratio of the rates is 1.4: 1 in integers.
    let mut whole = with("balia", "imbalance", 1, &[(28, 100), (20, 100)]);
    whole.lose(1);
    assert_eq!(whole.0[1].cwnd(), 10 * MSS);
    let mut exact = Paths::new("balia", &[(28, 100), (20, 100)]);
    exact.lose(1);
    assert!((exact.0[1].window() - 6.0).abs() < 0.003, "{}", exact.0[1].window());
}

#[test]
fn a_threshold_of_one_segment_is_for_connections_with_several_paths() {
    for id in ["olia", "balia"] {
        let mut paths = Paths::new(id, &[(2, 100), (30, 100)]);
        paths.lose(0);
        assert_eq!(paths.0[0].cwnd(), MSS, "{id}");
        let mut two = with(id, "least", 2, &[(2, 100), (30, 100)]);
        two.lose(0);
        assert_eq!(two.0[0].cwnd(), 2 * MSS, "{id}");
        let mut alone = Paths::new(id, &[(2, 100)]);
        alone.lose(0);
        assert_eq!(alone.0[0].cwnd(), 2 * MSS, "{id}");
    }
}

#[test]
fn d_lia_cuts_less_the_less_the_window_had_grown() {
    // The published code's arithmetic in fractions: beta = 0.25·gamma + 0.75·beta.
    let mut paths = Paths::new("d-lia", &[(40, 100), (40, 100)]);
    let (mut left, mut keep) = (2.0f64, 0.5f64);
    for acknowledgements in [0, 0, 300, 0, 0, 0, 0, 0, 0, 20] {
        (0..acknowledgements).for_each(|_| paths.ack(0));
        let window = paths.0[0].window();
        keep = (0.25 * (left / window).min(1.0) + 0.75 * keep).clamp(0.5, 0.9);
        left = keep * window;
        paths.lose(0);
        let got = paths.0[0].window();
        assert!((got - left).abs() < 0.01, "{got}, expected {left}");
        left = got;
    }
    assert!(keep > 0.8, "losses right after losses hardly cut: {keep}");
}

#[test]
fn wvegas_shares_the_queue_by_the_rates() {
    let mut paths = Paths::new("wvegas", &[(40, 100), (20, 100)]);
    // A quarter of each RTT is queueing delay: ten and five segments are queued.
    let mut seen = Vec::new();
    for _ in 0..6 {
        for place in 0..2 {
            let segments = paths.0[place].cwnd() / MSS;
            paths.0[place].c.srtt = Span::from_millis(100);
            paths.0[place].c.min_rtt = Span::from_millis(75);
            (0..segments).for_each(|_| paths.ack(place));
        }
        let alphas = [0, 1].map(|place| {
            let mut alpha = 0;
            paths.0[place].state.trace(&mut |field, value| {
                if field.name == "alpha_segments" {
                    alpha = value;
                }
            });
            alpha
        });
        seen.push(alphas);
    }
    let [first, second] = seen[seen.len() - 1];
    let (x0, x1) = (paths.0[0].state.disclosed() as f64, paths.0[1].state.disclosed() as f64);
    assert!(x0 > 0.0 && x1 > 0.0);
    assert_eq!(first, ((10.0 * x0 / (x0 + x1)) as u64).max(2), "{seen:?}");
    assert_eq!(second, ((10.0 * x1 / (x0 + x1)) as u64).max(2), "{seen:?}");
}

#[test]
fn wvegas_drains_a_queue_that_has_doubled_and_not_one_that_is_not_there() {
    let mut paths = Paths::new("wvegas", &[(20, 100)]);
    let ack = |paths: &mut Paths, ms: u64| {
        paths.0[0].c.srtt = Span::from_millis(ms);
        paths.ack(0);
    };
    (0..120).for_each(|_| ack(&mut paths, 100));
    let grown = paths.0[0].cwnd();
    assert!(grown >= 20 * MSS, "no queue, no draining: {grown}");
    (0..90).for_each(|_| ack(&mut paths, 104));
    // The first round of the longer delay has samples of both delays.
    let mut least = f64::MAX;
    let mut before = 0.0;
    for _ in 0..90 {
        let window = paths.0[0].window();
        ack(&mut paths, 112);
        if paths.0[0].window() < 0.8 * window {
            (least, before) = (paths.0[0].window(), window);
            break;
        }
    }
    let empty = before * 100.0 / 112.0;
    assert!((least / (empty / 2.0) - 1.0).abs() < 0.05, "{before} to {least}, empty {empty}");
}

#[test]
fn mpfast_shares_the_segments_to_be_queued_by_the_rates() {
    let share = |paths: &Paths, place: usize| {
        let mut share = 0;
        paths.0[place].state.trace(&mut |field, value| {
            if field.name == "share_q16" {
                share = value;
            }
        });
        share as f64 / Ratio::ONE.0 as f64
    };
    let paths = Paths::new("mpfast-approx", &[(30, 100), (10, 200)]);
    assert!((share(&paths, 0) - 300.0 / 350.0).abs() < 1e-4);
    assert!((share(&paths, 1) - 50.0 / 350.0).abs() < 1e-4);
    let alone = Paths::new("mpfast-approx", &[(30, 100)]);
    assert_eq!(share(&alone, 0), 1.0);
}

#[test]
fn a_price_takes_its_share_of_lias_increase() {
    let quarter = Ratio::of(1, 4).0;
    let paths = with("emreno-approx", "price", quarter, &[(20, 50), (10, 100)]);
    let free = Paths::new("lia", &[(20, 50), (10, 100)]);
    for place in 0..2 {
        assert_near(paths.increase(place), 0.75 * free.increase(place), "three quarters");
    }
}

#[test]
fn an_empty_group_and_a_coarse_clock_do_not_change_growth() {
    let mut paths = Paths::new("lia", &[(10, 100)]);
    let path = &mut paths.0[0];
    path.state.on_group(&path.p, &path.c, &Group::EMPTY);
    assert_near(paths.increase(0), 0.1, "Reno");
    let instant = PathView { cwnd: 10 * MSS, srtt: Span::ZERO, ..PathView::EMPTY };
    let group = Group::new([instant, instant]).seen_from(0, 0);
    let p = begins_at("lia", 10 * MSS, MSS);
    let mut both = Paths::with([(p, 0), (p, 0)]);
    let path = &mut both.0[0];
    path.state.on_group(&p, &path.c, &group);
    assert_near(both.increase(0), 0.025, "equal though no time passes");
}
