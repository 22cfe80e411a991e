//! Static routes: the chain of link directions that a flow's packets take.

use std::collections::VecDeque;

use crate::config::LinkConfig;

/// Link direction index: twice the link's index, plus one for backward.
pub type Direction = u32;

/// The shortest chain of link directions from one node to another, by number of links; among
/// equals the one through the links that come first in the configuration.
pub fn shortest_path(
    nodes: usize,
    links: &[LinkConfig],
    from: usize,
    to: usize,
) -> Option<Vec<Direction>> {
    let mut neighbours: Vec<Vec<(usize, Direction)>> = vec![Vec::new(); nodes];
    for (i, link) in links.iter().enumerate() {
        let [a, b] = link.ends;
        neighbours[a].push((b, 2 * i as u32));
        neighbours[b].push((a, 2 * i as u32 + 1));
    }
    paths_from(&neighbours, from).remove(to)
}

/// The tree of shortest paths from one node, as a list with a path for each node.
fn paths_from(neighbours: &[Vec<(usize, Direction)>], from: usize) -> Vec<Option<Vec<Direction>>> {
    let mut came_by: Vec<Option<(usize, Direction)>> = vec![None; neighbours.len()];
    let mut seen = vec![false; neighbours.len()];
    seen[from] = true;
    let mut queue = VecDeque::from([from]);
    while let Some(node) = queue.pop_front() {
        for &(next, direction) in &neighbours[node] {
            if !seen[next] {
                seen[next] = true;
                came_by[next] = Some((node, direction));
                queue.push_back(next);
            }
        }
    }
    let trace = |mut node: usize| {
        let mut path = Vec::new();
        while let Some((before, direction)) = came_by[node] {
            path.push(direction);
            node = before;
        }
        path.reverse();
        path
    };
    (0..neighbours.len()).map(|n| seen[n].then(|| trace(n))).collect()
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
