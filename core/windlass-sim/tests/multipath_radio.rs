//! A multipath connection over a radio whose stations route by AODV: two subflows on node-disjoint routes,
//! broken routes, and networks with a single route.

use crate::common::radio::grid;
use crate::common::{cbr, flow, network, rfc, run};
use proptest::prelude::*;
use windlass_cc::Time;
use windlass_sim::config::{Config, FlowConfig, Multipath, SubflowConfig, Traffic};
use windlass_sim::radio::{Hops, Position, RadioConfig};
use windlass_sim::routing::aodv::{Aodv, DisjointPath, RoutingResult};
use windlass_sim::{ConfigError, MultipathResult, RunResult, Series, Simulation};
use windlass_tcp::fitness::Reading;
use windlass_tcp::mptcp::{MultipathConfig, Scheduler};

fn subflow(name: &str) -> SubflowConfig {
    SubflowConfig { name: name.into(), via: Vec::new(), profile: rfc("newreno") }
}

/// A connection with two subflows on disjoint routes over this radio.
fn connection(
    radio: RadioConfig,
    ends: [usize; 2],
    scheduler: Scheduler,
    traffic: Traffic,
    seconds: u64,
) -> Config {
    let mut flow = flow(ends, rfc("newreno"), traffic);
    flow.multipath = Some(Box::new(Multipath {
        config: MultipathConfig { scheduler, ..MultipathConfig::default() },
        subflows: vec![subflow("first"), subflow("second")],
        disjoint: true,
    }));
    let mut config = network(Vec::new(), vec![flow], Time::from_secs(seconds));
    config.nodes = (0..radio.stations.len()).map(|n| format!("n{n}")).collect();
    config.radios = vec![radio];
    config
}

fn bulk(bytes: u64) -> Traffic {
    Traffic::Bulk { bytes: Some(bytes) }
}

const ENDLESS: Traffic = Traffic::Bulk { bytes: None };

fn routing(result: &RunResult) -> &RoutingResult {
    result.radios[0].routing.as_ref().expect("a routing protocol")
}

fn multipath(result: &RunResult) -> &MultipathResult {
    result.flows[0].multipath.as_ref().expect("a multipath flow")
}

/// The stations between the ends of a disjoint path, from the present routing tables; `None` if the path is
/// not complete.
fn route(r: &RoutingResult, [from, to]: [usize; 2], path_id: u32) -> Option<Vec<u32>> {
    let (mut at, to) = (from as u32, to as u32);
    let mut between = Vec::new();
    loop {
        let next = r.routes.iter().find(|x| (x.station, x.to, x.circuit) == (at, to, path_id))?;
        at = next.next;
        if at == to {
            return Some(between);
        }
        assert!(!between.contains(&at), "a loop at station {at}");
        between.push(at);
    }
}

#[test]
fn a_stream_arrives_completely_over_two_routes() {
    let bytes = 1_000_000;
    let config = connection(grid(5, 5), [10, 14], Scheduler::LowestRtt, bulk(bytes), 120);
    let result = run(config);
    let m = multipath(&result);
    assert_eq!(result.flows[0].delivered_bytes, bytes);
    assert!(result.flows[0].completion_s.is_some());
    assert_eq!((m.joins, m.fallen_back), (1, false), "{m:?}");
    for subflow in &m.subflows {
        assert!(subflow.delivered_bytes > 50_000, "{m:?}");
    }
}

#[test]
fn without_disjoint_routes_both_subflows_share_the_route() {
    let mut config = connection(grid(3, 3), [0, 2], Scheduler::RoundRobin, ENDLESS, 10);
    if let Some(m) = &mut config.flows[0].multipath {
        m.disjoint = false;
    }
    let result = run(config);
    assert!(multipath(&result).subflows[1].share > 0.1);
    assert!(routing(&result).routes.iter().all(|r| r.circuit == 0));
}

#[test]
fn in_a_chain_the_connection_continues_with_one_subflow() {
    let bytes = 300_000;
    let config = connection(grid(1, 4), [0, 3], Scheduler::RoundRobin, bulk(bytes), 120);
    let result = run(config);
    let m = multipath(&result);
    assert_eq!(result.flows[0].delivered_bytes, bytes);
    assert_eq!((m.joins, m.subflows[1].delivered_bytes), (0, 0), "{m:?}");
}

