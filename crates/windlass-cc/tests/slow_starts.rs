//! The slow starts against their RFCs' and papers' equations.

use std::collections::VecDeque;

use crate::common::begins_at;
use proptest::prelude::*;
use windlass_cc::slow_start::{
    self, AdaptiveParams, AnySlowStart, Estimator, HyStart, HyStartPlusPlusParams, LimitedParams,
    PacketPairParams, SLOW_STARTS, SlowStart, VegasStartParams, VegasVariant,
};
use windlass_cc::window::{MAX_WINDOW, Window};
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Phase, Rate, Setup, Span, Time};

const MSS: u64 = 1000;
const MS: u64 = 1_000_000;

/// A Reno sender of segments of 1000 B, whose acknowledgements the test makes.
struct Sender {
    p: AnyParams,
    c: Conn,
    state: AnyController,
}

impl Sender {
    fn new(slow_start: slow_start::AnyParams, window: u64) -> Sender {
        let mut p = begins_at("reno", window * MSS, MAX_WINDOW);
        p.set_common(&Setup { slow_start, ..p.common() });
        let c = Conn::new(MSS as u32);
        let mut sender = Sender { state: AnyController::init(&p, &c), p, c };
        sender.send_all();
        sender
    }

    fn cwnd(&self) -> f64 {
        self.state.control(&self.p, &self.c).cwnd as f64 / MSS as f64
    }

    fn ssthresh(&self) -> u64 {
        self.state.control(&self.p, &self.c).ssthresh
    }

    fn in_slow_start(&self) -> bool {
        let control = self.state.control(&self.p, &self.c);
        control.cwnd < control.ssthresh
    }

    fn send_all(&mut self) {
        let window = self.state.control(&self.p, &self.c).cwnd / MSS * MSS;
        self.c.next_id = self.c.next_id.max(self.c.una + window);
    }

    fn ack(&mut self, at: Time, rtt: Span, segments: u64) {
        self.c.now = at;
        self.c.una += segments * MSS;
        if rtt.is_known() {
            self.c.min_rtt = self.c.min_rtt.min(rtt);
            self.c.srtt = rtt;
        }
        self.state.on_ack(&self.p, &self.c, &Ack { rtt, ..Ack::of(segments * MSS) });
        self.send_all();
    }

    /// Acknowledges all that is outstanding now, segment by segment, a round trip of so many
    /// milliseconds later; how many there were.
    fn round(&mut self, rtt_ms: f64) -> u64 {
        let segments = (self.c.next_id - self.c.una) / MSS;
        let rtt = Span((rtt_ms * 1e6) as u64);
        let start = self.c.now + rtt;
        for n in 0..segments {
            // A microsecond apart: a burst.
            self.ack(start + Span(n * 1000), rtt, 1);
        }
        segments
    }
}

// Limited slow start

#[test]
fn limited_slow_start_follows_rfc_3742() {
    let p = slow_start::AnyParams::Limited(LimitedParams::default());
    let mut sender = Sender::new(p, 10);
    let mut model = 10.0f64;
    for _ in 0..14 {
        let before = sender.cwnd();
        for _ in 0..sender.round(40.0) {
            // Windows in segments; int(cwnd / (0.5 · max_ssthresh)).
            model += if model <= 100.0 { 1.0 } else { 1.0 / (model / 50.0).floor() };
        }
        // Where the window is a multiple of 50 but for its last bit, K may be one more or less
        // for one acknowledgement: 1/2 - 1/3, 1/3 - 1/4 and so on of a segment.
        assert!((sender.cwnd() - model).abs() < 0.5, "{} {model}", sender.cwnd());
        if before > 100.0 {
            assert!(sender.cwnd() - before <= 50.0, "at most max_ssthresh/2 per round trip");
            assert!(sender.cwnd() - before > 30.0, "and not much less");
        }
    }
    assert!(model > 400.0);
}

