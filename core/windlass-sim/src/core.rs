//! State that all parts of a simulation share: the time, the pending events, the packets, the links
//! and the hosts.
//!
//! Queues with a discipline, radios and routers are separate, and receive this state as an
//! argument. This module does not depend on them. [`Simulation`](crate::Simulation) hands packets
//! from one part to the next.

use windlass_cc::Time;
use windlass_tcp::Profile;
use windlass_tcp::mptcp::MultipathProfile;
use windlass_tcp::segment::Codepoint;

use crate::event_queue::EventQueue;
use crate::evidence::{Backlog, Evidence, Fate, Incident, SentTimes};
use crate::host::{Host, Kind};
use crate::link::{Link, Offer};
use crate::packet::{Body, PacketBuffer, PacketHandle, PathPacket};
use crate::packet_log::PacketLog;
use crate::results::{PacketEvent, PacketFate};
use crate::route::RouteTable;
use crate::session::SessionEnd;

/// First entity number of each kind of entity. The order is: link directions, hosts, queues with a
/// discipline, radios, routers of the radios, lines after links, and radios of links. Events carry these numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entities {
    hosts: u32,
    queues: u32,
    radios: u32,
    meshes: u32,
    lines: u32,
    gates: u32,
}

/// An entity: its kind, and its number within the kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entity {
    Link(u32),
    Host(u32),
    Queue(u32),
    Radio(u32),
    Mesh(u32),
    Line(u32),
    Gate(u32),
}

impl Entities {
    pub(crate) fn new(
        directions: usize,
        hosts: usize,
        queues: usize,
        radios: usize,
        lines: usize,
    ) -> Entities {
        let hosts_from = directions as u32;
        let queues_from = hosts_from + hosts as u32;
        let radios_from = queues_from + queues as u32;
        let meshes_from = radios_from + radios as u32;
        let lines_from = meshes_from + radios as u32;
        Entities {
            hosts: hosts_from,
            queues: queues_from,
            radios: radios_from,
            meshes: meshes_from,
            lines: lines_from,
            gates: lines_from + lines as u32,
        }
    }

    #[inline(always)]
    pub(crate) fn of(self, number: u32) -> Entity {
        if number < self.hosts {
            Entity::Link(number)
        } else if number < self.queues {
            Entity::Host(number - self.hosts)
        } else if number < self.radios {
            Entity::Queue(number - self.queues)
        } else if number < self.meshes {
            Entity::Radio(number - self.radios)
        } else if number < self.lines {
            Entity::Mesh(number - self.meshes)
        } else if number < self.gates {
            Entity::Line(number - self.lines)
        } else {
            Entity::Gate(number - self.gates)
        }
    }

    #[inline(always)]
    pub(crate) fn number(self, entity: Entity) -> u32 {
        match entity {
            Entity::Link(n) => n,
            Entity::Host(n) => self.hosts + n,
            Entity::Queue(n) => self.queues + n,
            Entity::Radio(n) => self.radios + n,
            Entity::Mesh(n) => self.meshes + n,
            Entity::Line(n) => self.lines + n,
            Entity::Gate(n) => self.gates + n,
        }
    }
}

/// Packets of the whole network, for the conservation check.
#[derive(Clone, Debug, Default)]
pub(crate) struct PacketCounts {
    /// Put on a first hop.
    pub(crate) sent: u64,
    /// Arrived at their destination host.
    pub(crate) received: u64,
    /// Dropped in transit, by sending host.
    pub(crate) dropped: Vec<u64>,
}

