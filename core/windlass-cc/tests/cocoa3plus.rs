//! CoCoA3+: each of its seven signals, and the growth that they hold.

use windlass_cc::cocoa3plus::{Cocoa3Plus, Params, signal};
use windlass_cc::congestion_avoidance::{CongestionAvoidance, CongestionEvent};
use windlass_cc::loss_based::LossBased;
use windlass_cc::params::Known;
use windlass_cc::slow_start::Standard;
use windlass_cc::window::Window;
use windlass_cc::{Ack, Conn, Controller, CrossLayer, Phase, Rate, Ratio, Setup, Span, Time};

const MSS: u64 = 1000;

/// Any signal holds growth; this is not the default (C3-19).
const HELD: Params = Params { hold: true, ..Params::DEFAULT };

/// A connection with an RTT of 100 ms and a window of ten segments: 100 kB/s.
struct Link {
    p: Params,
    c: Conn,
    w: Window,
    growth: Cocoa3Plus,
}

/// Report of a station without congestion.
const CALM: CrossLayer = CrossLayer {
    queue_len: 0,
    queue_limit: 30,
    hops: 3,
    failure_share: 0,
    battery: 65_536,
    service_rate: Rate(1_000_000),
    service_time: Span::from_millis(2),
    base_rtt: Span::NONE,
};

impl Link {
    fn new(p: Params) -> Link {
        let mut c = Conn::new(MSS as u32);
        (c.srtt, c.min_rtt) = (Span::from_millis(100), Span::from_millis(100));
        c.next_id = 10 * MSS;
        let w = Window::new(&c, 10 * MSS, 10 * MSS);
        Link { growth: Cocoa3Plus::init(&p, &c), p, c, w }
    }

    /// A window is delivered in `ms` milliseconds, and the acknowledgement ends the round.
    fn round(&mut self, ms: u64, segments: u64) -> u8 {
        self.c.now += Span::from_millis(ms);
        self.c.delivered += segments * MSS;
        self.c.una = self.c.next_id + 1;
        self.c.next_id = self.c.una + 10 * MSS;
        self.growth.observe(&self.p, &self.c, &Ack::of(MSS), &mut self.w);
        self.growth.signals()
    }

    fn tell(&mut self, l: CrossLayer) -> u8 {
        self.growth.on_cross_layer(&self.p, &self.c, &l);
        self.growth.observe(&self.p, &self.c, &Ack::of(MSS), &mut self.w);
        self.growth.signals()
    }

    /// True if congestion avoidance increases the window.
    fn grows(&mut self) -> bool {
        let before = self.w.cwnd_q();
        self.growth.avoid(&self.p, &self.c, &Ack::of(MSS), MSS, &mut self.w);
        let grown = self.w.cwnd_q() > before;
        assert_eq!(self.growth.slow_start_gain(&self.p, &self.c) == Ratio::ONE, grown);
        grown
    }
}

#[test]
fn on_a_calm_path_there_is_no_signal_and_the_window_grows_as_reno_s() {
    let mut l = Link::new(HELD);
    for _ in 0..5 {
        assert_eq!(l.round(100, 10), 0);
    }
    assert_eq!(l.tell(CALM), 0);
    assert!(l.grows());
    assert_eq!(l.w.cwnd(), 10_100); // mss²/cwnd
}

#[test]
fn the_round_trip_time_signals_above_a_quarter_more_than_the_base() {
    let mut l = Link::new(HELD);
    l.c.srtt = Span::from_millis(125);
    assert_eq!(l.round(100, 10) & signal::RTT, 0);
    l.c.srtt = Span(125_000_001);
    assert_eq!(l.round(100, 10) & signal::RTT, signal::RTT);
    assert!(!l.grows());
    // The base RTT from the lower layers replaces the minimum sample (C3-4).
    assert_eq!(l.tell(CrossLayer { base_rtt: Span::from_millis(110), ..CALM }) & signal::RTT, 0);
    assert_eq!(l.tell(CrossLayer { base_rtt: Span::from_millis(90), ..CALM }), signal::RTT);
}

#[test]
fn an_expired_timer_signals_for_one_round_trip() {
    let mut l = Link::new(HELD);
    l.round(100, 10);
    l.growth.ssthresh(&l.p, &l.c, &l.w, CongestionEvent::Timeout);
    l.growth.restart(&l.p, &l.c, &mut l.w);
    l.growth.observe(&l.p, &l.c, &Ack::of(MSS), &mut l.w);
    assert_eq!(l.growth.signals(), signal::RTO);
    assert!(!l.grows());
    assert_eq!(l.round(100, 10), 0);
    // A loss that fast recovery repairs is not a signal.
    l.growth.ssthresh(&l.p, &l.c, &l.w, CongestionEvent::Loss);
    l.growth.observe(&l.p, &l.c, &Ack::of(MSS), &mut l.w);
    assert_eq!(l.growth.signals(), 0);
}

