//! Processing of messages from other nodes (RFC 3561 sections 6.5 to 6.7, 6.9 and 6.11).

use windlass_cc::{Span, Time};

use super::message::{Message, PathConstraint, Reply, Request, SourceRoute};
use super::params::AodvParams;
use super::router::{Action, Router};
use super::table::{Key, News, newer};

impl Router {
    /// Processes a message from a neighbour.
    pub fn receive(&mut self, p: &AodvParams, now: Time, from: u32, message: &Message) {
        self.alive(p, now, from);
        match message {
            Message::Request(request) => {
                self.table.hear(now, from, now + p.active_route_timeout);
                self.on_request(p, now, from, request);
            }
            Message::Reply(reply) => {
                self.table.hear(now, from, now + p.active_route_timeout);
                self.on_reply(p, now, from, reply);
            }
            Message::Hello { seq } => self.on_hello(p, now, from, *seq),
            Message::Error(gone) => {
                let lost = self.table.lose_some(now, from, gone);
                self.report(p, now, lost);
            }
        }
        self.settle(p, now);
    }

    fn on_hello(&mut self, p: &AodvParams, now: Time, from: u32, seq: u32) {
        let (key, expires) = (Key::shared(from), now + p.hello_life());
        self.table.hear(now, from, expires);
        self.table.learn(now, key, News { seq, hops: 1, next: from, expires }, &[]);
        self.table.prolong(now, key, expires);
        self.greet(p, now, from);
    }

    fn on_request(&mut self, p: &AodvParams, now: Time, from: u32, rq: &Request) {
        if !self.takes_part(now, rq, from) || !self.saw(p, now, (rq.origin, rq.id)) {
            return;
        }
        let back = Key { node: rq.origin, path_id: rq.to.path_id };
        let hops = rq.hops + 1;
        let path = rq.constraint.as_ref().map_or(&[][..], |d| &d.path);
        // A node becomes part of a disjoint path only by the reply.
        if rq.constraint.is_none() || rq.to.node == self.me {
            // MinimalLifetime, section 6.5.
            let spent = 2 * u64::from(hops) * p.node_traversal_time.0;
            let least = now + Span((2 * p.net_traversal_time().0).saturating_sub(spent));
            let news = News { seq: rq.origin_seq, hops, next: from, expires: least };
            self.table.learn(now, back, news, path);
            self.table.prolong(now, back, least);
        }
        if rq.to.node == self.me {
            self.answer(p, now, from, rq);
        } else if !self.answer_for(now, rq, back) && rq.ttl > 1 {
            self.pass_on(p, now, rq, hops);
        }
    }

    /// The destination answers (section 6.6.1).
    fn answer(&mut self, p: &AodvParams, now: Time, from: u32, rq: &Request) {
        if let Some(seq) = rq.to_seq.filter(|seq| newer(*seq, self.seq)) {
            self.seq = seq;
        }
        let source_route =
            |d: &PathConstraint| SourceRoute { origin_seq: rq.origin_seq, path: d.path.clone() };
        let reply = Reply {
            to: rq.to,
            seq: self.seq,
            origin: rq.origin,
            hops: 0,
            lifetime: if rq.constraint.is_some() {
                // An unused route must not block the other disjoint path for long.
                p.my_route_timeout.min(p.active_route_timeout)
            } else {
                p.my_route_timeout
            },
            source_route: rq.constraint.as_ref().map(|d| Box::new(source_route(d))),
        };
        if reply.source_route.is_some() {
            self.counters.rrep_originated += 1;
            self.actions.push(Action::Send { to: from, message: Message::Reply(reply) });
            return;
        }
        self.send_reply(now, Key { node: rq.origin, path_id: 0 }, reply);
    }

