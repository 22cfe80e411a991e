//! The integer state machines compared with their equations, computed separately in `f64`, and with the
//! tables of the papers.

use crate::common::{avoidance_by, begins_at};
use proptest::prelude::*;
use windlass_cc::reno::Increase;
use windlass_cc::rto::{Rfc6298, Rfc6298Params};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Phase, RtoEstimator, RttSample, Span, flags,
};

/// RFC 6298 section 2 as it is written, in seconds.
struct RtoModel {
    estimate: Option<(f64, f64)>,
    rto: f64,
}

const ALPHA: f64 = 1.0 / 8.0;
const BETA: f64 = 1.0 / 4.0;
const K: f64 = 4.0;

impl RtoModel {
    fn sample(&mut self, r: f64, granularity: f64) {
        let (srtt, rttvar) = match self.estimate {
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => {
                let rttvar = (1.0 - BETA) * rttvar + BETA * (srtt - r).abs();
                ((1.0 - ALPHA) * srtt + ALPHA * r, rttvar)
            }
        };
        self.estimate = Some((srtt, rttvar));
        self.rto = (srtt + granularity.max(K * rttvar)).clamp(1.0, 60.0);
    }
}

/// Each update truncates two products, by less than 1 ns together, and keeps `1 - gain` of its previous
/// error. Therefore the error stays below `1 / gain`, 8 ns for srtt. The error of rttvar adds a quarter
/// of these 8 ns to its own 1 ns (and half a nanosecond once). It stays below (1 + 2) / (1/4) = 12 ns.
/// The timeout adds the error of srtt and four times the error of rttvar: 56 ns, doubled with every
/// expiry.
const SRTT_ERROR_NS: f64 = 8.0;
const RTTVAR_ERROR_NS: f64 = 12.0;
const RTO_ERROR_NS: f64 = 56.0;

/// Error of `f64` itself over the values and steps used here.
const F64_ERROR_NS: f64 = 0.1;

