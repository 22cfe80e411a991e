//! How packets find their way in a cell: `routing`, and stations that go off.

use windlass_cc::{Span, Time};
use windlass_sim::radio::{Hops, RadioConfig};
use windlass_sim::routing::aodv::{Aodv, AodvParams, Detection};

use super::super::error::{Place, Problem, listed};
use super::super::fields::{Field, Fields, boolean, choice, positive_span, span, text, whole_u32};
use super::super::model::FlowSpec;
use super::super::network::Network;
use super::super::tree::Value;
use super::super::write::{array, inline, quote};
use crate::units::Duration;

/// Keys of a table `routing` with `protocol = "aodv"`.
pub(in super::super) const AODV_KEYS: [&str; 22] = [
    "protocol",
    "preset",
    "active_route_timeout",
    "my_route_timeout",
    "net_diameter",
    "node_traversal_time",
    "rreq_retries",
    "rreq_rate_limit",
    "rerr_rate_limit",
    "ttl_start",
    "ttl_increment",
    "ttl_threshold",
    "timeout_buffer",
    "hello_interval",
    "allowed_hello_loss",
    "hello_always",
    "detection",
    "gratuitous",
    "destination_only",
    "buffer_packets",
    "buffer_time",
    "jitter",
];

/// `disjoint`, which stands beside the constants.
const DISJOINT: &str = "disjoint";

/// Largest count of a constant.
const MOST: u32 = 10_000;

/// A pair of flows that take disjoint routes, by name.
pub(in super::super) type Pair = [(String, Place); 2];

/// A routing protocol as the file has it.
pub(super) struct Routing {
    pub(super) params: AodvParams,
    pub(super) disjoint: Vec<Pair>,
    pub(super) place: Place,
}

/// What finds the ways.
#[derive(Clone, Copy)]
enum Protocol {
    Static,
    Aodv,
}

const PROTOCOLS: [(&str, Protocol); 2] = [("static", Protocol::Static), ("aodv", Protocol::Aodv)];

/// The name of a protocol, or a table; `None` for static routes.
pub(super) fn routing(field: &Field) -> Result<Option<Routing>, Problem> {
    let place = field.node.place.clone();
    if let Value::Text(_) = field.node.value {
        let params = AodvParams::RFC3561;
        return Ok(match choice(&PROTOCOLS)(field)? {
            Protocol::Static => None,
            Protocol::Aodv => Some(Routing { params, disjoint: Vec::new(), place }),
        });
    }
    let fields = Fields::any(field.node, "`routing`")?;
    match fields.req("protocol", "\"aodv\"", choice(&PROTOCOLS))? {
        Protocol::Static => fields.allow(&["protocol"]).map(|()| None),
        Protocol::Aodv => {
            fields.allow(&[AODV_KEYS.as_slice(), &[DISJOINT]].concat())?;
            let params = aodv(&fields)?;
            params.check().map_err(|message| field.error(message))?;
            let disjoint = fields.or(DISJOINT, pairs, Vec::new())?;
            Ok(Some(Routing { params, disjoint, place }))
        }
    }
}

fn aodv(fields: &Fields) -> Result<AodvParams, Problem> {
    let p = fields.or("preset", choice(&AodvParams::ALL), AodvParams::RFC3561)?;
    let (some, any) = (whole_u32(1, MOST), whole_u32(0, MOST));
    Ok(AodvParams {
        active_route_timeout: fields.or(
            "active_route_timeout",
            positive_span,
            p.active_route_timeout,
        )?,
        my_route_timeout: fields.or("my_route_timeout", positive_span, p.my_route_timeout)?,
        net_diameter: fields.or("net_diameter", &some, p.net_diameter)?,
        node_traversal_time: fields.or(
            "node_traversal_time",
            positive_span,
            p.node_traversal_time,
        )?,
        rreq_retries: fields.or("rreq_retries", &any, p.rreq_retries)?,
        rreq_rate_limit: fields.or("rreq_rate_limit", &some, p.rreq_rate_limit)?,
        rerr_rate_limit: fields.or("rerr_rate_limit", &some, p.rerr_rate_limit)?,
        ttl_start: fields.or("ttl_start", &some, p.ttl_start)?,
        ttl_increment: fields.or("ttl_increment", &some, p.ttl_increment)?,
        ttl_threshold: fields.or("ttl_threshold", &any, p.ttl_threshold)?,
        timeout_buffer: fields.or("timeout_buffer", &any, p.timeout_buffer)?,
        hello_interval: fields.or("hello_interval", positive_span, p.hello_interval)?,
        allowed_hello_loss: fields.or("allowed_hello_loss", &some, p.allowed_hello_loss)?,
        hello_always: fields.or("hello_always", boolean, p.hello_always)?,
        detection: fields.or("detection", choice(&Detection::ALL), p.detection)?,
        gratuitous: fields.or("gratuitous", boolean, p.gratuitous)?,
        destination_only: fields.or("destination_only", boolean, p.destination_only)?,
        buffer_packets: fields.or("buffer_packets", &some, p.buffer_packets)?,
        buffer_time: fields.or("buffer_time", positive_span, p.buffer_time)?,
        jitter: fields.or("jitter", span, p.jitter)?,
    })
}

/// Pairs of names of flows.
fn pairs(field: &Field) -> Result<Vec<Pair>, Problem> {
    let pair = |item: &Field| {
        let names = item.array()?;
        let [a, b] = names.as_slice() else {
            let n = names.len();
            return Err(item.error(format!("disjoint routes are for two flows, not {n}")));
        };
        let name = |field: &Field| Ok((text(field)?, field.node.place.clone()));
        Ok([name(a)?, name(b)?])
    };
    field.array()?.iter().map(pair).collect()
}

