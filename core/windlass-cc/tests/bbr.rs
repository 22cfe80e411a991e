//! Responses of BBRv1 to single events, compared with the equations of
//! Cardwell et al. 2016 and Linux's constants.

use windlass_cc::bbr::{Bbr, Mode, Params};
use windlass_cc::setup::Setup;
use windlass_cc::{Ack, Conn, Controller, Phase, RateSample, Span, Time, Undo};

const MSS: u64 = 1_000;

/// A connection in ProbeBW: 20 Mbit/s, 40 ms, and its time.
fn steady() -> (Setup<Params>, Bbr, Conn) {
    let p = Setup { initial_window: 10_000, ..Setup::default() };
    let mut c = Conn { now: Time::from_secs(1), ..Conn::new(MSS as u32) };
    let mut b = Bbr::init(&p, &c);
    (c.srtt, c.min_rtt) = (Span::from_millis(40), Span::from_millis(40));
    for _ in 0..200 {
        round(&p, &mut b, &mut c, 2_500_000);
    }
    assert_eq!(b.mode(), Mode::ProbeBw);
    (p, b, c)
}

/// One acknowledgement of a round at this rate.
fn round(p: &Setup<Params>, b: &mut Bbr, c: &mut Conn, rate: u64) {
    let interval = Span::from_millis(40);
    let delivered = rate / 25;
    let prior = c.delivered;
    c.now += interval;
    c.delivered += delivered;
    c.in_flight = 0;
    let rate = RateSample { delivered, interval, prior_delivered: prior, ..RateSample::NONE };
    b.on_ack(p, c, &Ack { rtt: interval, rate, ..Ack::of(delivered) });
}

/// `bbr_is_next_cycle_phase`: the flight that ends the probing phase is smaller by an aggregate
/// (`bbr_tso_segs_goal`), because `bbr_packets_in_net_at_edt` counts the aggregate that is about to
/// leave.
#[test]
fn an_aggregate_about_to_leave_may_count_when_probing_ends() {
    let least_flight = |count_departing| {
        let (mut p, b, mut c) = steady();
        p.own.count_departing = count_departing;
        // Without a flight the probing phase does not end.
        let probing = b.control(&p, &c).pacing;
        c.now += Span::from_millis(41);
        c.delivered += MSS;
        let ends = |prior_in_flight: &u64| {
            let mut b = b;
            b.on_ack(&p, &c, &Ack { prior_in_flight: *prior_in_flight, ..Ack::of(MSS) });
            b.control(&p, &c).pacing < probing
        };
        (0..400).map(|n| n * 500).find(ends).expect("a flight that ends it")
    };
    // One millisecond at 1.25 · 20 Mbit/s minus the margin is 3.09 segments, cut to three.
    assert_eq!(least_flight(false) - least_flight(true), 3 * MSS);
}

#[test]
fn the_window_is_twice_the_bdp_plus_aggregation_and_budget() {
    let (p, b, c) = steady();
    let answer = b.control(&p, &c);
    // 2 · 2.5 MB/s · 40 ms, rounded up. Each acknowledgement delivers the 100 kB of a round at once,
    // for which the rate explains no bytes; the allowance is limited to 100 ms of the rate.
    let flight = 2.0 * 2.5e6 * 0.040 + 1.0 + f64::min(100e3, 2.5e6 * 0.1);
    // Three quanta: 1 ms at the pacing rate in whole segments, at least two. The sum is an even number
    // of segments, and two more in the probing phase.
    let quantum = (answer.pacing.0 as f64 * 1e-3 / 1e3).floor().max(2.0) * 1e3;
    let even = ((flight + 3.0 * quantum) / 2e3).ceil() * 2e3;
    let probing = answer.pacing.0 as f64 > 2.5e6;
    assert_eq!(answer.cwnd as f64, if probing { even + 2e3 } else { even });
}

