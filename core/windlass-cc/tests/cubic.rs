//! CUBIC's rules at work: sequences computed by hand from RFC 9438.

use crate::common::chosen;
use crate::common::flow::{Dice, Flow, Step};
use windlass_cc::cubic::Params;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{Ack, AnyParams, Parameters, Ratio, Setup, Span, Undo};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn cubic(cwnd: u64, ssthresh: u64) -> Flow {
    Flow::new("cubic", 1_460, cwnd, ssthresh)
}

/// Acknowledgements of one segment each, for `rounds` RTTs of 100 ms.
fn clocked(flow: &mut Flow, rounds: u64) {
    let until = flow.c.now.0 + rounds * 100 * MS;
    while flow.c.now.0 < until {
        let gap = (100.0 * MS as f64 / flow.segments()) as u64;
        flow.ack(gap, 100 * MS, 1);
    }
}

// RFC 9438-4.2-2
#[test]
fn after_a_loss_the_window_is_back_at_the_maximum_after_k_seconds() {
    let mut flow = cubic(1_000, 1_000);
    flow.lose();
    flow.repair(100 * MS);
    assert!((flow.segments() - 700.0).abs() < 0.1);
    // K = cbrt(1000·0.3/0.4) = 9.086 s.
    clocked(&mut flow, 91);
    assert!((flow.segments() - 1_000.0).abs() < 0.5, "{}", flow.segments());
    let k = flow.traced("k_ns") as f64 * 1e-9;
    assert!((k - (300f64 / 0.4).cbrt()).abs() < 2e-3, "{k}");
    // Ten seconds later: 0.4·10³ segments more.
    clocked(&mut flow, 100);
    assert!((flow.segments() - 1_400.0).abs() < 15.0, "{}", flow.segments());
    flow.assert_close(16.0, 1e-4);
}

#[test]
fn growth_does_not_depend_on_the_round_trip_time() {
    let after = |rtt: u64| {
        let mut flow = cubic(1_000, 1_000);
        flow.lose();
        flow.repair(rtt);
        let until = flow.c.now.0 + 15 * SECOND;
        while flow.c.now.0 < until {
            let gap = (rtt as f64 / flow.segments()) as u64;
            flow.ack(gap, rtt, 1);
        }
        flow.segments()
    };
    let (short, long) = (after(50 * MS), after(200 * MS));
    // 0.4·(15 - 9.09)³ = 83 segments above 1000.
    assert!((short - 1_083.0).abs() < 8.0 && (long - 1_083.0).abs() < 8.0, "{short} {long}");
}

// RFC 9438-5.1-1
#[test]
fn the_average_window_under_periodic_loss_follows_equation_6() {
    // Deterministic loss of one in 1/p packets; RFC 9438 table 1 has 1054 at p = 1e-5, 0.1 s.
    let mut flow = cubic(1_000, 1_000);
    let (mut acked, mut since, mut area, mut time) = (0u64, 0u64, 0.0, 0.0);
    while acked < 5_000_000 {
        let w = flow.segments();
        let gap = (100.0 * MS as f64 / w) as u64;
        flow.ack(gap, 100 * MS, 1);
        (acked, since) = (acked + 1, since + 1);
        if acked > 1_000_000 {
            area += w * gap as f64;
            time += gap as f64;
        }
        if since == 100_000 {
            flow.lose();
            flow.repair(0);
            since = 0;
        }
    }
    let average = area / time;
    assert!((average / 1_054.0 - 1.0).abs() < 0.03, "{average}");
}

// RFC 9438-4.3-1
#[test]
fn a_small_window_grows_at_least_as_reno_would() {
    // RTT 10 ms, 20 segments: the cubic takes seconds for the growth of Reno in 20 rounds.
    let mut flow = cubic(20, 20);
    flow.lose();
    flow.repair(10 * MS);
    let start = flow.segments();
    let alpha = 3.0 * 0.3 / 1.7;
    for _ in 0..4 {
        for _ in 0..flow.segments() as u64 {
            flow.ack(500_000, 10 * MS, 1);
        }
    }
    let gained = flow.segments() - start;
    assert!((gained / (4.0 * alpha) - 1.0).abs() < 0.15, "{gained}");
    // Above the window before the cut, one segment per RTT.
    while flow.segments() < 20.5 {
        flow.ack(500_000, 10 * MS, 1);
    }
    let before = flow.segments();
    for _ in 0..before as u64 {
        flow.ack(500_000, 10 * MS, 1);
    }
    let gained = flow.segments() - before;
    assert!((gained - 1.0).abs() < 0.05, "{gained}");
}