/// Shared state; see the module.
#[derive(Clone, Debug)]
pub(crate) struct Core {
    pub(crate) now: Time,
    pub(crate) events: EventQueue,
    pub(crate) entities: Entities,
    pub(crate) links: Vec<Link>,
    pub(crate) packets: PacketBuffer,
    pub(crate) hosts: Vec<Host>,
    pub(crate) routes: RouteTable,
    /// The distinct profiles of the flows. Many flows share one profile, which then stays in the
    /// cache.
    pub(crate) profiles: Vec<Profile>,
    /// The profiles of multipath connections, in the order of the flows.
    pub(crate) multipath_profiles: Vec<MultipathProfile>,
    pub(crate) counts: PacketCounts,
    /// `None` if no link is captured.
    pub(crate) log: Option<Box<PacketLog>>,
    /// `None` if no record needs the sending times of packets.
    pub(crate) sent_times: Option<Box<SentTimes>>,
    /// `None` if no record of decisions is kept.
    pub(crate) evidence: Option<Box<Evidence>>,
}

impl Core {
    #[inline]
    pub(crate) fn schedule(&mut self, at: Time, entity: Entity) {
        self.events.schedule(at, self.entities.number(entity));
    }

    /// The profile of a host.
    pub(crate) fn profile_of(&self, host: usize) -> &Profile {
        &self.profiles[self.hosts[host].profile as usize]
    }

    /// The destination host of a packet.
    pub(crate) fn destination(&self, handle: PacketHandle) -> u32 {
        self.routes.destination(handle.hop)
    }

    /// True if the packet is a datagram of a flow.
    pub(crate) fn is_datagram(&self, handle: PacketHandle) -> bool {
        !matches!(self.packets.get(handle.id), Body::Segment(_))
    }

    /// Puts a packet on a link without a queue discipline.
    #[inline(always)]
    pub(crate) fn put_on_link(&mut self, link: u32, handle: PacketHandle) {
        match self.links[link as usize].offer(self.now, handle) {
            Offer::Accepted { starts, wake } => {
                if let Some(at) = wake {
                    self.schedule(at, Entity::Link(link));
                }
                self.log(starts, link, PacketFate::Sent, handle);
            }
            Offer::Dropped => {
                self.log(self.now, link, PacketFate::DroppedQueue, handle);
                if self.evidence.is_some() {
                    let backlog = self.drop_tail_backlog(link);
                    self.testify(Some(link), handle, Fate::QueueFull, backlog);
                }
                self.drop_packet(handle);
            }
        }
    }

    /// Takes a packet from the end of a link, whose event is at the root of the event queue; `None`
    /// if it was lost.
    #[inline(always)]
    pub(crate) fn take_off_link(&mut self, link: u32) -> Option<PacketHandle> {
        let Some((handle, lost)) = self.links[link as usize].take_arrival() else {
            self.events.finish_next();
            return None;
        };
        // The link's own entry is settled first. The packet may cause an event at the same time,
        // which must come after the link's next arrival in the order.
        match self.links[link as usize].next_arrival() {
            Some(next) => self.events.replace_next(next, link),
            None => self.events.finish_next(),
        }
        let fate = if lost { PacketFate::DroppedError } else { PacketFate::Delivered };
        self.log(self.now, link, fate, handle);
        if lost {
            self.testify(Some(link), handle, Fate::LinkError, None);
            self.drop_packet(handle);
            return None;
        }
        Some(handle)
    }

    /// Drops a packet. The drop counts for its sending host, which is the peer of its destination.
    pub(crate) fn drop_packet(&mut self, handle: PacketHandle) {
        let sender = self.destination(handle) ^ 1;
        self.counts.dropped[sender as usize] += 1;
        self.packets.remove(handle.id);
    }

    /// Drops a packet at a radio's station or router.
    pub(crate) fn drop_on_radio(&mut self, handle: PacketHandle, fate: Fate) {
        self.testify(None, handle, fate, None);
        self.drop_packet(handle);
    }

    /// Records the fate of a packet in transit.
    #[inline]
    pub(crate) fn testify(
        &mut self,
        link: Option<u32>,
        handle: PacketHandle,
        fate: Fate,
        backlog: Option<Backlog>,
    ) {
        if self.evidence.is_some() {
            self.write_evidence(link, handle, fate, backlog);
        }
    }