    /// Answers in place of the destination if this node has a fresh route (section 6.6.2). Returns true if it
    /// answered.
    fn answer_for(&mut self, now: Time, rq: &Request, back: Key) -> bool {
        if rq.destination_only {
            return false;
        }
        let fresh = |seq: u32| rq.to_seq.is_none_or(|asked| !newer(asked, seq));
        let Some(route) = self.table.valid(now, rq.to).filter(|r| r.seq_known && fresh(r.seq))
        else {
            return false;
        };
        let reply = Reply {
            to: rq.to,
            seq: route.seq,
            origin: rq.origin,
            hops: route.hops,
            lifetime: route.expires.since(now),
            source_route: None,
        };
        let onward = route.next;
        let Some(home) = self.table.valid(now, back) else { return false };
        let (homeward, hops, lifetime) = (home.next, home.hops, home.expires.since(now));
        self.table.add_precursor(now, rq.to, homeward);
        self.table.add_precursor(now, back, onward);
        self.send_reply(now, back, reply);
        if rq.gratuitous {
            // Section 6.6.3: the reply is the same as if the destination had requested the originator.
            let gratuitous = Reply {
                to: back,
                seq: rq.origin_seq,
                origin: rq.to.node,
                hops,
                lifetime,
                source_route: None,
            };
            self.counters.rrep_gratuitous += 1;
            self.counters.rrep_originated += 1;
            self.actions.push(Action::Send { to: onward, message: Message::Reply(gratuitous) });
        }
        true
    }

    fn send_reply(&mut self, now: Time, back: Key, reply: Reply) {
        if let Some(route) = self.table.valid(now, back) {
            let to = route.next;
            self.counters.rrep_originated += 1;
            self.actions.push(Action::Send { to, message: Message::Reply(reply) });
        }
    }

    fn pass_on(&mut self, p: &AodvParams, now: Time, rq: &Request, hops: u32) {
        let mut rq = Request { hops, ttl: rq.ttl - 1, ..rq.clone() };
        // Use the newest sequence number of the nodes on the path.
        if let Some(seq) = self.table.look(now, rq.to).map(|r| r.seq).filter(|seq| *seq != 0) {
            let old = rq.to_seq.is_none_or(|asked| newer(seq, asked));
            rq.to_seq = if old { Some(seq) } else { rq.to_seq };
        }
        if let Some(constraint) = &mut rq.constraint {
            constraint.path.push(self.me);
        }
        self.counters.rreq_forwarded += 1;
        self.broadcast(p, now, Message::Request(rq));
    }

    fn on_reply(&mut self, p: &AodvParams, now: Time, from: u32, rp: &Reply) {
        if rp.to.node == self.me {
            return;
        }
        let news = News { seq: rp.seq, hops: rp.hops + 1, next: from, expires: now + rp.lifetime };
        let source_route = rp.source_route.as_deref();
        if let Some(source_route) = source_route
            && !self.joins_path(p, now, rp, source_route)
        {
            return;
        }
        let better = self.table.learn(now, rp.to, news, source_route.map_or(&[], |c| &c.path));
        if rp.origin == self.me {
            return;
        }
        // Section 6.7 forwards a reply only if it changed a route. If only the destination answers and this
        // node already has the route, the originator would receive no reply. In this case, the node forwards
        // its own route.
        let asked_all = source_route.is_some() || p.destination_only;
        let Some(route) = self.table.valid(now, rp.to).filter(|r| r.seq_known) else { return };
        if !better && (!asked_all || newer(rp.seq, route.seq)) {
            return;
        }
        let (seq, hops, lifetime) = (route.seq, route.hops, route.expires.since(now));
        let onward = route.next;
        let back = Key { node: rp.origin, path_id: rp.to.path_id };
        self.table.prolong(now, back, now + p.active_route_timeout);
        let along = source_route.map(|c| c.before(self.me, rp.origin));
        let Some(homeward) = along.or_else(|| Some(self.table.valid(now, back)?.next)) else {
            return;
        };
        self.table.add_precursor(now, rp.to, homeward);
        self.table.add_precursor(now, Key::shared(onward), homeward);
        self.table.add_precursor(now, back, onward);
        self.counters.rrep_forwarded += 1;
        let reply = Reply { seq, hops, lifetime, ..rp.clone() };
        self.actions.push(Action::Send { to: homeward, message: Message::Reply(reply) });
    }
}
