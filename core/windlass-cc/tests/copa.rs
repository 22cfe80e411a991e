//! Copa on a small bottleneck, and its steps compared with the equations of the paper (NSDI 2018).

use crate::common::bottleneck::{Bottleneck, MSS, Path};
use windlass_cc::copa::{Copa, Params};
use windlass_cc::params::Parameters;
use windlass_cc::setup::Setup;
use windlass_cc::{Ack, AnyParams, Conn, Controller, Phase, Ratio, Span, Time, Undo, flags};

fn copa() -> AnyParams {
    AnyParams::by_name("copa").unwrap()
}

fn with(name: &str, raw: u64) -> AnyParams {
    let mut p = copa();
    let place = Params::TABLE.iter().position(|param| param.name == name).unwrap();
    assert!(p.set(place, raw));
    p
}

/// 20 Mbit/s, 40 ms: a bandwidth-delay product of 100 segments; a buffer of ten BDP.
fn path() -> Path {
    Path::new(20, 40, 1_000 * MSS)
}

/// Mean of the queue over time, packets, and the maximum.
fn queue(net: &mut Bottleneck, seconds: f64) -> (f64, f64) {
    let (mut last, mut area, mut most) = (net.now, 0.0, 0.0);
    let mut level = net.queued;
    let begin = net.now;
    net.run(seconds, |net| {
        area += level as f64 * net.now.since(last).0 as f64;
        (last, level) = (net.now, net.queued);
        most = f64::max(most, level as f64);
    });
    (area / net.now.since(begin).0 as f64 / MSS as f64, most / MSS as f64)
}

#[test]
fn the_queue_swings_between_nothing_and_two_and_a_half_over_delta_packets() {
    // Section 3: "between 0 and 2.5/δ packets", so 1.25/δ on average; and the packet in service.
    for packets in [2u64, 5, 10, 20] {
        let mut p = with("inverse_delta", packets << 16);
        assert!(p.set(1, 0), "the second parameter is the mode switch");
        let mut net = Bottleneck::new(path()).flow(p, 0.0);
        net.run(5.0, |_| {});
        let before = net.flows[0].conn.delivered;
        let (mean, most) = queue(&mut net, 20.0);
        let wanted = packets as f64;
        assert!(mean > wanted && mean < 1.1 * 1.25 * wanted + 1.5, "{packets}: {mean}");
        assert!(most <= 2.5 * wanted + 2.0, "{packets}: {most}");
        let goodput = (net.flows[0].conn.delivered - before) as f64 / 20.0;
        assert!(goodput > 0.98 * path().rate as f64, "{packets}: {goodput}");
    }
}

#[test]
fn alone_it_hardly_ever_takes_itself_for_competing() {
    // The paper's detector requires a queue below a tenth of its range. With five whole packets this is
    // an empty queue. With the default δ this sometimes takes longer than five RTTs.
    for (packets, most) in [(2u64, 0.1), (10, 0.0)] {
        let p = with("inverse_delta", packets << 16);
        let mut net = Bottleneck::new(path()).flow(p, 0.0);
        // Slow start has left a queue.
        net.run(2.0, |_| {});
        let (mut last, mut competing) = (net.now, 0);
        net.run(60.0, |net| {
            competing += net.flows[0].traced("competitive") * net.now.since(last).0;
            last = net.now;
        });
        assert!(competing as f64 * 1e-9 / 60.0 <= most, "{packets}: {competing}");
    }
}

#[test]
fn two_flows_share_the_path_and_keep_the_queue_short() {
    let mut net = Bottleneck::new(path()).flow(copa(), 0.0).flow(copa(), 2.0);
    net.run(20.0, |_| {});
    let before: Vec<_> = net.flows.iter().map(|f| f.conn.delivered).collect();
    let (mean, _) = queue(&mut net, 20.0);
    let shares: Vec<_> =
        net.flows.iter().zip(before).map(|(f, b)| (f.conn.delivered - b) as f64).collect();
    let fair = (shares[0] + shares[1]).powi(2) / (2.0 * (shares[0].powi(2) + shares[1].powi(2)));
    assert!(fair > 0.95, "{shares:?}");
    assert!(mean < 20.0, "{mean}");
}

