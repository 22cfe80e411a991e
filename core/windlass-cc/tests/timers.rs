//! The retransmission timers compared with floating-point models of their definitions.

use proptest::prelude::*;
use windlass_cc::rto::{
    Backoff, Coap, CoapParams, Cocoa, CocoaParams, CocoaPlus, CocoaPlusParams, Fasor, FasorParams,
    Linux, LinuxParams, Peakhopper, PeakhopperParams, Rfc6298, Rfc6298Params, Uip, UipParams,
};
use windlass_cc::{Ratio, RtoEstimator, RttSample, Span, Time};

fn seconds(span: Span) -> f64 {
    span.0 as f64 * 1e-9
}

fn span(seconds: f64) -> Span {
    Span((seconds * 1e9).round() as u64)
}

fn close(ours: Span, model: f64, bound_ns: f64) -> bool {
    (ours.0 as f64 - model * 1e9).abs() <= bound_ns
}

fn sample(rtt: f64, retransmits: u32) -> RttSample {
    RttSample { retransmits, ..RttSample::of(span(rtt)) }
}

// Linux

/// `tcp_rtt_estimator` in seconds, with plain averages instead of the kernel's scaled values.
#[derive(Default)]
struct LinuxModel {
    srtt: Option<f64>,
    mdev: f64,
    mdev_max: f64,
    rttvar: f64,
    round_end: u64,
}

const LINUX_FLOOR: f64 = 0.2;

impl LinuxModel {
    fn rto(&mut self, m: f64, una: u64, next: u64) -> f64 {
        let Some(srtt) = self.srtt else {
            self.srtt = Some(m);
            self.mdev = m / 2.0;
            self.rttvar = (4.0 * self.mdev).max(LINUX_FLOOR);
            self.mdev_max = self.rttvar;
            self.round_end = next;
            return m + self.rttvar;
        };
        let error = (m - srtt).abs();
        let gain = if m < srtt && error > self.mdev { 1.0 / 32.0 } else { 1.0 / 4.0 };
        self.mdev += gain * (error - self.mdev);
        self.srtt = Some(srtt + (m - srtt) / 8.0);
        self.mdev_max = self.mdev_max.max(4.0 * self.mdev);
        self.rttvar = self.rttvar.max(self.mdev_max);
        if una > self.round_end {
            self.rttvar -= (self.rttvar - self.mdev_max) / 4.0;
            self.round_end = next;
            self.mdev_max = LINUX_FLOOR;
        }
        self.srtt.unwrap() + self.rttvar
    }
}

proptest! {
    /// The kernel cuts at each shift. The error of srtt is less than 8 ns. The error of mdev is the sum
    /// of this error and its own cuts, and counts four times in the timer.
    #[test]
    fn the_timer_of_linux_follows_its_model_and_stays_200_ms_above_the_average(
        samples in prop::collection::vec((1_000u64..5_000_000_000, 1u64..5), 1..200),
    ) {
        let p = LinuxParams::default();
        let (mut timer, mut model) = (Linux::init(&p), LinuxModel::default());
        let (mut una, mut next) = (0, 10);
        for (rtt, acked) in samples {
            una += acked;
            next = next.max(una) + acked;
            let s = RttSample { una, next_id: next, ..RttSample::of(Span(rtt)) };
            timer.on_sample(&p, &s);
            let expected = model.rto(rtt as f64 * 1e-9, una, next).min(120.0);
            prop_assert!(close(timer.rto(&p), expected, 300.0), "{timer:?} {expected}");
            prop_assert!(timer.rto(&p) >= timer.srtt() + Span::from_millis(200) || expected == 120.0);
        }
    }
}

#[test]
fn a_steady_path_has_a_linux_timer_of_the_average_and_200_ms() {
    let p = LinuxParams::default();
    let mut timer = Linux::init(&p);
    for n in 0..200 {
        let s = RttSample { una: n + 1, next_id: n + 2, ..RttSample::of(Span::from_millis(10)) };
        timer.on_sample(&p, &s);
    }
    assert!(close(timer.rto(&p), 0.210, 100.0), "{timer:?}");
}