/// 80 kbit/s in small packets. The channel is mostly idle, so that only the test's own breaks affect the routes.
fn trickle(seconds: u64) -> Traffic {
    Traffic::CbrTcp(cbr(500, 50_000, Time::from_secs(seconds)))
}

/// Runs until `dies` and then to the end. Returns the results at both times.
fn two_looks(config: Config, dies: Time) -> [RunResult; 2] {
    let mut simulation = Simulation::new(config).expect("valid");
    simulation.run_until(dies);
    let before = simulation.clone().finish().expect("packets conserved");
    simulation.run();
    [before, simulation.finish().expect("packets conserved")]
}

/// Between two adjacent corners of a grid of three by three stations, there are two disjoint routes: over the
/// station between them, and around the grid.
#[test]
fn a_subflow_without_a_route_is_suspended_and_the_stream_continues() {
    let (ends, dies) = ([0, 2], Time::from_secs(20));
    for (relay, dead) in [(1, 0), (3, 1)] {
        let mut radio = grid(3, 3);
        radio.off = vec![(relay, dies)];
        let config = connection(radio, ends, Scheduler::RoundRobin, trickle(58), 60);
        let [before, after] = two_looks(config, dies);
        let now = |result, path_id| route(routing(result), ends, path_id);
        assert_eq!(now(&before, 1), Some(vec![1]), "the first path is the shortest route");
        assert_eq!(now(&before, 2), Some(vec![3, 4, 5]));
        let (m, old) = (multipath(&after), multipath(&before));
        assert_eq!(m.suspensions + m.lost_subflows, 1, "{m:?}");
        assert_eq!(m.returns, 0, "{m:?}");
        let grew = |i: usize| m.subflows[i].delivered_bytes - old.subflows[i].delivered_bytes;
        assert!(grew(dead) == 0, "{m:?} {old:?}");
        assert!(grew(1 - dead) >= 350_000, "{m:?} {old:?}");
        assert_eq!(after.flows[0].delivered_bytes, 580_000, "{m:?}");
    }
}

/// Schedulers with path choice survive too, for either route.
#[test]
fn path_choice_survives_the_death_of_either_relay() {
    for scheduler in Scheduler::ALL.map(|(_, s)| s).into_iter().filter(|s| s.wants_layers()) {
        for relay in [1, 3] {
            let mut radio = grid(3, 3);
            radio.off = vec![(relay, Time::from_secs(20))];
            let result = run(connection(radio, [0, 2], scheduler, trickle(58), 60));
            assert_eq!(result.flows[0].delivered_bytes, 580_000, "{scheduler:?} {relay}");
        }
    }
}

/// In a grid of five by five stations, between the middles of two opposite sides, there is a route
/// around every station.
#[test]
fn a_subflow_with_a_broken_route_returns_on_another_route() {
    let (ends, dies) = ([10, 14], Time::from_secs(20));
    for path_id in [1, 2] {
        let config = |off| {
            let mut radio = grid(5, 5);
            radio.off = off;
            connection(radio, ends, Scheduler::RoundRobin, trickle(58), 60)
        };
        let [before, _] = two_looks(config(Vec::new()), dies);
        let relays = route(routing(&before), ends, path_id).expect("a route");
        let relay = relays[relays.len() / 2];
        let [before, after] = two_looks(config(vec![(relay as usize, dies)]), dies);
        let subflow = path_id as usize - 1;
        let (m, old) = (multipath(&after), multipath(&before));
        let grew = m.subflows[subflow].delivered_bytes - old.subflows[subflow].delivered_bytes;
        assert!(grew >= 150_000, "{relay}: {old:?} {m:?}");
        assert_eq!(m.suspensions, m.returns, "{m:?}");
        assert!(m.subflows[subflow].retransmits > 0, "nothing was lost: {m:?}");
        assert_eq!(after.flows[0].delivered_bytes, 580_000, "{m:?}");
    }
}