fn close(ours: Span, model_s: f64, bound_ns: f64) -> bool {
    (ours.0 as f64 - model_s * 1e9).abs() <= bound_ns + F64_ERROR_NS
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    // RFC 6298-1-1, 6298-2.2-1, 6298-2.3-1, 6298-2.3-2, 6298-2.3-3
    #[test]
    fn the_timer_follows_rfc_6298_within_56_nanoseconds(
        samples in prop::collection::vec(1_000..100_000_000_000u64, 1..200),
    ) {
        let p = Rfc6298Params::default();
        let mut timer = Rfc6298::init(&p);
        let mut model = RtoModel { estimate: None, rto: 1.0 };
        for rtt in samples {
            timer.on_sample(&p, &RttSample::of(Span(rtt)));
            model.sample(rtt as f64 * 1e-9, 1e-3);
            let (srtt, rttvar) = model.estimate.expect("a sample was given");
            prop_assert!(close(timer.srtt(), srtt, SRTT_ERROR_NS), "{timer:?} {srtt}");
            prop_assert!(close(timer.rttvar(), rttvar, RTTVAR_ERROR_NS), "{timer:?} {rttvar}");
            prop_assert!(close(timer.rto(&p), model.rto, RTO_ERROR_NS), "{timer:?} {}", model.rto);
        }
    }

    #[test]
    fn the_timer_has_no_fixed_minimum(
        samples in prop::collection::vec(1_000..10_000_000_000u64, 1..100),
    ) {
        let p = Rfc6298Params { min: Span::ZERO, granularity: Span::ZERO, ..Default::default() };
        let mut timer = Rfc6298::init(&p);
        let mut model = RtoModel { estimate: None, rto: 1.0 };
        for rtt in samples {
            timer.on_sample(&p, &RttSample::of(Span(rtt)));
            model.sample(rtt as f64 * 1e-9, 0.0);
            let (srtt, rttvar) = model.estimate.expect("a sample was given");
            let rto = (srtt + K * rttvar).min(60.0);
            prop_assert!(close(timer.rto(&p), rto, RTO_ERROR_NS), "{timer:?} {rto}");
        }
    }

    // RFC 5681-3.1-8
    #[test]
    fn slow_start_adds_the_acknowledged_bytes_up_to_one_segment(
        mss in 1..9_000u32, segments in 1..50u64, acks in prop::collection::vec(1..30_000u64, 0..50),
    ) {
        let p = begins_at("reno", segments * u64::from(mss), MAX_WINDOW);
        let c = Conn::new(mss);
        let mut reno = AnyController::init(&p, &c);
        let mut expected = p.common().initial_window;
        for acked in acks {
            reno.on_ack(&p, &c, &Ack::of(acked));
            expected += acked.min(u64::from(mss));
            prop_assert_eq!(reno.control(&p, &c).cwnd, expected);
        }
    }

    // RFC 5681-3.1-10
    #[test]
    fn growth_per_acknowledgement_follows_equation_3(
        mss in 100..9_000u32, segments in 2..1_000u64, acks in 1..2_000usize,
    ) {
        let p = avoidance_by("reno", Increase::PerAck, segments * u64::from(mss));
        let c = Conn::new(mss);
        let mut reno = AnyController::init(&p, &c);
        let mut model = p.common().initial_window as f64;
        for _ in 0..acks {
            reno.on_ack(&p, &c, &Ack { acked: u64::from(mss), ..Ack::default() });
            model += f64::from(mss).powi(2) / model;
        }
        // Each step truncates the window by less than 1 B in the divisor and the sum by 2^-16 B.
        let step = f64::from(mss).powi(2) / (p.common().initial_window as f64).powi(2);
        let bound = 1.0 + acks as f64 * (step + 2f64.powi(-16));
        let ours = reno.control(&p, &c).cwnd as f64;
        prop_assert!((ours - model).abs() <= bound, "{ours} {model} {bound}");
    }

    // RFC 5681-3.1-11
    #[test]
    fn growth_by_bytes_is_one_segment_per_window_however_it_is_acknowledged(
        mss in 100..9_000u32, segments in 2..200u64, acks in prop::collection::vec(1..20_000u64, 1..500),
    ) {
        let p = avoidance_by("reno", Increase::PerByte, segments * u64::from(mss));
        let c = Conn::new(mss);
        let mut reno = AnyController::init(&p, &c);
        let (mut model, mut bound) = (p.common().initial_window as f64, 1.0);
        for acked in acks {
            reno.on_ack(&p, &c, &Ack::of(acked));
            let part = (acked as f64).min(model);
            let add = f64::from(mss) * part / model;
            // Truncation of the share to 2^-16, of the window in the divisor, and of the cap.
            bound += f64::from(mss) * 2f64.powi(-16) + add / model + f64::from(mss) / model;
            model += add;
        }
        let ours = reno.control(&p, &c).cwnd as f64;
        prop_assert!((ours - model).abs() <= bound, "{ours} {model} {bound}");
    }

    // RFC 5681-3.2-9, 5681-3.2-10, 5681-3.2-12
    #[test]
    fn a_loss_halves_the_flight_and_recovery_inflates_as_rfc_5681_says(
        mss in 1..9_000u32, in_flight in 0..10_000_000u64, duplicates in 0..100u64,
    ) {
        let p = AnyParams::by_name("reno").unwrap();
        let c = Conn { flight_size: in_flight, phase: Phase::Recovery, ..Conn::new(mss) };
        let mut reno = AnyController::init(&p, &c);
        let mss = u64::from(mss);
        let ssthresh = (in_flight / 2).max(2 * mss);
        reno.on_phase(&p, &c, Phase::Open, Phase::Recovery);
        prop_assert_eq!(reno.control(&p, &c).cwnd, ssthresh + 3 * mss);
        for _ in 0..duplicates {
            reno.on_ack(&p, &c, &Ack { duplicate: true, ..Ack::default() });
        }
        prop_assert_eq!(reno.control(&p, &c).cwnd, ssthresh + (3 + duplicates) * mss);
        reno.on_phase(&p, &Conn { phase: Phase::Open, ..c }, Phase::Recovery, Phase::Open);
        prop_assert_eq!(reno.control(&p, &c).cwnd, ssthresh);
    }

    #[test]
    fn partial_acknowledgements_deflate_as_rfc_6582_says(
        mss in 1..9_000u32, in_flight in 0..10_000_000u64,
        acks in prop::collection::vec(1..100_000u64, 0..50), rest in 0..1_000_000u64,
    ) {
        let p = AnyParams::by_name("newreno").unwrap();
        let c = Conn { flight_size: in_flight, phase: Phase::Recovery, ..Conn::new(mss) };
        let mut newreno = AnyController::init(&p, &c);
        newreno.on_phase(&p, &c, Phase::Open, Phase::Recovery);
        let mss = i128::from(mss);
        let ssthresh = (i128::from(in_flight) / 2).max(2 * mss);
        let mut expected = ssthresh + 3 * mss;
        for acked in acks {
            newreno.on_ack(&p, &c, &Ack::of(acked));
            let acked = i128::from(acked);
            let back = if acked >= mss { mss } else { 0 };
            // The RFC lets the window reach zero; Windlass keeps one segment.
            expected = ((expected - acked).max(0) + back).max(mss);
            prop_assert_eq!(i128::from(newreno.control(&p, &c).cwnd), expected);
        }
        let after = Conn { flight_size: rest, in_flight: rest, phase: Phase::Open, ..c };
        newreno.on_phase(&p, &after, Phase::Recovery, Phase::Open);
        let full = ssthresh.min(i128::from(rest).max(mss) + mss);
        prop_assert_eq!(i128::from(newreno.control(&p, &after).cwnd), full);
    }
}

