//! Connections over several paths: their goodput, blocking by a slow path, and the failure of paths.

use crate::common::{self, Traffic, cbr, drops, flow, link, network, rfc};
use windlass_cc::{Span, Time};
use windlass_sim::config::{Config, Multipath, ReadPolicy, SubflowConfig};
use windlass_sim::link::QueueLimit;
use windlass_sim::{ConfigError, FlowResult, MultipathResult, RunResult, Series, Simulation};
use windlass_tcp::mptcp::{MultipathConfig, Scheduler};

const MBPS: u64 = 1_000_000;

/// Server 0 and client 1, over node 2 (3 Mbit/s, 20 ms) and node 3 (1 Mbit/s, 40 ms). Each path has a queue
/// of 30 packets. The subflows are `wifi` and `lte`.
fn two_paths(traffic: Traffic, seconds: u64) -> Config {
    let queue = |mut l: windlass_sim::config::LinkConfig| {
        l.queue = QueueLimit::Packets(30);
        l
    };
    let links = vec![
        queue(link([0, 2], 3 * MBPS, 20)),
        link([2, 1], 1_000 * MBPS, 0),
        queue(link([0, 3], MBPS, 40)),
        link([3, 1], 1_000 * MBPS, 0),
    ];
    let mut flow = flow([0, 1], rfc("newreno"), traffic);
    flow.multipath = Some(Box::new(Multipath {
        config: MultipathConfig::default(),
        subflows: vec![subflow("wifi", 2), subflow("lte", 3)],
        disjoint: false,
    }));
    network(links, vec![flow], Time::from_secs(seconds))
}

fn subflow(name: &str, via: usize) -> SubflowConfig {
    SubflowConfig { name: name.into(), via: vec![via], profile: rfc("newreno") }
}

fn multipath(config: &mut Config) -> &mut Multipath {
    config.flows[0].multipath.as_mut().expect("a multipath flow")
}

fn run(config: Config) -> RunResult {
    common::run(config)
}

fn of(result: &RunResult) -> (&FlowResult, &MultipathResult) {
    let flow = &result.flows[0];
    (flow, flow.multipath.as_ref().expect("a multipath flow"))
}

const ENDLESS: Traffic = Traffic::Bulk { bytes: None };

#[test]
fn two_paths_reach_nearly_the_sum_of_their_rates() {
    let result = run(two_paths(ENDLESS, 60));
    let (flow, m) = of(&result);
    // A packet of 1500 bytes carries at most 1420 bytes of the stream, after 20 of DSS and 60 of headers.
    let most = 4e6 * 1420.0 / 1500.0;
    assert!(flow.goodput_bps > 0.85 * most && flow.goodput_bps <= most, "{}", flow.goodput_bps);
    let shares: Vec<f64> = m.subflows.iter().map(|s| s.share).collect();
    assert!((shares[0] - 0.75).abs() < 0.05, "{shares:?}");
    assert!((shares[0] + shares[1] - 1.0).abs() < 1e-12);
    assert!(!m.fallen_back && m.joins == 1, "{m:?}");
}

#[test]
fn every_byte_arrives_once_and_in_order_over_lossy_paths() {
    const BYTES: u64 = 3_000_000;
    let mut config = two_paths(Traffic::Bulk { bytes: Some(BYTES) }, 100);
    config.links[0].loss = [drops(0.02), drops(0.02)].into();
    config.links[2].loss = [drops(0.05), drops(0.05)].into();
    let result = run(config);
    let (flow, m) = of(&result);
    assert_eq!((flow.delivered_bytes, &flow.failure), (BYTES, &None));
    assert!(flow.completion_s.is_some());
    assert!(m.subflows.iter().all(|s| s.retransmits > 0 && s.loss_rate > 0.01), "{m:?}");
    let sum = |of: fn(&windlass_sim::SubflowResult) -> u64| m.subflows.iter().map(of).sum::<u64>();
    assert_eq!(flow.packets_sent, sum(|s| s.packets_sent));
    assert_eq!(sum(|s| s.delivered_bytes), BYTES + m.duplicate_bytes);
}

