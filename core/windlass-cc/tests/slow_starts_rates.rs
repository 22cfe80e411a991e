//! The slow starts that estimate the capacity of the path, compared with their descriptions.

use std::collections::VecDeque;

use proptest::prelude::*;
use windlass_cc::slow_start::{self, AdaptiveParams, Estimator, PacketPairParams};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{Phase, Span, Time};

use crate::slow_starts::{MS, MSS, Sender};

// Packet pair

fn packet_pair(estimator: Estimator) -> slow_start::AnyParams {
    slow_start::AnyParams::PacketPair(PacketPairParams { estimator, ..Default::default() })
}

#[test]
fn three_acknowledgements_of_one_flight_set_the_threshold_to_the_capacity_of_the_path() {
    for estimator in Estimator::ALL {
        let mut sender = Sender::new(packet_pair(*estimator), 10);
        // One segment per 1.024 ms over 40.96 ms: forty segments.
        for n in 0..3 {
            assert!(sender.ssthresh() == MAX_WINDOW);
            sender.ack(Time(40_960_000 + n * 1_024_000), Span(40_960_000), 1);
        }
        assert_eq!(sender.ssthresh(), 40 * MSS);
        // The estimate is made only once.
        for n in 3..7 {
            sender.ack(Time(40_960_000 + n * 2_048_000), Span(40_960_000), 1);
        }
        assert_eq!(sender.ssthresh(), 40 * MSS);
    }
}

#[test]
fn acknowledgements_of_different_flights_are_not_taken_together() {
    let mut sender = Sender::new(packet_pair(Estimator::LeastSquares), 1);
    let rtt = Span(40_960_000);
    let mut flights = 0;
    // 1, 2 and 4 segments, each flight one RTT after the last: only the third has three
    // acknowledgements.
    for (flight, segments) in [(1, 1), (2, 2), (3, 4)] {
        for n in 0..segments {
            if sender.ssthresh() == MAX_WINDOW {
                flights = flight;
            }
            sender.ack(Time(flight * rtt.0 + n * 1_024_000), rtt, 1);
        }
    }
    assert_eq!((flights, sender.ssthresh()), (3, 40 * MSS));
}

#[test]
fn acknowledgements_that_come_at_once_tell_no_rate() {
    let mut sender = Sender::new(packet_pair(Estimator::LeastSquares), 10);
    for _ in 0..5 {
        sender.ack(Time::from_millis(40), Span::from_millis(40), 1);
    }
    assert_eq!(sender.ssthresh(), MAX_WINDOW);
}

proptest! {
    /// Times are cut to units of 1.024 us, also the RTT. For a spacing of at least 0.2 ms the error is
    /// less than 1 %.
    #[test]
    fn the_rate_is_the_slope_of_least_squares(
        gaps in prop::array::uniform2(200_000u64..10_000_000), segments in prop::array::uniform2(1u64..4),
        rtt in 21_000_000u64..200_000_000,
    ) {
        let mut sender = Sender::new(packet_pair(Estimator::LeastSquares), 20);
        let t = [0, gaps[0], gaps[0] + gaps[1]];
        let y = [0, segments[0], segments[0] + segments[1]];
        sender.ack(Time(rtt), Span(rtt), 1);
        for n in 0..2 {
            sender.ack(Time(rtt + t[n + 1]), Span(rtt), segments[n]);
        }
        let (t, y) = (t.map(|t| t as f64 * 1e-9), y.map(|y| (y * MSS) as f64));
        let (t_mean, y_mean) = (t.iter().sum::<f64>() / 3.0, y.iter().sum::<f64>() / 3.0);
        let crossed: f64 = t.iter().zip(y).map(|(t, y)| (t - t_mean) * (y - y_mean)).sum();
        let squared: f64 = t.iter().map(|t| (t - t_mean).powi(2)).sum();
        let held = (crossed / squared * rtt as f64 * 1e-9).max(2.0 * MSS as f64);
        let ours = sender.ssthresh() as f64;
        prop_assert!((ours / held - 1.0).abs() < 0.01, "{ours} {held}");
    }
}

// Adaptive start

/// The path of the tests with a queue: one segment per millisecond after 40 ms, in bytes and
/// nanoseconds.
struct Path {
    link_free: u64,
    acks: VecDeque<(u64, u64)>,
    sent: u64,
}

