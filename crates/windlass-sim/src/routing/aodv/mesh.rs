//! Routers as part of a network: packets between stations that are not neighbours, messages on the
//! air, books and results.

use std::collections::VecDeque;

use windlass_cc::{Span, Time};

use super::params::DATA_TTL;
use super::results::{Counters, RouteResult, RoutingResult};
use super::router::{Action, Router};
use super::{Aodv, AodvParams, Key, Message};
use crate::agenda::Agenda;
use crate::packet::Ticket;
use crate::radio::mac::Outcome;
use crate::random::{Purpose, Stream};
use crate::simulation::Simulation;

/// In a ticket, in place of a position in the table of routes: the packet is a message, and its
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
    agenda: Agenda,
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
            agenda: Agenda::with_capacity(2 * stations),
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
    pub(crate) fn books_close(&self) -> bool {
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

    fn made(&mut self, ticket: Ticket) -> &mut u8 {
        let id = ticket.id as usize;
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
            self.agenda.schedule(at, station);
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
                circuit: key.circuit,
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
    radio: u32,
    from: u32,
    key: Key,
}

impl Simulation {
    fn mesh(&mut self, radio: u32) -> Option<&mut Mesh> {
        self.radios.meshes[radio as usize].as_deref_mut()
    }

    /// The stretch over a radio that a data packet is on.
    fn leg(&self, ticket: Ticket) -> Leg {
        let hop = self.radio_hop(ticket);
        Leg { radio: hop.radio, from: hop.from, key: Key { node: hop.to, circuit: hop.circuit } }
    }

    fn is_off(&self, radio: u32, station: u32) -> bool {
        self.radios.all[radio as usize].stations[station as usize].is_off()
    }

    /// A data packet is handed to a station for a neighbour.
    fn offer(&mut self, radio: u32, at: u32, to: u32, ticket: Ticket) {
        let user = self.user_of(radio, ticket);
        if !self.radios.all[radio as usize].offer_for(self.now, at, to, ticket, user) {
            self.drop_packet(ticket);
        }
    }

    /// A data packet is at a station, `from` a neighbour or just arrived on the radio, and goes on
    /// towards the end of its stretch.
    pub(crate) fn route(&mut self, at: u32, from: Option<u32>, ticket: Ticket) {
        let (leg, now) = (self.leg(ticket), self.now);
        if self.is_off(leg.radio, at) {
            self.offer(leg.radio, at, leg.key.node, ticket); // which the station's account sees
            return;
        }
        let Some(mesh) = self.radios.meshes[leg.radio as usize].as_deref_mut() else { return };
        let router = &mut mesh.routers[at as usize];
        let next = router.next_hop(&mesh.params, now, leg.key, leg.from, from);
        match (next, from) {
            (Some(next), _) => {
                if from.is_none() {
                    *mesh.made(ticket) = 0;
                    mesh.want(leg.key);
                }
                self.offer(leg.radio, at, next, ticket);
            }
            (None, None) => {
                router.seek(&mesh.params, now, leg.key, ticket);
                *mesh.made(ticket) = 0;
                mesh.want(leg.key);
                self.carry_out(leg.radio, at);
            }
            (None, Some(from)) => {
                router.refuse(&mesh.params, now, leg.key, from);
                router.counters.drops_on_way += 1;
                self.drop_packet(ticket);
                self.carry_out(leg.radio, at);
            }
        }
        self.arm_mesh(leg.radio);
    }

    /// What has happened on a radio whose packets find their own way.
    pub(crate) fn on_mesh_outcome(&mut self, radio: u32, outcome: Outcome) {
        let now = self.now;
        match outcome {
            Outcome::Delivered { from, to, ticket } if ticket.hop == CONTROL => {
                if let Some(mesh) = self.mesh(radio) {
                    mesh.control.done += 1;
                    self.hear(radio, from, to, ticket.id);
                }
                self.forget(radio, ticket.id);
            }
            Outcome::Delivered { from, to, ticket } => self.on_mesh_hop(radio, from, to, ticket),
            Outcome::Heard { from, at, ticket } => self.hear(radio, from, at, ticket.id),
            Outcome::Broadcast { ticket, .. } => {
                if let Some(mesh) = self.mesh(radio) {
                    mesh.control.done += 1;
                    mesh.messages.fade(now, ticket.id);
                }
            }
            Outcome::GaveUp { from, to, ticket, taken } => {
                match (ticket.hop == CONTROL, taken) {
                    (_, true) => {}
                    (false, false) => self.drop_packet(ticket),
                    (true, false) => {
                        if let Some(mesh) = self.mesh(radio) {
                            mesh.control.drops_retry += 1;
                        }
                        self.forget(radio, ticket.id);
                    }
                }
                let Some(mesh) = self.mesh(radio) else { return };
                mesh.routers[from as usize].link_failed(&mesh.params, now, to);
                self.carry_out(radio, from);
            }
            Outcome::Lost { ticket, .. } if ticket.hop == CONTROL => {
                if let Some(mesh) = self.mesh(radio) {
                    mesh.control.drops_off += 1;
                }
                self.forget(radio, ticket.id);
            }
            Outcome::Lost { ticket, .. } => self.drop_packet(ticket),
        }
    }

    fn forget(&mut self, radio: u32, id: u32) {
        if let Some(mesh) = self.mesh(radio) {
            mesh.messages.remove(id);
        }
    }

    /// A station has received a message.
    fn hear(&mut self, radio: u32, from: u32, at: u32, id: u32) {
        let now = self.now;
        let Some(mesh) = self.mesh(radio) else { return };
        let message = &mesh.messages.places[id as usize];
        mesh.routers[at as usize].receive(&mesh.params, now, from, message);
        self.carry_out(radio, at);
    }

    /// A data packet has made a hop.
    fn on_mesh_hop(&mut self, radio: u32, from: u32, to: u32, ticket: Ticket) {
        let (leg, now) = (self.leg(ticket), self.now);
        let Some(mesh) = self.mesh(radio) else { return };
        mesh.routers[to as usize].alive(&mesh.params, now, from);
        // Its acknowledgement is a sign of life too.
        mesh.routers[from as usize].alive(&mesh.params, now, to);
        let made = mesh.made(ticket);
        *made += 1;
        let hops = *made;
        if leg.key.node == to {
            mesh.hops[usize::from(hops)] += 1;
            self.forward(ticket);
        } else if u32::from(hops) >= DATA_TTL {
            mesh.routers[to as usize].counters.drops_ttl += 1;
            self.drop_packet(ticket);
        } else {
            self.route(to, Some(from), ticket);
        }
    }

    /// Does what a router wants done.
    fn carry_out(&mut self, radio: u32, station: u32) {
        let now = self.now;
        let Some(mesh) = self.mesh(radio) else { return };
        let mut actions = std::mem::take(&mut mesh.routers[station as usize].actions);
        for action in actions.drain(..) {
            match action {
                Action::Send { to, message } => self.send_message(radio, station, to, message),
                Action::Forward { ticket, next } => self.offer(radio, station, next, ticket),
                Action::Drop { ticket } => self.drop_packet(ticket),
            }
        }
        let Some(mesh) = self.mesh(radio) else { return };
        mesh.routers[station as usize].actions = actions; // its room is used again
        mesh.wake(station, now);
        self.arm_mesh(radio);
    }

    fn send_message(&mut self, radio: u32, station: u32, to: u32, message: Message) {
        let now = self.now;
        if self.is_off(radio, station) {
            return;
        }
        let Some(mesh) = self.mesh(radio) else { return };
        let size = message.bytes();
        let id = mesh.messages.insert(now, message);
        mesh.control.packets += 1;
        mesh.control.bytes += u64::from(size);
        let ticket = Ticket { id, size, hop: CONTROL };
        if !self.radios.all[radio as usize].offer(now, station, to, ticket) {
            let Some(mesh) = self.mesh(radio) else { return };
            mesh.control.drops_queue += 1;
            mesh.messages.remove(id);
        }
    }

    /// The event of a mesh.
    #[inline(never)]
    pub(crate) fn on_mesh_event(&mut self, radio: u32) {
        let now = self.now;
        let Some(mesh) = self.mesh(radio).filter(|mesh| mesh.event == now) else { return };
        mesh.event = Time::NEVER;
        while let Some((_, station)) =
            self.mesh(radio).and_then(|m| m.agenda.next()).filter(|(at, _)| *at <= now)
        {
            let Some(mesh) = self.radios.meshes[radio as usize].as_deref_mut() else { return };
            mesh.agenda.finish_next();
            if mesh.armed[station as usize] <= now {
                mesh.armed[station as usize] = Time::NEVER;
                let router = &mut mesh.routers[station as usize];
                match self.radios.all[radio as usize].stations[station as usize].is_off() {
                    true => router.switch_off(),
                    false => router.on_deadline(&mesh.params, now),
                }
                self.carry_out(radio, station);
            }
        }
        self.arm_radio(radio);
        self.arm_mesh(radio);
    }

    /// Sees that the network wakes a mesh in time.
    pub(crate) fn arm_mesh(&mut self, radio: u32) {
        let before = self.links.len() + self.hosts.len() + self.managed.len();
        let entity = (before + self.radios.all.len()) as u32 + radio;
        let Some(mesh) = self.radios.meshes[radio as usize].as_deref_mut() else { return };
        if let Some((at, _)) = mesh.agenda.next().filter(|(at, _)| *at < mesh.event) {
            mesh.event = at;
            self.agenda.schedule(at, entity);
        }
    }

    /// At the start: routers that do something by themselves.
    pub(crate) fn start_meshes(&mut self) {
        for radio in 0..self.radios.all.len() as u32 {
            let Some(mesh) = self.mesh(radio) else { continue };
            for station in 0..mesh.routers.len() as u32 {
                mesh.wake(station, Time::ZERO);
            }
            self.arm_mesh(radio);
        }
    }
}
