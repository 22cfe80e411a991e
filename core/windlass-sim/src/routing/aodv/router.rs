//! AODV of a node: discoveries, timers and loss of neighbours. The processing of messages from other nodes is
//! in `receive`.

use std::collections::{BTreeMap, VecDeque};

use windlass_cc::{Span, Time};

use super::message::{MAX_LOST, Message, PathConstraint, Request};
use super::params::AodvParams;
use super::table::{Key, Lost, Table};
use super::{Counters, DisjointPath};
use crate::packet::PacketHandle;
use crate::radio::BROADCAST;
use crate::random::Stream;

/// An action that a router requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Action {
    /// Send a message to a neighbour, or to all neighbours ([`BROADCAST`]).
    Send {
        /// Receiver.
        to: u32,
        /// The message.
        message: Message,
    },
    /// Forward a data packet that waited for a route.
    Forward {
        /// The packet.
        handle: PacketHandle,
        /// The next node.
        next: u32,
    },
    /// Drop a data packet that waited for a route.
    Drop {
        /// The packet.
        handle: PacketHandle,
    },
}

/// A route discovery.
#[derive(Clone, Debug)]
pub(super) struct Discovery {
    key: Key,
    began: Time,
    /// Range of the last request, hops.
    ttl: u32,
    /// Requests that have gone through the whole network.
    tried: u32,
    /// Time of the next step.
    deadline: Time,
    /// True if the next step is a request that the rate limit delays.
    held: bool,
}

/// A data packet that waits for a route.
#[derive(Clone, Copy, Debug)]
struct Buffered {
    key: Key,
    handle: PacketHandle,
    expires: Time,
}

/// AODV of one node. It has no clock and no radio: each event comes with its time, and the router returns
/// [`Action`]s.
#[derive(Clone, Debug)]
pub struct Router {
    pub(super) me: u32,
    pub(super) seq: u32,
    request_id: u32,
    /// Routes.
    pub table: Table,
    /// Recent requests, by originator and number, with the time until which copies are ignored.
    pub(super) seen: BTreeMap<(u32, u32), Time>,
    forget: VecDeque<(Time, (u32, u32))>,
    discoveries: Vec<Discovery>,
    buffer: VecDeque<Buffered>,
    /// Broadcasts that wait for the end of their jitter.
    outbox: Vec<(Time, Message)>,
    /// Times of the last originated requests, and of the last errors.
    requests: VecDeque<Time>,
    errors: VecDeque<Time>,
    next_hello: Time,
    last_broadcast: Time,
    /// Time of the last data packet; `None` if there was no data packet.
    last_data: Option<Time>,
    /// Neighbours that have sent a HELLO, with the time at which they count as lost.
    neighbours: BTreeMap<u32, Time>,
    pub(super) stream: Stream,
    /// Requested actions, in order.
    pub actions: Vec<Action>,
    /// Totals.
    pub counters: Counters,
}

impl Router {
    /// Returns the router of station `me`, without any route.
    pub fn new(p: &AodvParams, me: u32, mut stream: Stream) -> Router {
        let next_hello = match p.detection.by_hello() {
            true => Time::ZERO + draw(&mut stream, p.hello_interval),
            false => Time::NEVER,
        };
        Router {
            me,
            // Zero would mean an unknown number.
            seq: 1,
            request_id: 0,
            table: Table::default(),
            seen: BTreeMap::new(),
            forget: VecDeque::new(),
            discoveries: Vec::new(),
            buffer: VecDeque::new(),
            outbox: Vec::new(),
            requests: VecDeque::new(),
            errors: VecDeque::new(),
            next_hello,
            last_broadcast: Time::ZERO,
            last_data: None,
            neighbours: BTreeMap::new(),
            stream,
            actions: Vec::new(),
            counters: Counters::default(),
        }
    }

    /// Index of its station.
    pub fn me(&self) -> u32 {
        self.me
    }

    /// Its sequence number.
    pub fn sequence(&self) -> u32 {
        self.seq
    }

    /// Number of data packets that wait for routes at this node.
    pub fn waiting(&self) -> u64 {
        self.buffer.len() as u64
    }