#[test]
fn invalid_disjoint_routes_are_refused() {
    let good = || connection(grid(3, 3), [0, 8], Scheduler::LowestRtt, ENDLESS, 1);
    let problem = |config: Config| match Simulation::new(config) {
        Err(ConfigError::Invalid { problem, .. }) => problem,
        other => panic!("{:?}", other.map(|_| ())),
    };
    let subflows = |config: &mut Config, change: fn(&mut Vec<SubflowConfig>)| {
        change(&mut config.flows[0].multipath.as_mut().expect("multipath").subflows);
    };
    let mut three = good();
    subflows(&mut three, |s| s.push(subflow("third")));
    assert!(problem(three).contains("for two subflows, and 3 cross it"));
    let mut one = good();
    subflows(&mut one, |s| s.truncate(1));
    assert!(problem(one).contains("for two subflows, and 1 cross it"));
    let mut twice = good();
    subflows(&mut twice, |s| s[1].via = vec![4]);
    assert!(problem(twice).contains("\"second\" crosses radio \"air\" twice"));
    let mut fixed = good();
    fixed.radios[0].hops = Hops::InRange;
    fixed.flows[0].to = 1;
    assert!(problem(fixed).contains("none of them crosses a radio whose stations route by AODV"));
    let mut pair = good();
    let other = flow([0, 8], rfc("newreno"), ENDLESS);
    pair.flows.push(other);
    pair.radios[0].hops = Hops::Aodv(Aodv { disjoint: vec![[0, 1]], ..Aodv::RFC3561 });
    assert!(problem(pair).contains("take disjoint routes by themselves"));
}

/// A ring of stations 150 m apart, four wide and five high. Two routes of seven hops lead from the middle of
/// the left side (station 2) to the middle of the right side (station 9), along the top and along the bottom.
/// The middles of the two routes do not sense each other.
fn ring() -> RadioConfig {
    let mut radio = grid(1, 14);
    let left = (0..5).map(|y| (0, y));
    let bottom = (1..3).map(|x| (x, 4));
    let right = (0..5).rev().map(|y| (3, y));
    let top = (1..3).rev().map(|x| (x, 0));
    let places = left.chain(bottom).chain(right).chain(top);
    for (station, (x, y)) in radio.stations.iter_mut().zip(places) {
        station.position = Position::metres(150 * x, 150 * y);
    }
    radio
}

/// Share of a stream of 100 kbit/s on the route without competing traffic. From two seconds on, two stations
/// on the other route exchange datagrams of 1000 bytes, one every `interval_us`. They are in the middle of
/// the ring's bottom or top.
fn share_beside(interval_us: u64, bottom: bool, scheduler: Scheduler, seed: u64) -> f64 {
    let (ends, began) = ([2, 9], Time::from_secs(2));
    let end = Time::from_secs(60);
    let stream = Traffic::CbrTcp(cbr(500, 40_000, end));
    let mut config = connection(ring(), ends, scheduler, stream, 60);
    config.seed = seed;
    let noise = Traffic::CbrUdp(cbr(1_000, interval_us, end));
    let between = if bottom { [5, 6] } else { [12, 13] };
    config.flows.push(FlowConfig { start: began, ..flow(between, rfc("reno"), noise) });
    let [before, after] = two_looks(config, began);
    // One route leads along the bottom, the other along the top.
    let over_bottom = route(routing(&before), ends, 1).expect("a route").contains(&5);
    assert!(after.flows[0].goodput_bps > 95e3, "{:?}", after.flows[0]);
    let free = usize::from(over_bottom == bottom);
    multipath(&after).subflows[free].share
}

#[test]
fn path_choice_prefers_the_route_without_congestion() {
    for scheduler in [Scheduler::Fpf(Reading::Repaired), Scheduler::PathChoice] {
        for bottom in [true, false] {
            for seed in 1..=3 {
                // 2.3 of the 5 Mbit/s of one hop.
                let share = share_beside(3_500, bottom, scheduler, seed);
                assert!(share > 0.8, "{scheduler:?} {bottom} {seed}: {share}");
            }
        }
    }
}

/// The first RTT sample of the second route includes the route discovery. Because of this sample, lowest RTT
/// may use the congested route permanently.
#[test]
fn path_choice_finds_a_better_route_that_lowest_rtt_ignores() {
    let shares = |scheduler| {
        let of_seed = |seed| share_beside(4_400, true, scheduler, seed);
        (1..=4).map(of_seed).sum::<f64>() / 4.0
    };
    let (fpf, lowest) = (shares(Scheduler::Fpf(Reading::Repaired)), shares(Scheduler::LowestRtt));
    assert!(fpf > lowest + 0.15, "{fpf} and {lowest}");
}