/// Stations that go off, by name, and when: pairs such as `["n5", "20s"]`.
pub(super) fn off(field: &Field) -> Result<Vec<(String, Place, Time)>, Problem> {
    let pair = |item: &Field| {
        let parts = item.array()?;
        let [station, at] = parts.as_slice() else {
            return Err(item.error("write a station and a time, such as `[\"n5\", \"20s\"]`"));
        };
        Ok((text(station)?, station.node.place.clone(), Time::ZERO + span(at)?))
    };
    field.array()?.iter().map(pair).collect()
}

/// Finds the stations that go off.
pub(super) fn find_off(
    radio: &mut RadioConfig,
    nodes: &[String],
    off: Vec<(String, Place, Time)>,
) -> Result<(), Problem> {
    for (name, place, at) in off {
        let station = radio.stations.iter().position(|s| nodes[s.node] == name);
        let Some(station) = station else {
            let known: Vec<&str> = radio.stations.iter().map(|s| nodes[s.node].as_str()).collect();
            let (name, known) = (name.escape_debug(), listed(&known));
            let message =
                format!("`off`: `{name}` is no station of this cell; its stations are {known}");
            return Err(Problem::new(&place, message));
        };
        radio.off.push((station, at));
    }
    Ok(())
}

/// Finds the flows that take disjoint routes, once there are flows.
pub(in super::super) fn find_disjoint(
    network: &mut Network,
    flows: &[FlowSpec],
) -> Result<(), Problem> {
    for (cell, pair) in std::mem::take(&mut network.disjoint) {
        let mut indices = [0; 2];
        for (index, (name, place)) in indices.iter_mut().zip(&pair) {
            *index = flows.iter().position(|flow| flow.name == *name).ok_or_else(|| {
                let name = name.escape_debug();
                Problem::new(place, format!("`{DISJOINT}`: there is no flow `{name}`"))
            })?;
        }
        let [(_, _), (name, place)] = &pair;
        let problem = |message: String| Problem::new(place, format!("`{DISJOINT}`: {message}"));
        for (index, (name, place)) in indices.iter().zip(&pair) {
            if flows[*index].multipath.is_some() {
                let message = format!(
                    "`{DISJOINT}`: the subflows of `{name}` take disjoint routes with `disjoint = true` \
                     in its `multipath`; a pair is of flows without subflows"
                );
                return Err(Problem::new(place, message));
            }
        }
        let [a, b] = indices.map(|i| [flows[i].from, flows[i].to]);
        if indices[0] == indices[1] {
            return Err(problem(format!("`{name}` stands here twice")));
        }
        if a != b {
            return Err(problem("two flows of a pair have the same `from` and `to`".to_owned()));
        }
        let Hops::Aodv(aodv) = &mut network.wifi[cell].radio.hops else { continue };
        if aodv.disjoint.iter().flatten().any(|known| indices.contains(known)) {
            return Err(problem("a flow belongs to one pair only".to_owned()));
        }
        aodv.disjoint.push(indices);
    }
    Ok(())
}

/// The text of `routing`, `flows` being the names of the scenario's.
pub(super) fn written(aodv: &Aodv, flows: &[&str]) -> String {
    let p = &aodv.params;
    let time = |span: Span| quote(Duration(span));
    let detection = Detection::ALL.iter().find(|(_, d)| *d == p.detection);
    let mut pairs = vec![
        ("protocol", quote("aodv")),
        ("active_route_timeout", time(p.active_route_timeout)),
        ("my_route_timeout", time(p.my_route_timeout)),
        ("net_diameter", p.net_diameter.to_string()),
        ("node_traversal_time", time(p.node_traversal_time)),
        ("rreq_retries", p.rreq_retries.to_string()),
        ("rreq_rate_limit", p.rreq_rate_limit.to_string()),
        ("rerr_rate_limit", p.rerr_rate_limit.to_string()),
        ("ttl_start", p.ttl_start.to_string()),
        ("ttl_increment", p.ttl_increment.to_string()),
        ("ttl_threshold", p.ttl_threshold.to_string()),
        ("timeout_buffer", p.timeout_buffer.to_string()),
        ("hello_interval", time(p.hello_interval)),
        ("allowed_hello_loss", p.allowed_hello_loss.to_string()),
        ("hello_always", p.hello_always.to_string()),
        ("detection", quote(detection.map_or("", |(name, _)| name))),
        ("gratuitous", p.gratuitous.to_string()),
        ("destination_only", p.destination_only.to_string()),
        ("buffer_packets", p.buffer_packets.to_string()),
        ("buffer_time", time(p.buffer_time)),
        ("jitter", time(p.jitter)),
    ];
    if !aodv.disjoint.is_empty() {
        let name = |flow: &usize| quote(flows.get(*flow).copied().unwrap_or_default());
        pairs.push((DISJOINT, array(&aodv.disjoint, |pair| array(pair, name))));
    }
    inline(&pairs)
}

/// The text of `off`.
pub(super) fn written_off(radio: &RadioConfig, nodes: &[String]) -> String {
    array(&radio.off, |(station, at)| {
        let name = &nodes[radio.stations[*station].node];
        format!("[{}, {}]", quote(name), quote(Duration(at.since(Time::ZERO))))
    })
}
