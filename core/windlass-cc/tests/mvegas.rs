//! MVegas compared with the paper's equations: sequences computed by hand, and its equilibrium.

use crate::common::begins_at;
use crate::common::path::{MSS, Path};
use windlass_cc::loss_based::LossBased;
use windlass_cc::mvegas::{Decrement, MVegas, Offsets, Params};
use windlass_cc::recovery::LossRecovery;
use windlass_cc::slow_start::{Standard, StandardParams};
use windlass_cc::{Ack, Conn, Controller, Phase, Ratio, Setup, Span, Time};

const BASE: Span = Span::from_millis(100);

/// A connection in congestion avoidance, one acknowledgement for each round.
struct Hand {
    p: Setup<Params, StandardParams>,
    c: Conn,
    state: LossBased<MVegas, Standard>,
}

impl Hand {
    fn new(own: Params, segments: u64) -> Hand {
        let p = Setup {
            initial_window: segments * MSS,
            initial_ssthresh: segments * MSS,
            recovery: Some(LossRecovery::Sack),
            own,
            ..Setup::<Params, StandardParams>::default()
        };
        let c = Conn { min_rtt: BASE, ..Conn::new(MSS as u32) };
        Hand { p, c, state: LossBased::init(&p, &c) }
    }

    fn cwnd(&self) -> u64 {
        self.state.cwnd()
    }

    fn traced(&self, name: &str) -> f64 {
        let mut found = None;
        self.state.trace(&mut |field, value| {
            if field.name == name {
                found = Some(value as f64 / 65_536.0);
            }
        });
        found.expect("a field of the trace")
    }

    /// A round with `queued` queued segments; returns the change of the window in segments, alpha_t and
    /// beta_t.
    fn round(&mut self, queued: f64) -> (f64, f64, f64) {
        let cwnd = self.cwnd();
        let window = cwnd as f64 / MSS as f64;
        let rtt = Span((BASE.0 as f64 * window / (window - queued)).ceil() as u64);
        (self.c.una, self.c.next_id) = (self.c.next_id + 1, self.c.next_id + 1 + cwnd);
        self.state.on_ack(&self.p, &self.c, &Ack { rtt, ..Ack::of(cwnd) });
        let moved = (self.cwnd() as f64 - cwnd as f64) / MSS as f64;
        (moved, self.traced("alpha_t_q16"), self.traced("beta_t_q16"))
    }

    /// Runs the rounds (queued, moved, alpha_t, beta_t) in order.
    fn expect(&mut self, rounds: &[(f64, f64, f64, f64)]) {
        for (at, &(queued, moved, alpha, beta)) in rounds.iter().enumerate() {
            let got = self.round(queued);
            let close = |a: f64, b: f64| (a - b).abs() < 0.003;
            assert!(
                close(got.0, moved) && close(got.1, alpha) && close(got.2, beta),
                "round {}: queued {queued}: {got:?}, expected {:?}",
                at + 1,
                (moved, alpha, beta)
            );
        }
    }
}

#[test]
fn the_printed_equations_give_the_sequence_worked_by_hand() {
    let mut hand = Hand::new(Params::default(), 60);
    assert_eq!((hand.traced("alpha_t_q16"), hand.traced("beta_t_q16")), (1.0, 2.0));
    hand.expect(&[
        (1.0, 1.0, 2.0, 3.0),         // first round, phi 1: min(2, 2), min(3, 3)
        (2.5, 1.0, 2.0, 3.0),         // below 1 + 2: phi 0.4, offsets at their maxima
        (3.0 + 0.01, 0.0, 2.0, 3.0),  // not below 3
        (7.0, -1.0, 2.0, 3.0 - 0.43), // above 6: phi 3.01/7
        (5.8, -1.0, 2.0, 2.0),        // above 5.57: max(2, 2.57 - 7/5.8)
        (4.0, 0.0, 2.0, 2.0),         // between 3 and 5
        (2.0, 1.0, 2.0, 3.0),         // phi 2: min(3, 4)
        (0.0, 1.0, 2.0, 3.0),         // empty queue: phi infinite
        (0.0, 1.0, 2.0, 3.0),         // phi 1
    ]);
}

/// Wide bounds, so that few steps reach them: alpha_t from 1 to 8, beta_t from 5 to 9.
fn wide(offsets: Offsets, decrement: Decrement) -> Hand {
    let own = Params {
        alpha: 4,
        beta: 9,
        alpha_offset: Ratio::ONE,
        beta_offset: Ratio::of(6, 1),
        offsets,
        decrement,
        ..Params::default()
    };
    Hand::new(own, 80)
}

#[test]
fn phi_is_added_and_taken_away_as_printed() {
    wide(Offsets::Literal, Decrement::Literal).expect(&[
        (3.0, 1.0, 2.0, 7.0),   // below 5, phi 1
        (4.0, 1.0, 2.75, 7.75), // phi 3/4: up although more is queued
        (2.0, 1.0, 4.75, 9.0),  // phi 2
        (8.0, 1.0, 5.0, 9.0),   // below 8.75, phi 1/4
        (20.0, -1.0, 5.0, 8.6), // above 18, phi 0.4
        (10.0, 0.0, 5.0, 8.6),
        (20.0, -1.0, 5.0, 8.1),   // above 17.6, phi 1/2
        (18.0, -1.0, 5.0, 6.989), // above 17.1, phi 10/9: down although less is queued
    ]);
}

