//! Numbers of node-disjoint routes.

/// One of two disjoint paths between the same two ends, each of which is routed on its own. No node but the
/// ends is ever part of both: a node is part of a disjoint path while it has a valid route on it to either
/// end; it gets one only by a reply that passes through it, there and back at once, and takes no part
/// in requests and replies for the other disjoint path meanwhile. A request names the nodes of the other
/// disjoint path too, so that it need not be tried in vain. Only the destination answers for a disjoint path, and
/// of two disjoint paths one at most leads from end to end without a node between.
///
/// The first one found is a shortest route and may lie so that no other exists beside it; then the
/// second is never found, although two longer ones would exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DisjointPath;

impl DisjointPath {
    /// The number of one of the two disjoint paths (0 or 1) of a group.
    pub const fn number(group: u32, member: u32) -> u32 {
        1 + 2 * group + member
    }

    /// The other disjoint path of the group.
    pub const fn sibling(path_id: u32) -> u32 {
        (path_id.wrapping_sub(1) ^ 1).wrapping_add(1)
    }
}
