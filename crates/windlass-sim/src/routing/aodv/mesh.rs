//! Routers as part of a network: packets between stations that are not neighbours, messages on the
//! air, packet conservation and results.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use super::params::DATA_TTL;
use super::results::{Counters, RouteResult, RoutingResult};
use super::router::{Action, Router};
use super::{Aodv, AodvParams, Key, Message};
use crate::core::{Core, Entity};
use crate::event_queue::EventQueue;
use crate::evidence::Fate;
use crate::packet::PacketHandle;
use crate::radio::mac::{Outcome, Radio};
use crate::radio::scheduling::NOBODY;
use crate::random::{Purpose, Stream};
use crate::route::{RadioHop, Step};

/// In a handle, in place of a position in the table of routes: the packet is a message, and its
/// number a place among [`Messages`].
pub(crate) const CONTROL: u32 = u32::MAX;
/// Those in range hear a broadcast until this long after its end: 2800 km of flight.
const LATEST: Span = Span::from_millis(10);

/// Messages in stations and on the air.
#[derive(Clone, Debug, Default)]
struct Messages {
    places: Vec<Message>,
    free: Vec<u32>,
    /// Broadcasts that have been transmitted and are still being heard.
    fading: VecDeque<(Time, u32)>,
    /// In stations.
    inside: u64,
}

impl Messages {
    fn insert(&mut self, now: Time, message: Message) -> u32 {
        while let Some(&(_, id)) = self.fading.front().filter(|(until, _)| *until < now) {
            self.fading.pop_front();
            self.free.push(id);
        }
        self.inside += 1;
        if let Some(id) = self.free.pop() {
            self.places[id as usize] = message;
            return id;
        }
        self.places.push(message);
        self.places.len() as u32 - 1
    }

    /// A message has left its station and nobody will ask for it any more.
    fn remove(&mut self, id: u32) {
        self.inside -= 1;
        self.free.push(id);
    }

    /// A broadcast has left its station.
    fn fade(&mut self, now: Time, id: u32) {
        self.inside -= 1;
        self.fading.push_back((now + LATEST, id));
    }
}

/// The routers of a radio.
#[derive(Clone, Debug)]
pub(crate) struct Mesh {
    params: AodvParams,
    routers: Vec<Router>,
    messages: Messages,
    /// Hops that each data packet has made, by its place among the network's packets.
    made: Vec<u8>,
    events: EventQueue,
    /// When each router's earliest event is due.
    armed: Vec<Time>,
    /// When the network's event for this mesh is due.
    event: Time,
    hops: Vec<u64>,
    control: Control,
    /// Keys that data were sent to.
    wanted: Vec<Key>,
}

/// Totals of messages as packets.
#[derive(Clone, Copy, Debug, Default)]
struct Control {
    packets: u64,
    bytes: u64,
    done: u64,
    drops_queue: u64,
    drops_retry: u64,
    drops_off: u64,
}

impl Control {
    fn dropped(&self) -> u64 {
        self.drops_queue + self.drops_retry + self.drops_off
    }
}

impl Mesh {
    /// The routers of a radio with so many stations; `index` is its place among the network's.
    pub(crate) fn new(aodv: &Aodv, stations: usize, seed: u64, index: usize) -> Mesh {
        let router = |i: u32| {
            let entity = (index as u64) << 32 | u64::from(i);
            Router::new(&aodv.params, i, Stream::new(seed, entity, Purpose::Routing))
        };
        Mesh {
            params: aodv.params,
            routers: (0..stations as u32).map(router).collect(),
            messages: Messages::default(),
            made: Vec::new(),
            events: EventQueue::with_capacity(2 * stations),
            armed: vec![Time::NEVER; stations],
            event: Time::NEVER,
            hops: vec![0; DATA_TTL as usize + 1],
            control: Control::default(),
            wanted: Vec::new(),
        }
    }

    /// Data packets that wait for routes.
    pub(crate) fn waiting(&self) -> u64 {
        self.routers.iter().map(Router::waiting).sum()
    }

    /// Messages held by stations.
    pub(crate) fn control_inside(&self) -> u64 {
        self.messages.inside
    }