    /// Returns the next hop of a data packet; `None` without a route. The use of a route extends its
    /// lifetime, and the lifetime of the route back to the packet's source (RFC 3561 section 6.2). `from` is
    /// the neighbour that sent the packet.
    pub fn next_hop(
        &mut self,
        p: &AodvParams,
        now: Time,
        key: Key,
        source: u32,
        from: Option<u32>,
    ) -> Option<u32> {
        let expires = now + p.active_route_timeout;
        self.last_data = Some(now);
        if let Some(from) = from {
            self.table.prolong(now, Key { node: source, path_id: key.path_id }, expires);
            self.table.prolong(now, Key::shared(from), expires);
        }
        let route = self.table.valid(now, key)?;
        route.expires = route.expires.max(expires);
        let next = route.next;
        self.table.prolong(now, Key::shared(next), expires);
        Some(next)
    }

    /// Buffers a data packet of this node that has no route. Starts a discovery unless one is under way.
    pub fn seek(&mut self, p: &AodvParams, now: Time, key: Key, handle: PacketHandle) {
        self.counters.buffered += 1;
        if self.buffer.len() >= p.buffer_packets as usize
            && let Some(oldest) = self.buffer.pop_front()
        {
            self.counters.drops_buffer_full += 1;
            self.actions.push(Action::Drop { handle: oldest.handle });
        }
        self.buffer.push_back(Buffered { key, handle, expires: now + p.buffer_time });
        if self.discoveries.iter().any(|d| d.key == key) {
            return;
        }
        self.counters.discoveries += 1;
        // Section 6.4: for a destination with an old route, the first request goes a little farther than this
        // route, regardless of the threshold.
        let known = self.table.look(now, key).map_or(0, |r| r.hops);
        let first = if known > 0 { known + p.ttl_increment } else { p.ttl_start };
        let ttl = first.min(p.net_diameter);
        self.discoveries.push(Discovery {
            key,
            began: now,
            ttl,
            tried: 0,
            deadline: now,
            held: true,
        });
        self.ask(p, now, self.discoveries.len() - 1);
    }

    /// Sends the request of a discovery, or delays it because of the rate limit.
    fn ask(&mut self, p: &AodvParams, now: Time, i: usize) {
        // The nodes of the other disjoint path must be known first.
        let key = self.discoveries[i].key;
        let sibling = Key { path_id: DisjointPath::sibling(key.path_id), ..key };
        if key.path_id != 0 && self.discoveries[..i].iter().any(|d| d.key == sibling) {
            self.discoveries[i].held = true;
            self.discoveries[i].deadline = Time::NEVER;
            return;
        }
        if let Some(at) = next_allowed(&mut self.requests, p.rreq_rate_limit, now) {
            self.discoveries[i].held = true;
            self.discoveries[i].deadline = at;
            return;
        }
        let d = &mut self.discoveries[i];
        d.held = false;
        let (key, ttl) = (d.key, d.ttl);
        d.deadline = now
            + if ttl < p.net_diameter {
                p.ring_traversal_time(ttl)
            } else {
                d.tried += 1;
                // Section 6.3: binary exponential back-off.
                Span(p.net_traversal_time().0 << (d.tried - 1).min(16))
            };
        self.seq = self.seq.wrapping_add(1).max(1);
        self.request_id = self.request_id.wrapping_add(1);
        let to_seq = self.table.look(now, key).filter(|r| r.seq != 0).map(|r| r.seq);
        let constraint = (key.path_id != 0).then(|| Box::new(self.constraint(now, key)));
        self.saw(p, now, (self.me, self.request_id));
        self.counters.rreq_originated += 1;
        let request = Request {
            to: key,
            to_seq,
            origin: self.me,
            origin_seq: self.seq,
            id: self.request_id,
            hops: 0,
            ttl,
            gratuitous: p.gratuitous,
            destination_only: p.destination_only || constraint.is_some(),
            constraint,
        };
        self.broadcast(p, now, Message::Request(request));
    }

    /// Nodes that the other disjoint path between the same ends uses now.
    fn constraint(&mut self, now: Time, key: Key) -> PathConstraint {
        let sibling = Key { path_id: DisjointPath::sibling(key.path_id), ..key };
        match self.table.valid(now, sibling) {
            Some(r) => PathConstraint {
                avoid: r.path.clone(),
                avoid_direct: r.path.is_empty(),
                path: Vec::new(),
            },
            None => PathConstraint::default(),
        }
    }

