//! MVegas and MFast alone on the paths of Mudassir and Baig 2021 (section 4), without losses. The base RTT is
//! 140 ms, the bottlenecks have 3 and 1 Mbit/s with a queue of 100 packets, and packets have 1000 bytes.

use crate::common::{Traffic, cbr, flow, link, network, run};
use windlass_cc::{AnyParams, Time};
use windlass_sim::RunResult;
use windlass_sim::config::Config;
use windlass_sim::link::QueueLimit;
use windlass_sim::results::{Sample, Series};
use windlass_tcp::Profile;
use windlass_tcp::stack::RFC;

/// Payload of a packet of 1000 bytes with timestamps.
const SEGMENT: f64 = 948.0;
/// Base RTT in seconds: the RTT of the SYN on an empty path, without its transmission times.
const BASE_S: f64 = 0.140;

/// A bulk flow over access links of 10 Mbit/s and a bottleneck of `mbps`, for 150 s.
fn path(params: AnyParams, mbps: u64, udp: bool) -> Config {
    let wire = |ends, mbps: u64, delay_ms| {
        let mut link = link(ends, mbps * 1_000_000, delay_ms);
        link.queue = QueueLimit::Packets(100);
        link
    };
    let links = vec![
        wire([0, 1], 10, 10),
        wire([1, 2], mbps, 50),
        wire([2, 3], 10, 10),
        wire([4, 1], 10, 10),
        wire([2, 5], 10, 10),
    ];
    let profile = Profile::new(RFC, params, 1000);
    let mut flows = vec![flow([0, 3], profile, Traffic::Bulk { bytes: None })];
    if udp {
        // 1 Mbit/s in packets of 1000 bytes.
        let load = cbr(972, 8_000, Time::from_secs(150));
        flows.push(flow([4, 5], profile, Traffic::CbrUdp(load)));
    }
    let mut config = network(links, flows, Time::from_secs(150));
    config.record.series = vec![Series::Cwnd];
    config
}

/// Minimum and maximum cwnd of the last 50 s, segments.
fn windows(run: &RunResult) -> (f64, f64) {
    let cwnd = run.samples.iter().filter(|s| s.flow == 0 && s.series == Series::Cwnd);
    let (early, late): (Vec<_>, Vec<_>) = cwnd.partition(|s| s.time < Time::from_secs(100));
    let settled = early.last().into_iter().chain(&late);
    let windows = settled.map(|s: &&Sample| s.value as f64 / SEGMENT);
    windows.fold((f64::INFINITY, 0.0), |(least, most), w| (least.min(w), most.max(w)))
}

fn lossless(run: &RunResult) -> bool {
    run.links.iter().all(|link| link.drops_queue == 0) && run.flows[0].retransmits == 0
}

#[test]
fn mfast_converges_to_76_68_and_59_packets() {
    // sigma·(alpha + C·base) with the available rate in packets per second: 375, 375 less 125 of UDP, and
    // 125.
    let mfast = AnyParams::by_name("mfast").expect("registered");
    for (mbps, udp, rate) in [(3, false, 375.0), (3, true, 250.0), (1, false, 125.0)] {
        let run = run(path(mfast, mbps, udp));
        assert!(lossless(&run));
        let expected = 0.5 * (100.0 + rate * BASE_S);
        let (least, most) = windows(&run);
        let close = |w: f64| (w - expected).abs() < 1.5;
        assert!(close(least) && close(most), "{mbps} Mbit/s: {least}..{most}, not {expected}");
        println!("{mbps} Mbit/s, UDP {udp}: {least:.2}..{most:.2}, {expected:.2}");
    }
}

#[test]
fn mvegas_keeps_its_queue_between_its_thresholds() {
    for (mbps, repaired) in [(3, false), (3, true), (1, false), (1, true)] {
        let mut mvegas = AnyParams::by_name("mvegas").expect("registered");
        let repaired = u64::from(repaired);
        assert!(mvegas.set(5, repaired) && mvegas.set(6, repaired));
        let run = run(path(mvegas, mbps, false));
        assert!(lossless(&run));
        // cwnd minus the packets of the base RTT: 2 to 6 packets. Up to two of them are on the wire, because
        // a packet takes longer than the SYN that measures the base RTT.
        let (least, most) = windows(&run);
        let full = mbps as f64 * 125.0 * BASE_S;
        let queued = (least - full, most - full);
        let got = format!("{mbps} Mbit/s, repaired {repaired}: {queued:?}");
        assert!(queued.0 >= 2.0 && queued.1 <= 6.0, "{got}");
        assert!(most - least < 0.01, "cwnd must be constant: {got}");
        assert!(run.links[1].max_queue_packets < 30, "slow start left early");
        println!("{got}");
    }
}