    /// Messages that stations have dropped.
    pub(crate) fn control_dropped(&self) -> u64 {
        self.control.dropped()
    }

    /// Data packets that routers have dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.routers.iter().map(|r| r.counters.drops()).sum()
    }

    /// Whether every message is accounted for.
    pub(crate) fn conserves_packets(&self) -> bool {
        let c = &self.control;
        c.packets == c.done + c.dropped() + self.messages.inside
    }

    /// The account of messages, for whoever finds it open.
    pub(crate) fn account(&self) -> String {
        format!("{:?}, {} inside", self.control, self.messages.inside)
    }

    /// Hops of the valid route of a station, if there is one.
    pub(crate) fn route_hops(&self, now: Time, station: u32, key: Key) -> Option<u32> {
        self.routers[station as usize].table.peek(now, key).map(|r| r.hops)
    }

    /// The next hop of the valid route of a station, if there is one.
    pub(crate) fn next_of(&self, now: Time, station: u32, key: Key) -> Option<u32> {
        self.routers[station as usize].table.peek(now, key).map(|r| r.next)
    }

    fn made(&mut self, handle: PacketHandle) -> &mut u8 {
        let id = handle.id as usize;
        if id >= self.made.len() {
            self.made.resize(id + 1, 0);
        }
        &mut self.made[id]
    }

    fn want(&mut self, key: Key) {
        if !self.wanted.contains(&key) {
            self.wanted.push(key);
        }
    }

    /// A station's router may have something to do earlier than before.
    fn wake(&mut self, station: u32, now: Time) {
        let at = self.routers[station as usize].deadline();
        if at < self.armed[station as usize] {
            let at = at.max(now);
            self.armed[station as usize] = at;
            self.events.schedule(at, station);
        }
    }

    /// The totals up to the end.
    pub(crate) fn result(&self, now: Time) -> RoutingResult {
        let mut c = Counters::default();
        for router in &self.routers {
            c.add(&router.counters);
        }
        let mean = c.discovery_ns as f64 / c.discoveries_succeeded.max(1) as f64;
        let most = self.hops.iter().rposition(|n| *n > 0).map_or(0, |i| i + 1);
        RoutingResult {
            rreq_originated: c.rreq_originated,
            rreq_forwarded: c.rreq_forwarded,
            rrep_originated: c.rrep_originated,
            rrep_gratuitous: c.rrep_gratuitous,
            rrep_forwarded: c.rrep_forwarded,
            rerr_sent: c.rerr_sent,
            rerr_withheld: c.rerr_withheld,
            hello_sent: c.hello_sent,
            control_packets: self.control.packets,
            control_bytes: self.control.bytes,
            control_drops_queue: self.control.drops_queue,
            control_drops_retry: self.control.drops_retry,
            control_drops_off: self.control.drops_off,
            discoveries: c.discoveries,
            discoveries_succeeded: c.discoveries_succeeded,
            discoveries_failed: c.discoveries_failed,
            mean_discovery_ms: mean / 1e6,
            link_breaks: c.link_breaks,
            buffered: c.buffered,
            buffered_at_end: self.waiting(),
            drops_buffer_full: c.drops_buffer_full,
            drops_buffer_time: c.drops_buffer_time,
            drops_no_route: c.drops_no_route,
            drops_off: c.drops_off,
            drops_on_way: c.drops_on_way,
            drops_ttl: c.drops_ttl,
            crossed: self.hops.iter().sum(),
            hops: self.hops[..most].to_vec(),
            routes: self.routes(now),
        }
    }

    fn routes(&self, now: Time) -> Vec<RouteResult> {
        let of_router = |router: &Router| {
            let valid = router.table.entries().filter(|(key, route)| {
                self.wanted.contains(key) && route.valid && route.expires > now
            });
            let routes = valid.map(|(key, route)| RouteResult {
                station: router.me(),
                to: key.node,
                circuit: key.path_id,
                next: route.next,
                hops: route.hops,
            });
            routes.collect::<Vec<_>>()
        };
        self.routers.iter().flat_map(of_router).collect()
    }
}