#[test]
fn limited_slow_start_grows_at_windows_of_more_segments_than_bytes_in_one() {
    // K = 2 · 100 000 / 100 = 2000 exceeds the 1000 B of a segment.
    let p = slow_start::AnyParams::Limited(LimitedParams::default());
    let mut sender = Sender::new(p, 100_000);
    let before = sender.cwnd();
    for n in 0..10_000 {
        sender.ack(Time(n), Span::from_millis(40), 1);
    }
    assert!((sender.cwnd() - before - 5.0).abs() < 0.1, "{}", sender.cwnd());
}

// HyStart++

fn hystart_pp() -> Sender {
    Sender::new(slow_start::AnyParams::HyStartPlusPlus(HyStartPlusPlusParams::default()), 10)
}

/// RFC 9406 section 4.2 in milliseconds and segments, for one segment per acknowledgement.
struct HyStartPlusPlusModel {
    cwnd: f64,
    window_end: Option<u64>,
    last_min: f64,
    current_min: f64,
    samples: u32,
    css_baseline: Option<f64>,
    css_rounds: u32,
    left: bool,
}

impl HyStartPlusPlusModel {
    fn new(cwnd: f64) -> Self {
        let (last_min, current_min) = (f64::INFINITY, f64::INFINITY);
        HyStartPlusPlusModel {
            cwnd,
            window_end: None,
            last_min,
            current_min,
            samples: 0,
            css_baseline: None,
            css_rounds: 0,
            left: false,
        }
    }

    fn ack(&mut self, una: u64, snd_nxt: u64, rtt: f64) {
        let window_end = *self.window_end.get_or_insert(snd_nxt);
        self.current_min = self.current_min.min(rtt);
        self.samples += 1;
        if self.samples >= 8 {
            match self.css_baseline {
                Some(baseline) if self.current_min < baseline => self.css_baseline = None,
                None if self.last_min.is_finite() => {
                    let thresh = (self.last_min / 8.0).clamp(4.0, 16.0);
                    if self.current_min >= self.last_min + thresh {
                        self.css_baseline = Some(self.current_min);
                        self.css_rounds = 0;
                    }
                }
                _ => {}
            }
        }
        if una >= window_end {
            self.window_end = Some(snd_nxt);
            (self.last_min, self.current_min, self.samples) = (self.current_min, f64::INFINITY, 0);
            if self.css_baseline.is_some() {
                self.css_rounds += 1;
                self.left = self.css_rounds == 5;
            }
        }
        if !self.left {
            self.cwnd += if self.css_baseline.is_some() { 0.25 } else { 1.0 };
        }
    }
}

/// Runs flights with these round trips (milliseconds) until slow start ends, comparing with the
/// model at each acknowledgement; how many flights it took and the window after each.
fn flights(round_trips: &[f64]) -> (Option<usize>, Vec<f64>) {
    let mut sender = hystart_pp();
    let mut model = HyStartPlusPlusModel::new(10.0);
    let mut windows = Vec::new();
    for (flight, rtt_ms) in round_trips.iter().enumerate() {
        let rtt = Span((rtt_ms * 1e6) as u64);
        let start = sender.c.now + rtt;
        for n in 0..(sender.c.next_id - sender.c.una) / MSS {
            let snd_nxt = sender.c.next_id;
            sender.ack(start + Span(n * 1000), rtt, 1);
            model.ack(sender.c.una, snd_nxt, *rtt_ms);
            assert_eq!(sender.in_slow_start(), !model.left, "flight {flight}");
            if model.left {
                return (Some(flight), windows);
            }
            assert!(
                (sender.cwnd() - model.cwnd).abs() < 1e-3,
                "flight {flight}: {}",
                sender.cwnd()
            );
        }
        windows.push(sender.cwnd());
    }
    (None, windows)
}

