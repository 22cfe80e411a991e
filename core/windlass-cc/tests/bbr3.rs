//! Responses of BBRv3 to single events, compared with the equations of
//! draft-ietf-ccwg-bbr-06.

use windlass_cc::bbr3::{Bbr3, Params, State};
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::Setup;
use windlass_cc::{Ack, Conn, Controller, Loss, Phase, RateSample, Span, Time, Undo, flags};

const MSS: u64 = 1_000;

struct Walk {
    p: Setup<Params>,
    b: Bbr3,
    c: Conn,
}

impl Walk {
    /// A connection in ProbeBW: 2.5 MB/s, 40 ms.
    fn steady() -> Walk {
        let p = Setup { initial_window: 10_000, ..Setup::default() };
        let mut c = Conn { now: Time::from_secs(1), flags: 0, ..Conn::new(MSS as u32) };
        let b = Bbr3::init(&p, &c);
        (c.srtt, c.min_rtt) = (Span::from_millis(40), Span::from_millis(40));
        let mut walk = Walk { p, b, c };
        for _ in 0..12 {
            walk.round(2_500_000, 0);
        }
        assert!(matches!(walk.b.state(), State::Down | State::Cruise), "{:?}", walk.b.state());
        walk
    }

    /// Runs rounds until the connection is in this state.
    fn until(mut self, state: State) -> Walk {
        for _ in 0..200 {
            if self.b.state() == state {
                return self;
            }
            self.round(2_500_000, 0);
        }
        panic!("never reached {state:?}");
    }

    /// One acknowledgement of a round at this rate, with losses during it.
    fn round(&mut self, rate: u64, lost: u64) {
        let interval = Span::from_millis(40);
        let delivered = rate / 25;
        let prior_delivered = self.c.delivered;
        self.c.now += interval;
        self.c.delivered += delivered;
        self.c.lost += lost;
        let tx_in_flight = delivered + lost;
        let rate = RateSample {
            delivered,
            interval,
            prior_delivered,
            lost,
            tx_in_flight,
            app_limited: false,
        };
        let ack = Ack { rtt: interval, rate, lost, ..Ack::of(delivered) };
        self.b.on_ack(&self.p, &self.c, &ack);
    }

    fn lose(&mut self, bytes: u64, tx_in_flight: u64, lost_since_sent: u64) {
        self.c.lost += bytes;
        let loss = Loss { bytes, tx_in_flight, lost_since_sent, app_limited: false };
        self.b.on_loss(&self.p, &self.c, &loss);
    }

    fn traced(&self, name: &str) -> f64 {
        let mut found = None;
        self.b.trace(&mut |field, value| found = found.or((field.name == name).then_some(value)));
        found.unwrap() as f64
    }

    fn cwnd(&self) -> f64 {
        self.b.control(&self.p, &self.c).cwnd as f64
    }
}

#[test]
fn loss_while_cruising_reduces_the_bounds_by_at_most_three_tenths_per_round() {
    let mut w = Walk::steady().until(State::Cruise);
    let cwnd = w.cwnd();
    w.lose(MSS, 100_000, MSS);
    w.lose(MSS, 100_000, 2 * MSS);
    // The round delivers half of the rate.
    w.round(1_250_000, 0);
    let half = (1_250_000.0, 50_000.0);
    // max(latest, 0.7 · bound). The first bound is the model's rate and the window. The latest rate of
    // the round is the maximum over its two acknowledgements.
    let bw = w.traced("bw_shortterm_bytes_per_s");
    assert!(
        (bw - f64::max(half.0, 0.7 * 2_500_000.0)).abs() < 0.03 * bw || bw == 2_500_000.0,
        "{bw}"
    );
    // Losses in the following rounds: a geometric decrease to the delivered values.
    let mut expected = (bw, w.traced("inflight_shortterm_bytes"));
    assert!(expected.1 <= cwnd);
    for _ in 0..5 {
        w.lose(MSS, 100_000, MSS);
        w.round(1_250_000, 0);
        expected = (f64::max(half.0, 0.7 * expected.0), f64::max(half.1, 0.7 * expected.1));
        assert!((w.traced("bw_shortterm_bytes_per_s") / expected.0 - 1.0).abs() < 1e-4);
        assert!((w.traced("inflight_shortterm_bytes") / expected.1 - 1.0).abs() < 1e-4);
    }
    assert_eq!(w.b.bandwidth().0 as f64, w.traced("bw_shortterm_bytes_per_s"));
    // Rounds without loss change nothing.
    w.round(1_250_000, 0);
    assert!((w.traced("bw_shortterm_bytes_per_s") / expected.0 - 1.0).abs() < 1e-4);
    // The next probe resets the bounds.
    let w = w.until(State::Refill);
    assert_eq!(w.traced("bw_shortterm_bytes_per_s"), u64::MAX as f64);
    assert_eq!(w.b.bandwidth().0, 2_500_000);
}

#[test]
fn a_probe_that_loses_too_much_sets_the_bound_where_losses_crossed_two_percent() {
    let mut w = Walk::steady().until(State::Up);
    assert_eq!(w.b.inflight_longterm(), None);
    // 1 % lost: still safe.
    w.lose(MSS, 120_000, MSS);
    assert_eq!(w.b.state(), State::Up);
    // A packet of 5 segments, 125 000 in flight with it, 1 000 lost before it:
    // prefix = (0.02 · 120 000 − 1 000) / 0.98, bound = 120 000 + prefix.
    w.lose(5_000, 125_000, 6_000);
    let expected = 120_000.0 + (0.02 * 120_000.0 - 1_000.0) / 0.98;
    let bound = w.b.inflight_longterm().unwrap() as f64;
    assert!((bound - expected).abs() < 3.0, "{bound} {expected}");
    assert_eq!(w.b.state(), State::Down);
    // CRUISE leaves 15 % of it.
    let w = w.until(State::Cruise);
    assert!((w.cwnd() - 0.85 * bound).abs() < 3.0, "{} {bound}", w.cwnd());
}

