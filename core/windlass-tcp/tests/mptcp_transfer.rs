//! For any behaviour of the paths, every byte of a multipath connection arrives once and in order, and both
//! ends close.

use crate::multinet::{self, App, Net, Path, Strip, multipath, scheduled};
use crate::transfer::app;
use proptest::prelude::*;
use windlass_cc::recovery::LossRecovery;
use windlass_cc::{ALGORITHMS, Span};
use windlass_tcp::mptcp::{MultipathConfig, MultipathProfile, Scheduler};
use windlass_tcp::stack::{LossDetection, PRESETS};
use windlass_tcp::{Profile, StackConfig};

// RFC 8684-3.2-3
#[test]
fn two_clean_paths_share_a_transfer() {
    // Long enough for the scheduler that fills send buffers in advance: it fills the first path's buffer
    // before the second path has joined.
    for (name, scheduler) in Scheduler::ALL {
        let p = multipath(scheduled(scheduler), 2);
        let mut net =
            Net::transfer(p, 1_000_000, vec![Path::rated(10, 10), Path::rated(30, 10)], 7);
        net.run_to_close(100_000);
        let [client, server] = &net.ends;
        assert_eq!(server.read, 1_000_000, "{name}");
        assert!(client.c.all_acknowledged());
        assert_eq!((client.c.failure(), server.c.failure()), (None, None));
        assert_eq!((client.c.stats().joins, server.c.stats().joins), (1, 1), "{name}");
        for path in 0..2 {
            assert!(client.c.path_stats(path).data_bytes > 10_000, "{name}: path {path} idle");
        }
    }
}

#[test]
fn both_ends_send_at_once() {
    let config = MultipathConfig::default();
    let both = App::sends(200_000);
    let p = multipath(config, 2);
    let mut net =
        Net::new([p.clone(), p], [both, both], vec![Path::rated(5, 20), Path::rated(20, 5)], 3);
    net.run_to_close(100_000);
    assert_eq!((net.ends[0].read, net.ends[1].read), (200_000, 200_000));
}

fn stack() -> impl Strategy<Value = StackConfig> {
    let preset = (0..PRESETS.len()).prop_map(|i| PRESETS[i].config);
    let recovery = prop::sample::select(vec![
        None,
        Some(LossRecovery::Tahoe),
        Some(LossRecovery::Reno),
        Some(LossRecovery::NewReno),
        Some(LossRecovery::Sack),
        Some(LossRecovery::Prr),
    ]);
    let switches = prop::array::uniform8(any::<bool>());
    (preset, any::<bool>(), recovery, switches, 1u32..4, 1u32..5).prop_map(
        |(preset, keep, recovery, s, delayed_ack_segments, dupthresh)| {
            let changed = StackConfig {
                recovery,
                timestamps: s[0],
                sack: s[1],
                window_scaling: s[2],
                nagle: s[3],
                limited_transmit: s[4],
                tlp: s[5],
                frto: s[6],
                loss_detection: LossDetection::ALL[usize::from(s[7])].1,
                delayed_ack_segments,
                dupthresh,
                ..preset
            };
            // The network loses a few hundred segments, possibly the same one each time.
            let retries = StackConfig {
                max_syn_retries: 1000,
                max_data_retries: 1000,
                time_wait: Span::from_secs(100_000),
                ..if keep { preset } else { changed }
            };
            StackConfig { mss: retries.mss.map(|mss| mss.max(100)), ..retries }
        },
    )
}

fn subflow_profile() -> impl Strategy<Value = Profile> {
    let algorithm = prop::sample::select(ALGORITHMS.iter().map(|i| i.id).collect::<Vec<_>>());
    (stack(), algorithm, prop_oneof![Just(1500u32), Just(576), 200u32..1500])
        .prop_map(|(stack, algorithm, mtu)| multinet::profile(algorithm, stack, mtu))
}

prop_compose! {
    fn config()(
        scheduler in prop::sample::select(Scheduler::ALL.map(|s| s.1).to_vec()),
        receive_buffer in prop_oneof![1u64..2000, 2000u64..50_000, Just(6 << 20)],
        send_buffer in prop_oneof![100u64..50_000, Just(4 << 20)],
        penalise in any::<bool>(),
        opportunistic in any::<bool>(),
        timeouts_to_fail in 1u32..5,
    ) -> MultipathConfig {
        MultipathConfig {
            scheduler, receive_buffer, send_buffer, penalise, opportunistic, timeouts_to_fail,
            ..MultipathConfig::default()
        }
    }
}