#[test]
fn without_sack_each_duplicate_sends_one_segment() {
    let (p, mut b, mut c) = steady();
    // The flight is the data that is not cumulatively acknowledged: duplicates do not lower it.
    c.in_flight = 50_000;
    c.phase = Phase::Recovery;
    b.on_phase(&p, &c, Phase::Open, Phase::Recovery);
    b.on_ack(&p, &c, &Ack { acked: 0, duplicate: true, lost: 40 * MSS, ..Ack::of(MSS) });
    let mut sent = 0;
    for _ in 0..30 {
        b.on_ack(&p, &c, &Ack { acked: 0, duplicate: true, ..Ack::of(MSS) });
        let window = b.control(&p, &c).cwnd;
        while c.in_flight + MSS <= window {
            c.in_flight += MSS;
            sent += 1;
        }
    }
    // In this test the acknowledgement with the loss has delivered 100 segments.
    assert!((30..=100).contains(&sent), "{sent}");
    let before = c.in_flight;
    b.on_ack(&p, &c, &Ack { acked: 0, duplicate: true, ..Ack::of(MSS) });
    assert!(b.control(&p, &c).cwnd <= before + MSS, "no more than what arrives");
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window_at_its_end() {
    let (p, mut b, mut c) = steady();
    let before = b.control(&p, &c).cwnd;
    c.in_flight = 90_000;
    c.phase = Phase::Recovery;
    b.on_phase(&p, &c, Phase::Open, Phase::Recovery);
    let first = b.control(&p, &c).cwnd;
    assert!((91_000..=190_000).contains(&first), "{first}");
    // Acknowledgements within a round: each delivered byte allows one byte to be sent.
    let ack = Ack { lost: 2 * MSS, ..Ack::of(MSS) };
    let shrunk = Conn { in_flight: 70_000, ..c };
    for _ in 0..100 {
        b.on_ack(&p, &shrunk, &ack);
    }
    assert_eq!(b.control(&p, &shrunk).cwnd, 71_000, "in flight and delivered");
    c.phase = Phase::Open;
    b.on_phase(&p, &c, Phase::Recovery, Phase::Open);
    let after = b.control(&p, &c).cwnd;
    // The gain cycle has continued: up to two quanta and two segments of the budget.
    assert!(after <= before && before - after <= 4 * MSS, "{before} {after}");
}

#[test]
fn a_timeout_leaves_room_for_one_segment_and_its_end_restores_the_window() {
    let (p, mut b, mut c) = steady();
    let before = b.control(&p, &c);
    c.in_flight = 0;
    b.on_phase(&p, &Conn { phase: Phase::Loss, ..c }, Phase::Open, Phase::Loss);
    assert_eq!(b.control(&p, &c).cwnd, MSS);
    // A repeated timeout does not save the window of one segment for the restoration.
    b.on_phase(&p, &Conn { phase: Phase::Loss, ..c }, Phase::Loss, Phase::Loss);
    assert_eq!(b.control(&p, &c).cwnd, MSS);
    assert_eq!(b.control(&p, &c).pacing, before.pacing, "the model is kept");
    b.on_undo(&p, &c, Undo::Frto);
    b.on_phase(&p, &c, Phase::Loss, Phase::Open);
    assert_eq!(b.control(&p, &c).cwnd, before.cwnd);
}

#[test]
fn a_limited_sample_counts_only_if_it_shows_more() {
    let (p, mut b, mut c) = steady();
    let known = b.bandwidth();
    let sample = |b: &mut Bbr, c: &mut Conn, rate: u64| {
        c.delivered += 1;
        let rate = RateSample {
            delivered: rate / 25,
            interval: Span::from_millis(40),
            prior_delivered: c.delivered - 1,
            app_limited: true,
            ..RateSample::NONE
        };
        b.on_ack(&p, c, &Ack { rate, ..Ack::of(1) });
    };
    for _ in 0..100 {
        sample(&mut b, &mut c, 250_000);
    }
    assert_eq!(b.bandwidth(), known, "a hundred limited rounds forget nothing");
    sample(&mut b, &mut c, 5_000_000);
    assert_eq!(b.bandwidth().0, 5_000_000);
}

#[test]
fn a_policer_is_found_by_two_lossy_intervals_of_one_rate_and_kept_to_for_48_rounds() {
    for (policer, found) in [(true, true), (false, false)] {
        let (mut p, mut b, mut c) = steady();
        p.own.policer = policer;
        let police = |b: &mut Bbr, c: &mut Conn, b_lost: u64| {
            c.lost += b_lost;
            let interval = Span::from_millis(40);
            let prior_delivered = c.delivered;
            c.now += interval;
            c.delivered += 40_000;
            let rate =
                RateSample { delivered: 40_000, interval, prior_delivered, ..RateSample::NONE };
            // A lower RTT prevents ProbeRTT.
            let rtt = Span::from_millis(39);
            b.on_ack(&p, c, &Ack { lost: b_lost, rtt, rate, ..Ack::of(40_000) });
        };
        // 40 kB per 40 ms, with a loss of a quarter of it in addition: above 50/256. Two intervals of
        // four rounds.
        for _ in 0..8 {
            police(&mut b, &mut c, 10_000);
        }
        let rate = b.bandwidth().0 as f64;
        assert_eq!((rate / 1e6 - 1.0).abs() < 0.01, found, "{rate}");
        if found {
            let pacing = b.control(&p, &c).pacing.0 as f64;
            assert!((pacing / (0.99 * rate) - 1.0).abs() < 1e-5, "gain 1, 1 % margin: {pacing}");
            for _ in 0..47 {
                police(&mut b, &mut c, 0);
            }
            assert_eq!(b.bandwidth().0 as f64, rate);
            police(&mut b, &mut c, 0);
            let mut policed = 1;
            b.trace(&mut |field, value| {
                if field.name == "policed" {
                    policed = value;
                }
            });
            assert_eq!(policed, 0, "after 48 rounds it looks again");
        }
    }
}

#[test]
fn before_a_round_trip_is_known_the_initial_window_leaves_in_a_millisecond() {
    let p = Setup { initial_window: 10_000, ..Setup::<Params>::default() };
    let c = Conn::new(MSS as u32);
    let b = Bbr::init(&p, &c);
    // 0.99 · 2.885 · 10 kB / 1 ms.
    let expected = 0.99 * 2.885 * 10_000.0 / 1e-3;
    let pacing = b.control(&p, &c).pacing.0 as f64;
    assert!((pacing / expected - 1.0).abs() < 1e-4, "{pacing} {expected}");
    // The first sample corrects it: 0.99 · 2.885 · 10 kB / 40 ms.
    let mut b = b;
    let c = Conn { srtt: Span::from_millis(40), ..c };
    b.on_ack(&p, &c, &Ack { rtt: Span::from_millis(40), ..Ack::of(0) });
    let pacing = b.control(&p, &c).pacing.0 as f64;
    assert!((pacing / (expected / 40.0) - 1.0).abs() < 1e-4, "{pacing}");
}

#[test]
fn the_state_takes_264_bytes() {
    assert_eq!(size_of::<Bbr>(), 264);
}