    /// Records a request. Returns true if it is new; copies are ignored for a time.
    pub(super) fn saw(&mut self, p: &AodvParams, now: Time, id: (u32, u32)) -> bool {
        while let Some(&(at, old)) = self.forget.front().filter(|(at, _)| *at <= now) {
            self.forget.pop_front();
            if self.seen.get(&old) == Some(&at) {
                self.seen.remove(&old);
            }
        }
        if self.seen.contains_key(&id) {
            return false;
        }
        let until = now + p.path_discovery_time();
        self.seen.insert(id, until);
        self.forget.push_back((until, id));
        true
    }

    /// Sends a message to all neighbours, after its jitter.
    pub(super) fn broadcast(&mut self, p: &AodvParams, now: Time, message: Message) {
        let at = now + draw(&mut self.stream, p.jitter);
        self.outbox.push((at, message));
    }

    /// Ends the discoveries that have found a route, and forwards their packets.
    pub(super) fn settle(&mut self, p: &AodvParams, now: Time) {
        let mut i = 0;
        while let Some(d) = self.discoveries.get(i) {
            if self.table.valid(now, d.key).is_none() {
                i += 1;
                continue;
            }
            let d = self.end_discovery(now, i);
            self.counters.discoveries_succeeded += 1;
            self.counters.discovery_ns += now.since(d.began).0;
            self.release(p, now, d.key);
        }
    }

    /// Removes a discovery that has ended. A discovery that waits for it may continue.
    fn end_discovery(&mut self, now: Time, i: usize) -> Discovery {
        let ended = self.discoveries.remove(i);
        let waiting = self.discoveries.iter_mut().filter(|d| d.deadline == Time::NEVER);
        for d in waiting {
            d.deadline = now;
        }
        ended
    }

    fn release(&mut self, p: &AodvParams, now: Time, key: Key) {
        for b in self.take_buffered(key) {
            match self.next_hop(p, now, key, self.me, None) {
                Some(next) => self.actions.push(Action::Forward { handle: b.handle, next }),
                None => self.actions.push(Action::Drop { handle: b.handle }),
            }
        }
    }

    fn take_buffered(&mut self, key: Key) -> Vec<Buffered> {
        let of_key: Vec<Buffered> = self.buffer.iter().filter(|b| b.key == key).copied().collect();
        self.buffer.retain(|b| b.key != key);
        of_key
    }

    /// The MAC gave up a packet to a neighbour.
    pub fn link_failed(&mut self, p: &AodvParams, now: Time, neighbour: u32) {
        if p.detection.by_feedback() {
            self.lose(p, now, neighbour);
        }
    }

    fn lose(&mut self, p: &AodvParams, now: Time, neighbour: u32) {
        self.neighbours.remove(&neighbour);
        let lost = self.table.lose(now, neighbour);
        self.counters.link_breaks += u64::from(lost.routes > 0);
        self.report(p, now, lost);
    }

    /// Reports lost destinations to the precursors (section 6.11): by unicast to one precursor, by broadcast
    /// to several.
    pub(super) fn report(&mut self, p: &AodvParams, now: Time, lost: Lost) {
        for gone in lost.told.chunks(MAX_LOST) {
            if next_allowed(&mut self.errors, p.rerr_rate_limit, now).is_some() {
                self.counters.rerr_withheld += 1;
                continue;
            }
            self.counters.rerr_sent += 1;
            let message = Message::Error(gone.to_vec());
            match lost.precursors.as_slice() {
                [one] => self.actions.push(Action::Send { to: *one, message }),
                _ => self.broadcast(p, now, message),
            }
        }
    }

    /// A data packet has arrived from a neighbour, but this node has no route for it. Reports this to the
    /// neighbour.
    pub fn refuse(&mut self, p: &AodvParams, now: Time, key: Key, from: u32) {
        let seq = self.table.void_seq(now, key);
        let lost = Lost { routes: 0, told: vec![(key, seq)], precursors: vec![from] };
        self.report(p, now, lost);
    }

    /// A frame of a neighbour has arrived. If the neighbour has sent a HELLO before, its loss timer restarts.
    pub fn alive(&mut self, p: &AodvParams, now: Time, neighbour: u32) {
        if let Some(until) = self.neighbours.get_mut(&neighbour) {
            *until = now + p.hello_life();
        }
    }

    /// A HELLO of a neighbour has arrived. From now on, the neighbour counts as lost if it is silent.
    pub(super) fn greet(&mut self, p: &AodvParams, now: Time, neighbour: u32) {
        if p.detection.by_hello() {
            self.neighbours.insert(neighbour, now + p.hello_life());
        }
    }