prop_compose! {
    fn path(worst: u64)(
        delay in 0u64..200,
        jitter in prop_oneof![Just(0u64), 0u64..20, 0u64..300],
        loss in 0..worst,
        twice in 0..worst,
        byte_ns in prop_oneof![Just(0u64), 80u64..100_000],
        outages in prop::collection::vec((0u64..20_000, 0u64..20_000), 0..3),
    ) -> Path {
        let outages = outages.into_iter().map(|(from, long)| (from, from + long)).collect();
        Path { delay, jitter, loss, twice, byte_ns, queue: 200, outages, strips: Strip::Nothing }
    }
}

prop_compose! {
    fn end(paths: usize)(
        config in config(),
        profiles in prop::collection::vec(subflow_profile(), paths),
    ) -> MultipathProfile {
        MultipathProfile::new(config, profiles).unwrap()
    }
}

/// Two to three paths, the two ends with their applications, and the behaviour of the paths.
pub(crate) fn situation(
    worst: u64,
) -> impl Strategy<Value = ([MultipathProfile; 2], [App; 2], Vec<Path>, u64)> {
    (1usize..4).prop_flat_map(move |count| {
        let ends = (end(count), end(count)).prop_map(|(a, b)| [a, b]);
        let apps = (app(60_000), app(60_000)).prop_map(|(a, b)| [a, b]);
        (ends, apps, prop::collection::vec(path(worst), count), any::<u64>())
    })
}

fn transfer(p: [MultipathProfile; 2], mut apps: [App; 2], paths: Vec<Path>, seed: u64) -> Net {
    if apps[0].closes_last && apps[1].closes_last {
        apps[0].closes_last = false; // one end must close first
    }
    let smallest = [p[0].config(), p[1].config()].map(|c| c.receive_buffer.min(c.send_buffer));
    let mut net = Net::new(p, short(apps, smallest[0].min(smallest[1])), paths, seed);
    net.run_to_close(400_000);
    net
}

/// Streams with small steps are kept short.
pub(crate) fn short(apps: [App; 2], step: u64) -> [App; 2] {
    apps.map(|app| App { bytes: app.bytes.min(step.saturating_mul(300)), ..app })
}

/// Like [`transfer`], until no event is left: the connection may fail.
fn run_to_rest(p: [MultipathProfile; 2], apps: [App; 2], paths: Vec<Path>, seed: u64) -> Net {
    let mut net = Net::new(p, short(apps, 3_000), paths, seed);
    net.run_to_rest(400_000);
    net
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 400, failure_persistence: None, max_shrink_iters: 600, ..Default::default()
    })]

    // RFC 8684-3.2-4, 8684-3.3.3-2, 8684-3.3.3-3
    /// Losses, reordering, duplicates, and paths that fail and return.
    #[test]
    fn every_byte_arrives_once_and_both_ends_close(s in situation(150)) {
        let (p, apps, paths, seed) = s;
        let net = transfer(p, apps, paths, seed);
        for i in 0..2 {
            let (end, peer) = (&net.ends[i], &net.ends[1 - i]);
            prop_assert_eq!(end.c.failure(), None);
            prop_assert_eq!((end.c.received(), end.read), (peer.offered, peer.offered));
            prop_assert!(peer.c.all_acknowledged());
            prop_assert!(end.c.deadline().is_never(), "a timer outlives the connection");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300, failure_persistence: None, max_shrink_iters: 300, ..Default::default()
    })]

    // RFC 8684-3.3.2-3, 8684-4-1
    /// Subflows fail early and are replaced, and the connection outlives them.
    #[test]
    fn streams_survive_the_end_of_their_subflows(s in situation(100), retries in 1u32..5) {
        let (p, mut apps, paths, seed) = s;
        let p = p.map(|p| {
            let mortal = |path: &Profile| {
                let stack = StackConfig { max_data_retries: retries, ..path.stack };
                Profile { stack, ..*path }
            };
            MultipathProfile::new(*p.config(), p.paths().iter().map(mortal).collect()).unwrap()
        });
        apps[0].closes_last = false;
        apps[1].closes_last = true;
        let net = run_to_rest(p, apps, paths, seed);
        let [client, server] = &net.ends;
        // An end that only receives does not detect that the other end is gone, as with plain TCP. The last
        // subflow may also end before the client has confirmed that it may open others.
        let failed = client.c.failure().is_some() || server.c.failure().is_some();
        if !failed {
            prop_assert_eq!((server.read, client.read), (client.offered, server.offered));
            prop_assert!(client.c.all_acknowledged());
        }
    }
}
