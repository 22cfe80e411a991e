//! AODV on a radio: routes are found, break and are repaired, and every packet is accounted for.

use crate::common::radio::{grid, line, over};
use crate::common::{flow, network, rfc, run};
use proptest::prelude::*;
use windlass_cc::{Rate, Span, Time};
use windlass_sim::config::{Cbr, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::loss::LossModel;
use windlass_sim::radio::{FrameErrors, Hops, Phy, Position};
use windlass_sim::routing::aodv::{Aodv, AodvParams, Detection, RoutingResult};
use windlass_sim::{RunResult, Simulation};

fn cbr(packets_per_s: u64, stop: Time) -> Cbr {
    Cbr {
        packet: 500,
        interval: Span(1_000_000_000 / packets_per_s),
        spread: Span::ZERO,
        stop,
        deadline: None,
    }
}

fn routing(result: &RunResult) -> &RoutingResult {
    result.radios[0].routing.as_ref().expect("a routing protocol")
}

#[test]
fn a_chain_of_six_stations_takes_five_hops() {
    let stop = Time::from_secs(10);
    let config = over(grid(1, 6), &[([0, 5], cbr(5, stop))], Time::from_secs(11));
    let result = run(config);
    let r = routing(&result);
    assert_eq!(result.flows[0].delivered_bytes, 50 * 500);
    assert_eq!(r.hops[..5], [0; 5]);
    assert_eq!((r.hops[5], r.crossed), (50, 50));
    assert_eq!((r.discoveries, r.discoveries_succeeded, r.discoveries_failed), (1, 1, 0));
    // Five hops exceed the ranges 1 and 3; the request with range 5 finds the destination.
    assert_eq!(r.rreq_originated, 3);
    // The destination answers, and the four stations between forward the reply.
    assert_eq!((r.rrep_originated, r.rrep_forwarded), (1, 4));
}

#[test]
fn tcp_crosses_a_grid_both_ways() {
    let flows = vec![flow([0, 24], rfc("newreno"), Traffic::Bulk { bytes: Some(100_000) })];
    let mut config = network(Vec::new(), flows, Time::from_secs(60));
    config.nodes = (0..25).map(|n| format!("n{n}")).collect();
    config.radios = vec![grid(5, 5)];
    let result = run(config);
    assert_eq!(result.flows[0].delivered_bytes, 100_000);
    assert!(result.flows[0].completion_s.is_some());
    let mean = routing(&result).mean_hops();
    assert!((7.9..9.5).contains(&mean), "mean of {mean} hops; the minimum is 8");
}

#[test]
fn a_route_is_replaced_when_a_station_on_it_is_switched_off() {
    // A square of 3 by 3 has two paths. The middle station of the used side is switched off.
    let stop = Time::from_secs(20);
    let mut radio = grid(3, 3);
    let before = {
        let config = over(radio.clone(), &[([0, 2], cbr(5, stop))], Time::from_secs(21));
        run(config)
    };
    assert_eq!(before.flows[0].delivered_bytes, 100 * 500);
    let next = routing(&before).routes.iter().find(|r| (r.station, r.to) == (0, 2));
    assert_eq!(next.expect("a route at the end").next, 1);
    radio.off = vec![(1, Time::from_secs(10))];
    let after = run(over(radio, &[([0, 2], cbr(5, stop))], Time::from_secs(21)));
    let r = routing(&after);
    assert!(after.flows[0].delivered_bytes >= 95 * 500, "{r:?}");
    assert_eq!(r.hops[2] + r.hops[4], r.crossed, "{:?}", r.hops);
    assert!(r.hops[4] >= 45, "{:?}", r.hops);
    assert!(r.link_breaks >= 1);
}

/// A station on the route is switched off, and later a station on the new route. The connection continues
/// around both stations and retransmits the packets that were in flight through them.
#[test]
fn tcp_survives_the_loss_of_two_stations_on_its_route() {
    let connection = |off: &[(usize, Time)], end: Time| {
        let flows = vec![flow([0, 4], rfc("newreno"), Traffic::Bulk { bytes: Some(4_000_000) })];
        let mut config = network(Vec::new(), flows, end);
        config.nodes = (0..15).map(|n| format!("n{n}")).collect();
        config.radios = vec![grid(3, 5)];
        config.radios[0].off = off.to_vec();
        run(config)
    };
    // The station that is two hops from the source at this time.
    let carrier = |off: &[(usize, Time)], at: Time| {
        let result = connection(off, at);
        let next = |station: u32| {
            let route = routing(&result).routes.iter().find(|r| (r.station, r.to) == (station, 4));
            route.expect("a route in use").next
        };
        next(next(0)) as usize
    };
    let [early, later] = [3, 8].map(Time::from_secs);
    let mut off = vec![(carrier(&[], early), early)];
    off.push((carrier(&off, later), later));
    assert_ne!(off[0].0, off[1].0, "a route over a dead station");
    let result = connection(&off, Time::from_secs(200));
    let f = &result.flows[0];
    assert_eq!((f.delivered_bytes, f.failure.as_deref()), (4_000_000, None));
    assert!(f.retransmits > 0 && routing(&result).link_breaks >= 2, "{f:?}");
    let whole = connection(&[], Time::from_secs(200)).flows[0].completion_s.expect("whole");
    let healed = f.completion_s.expect("healed");
    assert!(healed < whole + 60.0, "{healed} s in place of {whole}");
}

#[test]
fn missing_hellos_detect_a_dead_station() {
    let stop = Time::from_secs(20);
    let mut radio = grid(3, 3);
    radio.off = vec![(1, Time::from_secs(10))];
    let params = AodvParams { detection: Detection::Hello, ..AodvParams::RFC3561 };
    radio.hops = Hops::Aodv(Aodv { params, disjoint: Vec::new() });
    let result = run(over(radio, &[([0, 2], cbr(5, stop))], Time::from_secs(21)));
    let r = routing(&result);
    assert!(r.hello_sent > 20, "{r:?}");
    // Two seconds without HELLO messages lose ten packets.
    let got = result.flows[0].delivered_bytes / 500;
    assert!((80..=95).contains(&got), "{got} of 100");
    assert!(r.hops[4] > 30, "{:?}", r.hops);
}

#[test]
fn a_neighbour_with_the_destinations_hello_answers_for_it() {
    let stop = Time::from_secs(10);
    let mut radio = grid(1, 6);
    let params =
        AodvParams { hello_always: true, detection: Detection::Both, ..AodvParams::RFC3561 };
    radio.hops = Hops::Aodv(Aodv { params, disjoint: Vec::new() });
    let mut config = over(radio, &[([0, 5], cbr(5, stop))], Time::from_secs(11));
    config.flows[0].start = Time::from_secs(3);
    let result = run(config);
    let r = routing(&result);
    // The destination's neighbour, four hops from the source, answers. It gives the destination the route
    // back.
    assert_eq!((r.rrep_originated, r.rrep_gratuitous), (2, 1), "{r:?}");
    assert_eq!(
        r.rreq_forwarded,
        2 + 3,
        "in rings of 3 and 5, the neighbour passes nothing on: {r:?}"
    );
    assert_eq!((r.crossed, r.hops[5]), (35, 35));
}

#[test]
fn packets_without_a_route_wait_and_are_dropped() {
    let mut radio = grid(1, 5);
    radio.stations[4].position = Position::metres(10_000, 0);
    let stop = Time::from_secs(30);
    let result = run(over(radio, &[([0, 4], cbr(1, stop))], Time::from_secs(60)));
    let r = routing(&result);
    assert_eq!(result.flows[0].delivered_bytes, 0);
    assert_eq!(result.flows[0].loss_rate, 1.0);
    assert_eq!(r.drops_no_route, 30);
    assert!(r.discoveries_failed >= 2 && r.discoveries_succeeded == 0, "{r:?}");
    // Requests with ranges 1, 3, 5 and 7, and three through the whole network.
    assert_eq!(r.rreq_originated, 7 * r.discoveries);
}

#[test]
fn a_dead_destination_is_given_up() {
    let mut radio = grid(3, 3);
    radio.off = vec![(8, Time::from_secs(5))];
    let stop = Time::from_secs(30);
    let result = run(over(radio, &[([0, 8], cbr(2, stop))], Time::from_secs(60)));
    let r = routing(&result);
    assert!((9..=10).contains(&(result.flows[0].delivered_bytes / 500)));
    assert!(r.discoveries_failed >= 1, "{r:?}");
    assert!(r.rerr_sent >= 1, "{r:?}");
}

#[test]
fn a_source_switched_off_stops_sending() {
    let mut radio = grid(1, 3);
    radio.off = vec![(0, Time::from_secs(5))];
    let stop = Time::from_secs(30);
    let result = run(over(radio, &[([0, 2], cbr(2, stop))], Time::from_secs(60)));
    assert_eq!(result.flows[0].delivered_bytes, 10 * 500);
    assert_eq!(result.radios[0].stations[0].drops_off, 50);
}

#[test]
fn two_flows_take_routes_that_share_no_station() {
    let stop = Time::from_secs(10);
    let mut radio = grid(5, 5);
    radio.hops = Hops::Aodv(Aodv { disjoint: vec![[0, 1]], ..Aodv::RFC3561 });
    let flows = [([0, 24], cbr(2, stop)), ([0, 24], cbr(2, stop))];
    let result = run(over(radio, &flows, Time::from_secs(11)));
    let r = routing(&result);
    for flow in &result.flows {
        assert!(flow.delivered_bytes >= 18 * 500, "{flow:?}");
    }
    let path = |path_id| {
        let mut at = 0;
        let mut path = Vec::new();
        while at != 24 {
            let to = |r: &&windlass_sim::routing::aodv::RouteResult| {
                (r.station, r.to, r.circuit) == (at, 24, path_id)
            };
            at = r.routes.iter().find(to).expect("a route").next;
            path.push(at);
        }
        path
    };
    let (a, b) = (path(1), path(2));
    assert!(a.iter().filter(|n| **n != 24).all(|n| !b.contains(n)), "{a:?} {b:?}");
}

#[test]
fn a_chain_has_no_second_route() {
    let stop = Time::from_secs(10);
    let mut radio = grid(1, 4);
    radio.hops = Hops::Aodv(Aodv { disjoint: vec![[0, 1]], ..Aodv::RFC3561 });
    let flows = [([0, 3], cbr(2, stop)), ([0, 3], cbr(2, stop))];
    let result = run(over(radio, &flows, Time::from_secs(40)));
    let got = [0, 1].map(|i| result.flows[i].delivered_bytes);
    assert_eq!(got.iter().filter(|b| **b == 0).count(), 1, "{got:?}");
}

#[test]
fn the_seed_determines_the_results_of_a_network() {
    let one = |seed| {
        let stop = Time::from_secs(5);
        let flows: Vec<([usize; 2], Cbr)> = (0..4).map(|i| ([i, 12], cbr(20, stop))).collect();
        let mut config = over(grid(5, 5), &flows, Time::from_secs(6));
        config.seed = seed;
        run(config)
    };
    assert_eq!(one(1), one(1));
    assert_ne!(one(1).radios, one(2).radios);
}

#[test]
fn messages_have_the_sizes_of_the_rfc() {
    let stop = Time::from_secs(1);
    let result = run(over(grid(1, 2), &[([0, 1], cbr(1, stop))], Time::from_secs(2)));
    let r = routing(&result);
    // One RREQ of 24 bytes and one RREP of 20, over UDP and IP.
    assert_eq!((r.control_packets, r.control_bytes), (2, 52 + 48));
    let s = &result.radios[0].stations;
    assert_eq!((s[0].offered, s[1].offered), (2, 1));
}

#[test]
fn aodv_and_a_fixed_route_deliver_the_same_bytes() {
    // The test compares AODV with a fixed route over the same chain.
    let mut radio = line(Phy::B_LONG, 500, &[0, 200, 400]);
    radio.hops = Hops::Pairs(vec![[0, 1], [1, 2]]);
    let stop = Time::from_secs(2);
    let fixed = run(over(radio.clone(), &[([0, 2], cbr(10, stop))], Time::from_secs(3)));
    assert!(fixed.radios[0].routing.is_none());
    radio.hops = Hops::Aodv(Aodv::RFC3561);
    let found = run(over(radio, &[([0, 2], cbr(10, stop))], Time::from_secs(3)));
    assert_eq!(fixed.flows[0].delivered_bytes, found.flows[0].delivered_bytes);
}

/// DIFS, a frame of 1500 bytes at 11 Mbit/s, SIFS and an acknowledgement at 2 Mbit/s, all with long
/// preambles: 50 + 192 + 1117.1 + 10 + 192 + 56 microseconds.
const EXCHANGE_NS: u64 = 50_000 + 192_000 + 1_118_000 + 10_000 + 192_000 + 56_000;

#[test]
fn cross_layer_data_has_the_route_and_the_station_on_request() {
    let mut radio = grid(1, 4);
    radio.off = vec![(3, Time::from_secs(20))];
    let flows = vec![flow([0, 3], rfc("newreno"), Traffic::Bulk { bytes: None })];
    let mut config = network(Vec::new(), flows, Time::from_secs(60));
    config.nodes = (0..4).map(|n| format!("n{n}")).collect();
    config.radios = vec![radio];
    let mut simulation = Simulation::new(config).expect("valid");
    assert_eq!(simulation.cross_layer(0), None, "NewReno does not use cross-layer data");
    simulation.watch_cross_layer(0);
    let before = simulation.cross_layer(0).expect("a sensor");
    assert_eq!((before.hops, before.base_rtt), (0, Span::NONE), "no route yet");
    assert_eq!((before.service_rate, before.queue_limit), (Rate(0), 30));
    simulation.run_until(Time::from_secs(10));
    let layers = simulation.cross_layer(0).expect("a sensor");
    assert_eq!(layers.hops, 3);
    assert!(layers.base_rtt.0.abs_diff(6 * EXCHANGE_NS) <= 6_000, "{layers:?}");
    assert_eq!(layers.battery, 65_536);
    assert!(layers.queue_len <= 30, "{layers:?}");
    // Stations two hops apart compete: service takes longer than alone, and some attempts fail.
    assert!(layers.service_time.0 > EXCHANGE_NS / 2, "{layers:?}");
    let alone = 1_500 * 1_000_000_000 / EXCHANGE_NS;
    assert!((alone / 50..alone).contains(&layers.service_rate.0), "{layers:?}");
    assert!((1..=65_536).contains(&layers.failure_share), "{layers:?}");
    simulation.run_until(Time::from_secs(40));
    let after = simulation.cross_layer(0).expect("a sensor");
    assert_eq!((after.hops, after.base_rtt), (0, Span::NONE), "its destination is gone");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Data packets and messages are conserved at each station and in total: each is delivered, dropped or
    /// inside. This holds for all losses, switched-off stations and stop times.
    #[test]
    fn packets_are_conserved_with_messages_on_the_air(
        (rows, columns) in (1usize..5, 2usize..5),
        ends in prop::collection::vec((0usize..16, 0usize..16, 1u64..200), 1..6),
        off in prop::collection::vec((0usize..16, 0u64..6_000), 0..4),
        (loss, room) in (0.0f64..0.3, 1u64..30),
        (detection, buffer) in (0usize..3, 1u32..5),
        (stop_ms, seed) in (1u64..8_000, 0u64..1000),
    ) {
        let n = rows * columns;
        let mut radio = grid(rows, columns);
        for station in &mut radio.stations {
            station.queue = QueueLimit::Packets(room);
        }
        radio.errors = FrameErrors::Model(LossModel::Drop { probability: loss });
        radio.off = off.iter().map(|(s, ms)| (s % n, Time::from_millis(*ms))).collect();
        let params = AodvParams {
            detection: Detection::ALL[detection].1,
            buffer_packets: buffer,
            buffer_time: Span::from_millis(1_500),
            ..AodvParams::RFC3561
        };
        radio.hops = Hops::Aodv(Aodv { params, disjoint: Vec::new() });
        let stop = Time::from_secs(7);
        let flows: Vec<([usize; 2], Cbr)> = ends
            .iter()
            .map(|(a, b, rate)| ([a % n, b % n], cbr(*rate, stop)))
            .filter(|([a, b], _)| a != b)
            .collect();
        prop_assume!(!flows.is_empty());
        let mut config = over(radio, &flows, Time::from_millis(stop_ms));
        config.seed = seed;
        let result = run(config); // checks conservation
        let r = routing(&result);
        let sent: u64 = result.flows.iter().map(|f| f.packets_sent).sum();
        prop_assert!(r.crossed <= sent);
        prop_assert_eq!(r.drops_ttl, 0);
        prop_assert!(r.discoveries >= r.discoveries_succeeded + r.discoveries_failed);
    }
}

/// Mbit/s over `hops` hops with a saturated source. The radio is 802.11b at 2 Mbit/s with datagrams of 1472
/// bytes. Stations are 200 m apart, are received up to 250 m and sensed up to 550 m.
fn chain_mbps(hops: usize, routes: Hops) -> f64 {
    let places: Vec<i64> = (0..=hops as i64).map(|i| 200 * i).collect();
    let mut radio = line(Phy::B_LONG, 550, &places);
    (radio.data_rate_bps, radio.control_rate_bps) = (2_000_000, 2_000_000);
    radio.hops = routes;
    let stop = Time::from_secs(20);
    let greedy = Cbr {
        packet: 1472,
        interval: Span::from_micros(5_888),
        spread: Span::ZERO,
        stop,
        deadline: None,
    };
    let result = run(over(radio, &[([0, hops], greedy)], Time::from_secs(21)));
    result.flows[0].delivered_bytes as f64 * 8e-6 / 20.0
}

/// Compares with Li, Blake, De Couto, Lee and Morris, "Capacity of ad hoc wireless networks" (MobiCom 2001),
/// section 3.1.
///
/// In a chain, one in four neighbours can transmit at a time. With given routes and a greedy source, the
/// 802.11 MAC reaches about one seventh of the capacity of one hop.
#[test]
fn a_long_chain_carries_a_quarter_to_a_seventh_of_one_hop() {
    let given = |hops: usize| Hops::Pairs((0..hops).map(|i| [i, i + 1]).collect());
    let one = chain_mbps(1, given(1));
    assert!((1.6..1.8).contains(&one), "{one} Mbps");
    let share = |hops| chain_mbps(hops, given(hops)) / one;
    let shares: Vec<f64> = (2..=8).map(share).collect();
    assert!((0.46..0.52).contains(&shares[0]), "{shares:?}");
    assert!((0.29..0.35).contains(&shares[1]), "{shares:?}");
    for long in &shares[3..] {
        assert!((1.0 / 8.0..1.0 / 4.0).contains(long), "{shares:?}");
    }
    // AODV takes packets that hidden stations destroyed for lost neighbours, and starts discoveries.
    let found = chain_mbps(8, Hops::Aodv(Aodv::RFC3561)) / one;
    assert!((0.04..*shares.last().expect("eight hops")).contains(&found), "{found} {shares:?}");
    println!("{one:.3} Mbps over one hop; shares of 2 to 8 hops {shares:.3?}, AODV 8: {found:.3}");
}
