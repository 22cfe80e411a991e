//! Quick-Start's window: R·T/(MSS + H), the removal of its unused part, and the return to the initial
//! window.

use windlass_cc::recovery::LossRecovery;
use windlass_cc::slow_start::{self, QuickStartParams};
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{Ack, AnyController, AnyParams, Conn, Phase, Rate, Setup, Span, Time};

const MSS: u64 = 1460;
/// 40.96 Mbit/s.
const RATE: Rate = Rate(40_960_000 / 8);
/// Segments of this rate in 100 ms, with headers of 40 bytes.
const APPROVED: u64 = 40_960_000 / 8 / 10 / 1500;
const INITIAL: u64 = 3;

struct Sender {
    p: AnyParams,
    c: Conn,
    state: AnyController,
}

impl Sender {
    fn new(algorithm: &str, rate: Rate, change: impl Fn(&mut Setup<()>)) -> Sender {
        let mut p = AnyParams::by_name(algorithm).unwrap();
        let mut common = Setup {
            slow_start: slow_start::AnyParams::QuickStart(QuickStartParams::default()),
            initial_window: INITIAL * MSS,
            recovery: Some(LossRecovery::NewReno),
            approved: rate,
            ..p.common()
        };
        change(&mut common);
        p.set_common(&common);
        let rtt = Span::from_millis(100);
        let c = Conn { srtt: rtt, min_rtt: rtt, una: 1, next_id: 1, ..Conn::new(MSS as u32) };
        let state = AnyController::init(&p, &c);
        Sender { p, c, state }
    }

    fn cwnd(&self) -> u64 {
        self.state.control(&self.p, &self.c).cwnd / MSS
    }

    fn ssthresh(&self) -> u64 {
        self.state.control(&self.p, &self.c).ssthresh / MSS
    }

    fn send(&mut self, segments: u64) {
        self.c.next_id += segments * MSS;
        self.c.sent += segments * MSS;
        self.settle();
    }

    fn settle(&mut self) {
        self.c.flight_size = self.c.next_id - self.c.una;
        self.c.in_flight = self.c.flight_size;
    }

    fn acknowledge(&mut self, segments: u64) {
        self.c.now = Time(self.c.now.0 + 1_000_000);
        self.c.una += segments * MSS;
        self.settle();
        self.state.on_ack(&self.p, &self.c, &Ack::of(segments * MSS));
    }

    fn phase(&mut self, to: Phase) {
        let from = std::mem::replace(&mut self.c.phase, to);
        self.state.on_phase(&self.p, &self.c, from, to);
    }
}

#[test]
fn the_window_is_the_rate_times_the_round_trip_in_whole_segments() {
    assert_eq!(Sender::new("reno", RATE, |_| {}).cwnd(), APPROVED);
    assert_eq!(Sender::new("cubic", RATE, |_| {}).cwnd(), APPROVED);
    let headers = |c: &mut Setup<()>| {
        let p = QuickStartParams { header: 1460, ..QuickStartParams::default() };
        c.slow_start = slow_start::AnyParams::QuickStart(p);
    };
    assert_eq!(Sender::new("reno", RATE, headers).cwnd(), 512_000 / 2920);
}

#[test]
fn an_approval_of_less_than_the_initial_window_or_without_a_round_trip_changes_nothing() {
    assert_eq!(Sender::new("reno", Rate(0), |_| {}).cwnd(), INITIAL);
    assert_eq!(Sender::new("reno", Rate(80_000 / 8), |_| {}).cwnd(), INITIAL);
    let p = Sender::new("reno", RATE, |_| {}).p;
    let unknown = Conn::new(MSS as u32);
    let state = AnyController::init(&p, &unknown);
    assert_eq!(state.control(&p, &unknown).cwnd, INITIAL * MSS);
}

#[test]
fn a_slow_start_that_did_not_ask_ignores_an_approval() {
    for info in slow_start::SLOW_STARTS.iter().filter(|info| info.id != "quick-start") {
        let other = slow_start::AnyParams::by_name(info.id).unwrap();
        let s = Sender::new("reno", RATE, |c| c.slow_start = other);
        assert_eq!(s.cwnd(), INITIAL, "{}", info.id);
    }
}