    #[cold]
    fn write_evidence(
        &mut self,
        link: Option<u32>,
        handle: PacketHandle,
        fate: Fate,
        backlog: Option<Backlog>,
    ) {
        let (to, path) = self.destined(handle);
        // Only the ports of a multipath end belong to another host.
        let owned = to != self.destination(handle);
        let segment = self.packets.get(handle.id).segment();
        let sent = self.sent_times.as_ref().map_or(Time::ZERO, |times| times.of(handle.id));
        let Some(evidence) = &mut self.evidence else { return };
        evidence.incidents.push(Incident {
            time: self.now,
            sent,
            link,
            flow: to / 2,
            forward: to % 2 == 1,
            path: path.filter(|_| owned).map(|packet| packet.path),
            segment,
            fate,
            backlog,
        });
    }

    /// The packets that wait for a link without a queue discipline, which has just refused a
    /// packet.
    #[cold]
    fn drop_tail_backlog(&mut self, link: u32) -> Option<Backlog> {
        let mut evidence = self.evidence.take()?;
        let line = &self.links[link as usize];
        let (packets, bytes) = line.refused_at();
        let tally = evidence.tally(link);
        let known = tally.leave(line.accepted() - packets);
        line.refused_for(known).for_each(|handle| tally.enter(self.destined(handle).0 / 2));
        let backlog = evidence.refused(link, packets, bytes);
        self.evidence = Some(evidence);
        Some(backlog)
    }

    /// The host that owns a packet's destination, and the path data if the packet belongs to a
    /// multipath flow.
    pub(crate) fn destined(&self, handle: PacketHandle) -> (u32, Option<PathPacket>) {
        let port = self.destination(handle);
        match self.hosts[port as usize].kind {
            Kind::Port { owner, .. } => (owner, self.packets.path(handle.id)),
            Kind::External { owner, .. } => (owner, None),
            Kind::Session(_) => (port, self.packets.path(handle.id)),
            _ => (port, None),
        }
    }

    /// The next packet that a host sends now, on the first hop of its route, and true if no other packet follows. The
    /// caller repeats the call until then, or until it returns `None`.
    #[inline(always)]
    pub(crate) fn next_packet(&mut self, host: u32) -> Option<(PacketHandle, bool)> {
        let Host { route, profile, kind, .. } = &mut self.hosts[host as usize];
        match kind {
            Kind::Tcp { endpoint, .. } => {
                let profile = &self.profiles[*profile as usize];
                let segment = endpoint.poll_transmit(profile, self.now)?;
                let id = self.packets.insert(Body::Segment(segment));
                let handle = PacketHandle { id, size: segment.ip_len(), hop: *route };
                Some((handle, endpoint.is_drained()))
            }
            _ => self.next_other_packet(host).map(|handle| (handle, false)),
        }
    }

    #[inline(never)]
    fn next_other_packet(&mut self, host: u32) -> Option<PacketHandle> {
        let Host { route, profile, kind, .. } = &mut self.hosts[host as usize];
        match kind {
            Kind::DatagramSource(source) => {
                let (len, size) = source.poll(self.now)?;
                let id = self.packets.insert(Body::Datagram { len, ecn: Codepoint::NotEct });
                Some(PacketHandle { id, size, hop: *route })
            }
            Kind::CoapClient(client) => {
                let (message, size) = client.poll(self.now)?;
                let id = self.packets.insert(Body::Coap(message));
                Some(PacketHandle { id, size, hop: *route })
            }
            Kind::CoapServer(server) => {
                let (message, size) = server.poll()?;
                let id = self.packets.insert(Body::Coap(message));
                Some(PacketHandle { id, size, hop: *route })
            }
            Kind::MediaSource(source) => {
                let (packet, size) = source.poll(self.now)?;
                let id = self.packets.insert(Body::Media(packet));
                Some(PacketHandle { id, size, hop: *route })
            }
            Kind::MediaSink(sink) => {
                let (packet, size) = sink.poll(self.now)?;
                let id = self.packets.insert(Body::Media(packet));
                Some(PacketHandle { id, size, hop: *route })
            }
            Kind::Session(end) => {
                let profile = &self.profiles[*profile as usize];
                let (port, segment) = end.next_segment(self.now, profile)?;
                // Each connection has its own port.
                let path = PathPacket { path: 0, attempt: port, option: None };
                let id = self.packets.insert_multipath(segment, path);
                Some(PacketHandle { id, size: segment.ip_len(), hop: *route })
            }
            Kind::Multipath(end) => {
                end.next_packet(&self.multipath_profiles, self.now, &mut self.packets)
            }
            _ => None,
        }
    }

