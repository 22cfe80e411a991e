//! Coupled congestion control in the network: a shared bottleneck, pooled links, unequal loss.
//!
//! Every flow runs the standards' stack with proportional rate reduction, so that flows differ only in the
//! growth of cwnd. The queues are RED queues. With packets of one size, no jitter and drop-tail queues, phase
//! effects would determine the losses (Floyd and Jacobson 1991). Plain TCPs with 40 and 42 ms would then
//! share a link as 1 to 10.

use crate::common::{self, Traffic, drops, flow, link, network, profile};
use windlass_cc::Time;
use windlass_cc::recovery::LossRecovery;
use windlass_sim::config::{Config, FlowConfig, LinkConfig, Multipath, SubflowConfig};
use windlass_sim::link::QueueLimit;
use windlass_sim::queue::{Discipline, Level, Red};
use windlass_sim::{RunResult, Series};
use windlass_tcp::Profile;
use windlass_tcp::mptcp::MultipathConfig;
use windlass_tcp::stack::{RFC, StackConfig};

const MBPS: u64 = 1_000_000;
const SEEDS: u64 = 5;
const ENDLESS: Traffic = Traffic::Bulk { bytes: None };

fn stack(algorithm: &'static str) -> Profile {
    profile(StackConfig { recovery: Some(LossRecovery::Prr), ..RFC }, algorithm)
}

/// A link with RED.
fn bottleneck(ends: [usize; 2], rate_bps: u64, delay_ms: u64, packets: u64) -> LinkConfig {
    let red = Red {
        min_threshold: Level::Packets(packets / 8),
        max_threshold: Level::Packets(packets * 3 / 8),
        weight: 0.002,
        max_probability: 0.1,
        gentle: true,
        ecn: false,
        adaptive: false,
        mean_packet: 1_500,
    };
    LinkConfig {
        queue: QueueLimit::Packets(packets),
        discipline: Discipline::Red(red),
        ..link(ends, rate_bps, delay_ms)
    }
}

fn access(ends: [usize; 2]) -> LinkConfig {
    link(ends, 1_000 * MBPS, 1)
}

/// A connection with a subflow over each of these nodes.
fn multipath(ends: [usize; 2], algorithm: &'static str, over: [usize; 2]) -> FlowConfig {
    let subflow = |via: usize| SubflowConfig {
        name: format!("over {via}"),
        via: vec![via],
        profile: stack(algorithm),
    };
    let config = MultipathConfig::default();
    let subflows = over.map(subflow).to_vec();
    let multipath = Some(Multipath { config, subflows, disjoint: false });
    FlowConfig { multipath: multipath.map(Box::new), ..flow(ends, stack(algorithm), ENDLESS) }
}

fn single(ends: [usize; 2]) -> FlowConfig {
    flow(ends, stack("reno"), ENDLESS)
}

/// Starts flows within the first second, at times that depend on the seed.
fn seeded(mut config: Config, seed: u64) -> Config {
    config.seed = seed;
    for (place, flow) in (1u64..).zip(&mut config.flows) {
        let drawn = (seed << 8 | place).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        flow.start = Time((drawn >> 20) % 1_000_000_000);
    }
    config
}

fn run(config: Config) -> RunResult {
    common::run(config)
}

/// Mean and half the width of its 95 % confidence interval (Student's t with four degrees of
/// freedom: five seeds).
fn interval(values: &[f64]) -> (f64, f64) {
    assert_eq!(values.len(), 5);
    let mean = values.iter().sum::<f64>() / 5.0;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 4.0;
    (mean, 2.776 * (variance / 5.0).sqrt())
}

/// One multipath connection from node 0 to node 1 over nodes 2 and 3, and two TCPs from 6 to 7,
/// through one link of 10 Mbit/s.
fn shared(algorithm: &'static str) -> Config {
    let links = vec![
        access([0, 2]),
        access([0, 3]),
        access([2, 4]),
        access([3, 4]),
        bottleneck([4, 5], 10 * MBPS, 18, 40),
        access([5, 1]),
        access([6, 4]),
        access([5, 7]),
    ];
    let flows = vec![multipath([0, 1], algorithm, [2, 3]), single([6, 7]), single([6, 7])];
    network(links, flows, Time::from_secs(100))
}

/// Goodput of the connection over the mean goodput of the TCPs, for each seed.
fn shares(algorithm: &'static str) -> Vec<f64> {
    let share = |seed| {
        let result = run(seeded(shared(algorithm), seed));
        let [own, others @ ..] = &result.flows[..] else { panic!("three flows") };
        let others: f64 = others.iter().map(|f| f.goodput_bps).sum();
        own.goodput_bps / (others / 2.0)
    };
    (1..=SEEDS).map(share).collect()
}

/// RFC 6356 goal 2. An uncoupled connection takes the shares of two TCPs. D-LIA takes more than one share
/// too, because its losses reduce cwnd less than LIA's increase assumes.
#[test]
fn a_coupled_connection_takes_one_tcps_share_of_a_shared_bottleneck() {
    for id in ["lia", "olia", "balia", "emreno-approx", "wvegas"] {
        let (mean, half) = interval(&shares(id));
        assert!(mean - half <= 1.0 && mean + half < 1.2, "{id}: {mean} ± {half}");
        assert!(mean > 0.7, "{id}: {mean} ± {half}");
    }
    let (mean, half) = interval(&shares("reno"));
    assert!(mean - half > 1.6 && mean + half < 2.4, "uncoupled: {mean} ± {half}");
    let (mean, half) = interval(&shares("d-lia"));
    assert!(mean - half > 1.1, "d-lia: {mean} ± {half}");
}

