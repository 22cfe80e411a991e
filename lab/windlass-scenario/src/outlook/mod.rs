//! The summary and the warnings of a scenario, which need no run: the path of every flow, and
//! probable mistakes.

mod air;
mod bursts;
mod islands;
mod text;
mod timeouts;
mod warnings;

pub use air::{CellOutlook, Together, access};
pub use text::{cells_text, text};
pub use timeouts::{EarlyTimeout, early_timeouts};
pub use warnings::{unkept, warnings};

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use windlass_cc::Span;
use windlass_sim::ConfigError;
use windlass_sim::config::{Config, FlowConfig, LinkDirection, Multipath, Traffic};
use windlass_sim::link::QueueLimit;
use windlass_sim::link_radio::Access;
use windlass_sim::media::Report;
use windlass_sim::routing::{Direction, link_of};
use windlass_tcp::Endpoint;
use windlass_tcp::segment::{IPV4_HEADER, TCP_HEADER};
use windlass_tcp::wire::UDP_HEADER;

use crate::compile::compile;
use crate::{Hop, NO_ALGORITHM, Scenario};

/// Largest receive window without scaling (RFC 9293 section 3.1), bytes.
const UNSCALED_WINDOW: u64 = 65_535;
/// Bytes of the timestamps option with its padding (RFC 7323 appendix A).
const TIMESTAMPS: u32 = 12;

/// The path of a flow, with the values that follow from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Name of the flow. A multipath flow has a path for each subflow, named `flow:subflow`.
    pub flow: String,
    /// Algorithm of the flow.
    pub algorithm: String,
    /// Nodes from the sender of the data to its receiver.
    pub nodes: Vec<String>,
    /// Base RTT: propagation only, without queues and transmission.
    pub base_rtt: Span,
    /// Time that a full packet and its acknowledgement take over idle links. For datagrams, which
    /// have no acknowledgement, the time of the packet alone.
    pub idle_time: Span,
    /// Largest IP packet of the flow, bytes.
    pub packet_bytes: u32,
    /// Link direction or step over the air with the lowest rate: `link:from>to`, `cell:from>to`. If
    /// several have this rate, the one that the largest number of flows cross.
    pub bottleneck: String,
    /// Its rate in bits per second. For a step over the air, the rate at which one station alone
    /// can send the flow's packets.
    pub rate_bps: u64,
    /// True if it is a step over the air, whose rate all stations share.
    pub shared: bool,
    /// `rate_bps` times `base_rtt`, bytes.
    pub bdp_bytes: u64,
    /// The queue there; `None` for an unlimited queue.
    pub queue: Option<Queue>,
    /// Maximum data in flight that the buffers allow, bytes; `None` for datagrams and QUIC.
    pub window_bytes: Option<u64>,
}

/// Capacity of a bottleneck's queue, filled with one flow's largest packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queue {
    /// Packets.
    pub packets: u64,
    /// IP bytes of these packets, or the limit if it is in bytes.
    pub bytes: u64,
    /// Time to transmit these packets.
    pub drain: Span,
}

/// A flow on one of its paths.
struct Leg {
    /// Place of the flow in the scenario.
    place: usize,
    /// The flow. For a multipath flow, the equivalent flow on this subflow alone.
    flow: FlowConfig,
    hops: Vec<Hop>,
    /// The algorithm of a flow in a QUIC library.
    library: Option<String>,
}

/// Every flow on each of its paths, in the scenario's order.
fn legs(scenario: &Scenario, config: &Config) -> Vec<Leg> {
    let ways = scenario.ways();
    let mut legs = Vec::new();
    for (place, (spec, flow)) in scenario.flows.iter().zip(&config.flows).enumerate() {
        for (i, nodes) in spec.ways().into_iter().enumerate() {
            let flow = flow.multipath.as_ref().map_or(flow.clone(), |m| alone(flow, m, i));
            let library = spec.library.as_ref().map(|_| spec.algorithm().into_owned());
            legs.push(Leg { place, flow, hops: ways.through(&nodes).unwrap_or_default(), library });
        }
    }
    legs
}

/// A multipath flow on one subflow alone, with the connection's buffers.
fn alone(flow: &FlowConfig, multipath: &Multipath, i: usize) -> FlowConfig {
    let subflow = &multipath.subflows[i];
    let mut profile = subflow.profile;
    profile.stack.receive_buffer = multipath.config.receive_buffer;
    profile.stack.send_buffer = multipath.config.send_buffer;
    let name = format!("{}:{}", flow.name, subflow.name);
    FlowConfig { name, profile: profile.into(), ..flow.clone() }
}

/// The path of every flow, or of each of its subflows, in the scenario's order.
///
/// # Errors
///
/// The simulator does not take the scenario.
pub fn paths(scenario: &Scenario) -> Result<Vec<Path>, ConfigError> {
    let config = compile(scenario, scenario.seed)?;
    Ok(paths_of(&legs(scenario, &config), &config))
}

