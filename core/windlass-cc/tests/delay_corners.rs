//! Corner cases that implementations of algorithms with delay, bandwidth or marks often get wrong, each
//! as a test.

use crate::common::hand::{Hand, MS_40, MS_60, MSS};
use crate::common::{avoidance, begins_at};
use proptest::prelude::*;
use windlass_cc::compound::three_quarters_power;
use windlass_cc::{Ack, AnyController, AnyParams, Ecn, Phase, Span, Time, Undo, flags};

const OURS: [&str; 8] =
    ["westwood", "veno", "vegas", "fast", "yeah", "compound", "ledbat", "dctcp"];

#[test]
fn only_dctcp_wants_every_mark() {
    for id in OURS {
        let exact = AnyParams::by_name(id).unwrap().requirements().ecn == Ecn::Exact;
        assert_eq!(exact, id == "dctcp", "{id}");
    }
}

#[test]
fn westwood_counts_a_duplicate_once_and_the_hole_when_it_is_filled() {
    // 20 segments per RTT, of which the first is lost: 19 duplicates that deliver a segment each, then
    // one acknowledgement of 20 that delivers the retransmitted segment.
    let mut hand = Hand::new(avoidance("westwood", 20 * MSS));
    let spacing = Span(MS_40.0 / 20);
    for _ in 0..100 {
        for _ in 0..19 {
            hand.ack(
                spacing,
                Span::NONE,
                Ack { acked: 0, delivered: MSS, duplicate: true, ..Ack::default() },
            );
        }
        hand.ack(spacing, MS_40, Ack { delivered: MSS, ..Ack::of(20 * MSS) });
    }
    let seen = hand.traced("bandwidth_Bps");
    let expected = 20.0 * MSS as f64 / 0.040;
    assert!((seen as f64 - expected).abs() < 0.02 * expected, "{seen} B/s, not {expected}");
}

#[test]
fn westwood_is_not_fooled_by_compressed_acknowledgements() {
    // All acknowledgements of a round within a millisecond: rates per acknowledgement are forty times
    // too high, and the rate per RTT is correct.
    let mut hand = Hand::new(avoidance("westwood", 20 * MSS));
    for _ in 0..100 {
        hand.ack(Span::from_millis(39), MS_40, Ack::of(MSS));
        for _ in 1..20 {
            hand.ack(Span(1_000_000 / 19), MS_40, Ack::of(MSS));
        }
    }
    let seen = hand.traced("bandwidth_Bps");
    assert!((450_000..=550_000).contains(&seen), "{seen} B/s");
}

#[test]
fn westwood_does_not_take_silence_for_a_slow_path() {
    let mut hand = Hand::new(avoidance("westwood", 20 * MSS));
    (0..30).for_each(|_| hand.round(MS_40));
    let before = hand.state;
    hand.c.now += Span::from_secs(3_600);
    hand.state.on_idle_restart(&hand.p, &hand.c, Span::from_secs(3_600), false);
    hand.round(MS_40);
    let rate = |state: &AnyController| {
        let mut seen = 0;
        state.trace(&mut |_, value| seen = value);
        seen as f64
    };
    assert!(rate(&hand.state) > 0.95 * rate(&before));
}

#[test]
fn westwood_without_an_estimate_halves_as_reno() {
    let mut hand = Hand::new(avoidance("westwood", 20 * MSS));
    hand.c.next_id = 20 * MSS;
    hand.phase(Phase::Open, Phase::Recovery);
    assert_eq!(hand.ssthresh(), 10 * MSS);
}

/// The window after two rounds at 40 ms, two at `rtt`, and a loss or a timeout, and the flight before
/// it, both in bytes.
fn after_a_loss(id: &str, rtt: Span, to: Phase) -> (f64, f64) {
    let mut hand = Hand::new(avoidance(id, 30 * MSS));
    for rtt in [MS_40, MS_40, rtt, rtt] {
        hand.round(rtt);
    }
    let flight = hand.c.next_id - hand.c.una;
    hand.phase(Phase::Open, to);
    (hand.ssthresh() as f64, flight as f64)
}

#[test]
fn veno_takes_a_loss_without_a_queue_for_a_random_one() {
    // 30·(42 - 40)/42 = 1.4 segments are queued, then 10.
    let (kept, flight) = after_a_loss("veno", Span::from_millis(42), Phase::Recovery);
    assert!((kept / flight - 0.8).abs() < 0.001, "{kept} of {flight}");
    let (kept, flight) = after_a_loss("veno", MS_60, Phase::Recovery);
    assert!((kept / flight - 0.5).abs() < 0.001, "{kept} of {flight}");
}

