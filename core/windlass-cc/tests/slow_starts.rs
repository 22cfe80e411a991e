//! The slow starts compared with the equations of their RFCs and papers.

use crate::common::begins_at;
use proptest::prelude::*;
use windlass_cc::slow_start::{
    self, AnySlowStart, HyStart, HyStartPlusPlusParams, LimitedParams, SLOW_STARTS, SlowStart,
    VegasStartParams, VegasVariant,
};
use windlass_cc::window::{MAX_WINDOW, Window};
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Parameters, Phase, Rate, Setup, Span, Time,
};

pub(crate) const MSS: u64 = 1000;
pub(crate) const MS: u64 = 1_000_000;

/// A Reno sender of segments of 1000 B, with acknowledgements that the test creates.
pub(crate) struct Sender {
    pub(crate) p: AnyParams,
    pub(crate) c: Conn,
    pub(crate) state: AnyController,
}

impl Sender {
    pub(crate) fn new(slow_start: slow_start::AnyParams, window: u64) -> Sender {
        let mut p = begins_at("reno", window * MSS, MAX_WINDOW);
        p.set_common(&Setup { slow_start, ..p.common() });
        let c = Conn::new(MSS as u32);
        let mut sender = Sender { state: AnyController::init(&p, &c), p, c };
        sender.send_all();
        sender
    }

    pub(crate) fn cwnd(&self) -> f64 {
        self.state.control(&self.p, &self.c).cwnd as f64 / MSS as f64
    }

    pub(crate) fn ssthresh(&self) -> u64 {
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

    pub(crate) fn ack(&mut self, at: Time, rtt: Span, segments: u64) {
        self.c.now = at;
        self.c.una += segments * MSS;
        if rtt.is_known() {
            self.c.min_rtt = self.c.min_rtt.min(rtt);
            self.c.srtt = rtt;
        }
        self.state.on_ack(&self.p, &self.c, &Ack { rtt, ..Ack::of(segments * MSS) });
        self.send_all();
    }

    /// Acknowledges all outstanding segments one by one, `rtt_ms` milliseconds later; returns their
    /// number.
    pub(crate) fn round(&mut self, rtt_ms: f64) -> u64 {
        let segments = (self.c.next_id - self.c.una) / MSS;
        let rtt = Span((rtt_ms * 1e6) as u64);
        let start = self.c.now + rtt;
        for n in 0..segments {
            // One microsecond apart: a burst.
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
        // If the window is a multiple of 50 except for its last bit, K may be one more or less for one
        // acknowledgement: 1/2 - 1/3, 1/3 - 1/4 and so on of a segment.
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

/// Runs flights with these RTTs (milliseconds) until slow start ends, and compares with the model at
/// each acknowledgement. Returns the number of flights and the window after each.
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

// RFC 9406-4.2-3, 9406-4.2-5, 9406-4.2-7
#[test]
fn hystart_pp_slows_down_at_a_delay_and_leaves_after_five_rounds() {
    // 45.5 ms exceeds 40 + 40/8.
    let (left, windows) = flights(&[40.0, 45.5, 45.5, 45.5, 45.5, 45.5, 45.5]);
    assert_eq!(windows[0], 20.0);
    assert!(windows[1] < 35.0, "conservative slow start begins in the second flight");
    assert!(windows[2..].windows(2).all(|w| w[1] / w[0] < 1.27), "{windows:?}");
    // The rounds end a little before the flights: the fifth round includes a part of the first flight.
    assert!(matches!(left, Some(5 | 6)), "{left:?}");
    assert_eq!(flights(&[40.0; 6]).0, None);
}

// RFC 9406-4.2-6
#[test]
fn hystart_pp_resumes_when_the_delay_goes() {
    let (left, windows) = flights(&[40.0, 45.5, 42.0, 42.0, 42.0, 42.0, 42.0]);
    assert_eq!(left, None);
    assert!(windows[1] < 35.0);
    assert!(windows[3..].windows(2).all(|w| w[1] > 1.97 * w[0]), "{windows:?}");
}

proptest! {
    // RFC 9406-4.2-1, 9406-4.3-1, 9406-4.3-2
    #[test]
    fn hystart_pp_follows_rfc_9406(
        round_trips in prop::collection::vec((160u32..280).prop_map(|q| f64::from(q) / 4.0), 1..9),
    ) {
        // Avoid one unit (1.024 us) around a threshold.
        let near = |last: f64, current: f64| {
            (current - last - (last / 8.0).clamp(4.0, 16.0)).abs() < 0.01
        };
        prop_assume!(!round_trips.windows(2).any(|w| near(w[0], w[1])));
        flights(&round_trips);
    }
}

// RFC 9406-4.2-4
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

// RFC 9406-4.2-2, 9406-4.3-4
#[test]
fn hystart_pp_counts_eight_segments_of_one_acknowledgement() {
    let mut sender = hystart_pp();
    sender.ack(Time::from_millis(40), Span::from_millis(40), 10);
    assert_eq!(sender.cwnd(), 18.0);
}

// RFC 9406-4.2-8
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
        assert_eq!(sender.cwnd() - before, acked, "standard slow start at any delay");
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
    // The first acknowledgement of a round still uses the decision of the last round, so the second is
    // compared.
    assert_eq!(windows[0..2], [4.0, 4.0]);
    let growth: Vec<f64> = windows.windows(2).map(|w| w[1] / w[0]).collect();
    assert!(growth.iter().all(|g| *g <= 2.01), "{growth:?}");
    assert!((windows[6] / windows[0] - 8.0).abs() < 1.0, "three doublings in six: {windows:?}");
    // Just below and well above one queued segment.
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
fn vegas_as_in_linux_doubles_every_rtt_and_keeps_the_carried_data() {
    let linux = VegasStartParams { variant: VegasVariant::Linux, ..Default::default() };
    let p = slow_start::AnyParams::Vegas(linux);
    // The surplus of 128 segments is relative to the minimum RTT. 1.9 is one whole segment, which is
    // gamma. 2.1 is more, and at 50 ms the path carries 128 · 4/5 = 102.4.
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

#[test]
fn vegas_as_in_linux_judges_a_round_with_the_sample_that_ends_it() {
    let linux = VegasStartParams { variant: VegasVariant::Linux, ..Default::default() };
    for (last_ms, stays) in [(40, true), (50, false)] {
        let mut sender = Sender::new(slow_start::AnyParams::Vegas(linux), 32);
        sender.round(40.0);
        sender.round(50.0);
        sender.ack(Time::from_millis(400), Span::from_millis(last_ms), 1);
        assert_eq!(sender.in_slow_start(), stays, "{last_ms} ms");
    }
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
                p.set(place, raw); // rejected outside its range
            }
        }
        p
    })
}

/// Events of a slow start: an optional approval, an acknowledgement, and an optional loss.
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
    // The bins of SEARCH take three quarters.
    assert!(size_of::<AnySlowStart>() <= 208, "{}", size_of::<AnySlowStart>());
}

// RFC 9406-4.3-3
#[test]
fn hystart_pp_has_a_divisor_of_at_least_2() {
    // RFC 9406 section 4.3: a divisor of 1 would be standard slow start.
    let param = HyStartPlusPlusParams::TABLE.iter().find(|p| p.name == "css_growth_divisor");
    let kind = param.expect("the parameter").kind;
    assert!(!kind.admits(1) && kind.admits(2));
}