/// Two links of 5 Mbit/s. The connection uses both, over nodes 2 and 3. Three TCPs share the first link, and
/// one TCP uses the second.
fn pooled(algorithm: &'static str) -> Config {
    let links = vec![
        access([0, 2]),
        access([0, 3]),
        bottleneck([2, 4], 5 * MBPS, 18, 30),
        bottleneck([3, 5], 5 * MBPS, 18, 30),
        access([4, 1]),
        access([5, 1]),
        access([6, 2]),
        access([4, 7]),
        access([8, 3]),
        access([5, 9]),
    ];
    let crowd = (0..3).map(|_| single([6, 7]));
    let mut flows = vec![multipath([0, 1], algorithm, [2, 3]), single([8, 9])];
    flows.extend(crowd);
    network(links, flows, Time::from_secs(100))
}

/// Share of the connection that uses the crowded link, and goodput of a TCP on this link.
fn crowded(algorithm: &'static str) -> [(f64, f64); 2] {
    let runs: Vec<[f64; 2]> = (1..=SEEDS)
        .map(|seed| {
            let result = run(seeded(pooled(algorithm), seed));
            let paths = result.flows[0].multipath.as_ref().expect("a multipath flow");
            let crowd: f64 = result.flows[2..].iter().map(|f| f.goodput_bps).sum();
            [paths.subflows[0].share, crowd / 3.0]
        })
        .collect();
    [0, 1].map(|of| interval(&runs.iter().map(|run| run[of]).collect::<Vec<_>>()))
}

/// RFC 6356 goal 3.
#[test]
fn coupled_connections_leave_a_crowded_link_to_single_path_flows() {
    let [(uncoupled, _), (crowd, half)] = crowded("reno");
    let mut parts = vec![uncoupled];
    for id in ["lia", "balia", "olia"] {
        let [(part, part_half), (mean, mean_half)] = crowded(id);
        let before = parts[parts.len() - 1];
        assert!(part + part_half < before, "{id}: {part} ± {part_half} after {before}");
        assert!(mean - mean_half > crowd + half, "{id}: {mean} ± {mean_half}, {crowd} ± {half}");
        parts.push(part);
    }
    // OLIA leaves the link almost completely.
    assert!(parts[3] < 0.15, "{parts:?}");
}

/// Two wide paths of 100 ms with these losses.
fn lossy(algorithm: &'static str, p: [f64; 2]) -> Config {
    let mut links = vec![
        link([0, 2], 100 * MBPS, 49),
        access([2, 1]),
        link([0, 3], 100 * MBPS, 49),
        access([3, 1]),
    ];
    links[0].loss[0] = drops(p[0]);
    links[2].loss[0] = drops(p[1]);
    network(links, vec![multipath([0, 1], algorithm, [2, 3])], Time::from_secs(300))
}
/// Windows on two lossy paths, compared with the fluid model. The bounds are wide for two reasons. Each run
/// has only about 200 losses on the better path and 50 on the other, and losses close together count as one
/// event.
#[test]
fn windows_on_two_lossy_paths_settle_at_their_fixed_points() {
    let p = [0.001, 0.004];
    let total = |config: &Config| {
        let goodput = |seed| run(Config { seed, ..config.clone() }).flows[0].goodput_bps;
        (1..=SEEDS).map(goodput).sum::<f64>()
    };
    let mut alone = lossy("reno", p);
    alone.flows = vec![single([0, 1])];
    let alone = total(&alone);
    let split = |algorithm| {
        let mut delivered = [0.0; 2];
        let mut goodput = 0.0;
        for seed in 1..=SEEDS {
            let result = run(Config { seed, ..lossy(algorithm, p) });
            let paths = result.flows[0].multipath.as_ref().expect("a multipath flow");
            goodput += result.flows[0].goodput_bps;
            for (sum, subflow) in delivered.iter_mut().zip(&paths.subflows) {
                *sum += subflow.delivered_bytes as f64;
            }
        }
        // Goal 1: both paths together have the goodput of one TCP on the better path.
        assert!((goodput / alone - 1.0).abs() < 0.1, "{algorithm}: {goodput}, alone {alone}");
        delivered[0] / delivered[1]
    };
    let (lia, balia, olia) = (split("lia"), split("balia"), split("olia"));
    // LIA: inversely proportional to the losses. BALIA: the solution a of (1 + a)(4 + a) = 15·p2/p1.
    assert!((lia / 4.0 - 1.0).abs() < 0.25, "{lia}");
    assert!((balia / 5.39 - 1.0).abs() < 0.25, "{balia}");
    // OLIA leaves the worse path, except for a probe.
    assert!(olia > 1.3 * balia, "{olia} {balia}");
}

/// The result is equal for each loss recovery that both stacks use.
#[test]
fn lia_on_a_single_path_equals_reno() {
    for recovery in [None, Some(LossRecovery::Prr)] {
        let of = |algorithm| {
            let p = profile(StackConfig { recovery, ..RFC }, algorithm);
            let mut config = lossy(algorithm, [0.002, 0.0]);
            let paths = config.flows[0].multipath.as_mut().expect("a multipath flow");
            paths.subflows.truncate(1);
            paths.subflows[0].profile = p;
            config.record.series = vec![Series::Cwnd, Series::Ssthresh, Series::Delivered];
            config.duration = Time::from_secs(60);
            let mut single = config.clone();
            single.flows = vec![flow([0, 1], p, ENDLESS)];
            [config, single].map(run)
        };
        let (reno, lia) = (of("reno"), of("lia"));
        for (reno, lia) in reno.iter().zip(&lia) {
            assert!(reno.samples.len() > 1_000);
            assert_eq!(reno.samples, lia.samples);
            assert_eq!(reno.flows[0].packets_sent, lia.flows[0].packets_sent);
            assert!(reno.flows[0].fast_retransmits > 3);
        }
    }
}
