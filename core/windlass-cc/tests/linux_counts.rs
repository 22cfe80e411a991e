//! Counts in Linux 6.12, by its own integers: each expected value follows from the named rule.

use proptest::prelude::*;
use windlass_cc::congestion_avoidance::CongestionAvoidance;
use windlass_cc::loss_based::LossBased;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::setup::{Counting, Credit};
use windlass_cc::slow_start::{Standard, StandardParams};
use windlass_cc::window::{FRACTION_BITS, Window};
use windlass_cc::{
    Ack, AnyController, AnyParams, Conn, Controller, Flavour, Parameters, Phase, Setup, Span, bic,
    cubic, highspeed, vegas, veno, westwood,
};

const MSS: u64 = 1_000;
const MS: u64 = 1_000_000;
const RTT: u64 = 100 * MS;

/// A flow with the Linux parameters in congestion avoidance that always has a full window in flight.
struct Flow<G: CongestionAvoidance> {
    p: Setup<G::Params, StandardParams>,
    c: Conn,
    state: LossBased<G, Standard>,
}

impl<G: CongestionAvoidance> Flow<G> {
    fn new(cwnd: u64) -> Flow<G> {
        let p = Setup {
            initial_window: cwnd * MSS,
            initial_ssthresh: cwnd * MSS,
            ack_limit: u32::MAX,
            counting: Counting::Segments,
            credit: Credit::Delivered,
            recovery: Some(LossRecovery::Sack),
            own: Flow::<G>::kernels(),
            ..Setup::<G::Params, StandardParams>::default()
        };
        let c = Conn { min_rtt: Span(RTT), srtt: Span(RTT), ..Conn::new(MSS as u32) };
        Flow { state: LossBased::init(&p, &c), p, c }
    }

    fn kernels() -> G::Params {
        let mut own = G::Params::default();
        for departure in G::FLAVOURS.iter().filter(|d| d.flavour == Flavour::Linux) {
            if let windlass_cc::Change::Param(name, value) = departure.change {
                let place = G::Params::TABLE.iter().position(|p| p.name == name).unwrap();
                assert!(own.set(place, value));
            }
        }
        own
    }

    fn segments(&self) -> u64 {
        self.state.cwnd() / MSS
    }

    /// After `after` nanoseconds, an acknowledgement of `segments` segments with this RTT.
    fn ack(&mut self, after: u64, rtt: u64, segments: u64) {
        self.c.next_id = self.c.next_id.max(self.c.una + self.state.cwnd());
        self.c.now += Span(after);
        self.c.una += segments * MSS;
        self.c.delivered += segments * MSS;
        self.c.min_rtt = self.c.min_rtt.min(Span(rtt));
        self.state.on_ack(&self.p, &self.c, &Ack { rtt: Span(rtt), ..Ack::of(segments * MSS) });
    }

    /// Simultaneous acknowledgements of one segment each until the window grows; returns their number.
    fn until_it_opens(&mut self) -> u64 {
        let before = self.segments();
        (1..100_000)
            .find(|_| {
                self.ack(0, RTT, 1);
                self.segments() > before
            })
            .expect("it opens")
    }

    fn turn(&mut self, from: Phase, to: Phase) {
        self.c.phase = to;
        self.c.flight_size = self.segments() * MSS;
        self.state.on_phase(&self.p, &self.c, from, to);
    }

    /// A loss and its repair; returns the remaining segments.
    fn lose(&mut self) -> u64 {
        self.turn(Phase::Open, Phase::Recovery);
        self.c.una = self.c.next_id;
        self.turn(Phase::Recovery, Phase::Open);
        self.segments()
    }
}

