//! Static routes: the chain of link directions that a flow's packets take.

use std::collections::VecDeque;

use crate::config::LinkConfig;

/// Link direction index: twice the link's index, plus one for backward.
pub type Direction = u32;

/// The map of a network: what leads from each node to which other.
#[derive(Clone, Debug)]
pub struct Router {
    neighbours: Vec<Vec<(usize, Direction)>>,
}

impl Router {
    /// The map of these links, whose ends are below `nodes`.
    pub fn new(nodes: usize, links: &[LinkConfig]) -> Router {
        let mut neighbours: Vec<Vec<(usize, Direction)>> = vec![Vec::new(); nodes];
        for (i, link) in links.iter().enumerate() {
            let [a, b] = link.ends;
            neighbours[a].push((b, 2 * i as u32));
            neighbours[b].push((a, 2 * i as u32 + 1));
        }
        Router { neighbours }
    }

    /// The shortest chain of link directions from one node to another, by number of links; among
    /// equals the one through the links that come first in the configuration. `None` if nothing
    /// joins the two.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<Direction>> {
        let mut came_by: Vec<Option<(usize, Direction)>> = vec![None; self.neighbours.len()];
        let mut queue = VecDeque::from([from]);
        while came_by[to].is_none() && from != to {
            let node = queue.pop_front()?;
            for &(next, direction) in &self.neighbours[node] {
                if next != from && came_by[next].is_none() {
                    came_by[next] = Some((node, direction));
                    queue.push_back(next);
                }
            }
        }
        let mut path = Vec::new();
        let mut node = to;
        while let Some((before, direction)) = came_by[node] {
            path.push(direction);
            node = before;
        }
        path.reverse();
        Some(path)
    }
}

/// [`Router::path`] on a map that is used once.
pub fn shortest_path(
    nodes: usize,
    links: &[LinkConfig],
    from: usize,
    to: usize,
) -> Option<Vec<Direction>> {
    Router::new(nodes, links).path(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::{Framing, QueueLimit};
    use windlass_cc::Span;

    fn link(a: usize, b: usize) -> LinkConfig {
        LinkConfig {
            name: format!("{a}-{b}"),
            ends: [a, b],
            rate_bps: 1,
            delay: Span::ZERO,
            queue: QueueLimit::Unlimited,
            framing: Framing::NONE,
            loss: [None, None],
        }
    }

    #[test]
    fn the_shortest_path_is_taken_and_ties_go_to_the_first_link() {
        let links = [link(0, 1), link(1, 3), link(0, 2), link(2, 3), link(3, 4)];
        assert_eq!(shortest_path(5, &links, 0, 4), Some(vec![0, 2, 8]));
        assert_eq!(shortest_path(5, &links, 4, 0), Some(vec![9, 3, 1]));
    }

    #[test]
    fn unconnected_nodes_have_no_path() {
        assert_eq!(shortest_path(3, &[link(0, 1)], 0, 2), None);
    }
}