/// Where a data packet is, and where it has to get to.
#[derive(Clone, Copy)]
struct Leg {
    from: u32,
    key: Key,
}

/// What is around the routers of a radio: the network, and the radio itself.
pub(crate) struct Air<'a> {
    /// The radio's number among the network's.
    pub(crate) number: u32,
    pub(crate) core: &'a mut Core,
    pub(crate) radio: &'a mut Radio,
    /// See [`Cell`](crate::radio::network::Cell).
    pub(crate) users: &'a [u32],
    pub(crate) hops: &'a [RadioHop],
}

impl Air<'_> {
    /// A data packet is handed to a station for a neighbour.
    pub(crate) fn offer(&mut self, at: u32, to: u32, handle: PacketHandle) {
        let user = match self.users {
            [] => NOBODY,
            users => users[self.core.destination(handle) as usize ^ 1],
        };
        let saved = match self.radio.saved(false) {
            // Whose packets are all alike need not look at this one.
            0 => 0,
            spared if self.core.is_datagram(handle) => spared,
            _ => 0,
        };
        if !self.radio.offer_for(self.core.now, at, to, handle, user, saved) {
            self.core.drop_on_radio(handle, Fate::StationRefused);
        }
    }

    /// The stretch over the radio that a data packet is on.
    fn leg(&self, handle: PacketHandle) -> Leg {
        match self.core.routes.at(handle.hop).plain().step() {
            Step::Radio(hop) => {
                let RadioHop { from, to, path_id, .. } = self.hops[hop as usize];
                Leg { from, key: Key { node: to, path_id } }
            }
            _ => unreachable!("a packet on a radio is on a hop over it"),
        }
    }

    fn is_off(&self, station: u32) -> bool {
        self.radio.stations[station as usize].is_off()
    }
}

impl Mesh {
    /// A data packet is at a station, `from` a neighbour or just arrived on the radio, and goes on
    /// towards the end of its stretch.
    pub(crate) fn route(
        &mut self,
        air: &mut Air,
        at: u32,
        from: Option<u32>,
        handle: PacketHandle,
    ) {
        let (leg, now) = (air.leg(handle), air.core.now);
        if air.is_off(at) {
            air.offer(at, leg.key.node, handle); // which the station's account sees
            return;
        }
        let router = &mut self.routers[at as usize];
        let next = router.next_hop(&self.params, now, leg.key, leg.from, from);
        match (next, from) {
            (Some(next), _) => {
                if from.is_none() {
                    *self.made(handle) = 0;
                    self.want(leg.key);
                }
                air.offer(at, next, handle);
            }
            (None, None) => {
                router.seek(&self.params, now, leg.key, handle);
                *self.made(handle) = 0;
                self.want(leg.key);
                self.carry_out(air, at);
            }
            (None, Some(from)) => {
                router.refuse(&self.params, now, leg.key, from);
                router.counters.drops_on_way += 1;
                air.core.drop_on_radio(handle, Fate::NoRoute);
                self.carry_out(air, at);
            }
        }
        self.arm(air.core, air.number);
    }

    /// Something has happened on the radio. Returns the data packet that has crossed it and goes on.
    pub(crate) fn on_outcome(&mut self, air: &mut Air, outcome: Outcome) -> Option<PacketHandle> {
        let now = air.core.now;
        match outcome {
            Outcome::Delivered { from, to, handle } if handle.hop == CONTROL => {
                self.control.done += 1;
                self.hear(air, from, to, handle.id);
                self.messages.remove(handle.id);
            }
            Outcome::Delivered { from, to, handle } => return self.on_hop(air, from, to, handle),
            Outcome::Heard { from, at, handle } => self.hear(air, from, at, handle.id),
            Outcome::Broadcast { handle, .. } => {
                self.control.done += 1;
                self.messages.fade(now, handle.id);
            }
            Outcome::GaveUp { from, to, handle, taken } => {
                match (handle.hop == CONTROL, taken) {
                    (_, true) => {}
                    (false, false) => air.core.drop_on_radio(handle, Fate::RetryLimit),
                    (true, false) => {
                        self.control.drops_retry += 1;
                        self.messages.remove(handle.id);
                    }
                }
                self.routers[from as usize].link_failed(&self.params, now, to);
                self.carry_out(air, from);
            }
            Outcome::Lost { handle, .. } if handle.hop == CONTROL => {
                self.control.drops_off += 1;
                self.messages.remove(handle.id);
            }
            Outcome::Lost { handle, .. } => air.core.drop_on_radio(handle, Fate::StationOff),
        }
        None
    }