#[test]
fn a_sudden_drop_of_the_round_trip_does_not_lengthen_the_linux_timer() {
    let p = LinuxParams::default();
    let mut timer = Linux::init(&p);
    for n in 0..100 {
        let s = RttSample { una: n + 1, next_id: n + 2, ..RttSample::of(Span::from_secs(1)) };
        timer.on_sample(&p, &s);
    }
    let before = timer.rto(&p);
    let s = RttSample { una: 101, next_id: 102, ..RttSample::of(Span::from_millis(100)) };
    timer.on_sample(&p, &s);
    assert!(timer.rto(&p) <= before, "{before} {}", timer.rto(&p));
    // The standard timer becomes longer: 0.8875 s + 4 · 0.225 s.
    let p = Rfc6298Params::default();
    let mut timer = Rfc6298::init(&p);
    for _ in 0..100 {
        timer.on_sample(&p, &RttSample::of(Span::from_secs(1)));
    }
    timer.on_sample(&p, &RttSample::of(Span::from_millis(100)));
    assert!(close(timer.rto(&p), 1.7875, 100.0), "{timer:?}");
}

// CoCoA

/// Both estimators and the overall estimate, seconds.
struct CocoaModel {
    estimators: [Option<(f64, f64)>; 2],
    rto: f64,
}

impl CocoaModel {
    fn sample(&mut self, r: f64, weak: bool, k: f64, share: f64) {
        let estimator = &mut self.estimators[usize::from(weak)];
        let (srtt, rttvar) = match *estimator {
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => {
                (0.875 * srtt + 0.125 * r, 0.75 * rttvar + 0.25 * (srtt - r).abs())
            }
        };
        *estimator = Some((srtt, rttvar));
        self.rto = (share * (srtt + k * rttvar) + (1.0 - share) * self.rto).min(32.0);
    }
}

proptest! {
    #[test]
    fn both_kinds_of_cocoa_follow_their_models(
        samples in prop::collection::vec((1_000_000u64..20_000_000_000, 0u32..5), 1..100),
    ) {
        let (p, plus) = (CocoaParams::default(), CocoaPlusParams::default());
        let (mut timer, mut timer_plus) = (Cocoa::init(&p), CocoaPlus::init(&plus));
        let mut model = CocoaModel { estimators: [None; 2], rto: 2.0 };
        let mut model_plus = CocoaModel { estimators: [None; 2], rto: 2.0 };
        for (rtt, retransmits) in samples {
            let r = rtt as f64 * 1e-9;
            let weak = retransmits > 0;
            timer.on_sample(&p, &sample(r, retransmits));
            model.sample(r, weak, 4.0, 0.5);
            timer_plus.on_sample(&plus, &sample(r, retransmits));
            if retransmits <= 2 {
                let (k, share) = if weak { (1.0, 0.25) } else { (4.0, 0.5) };
                model_plus.sample(r, weak, k, share);
            }
            prop_assert!(close(timer.rto(&p), model.rto, 120.0), "{timer:?} {}", model.rto);
            prop_assert!(
                close(timer_plus.rto(&plus), model_plus.rto, 120.0), "{timer_plus:?} {}", model_plus.rto
            );
        }
    }
}

#[test]
fn the_drafts_example_of_weak_samples_gives_its_timeouts() {
    // A timeout of 1.5 s and a weak estimate of 2 s + 1 · 1 s, twice.
    let p = CocoaPlusParams { initial: span(1.5), ..Default::default() };
    let mut timer = CocoaPlus::init(&p);
    timer.on_sample(&p, &sample(2.0, 1));
    assert!(close(timer.rto(&p), 1.875, 10.0), "{timer:?}");
    // The second sample must leave the estimate at 3 s: its error e moves the average by e/8 and
    // the deviation from 1 s to 0.75 s + e/4, so 2 + e/8 + 0.75 + e/4 = 3 at e = 2/3 s.
    timer.on_sample(&p, &sample(2.0 + 2.0 / 3.0, 2));
    assert!(close(timer.rto(&p), 0.25 * 3.0 + 0.75 * 1.875, 50.0), "{timer:?}");
}

fn backed_off(p: &CocoaPlusParams, expiries: usize) -> Vec<f64> {
    let mut timer = CocoaPlus::init(p);
    let mut timeouts = vec![seconds(timer.rto(p))];
    for _ in 0..expiries {
        timer.on_timeout(p);
        timeouts.push(seconds(timer.rto(p)));
    }
    timeouts
}

#[test]
fn the_variable_back_off_is_chosen_by_the_timeout_that_expired_or_once() {
    let p = CocoaPlusParams { initial: span(0.5), ..Default::default() };
    assert_eq!(backed_off(&p, 4), [0.5, 1.5, 3.0, 6.0, 9.0]);
    let once = CocoaPlusParams { backoff: Backoff::Estimate, ..p };
    assert_eq!(backed_off(&once, 4), [0.5, 1.5, 4.5, 13.5, 32.0]);
    let binary = CocoaPlusParams { backoff: Backoff::Binary, ..p };
    assert_eq!(backed_off(&binary, 4), [0.5, 1.0, 2.0, 4.0, 8.0]);
    // The bounds themselves are doubled.
    for (initial, second) in [(1.0, 2.0), (3.0, 6.0), (3.1, 4.65), (30.0, 32.0)] {
        let p = CocoaPlusParams { initial: span(initial), ..p };
        assert_eq!(backed_off(&p, 1)[1], second, "{initial}");
    }
}

