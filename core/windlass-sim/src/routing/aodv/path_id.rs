//! Numbers of node-disjoint routes.

/// One of two disjoint paths between the same two ends, each of which has its own routes.
///
/// The two paths share only their ends. The following rules ensure this:
///
/// * A node is part of a disjoint path while it has a valid route on this path to either end.
/// * A node gets such a route only by a reply that passes through it. The reply sets up both directions.
/// * While a node is part of one path, it ignores requests and replies for the other path.
/// * A request lists the nodes of the other path, so that these nodes are not tried.
/// * Only the destination answers a request for a disjoint path.
/// * At most one of the two paths leads from end to end without a node between.
///
/// The first path is a shortest route. It may be placed such that no second path exists, although two longer
/// disjoint paths would exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DisjointPath;

impl DisjointPath {
    /// Returns the number of one of the two disjoint paths (0 or 1) of a group.
    pub const fn number(group: u32, member: u32) -> u32 {
        1 + 2 * group + member
    }

    /// Returns the number of the other disjoint path of the group.
    pub const fn sibling(path_id: u32) -> u32 {
        (path_id.wrapping_sub(1) ^ 1).wrapping_add(1)
    }
}
