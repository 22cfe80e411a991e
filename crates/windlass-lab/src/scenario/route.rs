//! Which links a flow's packets take.

use std::collections::VecDeque;

use super::model::LinkSpec;

/// One link on a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// Index of the link.
    pub link: usize,
    /// Whether it is crossed from its first node to its second.
    pub forward: bool,
}

/// The shortest routes of a network, counted in links. Among equals, the route over the link that
/// stands earlier in the file wins where they part. A flow's acknowledgements take its route
/// backwards.
#[derive(Clone, Debug)]
pub struct Routes {
    /// For each node, its neighbours in the order of the links.
    neighbours: Vec<Vec<(usize, Hop)>>,
}

impl Routes {
    /// Routes over `links` between nodes 0 to `nodes - 1`.
    ///
    /// # Panics
    ///
    /// If a link names a node that is not below `nodes`.
    pub fn new(nodes: usize, links: &[LinkSpec]) -> Routes {
        let mut neighbours = vec![Vec::new(); nodes];
        for (link, spec) in links.iter().enumerate() {
            neighbours[spec.a].push((spec.b, Hop { link, forward: true }));
            neighbours[spec.b].push((spec.a, Hop { link, forward: false }));
        }
        Routes { neighbours }
    }

    /// The links from one node to another in order; `None` when they are not connected.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        let mut reached_by: Vec<Option<(usize, Hop)>> = vec![None; self.neighbours.len()];
        let mut waiting = VecDeque::from([from]);
        while let Some(node) = waiting.pop_front() {
            if node == to {
                return Some(trace_back(&reached_by, from, to));
            }
            for &(next, hop) in &self.neighbours[node] {
                if next != from && reached_by[next].is_none() {
                    reached_by[next] = Some((node, hop));
                    waiting.push_back(next);
                }
            }
        }
        None
    }
}

fn trace_back(reached_by: &[Option<(usize, Hop)>], from: usize, to: usize) -> Vec<Hop> {
    let mut hops = Vec::new();
    let mut node = to;
    while node != from {
        let Some((previous, hop)) = reached_by[node] else { break };
        hops.push(hop);
        node = previous;
    }
    hops.reverse();
    hops
}