#[test]
fn the_inverse_decrement_takes_more_for_a_steeper_rise() {
    wide(Offsets::Literal, Decrement::Inverse).expect(&[
        (3.0, 1.0, 2.0, 7.0),
        (4.0, 1.0, 2.75, 7.75),
        (2.0, 1.0, 4.75, 9.0),
        (8.0, 1.0, 5.0, 9.0),
        (20.0, -1.0, 5.0, 6.5), // 1/phi = 2.5
        (10.0, 0.0, 5.0, 6.5),
        (20.0, -1.0, 5.0, 5.0), // max(5, 6.5 - 2)
    ]);
}

#[test]
fn repaired_offsets_rise_with_a_fall_of_the_backlog_and_fall_with_a_rise() {
    wide(Offsets::Repaired, Decrement::Literal).expect(&[
        (3.0, 1.0, 1.0, 6.0),   // phi 1
        (4.0, 1.0, 1.0, 6.0),   // phi 3/4
        (2.0, 1.0, 3.0, 8.0),   // phi 2
        (8.0, 0.0, 3.0, 8.0),   // not below 7
        (20.0, -1.0, 3.0, 7.6), // above 17, phi 0.4
        (10.0, 0.0, 3.0, 7.6),
        (20.0, -1.0, 3.0, 7.1), // above 16.6, phi 1/2
        (18.0, -1.0, 3.0, 7.1), // above 16.1, phi 10/9
    ]);
}

#[test]
fn offsets_stay_within_their_bounds_for_any_queue() {
    let k = |k| Params { k, ..Params::default() };
    for own in [k(Ratio::of(2, 1)), k(Ratio::ONE), k(Ratio::of(3, 2))] {
        let mut hand = Hand::new(own, 40);
        for round in 0..400u32 {
            let (_, alpha, beta) = hand.round(f64::from((round * 7919) % 83) / 10.0);
            let most = own.k.0 as f64 / 65_536.0;
            assert!((1.0..=most).contains(&alpha) && (2.0..=3.0).contains(&beta));
        }
    }
}

#[test]
fn a_timeout_leaves_two_segments_and_half_the_flight_and_a_loss_three_quarters() {
    let mut hand = Hand::new(Params::default(), 40);
    hand.c.flight_size = 40 * MSS;
    let mut phase = |from, to| {
        hand.c.phase = to;
        hand.state.on_phase(&hand.p, &hand.c, from, to);
        let control = hand.state.control(&hand.p, &hand.c);
        (control.cwnd / MSS, control.ssthresh / MSS)
    };
    assert_eq!(phase(Phase::Open, Phase::Recovery), (30, 30));
    assert_eq!(phase(Phase::Recovery, Phase::Open), (30, 30));
    assert_eq!(phase(Phase::Open, Phase::Loss), (2, 20));
    assert_eq!(phase(Phase::Loss, Phase::Loss), (2, 20), "a repeated timeout");
}

#[test]
fn its_slow_start_is_the_slow_start_of_vegas() {
    let setup = begins_at("mvegas", 2 * MSS, 1 << 40);
    let mut path = Path::new(setup, 1_000, Span::from_millis(40));
    let mut vegas = Path::new(begins_at("vegas", 2 * MSS, 1 << 40), 1_000, Span::from_millis(40));
    while vegas.control().cwnd < vegas.control().ssthresh {
        assert_eq!(path.control(), vegas.control());
        path.step();
        vegas.step();
    }
    assert_eq!(path.control().ssthresh, vegas.control().ssthresh);
    assert!(vegas.c.now > Time::from_millis(200), "it left at {}", vegas.c.now);
}

/// Queued segments in equilibrium on a path of a thousand segments per second and 40 ms, starting from
/// this window, and alpha_t.
fn rest(offsets: Offsets, segments: u64) -> (f64, f64) {
    let mut p = begins_at("mvegas", segments * MSS, segments * MSS);
    assert!(p.set(5, offsets as u64));
    let mut path = Path::new(p, 1_000, Span::from_millis(40));
    path.run_until(Time::from_secs(20));
    let (least, most) = path.range(30, Path::cwnd_segments);
    assert_eq!(least, most, "the window rests");
    (least - path.capacity_segments(), path.traced("alpha_t_q16") as f64 / 65_536.0)
}

#[test]
fn it_rests_with_its_own_bounds_queued() {
    for offsets in [Offsets::Literal, Offsets::Repaired] {
        // From below, the first bursts queue a few segments and then fewer. This is enough to increase
        // alpha_t to its maximum in either interpretation: 3 segments are queued before growth ends.
        // The estimate is one RTT late: the judged segments were sent with a window up to two segments
        // smaller.
        let (queued, alpha_t) = rest(offsets, 2);
        assert!((3.0..=3.0 + 2.5).contains(&queued), "{offsets:?}: {queued}");
        assert_eq!(alpha_t, 2.0, "{offsets:?}");
        // From above, the backlog decreases in each round. Phi is above 1, beta_t stays or becomes 2,
        // and the window stops at 5 queued segments, or one segment below.
        let (queued, _) = rest(offsets, 60);
        assert!((4.0..=5.0).contains(&queued), "{offsets:?}: {queued}");
    }
}
