//! Conversion of ns-3's counts to the simulator's result.

use serde::Deserialize;
use windlass_cc::Time;
use windlass_sim::config::{Config, FlowConfig};
use windlass_sim::results::{FlowResult, LinkResult, RunResult, Sample, Series};

#[derive(Deserialize)]
struct Answer {
    events: u64,
    flows: Vec<Flow>,
    links: Vec<Direction>,
    samples: Vec<(u64, u32, Series, u64)>,
}

/// Counts of one flow. A missing time is −1.
#[derive(Deserialize)]
struct Flow {
    delivered_bytes: u64,
    packets_sent: u64,
    peer_packets_sent: u64,
    data_segments: u64,
    data_bytes: u64,
    retransmits: u64,
    dropped: u64,
    fast_retransmits: u64,
    rto_count: u64,
    cwnd_bytes: u64,
    completed_ns: i64,
    srtt_ns: i64,
    min_rtt_ns: i64,
}

#[derive(Deserialize)]
struct Direction {
    sent: u64,
    delivered: u64,
    drops_queue: u64,
    /// The part of `drops_queue` that was dropped although the queue had room. Programs without FqCoDel omit
    /// it.
    #[serde(default)]
    drops_early: u64,
    drops_error: u64,
    marks: u64,
    bytes: u64,
    /// Packets whose transmission has started.
    begun: u64,
    utilisation: f64,
    mean_queue_packets: f64,
    max_queue_packets: u64,
}

/// Returns the result of a run of this configuration.
pub(super) fn read(answer: &str, config: &Config) -> Result<RunResult, serde_json::Error> {
    let answer: Answer = serde_json::from_str(answer)?;
    let packet_hops = answer.links.iter().map(|direction| direction.begun).sum();
    let sample = |(ns, flow, series, value)| Sample { time: Time(ns), flow, series, value };
    Ok(RunResult {
        end: config.duration,
        events: answer.events,
        packet_hops,
        flows: config
            .flows
            .iter()
            .zip(answer.flows)
            .map(|(c, f)| flow(c, &f, config.duration))
            .collect(),
        links: answer.links.iter().enumerate().map(|(i, d)| link(config, i, d)).collect(),
        radios: Vec::new(),
        messages: None,
        connections: None,
        samples: answer.samples.into_iter().map(sample).collect(),
        packets: Vec::new(),
        timeline: None,
        decisions: None,
    })
}

fn flow(config: &FlowConfig, f: &Flow, end: Time) -> FlowResult {
    let seconds = |ns: i64| u64::try_from(ns).ok().map(|ns| ns as f64 / 1e9);
    let start = config.start.as_nanos() as f64 / 1e9;
    let completion_s = seconds(f.completed_ns).map(|at| at - start);
    let active_s = completion_s.unwrap_or(end.since(config.start).0 as f64 / 1e9);
    let per = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    FlowResult {
        name: config.name.clone(),
        algorithm: config.profile.params.info().id.to_owned(),
        active_s,
        delivered_bytes: f.delivered_bytes,
        goodput_bps: per(8.0 * f.delivered_bytes as f64, active_s),
        throughput_bps: per(8.0 * f.data_bytes as f64, active_s),
        retransmits: f.retransmits,
        fast_retransmits: f.fast_retransmits,
        rto_count: f.rto_count,
        data_segments: f.data_segments,
        packets_sent: f.packets_sent,
        peer_packets_sent: f.peer_packets_sent,
        loss_rate: per(f.dropped as f64, f.packets_sent as f64),
        srtt_ms: seconds(f.srtt_ns).map(|s| 1e3 * s),
        min_rtt_ms: seconds(f.min_rtt_ns).map(|s| 1e3 * s),
        cwnd_bytes: f.cwnd_bytes,
        completion_s,
        ..FlowResult::default()
    }
}

fn link(config: &Config, index: usize, d: &Direction) -> LinkResult {
    let link = &config.links[index / 2];
    let [from, to] = if index.is_multiple_of(2) { link.ends } else { [link.ends[1], link.ends[0]] };
    let drops = d.drops_queue + d.drops_error;
    let waited_s = d.mean_queue_packets * config.duration.as_nanos() as f64 / 1e9;
    LinkResult {
        name: format!("{}:{}>{}", link.name, config.nodes[from], config.nodes[to]),
        sent: d.sent,
        delivered: d.delivered,
        drops,
        drops_queue: d.drops_queue,
        drops_early: d.drops_early,
        drops_error: d.drops_error,
        drops_thinned: 0,
        marks: d.marks,
        inside: d.sent.saturating_sub(d.delivered + drops),
        bytes: d.bytes,
        utilisation: d.utilisation,
        mean_queue_packets: d.mean_queue_packets,
        mean_queue_delay_ms: if d.begun > 0 { 1e3 * waited_s / d.begun as f64 } else { 0.0 },
        max_queue_packets: d.max_queue_packets,
    }
}