/// The slow path blocks the fast path if its data do not fit into the common buffer.
#[test]
fn with_a_small_receive_buffer_the_slow_path_blocks_the_fast_path() {
    let goodput = |receive_buffer: u64, penalise: bool| {
        let mut config = two_paths(ENDLESS, 60);
        config.links[2].delay = Span::from_millis(200);
        let multipath = multipath(&mut config);
        multipath.config.receive_buffer = receive_buffer;
        multipath.config.penalise = penalise;
        multipath.config.opportunistic = penalise;
        let result = run(config);
        let (flow, m) = of(&result);
        // A copy sent on another subflow is buffered in addition to the original.
        assert!(m.max_out_of_order_bytes <= receive_buffer + m.reinjected_bytes, "{m:?}");
        flow.goodput_bps
    };
    let (large, small) = (goodput(4 << 20, false), goodput(60_000, false));
    assert!(small < 0.65 * large, "{small} of {large}");
    // The mechanisms of Raiciu et al. 2012, section 4.2, recover a part of the goodput.
    let helped = goodput(60_000, true);
    assert!(helped > 1.2 * small, "{helped} over {small}");
}

#[test]
fn an_outage_of_a_path_costs_only_its_share() {
    let mut config = two_paths(ENDLESS, 60);
    config.links[2].down = vec![[Time::from_secs(10), Time::from_secs(30)]];
    config.record.series = vec![Series::Delivered];
    let result = run(config);
    let (_, m) = of(&result);
    assert!(m.suspensions + m.lost_subflows > 0 && m.reinjections > 0, "{m:?}");
    let progress = |track: u32, from_s: u64, to_s: u64| {
        let at = |s: u64| {
            let before = |x: &&windlass_sim::Sample| x.time <= Time::from_secs(s);
            let mine = result.samples.iter().filter(|x| x.flow == track);
            mine.take_while(before).last().map_or(0, |x| x.value)
        };
        (at(to_s) - at(from_s)) as f64 * 8.0 / (to_s - from_s) as f64
    };
    // While the path is down, the other path continues, after it has retransmitted the data lost on the
    // first.
    assert_eq!(progress(2, 12, 30), 0.0);
    let alone = progress(0, 15, 30);
    assert!(alone > 0.85 * 3e6 * 0.94, "{alone}");
    let again = progress(0, 45, 60);
    assert!(again > 1.2 * alone, "{again} after {alone}");
    assert!(progress(2, 45, 60) > 0.5e6);
}

#[test]
fn a_transfer_survives_the_loss_of_the_first_path() {
    const BYTES: u64 = 4_000_000;
    let mut config = two_paths(Traffic::Bulk { bytes: Some(BYTES) }, 200);
    config.links[0].down = vec![[Time::from_secs(3), Time::from_secs(200)]];
    let result = run(config);
    let (flow, m) = of(&result);
    assert_eq!((flow.delivered_bytes, &flow.failure), (BYTES, &None), "{m:?}");
}

#[test]
fn a_path_that_never_works_does_not_affect_the_other() {
    for dead in [0, 2] {
        let mut config = two_paths(Traffic::Bulk { bytes: Some(1_000_000) }, 100);
        config.links[dead].loss = [drops(1.0), None].into();
        let result = run(config);
        let (flow, m) = of(&result);
        assert_eq!((flow.delivered_bytes, &flow.failure), (1_000_000, &None), "{m:?}");
        assert_eq!(m.subflows[dead / 2].delivered_bytes, 0);
    }
}

#[test]
fn one_subflow_behaves_like_a_plain_connection() {
    let mut config = two_paths(ENDLESS, 60);
    multipath(&mut config).subflows.pop();
    let alone = run(config.clone());
    config.flows[0].multipath = None;
    let plain = run(config);
    let (flow, m) = of(&alone);
    assert_eq!(m.subflows.len(), 1);
    assert_eq!((m.reinjections, m.duplicate_bytes, flow.srtt_ms), (0, 0, m.subflows[0].srtt_ms));
    let ratio = flow.goodput_bps / plain.flows[0].goodput_bps;
    // The options take 28 of 1448 bytes.
    assert!((0.95..=0.99).contains(&ratio), "{ratio}");
}

#[test]
fn a_peer_without_multipath_gets_an_ordinary_connection() {
    let mut config = two_paths(Traffic::Bulk { bytes: Some(1_000_000) }, 60);
    multipath(&mut config).config.peer_capable = false;
    let result = run(config);
    let (flow, m) = of(&result);
    assert_eq!((flow.delivered_bytes, m.fallen_back, m.joins), (1_000_000, true, 0));
    assert_eq!(m.subflows[1].packets_sent, 0);
}

