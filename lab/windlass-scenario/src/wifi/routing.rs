//! Routes of packets in a cell: `routing`, and stations that are switched off.

use windlass_cc::Time;
use windlass_sim::radio::{Hops, RadioConfig};
use windlass_sim::routing::aodv::params::MAX_COUNT;
use windlass_sim::routing::aodv::{Aodv, AodvParams, Detection};

use crate::codec::{Codec, table};
use crate::fields::{Field, Fields, choice, positive_span, span, text};
use crate::model::FlowSpec;
use crate::network::{Network, Pair};
use crate::problem::{Place, Problem, no_station};
use crate::quote::{array, inline, quote};
use crate::schema::{Kinds, section};
use crate::tree::Value;
use crate::units::Duration;

section! {
    /// Keys of a table `routing` in addition to the constants of AODV.
    AODV, "aodv" with AODV_CONSTANTS:
    preset words(&AodvParams::ALL), "defaults of the keys below: `rfc3561`, or `ns3` for the defaults of ns-3 3.44 (`my_route_timeout = \"11.2s\"`, `detection = \"both\"`, `hello_always = true`)", "`\"rfc3561\"`";
    disjoint list(list(Text)), "pairs of flows with the same ends and routes without a common station: `[[\"a\", \"b\"]]`", "none";
}

/// The routing of packets in an ad-hoc cell.
pub(crate) static ROUTING: Kinds = Kinds {
    name: "routing",
    tag: "protocol",
    usual: None,
    kinds: &[("static", &[]), ("aodv", &[&AODV])],
};

table!(AODV_CONSTANTS, "aodv_constants", apply, written_constants, AodvParams {
    active_route_timeout: Codec::time(positive_span), "lifetime of an unused route", "`\"3s\"`";
    my_route_timeout: Codec::time(positive_span), "lifetime of a route after an answer from its destination", "`\"6s\"`";
    net_diameter: Codec::whole(1, MAX_COUNT), "maximum number of hops between two stations, 1 to 64", "`35`";
    node_traversal_time: Codec::time(positive_span), "estimated time of a message per hop", "`\"40ms\"`";
    rreq_retries: Codec::whole(0, MAX_COUNT), "repetitions of a request through the whole network", "`2`";
    rreq_rate_limit: Codec::whole(1, MAX_COUNT), "maximum number of requests that a station originates per second", "`10`";
    rerr_rate_limit: Codec::whole(1, MAX_COUNT), "maximum number of errors that a station originates per second", "`10`";
    ttl_start: Codec::whole(1, MAX_COUNT), "hops of the first request", "`1`";
    ttl_increment: Codec::whole(1, MAX_COUNT), "increase in hops of each further request", "`2`";
    ttl_threshold: Codec::whole(0, MAX_COUNT), "hops beyond which a request goes through the whole network", "`7`";
    timeout_buffer: Codec::whole(0, MAX_COUNT), "hops added to the way there and back for the waiting time", "`2`";
    hello_interval: Codec::time(positive_span), "time between HELLO messages of a station", "`\"1s\"`";
    allowed_hello_loss: Codec::whole(1, MAX_COUNT), "intervals without a message after which a neighbour is lost", "`2`";
    hello_always: Codec::flag(), "all stations send HELLO messages, not only stations that forward data", "`false`";
    detection: Codec::word(&Detection::ALL), "detection of a lost neighbour: `feedback` (by missing acknowledgements), `hello` (by missing HELLO messages) or `both`", "`\"feedback\"`";
    gratuitous: Codec::flag(), "a station that answers for a destination also sends the destination the way back", "`true`";
    destination_only: Codec::flag(), "only the destination itself answers", "`false`";
    buffer_packets: Codec::whole(1, MAX_COUNT), "packets that a station buffers while it searches for routes; a full buffer drops the oldest", "`64`";
    buffer_time: Codec::time(positive_span), "maximum time of a packet in this buffer", "`\"30s\"`";
    jitter: Codec::time(span), "maximum of the random delay of each broadcast, so that stations that repeat a request do not collide", "`\"10ms\"`";
});

