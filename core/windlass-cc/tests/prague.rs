//! TCP Prague: a model in `f64`, RTT independence, pacing, fallback, and the corner cases.

use crate::common::hand::{Hand, MS_40, MSS};
use crate::common::{avoidance, begins_at};
use windlass_cc::{Ack, AnyParams, Phase, Span, flags};

fn marked() -> Ack {
    Ack { ce: MSS, ..Ack::of(MSS) }
}

/// `prague` in congestion avoidance with other values of some parameters.
fn with(values: &[(&str, u64)], segments: u64) -> AnyParams {
    let mut p = avoidance("prague", segments * MSS);
    for (name, value) in values {
        let place = p.info().params.iter().position(|param| param.name == *name);
        assert!(p.set(place.expect("a parameter"), *value));
    }
    p
}

/// The rules in segments, for an RTT above the reference.
struct Model {
    w: f64,
    alpha: f64,
    window_end: u64,
    cut_end: u64,
    acked: f64,
    marked: f64,
    saw_mark: bool,
}

impl Model {
    fn ack(&mut self, una: u64, next: u64, marked: bool) {
        self.acked += 1.0;
        self.marked += f64::from(u8::from(marked));
        self.saw_mark |= marked;
        if una > self.window_end {
            if self.saw_mark {
                self.alpha += (self.marked / self.acked - self.alpha) / 16.0;
            }
            (self.window_end, self.acked, self.marked) = (next, 0.0, 0.0);
        }
        if marked && una > self.cut_end {
            self.cut_end = next;
            self.w = (self.w * (1.0 - self.alpha / 2.0)).max(2.0);
        }
        if !marked {
            self.w += 1.0 / self.w;
        }
    }
}

#[test]
fn prague_follows_its_model_acknowledgement_by_acknowledgement() {
    for seed in 1..20u64 {
        let mut hand = Hand::new(avoidance("prague", 40 * MSS));
        let mut model = Model {
            w: 40.0,
            alpha: 1.0,
            window_end: 0,
            cut_end: 0,
            acked: 0.0,
            marked: 0.0,
            saw_mark: false,
        };
        let (mut random, mut cuts) = (seed, 0);
        for at in 0..6_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let marked = (random >> 33) % 100 < (at / 100) % 4 * 11;
            let before = hand.cwnd();
            let ce = if marked { MSS } else { 0 };
            hand.ack(Span(MS_40.0 / 40), MS_40, Ack { ce, ..Ack::of(MSS) });
            model.ack(hand.c.una, hand.c.next_id, marked);
            cuts += u32::from(hand.cwnd() < before);
            let ours = hand.cwnd() as f64;
            assert!((ours - model.w * MSS as f64).abs() < 6.0, "{ours} B, {} segments", model.w);
            assert!((hand.traced("alpha_ppm") as f64 - model.alpha * 1e6).abs() < 3.0);
        }
        assert!(cuts > 50, "{cuts} cuts");
    }
}

#[test]
fn prague_keeps_alpha_until_the_first_mark() {
    let mut hand = Hand::new(avoidance("prague", 10 * MSS));
    (0..100).for_each(|_| hand.round(MS_40));
    assert_eq!(hand.traced("alpha_ppm"), 1_000_000);
    hand.ack(Span::from_millis(1), MS_40, marked());
    (0..16).for_each(|_| hand.round(MS_40));
    assert!(hand.traced("alpha_ppm") < 450_000, "fifteen sixteenths per RTT");
}

#[test]
fn prague_cuts_once_per_rtt() {
    let mut hand = Hand::new(avoidance("prague", 100 * MSS));
    hand.ack(Span::from_millis(1), MS_40, marked());
    let cut = hand.cwnd();
    assert_eq!(cut, 50 * MSS);
    let answered = hand.c.next_id;
    while hand.c.una + MSS <= answered {
        hand.ack(Span::from_millis(1), MS_40, marked());
        assert_eq!(hand.cwnd(), cut, "neither cut again nor grown by marked bytes");
    }
    hand.ack(Span::from_millis(1), MS_40, marked());
    assert!(hand.cwnd() < cut, "data sent after the cut are marked");
}

#[test]
fn prague_grows_by_a_segment_per_rtt_and_by_unmarked_bytes_only() {
    let mut hand = Hand::new(avoidance("prague", 100 * MSS));
    hand.round(MS_40);
    assert!(hand.cwnd().abs_diff(101 * MSS) < MSS / 50, "{}", hand.cwnd());
    // The RTT after a cut: half of the bytes are marked.
    hand.ack(Span::from_millis(1), MS_40, marked());
    let before = hand.cwnd();
    hand.round_with(MS_40, |at| if at % 2 == 0 { MSS } else { 0 });
    assert!(hand.cwnd().abs_diff(before + MSS / 2) < MSS / 50, "{} {before}", hand.cwnd());
}