#[test]
fn requests_and_constant_rates_run_over_subflows() {
    let ask = Traffic::RequestResponse {
        request: 100,
        response: 200_000,
        requests: 5,
        think: Span::from_millis(100),
    };
    let result = run(two_paths(ask, 60));
    let (flow, m) = of(&result);
    assert_eq!((flow.delivered_bytes, flow.responses_s.len()), (1_000_000, 5));
    assert!(m.subflows.iter().all(|s| s.delivered_bytes > 0), "{m:?}");
    // 1000 bytes every 4 ms: 2 Mbit/s.
    let clocked = run(two_paths(Traffic::CbrTcp(cbr(1000, 4000, Time::from_secs(20))), 60));
    assert_eq!(of(&clocked).0.delivered_bytes, 5_000_000);
}

#[test]
fn a_slow_reader_limits_the_goodput() {
    let mut config = two_paths(ENDLESS, 60);
    config.flows[0].read = ReadPolicy::Rate(100_000);
    multipath(&mut config).config.receive_buffer = 64_000;
    let result = run(config);
    let goodput = of(&result).0.goodput_bps;
    assert!((goodput - 800_000.0).abs() < 40_000.0, "{goodput}");
}

#[test]
fn every_scheduler_delivers_the_stream_and_the_redundant_one_sends_it_twice() {
    for (name, scheduler) in Scheduler::ALL {
        let mut config = two_paths(Traffic::Bulk { bytes: Some(1_000_000) }, 100);
        multipath(&mut config).config.scheduler = scheduler;
        let result = run(config);
        let (flow, m) = of(&result);
        assert_eq!(flow.delivered_bytes, 1_000_000, "{name}: {m:?}");
        let twice = m.redundant_bytes > 300_000;
        assert_eq!(twice, scheduler == Scheduler::Redundant, "{name}: {m:?}");
    }
}

#[test]
fn the_seed_determines_a_multipath_run() {
    let config = |seed: u64| {
        let mut config = two_paths(ENDLESS, 20);
        config.links[0].loss = [drops(0.01), drops(0.01)].into();
        config.links[2].down = vec![[Time::from_secs(5), Time::from_secs(8)]];
        config.record.series = vec![Series::Cwnd, Series::Srtt];
        config.record.capture = vec![0, 2];
        config.seed = seed;
        config
    };
    assert_eq!(run(config(1)), run(config(1)));
    assert_ne!(run(config(1)).packets, run(config(2)).packets);
}

#[test]
fn the_packet_log_has_the_path_and_the_option() {
    let mut config = two_paths(Traffic::Bulk { bytes: Some(500_000) }, 20);
    config.record.capture = vec![0, 2];
    let result = run(config);
    for p in &result.packets {
        let path = p.path.expect("a packet of a multipath flow");
        assert_eq!(u32::from(path.path), p.link / 4, "{p:?}");
        assert_eq!((p.flow, p.forward), (0, p.link.is_multiple_of(2)));
        let segment = p.segment.expect("TCP");
        let option = path.option.map_or(0, |o| o.wire_len());
        assert_eq!(p.ip_len, segment.ip_len() + option, "{p:?}");
    }
    let data = |path: u8| {
        let on = result.packets.iter().filter(|p| p.path.is_some_and(|x| x.path == path));
        on.filter(|p| p.segment.is_some_and(|s| s.len > 0)).count()
    };
    assert!(data(0) > 20 && data(1) > 5);
}

#[test]
fn invalid_multipath_configurations_are_refused() {
    let problem = |change: fn(&mut Config)| {
        let mut config = two_paths(ENDLESS, 1);
        change(&mut config);
        Simulation::new(config).expect_err("invalid").to_string()
    };
    for (expected, change) in [
        ("at least one path", (|c| multipath(c).subflows.clear()) as fn(&mut Config)),
        ("receive buffer of 0 bytes", |c| multipath(c).config.receive_buffer = 0),
        ("two subflows are called \"wifi\"", |c| multipath(c).subflows[1].name = "wifi".into()),
        ("node 9 does not exist", |c| multipath(c).subflows[1].via = vec![9]),
        ("datagrams has no subflows", |c| {
            c.flows[0].traffic = Traffic::CbrUdp(cbr(100, 1000, Time::from_secs(1)));
        }),
    ] {
        let message = problem(change);
        assert!(message.contains(expected), "{message}");
    }
    let mut config = two_paths(ENDLESS, 1);
    config.nodes.push("island".into());
    multipath(&mut config).subflows[1].via = vec![4];
    let error = Simulation::new(config).expect_err("no route");
    assert!(matches!(error, ConfigError::NoRoute { flow } if flow.ends_with(":lte")));
}