impl Path {
    fn new() -> Path {
        Path { link_free: 0, acks: VecDeque::new(), sent: 0 }
    }

    fn send_up_to(&mut self, next_id: u64, now: u64) {
        while self.sent < next_id {
            self.sent += MSS;
            self.link_free = self.link_free.max(now) + MS;
            self.acks.push_back((self.link_free + 40 * MS, now));
        }
    }

    /// The next acknowledgement: its time, and its RTT.
    fn ack(&mut self) -> (u64, u64) {
        let (at, sent_at) = self.acks.pop_front().expect("something is outstanding");
        (at, at - sent_at)
    }
}

/// The estimate of the rate by the description, in bytes and seconds.
#[derive(Default)]
struct AdaptiveModel {
    round: Option<(f64, u64)>,
    sample_start: f64,
    round_bytes: f64,
    sample_bytes: f64,
    achieved: f64,
    eligible: Option<f64>,
}

impl AdaptiveModel {
    fn ack(&mut self, now: f64, una: u64, next: u64, rtt: f64, min_rtt: f64, cwnd: f64) {
        let Some((start, end)) = self.round else {
            (self.round, self.sample_start) = (Some((now, next)), now);
            return;
        };
        self.round_bytes += MSS as f64;
        self.sample_bytes += MSS as f64;
        let time = now - self.sample_start;
        let interval = rtt * (1.0 - (self.achieved * min_rtt / cwnd).min(1.0));
        if time > 0.0 && (una >= end || time >= interval) {
            let sample = self.sample_bytes / time;
            let gain = (2.0 * time / (2.0 * rtt + time)).min(1.0);
            let eligible = self.eligible.unwrap_or(sample);
            self.eligible = Some(eligible + gain * (sample - eligible));
            (self.sample_bytes, self.sample_start) = (0.0, now);
        }
        if una >= end {
            self.achieved = self.round_bytes / (now - start);
            self.round = Some((now, next));
            (self.round_bytes, self.sample_bytes, self.sample_start) = (0.0, 0.0, now);
        }
    }
}

#[test]
fn the_adaptive_start_follows_its_model_and_finds_the_capacity_of_the_path() {
    let p = slow_start::AnyParams::Adaptive(AdaptiveParams::default());
    let mut sender = Sender::new(p, 10);
    let mut path = Path::new();
    let mut model = AdaptiveModel::default();
    let mut threshold: Option<f64> = None;
    path.send_up_to(sender.c.next_id, 0);
    for _ in 0..3_000 {
        let (at, rtt) = path.ack();
        let (cwnd, next) = (sender.cwnd() * MSS as f64, sender.c.next_id);
        sender.ack(Time(at), Span(rtt), 1);
        let min_rtt = sender.c.min_rtt.0 as f64 * 1e-9;
        model.ack(at as f64 * 1e-9, sender.c.una, next, rtt as f64 * 1e-9, min_rtt, cwnd);
        if let Some(eligible) = model.eligible {
            let fits = (eligible * min_rtt).max(2.0 * MSS as f64);
            let expected = threshold.map_or(fits, |t| t.max(fits));
            threshold = Some(expected);
            let ours = sender.ssthresh() as f64;
            assert!((ours / expected - 1.0).abs() < 0.01, "{ours} {expected} at {at} ns");
        }
        path.send_up_to(sender.c.next_id, at);
    }
    // 41 ms at a segment per millisecond.
    let held = sender.ssthresh() as f64 / MSS as f64;
    assert!((37.0..=45.0).contains(&held), "{held} segments");
    assert!(sender.cwnd() > held, "beyond it the window grows linearly");
}

#[test]
fn the_adaptive_start_is_over_with_the_first_loss() {
    let p = slow_start::AnyParams::Adaptive(AdaptiveParams::default());
    let mut sender = Sender::new(p, 10);
    for _ in 0..5 {
        sender.round(40.0);
    }
    sender.c.flight_size = 8 * MSS;
    sender.c.phase = Phase::Loss;
    sender.state.on_phase(&sender.p, &sender.c, Phase::Open, Phase::Loss);
    sender.c.phase = Phase::Open;
    let threshold = sender.ssthresh();
    assert_eq!(threshold, 4 * MSS);
    for _ in 0..5 {
        sender.round(40.0);
    }
    assert_eq!(sender.ssthresh(), threshold);
}