/// Growth in segments over `ms` milliseconds without marks, from 20 segments, after the transition.
fn growth(rtt_ms: u64, ms: u64) -> f64 {
    let mut hand = Hand::new(with(&[("transition_rounds", 0)], 20));
    let rtt = Span::from_millis(rtt_ms);
    hand.round(rtt);
    let (from, before) = (hand.c.now, hand.cwnd());
    while hand.c.now.since(from) < Span::from_millis(ms) {
        hand.round(rtt);
    }
    (hand.cwnd() - before) as f64 / MSS as f64
}

#[test]
fn the_rate_of_prague_grows_by_the_same_amount_at_all_short_rtts() {
    // The window per RTT of 25 ms grows by a segment in 25 ms. At an RTT of R the rate has to grow by
    // the same amount, so that the window grows by R/25 per 25 ms, or (R/25)² per RTT.
    for rtt in [5, 10, 25] {
        let expected = 40.0 * rtt as f64 / 25.0;
        let got = growth(rtt, 1000);
        assert!((got - expected).abs() < 0.06 * expected, "{rtt} ms: {got} {expected}");
    }
    let got = growth(50, 1000);
    assert!((got - 20.0).abs() < 1.2, "one segment per RTT above the reference: {got}");
}

#[test]
fn prague_with_a_short_rtt_cuts_once_per_reference_rtt_after_the_transition() {
    let cuts = |transition: u64| {
        let values = [("transition_rounds", transition), ("initial_alpha", 0)];
        let mut hand = Hand::new(with(&values, 1_000));
        let mut cuts = 0;
        for _ in 0..100 {
            // A whole window in an RTT of 5 ms, a tenth of it marked.
            let (before, rtt) = (hand.cwnd(), Span::from_millis(5));
            hand.ack(rtt, rtt, Ack { ce: before / 10, ..Ack::of(before) });
            cuts += u32::from(hand.cwnd() < before);
        }
        cuts
    };
    // In 500 ms.
    assert!((19..=20).contains(&cuts(0)), "{}", cuts(0));
    assert!(cuts(1_000) > 90, "{}", cuts(1_000));
}

#[test]
fn prague_paces_at_the_window_per_rtt_and_at_twice_this_rate_far_below_the_threshold() {
    let pacing = |p: AnyParams| {
        let mut hand = Hand::new(p);
        hand.ack(Span::from_millis(1), MS_40, Ack::of(MSS));
        (hand.state.control(&hand.p, &hand.c).pacing.0, hand.cwnd() * 25)
    };
    let (rate, expected) = pacing(avoidance("prague", 100 * MSS));
    assert_eq!(rate, expected);
    let (rate, expected) = pacing(begins_at("prague", 10 * MSS, 1 << 40));
    assert_eq!(rate, 2 * expected);
}

#[test]
fn prague_without_ecn_is_reno() {
    let rtt = Span::from_millis(10);
    let [mut prague, mut reno] =
        [with(&[("transition_rounds", 0)], 20), avoidance("reno", 20 * MSS)].map(Hand::new);
    for hand in [&mut prague, &mut reno] {
        hand.c.flags |= flags::WITHOUT_ECN;
        (0..50).for_each(|_| hand.round(rtt));
        hand.phase(Phase::Open, Phase::Recovery);
        hand.c.una = hand.c.next_id;
        hand.phase(Phase::Recovery, Phase::Open);
        (0..50).for_each(|_| hand.round(rtt));
    }
    assert_eq!(prague.cwnd(), reno.cwnd());
    assert_eq!(prague.state.control(&prague.p, &prague.c).pacing.0, 0);
}

#[test]
fn prague_halves_at_a_loss_for_any_alpha_and_leaves_slow_start_at_a_mark() {
    let mut hand = Hand::new(avoidance("prague", 100 * MSS));
    hand.ack(Span::from_millis(1), MS_40, marked());
    (0..100).for_each(|_| hand.round(MS_40));
    let flight = hand.c.next_id - hand.c.una;
    hand.phase(Phase::Open, Phase::Recovery);
    assert_eq!(hand.ssthresh(), flight / 2);
    let mut hand = Hand::new(begins_at("prague", 10 * MSS, 1 << 40));
    hand.round(MS_40);
    hand.ack(Span::from_millis(1), MS_40, marked());
    assert_eq!(hand.ssthresh(), hand.cwnd());
}