    /// The station has been switched off permanently.
    pub fn switch_off(&mut self) {
        for b in self.buffer.drain(..) {
            self.counters.drops_off += 1;
            self.actions.push(Action::Drop { handle: b.handle });
        }
        self.discoveries.clear();
        self.outbox.clear();
        self.neighbours.clear();
        self.next_hello = Time::NEVER;
    }

    /// Time of the router's next event.
    pub fn deadline(&self) -> Time {
        let outbox = self.outbox.iter().map(|(at, _)| *at);
        let searches = self.discoveries.iter().map(|d| d.deadline);
        let buffer = self.buffer.front().map(|b| b.expires);
        let neighbours = self.neighbours.values().copied();
        let all = outbox.chain(searches).chain(buffer).chain(neighbours);
        all.fold(self.next_hello, Time::min)
    }

    /// Handles all events that are due.
    pub fn on_deadline(&mut self, p: &AodvParams, now: Time) {
        self.send_outbox(now);
        while let Some(b) = self.buffer.front().filter(|b| b.expires <= now) {
            self.actions.push(Action::Drop { handle: b.handle });
            self.counters.drops_buffer_time += 1;
            self.buffer.pop_front();
        }
        self.search_on(p, now);
        let silent: Vec<u32> =
            self.neighbours.iter().filter(|(_, until)| **until <= now).map(|(n, _)| *n).collect();
        for neighbour in silent {
            self.lose(p, now, neighbour);
        }
        if self.next_hello <= now {
            self.greet_all(p, now);
        }
    }

    fn send_outbox(&mut self, now: Time) {
        let mut i = 0;
        while i < self.outbox.len() {
            if self.outbox[i].0 > now {
                i += 1;
                continue;
            }
            let (_, message) = self.outbox.remove(i);
            self.last_broadcast = now;
            self.actions.push(Action::Send { to: BROADCAST, message });
        }
    }

    /// Continues the discoveries whose wait is over: a larger range, a retry, or the end.
    fn search_on(&mut self, p: &AodvParams, now: Time) {
        let mut i = 0;
        while let Some(d) = self.discoveries.get_mut(i) {
            if d.deadline > now {
                i += 1;
                continue;
            }
            if !d.held && d.ttl >= p.net_diameter && d.tried > p.rreq_retries {
                let key = self.end_discovery(now, i).key;
                self.counters.discoveries_failed += 1;
                for b in self.take_buffered(key) {
                    self.counters.drops_no_route += 1;
                    self.actions.push(Action::Drop { handle: b.handle });
                }
                continue;
            }
            if !d.held {
                d.ttl = ring(p, d.ttl + p.ttl_increment);
            }
            self.ask(p, now, i);
            i += 1;
        }
    }

    /// Sends a HELLO (section 6.9) if this node is part of an active route and has broadcast no message
    /// within the interval.
    fn greet_all(&mut self, p: &AodvParams, now: Time) {
        self.next_hello = now + p.hello_interval;
        let active = self.last_data.is_some_and(|at| now.since(at) < p.active_route_timeout);
        let silent = now.since(self.last_broadcast) >= p.hello_interval;
        if silent && (active || p.hello_always) {
            self.counters.hello_sent += 1;
            let message = Message::Hello { seq: self.seq };
            self.last_broadcast = now;
            self.actions.push(Action::Send { to: BROADCAST, message });
        }
    }
}

/// Range of a request in the expanding ring: above the threshold, it is the diameter (section 6.4).
fn ring(p: &AodvParams, ttl: u32) -> u32 {
    if ttl > p.ttl_threshold { p.net_diameter } else { ttl.min(p.net_diameter) }
}

/// Returns `None` and records a message if the limit of `limit` per second allows it now. Otherwise returns
/// the time at which it is allowed.
fn next_allowed(sent: &mut VecDeque<Time>, limit: u32, now: Time) -> Option<Time> {
    const SECOND: Span = Span::from_secs(1);
    while sent.front().is_some_and(|at| *at + SECOND <= now) {
        sent.pop_front();
    }
    if sent.len() >= limit as usize {
        return sent.front().map(|at| *at + SECOND);
    }
    sent.push_back(now);
    None
}

/// Draws a time uniformly from zero up to `most`.
fn draw(stream: &mut Stream, most: Span) -> Span {
    let bits = stream.next_u64() >> 32;
    // At most an hour, so that the product does not overflow 128 bits and the quotient does not overflow 64.
    Span(((u128::from(bits) * (u128::from(most.0) + 1)) >> 32) as u64)
}