#[test]
fn hystart_pp_slows_down_at_a_delay_and_leaves_after_five_rounds() {
    // 45.5 ms are more than 40 + 40/8.
    let (left, windows) = flights(&[40.0, 45.5, 45.5, 45.5, 45.5, 45.5, 45.5]);
    assert_eq!(windows[0], 20.0);
    assert!(windows[1] < 35.0, "conservative slow start begins in the second flight");
    assert!(windows[2..].windows(2).all(|w| w[1] / w[0] < 1.27), "{windows:?}");
    // The rounds end a little before the flights: the fifth with the first flight's share.
    assert!(matches!(left, Some(5 | 6)), "{left:?}");
    assert_eq!(flights(&[40.0; 6]).0, None);
}

#[test]
fn hystart_pp_resumes_when_the_delay_goes() {
    let (left, windows) = flights(&[40.0, 45.5, 42.0, 42.0, 42.0, 42.0, 42.0]);
    assert_eq!(left, None);
    assert!(windows[1] < 35.0);
    assert!(windows[3..].windows(2).all(|w| w[1] > 1.97 * w[0]), "{windows:?}");
}

proptest! {
    #[test]
    fn hystart_pp_follows_rfc_9406(
        round_trips in prop::collection::vec((160u32..280).prop_map(|q| f64::from(q) / 4.0), 1..9),
    ) {
        // Keep out of the unit (1.024 us) around a threshold.
        let near = |last: f64, current: f64| {
            (current - last - (last / 8.0).clamp(4.0, 16.0)).abs() < 0.01
        };
        prop_assume!(!round_trips.windows(2).any(|w| near(w[0], w[1])));
        flights(&round_trips);
    }
}

#[test]
fn hystart_pp_asks_for_at_least_4_and_at_most_16_ms() {
    for (last, current, slows) in
        [(10.0, 13.9, false), (10.0, 14.1, true), (400.0, 415.9, false), (400.0, 416.1, true)]
    {
        let mut sender = hystart_pp();
        sender.round(last);
        sender.round(current);
        assert_eq!(sender.cwnd() < 40.0, slows, "{last} {current}");
    }
}

#[test]
fn hystart_pp_counts_eight_segments_of_one_acknowledgement() {
    let mut sender = hystart_pp();
    sender.ack(Time::from_millis(40), Span::from_millis(40), 10);
    assert_eq!(sender.cwnd(), 18.0);
}

#[test]
fn hystart_pp_watches_the_initial_slow_start_only() {
    let mut sender = hystart_pp();
    sender.round(40.0);
    sender.c.flight_size = 400 * MSS;
    sender.c.phase = Phase::Loss;
    sender.state.on_phase(&sender.p, &sender.c, Phase::Open, Phase::Loss);
    sender.c.phase = Phase::Open;
    sender.c.next_id = sender.c.una;
    sender.send_all();
    for round in 0..6 {
        let before = sender.cwnd();
        let acked = sender.round(40.0 + 20.0 * f64::from(round)) as f64;
        assert_eq!(sender.cwnd() - before, acked, "standard slow start whatever the delay");
    }
}

// Vegas

#[test]
fn vegas_doubles_every_other_round_trip_and_leaves_at_a_queue_of_gamma() {
    let p = slow_start::AnyParams::Vegas(VegasStartParams::default());
    let mut sender = Sender::new(p, 4);
    let mut windows = vec![sender.cwnd()];
    for _ in 0..6 {
        sender.round(40.0);
        windows.push(sender.cwnd());
    }
    // The first acknowledgement of a round still acts on the last one's word, hence the seconds.
    assert_eq!(windows[0..2], [4.0, 4.0]);
    let growth: Vec<f64> = windows.windows(2).map(|w| w[1] / w[0]).collect();
    assert!(growth.iter().all(|g| *g <= 2.01), "{growth:?}");
    assert!((windows[6] / windows[0] - 8.0).abs() < 1.0, "three doublings in six: {windows:?}");
    // Just under and well over one segment of the window in the queue.
    let window = sender.cwnd();
    for (queued, leaves) in [(0.9, false), (1.5, true)] {
        let mut sender = Sender::new(p, window as u64);
        sender.ack(Time::from_millis(40), Span::from_millis(40), 1);
        // cwnd · (rtt - base) / rtt = queued segments.
        let rtt = 40.0 * window / (window - queued);
        sender.round(rtt);
        sender.round(rtt);
        assert_eq!(!sender.in_slow_start(), leaves, "{queued} queued");
        if leaves {
            assert!((sender.cwnd() - window * 7.0 / 8.0).abs() <= 1.5, "{}", sender.cwnd());
        }
    }
}

