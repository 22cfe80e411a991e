//! Translates a scenario into the configuration of the simulator.

use std::sync::Arc;

use windlass_cc::{Span, Time};
use windlass_sim::ConfigError;
use windlass_sim::arrivals::{Arrivals, Draw, Law};
use windlass_sim::config::{
    Cbr, Coap as SimCoap, Config, FlowConfig, LinkConfig, LinkDirection, MAX_SPAN,
    Media as SimMedia, Multipath, ReadPolicy, SubflowConfig, Traffic as SimTraffic,
};
use windlass_sim::dtls::Dtls;
use windlass_sim::link::QueueLimit as SimQueue;
use windlass_sim::link_radio::LinkRadio;
use windlass_sim::queue::Level;
use windlass_sim::random::{Purpose, Stream};
use windlass_sim::session::{Exchanges, Sessions, Side, Step};
use windlass_tcp::{Profile, StackConfig};

use crate::connections::ConnectionSpec;
use crate::presets::DtlsPreset;
use crate::units::QueueLimit;
use crate::{Coap, DirectionSpec, FlowSpec, LinkSpec, Read, Scenario, Traffic, Transport};

/// The configuration of one run of `scenario` with this seed.
///
/// # Errors
///
/// The simulator cannot run the configuration. A parsed scenario has passed all checks except the
/// check of its size.
pub fn compile(scenario: &Scenario, seed: u64) -> Result<Config, ConfigError> {
    let products = scenario.bdp_bytes();
    let links = scenario.links.iter().zip(products).enumerate();
    let links = links.map(|(i, (spec, bdp))| link(scenario, i, spec, bdp)).collect();
    let ways = scenario.ways();
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (spec, from) in scenario.flows.iter().zip(senders(scenario, seed)) {
        let spec = &FlowSpec { from, ..spec.clone() };
        let mtu = |nodes: Vec<usize>| {
            let hops = ways.through(&nodes);
            let hops = hops.ok_or_else(|| ConfigError::NoRoute { flow: spec.name.clone() })?;
            Ok(hops.into_iter().map(|hop| scenario.mtu(hop)).min().unwrap_or(0))
        };
        let mtus: Vec<u32> =
            spec.ways().into_iter().map(mtu).collect::<Result<_, ConfigError>>()?;
        let mut flow = flow(spec, &mtus, scenario.duration, seed);
        let cuts = [spec.from, spec.to].map(|node| scenario.cuts(node));
        if spec.connections.is_some() || cuts.iter().any(|cuts| !cuts.is_empty()) {
            flow.traffic = sessions(spec, flow.traffic, cuts);
        }
        // The flows of one entry share their profile.
        if let Some(FlowConfig { profile, .. }) =
            flows.last().filter(|f: &&FlowConfig| f.profile == flow.profile)
        {
            flow.profile = Arc::clone(profile);
        }
        flows.push(flow);
    }
    Ok(Config {
        nodes: scenario.nodes.clone(),
        links,
        radios: scenario.wifi.iter().map(|cell| cell.radio.clone()).collect(),
        flows,
        duration: Time::ZERO + scenario.duration,
        seed,
        record: scenario.record.clone(),
    })
}

/// The node that sends the data of each flow in the run with this seed. Flows with `draw` draw their
/// senders one after the other among the remaining nodes. Each draw depends on the flow's name.
pub fn senders(scenario: &Scenario, seed: u64) -> Vec<usize> {
    let mut taken = Vec::new();
    let mut draw = |spec: &FlowSpec| {
        let left: Vec<usize> =
            spec.draw.iter().copied().filter(|node| !taken.contains(node)).collect();
        if left.is_empty() {
            return spec.from;
        }
        let draw = Stream::new(seed, entity(&spec.name), Purpose::Senders).next_u64();
        let place = (u128::from(draw) * left.len() as u128) >> 64;
        taken.push(left[place as usize]);
        left[place as usize]
    };
    scenario.flows.iter().map(&mut draw).collect()
}

/// Replaces every queue length that is a share of the bandwidth-delay product by bytes. The lengths
/// then no longer depend on the scenario's flows.
pub fn fix_queues(scenario: &mut Scenario) {
    let products = scenario.bdp_bytes();
    for (spec, bdp) in scenario.links.iter_mut().zip(products) {
        let floor = u64::from(spec.mtu);
        let fixed = |of: DirectionSpec, bdp: u64| DirectionSpec {
            queue: match of.queue {
                QueueLimit::BdpMillionths(n) => QueueLimit::Bytes(share(bdp, n).max(floor)),
                other => other,
            },
            discipline: of.discipline.map(|threshold| match threshold {
                QueueLimit::BdpMillionths(millionths) => QueueLimit::Bytes(share(bdp, millionths)),
                other => other,
            }),
            ..of
        };
        if let Some(back) = spec.back.take() {
            let bdp_back = bdp_of(&back, spec, bdp);
            spec.back = Some(Box::new(fixed(*back, bdp_back)));
        }
        DirectionSpec { queue: spec.queue, discipline: spec.discipline, .. } =
            fixed(spec.direction(0), bdp);
        spec.bdp_rtt = None;
    }
}