#[test]
fn the_bound_never_falls_below_seven_tenths_of_the_product() {
    let mut w = Walk::steady().until(State::Up);
    w.lose(MSS, 10_000, 9_000);
    let bound = w.b.inflight_longterm().unwrap() as f64;
    assert!((bound - 0.7 * 100_000.0).abs() < 10.0, "{bound}");
}

#[test]
fn the_probe_after_a_lossy_one_stops_at_the_bound_and_a_clean_one_is_followed_by_another() {
    let mut w = Walk::steady().until(State::Up);
    w.lose(5_000, 125_000, 5_000);
    let bound = w.b.inflight_longterm().unwrap();
    let mut w = w.until(State::Up);
    w.c.in_flight = bound;
    w.round(2_500_000, 0);
    assert_eq!(w.b.state(), State::Down, "no longer than to the bound");
    w.c.in_flight = 0;
    // After a round of samples without loss it probes again without CRUISE.
    w.round(2_500_000, 0);
    assert_eq!(w.b.state(), State::Refill);
}

#[test]
fn the_bound_rises_by_1_2_4_8_segments_per_round_while_it_limits() {
    let mut w = Walk::steady().until(State::Up);
    w.lose(5_000, 125_000, 5_000);
    // The precautionary probe, then the probe that follows at once.
    let mut w = w.until(State::Up);
    w.c.in_flight = w.b.inflight_longterm().unwrap();
    w.round(2_500_000, 0);
    w.c.in_flight = 0;
    let mut w = w.until(State::Up);
    w.c.flags = flags::CWND_LIMITED;
    let mut raised = vec![];
    for _ in 0..4 {
        let before = w.b.inflight_longterm().unwrap();
        // The round delivers a whole window: one increase per window of data, then two ...
        let rate = w.cwnd() as u64 * 25;
        w.round(rate, 0);
        raised.push((w.b.inflight_longterm().unwrap() - before) / MSS);
    }
    assert_eq!(raised, [1, 2, 4, 8]);
}

#[test]
fn an_undone_loss_gives_back_the_bound_and_the_probe() {
    let mut w = Walk::steady().until(State::Up);
    let before = w.cwnd();
    w.lose(5_000, 125_000, 5_000);
    w.c.phase = Phase::Recovery;
    w.b.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
    assert_eq!(w.b.state(), State::Down);
    assert!(w.b.inflight_longterm().is_some());
    w.b.on_undo(&w.p, &w.c, Undo::Dsack);
    assert_eq!(w.b.inflight_longterm(), None);
    assert_eq!(w.b.state(), State::Refill);
    w.c.phase = Phase::Open;
    w.b.on_phase(&w.p, &w.c, Phase::Recovery, Phase::Open);
    // In REFILL the gain is 2 instead of 2.25, without two segments for probing.
    assert!(w.cwnd() >= (before - 2.0 * MSS as f64) * 2.0 / 2.25 - 1.0);
}

#[test]
fn a_timeout_leaves_room_for_one_segment_and_its_end_restores_the_window() {
    let mut w = Walk::steady();
    let before = w.cwnd();
    w.c.phase = Phase::Loss;
    w.b.on_phase(&w.p, &w.c, Phase::Open, Phase::Loss);
    assert_eq!(w.cwnd(), MSS as f64);
    w.b.on_phase(&w.p, &w.c, Phase::Loss, Phase::Loss);
    assert_eq!(w.cwnd(), MSS as f64);
    w.c.phase = Phase::Open;
    w.b.on_phase(&w.p, &w.c, Phase::Loss, Phase::Open);
    assert_eq!(w.cwnd(), before);
}

#[test]
fn without_sack_any_loss_in_a_probe_is_too_much() {
    for (recovery, bounded) in [(None, false), (Some(LossRecovery::NewReno), true)] {
        let mut w = Walk::steady().until(State::Up);
        w.p.recovery = recovery;
        w.lose(MSS, 120_000, MSS);
        assert_eq!(w.b.inflight_longterm().is_some(), bounded);
    }
}

#[test]
fn the_wait_for_a_probe_is_drawn_from_the_entropy_of_the_flow() {
    // With a large BDP the time decides, not the rounds. Enter DOWN with each entropy and measure the
    // wait.
    let wait = |entropy: u32| {
        let mut w = Walk::steady().until(State::Up);
        w.p.own.reno_rounds = 10_000;
        w.p.own.probe_rtt_interval = Span::from_secs(1_000);
        w.c.entropy = entropy;
        let mut w = w.until(State::Down);
        let begin = w.c.now;
        while w.b.state() != State::Refill {
            w.round(2_500_000, 0);
        }
        w.c.now.since(begin).0 as f64 * 1e-9
    };
    for entropy in [0, 1 << 30, 1 << 31, u32::MAX] {
        let expected = 2.0 + f64::from(entropy) / 2f64.powi(32);
        let wait = wait(entropy);
        assert!(wait > expected && wait <= expected + 0.041, "{entropy}: {wait}");
    }
}

#[test]
fn the_state_takes_344_bytes() {
    assert_eq!(size_of::<Bbr3>(), 344);
}