#[test]
fn the_threshold_limits_the_approved_window_too() {
    let low = Sender::new("reno", RATE, |c| c.initial_ssthresh = 50 * MSS);
    assert_eq!(low.cwnd(), 50);
}

#[test]
fn the_first_acknowledgement_reduces_the_window_to_the_data_sent() {
    let mut s = Sender::new("reno", RATE, |_| {});
    s.send(100);
    s.acknowledge(1);
    assert_eq!(s.cwnd(), 101, "100 that were sent, and slow start goes on");
    let mut s = Sender::new("reno", RATE, |_| {});
    s.send(1);
    s.acknowledge(1);
    assert_eq!(s.cwnd(), INITIAL + 1, "but not less than without the approval");
}

/// A sender of the whole approved window, whose first ten segments are acknowledged.
fn under_way(change: impl Fn(&mut Setup<()>)) -> Sender {
    let mut s = Sender::new("reno", RATE, change);
    let window = s.cwnd();
    s.send(window);
    s.acknowledge(10);
    s
}

#[test]
fn a_loss_in_the_approved_window_restores_the_initial_window_and_half_of_the_arrived_data() {
    let mut s = under_way(|_| {});
    s.phase(Phase::Recovery);
    // Six segments are retransmitted, and all data is acknowledged.
    s.c.sent += 6 * MSS;
    s.c.una = s.c.next_id;
    s.settle();
    s.phase(Phase::Open);
    assert!(s.cwnd() <= INITIAL, "{}", s.cwnd());
    assert_eq!(s.ssthresh(), (APPROVED - 6) / 2);
    let before = s.cwnd();
    s.send(2);
    s.acknowledge(1);
    assert_eq!(s.cwnd(), before + 1, "in slow start");
}

#[test]
fn the_first_segment_may_be_the_one_that_is_lost() {
    let mut s = Sender::new("reno", RATE, |_| {});
    s.send(APPROVED);
    s.phase(Phase::Recovery);
    s.c.sent += MSS;
    s.c.una = s.c.next_id;
    s.settle();
    s.phase(Phase::Open);
    assert!(s.cwnd() <= INITIAL);
    assert_eq!(s.ssthresh(), (APPROVED - 1) / 2);
}

#[test]
fn a_mark_in_the_approved_window_is_a_loss_of_nothing() {
    let mut s = under_way(|_| {});
    s.phase(Phase::Cwr);
    assert_eq!(s.cwnd(), INITIAL);
    s.phase(Phase::Open);
    assert_eq!((s.cwnd(), s.ssthresh()), (INITIAL, APPROVED / 2));
}

#[test]
fn after_a_timeout_slow_start_runs_from_one_segment_to_half_of_the_acknowledged_data() {
    let mut s = under_way(|_| {});
    s.phase(Phase::Loss);
    assert_eq!((s.cwnd(), s.ssthresh()), (1, 5));
    // The next loss is an ordinary loss.
    s.acknowledge(APPROVED - 10);
    s.phase(Phase::Open);
    s.send(40);
    s.phase(Phase::Recovery);
    assert_eq!(s.ssthresh(), 20);
}

#[test]
fn a_loss_in_it_counts_although_the_window_has_reached_the_threshold() {
    let mut s = under_way(|c| c.initial_ssthresh = 50 * MSS);
    assert!(s.cwnd() >= 50);
    s.phase(Phase::Cwr);
    assert_eq!(s.cwnd(), INITIAL);
}

#[test]
fn once_it_has_arrived_a_loss_is_one_as_any_other() {
    let mut s = under_way(|_| {});
    s.acknowledge(APPROVED - 10);
    s.send(100);
    s.acknowledge(1);
    s.phase(Phase::Recovery);
    assert_eq!(s.ssthresh(), 99 / 2);
    s.c.una = s.c.next_id;
    s.settle();
    s.phase(Phase::Open);
    assert_eq!(s.ssthresh(), 99 / 2);
    assert!(s.ssthresh() * MSS < MAX_WINDOW);
}