#[test]
fn the_back_off_of_cocoa_ends_when_new_data_is_acknowledged() {
    let p = CocoaPlusParams::default();
    let mut timer = CocoaPlus::init(&p);
    for _ in 0..3 {
        timer.on_timeout(&p);
    }
    assert!(timer.rto(&p) > Span::from_secs(2));
    // After more than two retransmissions the sample is ignored.
    timer.on_sample(&p, &sample(9.0, 3));
    timer.on_progress(&p);
    assert_eq!(timer.rto(&p), Span::from_secs(2));
    assert_eq!(timer.srtt(), Span::NONE);
}

#[test]
fn an_estimate_that_is_not_renewed_ages_towards_the_middle() {
    let p = CocoaPlusParams { dither: Ratio::ONE, strong: Ratio::ONE, ..Default::default() };
    // A first sample of 0.1 s: 0.1 + 4 · 0.05 = 0.3 s, with a strong share of one.
    let aged = |rtt: f64, after: f64| {
        let mut timer = CocoaPlus::init(&p);
        timer.on_sample(&p, &RttSample { now: Time::from_secs(1_000), ..sample(rtt, 0) });
        timer.arm(&p, Time::from_secs(1_000) + span(after), 0)
    };
    assert_eq!(aged(0.1, 4.7), span(0.3));
    assert_eq!(aged(0.1, 4.8), span(0.6));
    // After 16 · 0.6 s it doubles again; 1.2 s is between the bounds and stays.
    assert_eq!(aged(0.1, 14.3), span(0.6));
    assert_eq!(aged(0.1, 14.4), span(1.2));
    assert_eq!(aged(0.1, 1e7), span(1.2));
    // 3 s + 4 · 1.5 s = 9 s; after 36 s, 1 + 4.5; after 22 s more, 1 + 2.75; after 15 s, 2.875.
    assert_eq!(aged(3.0, 35.9), span(9.0));
    assert_eq!(aged(3.0, 36.0), span(5.5));
    assert_eq!(aged(3.0, 58.0), span(3.75));
    assert_eq!(aged(3.0, 73.0), span(2.875));
    assert_eq!(aged(3.0, 1e7), span(2.875));
    // The original does not age.
    let p = CocoaParams { dither: Ratio::ONE, strong: Ratio::ONE, ..Default::default() };
    let mut timer = Cocoa::init(&p);
    timer.on_sample(&p, &sample(0.1, 0));
    assert_eq!(timer.arm(&p, Time::from_secs(10_000_000), 0), span(0.3));
}

#[test]
fn timers_of_cocoa_are_spread_between_1_and_1_5_times_the_timeout() {
    let p = CocoaPlusParams::default();
    let mut timer = CocoaPlus::init(&p);
    let mut at = |entropy| seconds(timer.arm(&p, Time::ZERO, entropy));
    assert_eq!(at(0), 2.0);
    assert_eq!(at(u32::MAX), 3.0);
    assert!((at(1 << 31) - 2.5).abs() < 1e-8);
}

// Peakhopper

struct PeakhopperModel {
    previous: Option<f64>,
    boost: f64,
    rto: f64,
}

impl PeakhopperModel {
    fn sample(&mut self, r: f64) {
        let fade = 1.0 - 1.0 / 24.0;
        match self.previous {
            None => self.rto = 1.75 * r,
            Some(previous) => {
                let change = (r - previous).abs() / r;
                self.boost = (2.0 * change).max(fade * self.boost).min(1.0);
                let peak = r.max(previous);
                let hop = (1.0 + self.boost) * peak;
                self.rto = (fade * self.rto).max(hop).max(peak + 0.1);
            }
        }
        self.rto = self.rto.min(60.0);
        self.previous = Some(r);
    }
}