/// Reno-BER Table 9: growth by equation 17 once per RTT from three segments. The paper prints 7762, but
/// its equation gives 6762 (RB-12).
const TABLE_9: [u64; 15] =
    [4380, 4867, 5305, 5707, 6080, 6431, 6762, 7077, 7379, 7667, 7945, 8214, 8473, 8725, 8969];

fn assert_table_9(ours: impl IntoIterator<Item = u64>) {
    for (rtt, (ours, printed)) in ours.into_iter().zip(TABLE_9).enumerate() {
        // Windlass cuts to whole bytes; the paper rounds after each step.
        assert!(ours.abs_diff(printed) <= 1, "RTT {rtt}: {ours} B, the paper has {printed} B");
    }
}

#[test]
fn growth_once_per_round_trip_gives_table_9_of_reno_ber() {
    let p = avoidance_by("reno", Increase::PerRtt, TABLE_9[0]);
    let mut c = Conn::new(1460);
    let mut state = AnyController::init(&p, &c);
    let mut windows = vec![state.control(&p, &c).cwnd];
    while windows.len() < TABLE_9.len() {
        // A window is sent and then acknowledged at once.
        let acked = state.control(&p, &c).cwnd;
        c.next_id += acked;
        c.una += acked;
        state.on_ack(&p, &c, &Ack::of(acked));
        windows.push(state.control(&p, &c).cwnd);
    }
    assert_table_9(windows);
}

// RFC 5681-3.1-9
/// Equation 17 per acknowledgement needs about three RTTs for the growth of Table 9 in fourteen
/// (RB-12).
#[test]
fn growth_per_acknowledgement_is_about_one_segment_per_round_trip() {
    let p = avoidance_by("reno", Increase::PerAck, 3 * 1460);
    let mut c = Conn::new(1460);
    let mut state = AnyController::init(&p, &c);
    for round in 1..=10u64 {
        for _ in 0..state.control(&p, &c).cwnd / 1460 {
            c.una += 1460;
            state.on_ack(&p, &c, &Ack::of(1460));
        }
        let cwnd = state.control(&p, &c).cwnd;
        // Just below a segment, because the window grows within the round.
        let (least, most) = (3 * 1460 + round * 1460 * 4 / 5, (3 + round) * 1460);
        assert!((least..=most).contains(&cwnd), "round {round}: {cwnd} B");
    }
}

// RFC 6298-5.5-1
#[test]
fn an_expiry_doubles_the_timeout_up_to_the_maximum() {
    let p = Rfc6298Params { max: Span::from_secs(64), ..Default::default() };
    let mut timer = Rfc6298::init(&p);
    timer.on_sample(&p, &RttSample::of(Span::from_millis(40)));
    let timeouts: Vec<u64> = (0..8)
        .map(|_| {
            timer.on_timeout(&p);
            timer.rto(&p).0 / 1_000_000_000
        })
        .collect();
    assert_eq!(timeouts, [2, 4, 8, 16, 32, 64, 64, 64]);
}

// RFC 6298-4-1
#[test]
fn the_granularity_is_the_minimum_margin() {
    let granularity = Span::from_millis(500);
    let p = Rfc6298Params { min: Span::ZERO, granularity, ..Default::default() };
    let mut timer = Rfc6298::init(&p);
    for _ in 0..100 {
        timer.on_sample(&p, &RttSample::of(Span::from_millis(40)));
    }
    let rto = timer.rto(&p);
    assert!(rto.0.abs_diff(Span::from_millis(540).0) <= 8, "{rto}");
}

#[test]
fn a_window_that_does_not_limit_the_sender_stays() {
    for increase in Increase::ALL.iter().copied() {
        let p = avoidance_by("reno", increase, 14_600);
        let c = Conn { flags: flags::APP_LIMITED, ..Conn::new(1_460) };
        let mut state = AnyController::init(&p, &c);
        for _ in 0..100 {
            state.on_ack(&p, &c, &Ack::of(1_460));
        }
        assert_eq!(state.control(&p, &c).cwnd, 14_600);
    }
}