#[test]
fn veno_never_takes_a_timeout_or_a_mark_for_random() {
    for to in [Phase::Loss, Phase::Cwr] {
        let (kept, flight) = after_a_loss("veno", MS_40, to);
        assert!((kept / flight - 0.5).abs() < 0.001, "{to:?}: {kept} of {flight}");
    }
}

#[test]
fn veno_halves_at_a_loss_before_it_has_measured() {
    let mut hand = Hand::new(avoidance("veno", 30 * MSS));
    hand.c.next_id = 30 * MSS;
    hand.phase(Phase::Open, Phase::Recovery);
    assert_eq!(hand.ssthresh(), 15 * MSS);
}

#[test]
fn vegas_takes_a_longer_route_for_congestion() {
    // The minimum RTT belongs to the old route, so the window decreases.
    let mut hand = Hand::new(avoidance("vegas", 30 * MSS));
    (0..5).for_each(|_| hand.round(MS_40));
    (0..200).for_each(|_| hand.round(MS_60));
    // W·20/60 <= 3.
    assert!(hand.cwnd() <= 9 * MSS, "{}", hand.cwnd());
    assert!(hand.cwnd() >= 2 * MSS);
}

#[test]
fn vegas_never_closes_below_two_segments() {
    let mut p = avoidance("vegas", 5 * MSS);
    assert!(p.set(0, 0) && p.set(1, 1));
    let mut hand = Hand::new(p);
    hand.round(Span::from_millis(1));
    (0..100).for_each(|_| hand.round(Span::from_secs(10)));
    assert_eq!(hand.cwnd(), 2 * MSS);
}

#[test]
fn vegas_grows_one_segment_per_rtt_also_with_delayed_acknowledgements() {
    let mut hand = Hand::new(avoidance("vegas", 20 * MSS));
    let from = hand.cwnd() as f64;
    let mut acked = 0.0;
    while acked < 10.0 {
        acked += 2.0 * MSS as f64 / hand.cwnd() as f64;
        hand.ack(Span::from_millis(4), MS_40, Ack::of(2 * MSS));
    }
    let grown = (hand.cwnd() as f64 - from) / MSS as f64;
    // The first acknowledgement ends a separate round without an estimate, in which Vegas grows as
    // Reno.
    assert!((9.8..=10.2).contains(&grown), "{grown} segments in ten windows");
}

#[test]
fn a_delayed_acknowledgement_alone_in_its_round_does_not_move_linux_vegas() {
    // One acknowledgement per round, each 200 ms late: the minimum needs at least three samples.
    let mut p = avoidance("vegas", 2 * MSS);
    assert!(p.set(2, 1));
    let mut hand = Hand::new(p);
    hand.ack(MS_40, MS_40, Ack::of(MSS));
    for _ in 0..20 {
        hand.ack(MS_40, Span::from_millis(240), Ack::of(2 * MSS));
    }
    assert!(hand.cwnd() > 2 * MSS, "it grows as Reno");
}

#[test]
fn fast_at_most_doubles_however_large_alpha_is() {
    let mut p = avoidance("fast", 4 * MSS);
    assert!(p.set(0, 100_000) && p.set(1, 1 << 16) && p.set(2, 1));
    let mut hand = Hand::new(p);
    for _ in 0..6 {
        let before = hand.cwnd();
        hand.round(MS_40);
        assert!(hand.cwnd() <= 2 * before, "{} from {before}", hand.cwnd());
    }
    assert!(hand.cwnd() > 30 * MSS, "{}", hand.cwnd());
}

#[test]
fn fast_holds_after_an_idle_restart_until_its_law_has_spoken() {
    let mut p = begins_at("fast", 4 * MSS, 4 * MSS);
    assert!(p.set(2, 1));
    let mut hand = Hand::new(p);
    (0..10).for_each(|_| hand.round(MS_40));
    hand.state.on_idle_restart(&hand.p, &hand.c, Span::from_secs(1), true);
    assert_eq!(hand.cwnd(), 4 * MSS);
}

