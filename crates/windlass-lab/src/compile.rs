//! From a scenario to what the simulator takes.

use windlass_cc::{ALGORITHMS, Span, Time};
use windlass_sim::config::{
    Cbr, Config, FlowConfig, LinkConfig, ReadPolicy, Record, Traffic as SimTraffic,
};
use windlass_sim::link::{Framing as SimFraming, QueueLimit as SimQueue};
use windlass_sim::routing::shortest_path;
use windlass_sim::{ConfigError, loss};
use windlass_tcp::Profile;

use crate::scenario::{
    BerFormula, FlowSpec, LinkSpec, LossSpec, NO_ALGORITHM, Read, Scenario, Traffic, Transport,
};
use crate::units::QueueLimit;

/// The configuration of one run of `scenario` with this seed.
///
/// # Errors
///
/// When the simulator cannot take it; a parsed scenario has been checked for everything but size.
pub fn compile(scenario: &Scenario, seed: u64) -> Result<Config, ConfigError> {
    let mut links: Vec<LinkConfig> = scenario.links.iter().map(link).collect();
    let mut flows = Vec::with_capacity(scenario.flows.len());
    let mut longest_rtt = vec![Span::ZERO; links.len()];
    for spec in &scenario.flows {
        let path = shortest_path(scenario.nodes.len(), &links, spec.from, spec.to)
            .ok_or_else(|| ConfigError::NoRoute { flow: spec.name.clone() })?;
        let crossed: Vec<usize> = path.iter().map(|d| *d as usize / 2).collect();
        let one_way: u64 = crossed.iter().map(|l| links[*l].delay.0).sum();
        for &l in &crossed {
            longest_rtt[l] = longest_rtt[l].max(Span(2 * one_way));
        }
        let mtu = crossed.iter().map(|l| scenario.links[*l].mtu).min().unwrap_or(1500);
        flows.push(flow(spec, mtu, scenario.duration));
    }
    for (i, spec) in scenario.links.iter().enumerate() {
        links[i].queue = queue(spec, longest_rtt[i]);
    }
    Ok(Config {
        nodes: scenario.nodes.clone(),
        links,
        flows,
        duration: Time::ZERO + scenario.duration,
        seed,
        record: Record {
            series: scenario.record.series.clone(),
            interval: scenario.record.interval,
            capture: scenario.record.capture.clone(),
        },
    })
}

fn link(spec: &LinkSpec) -> LinkConfig {
    LinkConfig {
        name: spec.name.clone(),
        ends: [spec.a, spec.b],
        rate_bps: spec.rate_bps,
        delay: spec.delay,
        queue: SimQueue::Unlimited, // settled once the flows' round-trip times are known
        framing: SimFraming {
            frame_bytes: spec.framing.frame_bytes(),
            gap_bytes: spec.framing.gap_bytes(),
        },
        loss: [spec.loss[0].as_ref().map(loss_model), spec.loss[1].as_ref().map(loss_model)],
    }
}

fn loss_model(spec: &LossSpec) -> loss::LossModel {
    match spec.clone() {
        LossSpec::Drop { probability } => loss::LossModel::Drop { probability },
        LossSpec::Ber { rate, formula } => loss::LossModel::Ber {
            rate,
            formula: match formula {
                BerFormula::Exact => loss::BerFormula::Exact,
                BerFormula::Linear => loss::BerFormula::Linear,
            },
        },
        LossSpec::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad } => {
            loss::LossModel::GilbertElliott { good_to_bad, bad_to_good, loss_good, loss_bad }
        }
        LossSpec::List { packets } => loss::LossModel::List { packets },
    }
}

/// The queue of a link. A bandwidth-delay product is the link's rate times the longest
/// propagation round trip among the flows that cross it.
fn queue(spec: &LinkSpec, rtt: Span) -> SimQueue {
    match spec.queue {
        QueueLimit::Packets(n) => SimQueue::Packets(n),
        QueueLimit::Bytes(n) => SimQueue::Bytes(n),
        QueueLimit::BdpMillionths(millionths) => {
            let bits = u128::from(spec.rate_bps) * u128::from(rtt.0) / 1_000_000_000;
            let bytes = bits / 8 * u128::from(millionths) / 1_000_000;
            // Less than one packet would let nothing wait at all.
            SimQueue::Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).max(u64::from(spec.mtu)))
        }
        QueueLimit::Unlimited => SimQueue::Unlimited,
    }
}

fn flow(spec: &FlowSpec, mtu: u32, duration: Span) -> FlowConfig {
    let algorithm = ALGORITHMS.iter().map(|i| i.id).find(|id| *id == spec.algorithm);
    debug_assert!(algorithm.is_some() || spec.algorithm == NO_ALGORITHM, "checked on parsing");
    FlowConfig {
        name: spec.name.clone(),
        from: spec.from,
        to: spec.to,
        profile: Profile {
            stack: spec.stack,
            // Datagrams have no controller, and nothing asks for theirs.
            algorithm: algorithm.unwrap_or(ALGORITHMS[0].id),
            params: spec.params,
            mtu,
        },
        traffic: traffic(&spec.traffic, duration),
        read: match spec.read {
            Read::Immediate => ReadPolicy::Immediate,
            Read::Delayed { after } => ReadPolicy::Delayed(after),
            Read::Rate { rate_bps } => ReadPolicy::Rate(rate_bps.div_ceil(8)),
        },
        start: Time::ZERO + spec.start,
    }
}

fn traffic(spec: &Traffic, duration: Span) -> SimTraffic {
    match *spec {
        Traffic::Bulk { bytes } => SimTraffic::Bulk { bytes },
        Traffic::RequestResponse { request, response, requests, think } => {
            SimTraffic::RequestResponse { request, response, requests, think }
        }
        Traffic::Cbr { rate_bps, packet, transport, stop } => {
            let bits = 8 * u128::from(packet) * 1_000_000_000;
            let interval = bits / u128::from(rate_bps.max(1));
            let cbr = Cbr {
                packet: u64::from(packet),
                interval: Span(u64::try_from(interval).unwrap_or(u64::MAX).max(1)),
                stop: Time::ZERO + stop.unwrap_or(duration),
            };
            match transport {
                Transport::Tcp => SimTraffic::CbrTcp(cbr),
                Transport::Udp => SimTraffic::CbrUdp(cbr),
            }
        }
    }
}