#[test]
fn against_a_buffer_filler_it_competes_and_afterwards_it_yields_again() {
    let deep = Path::new(20, 40, 100 * MSS);
    let share = |switching: u64| {
        let reno = AnyParams::by_name("newreno").unwrap();
        let mut net =
            Bottleneck::new(deep).flow(with("mode_switching", switching), 0.0).flow(reno, 3.0);
        net.run(20.0, |_| {});
        let before = net.flows[0].conn.delivered;
        net.run(40.0, |_| {});
        let share = (net.flows[0].conn.delivered - before) as f64 / 40.0 / deep.rate as f64;
        // The competitor stops.
        let competed = net.flows[0].traced("competitive");
        net.flows[1].data = 0;
        net.run(10.0, |_| {});
        assert_eq!(net.flows[0].traced("competitive"), 0);
        assert_eq!(net.flows[0].traced("inverse_delta"), 2 << 16, "δ is the default again");
        (share, competed)
    };
    let (alone, _) = share(0);
    assert!(alone < 0.15, "a delay-based flow starves: {alone}");
    let (competing, competed) = share(1);
    assert_eq!(competed, 1);
    assert!((0.35..0.65).contains(&competing), "{competing}");
}

struct Walk {
    p: Setup<Params>,
    s: Copa,
    c: Conn,
}

impl Walk {
    /// A connection in congestion avoidance: minimum RTT 40 ms, standing RTT as given, a window of
    /// `cwnd` segments, velocity 1.
    fn at(cwnd: u64, standing: Span) -> Walk {
        let p = Setup { initial_window: cwnd * MSS, ..Setup::default() };
        let mut c = Conn { now: Time::from_secs(1), ..Conn::new(MSS as u32) };
        (c.srtt, c.next_id) = (Span::from_millis(40), cwnd * MSS);
        let s = Copa::init(&p, &c);
        let mut w = Walk { p, s, c };
        w.ack(0, Span::from_millis(40));
        // Far above the target: slow start ends, with one step down.
        w.later(21);
        w.ack(1, Span::from_millis(400));
        w.later(21);
        w.ack(0, standing);
        w
    }

    fn later(&mut self, ms: u64) {
        self.c.now += Span::from_millis(ms);
    }

    /// The next acknowledgement is of data sent in the current round.
    fn end_round(&mut self) {
        self.c.una = self.c.next_id + 1;
        self.c.next_id += 50 * MSS;
    }

    fn ack(&mut self, bytes: u64, rtt: Span) {
        let ack = Ack { rtt, ..Ack::of(bytes) };
        self.s.on_ack(&self.p, &self.c, &ack);
    }

    fn cwnd(&self) -> f64 {
        self.s.control(&self.p, &self.c).cwnd as f64
    }

    fn traced(&self, name: &str) -> u64 {
        let mut found = None;
        self.s.trace(&mut |field, value| found = found.or((field.name == name).then_some(value)));
        found.unwrap()
    }
}

#[test]
fn each_packet_moves_the_window_by_v_over_delta_cwnd() {
    // λ = 100 packets / 41 ms = 2 439/s; λt = 2 / 1 ms = 2 000/s: down. At half the window: up.
    for (cwnd, sign) in [(100u64, -1.0), (50, 1.0)] {
        let mut w = Walk::at(cwnd, Span::from_millis(41));
        assert_eq!(w.traced("slow_start"), 0);
        let mut expected = w.cwnd() / MSS as f64;
        for _ in 0..20 {
            w.ack(MSS, Span::from_millis(41));
            expected += sign * 1.0 / (0.5 * expected);
        }
        let moved = w.cwnd() / MSS as f64;
        assert!((moved - expected).abs() < 2e-3, "{moved} {expected}");
    }
}

#[test]
fn the_pacing_rate_is_two_windows_per_standing_round_trip() {
    let w = Walk::at(50, Span::from_millis(44));
    let pacing = w.s.control(&w.p, &w.c).pacing.0 as f64;
    let expected = 2.0 * w.cwnd() / 0.044;
    assert!((pacing / expected - 1.0).abs() < 1e-6, "{pacing} {expected}");
}

#[test]
fn the_standing_round_trip_time_is_the_least_of_half_a_smoothed_one() {
    let mut w = Walk::at(50, Span::from_millis(44));
    w.later(5);
    w.ack(0, Span::from_millis(60));
    assert_eq!(w.traced("standing_rtt_ns"), 44_000_000, "jitter does not count");
    w.later(21);
    w.ack(0, Span::from_millis(60));
    assert_eq!(w.traced("standing_rtt_ns"), 60_000_000);
    assert_eq!(w.traced("min_rtt_ns"), 40_000_000);
}