// RFC 9937-6.2-7
/// `tcp_rack_reo_timeout` reduces by one segment. The data delivered by the last acknowledgement has
/// already allowed another segment, by limited transmit.
#[test]
fn a_recovery_that_a_timer_begins_sends_one_segment() {
    for (counting, found_by_timer, expected) in [
        (Counting::Segments, true, 1),
        (Counting::Bytes, true, 1),
        // Of 14 segments 9 remain: 2·9/13 is 1.4, rounded up to two segments.
        (Counting::Segments, false, 2),
    ] {
        let mut p = AnyParams::by_name("cubic").unwrap();
        let initial_window = 14 * MSS;
        let recovery = Some(LossRecovery::Prr);
        p.set_common(&Setup { initial_window, counting, recovery, ..p.common() });
        let mut c = Conn { sent: 14 * MSS, in_flight: 14 * MSS, ..Conn::new(MSS as u32) };
        let mut state = AnyController::init(&p, &c);
        let prior_in_flight = c.in_flight;
        (c.delivered, c.in_flight) = (2 * MSS, 12 * MSS);
        let a = Ack { delivered: 2 * MSS, prior_in_flight, duplicate: true, ..Ack::default() };
        state.on_ack(&p, &c, &a);
        if found_by_timer {
            // Limited transmit.
            (c.sent, c.in_flight) = (c.sent + 2 * MSS, c.in_flight + 2 * MSS);
        }
        c.in_flight -= MSS; // lost
        (c.phase, c.flight_size) = (Phase::Recovery, 14 * MSS);
        state.on_phase(&p, &c, Phase::Open, Phase::Recovery);
        let may = (state.control(&p, &c).cwnd - c.in_flight) / MSS;
        assert_eq!(may, expected, "{counting:?}, timer {found_by_timer}");
    }
}

/// `bictcp_update`: (40 - 31)/4 is 2, so the growth is one per ⌊31/2⌋. From seven segments below the
/// goal it is one per ⌊20·w/4⌋. The count is ⌊cnt·16/delayed_ack⌋, and an acknowledgement of one
/// segment is a ratio of 16.
#[test]
fn bic_counts_by_whole_quotients() {
    let mut flow = Flow::<bic::Bic>::new(40);
    flow.p.own.ack_ratio = false;
    assert_eq!(flow.lose(), 31);
    let counts: Vec<u64> = (0..3).map(|_| flow.until_it_opens()).collect();
    assert_eq!(counts, [31 / 2, 32 / 2, 20 * 33 / 4]);
    // Without a goal: at least one per twenty, and up to 14 segments Reno's growth.
    let mut flow = Flow::<bic::Bic>::new(400);
    (flow.p.own.ack_ratio, flow.p.own.max_increment) = (false, 1);
    assert_eq!(flow.until_it_opens(), 20);
    assert_eq!(Flow::<bic::Bic>::new(10).until_it_opens(), 10);
    // Far above the goal one per ⌊w/16⌋: six and a quarter is cut to six.
    let mut flow = Flow::<bic::Bic>::new(100);
    flow.p.own.ack_ratio = false;
    assert_eq!(flow.until_it_opens(), 100 / 16);
}

/// `tcp_cong_avoid_ai`: a count for a larger number increases the window by only one segment.
#[test]
fn a_count_for_a_larger_number_gives_one_segment() {
    let mut flow = Flow::<bic::Bic>::new(40);
    flow.p.own.ack_ratio = false;
    assert_eq!(flow.lose(), 31);
    flow.until_it_opens();
    flow.until_it_opens();
    (0..100).for_each(|_| flow.ack(0, RTT, 1));
    assert_eq!(flow.segments(), 33, "100 of 165");
    flow.p.own.smooth_part = 1;
    flow.ack(0, RTT, 1);
    assert_eq!(flow.segments(), 34, "one for the hundred, and one counted");
}

/// A window of 100 uses the row for 118: a(w) 2, b(w) ⌊256·0.441⌋/256. Before the window has grown in
/// congestion avoidance, the first row applies, with a half.
#[test]
fn highspeed_uses_the_rows_of_the_table() {
    let mut flow = Flow::<highspeed::HighSpeed>::new(100);
    assert_eq!(flow.lose(), 50, "no avoidance yet");
    let mut flow = Flow::<highspeed::HighSpeed>::new(100);
    assert_eq!(flow.until_it_opens(), 50, "two per RTT; the formula gives 1.8");
    assert_eq!(flow.lose(), 101 - 101 * 112 / 256);
    let mut flow = Flow::<highspeed::HighSpeed>::new(119);
    assert_eq!(flow.until_it_opens(), 40, "a third of 119, rounded up");
    assert_eq!(flow.lose(), 120 - 120 * 104 / 256);
    let mut flow = Flow::<highspeed::HighSpeed>::new(38);
    assert_eq!(flow.until_it_opens(), 38);
}