#[test]
fn vegas_as_in_linux_doubles_every_round_trip_and_keeps_what_the_path_carried() {
    let linux = VegasStartParams { variant: VegasVariant::Linux, ..Default::default() };
    let p = slow_start::AnyParams::Vegas(linux);
    // The surplus of 128 segments is that over the least round trip: 1.9 is one whole segment, which
    // is gamma; 2.1 is more, and at 50 ms the path carries 128 · 4/5 = 102.4.
    let cases = [
        (40.0 * (1.0 + 1.9 / 128.0), None),
        (40.0 * (1.0 + 2.1 / 128.0), Some(126.0)),
        (50.0, Some(103.0)),
    ];
    for (rtt_ms, left_with) in cases {
        let mut sender = Sender::new(p, 32);
        for (rtt_ms, window) in [(40.0, 64.0), (rtt_ms, 128.0)] {
            sender.round(rtt_ms);
            assert_eq!(sender.cwnd(), window);
        }
        sender.ack(Time::from_millis(400), Span((rtt_ms * 1e6) as u64), 1);
        assert_eq!(sender.in_slow_start(), left_with.is_none(), "{rtt_ms}");
        assert!((sender.cwnd() - left_with.unwrap_or(129.0)).abs() < 0.1, "{}", sender.cwnd());
    }
}

// Packet pair

fn packet_pair(estimator: Estimator) -> slow_start::AnyParams {
    slow_start::AnyParams::PacketPair(PacketPairParams { estimator, ..Default::default() })
}

#[test]
fn three_acknowledgements_of_one_flight_set_the_threshold_to_what_the_path_holds() {
    for estimator in Estimator::ALL {
        let mut sender = Sender::new(packet_pair(*estimator), 10);
        // A segment each 1.024 ms over 40.96 ms: forty segments.
        for n in 0..3 {
            assert!(sender.ssthresh() == MAX_WINDOW);
            sender.ack(Time(40_960_000 + n * 1_024_000), Span(40_960_000), 1);
        }
        assert_eq!(sender.ssthresh(), 40 * MSS);
        // Once and for all.
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
    // 1, 2 and 4 segments, each flight a round trip after the last: only the third has three.
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
    /// Times are cut to units of 1.024 us, the round trip too: of a spacing of at least 0.2 ms that
    /// is less than 1 %.
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

/// The path of the tests with a queue: a segment each millisecond after 40 ms, in bytes and
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

    /// The next acknowledgement: when, and after what round trip.
    fn ack(&mut self) -> (u64, u64) {
        let (at, sent_at) = self.acks.pop_front().expect("something is outstanding");
        (at, at - sent_at)
    }
}

/// The estimate of the rate as the description has it, in bytes and seconds.
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
fn the_adaptive_start_follows_its_model_and_finds_what_the_path_holds() {
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

// All of them

fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..100, 0u64..200_000, 0u64..(1 << 42), Just(u64::MAX), any::<u64>()]
}

fn any_slow_start() -> impl Strategy<Value = slow_start::AnyParams> {
    let changes = prop::collection::vec(prop::option::of(any_number()), 8);
    (prop::sample::select(SLOW_STARTS), changes).prop_map(|(info, changes)| {
        let mut p = slow_start::AnyParams::by_name(info.id).expect("registered");
        for (place, raw) in changes.into_iter().enumerate() {
            if let Some(raw) = raw {
                p.set(place, raw); // refused beyond its range
            }
        }
        p
    })
}