fn paths_of(legs: &[Leg], config: &Config) -> Vec<Path> {
    let mut crossing: BTreeMap<Hop, usize> = BTreeMap::new();
    for hop in legs.iter().flat_map(|leg| &leg.hops) {
        *crossing.entry(*hop).or_default() += 1;
    }
    let path = |leg: &Leg| {
        let path = path(config, &leg.flow, &leg.hops, &crossing);
        match &leg.library {
            // The library has its own buffers.
            Some(algorithm) => Path { algorithm: algorithm.clone(), window_bytes: None, ..path },
            None => path,
        }
    };
    legs.iter().map(path).collect()
}

/// The summary of every cell over which a flow sends data, if its senders always have a packet.
///
/// # Errors
///
/// The simulator does not take the scenario.
pub fn cells(scenario: &Scenario) -> Result<Vec<CellOutlook>, ConfigError> {
    let config = compile(scenario, scenario.seed)?;
    let mut senders = vec![BTreeSet::new(); config.radios.len()];
    let mut largest = vec![0; config.radios.len()];
    for Leg { flow, hops, .. } in legs(scenario, &config) {
        for hop in hops {
            let Hop::Air { cell, from, .. } = hop else { continue };
            senders[cell].insert(from);
            largest[cell] = packet_sizes(&flow).0.max(largest[cell]);
        }
    }
    let each = config.radios.iter().zip(senders).zip(largest);
    let used = each.filter(|((_, senders), _)| !senders.is_empty());
    // A cell has at most some thousand stations.
    Ok(used.map(|((radio, s), bytes)| CellOutlook::new(radio, s.len() as u32, bytes)).collect())
}

/// The path over these steps. `crossing` has the number of flows on each step.
fn path(config: &Config, flow: &FlowConfig, hops: &[Hop], crossing: &BTreeMap<Hop, usize>) -> Path {
    let algorithm = match flow.traffic {
        ref traffic if traffic.is_datagrams() => NO_ALGORITHM,
        _ => flow.profile.params.info().id,
    };
    let (packet_bytes, ack_bytes) = packet_sizes(flow);
    let back: Vec<Hop> = hops.iter().map(|hop| hop.reversed()).collect();
    let base_rtt = propagation(config, hops) + propagation(config, &back);
    let there = time_over(config, hops, packet_bytes);
    let rate = |hop: Hop| rate_of(config, hop, packet_bytes);
    let slowness = |hop: Hop| (rate(hop), Reverse(crossing.get(&hop).copied().unwrap_or(0)));
    let slowest = hops.iter().copied().min_by_key(|hop| slowness(*hop));
    let rate_bps = slowest.map_or(0, rate);
    Path {
        flow: flow.name.clone(),
        algorithm: algorithm.to_string(),
        nodes: nodes(config, flow.from, hops),
        base_rtt,
        idle_time: ack_bytes.map_or(there, |bytes| there + time_over(config, &back, bytes)),
        packet_bytes,
        bottleneck: slowest.map(|hop| hop_name(config, hop)).unwrap_or_default(),
        rate_bps,
        shared: matches!(slowest, Some(Hop::Air { .. })),
        bdp_bytes: product(rate_bps, base_rtt),
        queue: slowest.and_then(|hop| queue(config, hop, packet_bytes)),
        window_bytes: (algorithm != NO_ALGORITHM).then(|| window(flow)),
    }
}

/// Propagation over these steps.
fn propagation(config: &Config, way: &[Hop]) -> Span {
    way.iter().fold(Span::ZERO, |sum, hop| sum + delay(config, *hop))
}

/// Time that a packet of the given number of IP bytes takes over these steps while they are idle.
fn time_over(config: &Config, way: &[Hop], bytes: u32) -> Span {
    way.iter().fold(propagation(config, way), |sum, hop| sum + transmission(config, *hop, bytes))
}

/// Propagation over a step. Over the air it is zero, because it takes nanoseconds;
/// [`air::crossing`] leaves it out too.
fn delay(config: &Config, hop: Hop) -> Span {
    match hop {
        Hop::Link(direction) => on_its_way(config, direction).delay,
        Hop::Air { .. } => Span::ZERO,
    }
}

/// Rate of a step for packets of this size, bits per second.
fn rate_of(config: &Config, hop: Hop, packet_bytes: u32) -> u64 {
    match hop {
        Hop::Link(direction) => on_its_way(config, direction).rate_bps,
        Hop::Air { cell, .. } => air::alone_bps(&config.radios[cell], packet_bytes),
    }
}