    /// A station has received a message.
    fn hear(&mut self, air: &mut Air, from: u32, at: u32, id: u32) {
        let message = &self.messages.places[id as usize];
        self.routers[at as usize].receive(&self.params, air.core.now, from, message);
        self.carry_out(air, at);
    }

    /// A data packet has made a hop. Returns it if that was its last on this radio.
    fn on_hop(
        &mut self,
        air: &mut Air,
        from: u32,
        to: u32,
        handle: PacketHandle,
    ) -> Option<PacketHandle> {
        let (leg, now) = (air.leg(handle), air.core.now);
        self.routers[to as usize].alive(&self.params, now, from);
        // Its acknowledgement is a sign of life too.
        self.routers[from as usize].alive(&self.params, now, to);
        let made = self.made(handle);
        *made += 1;
        let hops = *made;
        if leg.key.node == to {
            self.hops[usize::from(hops)] += 1;
            return Some(handle);
        }
        if u32::from(hops) >= DATA_TTL {
            self.routers[to as usize].counters.drops_ttl += 1;
            air.core.drop_on_radio(handle, Fate::NoRoute);
        } else {
            self.route(air, to, Some(from), handle);
        }
        None
    }

    /// Does what a router wants done.
    fn carry_out(&mut self, air: &mut Air, station: u32) {
        let mut actions = std::mem::take(&mut self.routers[station as usize].actions);
        for action in actions.drain(..) {
            match action {
                Action::Send { to, message } => self.send_message(air, station, to, message),
                Action::Forward { handle, next } => air.offer(station, next, handle),
                Action::Drop { handle } => air.core.drop_on_radio(handle, Fate::NoRoute),
            }
        }
        self.routers[station as usize].actions = actions; // its room is used again
        self.wake(station, air.core.now);
        self.arm(air.core, air.number);
    }

    fn send_message(&mut self, air: &mut Air, station: u32, to: u32, message: Message) {
        let now = air.core.now;
        if air.is_off(station) {
            return;
        }
        let size = message.bytes();
        let id = self.messages.insert(now, message);
        self.control.packets += 1;
        self.control.bytes += u64::from(size);
        let handle = PacketHandle { id, size, hop: CONTROL };
        let saved = air.radio.saved(true);
        if !air.radio.offer_for(now, station, to, handle, NOBODY, saved) {
            self.control.drops_queue += 1;
            self.messages.remove(id);
        }
    }

    /// The event of the routers, unless it is one that no longer counts: whether it was.
    pub(crate) fn on_event(&mut self, air: &mut Air) -> bool {
        let now = air.core.now;
        if self.event != now {
            return false;
        }
        self.event = Time::NEVER;
        while let Some((_, station)) = self.events.next().filter(|(at, _)| *at <= now) {
            self.events.finish_next();
            if self.armed[station as usize] <= now {
                self.armed[station as usize] = Time::NEVER;
                let router = &mut self.routers[station as usize];
                match air.is_off(station) {
                    true => router.switch_off(),
                    false => router.on_deadline(&self.params, now),
                }
                self.carry_out(air, station);
            }
        }
        true
    }

    /// Sees that the network wakes the routers in time.
    pub(crate) fn arm(&mut self, core: &mut Core, number: u32) {
        if let Some((at, _)) = self.events.next().filter(|(at, _)| *at < self.event) {
            self.event = at;
            core.schedule(at, Entity::Mesh(number));
        }
    }

    /// At the start: routers that do something by themselves.
    pub(crate) fn start(&mut self, core: &mut Core, number: u32) {
        for station in 0..self.routers.len() as u32 {
            self.wake(station, Time::ZERO);
        }
        self.arm(core, number);
    }
}