/// Cross-layer data of a path are those for its next hop. The two paths of a station share its queue, but not
/// its counters.
#[test]
fn a_scheduler_gets_cross_layer_data_of_each_path_on_request() {
    let ports = [2, 4]; // after the two hosts of the only flow
    let config = |scheduler| connection(ring(), [2, 9], scheduler, ENDLESS, 20);
    let mut closed = Simulation::new(config(Scheduler::LowestRtt)).expect("valid");
    closed.run_until(Time::from_secs(5));
    assert_eq!(ports.map(|port| closed.cross_layer_of_path(port)), [None, None]);
    let mut open = Simulation::new(config(Scheduler::PathChoice)).expect("valid");
    assert_eq!(open.cross_layer_of_path(2).expect("cross-layer data").hops, 0, "no route yet");
    let mut seen = [0; 2];
    for tick in 1..=100 {
        open.run_until(Time::from_millis(200 * tick));
        let [a, b] = ports.map(|port| open.cross_layer_of_path(port).expect("cross-layer data"));
        for (seen, layers) in seen.iter_mut().zip([a, b]) {
            assert!(layers.hops == 0 || layers.hops == 7, "{layers:?}");
            *seen += u32::from(layers.hops == 7 && layers.service_rate.0 > 10_000);
        }
        assert!(a.queue_len + b.queue_len <= 30, "{a:?} {b:?}");
        assert_eq!(open.cross_layer(2), None, "NewReno does not use cross-layer data");
    }
    assert!(seen[0] > 10 && seen[1] > 10, "{seen:?}");
}

/// The controller of a subflow receives cross-layer data on request, like the controller of a flow.
#[test]
fn the_controller_of_a_subflow_gets_data_of_its_station() {
    let mut config = connection(grid(3, 3), [0, 2], Scheduler::LowestRtt, ENDLESS, 10);
    let m = config.flows[0].multipath.as_mut().expect("multipath");
    for subflow in &mut m.subflows {
        subflow.profile = rfc("cocoa3plus");
    }
    config.record.series = vec![Series::State("average_queue")];
    let mut simulation = Simulation::new(config).expect("valid");
    simulation.run();
    assert!(simulation.cross_layer(2).is_some());
    let result = simulation.finish().expect("packets conserved");
    let most = result.samples.iter().map(|s| s.value).max();
    assert!(most > Some(0), "the controller never received a queue length");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    /// At all times, the forward and reverse routes of the two paths share only their ends, also after
    /// stations are switched off. Every byte of the stream arrives once and in order, or is on its way.
    #[test]
    fn the_routes_of_two_subflows_never_share_a_relay(
        (rows, columns) in (2usize..6, 2usize..6),
        (from, to) in (0usize..36, 0usize..36),
        off in prop::collection::vec((0usize..36, 1_000u64..8_000), 0..3),
        (scheduler, seed) in (0usize..Scheduler::ALL.len(), 0u64..1000),
    ) {
        let n = rows * columns;
        let ends = [from % n, to % n];
        prop_assume!(ends[0] != ends[1]);
        let mut radio = grid(rows, columns);
        let relays = off.iter().map(|(s, ms)| (s % n, Time::from_millis(*ms)));
        radio.off = relays.filter(|(s, _)| !ends.contains(s)).collect();
        let bytes = 400_000;
        let mut config = connection(radio, ends, Scheduler::ALL[scheduler].1, bulk(bytes), 15);
        // Another connection between the same ends, with independent routes.
        let other = config.flows[0].clone();
        config.flows.push(FlowConfig { name: "other".into(), ..other });
        config.seed = seed;
        let mut simulation = Simulation::new(config).expect("valid");
        for tick in 1..=30 {
            simulation.run_until(Time::from_millis(500 * tick));
            let result = simulation.clone().finish().expect("packets conserved");
            for group in 0..2 {
                let both = [ends, [ends[1], ends[0]]];
                let [a, b] = [0, 1].map(|member| {
                    let path_id = DisjointPath::number(group, member);
                    both.map(|ends| route(routing(&result), ends, path_id))
                });
                for (there, a) in a.iter().enumerate() {
                    for (back, b) in b.iter().enumerate() {
                        let (Some(a), Some(b)) = (a, b) else { continue };
                        prop_assert!(a.iter().all(|s| !b.contains(s)), "{ends:?}: {a:?} and {b:?}");
                        prop_assert!(there != back || !(a.is_empty() && b.is_empty()), "both direct");
                    }
                }
            }
        }
        let result = simulation.finish().expect("packets conserved");
        for flow in &result.flows {
            prop_assert!(flow.delivered_bytes <= bytes);
            prop_assert!(flow.completion_s.is_none() || flow.delivered_bytes == bytes);
        }
    }
}
