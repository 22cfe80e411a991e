//! TCP Modified compared with the paper's list of steps: tables computed by hand.

use crate::common::flow::Flow;
use windlass_cc::loss_based::LossBased;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::slow_start::{Standard, StandardParams};
use windlass_cc::tcp_modified::{
    AlphaUnit, AlphaUpdate, Backoff, Params, RoundTrip, RttReset, TcpModified, Threshold,
    Throughput, WhenRising,
};
use windlass_cc::{Ack, Conn, Controller, Phase, Ratio, Setup, Span, Time};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// The paper's segment.
const MSS: u64 = 536;

/// A connection in congestion avoidance that is driven by a test.
struct Hand {
    p: Setup<Params, StandardParams>,
    c: Conn,
    state: LossBased<TcpModified, Standard>,
}

impl Hand {
    fn new(own: Params, cwnd: u64) -> Hand {
        let p = Setup {
            initial_window: cwnd,
            initial_ssthresh: cwnd,
            recovery: Some(LossRecovery::Sack),
            own,
            ..Setup::<Params, StandardParams>::default()
        };
        let c = Conn { now: Time::from_secs(1_000), ..Conn::new(MSS as u32) };
        let state = LossBased::init(&p, &c);
        Hand { p, c, state }
    }

    fn ack(&mut self, after: u64, bytes: u64, rtt: u64) {
        self.c.now.0 += after;
        self.c.una += bytes;
        self.c.delivered += bytes;
        let rtt = if rtt == 0 { Span::NONE } else { Span(rtt) };
        self.state.on_ack(&self.p, &self.c, &Ack { rtt, ..Ack::of(bytes) });
    }

    /// A loss with `flight` bytes in flight, repaired at once.
    fn lose(&mut self, flight: u64) {
        self.c.flight_size = flight;
        for (from, to) in [(Phase::Open, Phase::Recovery), (Phase::Recovery, Phase::Open)] {
            self.c.phase = to;
            self.state.on_phase(&self.p, &self.c, from, to);
        }
    }

    fn traced(&self, name: &str) -> u64 {
        let mut found = None;
        self.state.trace(&mut |field, value| {
            if field.name == name {
                found = Some(value);
            }
        });
        found.unwrap_or_else(|| panic!("no {name}"))
    }

    fn alpha(&self) -> f64 {
        self.traced("alpha_q16") as f64 / 65_536.0
    }

    fn beta(&self) -> f64 {
        self.traced("beta_q15") as f64 / 32_768.0
    }

    fn ssthresh(&self) -> u64 {
        self.state.control(&self.p, &self.c).ssthresh
    }
}

fn headline() -> Params {
    Params::default()
}

