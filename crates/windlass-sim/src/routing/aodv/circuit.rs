//! Node-disjoint routes: which node takes part in which of two circuits.

use windlass_cc::Time;

use super::message::{Course, Reply, Request};
use super::params::AodvParams;
use super::router::Router;
use super::table::{Key, News};

/// One of two circuits between the same two ends, each of which is routed on its own. No node but the
/// ends is ever part of both: a node is part of a circuit while it has a valid route on it to either
/// end; it gets one only by a reply that passes through it, there and back at once, and takes no part
/// in requests and replies for the other circuit meanwhile. A request names the nodes of the other
/// circuit too, so that it need not be tried in vain. Only the destination answers for a circuit, and
/// of two circuits one at most leads from end to end without a node between.
///
/// The first one found is a shortest route and may lie so that no other exists beside it; then the
/// second is never found, although two longer ones would exist.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Circuit;

impl Circuit {
    /// The number of one of the two circuits (0 or 1) of a group.
    pub const fn number(group: u32, member: u32) -> u32 {
        1 + 2 * group + member
    }

    /// The other circuit of the group.
    pub const fn sibling(circuit: u32) -> u32 {
        (circuit.wrapping_sub(1) ^ 1).wrapping_add(1)
    }
}

impl Course {
    /// The node before this one on the way from the originator.
    pub(super) fn before(&self, node: u32, origin: u32) -> u32 {
        let place = self.path.iter().position(|n| *n == node).unwrap_or(0);
        place.checked_sub(1).map_or(origin, |before| self.path[before])
    }
}

impl Router {
    /// Whether this node is part of the other circuit between these ends.
    fn is_on_sibling(&mut self, now: Time, circuit: u32, ends: [u32; 2]) -> bool {
        let circuit = Circuit::sibling(circuit);
        ends.into_iter().any(|node| self.table.valid(now, Key { node, circuit }).is_some())
    }

    /// Whether a request for a circuit may come this way.
    pub(super) fn takes_part(&mut self, now: Time, rq: &Request, from: u32) -> bool {
        let Some(detour) = &rq.detour else { return true };
        if rq.to.node != self.me {
            let ends = [rq.origin, rq.to.node];
            return !detour.avoid.contains(&self.me)
                && !self.is_on_sibling(now, rq.to.circuit, ends);
        }
        if detour.avoid_direct && from == rq.origin {
            return false;
        }
        // The originator may not know yet what the other circuit uses.
        let other = Key { node: rq.origin, circuit: Circuit::sibling(rq.to.circuit) };
        self.table.valid(now, other).is_none_or(|route| {
            let direct = route.path.is_empty() && detour.path.is_empty();
            !direct && route.path.iter().all(|node| !detour.path.contains(node))
        })
    }

    /// A reply for a circuit has come. Whether this node becomes part of the circuit: then it has the
    /// way back to the originator, and the reply goes on.
    pub(super) fn joins_circuit(
        &mut self,
        p: &AodvParams,
        now: Time,
        rp: &Reply,
        course: &Course,
    ) -> bool {
        if rp.origin == self.me {
            let other = Key { circuit: Circuit::sibling(rp.to.circuit), ..rp.to };
            let direct = self.table.valid(now, other).is_some_and(|route| route.path.is_empty());
            return !(direct && course.path.is_empty());
        }
        let Some(place) = course.path.iter().position(|node| *node == self.me) else {
            return false;
        };
        if self.is_on_sibling(now, rp.to.circuit, [rp.origin, rp.to.node]) {
            return false;
        }
        let back = Key { node: rp.origin, circuit: rp.to.circuit };
        let news = News {
            seq: course.origin_seq,
            hops: place as u32 + 1,
            next: course.before(self.me, rp.origin),
            expires: now + p.active_route_timeout,
        };
        self.table.learn(now, back, news, &[]);
        true
    }
}