proptest! {
    /// The boost is in units of 2^-16 and is cut twice per sample. The cuts of about 24 samples remain
    /// in it, for a peak of at most 20 s.
    #[test]
    fn peakhopper_follows_its_model(
        samples in prop::collection::vec(1_000_000u64..20_000_000_000, 1..100),
    ) {
        let p = PeakhopperParams::default();
        let mut timer = Peakhopper::init(&p);
        let mut model = PeakhopperModel { previous: None, boost: 0.0, rto: 1.0 };
        for rtt in samples {
            timer.on_sample(&p, &RttSample::of(Span(rtt)));
            model.sample(rtt as f64 * 1e-9);
            let bound = 25.0 * 2f64.powi(-16) * 20e9;
            prop_assert!(close(timer.rto(&p), model.rto, bound), "{timer:?} {}", model.rto);
        }
    }
}

#[test]
fn a_small_change_of_the_round_trip_boosts_peakhopper() {
    // From 1 s to 1.1 s the change is a tenth of a second in 1.1 s, which whole numbers would not show.
    // The boost is twice that, and the timeout is (1 + 0.2/1.1) · 1.1 s = 1.3 s.
    let p = PeakhopperParams { fade: 1, ..Default::default() };
    let mut timer = Peakhopper::init(&p);
    timer.on_sample(&p, &RttSample::of(span(1.0)));
    timer.on_sample(&p, &RttSample::of(span(1.1)));
    assert!(close(timer.rto(&p), 1.3, 1.1e9 * 2f64.powi(-16)), "{timer:?}");
}

#[test]
fn peakhopper_stays_above_the_peak_by_two_ticks() {
    let p = PeakhopperParams::default();
    let mut timer = Peakhopper::init(&p);
    for _ in 0..500 {
        timer.on_sample(&p, &RttSample::of(Span::from_millis(80)));
    }
    assert_eq!(timer.rto(&p), Span::from_millis(180));
}

// uIP

#[test]
fn the_back_off_of_uip_starts_from_the_constant() {
    let p = UipParams::default();
    let mut timer = Uip::init(&p);
    let ticks = |timer: &Uip| timer.rto(&p).0 / p.tick.0;
    // The SYN begins the back-off, and has no sample.
    timer.on_sample(&p, &sample(10.0, 0));
    assert_eq!(ticks(&timer), 4);
    timer.on_timeout(&p);
    assert_eq!(ticks(&timer), 7);
    timer.on_progress(&p);
    assert_eq!(ticks(&timer), 3, "the first segment has the constant");
    // First an estimate of 20 ticks: 20 >> 3 = 2 of average, 16 - 4 + 20 = 32 of deviation.
    timer.on_sample(&p, &sample(10.0, 0));
    assert_eq!(ticks(&timer), 2 + 32);
    let mut seen = Vec::new();
    for _ in 0..7 {
        timer.on_timeout(&p);
        seen.push(ticks(&timer));
    }
    assert_eq!(seen, [4, 7, 13, 25, 49, 49, 49], "the tick that finds zero counts, too");
    timer.on_progress(&p);
    assert_eq!(ticks(&timer), 34, "an acknowledgement loads the estimate again");
}

#[test]
fn the_estimator_of_uip_counts_whole_ticks() {
    let p = UipParams::default();
    let mut timer = Uip::init(&p);
    timer.on_progress(&p); // of the SYN
    // Van Jacobson's scaled integers, in the steps of the original code.
    let (mut sa, mut sv) = (0i32, 16i32);
    for rtt_ms in [0, 499, 500, 2_700, 10_000, 30_000, 1_000, 1_000, 100, 100, 100, 100] {
        timer.on_sample(&p, &RttSample::of(Span::from_millis(rtt_ms)));
        let mut m = i32::try_from(rtt_ms / 500).unwrap();
        m -= sa >> 3;
        sa += m;
        m = m.abs() - (sv >> 2);
        sv += m;
        assert_eq!(timer.rto(&p).0 / p.tick.0, u64::try_from((sa >> 3) + sv).unwrap(), "{rtt_ms}");
    }
    let before = timer;
    timer.on_sample(&p, &sample(1.0, 1));
    assert_eq!(timer, before, "a retransmitted segment is not measured");
}

#[test]
fn the_timer_of_uip_never_falls_below_three_ticks() {
    let p = UipParams::default();
    let mut timer = Uip::init(&p);
    timer.on_progress(&p); // of the SYN
    for _ in 0..100 {
        timer.on_sample(&p, &RttSample::of(Span::from_millis(50)));
    }
    assert_eq!(timer.rto(&p), Span::from_millis(1_500));
}

// CoAP