/// The bandwidth-delay product of a link's backward direction. `forward` is the product of the
/// forward direction.
fn bdp_of(back: &DirectionSpec, link: &LinkSpec, forward: u64) -> u64 {
    let product = u128::from(forward) * u128::from(back.rate_bps);
    u64::try_from(product / u128::from(link.rate_bps.max(1))).unwrap_or(u64::MAX)
}

fn link(scenario: &Scenario, index: usize, spec: &LinkSpec, bdp_bytes: u64) -> LinkConfig {
    let back =
        |back: &DirectionSpec| Box::new(direction(back, bdp_of(back, spec, bdp_bytes), spec.mtu));
    let LinkDirection { rate_bps, delay, queue, discipline } =
        direction(&spec.direction(0), bdp_bytes, spec.mtu);
    LinkConfig {
        name: spec.name.clone(),
        ends: [spec.a, spec.b],
        rate_bps,
        delay,
        queue,
        discipline,
        framing: spec.framing,
        loss: spec.loss.clone(),
        down: scenario.down(index),
        quick_start: spec.quick_start,
        back: spec.back.as_deref().map(back),
        course: spec.course.clone(),
        radio: spec.radio.as_ref().map(|of| {
            let off = scenario.cuts([spec.a, spec.b][of.radio.device]);
            Box::new(LinkRadio { off, ..of.radio.clone() })
        }),
    }
}

fn direction(spec: &DirectionSpec, bdp_bytes: u64, mtu: u32) -> LinkDirection {
    LinkDirection {
        rate_bps: spec.rate_bps,
        delay: spec.delay,
        queue: queue(spec.queue, bdp_bytes, mtu),
        discipline: spec.discipline.clone().map(|threshold| level(threshold, bdp_bytes)),
    }
}

fn queue(limit: QueueLimit, bdp_bytes: u64, mtu: u32) -> SimQueue {
    match limit {
        QueueLimit::Packets(n) => SimQueue::Packets(n),
        QueueLimit::Bytes(n) => SimQueue::Bytes(n),
        // A queue shorter than one packet would hold no packet at all.
        QueueLimit::BdpMillionths(millionths) => {
            SimQueue::Bytes(share(bdp_bytes, millionths).max(u64::from(mtu)))
        }
        QueueLimit::Unlimited => SimQueue::Unlimited,
    }
}

fn level(threshold: QueueLimit, bdp_bytes: u64) -> Level {
    match threshold {
        QueueLimit::Packets(n) => Level::Packets(n),
        QueueLimit::Bytes(n) => Level::Bytes(n),
        QueueLimit::BdpMillionths(millionths) => Level::Bytes(share(bdp_bytes, millionths)),
        QueueLimit::Unlimited => Level::Bytes(u64::MAX),
    }
}