#[test]
fn sending_more_than_arrives_and_less_arriving_than_before_are_two_signals() {
    let mut l = Link::new(HELD);
    l.round(100, 10); // begins with a known window
    assert_eq!(l.round(100, 10), 0);
    // 10 segments in 126 ms, compared with 10 in 100 ms that were sent, and that were delivered before.
    assert_eq!(l.round(126, 10), signal::RATE | signal::DELIVERY);
    // The same round again: less than was sent, but not less than before.
    assert_eq!(l.round(126, 10), signal::RATE);
    // A window that does not limit the sender gives no signal.
    l.c.flags = 0;
    l.round(126, 10);
    assert_eq!(l.round(126, 10), 0);
    // Neither does a cut, after which the delivery rate decreases.
    l.growth.restart(&l.p, &l.c, &mut l.w);
    assert_eq!(l.round(100, 3), 0);
}

#[test]
fn the_node_s_own_station_gives_three_signals() {
    let mut l = Link::new(HELD);
    // 25 ms are a quarter of the base RTT: 13 packets of 2 ms each exceed it.
    assert_eq!(l.tell(CrossLayer { queue_len: 12, ..CALM }), 0);
    assert_eq!(l.tell(CrossLayer { queue_len: 13, ..CALM }), signal::DELAY);
    // 100 kB/s compared with 80 and 79.
    assert_eq!(l.tell(CrossLayer { service_rate: Rate(80_000), ..CALM }), 0);
    assert_eq!(l.tell(CrossLayer { service_rate: Rate(79_000), ..CALM }), signal::BANDWIDTH);
    // The average of a queue that is full from the start exceeds half of 30 at once. From an empty
    // queue, 0.998^n <= 1/2 takes 347 samples.
    let fast = CrossLayer { service_time: Span::ZERO, ..CALM };
    let full = CrossLayer { queue_len: 30, ..fast };
    let mut fresh = Link::new(HELD);
    assert_eq!(fresh.tell(full), signal::QUEUE);
    let mut fresh = Link::new(HELD);
    fresh.tell(fast);
    let needed = (1..).find(|_| fresh.tell(full) == signal::QUEUE).unwrap();
    assert!((346..=348).contains(&needed), "{needed}");
}

#[test]
fn a_signal_that_is_off_does_not_count_and_votes_are_counted() {
    let slow = Span::from_millis(130);
    let grows = |p: Params| {
        let mut l = Link::new(p);
        l.c.srtt = slow;
        l.tell(CrossLayer { queue_len: 20, ..CALM }); // RTT and delay and queue
        assert_eq!(l.growth.signals(), signal::RTT | signal::DELAY | signal::QUEUE);
        l.grows()
    };
    let p = HELD;
    assert!(!grows(p));
    assert!(grows(Params { hold: false, ..p }));
    assert!(!grows(Params { votes: 3, ..p }));
    assert!(grows(Params { votes: 4, ..p }));
    assert!(grows(Params { votes: 3, delay: false, ..p }));
    assert!(grows(Params { rtt: false, delay: false, queue: false, ..p }));
}

#[test]
fn slow_start_may_go_on_while_avoidance_is_held() {
    let mut l = Link::new(Params { hold_start: false, ..HELD });
    l.tell(CrossLayer { queue_len: 20, ..CALM });
    let before = l.w.cwnd_q();
    l.growth.avoid(&l.p, &l.c, &Ack::of(MSS), MSS, &mut l.w);
    assert_eq!(l.w.cwnd_q(), before);
    assert_eq!(l.growth.slow_start_gain(&l.p, &l.c), Ratio::ONE);
}

/// C3-18: half at the start, a segment for each further duplicate, and the threshold at the end.
#[test]
fn recovery_halves_the_window_inflates_it_and_lets_the_air_out() {
    let p: Setup<Params, _> = Setup { initial_window: 20 * MSS, ..Setup::default() };
    let mut c = Conn::new(MSS as u32);
    (c.flight_size, c.in_flight, c.next_id) = (20 * MSS, 20 * MSS, 20 * MSS);
    c.now = Time::from_secs(1);
    let mut cc = LossBased::<Cocoa3Plus, Standard>::init(&p, &c);
    c.phase = Phase::Recovery;
    cc.on_phase(&p, &c, Phase::Open, Phase::Recovery);
    assert_eq!(cc.control(&p, &c).ssthresh, 10 * MSS);
    let entered = cc.control(&p, &c).cwnd;
    cc.on_ack(&p, &c, &Ack { duplicate: true, ..Ack::default() });
    assert_eq!(cc.control(&p, &c).cwnd, entered + MSS);
    (c.una, c.flight_size, c.in_flight) = (20 * MSS, 12 * MSS, 12 * MSS);
    c.phase = Phase::Open;
    cc.on_phase(&p, &c, Phase::Recovery, Phase::Open);
    assert_eq!(cc.control(&p, &c).cwnd, 10 * MSS);
}