/// RFC 7252 section 4.2: the timeout is between 2 and 3 s, doubles with each expiry, and starts again
/// for the next message.
#[test]
fn the_timer_of_coap_doubles_its_random_timeout_and_ignores_samples() {
    let p = CoapParams::default();
    let mut timer = Coap::init(&p);
    let armed = |timer: &mut Coap, entropy| timer.arm(&p, Time::ZERO, entropy);
    assert_eq!(armed(&mut timer, 0), Span::from_secs(2));
    assert_eq!(armed(&mut timer, u32::MAX), Span::from_secs(3));
    let drawn = armed(&mut timer, 0x4000_0000);
    for power in 1..5 {
        timer.on_sample(&p, &sample(0.05, 0));
        timer.on_timeout(&p);
        let doubled = armed(&mut timer, 0x4000_0000);
        assert!(close(doubled, seconds(drawn) * f64::from(1 << power), 32.0), "{doubled:?}");
    }
    timer.on_progress(&p);
    assert_eq!(armed(&mut timer, 0), Span::from_secs(2));
}

// FASOR

/// The timeouts of an exchange without dithering, milliseconds.
fn series(p: &FasorParams, timer: &Fasor) -> Vec<u64> {
    let mut timer = *timer;
    let timeouts = (0..5).map(|_| {
        let timeout = timer.arm(p, Time::ZERO, 0).0 / 1_000_000;
        timer.on_timeout(p);
        timeout
    });
    timeouts.collect()
}

/// The draft's state machine: a fast timeout of 150 ms after one sample of 100 ms, R + 4 R/(2 4).
#[test]
fn fasor_goes_from_fast_over_one_quick_probe_to_slow_and_back_at_once() {
    let p = FasorParams { dither: false, ..Default::default() };
    let mut timer = Fasor::init(&p);
    assert_eq!(series(&p, &timer), [2_000, 4_000, 8_000, 16_000, 32_000]);
    timer.on_sample(&p, &sample(0.1, 0));
    assert_eq!(series(&p, &timer), [150, 300, 600, 1_200, 2_400]);
    // An exchange that took 1 s with retransmissions: the slow timeout is 1.5 s.
    timer.on_sample(&p, &sample(1.0, 2));
    assert_eq!(series(&p, &timer), [150, 1_500, 300, 600, 1_200]);
    assert_eq!(timer.srtt(), Span::from_millis(100), "no sample of the fast timeout");
    timer.on_sample(&p, &sample(2.0, 1));
    assert_eq!(series(&p, &timer), [3_000, 150, 300, 600, 1_200]);
    timer.on_sample(&p, &sample(4.0, 1));
    assert_eq!(series(&p, &timer), [6_000, 150, 300, 600, 1_200]);
    timer.on_sample(&p, &sample(0.1, 0));
    // The same sample again: the deviation decreases to three quarters, 9.375 ms.
    assert_eq!(series(&p, &timer), [137, 275, 550, 1_100, 2_200]);
}

/// If the slow timeout is shorter than the second fast timeout, the latter counts. No timeout exceeds
/// the maximum.
#[test]
fn fasor_takes_the_longer_of_slow_and_doubled_fast_and_keeps_to_its_largest() {
    let p = FasorParams { dither: false, max: Span::from_secs(3), ..Default::default() };
    let mut timer = Fasor::init(&p);
    timer.on_sample(&p, &sample(1.0, 0));
    timer.on_sample(&p, &sample(1.2, 1));
    assert_eq!(series(&p, &timer), [1_500, 3_000, 3_000, 3_000, 3_000]);
    timer.on_sample(&p, &sample(100.0, 1));
    assert_eq!(series(&p, &timer)[0], 3_000);
}

/// A quarter to the whole of the SRTT is added; before a sample the SRTT is a third of the initial
/// timeout.
#[test]
fn fasor_spreads_the_fast_timeout_by_a_quarter_to_a_whole_round_trip() {
    let p = FasorParams::default();
    let mut timer = Fasor::init(&p);
    let ends = |timer: &mut Fasor| {
        [0, u32::MAX].map(|entropy| seconds(timer.arm(&p, Time::ZERO, entropy)))
    };
    let near =
        |got: [f64; 2], want: [f64; 2]| got.iter().zip(want).all(|(g, w)| (g - w).abs() < 1e-6);
    assert!(near(ends(&mut timer), [2.0 + 1.0 / 6.0, 2.0 + 2.0 / 3.0]));
    timer.on_sample(&p, &sample(0.1, 0));
    assert!(near(ends(&mut timer), [0.175, 0.25]));
    timer.on_sample(&p, &sample(1.0, 1));
    timer.on_sample(&p, &sample(1.0, 1));
    assert!(near(ends(&mut timer), [1.5, 1.5]), "the slow one is not spread");
}
