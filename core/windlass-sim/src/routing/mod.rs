//! Routes: the chain of link directions and radio hops that a flow's packets take. Radios may find routes by
//! [`aodv`].

pub mod aodv;
pub(crate) mod disjoint;

use std::cell::RefCell;

/// Link direction index: twice the link's index, plus one for backward.
pub type Direction = u32;

/// The link that a direction belongs to.
pub const fn link_of(direction: Direction) -> usize {
    direction as usize / 2
}

/// Shortest routes of a network, by number of links. If several routes are shortest, the route over the first
/// links is used.
#[derive(Clone, Debug)]
pub struct Routes {
    /// Neighbours of each node, in the order of the links.
    neighbours: Vec<Vec<(usize, Direction)>>,
    search: RefCell<Search>,
}

/// Memory of a search, reused by the next search. The cost of a search depends on the visited nodes, not on
/// the size of the network.
#[derive(Clone, Debug)]
struct Search {
    /// For each node, the node and direction from which it was reached; all `None` between two searches.
    came_by: Vec<Option<(usize, Direction)>>,
    /// Reached nodes, in the order in which they are visited.
    reached: Vec<usize>,
}

impl Routes {
    /// Routes between nodes 0 to `nodes - 1` over links with these ends.
    ///
    /// # Panics
    ///
    /// If an end is not below `nodes`.
    pub fn new(nodes: usize, links: impl IntoIterator<Item = [usize; 2]>) -> Routes {
        let mut neighbours = vec![Vec::new(); nodes];
        for (i, [a, b]) in links.into_iter().enumerate() {
            neighbours[a].push((b, 2 * i as Direction));
            neighbours[b].push((a, 2 * i as Direction + 1));
        }
        let search = Search { came_by: vec![None; nodes], reached: Vec::new() };
        Routes { neighbours, search: RefCell::new(search) }
    }

    /// Returns the link directions from one node to another in order; `None` if they are not connected.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<Direction>> {
        let Search { came_by, reached } = &mut *self.search.borrow_mut();
        reached.push(from);
        let mut looked_at = 0;
        while looked_at < reached.len() && reached[looked_at] != to {
            let node = reached[looked_at];
            looked_at += 1;
            for &(next, direction) in &self.neighbours[node] {
                if next != from && came_by[next].is_none() {
                    came_by[next] = Some((node, direction));
                    reached.push(next);
                }
            }
        }
        let found = looked_at < reached.len();
        let path = found.then(|| trace_back(came_by, from, to));
        for node in reached.drain(..) {
            came_by[node] = None;
        }
        path
    }

    /// Returns the link directions of a path over these nodes, with the shortest path between each two;
    /// `None` if two of them are not connected.
    pub fn through(&self, nodes: &[usize]) -> Option<Vec<Direction>> {
        let legs = nodes.windows(2).map(|pair| self.path(pair[0], pair[1]));
        legs.collect::<Option<Vec<_>>>().map(|legs| legs.concat())
    }
}

fn trace_back(came_by: &[Option<(usize, Direction)>], from: usize, to: usize) -> Vec<Direction> {
    let mut path = Vec::new();
    let mut node = to;
    while node != from {
        let Some((before, direction)) = came_by[node] else { break };
        path.push(direction);
        node = before;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_path_is_taken_and_ties_go_to_the_first_link() {
        let routes = Routes::new(5, [[0, 1], [1, 3], [0, 2], [2, 3], [3, 4]]);
        assert_eq!(routes.path(0, 4), Some(vec![0, 2, 8]));
        assert_eq!(routes.path(4, 0), Some(vec![9, 3, 1]));
        assert_eq!(routes.path(0, 4), Some(vec![0, 2, 8]), "a search leaves nothing behind");
    }

    #[test]
    fn a_path_through_a_node_contains_it() {
        let routes = Routes::new(5, [[0, 1], [1, 3], [0, 2], [2, 3], [3, 4]]);
        assert_eq!(routes.through(&[0, 2, 4]), Some(vec![4, 6, 8]));
        assert_eq!(routes.through(&[0, 4]), routes.path(0, 4));
        assert_eq!(Routes::new(3, [[0, 1]]).through(&[0, 1, 2]), None);
    }

    #[test]
    fn unconnected_nodes_have_no_path() {
        assert_eq!(Routes::new(3, [[0, 1]]).path(0, 2), None);
    }
}
