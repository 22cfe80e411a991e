//! Warnings about probable mistakes in a scenario.

use windlass_cc::Span;
use windlass_sim::ConfigError;
use windlass_sim::config::{FlowConfig, LinkConfig, Traffic};
use windlass_sim::link::QueueLimit;

use super::text::rate_text;
use super::{Path, Queue, air, bursts, islands, legs, paths_of, timeouts};
use crate::compile::compile;
use crate::units::{Bytes, Duration};
use crate::{RecordSpec, Scenario};

/// RTTs after which the beginning of a run no longer dominates its averages.
const SETTLED_ROUND_TRIPS: u128 = 100;

/// A sentence on data that the scenario records and most commands do not keep; `None` without such data.
pub fn unkept(record: &RecordSpec) -> Option<String> {
    let any = !record.series.is_empty() || !record.capture.is_empty();
    let sentence =
        "the scenario records series or captures; only `windlass run --out DIR` keeps them";
    any.then(|| sentence.to_owned())
}

/// Warnings about probable mistakes: queues that hold everything or nothing, senders without a path to their receiver,
/// windows that cannot fill the path, timeouts below the RTT, transfers that cannot end, and short runs. One sentence
/// each. Flows with the same warning share one sentence.
///
/// # Errors
///
/// The simulator does not take the scenario.
pub fn warnings(scenario: &Scenario) -> Result<Vec<String>, ConfigError> {
    let config = compile(scenario, scenario.seed)?;
    let legs = legs(scenario, &config);
    let paths = paths_of(&legs, &config);
    let mut warnings: Vec<String> = config.links.iter().filter_map(of_link).collect();
    warnings.extend(config.radios.iter().filter_map(|radio| air::hidden(radio, &config.nodes)));
    warnings.extend(bursts::sentences(&legs, &config, scenario.duration));
    let mut told: Vec<(String, Vec<&str>)> = Vec::new();
    for (place, sentence) in islands::sentences(scenario, &config) {
        tell(&mut told, sentence, &scenario.flows[place].name);
    }
    for (leg, path) in legs.iter().zip(&paths) {
        let whole = &config.flows[leg.place];
        let ways = whole.multipath.as_ref().map_or(1, |m| m.subflows.len());
        for sentence in of_flow(&leg.flow, path, ways, scenario.duration) {
            tell(&mut told, sentence, &path.flow);
        }
        if let Some(early) = timeouts::of(leg, &config) {
            tell(&mut told, early.sentence(), &path.flow);
        }
    }
    warnings.extend(told.into_iter().map(|(sentence, flows)| match flows.as_slice() {
        [one] => format!("flow {one}: {sentence}"),
        [first, .., last] => {
            format!("each of {} flows, {first} to {last}: {sentence}", flows.len())
        }
        [] => sentence,
    }));
    Ok(warnings)
}

/// Adds a flow to the flows with the same warning.
fn tell<'a>(told: &mut Vec<(String, Vec<&'a str>)>, sentence: String, flow: &'a str) {
    match told.iter_mut().find(|(s, _)| *s == sentence) {
        Some((_, flows)) => flows.push(flow),
        None => told.push((sentence, vec![flow])),
    }
}

fn of_link(link: &LinkConfig) -> Option<String> {
    let name = &link.name;
    match link.queue {
        QueueLimit::Unlimited => {
            Some(format!("link {name} has an unlimited queue, which never overflows"))
        }
        QueueLimit::Packets(0) | QueueLimit::Bytes(0) if link.discipline.device_packets() == 0 => {
            Some(format!("link {name} has no queue: a packet that finds the link busy is dropped"))
        }
        _ => None,
    }
}

/// Warnings about a flow that has `ways` paths, of which this is one.
fn of_flow(flow: &FlowConfig, path: &Path, ways: usize, duration: Span) -> Vec<String> {
    let mut sentences = Vec::new();
    if let Some(Queue { packets: 0, bytes: 1.., .. }) = path.queue {
        sentences.push(format!(
            "the queue of {} is smaller than a packet of {} B, which is dropped when it finds the \
             link busy",
            path.bottleneck, path.packet_bytes
        ));
    }
    let greedy = matches!(flow.traffic, Traffic::Bulk { .. } | Traffic::RequestResponse { .. });
    if let (true, Some(window)) = (greedy && path.base_rtt.0 > 0, path.window_bytes)
        && window < path.bdp_bytes
    {
        sentences.push(format!(
            "the window of at most {} is below the path's bandwidth-delay product of {} B and \
             limits it to {}",
            Bytes(window),
            path.bdp_bytes,
            rounded(window as f64 * 8e9 / path.base_rtt.0 as f64)
        ));
    }
    // The sentence leaves out the remaining time, so that staggered flows share it.
    let time = u128::from(duration.0.saturating_sub(flow.start.0));
    let bits = 8 * u128::from(payload(&flow.traffic));
    let least = bits * 1_000_000_000 / u128::from(path.rate_bps.max(1));
    // If there are several paths, no path carries all of the data.
    if ways == 1 && least > time {
        sentences.push(format!(
            "its data need at least {:.1} s at {}, and the run ends before that",
            least as f64 / 1e9,
            rate_text(path),
        ));
    }
    if time < SETTLED_ROUND_TRIPS * u128::from(path.base_rtt.0) {
        sentences.push(format!(
            "it lasts less than {SETTLED_ROUND_TRIPS} round trips of {}, so that its beginning \
             dominates its averages",
            Duration(path.base_rtt)
        ));
    }
    sentences
}

/// A rate in a suitable unit.
fn rounded(bps: f64) -> String {
    match bps {
        1e5.. => format!("{:.3} Mbps", bps / 1e6),
        1e2.. => format!("{:.3} kbps", bps / 1e3),
        _ => format!("{bps:.3} bps"),
    }
}

/// Bytes that the flow has to deliver; 0 if the flow has no end.
fn payload(traffic: &Traffic) -> u64 {
    match *traffic {
        Traffic::Bulk { bytes } => bytes.unwrap_or(0),
        Traffic::RequestResponse { response, requests, .. } => {
            response.saturating_mul(u64::from(requests))
        }
        Traffic::CbrTcp(_)
        | Traffic::Messages(_)
        | Traffic::CbrUdp(_)
        | Traffic::Coap(_)
        | Traffic::Media(_)
        | Traffic::Sessions(_)
        | Traffic::Custom(_) => 0,
    }
}