/// The key `disjoint`, which is in the same table as the constants.
const DISJOINT: &str = "disjoint";

/// A routing protocol of the file.
pub(super) struct Routing {
    pub(super) params: AodvParams,
    pub(super) disjoint: Vec<Pair>,
    pub(super) place: Place,
}

/// The name of a protocol, or a table; `None` for static routes.
pub(super) fn routing(field: &Field) -> Result<Option<Routing>, Problem> {
    let place = field.node.place.clone();
    let usual = AodvParams::RFC3561;
    if let Value::Text(_) = field.node.value {
        let aodv = choice(&ROUTING.words())(field)? == "aodv";
        return Ok(aodv.then_some(Routing { params: usual, disjoint: Vec::new(), place }));
    }
    let fields = Fields::any(field.node, "`routing`")?;
    if fields.kind(&ROUTING, "\"aodv\"")? != "aodv" {
        return Ok(None);
    }
    let mut params = fields.or("preset", choice(&AodvParams::ALL), usual)?;
    apply(&mut params, &fields)?;
    params.check().map_err(|message| field.error(message))?;
    let disjoint = fields.or(DISJOINT, pairs, Vec::new())?;
    Ok(Some(Routing { params, disjoint, place }))
}

/// Pairs of names of flows.
fn pairs(field: &Field) -> Result<Vec<Pair>, Problem> {
    let pair = |item: &Field| {
        let names = item.pair(|n| format!("disjoint routes are for two flows, not {n}"))?;
        let name = |field: &Field| Ok((text(field)?, field.node.place.clone()));
        Ok([name(&names[0])?, name(&names[1])?])
    };
    field.array()?.iter().map(pair).collect()
}

/// Reads the stations that are switched off, with their times: pairs such as `["n5", "20s"]`.
pub(super) fn off(field: &Field) -> Result<Vec<(String, Place, Time)>, Problem> {
    let pair = |item: &Field| {
        let wrong = |_| "write a station and a time, such as `[\"n5\", \"20s\"]`".to_owned();
        let [station, at] = item.pair(wrong)?;
        Ok((text(&station)?, station.node.place.clone(), Time::ZERO + span(&at)?))
    };
    field.array()?.iter().map(pair).collect()
}

/// Finds the stations that are switched off.
pub(super) fn find_off(
    radio: &mut RadioConfig,
    nodes: &[String],
    off: Vec<(String, Place, Time)>,
) -> Result<(), Problem> {
    for (name, place, at) in off {
        let station = radio.stations.iter().position(|s| nodes[s.node] == name);
        let Some(station) = station else {
            let known: Vec<&str> = radio.stations.iter().map(|s| nodes[s.node].as_str()).collect();
            let message = format!("`off`: {}", no_station(&name, &known));
            return Err(Problem::new(&place, message));
        };
        radio.off.push((station, at));
    }
    Ok(())
}

/// Finds the flows that take disjoint routes, after all flows have been read.
pub(in super::super) fn find_disjoint(
    network: &mut Network,
    flows: &[FlowSpec],
) -> Result<(), Problem> {
    for (cell, pair) in std::mem::take(&mut network.disjoint) {
        let mut indices = [0; 2];
        for (index, (name, place)) in indices.iter_mut().zip(&pair) {
            *index = flows.iter().position(|flow| flow.name == *name).ok_or_else(|| {
                let name = name.escape_debug();
                Problem::new(place, format!("`{DISJOINT}`: flow `{name}` not found"))
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
            return Err(problem(format!("`{name}` occurs twice")));
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

/// The text of `routing`. `flows` has the names of the scenario's flows.
pub(super) fn written(aodv: &Aodv, flows: &[&str]) -> String {
    let mut pairs = vec![("protocol", quote("aodv"))];
    pairs.extend(written_constants(&aodv.params));
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
