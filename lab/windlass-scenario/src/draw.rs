//! Flows whose senders are drawn in each run.

use crate::fields::{Field, text};
use crate::model::FlowSpec;
use crate::network::Network;
use crate::problem::{Place, Problem};
use crate::tree::Value;

/// The nodes from which the flows of an entry draw their senders.
pub(super) struct Draw {
    pub(super) nodes: Vec<usize>,
    /// True if the nodes are the matches of `from` instead of an explicit list.
    matched: bool,
}

impl Draw {
    /// The node that represents the sender of the flow with this number: any node that the run may
    /// draw.
    pub(super) fn sender(&self, network: &Network, from: &str, number: u32) -> String {
        match self.nodes.get(number as usize - 1) {
            Some(node) if self.matched => network.nodes[*node].clone(),
            _ => from.to_owned(),
        }
    }
}

/// Reads `draw`, for `count` flows between these ends.
pub(super) fn read(
    field: &Field,
    network: &Network,
    (from, to): (&str, &str),
    count: u32,
) -> Result<Draw, Problem> {
    if to.contains('*') {
        return Err(field.error("flows that draw their senders go to one node; give it in `to`"));
    }
    let (nodes, matched) = match &field.node.value {
        Value::Boolean(true) => (matching(field, network, from, to)?, true),
        Value::Boolean(false) => {
            return Err(field.error("leave `draw` out where senders are not drawn"));
        }
        _ => (listed(field, network, to)?, false),
    };
    let room = nodes.len();
    if room < count as usize {
        let message =
            format!("{count} flows draw different senders from only {room} nodes; {}", cure(room));
        return Err(field.error(message));
    }
    Ok(Draw { nodes, matched })
}

/// Advice if `room` nodes are too few.
fn cure(room: usize) -> String {
    match room {
        0 => "no node is left to draw".to_owned(),
        _ => format!("write a `count` of at most {room}"),
    }
}

/// Every node that `from` can stand for, except `to`.
fn matching(field: &Field, network: &Network, from: &str, to: &str) -> Result<Vec<usize>, Problem> {
    let Some((head, tail)) = from.split_once('*') else {
        let message = "draws among all nodes that `from` stands for: give it a `*`, as in \"n*\"";
        return Err(field.error(message));
    };
    let matches = |name: &&String| {
        let middle = name.strip_prefix(head).and_then(|rest| rest.strip_suffix(tail));
        middle.is_some_and(|m| !m.is_empty()) && *name != to
    };
    let all = network.nodes.iter().enumerate().filter(|(_, name)| matches(name));
    Ok(all.map(|(node, _)| node).collect())
}

/// Nodes by their names. None of them may be `to`.
fn listed(field: &Field, network: &Network, to: &str) -> Result<Vec<usize>, Problem> {
    let one = |item: &Field| {
        let name = text(item)?;
        let node = network.node(&name).filter(|_| name != to);
        node.ok_or_else(|| {
            let why = if name == to { "receives the data" } else { "does not exist" };
            item.error(format!("node `{}` {why}", name.escape_debug()))
        })
    };
    field.array()?.iter().map(one).collect()
}

/// Checks that every flow that draws its sender has a node left after all other draws. `places` has
/// the places of their `draw` keys.
pub(super) fn check(flows: &[FlowSpec], places: &[Option<Place>]) -> Result<(), Problem> {
    for (flow, place) in flows.iter().zip(places) {
        let Some(place) = place.as_ref().filter(|_| !flow.draw.is_empty()) else { continue };
        let rivals = flows.iter().filter(|f| f.draw.iter().any(|node| flow.draw.contains(node)));
        let (rivals, room) = (rivals.count(), flow.draw.len());
        if rivals > room {
            let message = format!(
                "`draw`: {rivals} flows, including `{}`, draw different senders from only {room} \
                 nodes; let fewer flows draw, or add nodes",
                flow.name
            );
            return Err(Problem::new(place, message));
        }
    }
    Ok(())
}