/// First case, steps 2 to 8. `age` is in milliseconds since the connection began, `beta` is its beta,
/// and `cwnd` and `inc` are in bytes.
#[test]
fn an_acknowledgement_adds_the_increment_of_the_steps() {
    let segments = || Params { alpha_unit: AlphaUnit::Segments, ..headline() };
    let row = |own: Params, age: u64, beta: f64, cwnd: u64, alpha: f64, inc: f64| {
        let own = Params { beta_default: Ratio((beta * 65_536.0) as u64), ..own };
        let mut hand = Hand::new(own, cwnd);
        hand.ack(age * MS, MSS, 100 * MS);
        let what = format!("{age} ms, beta {beta}, {cwnd} bytes");
        assert!((hand.alpha() / alpha - 1.0).abs() < 2e-4, "{what}: alpha {}", hand.alpha());
        // The window is visible in whole bytes.
        let gained = hand.state.cwnd() as f64 - cwnd as f64;
        assert!((gained - inc).abs() < 1.0, "{what}: {gained} for {inc}");
    };

    // delta <= 1 s: alpha = 1; 2·0.33·1 = 0.66, at least 1.
    // inc = (536·536 + 13,400·1)/13,400 = 287,296/13,400 + 1 = 21.44 + 1 = 22.44.
    row(headline(), 500, 0.67, 13_400, 1.0, 22.44);
    row(headline(), 1_000, 0.67, 13_400, 1.0, 22.44);
    // d = 0.1: 1 + 1 + 0.3·0.01 = 2.003; ·0.66 = 1.322. inc = 21.44 + 1.322 = 22.76.
    row(headline(), 1_100, 0.67, 13_400, 1.321_98, 22.76);
    // d = 4: 1 + 40 + 0.3·16 = 45.8; ·0.66 = 30.228. inc = 21.44 + 30.228 = 51.668.
    row(headline(), 5_000, 0.67, 13_400, 30.228, 51.668);
    // d = 4, beta = 0.5: 2·0.5·45.8 = 45.8. 287,296/53,600 = 5.36. inc = 5.36 + 45.8 = 51.16.
    row(headline(), 5_000, 0.5, 53_600, 45.8, 51.16);
    // d = 29: 1 + 290 + 0.3·841 = 543.3; ·0.66 = 358.578. inc = 21.44 + 358.578 = 380.018.
    row(headline(), 30_000, 0.67, 13_400, 358.578, 380.018);
    // beta = 1: 2·0·45.8 = 0, at least 1.
    row(headline(), 5_000, 1.0, 13_400, 1.0, 22.44);

    // Alpha in segments: inc = 30.228·536·536/53,600 = 30.228·5.36 = 162.022.
    row(segments(), 5_000, 0.67, 53_600, 30.228, 162.022);
    // 30.228 segments per window of 25 would exceed slow start's 536.
    row(segments(), 5_000, 0.67, 13_400, 30.228, 536.0);
    // In the first second it is Reno: 287,296/53,600.
    row(segments(), 500, 0.67, 53_600, 1.0, 5.36);
}

/// TM-1: as printed, step 6 multiplies its previous result. Alpha is 1 at first, then 0.66, 0.66² =
/// 0.4356, 0.66³ = 0.287496. Step 5 resets it after the first second.
#[test]
fn a_compounded_alpha_shrinks_with_each_acknowledgement_of_the_first_second() {
    let own = Params { alpha_update: AlphaUpdate::Compounded, ..headline() };
    let mut hand = Hand::new(own, 13_400);
    for expected in [0.66, 0.435_6, 0.287_496] {
        hand.ack(100 * MS, MSS, 100 * MS);
        assert!((hand.alpha() - expected).abs() < 2e-4, "{} {expected}", hand.alpha());
    }
    // delta = 5 s: 45.8·0.66.
    hand.ack(4_700 * MS, MSS, 100 * MS);
    assert!((hand.alpha() / 30.228 - 1.0).abs() < 2e-4, "{}", hand.alpha());
    // A congestion event sets it to 1 (second case, step 2).
    hand.lose(13_400);
    assert_eq!(hand.alpha(), 1.0);
}

/// Conditions between the second last and the last loss of [`losses`].
struct Epoch {
    /// Time to deliver 100 segments, milliseconds; 10 s before that.
    time: u64,
    /// RTTs in milliseconds.
    rtts: (u64, u64),
    /// Bytes in flight at the loss.
    flight: u64,
}

const STEADY: Epoch = Epoch { time: 8_000, rtts: (100, 200), flight: 53_600 };

/// Two losses 10 s and then `time` apart, each after 53,600 bytes: 5,360 bytes per second at the first.
/// RTTs of 100 and 600 ms before the first.
fn losses(own: Params, epoch: &Epoch) -> Hand {
    let mut hand = Hand::new(own, 53_600);
    let (least, longest) = epoch.rtts;
    for (time, rtts) in [(10_000, (100, 600)), (epoch.time, (least, longest))] {
        for k in 0..100 {
            let rtt = if k % 2 == 0 { rtts.0 } else { rtts.1 };
            hand.ack(time * MS / 100, MSS, rtt * MS);
        }
        hand.lose(epoch.flight);
    }
    hand
}