// RFC 9438-4.7-1
#[test]
fn a_second_loss_below_the_maximum_lowers_it_further() {
    let mut flow = cubic(100, 100);
    flow.lose();
    flow.repair(MS);
    assert_eq!(flow.traced("w_max_q6"), 100 * 64);
    flow.lose();
    flow.repair(MS);
    // 70·(1 + 0.7)/2
    let w_max = flow.traced("w_max_q6") as f64 / 64.0;
    assert!((w_max - 59.5).abs() < 0.03, "{w_max}");
}

// RFC 9438-4.8-1, 9438-4.8-2
#[test]
fn after_a_timeout_the_first_stage_begins_at_its_own_window() {
    let mut flow = cubic(100, 100);
    flow.timeout(SECOND);
    while flow.segments() < 70.0 {
        flow.ack(MS, 100 * MS, 1);
    }
    flow.ack(MS, 100 * MS, 1);
    flow.ack(MS, 100 * MS, 1);
    assert_eq!(flow.traced("k_ns"), 0);
    let w_max = flow.traced("w_max_q6") as f64 / 64.0;
    assert!((69.9..71.5).contains(&w_max), "{w_max}");
}

// RFC 9438-4.10-1
#[test]
fn the_same_after_slow_start_without_a_loss() {
    let mut flow = cubic(10, 40);
    for _ in 0..40 {
        flow.ack(MS, 100 * MS, 1);
    }
    assert_eq!((flow.traced("k_ns"), flow.traced("w_max_q6")), (0, 40 * 64));
    flow.assert_close(1.0, 1e-5);
}

// RFC 9438-4.9.2-1
#[test]
fn undo_brings_back_everything_that_the_cut_changed() {
    let mut flow = cubic(500, 500);
    flow.lose();
    flow.repair(100 * MS);
    clocked(&mut flow, 30);
    let mut untouched = flow.ours;
    let before = flow.c;
    flow.lose();
    flow.c.now.0 += 100 * MS;
    flow.undo();
    // From here on as without the loss, except for the estimate's 1/64 segment.
    let mut c = before;
    for n in 1..=3_000u64 {
        c.now.0 = before.now.0 + 100 * MS + n * MS / 5;
        let ack = Ack { rtt: Span(100 * MS), ..Ack::of(1_460) };
        flow.ours.on_ack(&flow.p, &c, &ack);
        untouched.on_ack(&flow.p, &c, &ack);
        let (ours, theirs) = (flow.cwnd(), untouched.control(&flow.p, &c).cwnd);
        assert!(ours.abs_diff(theirs) <= 1_460 / 32, "{n}: {ours} {theirs}");
    }
    // 0.4·(7.21 - 3.7)³ segments below 500, from 471.
    assert!(flow.segments() > 481.0, "it has grown meanwhile: {}", flow.segments());
}

// RFC 9438-4.9.2-1
#[test]
fn an_undo_long_after_the_window_has_grown_past_the_cut_changes_nothing() {
    let mut flow = cubic(50, 50);
    flow.lose();
    flow.repair(MS);
    while flow.segments() < 55.0 {
        flow.ack(10 * MS, 100 * MS, 1);
    }
    let before = flow.cwnd();
    let fields = ["w_max_q6", "k_ns", "w_est"].map(|name| flow.traced(name));
    flow.ours.on_undo(&flow.p, &flow.c, Undo::Dsack);
    assert_eq!(flow.cwnd(), before);
    assert_eq!(["w_max_q6", "k_ns", "w_est"].map(|name| flow.traced(name)), fields);
}

// RFC 9438-4.2-1
#[test]
fn idle_time_does_not_make_the_window_jump() {
    let mut flow = cubic(500, 500);
    flow.lose();
    flow.repair(100 * MS);
    clocked(&mut flow, 20);
    let mut busy = cubic(500, 500);
    (busy.ours, busy.c) = (flow.ours, flow.c);
    flow.idle(3_600 * SECOND, false);
    for _ in 0..500 {
        flow.ack(MS / 5, 100 * MS, 1);
        busy.ack(MS / 5, 100 * MS, 1);
    }
    assert_eq!(flow.cwnd(), busy.cwnd());
}

