//! Corner cases of growth equations.

use crate::common::avoidance_by;
use proptest::prelude::*;
use windlass_cc::reno::Increase;
use windlass_cc::rto::{Rfc6298, Rfc6298Params};
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, RtoEstimator, RttSample, Setup, Span, Time,
};

/// A sender clocked by single acknowledgements over a path of 40 ms and 1 ms per segment: the window at
/// the end of each RTT.
fn windows_of_a_clocked_sender(p: &AnyParams, rounds: usize) -> Vec<u64> {
    const MSS: u64 = 1460;
    let mut c = Conn::new(MSS as u32);
    let mut state = AnyController::init(p, &c);
    let mut acks = std::collections::VecDeque::new();
    let mut windows = Vec::new();
    let mut link_free = 0;
    while windows.len() < rounds {
        while c.next_id + MSS <= c.una + state.control(p, &c).cwnd {
            c.next_id += MSS;
            link_free = link_free.max(c.now.0 / 1_000_000) + 1;
            acks.push_back(link_free + 40);
        }
        let at = acks.pop_front().expect("a window of at least one segment");
        while at > 40 * (windows.len() as u64 + 1) && windows.len() < rounds {
            windows.push(state.control(p, &c).cwnd);
        }
        c.now = Time::from_millis(at);
        c.una += MSS;
        state.on_ack(p, &c, &Ack::of(MSS));
    }
    windows
}

#[test]
fn a_sender_clocked_by_acknowledgements_follows_table_9_of_reno_ber() {
    let table =
        [4380, 4867, 5305, 5707, 6080, 6431, 6762, 7077, 7379, 7667, 7945, 8214, 8473, 8725, 8969];
    let p = avoidance_by("reno", Increase::PerRtt, 3 * 1460);
    for (rtt, (ours, printed)) in windows_of_a_clocked_sender(&p, 15).iter().zip(table).enumerate()
    {
        // Windlass cuts to whole bytes; the paper rounds after each step.
        assert!(ours.abs_diff(printed) <= 1, "RTT {rtt}: {ours} B, the paper has {printed} B");
    }
}

#[test]
fn a_spread_of_acknowledgements_within_a_round_grows_the_window_once() {
    let p = avoidance_by("reno", Increase::PerRtt, 4380);
    let mut c = Conn::new(1460);
    let mut state = AnyController::init(&p, &c);
    c.next_id = 4380;
    for _ in 0..3 {
        c.una += 1460;
        state.on_ack(&p, &c, &Ack::of(1460));
    }
    assert_eq!(state.control(&p, &c).cwnd, 4380 + 1460 * 1460 / 4380);
}

#[test]
fn a_segment_size_of_any_width_does_not_overflow() {
    for increase in Increase::ALL.iter().copied() {
        let p = avoidance_by("reno", increase, 1);
        let mut state = AnyController::init(&p, &Conn::new(1));
        let c = Conn { una: 1, ..Conn::new(u32::MAX) };
        state.on_ack(&p, &c, &Ack::of(u64::MAX));
        assert!(state.control(&p, &c).cwnd > 1, "{increase:?}");
    }
}

#[test]
fn an_unknown_rtt_does_not_change_the_timer() {
    let p = Rfc6298Params::default();
    let mut timer = Rfc6298::init(&p);
    timer.on_sample(&p, &RttSample::of(Span::from_millis(40)));
    let before = timer;
    timer.on_sample(&p, &RttSample::of(Span::NONE));
    assert_eq!(timer, before);
}

proptest! {
    /// RFC 5681 section 3.1 and RFC 3465: one segment per window of acknowledged bytes, at any size.
    #[test]
    fn a_large_window_grows_by_bytes_as_a_small_one_does(
        mss in 536..9_000u32, cwnd in 1_000_000..(1u64 << 36), segments in 1..3u64,
    ) {
        let p = avoidance_by("reno", Increase::PerByte, cwnd);
        let c = Conn::new(mss);
        let mut state = AnyController::init(&p, &c);
        let acked = segments * u64::from(mss);
        let acks = cwnd / acked;
        prop_assume!(acks < 3_000_000);
        for _ in 0..acks {
            state.on_ack(&p, &c, &Ack::of(acked));
        }
        let grown = (state.control(&p, &c).cwnd - cwnd) as f64;
        let share = grown / f64::from(mss);
        // The window grows in between, and each step is cut to 2^-16 B.
        let cut = acks as f64 * 2f64.powi(-16) / f64::from(mss);
        prop_assert!((0.98 - cut..=1.01).contains(&share), "{share} segments at {cwnd} B");
    }
}

/// After a timeout one acknowledgement may cover a flight that SACK had already reported.
#[test]
fn an_acknowledgement_counts_new_data_and_ends_slow_start_at_the_threshold() {
    const MSS: u64 = 1460;
    let mut p = AnyParams::by_name("reno").expect("an algorithm");
    p.set_common(&Setup {
        initial_window: MSS,
        initial_ssthresh: 20 * MSS,
        ack_limit: u32::MAX,
        ..p.common()
    });
    let c = Conn::new(MSS as u32);
    let mut state = AnyController::init(&p, &c);
    state.on_ack(&p, &c, &Ack::of(5 * MSS));
    assert_eq!(state.control(&p, &c).cwnd, 6 * MSS, "it counts in full");
    // All except two segments were reported before.
    let late = Ack { delivered: 2 * MSS, ..Ack::of(100 * MSS) };
    state.on_ack(&p, &c, &late);
    assert_eq!(state.control(&p, &c).cwnd, 8 * MSS, "only new data counts");
    state.on_ack(&p, &c, &Ack::of(200 * MSS));
    assert_eq!(state.control(&p, &c).cwnd, 20 * MSS);
}