/// Second case, steps 3 to 7. Times in milliseconds, the rest in bytes.
#[test]
fn a_loss_leaves_the_threshold_of_the_steps() {
    let row = |own: Params, epoch: Epoch, beta: f64, ssthresh: f64| {
        let hand = losses(own, &epoch);
        let what = format!("{own:?} {} {:?} {}", epoch.time, epoch.rtts, epoch.flight);
        assert!((hand.beta() - beta).abs() < 1e-4, "{what}: beta {}", hand.beta());
        let ours = hand.ssthresh() as f64;
        assert!((ours - ssthresh).abs() < 4.0, "{what}: {ours} for {ssthresh}");
    };

    // 53,600 B in 8 s: 6,700 B/s. diff/last = 1,340/5,360 = 0.25 <= 0.33.
    // beta = 1.1·100/200 = 0.55. 53,600·0.55·1.25 = 36,850 > 25·536 = 13,400.
    row(headline(), STEADY, 0.55, 36_850.0);
    // In 7 s: 7,657 B/s, 2,297/5,360 = 0.43 > 0.33: beta stays 0.67. 53,600·0.67·1.25 = 44,890.
    row(headline(), Epoch { time: 7_000, ..STEADY }, 0.67, 44_890.0);
    // In 20 s: 2,680 B/s, -2,680/5,360 = -0.5 <= 0.33: a decrease is within the limit.
    row(headline(), Epoch { time: 20_000, ..STEADY }, 0.55, 36_850.0);
    // 100/130: beta = 0.84615. 53,600·0.84615·1.25 = 56,692 > 53,600: the loss increases the window.
    row(headline(), Epoch { rtts: (100, 130), ..STEADY }, 0.846_15, 56_692.3);
    // An empty queue: beta = 1.1. 53,600·1.375 = 73,700.
    row(headline(), Epoch { rtts: (100, 100), ..STEADY }, 1.1, 73_700.0);
    // 100/500: beta = 0.22. 53,600·0.275 = 14,740.
    row(headline(), Epoch { rtts: (100, 500), ..STEADY }, 0.22, 14_740.0);
    // Flight 10,720: 10,720·0.55·1.25 = 7,370 < 13,400, which exceeds the flight.
    row(headline(), Epoch { flight: 10_720, ..STEADY }, 0.55, 13_400.0);

    // TM-4 repaired: 1.1·100/130 and 1.1 become 0.8: 53,600·0.8·1.25 = 53,600, the flight.
    let clamped = Params { backoff: Backoff::Clamped, ..headline() };
    row(clamped, Epoch { rtts: (100, 130), ..STEADY }, 0.8, 53_600.0);
    row(clamped, Epoch { rtts: (100, 100), ..STEADY }, 0.8, 53_600.0);
    // 0.22 becomes 0.5: 53,600·0.5·1.25 = 33,500.
    row(clamped, Epoch { rtts: (100, 500), ..STEADY }, 0.5, 33_500.0);
    // 13,400, but at most the flight.
    row(clamped, Epoch { flight: 10_720, ..STEADY }, 0.55, 10_720.0);

    // TM-10: 2·536 = 1,072 < 7,370; 10·536 = 5,360 < 7,370; 4·536 = 2,144 > 1,072·0.6875 = 737.
    row(Params { floor: 2, ..headline() }, Epoch { flight: 10_720, ..STEADY }, 0.55, 7_370.0);
    row(Params { floor: 10, ..headline() }, Epoch { flight: 10_720, ..STEADY }, 0.55, 7_370.0);
    row(Params { floor: 4, ..headline() }, Epoch { flight: 1_072, ..STEADY }, 0.55, 2_144.0);

    // TM-21: 2,297/5,360 in whole numbers is 0. 53,600 B in 4 s: 13,400 B/s, 8,040/5,360 is 1.
    let integer = Params { threshold: Threshold::Integer, ..headline() };
    row(integer, Epoch { time: 7_000, ..STEADY }, 0.55, 36_850.0);
    row(integer, Epoch { time: 4_000, ..STEADY }, 0.67, 44_890.0);
    // In whole numbers without a sign a decrease is not within the limit.
    row(integer, Epoch { time: 20_000, ..STEADY }, 0.67, 44_890.0);

    // TM-18: the 100 ms of the first epoch count in 1.1·100/300 = 0.36667, its 600 ms in
    // 1.1·100/600 = 0.18333. 53,600·1.25·0.36667 = 24,567; ·0.18333 = 12,283 < 13,400.
    let later = || Epoch { rtts: (150, 300), ..STEADY };
    row(headline(), later(), 0.55, 36_850.0);
    row(Params { rtt_reset: RttReset::Max, ..headline() }, later(), 0.366_67, 24_566.7);
    row(Params { rtt_reset: RttReset::None, ..headline() }, later(), 0.183_33, 13_400.0);
}