    /// Delivers a packet to an end with successive connections.
    #[inline(never)]
    pub(crate) fn deliver_to_session(&mut self, host: u32, id: u32) {
        let port = self.packets.path(id).map_or(0, |packet| packet.attempt);
        let Body::Segment(segment) = *self.packets.get(id) else { return };
        let now = self.now;
        self.with_session(host, |end, profile| end.receive(now, profile, port, &segment));
    }

    /// Handles the deadline of an end with successive connections.
    #[inline(never)]
    pub(crate) fn wake_session(&mut self, host: u32) {
        let now = self.now;
        self.with_session(host, |end, profile| end.wake(now, profile));
    }

    /// Serves an end with successive connections, and hands the contents of its streams to the
    /// peer.
    fn with_session(&mut self, host: u32, serve: impl FnOnce(&mut SessionEnd, &Profile)) {
        let Host { profile, kind, .. } = &mut self.hosts[host as usize];
        let Kind::Session(end) = kind else { return };
        serve(end, &self.profiles[*profile as usize]);
        let written = end.take_written();
        if let Kind::Session(peer) = &mut self.hosts[host as usize ^ 1].kind {
            written.into_iter().for_each(|(number, item)| peer.expect(number, item));
        }
    }

    /// Schedules the host's timer. Timers are lazy: an event is added only if no earlier event is
    /// pending.
    #[inline]
    pub(crate) fn arm(&mut self, host: u32) {
        if let Some(at) = self.hosts[host as usize].arm(self.now) {
            self.schedule(at, Entity::Host(host));
        }
    }

    /// Like [`arm`](Core::arm), while the host's last event is still at the root of the event queue.
    pub(crate) fn rearm(&mut self, host: u32) {
        match self.hosts[host as usize].arm(self.now) {
            Some(at) => self.events.replace_next(at, self.entities.number(Entity::Host(host))),
            None => self.events.finish_next(),
        }
    }

    /// Logs an event of a packet on a link.
    #[inline]
    pub(crate) fn log(&mut self, time: Time, link: u32, fate: PacketFate, handle: PacketHandle) {
        if self.log.is_some() {
            self.write_log(time, link, fate, handle);
        }
    }

    #[cold]
    fn write_log(&mut self, time: Time, link: u32, fate: PacketFate, handle: PacketHandle) {
        // If a line follows the link, a packet is delivered at the end of the line.
        let goes_on = self.log.as_ref().is_some_and(|log| log.has_line(link));
        if fate != PacketFate::Delivered || !goes_on {
            self.write_log_at_end(time, link, fate, handle);
        }
    }

    /// Logs an event of a packet on a link, or at the end of the line after the link.
    pub(crate) fn write_log_at_end(
        &mut self,
        time: Time,
        link: u32,
        fate: PacketFate,
        handle: PacketHandle,
    ) {
        if self.log.is_none() {
            return;
        }
        let (to, path) = self.destined(handle);
        let has_option = self.routes.at(handle.hop).has_option();
        let quick_start = if has_option { self.packets.option(handle.id) } else { None };
        let segment = self.packets.get(handle.id).segment();
        let Some(log) = self.log.as_mut().filter(|log| log.captures(link, time)) else { return };
        let (flow, forward, ip_len) = (to / 2, to % 2 == 1, handle.size);
        log.packets.push(PacketEvent {
            time,
            link,
            flow,
            forward,
            fate,
            segment,
            ip_len,
            path,
            quick_start,
        });
    }
}
