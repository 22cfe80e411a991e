//! Context for flows while they are read: the nodes that can be their ends, and the errors about
//! these nodes.

use windlass_cc::Span;

use crate::fields::{Fields, text};
use crate::network::Network;
use crate::problem::{Place, Problem, listed, nearest};
use crate::tree::Node;
use crate::ways::Ways;

/// The parts of a scenario that the reader of a flow needs.
pub(super) struct Context<'a> {
    pub(super) network: &'a Network,
    pub(super) ways: Ways,
    /// `[stack]`.
    pub(super) stack: Option<&'a Node>,
    pub(super) duration: Span,
}

impl Context<'_> {
    /// Beginning of the sentence that two nodes are not connected.
    pub(super) fn no_ways(&self) -> &'static str {
        if self.network.wifi.is_empty() { "no links" } else { "no links and no stations in range" }
    }

    /// Advice for the connection of two nodes.
    pub(super) fn cure(&self) -> &'static str {
        match self.network.wifi.is_empty() {
            true => "join them by a `[[link]]`",
            false => {
                "join them by a `[[link]]`, or increase the range of the stations or move them nearer"
            }
        }
    }

    /// The node that `key` names, after its pattern is filled in.
    pub(super) fn node(&self, fields: &Fields, key: &str, name: &str) -> Result<usize, Problem> {
        if self.network.node(name).is_none()
            && let Some(field) = fields.field(key)
            && let Ok(pattern) = text(&field)
            && let Some(message) = self.too_many(&pattern)
        {
            return Err(field.error(message));
        }
        self.node_named(key, name, fields.place_of(key))
    }

    /// The error for a pattern that stands for more nodes than exist; `None` if no node matches the
    /// pattern.
    fn too_many(&self, pattern: &str) -> Option<String> {
        let node = |i: usize| pattern.replace('*', &i.to_string());
        let there = (1..).take_while(|i| self.network.node(&node(*i)).is_some()).count();
        (pattern.contains('*') && there > 0).then(|| {
            let (first, last, next) = (node(1), node(there), node(there + 1));
            format!(
                "`{pattern}` stands for {there} nodes, `{first}` to `{last}`, and there is no \
                 `{next}`; write a `count` of at most {there}"
            )
        })
    }

    /// The node that the value of `key` at this place names.
    pub(super) fn node_named(
        &self,
        key: &str,
        name: &str,
        place: &Place,
    ) -> Result<usize, Problem> {
        self.network.node(name).ok_or_else(|| {
            let known: Vec<&str> = self.network.nodes.iter().map(String::as_str).collect();
            let who = if self.network.wifi.is_empty() { "no link" } else { "no link or cell" };
            let message = format!("`{key}`: {who} mentions a node `{}`", name.escape_debug());
            let near = nearest(name, &known);
            let known = match known.as_slice() {
                [] => "the file has no link; a `[[link]]` names its two nodes".to_owned(),
                known => format!("the nodes are {}", listed(known)),
            };
            Problem::suggesting(place, message, near, known)
        })
    }
}
