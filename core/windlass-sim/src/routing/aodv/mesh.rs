//! Routers as part of a network: packets between stations that are not neighbours, messages on the air,
//! packet conservation and results.

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

/// Value of a handle's hop that marks a routing message. The handle's number is then an index in
/// [`Messages`].
pub(crate) const CONTROL: u32 = u32::MAX;
/// Time after the end of a broadcast until which stations may receive it: 2800 km of propagation.
const LATEST: Span = Span::from_millis(10);

/// Messages in stations and on the air.
#[derive(Clone, Debug, Default)]
struct Messages {
    places: Vec<Message>,
    free: Vec<u32>,
    /// Transmitted broadcasts that may still arrive at stations.
    fading: VecDeque<(Time, u32)>,
    /// Number of messages in stations.
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

    /// A message has left its station and is no longer needed.
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
    /// Number of hops of each data packet, by its index among the network's packets.
    made: Vec<u8>,
    events: EventQueue,
    /// Time of each router's earliest event.
    armed: Vec<Time>,
    /// Time of the network's event for this mesh.
    event: Time,
    hops: Vec<u64>,
    control: Control,
    /// Destinations of data packets.
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
    /// Returns the routers of a radio with `stations` stations; `index` is its index among the network's
    /// radios.
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

    /// Number of data packets that wait for routes.
    pub(crate) fn waiting(&self) -> u64 {
        self.routers.iter().map(Router::waiting).sum()
    }

    /// Number of messages in stations.
    pub(crate) fn control_inside(&self) -> u64 {
        self.messages.inside
    }

    /// Number of messages that stations have dropped.
    pub(crate) fn control_dropped(&self) -> u64 {
        self.control.dropped()
    }

    /// Number of data packets that routers have dropped.
    pub(crate) fn dropped(&self) -> u64 {
        self.routers.iter().map(|r| r.counters.drops()).sum()
    }

    /// True if every message is accounted for.
    pub(crate) fn conserves_packets(&self) -> bool {
        let c = &self.control;
        c.packets == c.done + c.dropped() + self.messages.inside
    }

    /// Describes the account of messages, for the report of an imbalance.
    pub(crate) fn account(&self) -> String {
        format!("{:?}, {} inside", self.control, self.messages.inside)
    }

    /// Hops of the valid route of a station, if any.
    pub(crate) fn route_hops(&self, now: Time, station: u32, key: Key) -> Option<u32> {
        self.routers[station as usize].table.peek(now, key).map(|r| r.hops)
    }

    /// Next hop of the valid route of a station, if any.
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

    /// Schedules an event of a station's router, if it is earlier than the scheduled one.
    fn wake(&mut self, station: u32, now: Time) {
        let at = self.routers[station as usize].deadline();
        if at < self.armed[station as usize] {
            let at = at.max(now);
            self.armed[station as usize] = at;
            self.events.schedule(at, station);
        }
    }

    /// Totals up to `now`.
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

/// Source and destination of a data packet on the radio.
#[derive(Clone, Copy)]
struct Leg {
    from: u32,
    key: Key,
}

/// Context of the routers of a radio: the network and the radio.
pub(crate) struct Air<'a> {
    /// Index of the radio among the network's radios.
    pub(crate) number: u32,
    pub(crate) core: &'a mut Core,
    pub(crate) radio: &'a mut Radio,
    /// See [`Cell`](crate::radio::network::Cell).
    pub(crate) users: &'a [u32],
    pub(crate) hops: &'a [RadioHop],
}

impl Air<'_> {
    /// Hands a data packet to a station for a neighbour.
    pub(crate) fn offer(&mut self, at: u32, to: u32, handle: PacketHandle) {
        let user = match self.users {
            [] => NOBODY,
            users => users[self.core.destination(handle) as usize ^ 1],
        };
        let saved = match self.radio.saved(false) {
            // No packet can be shortened, so this packet need not be checked.
            0 => 0,
            spared if self.core.is_datagram(handle) => spared,
            _ => 0,
        };
        if !self.radio.offer_for(self.core.now, at, to, handle, user, saved) {
            self.core.drop_on_radio(handle, Fate::StationRefused);
        }
    }

    /// Returns the hop over the radio that a data packet makes.
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
    /// Routes a data packet at a station towards its destination on the radio. `from` is the previous
    /// station; `None` if the packet enters the radio here.
    pub(crate) fn route(
        &mut self,
        air: &mut Air,
        at: u32,
        from: Option<u32>,
        handle: PacketHandle,
    ) {
        let (leg, now) = (air.leg(handle), air.core.now);
        if air.is_off(at) {
            air.offer(at, leg.key.node, handle); // counted in the station's account
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

    /// Handles an outcome of the radio. Returns the data packet if it has crossed the radio and continues on
    /// its route.
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

    /// Handles the hop of a data packet. Returns the packet if it has reached its destination on this radio.
    fn on_hop(
        &mut self,
        air: &mut Air,
        from: u32,
        to: u32,
        handle: PacketHandle,
    ) -> Option<PacketHandle> {
        let (leg, now) = (air.leg(handle), air.core.now);
        self.routers[to as usize].alive(&self.params, now, from);
        // The acknowledgement of the packet shows that the receiver is present too.
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

    /// Carries out the actions of a router.
    fn carry_out(&mut self, air: &mut Air, station: u32) {
        let mut actions = std::mem::take(&mut self.routers[station as usize].actions);
        for action in actions.drain(..) {
            match action {
                Action::Send { to, message } => self.send_message(air, station, to, message),
                Action::Forward { handle, next } => air.offer(station, next, handle),
                Action::Drop { handle } => air.core.drop_on_radio(handle, Fate::NoRoute),
            }
        }
        self.routers[station as usize].actions = actions; // keeps the allocated memory
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

    /// Handles the event of the routers. Returns false if the event is obsolete.
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

    /// Schedules the network's event for the routers, if it is earlier than the scheduled one.
    pub(crate) fn arm(&mut self, core: &mut Core, number: u32) {
        if let Some((at, _)) = self.events.next().filter(|(at, _)| *at < self.event) {
            self.event = at;
            core.schedule(at, Entity::Mesh(number));
        }
    }

    /// Schedules the first events of the routers.
    pub(crate) fn start(&mut self, core: &mut Core, number: u32) {
        for station in 0..self.routers.len() as u32 {
            self.wake(station, Time::ZERO);
        }
        self.arm(core, number);
    }
}
