//! DCTCP on a path whose queue marks, and its corner cases.

use crate::common::hand::{Hand, MS_40, MSS};
use crate::common::path::Path;
use crate::common::{avoidance, begins_at};
use windlass_cc::congestion_avoidance::CongestionAvoidance;
use windlass_cc::dctcp::{Dctcp, Params, Variant};
use windlass_cc::window::Window;
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Event, Phase, Ratio, Span, Time};

/// A path that holds 41 segments: a thousand per second, 40 ms and the segment's own service time.
fn path_of_41_segments(p: AnyParams) -> Path {
    Path::new(p, 1_000, Span::from_millis(40))
}

#[test]
fn dctcp_alpha_becomes_the_fraction_that_is_marked() {
    let mut path = path_of_41_segments(begins_at("dctcp", 20 * MSS, 20 * MSS));
    path.mark_above = Some(20);
    path.run_until(Time::from_secs(60));
    let (marked, delivered) = (path.marked, path.c.delivered);
    let (least, most) = path.range(240, |path| path.traced("alpha_ppm") as f64 * 1e-6);
    let fraction = (path.marked - marked) as f64 / (path.c.delivered - delivered) as f64;
    assert!(fraction > 0.01, "the queue marks: {fraction}");
    assert!(least < fraction && fraction < most, "{least}..{most} around {fraction}");
    assert!(most < 3.0 * fraction, "{most} of {fraction}");
}

#[test]
fn dctcp_keeps_the_queue_near_the_mark_and_the_link_busy() {
    let mut path = path_of_41_segments(begins_at("dctcp", 20 * MSS, 1 << 40));
    path.mark_above = Some(20);
    path.run_until(Time::from_secs(60));
    let (least, most) = path.range(60, |path| path.queued() as f64);
    assert!(least >= 1.0, "the link never idles: {least}");
    assert!(most <= 30.0, "{most}");
}

#[test]
fn dctcp_cuts_by_half_of_alpha_once_a_window() {
    let mut hand = Hand::new(avoidance("dctcp", 100 * MSS));
    // A fifth of the bytes of each window is marked, for a long time: alpha is a fifth.
    let mut cuts = Vec::new();
    for _ in 0..200 {
        let segments = hand.cwnd() / MSS;
        for at in 0..segments {
            let before = hand.cwnd();
            let ce = if at % 5 == 0 { MSS } else { 0 };
            hand.ack(Span(MS_40.0 / segments), MS_40, Ack { ce, ..Ack::of(MSS) });
            if hand.cwnd() < before {
                cuts.push((hand.c.una, hand.cwnd() as f64 / before as f64));
            }
        }
        // Reset, so that the fraction stays a fifth.
        if hand.cwnd() < 60 * MSS {
            hand = Hand { state: reset(&hand, 100), ..hand };
        }
    }
    assert!(cuts.len() > 20, "{}", cuts.len());
    let (first, last) = (cuts[0].1, cuts[cuts.len() - 1].1);
    assert!((first - 0.5).abs() < 0.001, "alpha is one at first: kept {first}");
    assert!((last - 0.9).abs() < 0.03, "alpha is a fifth: kept {last}");
}

/// The same state with another window, by a change of the segment size and back.
fn reset(hand: &Hand, segments: u64) -> AnyController {
    let mut state = hand.state;
    let old = u32::try_from(hand.cwnd() / segments).unwrap();
    state.apply(&hand.p, &hand.c, &Event::Mss(old));
    state
}

#[test]
fn dctcp_does_not_answer_marks_that_a_cut_has_answered() {
    let mut hand = Hand::new(avoidance("dctcp", 100 * MSS));
    let marked = Ack { ce: MSS, ..Ack::of(MSS) };
    hand.ack(Span::from_millis(1), MS_40, marked);
    let cut = hand.cwnd();
    assert_eq!(cut, 50 * MSS);
    let answered = hand.c.next_id;
    while hand.c.una + MSS <= answered {
        hand.ack(Span::from_millis(1), MS_40, marked);
        assert_eq!(hand.cwnd(), cut, "neither cut again nor opened by a marked acknowledgement");
    }
    hand.ack(Span::from_millis(1), MS_40, marked);
    assert!(hand.cwnd() < cut, "data sent after the cut is marked: another");
}