/// The kernel's values of the share that a loss takes, in 256ths: some rows of its table.
#[test]
fn highspeeds_rows_have_the_kernels_shares() {
    for (w, md) in [(38, 128), (118, 112), (221, 104), (851, 86), (4596, 64), (19965, 44)] {
        let mut flow = Flow::<highspeed::HighSpeed>::new(w);
        flow.ack(0, RTT, 1);
        let cwnd = flow.segments();
        assert_eq!(flow.lose(), cwnd - cwnd * md / 256, "{w}");
    }
}

/// `bictcp_update`: at least one per 20 before the first loss; then one per ⌊w/lacking⌋. The target is
/// in whole segments, and no fraction is counted towards it.
#[test]
fn cubic_counts_to_a_whole_quotient() {
    let mut flow = Flow::<cubic::Cubic>::new(100);
    flow.p.own.friendliness = false;
    assert_eq!(flow.until_it_opens(), 20);
    let mut flow = Flow::<cubic::Cubic>::new(100);
    flow.p.own.friendliness = false;
    assert_eq!(flow.lose(), 70);
    // K = cbrt(30/0.4004) = 4.215 s. One minimum RTT ahead the curve is 100 - 0.4004·4.115³ = 72.09,
    // which lacks 2. The distance of 27.9 counts as 27 and the goal as 73, so the window lacks 3.
    assert_eq!(flow.until_it_opens(), 70 / 3);
    // The count holds within a tick of 4 ms.
    assert_eq!(flow.until_it_opens(), 70 / 3);
    flow.ack(4 * MS, RTT, 1);
    assert_eq!(flow.until_it_opens(), 72 - 1);
    // At the plateau the count is 100 windows, and none of it is credit for the later rise of the
    // curve.
    let mut flow = Flow::<cubic::Cubic>::new(100);
    flow.p.own.friendliness = false;
    flow.lose();
    flow.ack(4_200 * MS, RTT, 1);
    let plateau = flow.segments();
    (0..50).for_each(|_| flow.ack(0, RTT, 1));
    assert!(flow.segments() <= plateau + 50 * 30 / 70 + 1);
}

/// No host reports such values, but none may overflow.
#[test]
fn cubic_adds_without_overflow_at_extreme_rtts_and_segments() {
    let mut flow = Flow::<cubic::Cubic>::new(100);
    (flow.c.min_rtt, flow.c.srtt) = (Span(u64::MAX - 1), Span(u64::MAX - 1));
    flow.ack(0, u64::MAX - 1, 1);

    // Segments of a byte are counted within a tick, before segments of 4 GiB.
    let mut flow = Flow::<cubic::Cubic>::new(1 << 30);
    flow.c.mss = 1;
    for _ in 0..9 {
        flow.ack(0, RTT, 1 << 29);
    }
    flow.c.mss = u32::MAX;
    flow.state.on_mss(&flow.p, &flow.c, 1);
    let before = flow.state.cwnd();
    flow.ack(1_000 * MS, RTT, 1 << 29);
    assert!(flow.state.cwnd() >= before);
}

/// `tcp_vegas_cong_avoid`: ⌊w·(rtt - base)/base⌋ is compared with 2 and 4, and the window moves a
/// segment at the end of the round.
#[test]
fn vegas_moves_by_a_segment_at_the_end_of_a_round() {
    let round = |flow: &mut Flow<vegas::Vegas>, rtt: u64, acks: u64, each: u64| {
        let before = flow.segments();
        for n in 0..acks {
            assert_eq!(flow.segments(), before, "nothing within a round ({n})");
            flow.ack(MS, rtt, each);
        }
        flow.segments() as i64 - before as i64
    };
    let after_a_round = || {
        let mut flow = Flow::<vegas::Vegas>::new(20);
        round(&mut flow, RTT, 1, 1);
        flow
    };
    // 5 of 20 relative to the base RTT, 4 relative to the RTT itself.
    for (rtt, moves) in [(125, -1), (124, 0), (110, 0), (109, 1)] {
        let mut flow = after_a_round();
        let before = flow.segments();
        (0..21).for_each(|_| flow.ack(MS, rtt * MS, 1));
        assert_eq!(flow.segments() as i64 - before as i64, moves, "{rtt} ms");
    }
    // Two samples in a round: Reno's growth for the acknowledgement that ends it. A window of four
    // takes two rounds per segment, not one.
    let mut flow = Flow::<vegas::Vegas>::new(4);
    let opened = (1..20).find(|_| {
        flow.ack(MS, RTT, 2);
        flow.segments() > 4
    });
    assert_eq!(opened, Some(3), "the first and the third end rounds and count two segments each");
}

