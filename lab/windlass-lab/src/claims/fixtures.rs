//! Run records for tests.

use crate::run::RunRecord;
use windlass_sim::{
    FlowResult, LinkResult, MultipathResult, RadioResult, RadioUse, StationResult, SubflowResult,
};

/// A result with three reinjections, and a subflow `wifi` that carried three quarters of the data.
fn multipath() -> MultipathResult {
    let wifi = SubflowResult {
        name: "wifi".to_owned(),
        share: 0.75,
        srtt_ms: Some(30.0),
        min_rtt_ms: Some(30.0),
        ..SubflowResult::default()
    };
    MultipathResult { reinjections: 3, subflows: vec![wifi], ..MultipathResult::default() }
}

/// A run whose flow `f` took `completion_s` and whose link `l:a>b` carried ten packets.
pub fn run(experiment: &str, point: &str, seed: u64, completion_s: f64) -> RunRecord {
    let finished = completion_s.is_finite().then_some(completion_s);
    RunRecord {
        experiment: experiment.to_owned(),
        point: point.to_owned(),
        seed,
        scenario_hash: String::new(),
        version: String::new(),
        world: "sim".to_owned(),
        kernel: None,
        course: None,
        end_s: 100.0,
        events: 1,
        packet_hops: 1,
        flows: vec![FlowResult {
            name: "f".to_owned(),
            algorithm: "reno".to_owned(),
            active_s: finished.unwrap_or(100.0),
            delivered_bytes: 1000,
            goodput_bps: 8000.0 / finished.unwrap_or(100.0),
            retransmits: seed,
            data_segments: 10,
            packets_sent: 12,
            peer_packets_sent: 6,
            srtt_ms: Some(40.0),
            min_rtt_ms: Some(40.0),
            completion_s: finished,
            radio: Some(RadioUse {
                sender_s: 0.5,
                receiver_s: 0.25,
                sender_j: Some(2.0),
                receiver_j: Some(1.0),
            }),
            multipath: Some(multipath().into()),
            ..FlowResult::default()
        }],
        links: vec![LinkResult {
            name: "l:a>b".to_owned(),
            sent: 10,
            delivered: 9,
            drops: 1,
            drops_queue: 0,
            drops_early: 0,
            marks: 0,
            drops_error: 1,
            drops_thinned: 0,
            inside: 0,
            bytes: 15_000,
            utilisation: 0.5,
            mean_queue_packets: 0.0,
            mean_queue_delay_ms: 0.0,
            max_queue_packets: 1,
        }],
        steady: Vec::new(),
        messages: None,
        connections: None,
        radios: vec![RadioResult {
            name: "cell".into(),
            busy: 0.5,
            airtime: 0.625,
            link: false,
            routing: None,
            stations: vec![StationResult {
                name: "s1".into(),
                offered: 8,
                transmit_s: 0.25,
                receive_s: 0.25,
                energy_j: Some(2.0),
                battery_left_j: Some(18.0),
                died_s: Some(90.0),
                ..StationResult::default()
            }],
        }],
    }
}
