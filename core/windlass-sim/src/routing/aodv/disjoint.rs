//! Node-disjoint routes: nodes of each of two disjoint paths.

use windlass_cc::Time;

use super::message::{Reply, Request, SourceRoute};
use super::params::AodvParams;
use super::path_id::DisjointPath;
use super::router::Router;
use super::table::{Key, News};

impl Router {
    /// True if this node is part of the other disjoint path between these ends.
    fn is_on_sibling(&mut self, now: Time, path_id: u32, ends: [u32; 2]) -> bool {
        let path_id = DisjointPath::sibling(path_id);
        ends.into_iter().any(|node| self.table.valid(now, Key { node, path_id }).is_some())
    }

    /// True if this node accepts a request for a disjoint path.
    pub(super) fn takes_part(&mut self, now: Time, rq: &Request, from: u32) -> bool {
        let Some(constraint) = &rq.constraint else { return true };
        if rq.to.node != self.me {
            let ends = [rq.origin, rq.to.node];
            return !constraint.avoid.contains(&self.me)
                && !self.is_on_sibling(now, rq.to.path_id, ends);
        }
        if constraint.avoid_direct && from == rq.origin {
            return false;
        }
        // The originator may not have the nodes of the other disjoint path yet.
        let other = Key { node: rq.origin, path_id: DisjointPath::sibling(rq.to.path_id) };
        self.table.valid(now, other).is_none_or(|route| {
            let direct = route.path.is_empty() && constraint.path.is_empty();
            !direct && route.path.iter().all(|node| !constraint.path.contains(node))
        })
    }

    /// Handles a reply for a disjoint path. Returns true if this node becomes part of the path. It then has
    /// the route back to the originator and forwards the reply.
    pub(super) fn joins_path(
        &mut self,
        p: &AodvParams,
        now: Time,
        rp: &Reply,
        source_route: &SourceRoute,
    ) -> bool {
        if rp.origin == self.me {
            let other = Key { path_id: DisjointPath::sibling(rp.to.path_id), ..rp.to };
            let direct = self.table.valid(now, other).is_some_and(|route| route.path.is_empty());
            return !(direct && source_route.path.is_empty());
        }
        let Some(place) = source_route.path.iter().position(|node| *node == self.me) else {
            return false;
        };
        if self.is_on_sibling(now, rp.to.path_id, [rp.origin, rp.to.node]) {
            return false;
        }
        let back = Key { node: rp.origin, path_id: rp.to.path_id };
        let news = News {
            seq: source_route.origin_seq,
            hops: place as u32 + 1,
            next: source_route.before(self.me, rp.origin),
            expires: now + p.active_route_timeout,
        };
        self.table.learn(now, back, news, &[]);
        true
    }
}