/// TM-18: samples of 100 and 500 ms; the SRTT is 100 and 120 ms.
#[test]
fn round_trips_count_as_sampled_or_as_smoothed() {
    for (round_trip, longest) in [(RoundTrip::Sample, 500), (RoundTrip::Smoothed, 120)] {
        let mut hand = Hand::new(Params { round_trip, ..headline() }, 53_600);
        for (sample, smoothed) in [(100, 100), (500, 120)] {
            hand.c.srtt = Span(smoothed * MS);
            hand.ack(10 * MS, MSS, sample * MS);
        }
        let ms = |field| (hand.traced(field) as f64 / MS as f64).round() as u64;
        assert_eq!((ms("min_rtt_ns"), ms("max_rtt_ns")), (100, longest));
    }
}

/// TM-6: the first loss has no throughput to compare with.
#[test]
fn the_first_loss_leaves_the_initial_beta() {
    let mut hand = Hand::new(headline(), 53_600);
    (0..100).for_each(|_| hand.ack(10 * MS, MSS, 100 * MS));
    hand.lose(53_600);
    assert!((hand.beta() - 0.67).abs() < 1e-4);
    assert!((hand.ssthresh() as f64 - 44_890.0).abs() < 4.0, "{}", hand.ssthresh());
}

/// TM-5: beta was 0.55 when throughput rose by 43 %.
#[test]
fn after_a_rise_beta_is_kept_or_goes_back_to_its_default() {
    for (when_rising, beta) in [(WhenRising::Keep, 0.55), (WhenRising::Default, 0.67)] {
        let mut hand = losses(Params { when_rising, ..headline() }, &STEADY);
        // 6,700 B/s before; now 53,600 B in 5.6 s, 9,571 B/s: 2,871/6,700 = 0.43.
        (0..100).for_each(|_| hand.ack(56 * MS, MSS, 100 * MS));
        hand.lose(53_600);
        assert!((hand.beta() - beta).abs() < 1e-4, "{when_rising:?}: {}", hand.beta());
    }
}

/// TM-9. 5,360 B/s is 42,880 bit/s.
#[test]
fn throughput_is_of_the_epoch_the_round_or_the_acknowledgement() {
    let measured = |throughput| {
        let mut hand = Hand::new(Params { throughput, ..headline() }, 53_600);
        // 10 segments in 1 s, each followed by a new segment at once, then 10 in 4 s, and one more after
        // 20 ms.
        for (n, gap) in [(10, 100), (10, 400), (1, 20)] {
            for _ in 0..n {
                hand.c.next_id = hand.c.una + 10 * MSS;
                hand.ack(gap * MS, MSS, 1_000 * MS);
                hand.c.sent += MSS;
            }
        }
        hand.traced("throughput_bps") as f64 / 8.0
    };
    let close = |ours: f64, expected: f64| (ours / expected - 1.0).abs() < 1e-3;
    // 21·536/5.02
    let epoch = measured(Throughput::Epoch);
    assert!(close(epoch, 2_242.23), "{epoch}");
    // 536/0.02
    let ack = measured(Throughput::Ack);
    assert!(close(ack, 26_800.0), "{ack}");
    // Each round ends ten segments after the acknowledgement that began it: after the 1st, 11th and
    // 21st acknowledgement, at 0.1, 1.4 and 5.02 s. 5,360/3.62.
    let round = measured(Throughput::Round);
    assert!(close(round, 1_480.66), "{round}");
}