#[test]
fn yeah_counts_a_short_delay_as_fast_mode() {
    // 1/8 of 40 ms is 5 ms; ns-3 computes 1/8 = 0. Above it, Reno's growth: a tenth at 1000.
    let growth = |rtt| {
        let mut hand = Hand::new(avoidance("yeah", 1_000 * MSS));
        assert!(hand.p.set(0, 1_000), "delay alone is to decide");
        hand.round(MS_40);
        hand.round(rtt);
        let before = hand.cwnd();
        hand.round(rtt);
        (hand.cwnd() - before) as f64 / MSS as f64
    };
    assert!((9.0..11.0).contains(&growth(Span::from_micros(44_900))));
    assert!((0.9..1.1).contains(&growth(Span::from_micros(45_100))));
}

#[test]
fn yeah_assumes_no_reno_flow_after_fifty_fast_rounds_without_a_loss() {
    let mut hand = Hand::new(avoidance("yeah", 20 * MSS));
    hand.round(MS_40);
    (0..2).for_each(|_| hand.round(MS_60));
    let assumed = hand.traced("reno_window");
    assert!(assumed >= 10, "half of the window in slow mode: {assumed}");
    (0..45).for_each(|_| hand.round(MS_40));
    // The loss halves the other flow's window, and the count of fast rounds begins again.
    hand.phase(Phase::Open, Phase::Recovery);
    hand.c.una = hand.c.next_id;
    hand.phase(Phase::Recovery, Phase::Open);
    (0..45).for_each(|_| hand.round(MS_40));
    assert_eq!(hand.traced("reno_window"), assumed / 2);
    (0..15).for_each(|_| hand.round(MS_40));
    assert_eq!(hand.traced("reno_window"), 2);
}

#[test]
fn compound_loses_its_delay_window_and_its_base_at_a_timeout() {
    let mut hand = Hand::new(avoidance("compound", 100 * MSS));
    (0..10).for_each(|_| hand.round(MS_40));
    assert!(hand.traced("dwnd_B") > 10 * MSS);
    hand.c.srtt = MS_60;
    hand.phase(Phase::Open, Phase::Loss);
    assert_eq!(hand.traced("dwnd_B"), 0);
    assert_eq!(hand.traced("gamma_q16"), 30 << 16);
    // The base RTT is 60 ms now: at 60 ms the queue is empty and the delay window grows again.
    hand.phase(Phase::Loss, Phase::Open);
    (0..60).for_each(|_| hand.round(MS_60));
    assert!(hand.traced("dwnd_B") > 0);
}

#[test]
fn compound_is_reno_below_its_low_window() {
    let mut compound = Hand::new(avoidance("compound", 10 * MSS));
    let mut reno = Hand::new(avoidance("reno", 10 * MSS));
    for _ in 0..25 {
        compound.round(MS_40);
        reno.round(MS_40);
        assert_eq!(compound.cwnd(), reno.cwnd());
    }
}

#[test]
fn ledbat_takes_the_queue_that_it_finds_for_the_path() {
    // The second flow takes the first flow's queue for the empty path, so its estimate of the queue is
    // zero.
    let mut hand = Hand::new(avoidance("ledbat", 10 * MSS));
    (0..20).for_each(|_| hand.round(Span::from_millis(140)));
    assert!(hand.cwnd() > 25 * MSS, "a flow that saw 140 ms only takes them for the path");
}

#[test]
fn ledbat_grows_no_further_than_a_segment_beyond_the_flight() {
    let mut hand = Hand::new(avoidance("ledbat", 20 * MSS));
    // Five segments were in flight before the acknowledgement of one.
    (hand.c.min_rtt, hand.c.una, hand.c.flight_size) = (MS_40, MSS, 4 * MSS);
    let ack = Ack { rtt: MS_40, ..Ack::of(MSS) };
    hand.state.on_ack(&hand.p, &hand.c, &ack);
    assert_eq!(hand.cwnd(), 6 * MSS);
}

#[test]
fn ledbat_keeps_two_segments_at_any_delay() {
    let mut hand = Hand::new(avoidance("ledbat", 50 * MSS));
    hand.round(MS_40);
    (0..50).for_each(|_| hand.round(Span::from_secs(5)));
    assert_eq!(hand.cwnd(), 2 * MSS);
}

#[test]
fn one_late_sample_does_not_move_ledbat() {
    // The minimum of four samples: a single late sample has no effect.
    let run = |late: Option<u64>| {
        let mut hand = Hand::new(avoidance("ledbat", 20 * MSS));
        for at in 0..40 {
            let rtt = if late == Some(at) { Span::from_secs(1) } else { MS_60 };
            hand.ack(Span::from_millis(3), rtt, Ack::of(MSS));
        }
        hand.cwnd()
    };
    assert_eq!(run(None), run(Some(20)));
}