#[test]
fn the_restart_window_after_an_idle_time_is_not_left_at_once() {
    // Short RTTs: the estimate of Reno's window is larger.
    let mut flow = cubic(40, 8);
    flow.p.set_common(&Setup { initial_window: 10 * 1_460, ..flow.p.common() });
    for _ in 0..400 {
        flow.ack(MS / 10, 4 * MS, 1);
    }
    assert!(flow.segments() > 45.0);
    flow.idle(10 * SECOND, true);
    assert_eq!(flow.segments(), 10.0);
    // A segment for one RTT of ten segments: Reno's growth from the restart window.
    for n in 1..=10 {
        flow.ours.on_ack(&flow.p, &flow.c, &Ack::of(1_460));
        assert!(flow.segments() <= 10.0 + 0.101 * f64::from(n), "{}", flow.segments());
    }
}

// RFC 9438-4.2-1
#[test]
fn time_in_which_the_application_limits_the_sender_does_not_count() {
    let mut flow = cubic(500, 500);
    flow.lose();
    flow.repair(100 * MS);
    clocked(&mut flow, 20);
    let before = flow.segments();
    for _ in 0..600 {
        flow.step(Step::Unlimited { after: 100 * MS, rtt: 100 * MS });
    }
    assert_eq!(flow.segments(), before);
    flow.ack(MS / 5, 100 * MS, 1);
    // A minute would have increased it by half at once.
    assert!(flow.segments() - before < 0.1);
    clocked(&mut flow, 20);
    flow.assert_close(16.0, 1e-4);
}

#[test]
fn weeks_between_two_acknowledgements_increase_the_window_by_at_most_half() {
    for weeks in [1u64, 10, 1_000, 20_000] {
        let mut flow = cubic(100, 100);
        flow.lose();
        flow.repair(MS);
        flow.ack(MS, 100 * MS, 1);
        let before = flow.cwnd();
        flow.c.now.0 += weeks * 7 * 86_400 * SECOND;
        flow.ack(0, 100 * MS, 1);
        assert!(flow.cwnd() - before <= 731, "{weeks}: {} {before}", flow.cwnd());
        for _ in 0..10_000 {
            flow.ack(MS, 100 * MS, 1);
        }
        assert!(flow.cwnd() <= MAX_WINDOW);
    }
}

// RFC 9438-4.2-3
#[test]
fn the_target_is_at_most_half_a_window_ahead() {
    let mut dice = Dice::new(7);
    for _ in 0..200 {
        let mut flow = cubic(dice.roll(2, 1_000), 1);
        for _ in 0..200 {
            let before = flow.cwnd();
            flow.ack(dice.roll(MS, SECOND), dice.roll(MS, 3 * SECOND), 1);
            // Half a segment per segment, or Reno's growth.
            assert!(flow.cwnd() - before <= 1_460 / 2 + 1);
        }
    }
}

#[test]
fn a_mark_is_a_cut_with_its_own_share() {
    let flow =
        || Flow::with(chosen("cubic", &[("keep_ecn", Ratio::of(85, 100).0)]), 1_000, 100, 100);
    let mut marked = flow();
    marked.echo();
    assert!(marked.cwnd().abs_diff(85_000) <= 1);
    let mut lossy = flow();
    lossy.lose();
    assert!(lossy.cwnd().abs_diff(70_000) <= 2);
}

// RFC 9438-4.6-4
#[test]
fn the_threshold_is_at_least_two_segments() {
    let mut flow = cubic(2, 2);
    flow.lose();
    assert_eq!(flow.ssthresh(), 2 * 1_460);
}

#[test]
fn the_default_slow_start_is_hystart() {
    let p = AnyParams::by_name("cubic").expect("it is registered");
    assert_eq!(p.common().slow_start.info().id, "hystart");
}

// RFC 9438-4.6-2, 9438-5.1-1
#[test]
fn defaults_follow_the_rfc_and_the_ranges_admit_linux_values() {
    let p = Params::default();
    assert_eq!((p.c, p.keep), (Ratio(26_214), Ratio(45_875)));
    let old = Params::linux_2_6();
    for (place, param) in Params::TABLE.iter().enumerate() {
        assert!(param.kind.admits(old.get(place).unwrap()), "{}", param.name);
        assert!(param.kind.admits(p.get(place).unwrap()), "{}", param.name);
    }
}