/// Equation 2 divides by the time since the last transmission, which is zero in a burst, and long while
/// the window is closed.
#[test]
fn the_time_since_data_was_sent_is_a_millisecond_at_least_and_lasts_while_nothing_is() {
    let own = Params { throughput: Throughput::Ack, ..headline() };
    let mut hand = Hand::new(own, 53_600);
    let bytes_per_second = |hand: &Hand| hand.traced("throughput_bps") as f64 / 8.0;
    hand.c.sent += MSS;
    hand.ack(0, MSS, 100 * MS);
    assert!((bytes_per_second(&hand) / 536_000.0 - 1.0).abs() < 1e-3, "536 B in 1 ms");
    // These acknowledgements allow no transmission.
    hand.c.sent += MSS;
    for k in 1..=4_u64 {
        hand.ack(100 * MS, MSS, 100 * MS);
        let expected = 5_360.0 / k as f64;
        let ours = bytes_per_second(&hand);
        assert!((ours / expected - 1.0).abs() < 1e-3, "{k}: {ours} {expected}");
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_the_same_threshold() {
    let mut hand = Hand::new(headline(), 53_600);
    hand.ack(10 * MS, MSS, 100 * MS);
    hand.c.flight_size = 53_600;
    hand.c.phase = Phase::Loss;
    hand.state.on_phase(&hand.p, &hand.c, Phase::Open, Phase::Loss);
    assert_eq!(hand.state.cwnd(), MSS);
    assert!((hand.ssthresh() as f64 - 44_890.0).abs() < 4.0, "{}", hand.ssthresh());
}

/// A parameter as it is stored, in units of 1/65536.
fn q16(x: f64) -> f64 {
    (x * 65_536.0).round() / 65_536.0
}

#[test]
fn parameters_are_the_papers_to_a_part_in_65536() {
    let p = headline();
    assert_eq!(p.alpha_curve.0 as f64 / 65_536.0, q16(0.3));
    assert_eq!(p.beta_default.0 as f64 / 65_536.0, q16(0.67));
    assert_eq!(p.beta_gain.0 as f64 / 65_536.0, q16(1.1));
    assert_eq!(p.rise.0 as f64 / 65_536.0, q16(0.33));
    assert_eq!(p.flight_gain.0 as f64 / 65_536.0, q16(1.25));
}

#[test]
fn undo_takes_the_clock_and_beta_back_to_the_event_before() {
    let mut flow = Flow::new("tcp-modified", 1_000, 1_000, 1_000);
    flow.lose();
    flow.repair(0);
    flow.c.now.0 += 5 * SECOND;
    flow.lose();
    flow.undo();
    let before = flow.cwnd();
    flow.ack(0, 100 * MS, 1);
    // 1,000²/1,000,000 + 30.228
    assert!((flow.cwnd() as f64 - before as f64 - 31.2).abs() < 1.1, "{before}");
    flow.assert_close(4.0, 1e-4);
}

#[test]
fn idle_time_does_not_count_as_time_since_the_event() {
    let mut flow = Flow::new("tcp-modified", 1_000, 1_000, 1_000);
    flow.idle(3_600 * SECOND, false);
    let before = flow.cwnd();
    flow.ack(MS, 100 * MS, 1);
    assert!(flow.cwnd() - before <= 3, "an hour is not four million bytes");
}
