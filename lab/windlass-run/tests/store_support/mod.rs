//! Records for the tests of the store.

use windlass_run::RunRecord;
use windlass_sim::latency::{MessageResult, TransitResult};
use windlass_sim::{
    FlowResult, LinkResult, MultipathResult, RadioResult, RadioUse, StationResult, SubflowResult,
};

/// A flow whose values depend on `n`, and have no short decimal form.
pub fn flow(n: u64) -> FlowResult {
    let x = n as f64 + 1.0;
    FlowResult {
        name: format!("flow \"{n}\", éa"),
        algorithm: "reno".into(),
        active_s: x / 3.0,
        delivered_bytes: 1000 + n,
        goodput_bps: 1e6 / x,
        throughput_bps: 1e6 / 3.0 + x,
        retransmits: n,
        fast_retransmits: n / 2,
        rto_count: n / 3,
        data_segments: 10 * n,
        packets_sent: 11 * n,
        peer_packets_sent: 12 * n,
        loss_rate: 0.1 * x,
        srtt_ms: n.is_multiple_of(2).then_some(x / 7.0),
        min_rtt_ms: n.is_multiple_of(3).then_some(x / 11.0),
        cwnd_bytes: u64::MAX - n,
        completion_s: (n % 2 == 1).then_some(x / 13.0),
        responses_s: (0..n % 4).map(|i| (i + n) as f64 / 17.0).collect(),
        failure: n.is_multiple_of(5).then(|| "too many retries\nof a SYN".into()),
        transit: n
            .is_multiple_of(3)
            .then(|| TransitResult {
                packets: n,
                mean_ms: x / 29.0,
                min_ms: x / 31.0,
                max_ms: x / 37.0,
                jitter_ms: Some(x / 41.0),
                jitter_smoothed_ms: None,
                gap_ms: Some(x / 43.0),
                p50_ms: Some(x / 61.0),
                p95_ms: None,
                p99_ms: Some(x / 67.0),
            })
            .map(Box::new),
        messages: n
            .is_multiple_of(5)
            .then(|| MessageResult {
                sent: 4 * n,
                arrived: 3 * n,
                late: 2 * n,
                undelivered: n,
                mean_ms: Some(x / 47.0),
                p95_ms: Some(x / 53.0),
                p99_ms: None,
                max_ms: Some(x / 59.0),
                p50_ms: Some(x / 71.0),
                age_mean_ms: Some(x / 73.0),
                age_max_ms: None,
                age_p50_ms: Some(x / 79.0),
                age_p95_ms: Some(x / 83.0),
            })
            .map(Box::new),
        radio: n.is_multiple_of(2).then_some(RadioUse {
            sender_s: x / 3.0,
            receiver_s: x / 5.0,
            sender_j: Some(x / 7.0),
            receiver_j: None,
        }),
        multipath: n.is_multiple_of(2).then(|| multipath(n).into()),
        ..FlowResult::default()
    }
}

/// A connection with two subflows.
fn multipath(n: u64) -> MultipathResult {
    let subflow = |i: u64| SubflowResult {
        name: format!("s{i}"),
        algorithm: "reno".into(),
        delivered_bytes: n + i,
        goodput_bps: 1e6 / (i + 3) as f64,
        share: 0.5,
        throughput_bps: 1e6 / (i + 7) as f64,
        retransmits: n,
        fast_retransmits: i,
        rto_count: 2 * i,
        data_segments: 3 * n,
        packets_sent: 4 * n,
        peer_packets_sent: 5 * n,
        loss_rate: 1.0 / (i + 11) as f64,
        srtt_ms: Some((n + i) as f64 / 7.0),
        min_rtt_ms: None,
        cwnd_bytes: u64::MAX - i,
        mode: i,
        failure: (i == 1).then(|| "no answer".into()),
    };
    MultipathResult {
        fallen_back: n.is_multiple_of(4),
        reinjections: n,
        reinjected_bytes: n + 1,
        opportunistic: n + 2,
        penalties: n + 3,
        redundant_bytes: n + 4,
        duplicate_bytes: n + 5,
        max_out_of_order_bytes: n + 6,
        joins: n + 7,
        failed_joins: n + 8,
        suspensions: n + 9,
        returns: n + 10,
        lost_subflows: n + 11,
        subflows: vec![subflow(0), subflow(1)],
    }
}

pub fn link(n: u64) -> LinkResult {
    let x = n as f64 + 1.0;
    LinkResult {
        name: "bottleneck:a>b".into(),
        sent: 9 * n,
        delivered: 6 * n,
        drops: 3 * n + 1,
        drops_queue: n,
        drops_early: n / 2,
        marks: 3 * n,
        drops_error: n,
        // Not zero, because zero is not written.
        drops_thinned: n + 1,
        inside: n,
        bytes: 1500 * n,
        utilisation: 1.0 / x,
        mean_queue_packets: x / 19.0,
        mean_queue_delay_ms: x / 23.0,
        max_queue_packets: n,
    }
}

/// A cell with two stations.
pub fn cell(n: u64) -> RadioResult {
    let station = |i: u64| StationResult {
        name: format!("s{i}"),
        offered: n + i,
        airtime_s: 0.5 + i as f64,
        access_failures: 1 + i,
        polls: 2 + i,
        beacons: 3 + i,
        beacons_heard: 4 + i,
        aggregates: 5 + i,
        aggregated: 6 + i,
        mean_rate_mbps: (i > 0).then_some(6.5 * i as f64),
        sleep_s: 0.5 + i as f64,
        ..StationResult::default()
    };
    RadioResult {
        name: "cell".to_owned(),
        busy: 0.25,
        airtime: 0.5,
        link: false,
        routing: None,
        stations: vec![station(1), station(2)],
    }
}

pub fn record(seed: u64) -> RunRecord {
    RunRecord {
        experiment: "table-4".into(),
        point: "mode=data-only,p=1%".into(),
        seed,
        scenario_hash: "0123abcd".into(),
        version: "0.1.0".into(),
        world: "linux".into(),
        kernel: Some("6.12.0".into()),
        end_s: 100.0 / 3.0,
        events: 100 + seed,
        packet_hops: 50 + seed,
        flows: (0..=seed % 3).map(|i| flow(seed + i)).collect(),
        links: (0..2).map(|i| link(seed + i)).collect(),
        course: None,
        steady: Vec::new(),
        radios: vec![cell(seed)],
        messages: None,
        connections: None,
    }
}

/// A record of some tens of kilobytes, which a kill can hit in the middle of a write.
pub fn large_record(seed: u64) -> RunRecord {
    let mut record = record(seed);
    record.flows[0].responses_s = (1..3000).map(|i| 1.0 / f64::from(i)).collect();
    record
}
