//! `[[outage]]`: nodes without links or without power.

use windlass_cc::{Span, Time};

use crate::context::Context;
use crate::fields::{Field, Fields, boolean, countable_span, positive_span, tables, text};
use crate::model::{FlowSpec, OutageSpec, Scenario, Traffic};
use crate::problem::{Place, Problem};
use crate::schema::section;
use crate::tree::Node;
use crate::units::Duration;

section! {
    /// `[[outage]]`.
    OUTAGE, "outage":
    nodes list(Text), "names of nodes, in which `*` stands for a number: `[\"s*\"]`", "required";
    at Of(Time), "time of its beginning, before the end of the run", "required";
    lasts Of(Time), "its length; all links of the nodes are down, as by `down`", "required";
    reboot Flag, "whether the nodes lose their power: their connections vanish without a FIN, and their applications begin again at the end. The radio of a link is off and loses its queue; a cellular radio registers at the end. The peers keep their connections until a timer expires or the rebooted node answers with a reset. Only for nodes whose flows are `messages` or `request-response` over TCP", "`false`";
}

/// Reads the outages of the scenario.
pub(super) fn read(
    root: &Fields,
    context: &Context,
    flows: &[FlowSpec],
) -> Result<Vec<OutageSpec>, Problem> {
    let mut all: Vec<OutageSpec> = Vec::new();
    for node in root.opt("outage", tables)?.unwrap_or_default() {
        let (outage, place) = one(node, context, flows)?;
        let end = |o: &OutageSpec| Span(o.at.0.saturating_add(o.lasts.0));
        let meets = |o: &&OutageSpec| {
            o.at <= end(&outage)
                && outage.at <= end(o)
                && o.nodes.iter().any(|n| outage.nodes.contains(n))
        };
        if let Some(other) = all.iter().find(meets) {
            let message = format!(
                "an outage of the same node lasts from {} to {}; outages of a node do not meet",
                Duration(other.at),
                Duration(end(other))
            );
            return Err(Problem::new(&place, message));
        }
        all.push(outage);
    }
    all.sort_by_key(|outage| outage.at);
    Ok(all)
}

fn one(node: &Node, context: &Context, flows: &[FlowSpec]) -> Result<(OutageSpec, Place), Problem> {
    let fields = Fields::open(node, "`[[outage]]`", OUTAGE.names)?;
    let nodes = fields.req("nodes", "[\"meter\"]", |field| nodes(field, context))?;
    let at = fields.req("at", "\"10min\"", countable_span)?;
    let lasts = fields.req("lasts", "\"30s\"", positive_span)?;
    if at >= context.duration {
        let (at, end) = (Duration(at), Duration(context.duration));
        let message = format!("the outage begins at {at}, when the run has ended ({end})");
        return Err(fields.error("at", message));
    }
    let reboot = fields.or("reboot", boolean, false)?;
    let place = fields.place_of("nodes").clone();
    let names = &context.network.nodes;
    let in_cell = |n: &&usize| {
        let mut stations = context.network.wifi.iter().flat_map(|cell| &cell.radio.stations);
        stations.any(|station| station.node == **n)
    };
    if let Some(n) = nodes.iter().find(in_cell) {
        let message = format!("`{}` is a station of a cell; an outage is for links", names[*n]);
        return Err(fields.error("nodes", message));
    }
    if reboot {
        let ends = |flow: &FlowSpec| {
            let mut ends = flow.draw.iter().chain([&flow.from, &flow.to]);
            ends.find(|end| nodes.contains(end)).copied()
        };
        let unable = |flow: &&FlowSpec| !can_reboot(flow) && ends(flow).is_some();
        if let Some(flow) = flows.iter().find(unable) {
            let message = format!(
                "flow `{}` ends at `{}`; only `messages` and `request-response` on one path of TCP, \
                 which are read immediately, continue after a reboot",
                flow.name,
                names[ends(flow).unwrap_or_default()]
            );
            return Err(fields.error("reboot", message));
        }
    }
    Ok((OutageSpec { nodes, at, lasts, reboot }, place))
}

/// True if the flow can consist of successive connections.
pub(super) fn can_reboot(flow: &FlowSpec) -> bool {
    flow.multipath.is_none()
        && flow.read == crate::model::Read::Immediate
        && matches!(flow.traffic, Traffic::Messages { .. } | Traffic::RequestResponse { .. })
}

/// True if a name is the pattern, or has a number for its `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((head, tail)) => {
            let number = name.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
            number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
        }
    }
}

/// The nodes that the patterns name.
fn nodes(field: &Field, context: &Context) -> Result<Vec<usize>, Problem> {
    let names = &context.network.nodes;
    let mut all = Vec::new();
    for item in field.array()? {
        let pattern = text(&item)?;
        let found: Vec<usize> =
            (0..names.len()).filter(|n| matches(&pattern, &names[*n])).collect();
        if found.is_empty() {
            // The error for a node that does not exist.
            context.node_named("nodes", &pattern, &item.node.place)?;
        }
        all.extend(found);
    }
    if all.is_empty() {
        return Err(field.error("needs at least one node, for example `[\"meter\"]`"));
    }
    all.sort_unstable();
    all.dedup();
    Ok(all)
}

impl Scenario {
    /// Times at which a link is down by its own key or by the outages of its nodes, joined.
    pub(crate) fn down(&self, link: usize) -> Vec<[Time; 2]> {
        let spec = &self.links[link];
        let own = spec.down.iter().map(|times| times.map(|time| Time::ZERO + time));
        let of_nodes = self.outages.iter().filter(|outage| {
            outage.nodes.binary_search(&spec.a).is_ok()
                || outage.nodes.binary_search(&spec.b).is_ok()
        });
        let mut all: Vec<[Time; 2]> = own.chain(of_nodes.map(OutageSpec::times)).collect();
        if self.outages.is_empty() {
            return all;
        }
        all.sort_unstable();
        let mut joined: Vec<[Time; 2]> = Vec::with_capacity(all.len());
        for [from, until] in all {
            match joined.last_mut().filter(|last| from <= last[1]) {
                Some(last) => last[1] = last[1].max(until),
                None => joined.push([from, until]),
            }
        }
        joined
    }

    /// Power cuts of a node.
    pub(crate) fn cuts(&self, node: usize) -> Vec<[Time; 2]> {
        let of_node = |o: &&OutageSpec| o.reboot && o.nodes.binary_search(&node).is_ok();
        self.outages.iter().filter(of_node).map(OutageSpec::times).collect()
    }
}

impl OutageSpec {
    /// Its beginning and its end.
    fn times(&self) -> [Time; 2] {
        let at = Time::ZERO + self.at;
        [at, Time(at.0.saturating_add(self.lasts.0))]
    }
}
