//! In random scenarios with random end times, the accounts of a multipath connection are balanced. Its stream
//! arrives once and in order, and it ends if a path works.

use crate::common::{Traffic, cbr, drops, flow, link, network, profile, run_by_way_of};
use proptest::prelude::*;
use windlass_cc::{Span, Time};
use windlass_sim::RunResult;
use windlass_sim::config::{Config, LinkConfig, Multipath, ReadPolicy, SubflowConfig};
use windlass_sim::link::QueueLimit;
use windlass_tcp::mptcp::{MultipathConfig, Scheduler};
use windlass_tcp::stack::{LINUX, RFC, RIVERBED};

/// End of the last outage, milliseconds.
const QUIET_MS: u64 = 20_000;

fn links() -> impl Strategy<Value = LinkConfig> {
    let losses = || prop_oneof![2 => Just(0.0), 2 => 0.0..0.1f64, 1 => Just(1.0)];
    let outages = prop::collection::btree_set(0..QUIET_MS, 0..6);
    (50_000u64..20_000_000, 0u64..300, 1u64..60, losses(), losses(), outages).prop_map(
        |(rate, delay_ms, queue, there, back, moments)| {
            let moments: Vec<Time> = moments.into_iter().map(Time::from_millis).collect();
            LinkConfig {
                queue: QueueLimit::Packets(queue),
                loss: [drops(there), drops(back)].into(),
                down: moments.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect(),
                quick_start: None,
                back: None,
                course: Default::default(),
                ..link([0, 0], rate, delay_ms)
            }
        },
    )
}

fn traffic() -> impl Strategy<Value = Traffic> {
    prop_oneof![
        2 => Just(Traffic::Bulk { bytes: None }),
        3 => (0u64..600_000).prop_map(|n| Traffic::Bulk { bytes: Some(n) }),
        1 => (1u64..3000, 1u64..50_000, 1u32..6).prop_map(|(request, response, requests)| {
            Traffic::RequestResponse { request, response, requests, think: Span::from_millis(50) }
        }),
        1 => (1u64..3000, 500u64..50_000)
            .prop_map(|(packet, us)| Traffic::CbrTcp(cbr(packet, us, Time::from_secs(10)))),
    ]
}

fn behaviour() -> impl Strategy<Value = MultipathConfig> {
    let scheduler = prop::sample::select(Scheduler::ALL.map(|(_, s)| s).to_vec());
    (scheduler, 3_000u64..300_000, 3_000u64..300_000, any::<[bool; 3]>(), 1u32..5).prop_map(
        |(scheduler, receive_buffer, send_buffer, switches, timeouts_to_fail)| MultipathConfig {
            scheduler,
            receive_buffer,
            send_buffer,
            penalise: switches[0],
            opportunistic: switches[1],
            peer_capable: switches[2] || receive_buffer > 50_000,
            timeouts_to_fail,
            ..MultipathConfig::default()
        },
    )
}

fn reads() -> impl Strategy<Value = ReadPolicy> {
    prop_oneof![
        2 => Just(ReadPolicy::Immediate),
        1 => (1u64..100).prop_map(|ms| ReadPolicy::Delayed(Span::from_millis(ms))),
        1 => (20_000u64..1_000_000).prop_map(ReadPolicy::Rate),
    ]
}

/// From node 0 to node 1, with a separate node for each path.
fn scenarios() -> impl Strategy<Value = Config> {
    let stack = prop::sample::select(vec![RFC, LINUX, RIVERBED]);
    let algorithm = prop::sample::select(vec!["reno", "newreno", "cubic"]);
    let paths = prop::collection::vec((links(), algorithm), 1..5);
    (paths, stack, traffic(), behaviour(), reads(), any::<u64>()).prop_map(
        |(paths, stack, traffic, config, read, seed)| {
            let mut links = Vec::new();
            let mut subflows = Vec::new();
            for (i, (mut bottleneck, algorithm)) in paths.into_iter().enumerate() {
                let node = 2 + i;
                bottleneck.ends = [0, node];
                links.push(bottleneck);
                links.push(link([node, 1], 1_000_000_000, 0));
                let (name, profile) = (format!("p{i}"), profile(stack, algorithm));
                subflows.push(SubflowConfig { name, via: vec![node], profile });
            }
            let mut flow = flow([0, 1], profile(stack, "reno"), traffic);
            flow.read = read;
            flow.multipath = Some(Box::new(Multipath { config, subflows, disjoint: false }));
            let mut network = network(links, vec![flow], Time::from_secs(60));
            network.seed = seed;
            network
        },
    )
}

fn check(config: &Config, result: &RunResult) -> Result<(), TestCaseError> {
    let flow = &result.flows[0];
    let m = flow.multipath.as_ref().expect("a multipath flow");
    for link in &result.links {
        prop_assert_eq!(link.sent, link.delivered + link.drops + link.inside);
    }
    if let Traffic::Bulk { bytes: Some(n) } = config.flows[0].traffic {
        prop_assert!(flow.delivered_bytes <= n);
        prop_assert!(flow.completion_s.is_none() || flow.delivered_bytes == n, "{:?}", flow);
    }
    let arrived: u64 = m.subflows.iter().map(|s| s.delivered_bytes).sum();
    prop_assert!(m.fallen_back || arrived <= flow.packets_sent * 1500, "{:?}", m);
    for s in &m.subflows {
        prop_assert!((0.0..=1.0).contains(&s.loss_rate) && s.share <= 1.0, "{:?}", s);
        prop_assert!(s.retransmits <= s.data_segments && s.data_segments <= s.packets_sent);
    }
    Ok(())
}

/// True if every path works in both directions after the outages, well enough for a small transfer.
fn has_a_good_path(config: &Config) -> bool {
    let good = |l: &LinkConfig| {
        let least = |loss: &Option<windlass_sim::loss::LossModel>| match loss {
            Some(windlass_sim::loss::LossModel::Drop { probability }) => *probability,
            _ => 0.0,
        };
        l.loss.iter().all(|loss| least(loss) < 0.02) && l.rate_bps > 1_000_000
    };
    config.links.iter().step_by(2).all(good)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_multipath_connections_conserve_packets(
        config in scenarios(),
        stop_at in 0.0..1.0f64,
    ) {
        let ended = run_by_way_of(stop_at, &config, |r| check(&config, r))?;
        let Traffic::Bulk { bytes: Some(n) } = config.flows[0].traffic else { return Ok(()) };
        if has_a_good_path(&config) && ended.flows[0].failure.is_none() && n < 200_000 {
            prop_assert_eq!(ended.flows[0].delivered_bytes, n, "{:?}", ended.flows[0]);
        }
    }
}
