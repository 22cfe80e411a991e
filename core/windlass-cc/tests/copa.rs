//! Steps of Copa, compared with the equations of the paper (NSDI 2018).

use windlass_cc::copa::{Copa, Params};
use windlass_cc::setup::Setup;
use windlass_cc::{Ack, Conn, Controller, Phase, Ratio, Span, Time, Undo, flags};

const MSS: u64 = 1_000;

struct Walk {
    p: Setup<Params>,
    s: Copa,
    c: Conn,
}

impl Walk {
    /// A connection in congestion avoidance: minimum RTT 40 ms, standing RTT as given, a window of
    /// `cwnd` segments, velocity 1.
    fn at(cwnd: u64, standing: Span) -> Walk {
        let p = Setup { initial_window: cwnd * MSS, ..Setup::default() };
        let mut c = Conn { now: Time::from_secs(1), ..Conn::new(MSS as u32) };
        (c.srtt, c.next_id) = (Span::from_millis(40), cwnd * MSS);
        let s = Copa::init(&p, &c);
        let mut w = Walk { p, s, c };
        w.ack(0, Span::from_millis(40));
        // Far above the target: slow start ends, with one step down.
        w.later(21);
        w.ack(1, Span::from_millis(400));
        w.later(21);
        w.ack(0, standing);
        w
    }

    fn later(&mut self, ms: u64) {
        self.c.now += Span::from_millis(ms);
    }

    /// The next acknowledgement is of data sent in the current round.
    fn end_round(&mut self) {
        self.c.una = self.c.next_id + 1;
        self.c.next_id += 50 * MSS;
    }

    fn ack(&mut self, bytes: u64, rtt: Span) {
        let ack = Ack { rtt, ..Ack::of(bytes) };
        self.s.on_ack(&self.p, &self.c, &ack);
    }

    fn cwnd(&self) -> f64 {
        self.s.control(&self.p, &self.c).cwnd as f64
    }

    fn traced(&self, name: &str) -> u64 {
        let mut found = None;
        self.s.trace(&mut |field, value| found = found.or((field.name == name).then_some(value)));
        found.unwrap()
    }
}

#[test]
fn each_packet_moves_the_window_by_v_over_delta_cwnd() {
    // λ = 100 packets / 41 ms = 2 439/s; λt = 2 / 1 ms = 2 000/s: down. At half the window: up.
    for (cwnd, sign) in [(100u64, -1.0), (50, 1.0)] {
        let mut w = Walk::at(cwnd, Span::from_millis(41));
        assert_eq!(w.traced("slow_start"), 0);
        let mut expected = w.cwnd() / MSS as f64;
        for _ in 0..20 {
            w.ack(MSS, Span::from_millis(41));
            expected += sign * 1.0 / (0.5 * expected);
        }
        let moved = w.cwnd() / MSS as f64;
        assert!((moved - expected).abs() < 2e-3, "{moved} {expected}");
    }
}

#[test]
fn the_pacing_rate_is_two_windows_per_standing_round_trip() {
    let w = Walk::at(50, Span::from_millis(44));
    let pacing = w.s.control(&w.p, &w.c).pacing.0 as f64;
    let expected = 2.0 * w.cwnd() / 0.044;
    assert!((pacing / expected - 1.0).abs() < 1e-6, "{pacing} {expected}");
}

#[test]
fn the_standing_round_trip_time_is_the_least_of_half_a_smoothed_one() {
    let mut w = Walk::at(50, Span::from_millis(44));
    w.later(5);
    w.ack(0, Span::from_millis(60));
    assert_eq!(w.traced("standing_rtt_ns"), 44_000_000, "jitter does not count");
    w.later(21);
    w.ack(0, Span::from_millis(60));
    assert_eq!(w.traced("standing_rtt_ns"), 60_000_000);
    assert_eq!(w.traced("min_rtt_ns"), 40_000_000);
}

#[test]
fn the_velocity_doubles_each_round_after_three_in_one_direction_and_falls_back_to_one() {
    let mut w = Walk::at(50, Span::from_millis(40));
    let round = |w: &mut Walk, rtt: u64| {
        w.end_round();
        w.later(21);
        w.ack(50 * MSS, Span::from_millis(rtt));
        w.traced("velocity")
    };
    let velocities: Vec<_> = (0..7).map(|_| round(&mut w, 40)).collect();
    // The test ends slow start with a step down, so the first round changes the direction. Three
    // further rounds confirm it, then 2, 4, 8.
    assert_eq!(velocities[..2], [1, 1]);
    let doubling = velocities.iter().position(|v| *v == 2).unwrap();
    assert!((2..=4).contains(&doubling), "{velocities:?}");
    assert_eq!(velocities[doubling + 1..doubling + 3], [4, 8]);
    // Far above the target: the window decreases, and the velocity starts again at 1.
    assert_eq!(round(&mut w, 200), 1);
}

#[test]
fn losses_move_the_window_only_while_competing_and_then_by_delta() {
    let mut w = Walk::at(100, Span::from_millis(80));
    let before = w.cwnd();
    w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
    w.s.on_phase(&w.p, &w.c, Phase::Recovery, Phase::Open);
    assert_eq!((w.cwnd(), w.traced("inverse_delta")), (before, 2 << 16));
    // The queue is not nearly empty for five SRTTs: 80 − 40 ms of a range of 40 or 360. The round of
    // the loss ends in this time.
    w.end_round();
    for _ in 0..11 {
        w.later(20);
        w.ack(0, Span::from_millis(80));
    }
    assert!(w.s.is_competitive());
    // 1/δ grows by one per round without loss.
    for k in 1..=4 {
        w.end_round();
        w.later(20);
        w.ack(0, Span::from_millis(80));
        assert_eq!(w.traced("inverse_delta"), (2 + k) << 16);
    }
    w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
    assert_eq!(w.traced("inverse_delta"), 3 << 16);
    w.end_round();
    w.ack(0, Span::from_millis(80));
    assert_eq!(w.traced("inverse_delta"), 3 << 16, "the round of the loss does not raise it");
    w.s.on_undo(&w.p, &w.c, Undo::Dsack);
    assert_eq!(w.traced("inverse_delta"), 6 << 16);
    // Never below the default: halve 6, 3, and then 2.
    for expected in [Ratio::of(3, 1), Ratio::of(2, 1), Ratio::of(2, 1)] {
        w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
        assert_eq!(w.s.inverse_delta(), expected);
    }
}

#[test]
fn a_window_that_does_not_limit_the_sender_shrinks_but_never_grows() {
    for (standing, falls) in [(40, false), (80, true)] {
        let mut w = Walk::at(100, Span::from_millis(standing));
        let before = w.cwnd();
        w.c.flags = flags::APP_LIMITED;
        w.ack(MSS, Span::from_millis(standing));
        assert_eq!(w.cwnd() < before, falls);
        assert!(w.cwnd() <= before);
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_slow_start_and_an_undo_takes_that_back() {
    let mut w = Walk::at(100, Span::from_millis(41));
    let before = w.cwnd();
    w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Loss);
    assert_eq!((w.cwnd(), w.traced("slow_start")), (MSS as f64, 1));
    w.s.on_phase(&w.p, &w.c, Phase::Loss, Phase::Loss);
    w.s.on_undo(&w.p, &w.c, Undo::Eifel);
    assert_eq!((w.cwnd(), w.traced("slow_start")), (before, 0));
}

#[test]
fn the_state_takes_224_bytes() {
    assert_eq!(size_of::<Copa>(), 224);
}