#[test]
fn slow_start_doubles_until_the_rate_exceeds_the_target() {
    let mut net = Bottleneck::new(path()).flow(copa(), 0.0);
    let mut windows = vec![];
    net.run(1.0, |net| {
        let f = &net.flows[0];
        if f.traced("slow_start") == 1 {
            windows.push((net.seconds(), f.control.cwnd as f64));
        }
    });
    // From 14.6 segments, doubling each 40.4 ms; the queue first appears at the BDP of 100 segments.
    let (end, last) = *windows.last().unwrap();
    let doublings = (last / 14_600.0).log2();
    assert!((1.0..=4.5).contains(&doublings), "{doublings}");
    assert!((end / 0.0404 - doublings).abs() < 1.5, "{end} {doublings}");
}

#[test]
fn the_velocity_doubles_each_round_after_three_in_one_direction_and_falls_back_to_one() {
    let mut w = Walk::at(50, Span::from_millis(40));
    let round = |w: &mut Walk, rtt: u64| {
        w.end_round();
        w.later(21);
        w.ack(50 * MSS, Span::from_millis(rtt));
        w.traced("velocity")
    };
    let velocities: Vec<_> = (0..7).map(|_| round(&mut w, 40)).collect();
    // The test ends slow start with a step down, so the first round changes the direction. Three
    // further rounds confirm it, then 2, 4, 8.
    assert_eq!(velocities[..2], [1, 1]);
    let doubling = velocities.iter().position(|v| *v == 2).unwrap();
    assert!((2..=4).contains(&doubling), "{velocities:?}");
    assert_eq!(velocities[doubling + 1..doubling + 3], [4, 8]);
    // Far above the target: the window decreases, and the velocity starts again at 1.
    assert_eq!(round(&mut w, 200), 1);
}

#[test]
fn losses_move_the_window_only_while_competing_and_then_by_delta() {
    let mut w = Walk::at(100, Span::from_millis(80));
    let before = w.cwnd();
    w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
    w.s.on_phase(&w.p, &w.c, Phase::Recovery, Phase::Open);
    assert_eq!((w.cwnd(), w.traced("inverse_delta")), (before, 2 << 16));
    // The queue is not nearly empty for five SRTTs: 80 − 40 ms of a range of 40 or 360. The round of
    // the loss ends in this time.
    w.end_round();
    for _ in 0..11 {
        w.later(20);
        w.ack(0, Span::from_millis(80));
    }
    assert!(w.s.is_competitive());
    // 1/δ grows by one per round without loss.
    for k in 1..=4 {
        w.end_round();
        w.later(20);
        w.ack(0, Span::from_millis(80));
        assert_eq!(w.traced("inverse_delta"), (2 + k) << 16);
    }
    w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
    assert_eq!(w.traced("inverse_delta"), 3 << 16);
    w.end_round();
    w.ack(0, Span::from_millis(80));
    assert_eq!(w.traced("inverse_delta"), 3 << 16, "the round of the loss does not raise it");
    w.s.on_undo(&w.p, &w.c, Undo::Dsack);
    assert_eq!(w.traced("inverse_delta"), 6 << 16);
    // Never below the default: halve 6, 3, and then 2.
    for expected in [Ratio::of(3, 1), Ratio::of(2, 1), Ratio::of(2, 1)] {
        w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Recovery);
        assert_eq!(w.s.inverse_delta(), expected);
    }
}

#[test]
fn a_window_that_does_not_limit_the_sender_shrinks_but_never_grows() {
    for (standing, falls) in [(40, false), (80, true)] {
        let mut w = Walk::at(100, Span::from_millis(standing));
        let before = w.cwnd();
        w.c.flags = flags::APP_LIMITED;
        w.ack(MSS, Span::from_millis(standing));
        assert_eq!(w.cwnd() < before, falls);
        assert!(w.cwnd() <= before);
    }
}

#[test]
fn a_timeout_leaves_one_segment_and_slow_start_and_an_undo_takes_that_back() {
    let mut w = Walk::at(100, Span::from_millis(41));
    let before = w.cwnd();
    w.s.on_phase(&w.p, &w.c, Phase::Open, Phase::Loss);
    assert_eq!((w.cwnd(), w.traced("slow_start")), (MSS as f64, 1));
    w.s.on_phase(&w.p, &w.c, Phase::Loss, Phase::Loss);
    w.s.on_undo(&w.p, &w.c, Undo::Eifel);
    assert_eq!((w.cwnd(), w.traced("slow_start")), (before, 0));
}

#[test]
fn the_state_takes_224_bytes() {
    assert_eq!(size_of::<Copa>(), 224);
}