/// IP bytes of a full packet and of its acknowledgement. Datagrams have no acknowledgement.
fn packet_sizes(flow: &FlowConfig) -> (u32, Option<u32>) {
    match flow.traffic {
        Traffic::CbrUdp(cbr) => {
            let payload = u32::try_from(cbr.packet).unwrap_or(u32::MAX);
            (payload.saturating_add(IPV4_HEADER + UDP_HEADER), None)
        }
        Traffic::Media(media) => {
            let headers = IPV4_HEADER + UDP_HEADER;
            (media.packet.saturating_add(headers), Some(headers + Report::LEN))
        }
        Traffic::Coap(coap) => {
            let payload = u32::try_from(coap.requests.sizes.mean).unwrap_or(u32::MAX);
            let answer = coap.confirmable.then(|| coap.response_size());
            (coap.request_size(payload), answer)
        }
        _ => {
            let headers = IPV4_HEADER + TCP_HEADER;
            let options = if flow.profile.stack.timestamps { TIMESTAMPS } else { 0 };
            (flow.profile.mss() + headers, Some(headers + options))
        }
    }
}

fn window(flow: &FlowConfig) -> u64 {
    let scaled = flow.profile.stack.window_scaling;
    Endpoint::buffered_by(&flow.profile).min(if scaled { u64::MAX } else { UNSCALED_WINDOW })
}

/// Time for which a packet of `ip_bytes` occupies a link, or needs to cross idle air.
fn transmission(config: &Config, hop: Hop, ip_bytes: u32) -> Span {
    match hop {
        Hop::Link(direction) => on_link(config, direction, ip_bytes),
        Hop::Air { cell, .. } => air::crossing(&config.radios[cell], ip_bytes),
    }
}

/// This direction of a link.
fn on_its_way(config: &Config, direction: Direction) -> LinkDirection {
    config.links[link_of(direction)].direction(direction as usize % 2)
}

fn on_link(config: &Config, direction: Direction, ip_bytes: u32) -> Span {
    let link = &config.links[link_of(direction)];
    if let Some(Access::ClassA(class_a)) = link.radio.as_ref().map(|radio| &radio.access) {
        return class_a.airtime(ip_bytes);
    }
    let rate_bps = on_its_way(config, direction).rate_bps;
    let on_the_wire = link.framing.frame_len(ip_bytes).saturating_add(link.framing.gap_bytes);
    let bits = 8 * u128::from(on_the_wire);
    let ns = bits * 1_000_000_000 / u128::from(rate_bps.max(1));
    Span(u64::try_from(ns).unwrap_or(u64::MAX))
}

fn queue(config: &Config, hop: Hop, packet_bytes: u32) -> Option<Queue> {
    let size = u64::from(packet_bytes.max(1));
    let (limit, device, each) = match hop {
        Hop::Link(direction) => {
            let own = on_its_way(config, direction);
            let each = on_link(config, direction, packet_bytes).0;
            (own.queue, own.discipline.device_packets(), each)
        }
        Hop::Air { cell, from, .. } => {
            let rate = rate_of(config, hop, packet_bytes).max(1);
            (config.radios[cell].stations[from].queue, 0, 8_000_000_000 * size / rate)
        }
    };
    let (packets, bytes) = match limit {
        QueueLimit::Packets(n) => (n, n.saturating_mul(size)),
        QueueLimit::Bytes(n) => (n / size, n),
        QueueLimit::Unlimited => return None,
    };
    // The packets in the device wait as well.
    let packets = packets.saturating_add(device);
    let bytes = bytes.saturating_add(device.saturating_mul(size));
    Some(Queue { packets, bytes, drain: Span(each.saturating_mul(packets)) })
}

/// Rate times time, in bytes.
fn product(rate_bps: u64, time: Span) -> u64 {
    let bytes = u128::from(rate_bps) * u128::from(time.0) / 8_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

fn nodes(config: &Config, from: usize, hops: &[Hop]) -> Vec<String> {
    let to = hops.iter().map(|hop| ends(config, *hop)[1]);
    std::iter::once(from).chain(to).map(|n| config.nodes[n].clone()).collect()
}

/// The nodes at both ends of a step.
fn ends(config: &Config, hop: Hop) -> [usize; 2] {
    match hop {
        Hop::Link(direction) => {
            let ends = config.links[link_of(direction)].ends;
            if direction.is_multiple_of(2) { ends } else { [ends[1], ends[0]] }
        }
        Hop::Air { cell, from, to } => {
            [from, to].map(|station| config.radios[cell].stations[station].node)
        }
    }
}

fn hop_name(config: &Config, hop: Hop) -> String {
    let [from, to] = ends(config, hop).map(|node| &config.nodes[node]);
    let name = match hop {
        Hop::Link(direction) => &config.links[link_of(direction)].name,
        Hop::Air { cell, .. } => &config.radios[cell].name,
    };
    format!("{name}:{from}>{to}")
}