#[test]
fn dctcp_halves_at_a_loss_for_any_alpha() {
    let mut hand = Hand::new(avoidance("dctcp", 100 * MSS));
    (0..100).for_each(|_| hand.round(MS_40));
    let flight = hand.c.next_id - hand.c.una;
    hand.phase(Phase::Open, Phase::Recovery);
    assert_eq!(hand.ssthresh(), flight / 2);
}

#[test]
fn dctcp_leaves_slow_start_at_the_first_mark() {
    let mut hand = Hand::new(begins_at("dctcp", 10 * MSS, 1 << 40));
    hand.round(MS_40);
    hand.ack(Span::from_millis(1), MS_40, Ack { ce: MSS, ..Ack::of(MSS) });
    assert_eq!(hand.ssthresh(), hand.cwnd());
}

#[test]
fn dctcp_alpha_decays_to_nothing_without_marks() {
    // With few fractional bits alpha - alpha/16 stops far from zero: at 16 of 1024 it is 1.6 %.
    let mut hand = Hand::new(avoidance("dctcp", 4 * MSS));
    (0..400).for_each(|_| hand.round(MS_40));
    assert_eq!(hand.traced("alpha_ppm"), 0);
}

/// Alpha in 1024ths after each of many windows, with `marked` of `delivered` segments marked.
fn alpha_in_1024ths(variant: Variant, first: Ratio, marked: u64, delivered: u64) -> Vec<f64> {
    let p = Params { initial_alpha: first, variant, ..Params::default() };
    let mut c = Conn::new(MSS as u32);
    let mut w = Window::new(&c, 10 * MSS, 10 * MSS);
    let mut state = Dctcp::init(&p, &c);
    let window = |_| {
        c.una = c.next_id;
        c.next_id += delivered * MSS;
        let ce = marked * MSS;
        state.observe(&p, &c, &Ack { ce, ..Ack::of(delivered * MSS) }, &mut w);
        state.alpha_ppm() as f64 * 1024.0 / 1e6
    };
    (0..200).map(window).collect()
}

#[test]
fn the_kernels_alpha_stops_when_decrease_and_increase_round_to_the_same() {
    let last = |first, marked, delivered| {
        *alpha_in_1024ths(Variant::Linux, first, marked, delivered).last().unwrap()
    };
    // Each step adds 64·fraction rounded down and subtracts a sixteenth rounded down. From above, alpha
    // stops below 16 times the added value plus one.
    for (marked, delivered, stops) in [(1, 40, 31.0), (1, 20, 63.0), (1, 2, 527.0), (1, 1, 1024.0)]
    {
        let alpha = last(Ratio::ONE, marked, delivered);
        assert!((alpha - stops).abs() < 0.01, "{marked} of {delivered}: {alpha}");
    }
    // One mark in 65 adds zero, and below 16 all of alpha is subtracted. From zero, one is added, and
    // subtracted again.
    assert_eq!(last(Ratio::ONE, 1, 65), 0.0);
    assert!((last(Ratio(0), 1, 40) - 1.0).abs() < 0.01);
}

#[test]
fn the_kernels_alpha_excludes_the_acknowledgement_that_ends_the_window() {
    // The first window has no data yet: a sixteenth is subtracted and zero added.
    let linux = alpha_in_1024ths(Variant::Linux, Ratio::ONE, 1, 1);
    assert!(
        (linux[0] - 960.0).abs() < 0.01 && (linux[1] - 964.0).abs() < 0.01,
        "{:?}",
        &linux[..2]
    );
    // The RFC's window ends beyond the data sent in it, one of these acknowledgements later.
    let rfc = alpha_in_1024ths(Variant::Rfc, Ratio::ONE, 0, 1);
    assert!((rfc[0] - 1024.0).abs() < 0.01 && (rfc[1] - 960.0).abs() < 0.01, "{:?}", &rfc[..2]);
}