fn share(bytes: u64, millionths: u64) -> u64 {
    let bytes = u128::from(bytes) * u128::from(millionths) / 1_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Start of the flow in the run with this seed. The draw depends on the flow's name only, so other
/// flows and the algorithms do not change it.
fn start(spec: &FlowSpec, seed: u64) -> Time {
    let draw = Stream::new(seed, entity(&spec.name), Purpose::Start).next_u64();
    // The upper half of the product is uniform below the jitter plus a nanosecond.
    let delay = (u128::from(draw) * (u128::from(spec.jitter.0) + 1)) >> 64;
    Time::ZERO + spec.start + Span(delay as u64)
}

/// Identifies a flow for random streams by its name (FNV-1a), so that other flows do not change its
/// random values.
fn entity(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn flow(spec: &FlowSpec, mtus: &[u32], duration: Span, seed: u64) -> FlowConfig {
    let start = start(spec, seed);
    let declared = spec.class.as_ref().and_then(|class| class.recovery);
    let stack = StackConfig { recovery: spec.stack.recovery.or(declared), ..spec.stack };
    let profile = |controller, mtu| Profile::new(stack, controller, mtu);
    let least = mtus.iter().copied().min().unwrap_or(0);
    let multipath = spec.multipath.as_ref().map(|m| Multipath {
        config: m.config,
        subflows: (m.subflows.iter().zip(mtus))
            .map(|(s, mtu)| SubflowConfig {
                name: s.name.clone(),
                via: s.via.clone(),
                profile: profile(s.controller, *mtu),
            })
            .collect(),
        disjoint: m.disjoint,
    });
    FlowConfig {
        name: spec.name.clone(),
        from: spec.from,
        to: spec.to,
        // Datagrams have no controller; the default is never used.
        profile: profile(spec.controller.unwrap_or_default(), least).into(),
        traffic: traffic(spec, start, duration, seed),
        read: match spec.read {
            Read::Immediate => ReadPolicy::Immediate,
            Read::Delayed { after } => ReadPolicy::Delayed(after),
            Read::Rate { rate_bps } => ReadPolicy::Rate(rate_bps.div_ceil(8)),
        },
        start,
        multipath: multipath.map(Box::new),
        pauses: pauses(spec, start),
    }
}

/// Converts a time of a flow's sending intervals to a run in which the flow starts at `start`.
fn shifted(spec: &FlowSpec, moment: Span, start: Time) -> Time {
    let first = spec.on.first().map_or(Span::ZERO, |[from, _]| *from);
    start + Span(moment.0.saturating_sub(first.0))
}

/// The times between the flow's sending intervals.
fn pauses(spec: &FlowSpec, start: Time) -> Vec<[Time; 2]> {
    let at = |moment| shifted(spec, moment, start);
    spec.on.windows(2).map(|pair| [at(pair[0][1]), at(pair[1][0])]).collect()
}

fn traffic(spec: &FlowSpec, start: Time, duration: Span, seed: u64) -> SimTraffic {
    match spec.traffic {
        Traffic::Bulk { bytes } => SimTraffic::Bulk { bytes },
        Traffic::RequestResponse { request, response, requests, think } => {
            SimTraffic::RequestResponse { request, response, requests, think }
        }
        Traffic::Messages { every, gaps, size, sizes, shape, most, phases, stop, deadline } => {
            SimTraffic::Messages(Arrivals {
                gaps: gap(gaps, shape, every),
                sizes: Draw { law: sizes, shape, mean: size, most },
                phases,
                stop: Time::ZERO + stop.unwrap_or(duration),
                deadline,
                seed: arrivals_seed(spec, seed),
            })
        }
        Traffic::Coap(coap) => {
            let Coap { response, token, options, confirmable, nstart, .. } = coap;
            SimTraffic::Coap(SimCoap {
                requests: requests(&coap, duration, arrivals_seed(spec, seed)),
                response,
                token,
                options,
                confirmable,
                nstart,
                max_retransmit: coap.max_retransmit,
                timer: coap.timer,
                security: coap.security.map(|preset| dtls(preset, coap.per_request)),
            })
        }
        Traffic::Media(media) => SimTraffic::Media(SimMedia {
            packet: media.packet,
            rates_bps: [media.min_rate_bps, media.max_rate_bps],
            ecn: media.ecn,
            stop: Time::ZERO + media.stop.unwrap_or(duration),
        }),
        Traffic::Cbr { rate_bps, packet, spread, transport, stop, deadline } => {
            let bits = 8 * u128::from(packet) * 1_000_000_000;
            let interval = bits / u128::from(rate_bps.max(1));
            let cbr = Cbr {
                packet: u64::from(packet),
                interval: Span(u64::try_from(interval).unwrap_or(u64::MAX).max(1)),
                spread,
                stop: match spec.on.last() {
                    Some([_, until]) => shifted(spec, *until, start),
                    None => Time::ZERO + stop.unwrap_or(duration),
                },
                deadline,
            };
            match transport {
                Transport::Tcp => SimTraffic::CbrTcp(cbr),
                Transport::Udp => SimTraffic::CbrUdp(cbr),
            }
        }
    }
}

/// Traffic over successive connections, whose ends lose their power in these times. Other traffic
/// is unchanged.
fn sessions(spec: &FlowSpec, traffic: SimTraffic, cuts: [Vec<[Time; 2]>; 2]) -> SimTraffic {
    let step = |by, bytes, message| Step { by, bytes, message, record: 0, think: Span::ZERO };
    let (exchanges, requests) = match traffic {
        SimTraffic::Messages(arrivals) => (Exchanges::Messages(arrivals), None),
        SimTraffic::RequestResponse { request, response, requests, think } => {
            let steps = vec![step(Side::Opener, request, false), step(Side::Listener, 0, true)];
            (Exchanges::Requests { response, requests, think }, Some(steps))
        }
        other => return other,
    };
    let connections = spec.connections.as_deref().cloned().unwrap_or_default();
    let (opening, exchange) = connections.dialogues(requests);
    let ConnectionSpec { connect, reconnect, .. } = connections;
    SimTraffic::Sessions(Arc::new(Sessions {
        exchanges,
        connect,
        opening,
        exchange,
        reconnect,
        cuts,
    }))
}

fn gap(law: Law, shape: u32, every: Span) -> Draw {
    Draw { law, shape, mean: every.0, most: MAX_SPAN.max(every).0 }
}

fn arrivals_seed(spec: &FlowSpec, seed: u64) -> u64 {
    Stream::new(seed, entity(&spec.name), Purpose::Arrivals).next_u64()
}

/// Times at which requests of CoAP fall due.
fn requests(coap: &Coap, duration: Span, seed: u64) -> Arrivals {
    Arrivals {
        gaps: gap(coap.gaps, coap.shape, coap.every),
        sizes: Draw::constant(coap.size.into()),
        phases: coap.phases,
        stop: Time::ZERO + coap.stop.unwrap_or(duration),
        deadline: coap.deadline,
        seed,
    }
}

fn dtls(preset: &DtlsPreset, each: bool) -> Dtls {
    let DtlsPreset { flights, record, early, .. } = *preset;
    Dtls { flights, record, early, each }
}