/// What may happen to a slow start: perhaps an approval, an acknowledgement, perhaps a loss.
#[derive(Clone, Debug)]
struct Step {
    c: Conn,
    a: Ack,
    credit: u64,
    restarts: bool,
    rate: Option<Rate>,
}

fn any_phase() -> impl Strategy<Value = Phase> {
    prop::sample::select(vec![Phase::Open, Phase::Recovery, Phase::Loss, Phase::Cwr])
}

prop_compose! {
    fn any_step()(
        (now, una, next_id) in (any_number(), any_number(), any_number()),
        (srtt, min_rtt, rtt) in (any_number(), any_number(), any_number()),
        (acked, credit) in (any_number(), any_number()),
        mss in prop_oneof![Just(0), Just(1), Just(1_460), any::<u32>()],
        restarts in prop::bool::weighted(0.1),
        rate in prop::option::weighted(0.1, any_number()),
        (phase, sent) in (any_phase(), any_number()),
    ) -> Step {
        let (srtt, min_rtt) = (Span(srtt), Span(min_rtt));
        let now = Time(now);
        let c = Conn { now, una, next_id, srtt, min_rtt, phase, sent, ..Conn::new(mss) };
        let a = Ack { rtt: Span(rtt), ..Ack::of(acked) };
        Step { c, a, credit: credit.min(MAX_WINDOW), restarts, rate: rate.map(Rate) }
    }
}

fn step(
    state: &mut AnySlowStart,
    p: &slow_start::AnyParams,
    w: &mut Window,
    Step { c, a, credit, restarts, rate }: &Step,
) {
    if let Some(rate) = rate {
        state.approve(p, c, *rate, w);
    }
    state.observe(p, c, a, w);
    if w.in_slow_start() {
        state.grow(p, c, a, *credit, w);
    }
    if *restarts {
        let ssthresh = state.threshold(p, c, w, w.cwnd() / 2);
        w.set_ssthresh(ssthresh);
        state.restart(p, c);
        state.recovered(p, c, w);
    }
}

proptest! {
    #[test]
    fn no_input_makes_any_slow_start_panic_or_leave_the_windows_range(
        p in any_slow_start(), steps in prop::collection::vec(any_step(), 1..60),
    ) {
        let c = steps[0].c;
        let mut w = Window::new(&c, 10_000, MAX_WINDOW);
        let mut state = AnySlowStart::init(&p, &c);
        for s in &steps {
            step(&mut state, &p, &mut w, s);
            prop_assert!((1..=MAX_WINDOW).contains(&w.cwnd()), "{state:?} {w:?}");
            prop_assert!(w.ssthresh() <= MAX_WINDOW);
        }
    }

    #[test]
    fn the_origin_of_time_and_of_the_stream_does_not_matter_to_any_slow_start(
        p in any_slow_start(), steps in prop::collection::vec(any_step(), 1..60),
        time in 0..(1u64 << 40), offset in 0..(1u64 << 40),
    ) {
        const ROOM: u64 = 1 << 62;
        let windows = |time: u64, offset: u64| {
            let moved = |c: &Conn| Conn {
                now: Time(c.now.0 % ROOM + time),
                una: c.una % ROOM + offset,
                next_id: c.next_id % ROOM + offset,
                ..*c
            };
            let c = moved(&steps[0].c);
            let mut w = Window::new(&c, 10_000, MAX_WINDOW);
            let mut state = AnySlowStart::init(&p, &c);
            let run = |s: &Step| {
                step(&mut state, &p, &mut w, &Step { c: moved(&s.c), ..s.clone() });
                w
            };
            steps.iter().map(run).collect::<Vec<_>>()
        };
        prop_assert_eq!(windows(0, 0), windows(time, offset));
    }
}

#[test]
fn states_are_small() {
    assert!(size_of::<HyStart>() <= 32);
    assert!(size_of::<AnySlowStart>() <= 64, "{}", size_of::<AnySlowStart>());
}