/// `westwood_update_window` and `tcp_westwood_bw_rttmin`: 101 ms are 26 ticks of 4 ms. The sample takes
/// longer, 27 ticks, and excludes its last acknowledgement: ⌊10000/27⌋·26 bytes are 9 segments.
#[test]
fn westwood_measures_in_ticks() {
    let mut flow = Flow::<westwood::Westwood>::new(20);
    flow.c.min_rtt = Span(101 * MS);
    (0..12).for_each(|_| flow.ack(10 * MS, 101 * MS, 1));
    assert_eq!(flow.lose(), 9);
}

/// `tcp_veno_cong_avoid` has one count for both states of the network, and compares 2·w -
/// ⌊2·w·base/rtt⌋ half segments with 6. `tcp_veno_ssthresh` applies to timeouts too.
#[test]
fn veno_keeps_one_count_and_takes_half_segments() {
    let warm = |cwnd: u64| {
        let mut flow = Flow::<veno::Veno>::new(cwnd);
        flow.p.own.min_samples = 1;
        flow
    };
    let mut flow = warm(10);
    (0..6).for_each(|_| flow.ack(MS, RTT, 1));
    (0..4).for_each(|_| flow.ack(MS, 2 * RTT, 1));
    assert_eq!(flow.segments(), 10);
    flow.ack(MS, 2 * RTT, 1);
    assert_eq!(flow.segments(), 11, "the six count while congested");
    // 20·(1 - 100/115) is 2.61 segments: 5.2 half segments, rounded up to six.
    for (rtt, left) in [(115, 10), (114, 16)] {
        let mut flow = warm(20);
        flow.ack(MS, RTT, 1);
        flow.ack(MS, rtt * MS, 1);
        assert_eq!(flow.lose(), left, "{rtt} ms");
        let mut flow = warm(20);
        flow.ack(MS, RTT, 1);
        flow.ack(MS, rtt * MS, 1);
        flow.turn(Phase::Open, Phase::Loss);
        let ssthresh = flow.state.control(&flow.p, &flow.c).ssthresh;
        assert_eq!(ssthresh, left * MSS, "a timeout at {rtt} ms");
    }
}

proptest! {
    /// The removed part of a segment is restored, together with the loss of the last division. The
    /// result is the whole segments and the rest of a division, for any growth of the window.
    #[test]
    fn a_part_is_put_back_as_dividing_says(mss in 1_u32..10_000, cwnd in 1_u64..1 << 30, part in 0_u64..1 << 30, grown in 0_u64..1 << 32, close in any::<bool>()) {
        let c = Conn::new(mss);
        let segment = u64::from(mss) << FRACTION_BITS;
        let mut window = Window::new(&c, cwnd, u64::MAX);
        window.add_q(part);
        let taken = window.take_part(&c);
        prop_assert_eq!(window.cwnd_q() % segment, 0);
        let whole = window.cwnd_q();
        // Half of the cases end just below a whole segment, where it matters.
        let grown = if close { (segment - taken).saturating_sub(grown % 4096) } else { grown };
        window.add_q(grown);
        window.put_back(&c, taken, whole);
        let back = whole + grown + taken;
        let missing = segment - back % segment;
        let made_good = if missing <= back / segment { missing } else { 0 };
        prop_assert_eq!(window.cwnd_q(), back + made_good);
    }

    /// `tcp_cong_avoid_ai`, with its own divisions.
    #[test]
    fn counting_increases_the_window_as_division_does(mss in 1_u32..10_000, counted in 0_u32..1000, credit in 1_u64..200_000, per in 1_u64..1000) {
        let c = Conn::new(mss);
        let mut window = Window::new(&c, 1 << 20, u64::MAX);
        let before = window.cwnd();
        let rest = window.add_counted(&c, counted, credit, per);
        let (first, counted) = if u64::from(counted) >= per { (1, 0) } else { (0, u64::from(counted)) };
        let all = counted + (credit / u64::from(mss)).max(1);
        prop_assert_eq!(window.cwnd() - before, (first + all / per) * u64::from(mss));
        prop_assert_eq!(u64::from(rest), all % per);
    }
}