#[test]
fn an_undone_cut_gives_the_window_back_to_all_of_them() {
    for id in OURS {
        let mut hand = Hand::new(avoidance(id, 60 * MSS));
        (0..5).for_each(|_| hand.round(MS_40));
        let before = hand.cwnd();
        hand.phase(Phase::Open, Phase::Recovery);
        assert!(hand.cwnd() <= before, "{id}");
        hand.state.on_undo(&hand.p, &hand.c, Undo::Dsack);
        assert_eq!(hand.cwnd(), before, "{id}");
    }
}

#[test]
fn weeks_of_silence_leave_a_working_state() {
    for id in OURS {
        let mut hand = Hand::new(avoidance(id, 20 * MSS));
        (0..5).for_each(|_| hand.round(MS_40));
        let month = Span::from_secs(30 * 86_400);
        hand.c.now += month;
        hand.state.on_idle_restart(&hand.p, &hand.c, month, false);
        (0..50).for_each(|_| hand.round(MS_40));
        assert!(hand.cwnd() > 20 * MSS, "{id}: {}", hand.cwnd());
    }
}

#[test]
fn the_window_grows_again_from_its_minimum() {
    for id in OURS {
        let mut hand = Hand::new(avoidance(id, 20 * MSS));
        (0..5).for_each(|_| hand.round(MS_40));
        for _ in 0..10 {
            hand.phase(Phase::Open, Phase::Loss);
            hand.c.una = hand.c.next_id;
            hand.phase(Phase::Loss, Phase::Open);
        }
        assert_eq!(hand.cwnd(), MSS, "{id}");
        (0..60).for_each(|_| hand.round(MS_40));
        assert!(hand.cwnd() > 10 * MSS, "{id}: {}", hand.cwnd());
    }
}

proptest! {
    #[test]
    fn the_power_is_within_its_stated_precision(win_q in (1u64 << 16)..(1 << 48)) {
        let ours = three_quarters_power(win_q) as f64 / 65_536.0;
        let exact = (win_q as f64 / 65_536.0).powf(0.75);
        prop_assert!(ours <= exact * (1.0 + 1e-12), "{ours} above {exact}");
        prop_assert!(ours >= exact * (1.0 - 1.0 / 16_384.0), "{ours} of {exact}");
    }

    #[test]
    fn no_algorithm_grows_while_the_window_does_not_limit_the_sender(
        id in prop::sample::select(&OURS[..]),
        rtts in prop::collection::vec(1_000_000..400_000_000u64, 1..200),
        segments in 1..200u64,
        ce in prop::collection::vec(any::<bool>(), 200),
    ) {
        let mut hand = Hand::new(avoidance(id, segments * MSS));
        for (rtt, ce) in rtts.iter().zip(&ce) {
            hand.c.flags = flags::APP_LIMITED;
            let before = hand.cwnd();
            let ack = Ack { ce: u64::from(*ce) * MSS, ..Ack::of(MSS) };
            hand.ack(Span(*rtt / segments), Span(*rtt), ack);
            prop_assert!(hand.cwnd() <= before, "{} from {before}", hand.cwnd());
        }
    }

    #[test]
    fn delay_closes_a_window_without_leading_back_to_slow_start(
        id in prop::sample::select(&["vegas", "fast", "yeah", "compound", "ledbat", "dctcp"][..]),
        rtts in prop::collection::vec(20_000_000..2_000_000_000u64, 1..300),
        segments in 2..300u64,
    ) {
        let mut hand = Hand::new(avoidance(id, segments * MSS));
        for (at, rtt) in rtts.iter().enumerate() {
            let ce = if at % 7 == 0 { MSS } else { 0 };
            hand.ack(Span(*rtt / segments), Span(*rtt), Ack { ce, ..Ack::of(MSS) });
            prop_assert!(hand.ssthresh() <= hand.cwnd());
        }
    }
}

#[test]
fn time_is_read_as_a_difference_only() {
    for id in OURS {
        let run = |start: Time, offset: u64| {
            let mut hand = Hand::new(avoidance(id, 20 * MSS));
            (hand.c.now, hand.c.una, hand.c.next_id) = (start, offset, offset);
            hand.state = AnyController::init(&hand.p, &hand.c);
            let mut windows = Vec::new();
            for rtt in (40..90).cycle().take(120) {
                hand.round(Span::from_millis(rtt));
                windows.push(hand.cwnd());
            }
            windows
        };
        assert_eq!(run(Time::ZERO, 0), run(Time::from_secs(1 << 30), 1 << 50), "{id}");
    }
}
