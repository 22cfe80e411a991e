//! The event loop.

use windlass_cc::Time;
use windlass_tcp::mptcp::MultipathProfile;
use windlass_tcp::segment::IPV4_HEADER;
use windlass_tcp::wire::UDP_HEADER;
use windlass_tcp::{Endpoint, Profile, Seq};

use crate::agenda::Agenda;
use crate::app::{App, Role};
use crate::below::Sensor;
use crate::config::{Config, ConfigError, FlowConfig, ReadPolicy, Traffic};
use crate::host::{Host, Kind};
use crate::latency::Transit;
use crate::link::{Link, Offer, QueueLimit};
use crate::loss::{Errors, LossProcess};
use crate::managed::Managed;
use crate::outside::Departure;
use crate::packet::{Body, Packets, Ticket};
use crate::queue::Discipline;
use crate::quick_start::QuickStarts;
use crate::radio::network::{Hop, Radios};
use crate::random::{Purpose, Stream};
use crate::recorder::Recorder;
use crate::results::PacketFate;
use crate::routing::disjoint::{self, Circuits};
use crate::routing::{Direction, Routes};
use crate::timeline::Bins;

/// In the table of routes: the rest of the value is the host that receives the packet.
pub(crate) const DELIVER: u32 = 1 << 31;
/// In the table of routes: the rest of the value is a link with a queue discipline, by its number
/// among those.
const MANAGED: u32 = 1 << 30;
/// In the table of routes: the rest of the value is a hop over a radio.
const RADIO: u32 = 1 << 29;
/// In the table of routes: the packet carries an option of Quick-Start, and the rest of the value is
/// what else stands here. All others, which are less, are link directions as they are.
pub(crate) const QUICK: u32 = 1 << 28;

/// A network in the course of a run.
///
/// Entities of the agenda are the link directions, then the hosts, then the queue disciplines, then
/// the radios, then the routers of these; flow `i` has the hosts `2i` (which sends the data) and `2i + 1`. The hosts of all
/// flows are followed by two for each subflow, its ports: see [`crate::multipath`].
#[derive(Clone, Debug)]
pub struct Simulation {
    pub(crate) now: Time,
    pub(crate) agenda: Agenda,
    pub(crate) links: Vec<Link>,
    /// Queues that stand before links.
    pub(crate) managed: Vec<Managed>,
    pub(crate) radios: Radios,
    pub(crate) packets: Packets,
    pub(crate) hosts: Vec<Host>,
    /// The different profiles of the flows: many flows share one, which then stays in the cache.
    pub(crate) profiles: Vec<Profile>,
    /// The profiles of multipath connections, each in the order of the flows.
    pub(crate) multipath_profiles: Vec<MultipathProfile>,
    /// Chains of link directions, each ended by a host with [`DELIVER`] set.
    routes: Vec<u32>,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) bins: Option<Box<Bins>>,
    /// When the interval that is running ends; never without [`Bins`].
    pub(crate) next_bin: Time,
    pub(crate) events: u64,
    pub(crate) config: Config,
    /// Packets of each host that the network dropped.
    pub(crate) dropped: Vec<u64>,
    /// Packets that reached each host, and that each host put on its first link.
    pub(crate) received: u64,
    pub(crate) emitted: u64,
    /// By host, what is watched for controllers that want it; empty if none does.
    pub(crate) sensors: Vec<Option<Box<Sensor>>>,
    /// By port, what is watched for schedulers of subflows that want it; empty if none does.
    pub(crate) path_sensors: Vec<Option<Box<Sensor>>>,
    /// Packets that have reached an end outside and wait to be taken.
    pub(crate) departures: Vec<Departure>,
    /// Delays by flow; empty unless they are measured, as is the next.
    pub(crate) transits: Vec<Transit>,
    /// When each packet in the network was sent, by its place.
    pub(crate) births: Vec<Time>,
    /// Never without a connection that asks its routers for a rate.
    pub(crate) quick: Option<Box<QuickStarts>>,
}

impl Simulation {
    /// Sets up a run at time zero.
    ///
    /// # Errors
    ///
    /// When the configuration names what does not exist, has a value outside its range or a flow
    /// between nodes that nothing joins.
    pub fn new(config: Config) -> Result<Simulation, ConfigError> {
        config.check()?;
        let managed = Managed::all(&config);
        let radios = Radios::new(&config);
        let hosts = 2 * (config.flows.len() + config.subflows());
        let entities = 2 * config.links.len() + hosts + managed.len() + 2 * radios.all.len();
        let bins = Bins::new(&config).map(Box::new);
        let mut simulation = Simulation {
            now: Time::ZERO,
            agenda: Agenda::with_capacity(2 * entities),
            links: Simulation::build_links(&config),
            managed,
            radios,
            packets: Packets::default(),
            hosts: Vec::with_capacity(hosts),
            profiles: Vec::new(),
            multipath_profiles: Vec::new(),
            routes: Vec::new(),
            recorder: Recorder::new(&config).map(Box::new),
            next_bin: bins.as_ref().map_or(Time::NEVER, |bins| bins.next),
            bins,
            events: 0,
            dropped: vec![0; hosts],
            received: 0,
            emitted: 0,
            sensors: Vec::new(),
            path_sensors: Vec::new(),
            departures: Vec::new(),
            transits: vec![
                Transit::default();
                if config.record.delays { config.flows.len() } else { 0 }
            ],
            births: Vec::new(),
            quick: QuickStarts::new(&config),
            config,
        };
        let config = &simulation.config;
        let ends = config.links.iter().map(|l| l.ends).chain(Radios::ends(config));
        let routes = Routes::new(config.nodes.len(), ends);
        for i in 0..simulation.config.flows.len() {
            simulation.add_flow(i, &routes)?;
        }
        simulation.add_ports(&routes)?;
        for host in 0..simulation.hosts.len() as u32 {
            simulation.arm(host);
        }
        simulation.start_meshes();
        simulation.place_sensors();
        for radio in 0..simulation.radios.all.len() as u32 {
            simulation.arm_radio(radio);
        }
        Ok(simulation)
    }

    fn build_links(config: &Config) -> Vec<Link> {
        let mut links = Vec::with_capacity(2 * config.links.len());
        for (i, l) in config.links.iter().enumerate() {
            for direction in 0..2 {
                let entity = (2 * i + direction) as u64;
                let loss = l.loss[direction].as_ref().map(|model| {
                    LossProcess::new(model, Stream::new(config.seed, entity, Purpose::Loss))
                });
                let errors = (loss.is_some() || !l.down.is_empty())
                    .then(|| Errors::new(loss, l.down.clone()));
                // What stands in a queue before the link does not also wait in it.
                let limit = match l.discipline {
                    Discipline::DropTail => l.queue,
                    _ => QueueLimit::Unlimited,
                };
                let mut link = Link::new(l.rate_bps, l.delay, limit, l.framing, errors);
                if let Some(quick) = l.quick_start {
                    link.measure(quick.interval);
                }
                links.push(link);
            }
        }
        links
    }

    fn add_flow(&mut self, i: usize, routes: &Routes) -> Result<(), ConfigError> {
        let flow = &self.config.flows[i];
        if let Some(multipath) = &flow.multipath {
            let (profile, roles) = (multipath.profile(), Simulation::roles(flow));
            let profile = profile.map_err(|problem| ConfigError::Invalid {
                of: format!("flow \"{}\"", flow.name),
                problem: problem.to_string(),
            })?;
            self.multipath_ends(i, profile, roles);
            return Ok(());
        }
        let host = 2 * i as u32;
        let path = routes
            .path(flow.from, flow.to)
            .filter(|p| !p.is_empty())
            .ok_or_else(|| ConfigError::NoRoute { flow: flow.name.clone() })?;
        let [sender, receiver] = Simulation::kinds(flow, self.config.seed, host);
        // What comes back takes the same links and radio hops the other way.
        let back: Vec<Direction> = path.iter().rev().map(|direction| direction ^ 1).collect();
        let circuits = disjoint::of_flow(&self.config, i);
        let forward = self.add_route(path, host + 1, &circuits);
        let backward = self.add_route(back, host, &circuits);
        let profile = self.add_profile(self.config.flows[i].profile);
        self.hosts.push(Host::new(forward, profile, sender));
        self.hosts.push(Host::new(backward, profile, receiver));
        self.add_quick_routes(host);
        Ok(())
    }

    /// Enters a host's route once more, with each entry marked, and returns where it begins.
    pub(crate) fn copy_route(&mut self, host: u32, mark: u32) -> u32 {
        let (start, from) = (self.routes.len(), self.hosts[host as usize].route as usize);
        let len = self.routes[from..].iter().take_while(|r| **r & DELIVER == 0).count() + 1;
        self.routes.extend_from_within(from..from + len);
        self.routes[start..].iter_mut().for_each(|entry| *entry |= mark);
        start as u32
    }

    pub(crate) fn add_profile(&mut self, profile: Profile) -> u32 {
        let known = self.profiles.iter().rposition(|p| *p == profile);
        let index = known.unwrap_or_else(|| {
            self.profiles.push(profile);
            self.profiles.len() - 1
        });
        index as u32
    }

    /// Enters a route to `host` into the table and returns where it begins.
    pub(crate) fn add_route(
        &mut self,
        path: Vec<Direction>,
        host: u32,
        circuits: &Circuits,
    ) -> u32 {
        let start = self.routes.len() as u32;
        for direction in path {
            let queue = self.managed.iter().position(|m| m.link == direction);
            let entry = match (self.is_radio_hop(direction), queue) {
                (Some(hop), _) => RADIO | self.radios.hop_on(hop, circuits),
                (None, Some(queue)) => MANAGED | queue as u32,
                (None, None) => direction,
            };
            self.routes.push(entry);
        }
        self.routes.push(DELIVER | host);
        start
    }

    /// The two ends of a flow.
    fn kinds(flow: &FlowConfig, seed: u64, host: u32) -> [Kind; 2] {
        if let Traffic::CbrUdp(cbr) = flow.traffic {
            return [
                Kind::DatagramSource {
                    cbr,
                    next: flow.start,
                    sent: 0,
                    pauses: flow.pauses.iter().rev().copied().collect(),
                },
                Kind::DatagramSink { bytes: 0, last: Time::ZERO },
            ];
        }
        let tcp = |end: u32, (role, read): (Role, ReadPolicy)| {
            let mut iss = Stream::new(seed, u64::from(host + end), Purpose::InitialSequence);
            let mut endpoint = Endpoint::new(&flow.profile, Seq(iss.next_u64() as u32));
            if matches!(role, Role::Receiver | Role::Server { .. }) {
                endpoint.listen();
            }
            Kind::Tcp { endpoint, app: App::of_flow(role, read, flow) }
        };
        let [sender, receiver] = Simulation::roles(flow);
        [tcp(0, sender), tcp(1, receiver)]
    }

    /// What the applications at the two ends of a flow over TCP do, and how they read.
    fn roles(flow: &FlowConfig) -> [(Role, ReadPolicy); 2] {
        let receiver = (Role::Receiver, flow.read);
        match flow.traffic {
            Traffic::Bulk { bytes } => [(Role::Sender { bytes }, ReadPolicy::Immediate), receiver],
            Traffic::CbrTcp(cbr) | Traffic::CbrUdp(cbr) => {
                [(Role::CbrSender(cbr), ReadPolicy::Immediate), receiver]
            }
            Traffic::RequestResponse { request, response, requests, think } => {
                let client = Role::Client {
                    request,
                    response,
                    left: requests,
                    think,
                    asked: Time::ZERO,
                    until: 0,
                };
                let server = Role::Server { request, response, answered: 0 };
                [(server, ReadPolicy::Immediate), (client, flow.read)]
            }
        }
    }

    /// Simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Frames put on links so far, and packets transmitted by stations of radios.
    pub fn packet_hops(&self) -> u64 {
        let on_links = self.links.iter().map(|l| l.counters.offered - l.counters.dropped_queue);
        on_links.sum::<u64>() + self.radios.packet_hops()
    }

    /// Events pending now: about one for each busy link direction and each waiting host.
    pub fn pending_events(&self) -> usize {
        self.agenda.len()
    }

    /// Processes events up to `end`, or to the configured duration if that is earlier. Returns
    /// whether anything is left to do before the configured duration.
    pub fn run_until(&mut self, end: Time) -> bool {
        let end = end.min(self.config.duration).max(self.now);
        while let Some((time, entity)) = self.agenda.next() {
            if time > end {
                self.now = end;
                return time <= self.config.duration;
            }
            if time > self.next_bin {
                self.close_bins(time);
            }
            self.now = time;
            self.events += 1;
            if (entity as usize) < self.links.len() {
                self.on_arrival(entity);
            } else {
                self.on_other_event(entity - self.links.len() as u32);
            }
        }
        self.now = end;
        false
    }

    /// Runs to the end of the configured duration, or until nothing can happen any more.
    pub fn run(&mut self) {
        self.run_until(self.config.duration);
    }

    /// A packet comes out of a link, whose event is at the root of the agenda.
    fn on_arrival(&mut self, link: u32) {
        let Some((ticket, lost)) = self.links[link as usize].take_arrival() else {
            self.agenda.finish_next();
            return;
        };
        // The link's own entry is settled first: what the packet causes may come at the same
        // time, and then it comes after the link's next arrival was scheduled.
        match self.links[link as usize].next_arrival() {
            Some(next) => self.agenda.replace_next(next, link),
            None => self.agenda.finish_next(),
        }
        let fate = if lost { PacketFate::DroppedError } else { PacketFate::Delivered };
        self.log(self.now, link, fate, ticket);
        if lost {
            self.drop_packet(ticket);
            return;
        }
        self.forward(ticket);
    }

    /// A packet has made a hop of its route and goes on.
    #[inline(always)]
    pub(crate) fn forward(&mut self, mut ticket: Ticket) {
        ticket.hop += 1;
        let next = self.routes[ticket.hop as usize];
        if next < QUICK {
            self.put_on_link(next, ticket);
        } else if next & (DELIVER | QUICK) == DELIVER {
            self.deliver(next & !DELIVER, ticket.id);
        } else {
            self.put_elsewhere(next, ticket);
        }
    }

    /// A hop that is not one over a mere link. Kept out of the way of those that are.
    #[inline(never)]
    fn put_elsewhere(&mut self, next: u32, ticket: Ticket) {
        if next & QUICK != 0 {
            self.pass_quick_start(next & !QUICK, ticket);
        } else if next & MANAGED != 0 {
            self.put_in_queue(next & !MANAGED, ticket);
        } else {
            self.put_on_radio(next & !RADIO, ticket);
        }
    }

    fn put_on_link(&mut self, link: u32, ticket: Ticket) {
        match self.links[link as usize].offer(self.now, ticket) {
            Offer::Accepted { starts, wake } => {
                if let Some(at) = wake {
                    self.agenda.schedule(at, link);
                }
                self.log(starts, link, PacketFate::Sent, ticket);
            }
            Offer::Dropped => {
                self.log(self.now, link, PacketFate::DroppedQueue, ticket);
                self.drop_packet(ticket);
            }
        }
    }

    /// A host hands a packet to the first hop of its route, which begins at `hop`.
    fn emit(&mut self, hop: u32, size: u32, body: Body) {
        let id = self.packets.insert(body);
        self.launch(hop, size, id);
    }

    /// Puts a packet that is among [`Packets`] on the first hop of the route that begins at `hop`.
    pub(crate) fn launch(&mut self, hop: u32, size: u32, id: u32) {
        self.emitted += 1;
        if !self.transits.is_empty() {
            self.note_birth(id);
        }
        self.put_on_hop(self.routes[hop as usize], Ticket { id, size, hop });
    }

    /// Puts a packet on a hop that does not lead to a host.
    #[inline(always)]
    pub(crate) fn put_on_hop(&mut self, entry: u32, ticket: Ticket) {
        if entry < QUICK {
            self.put_on_link(entry, ticket);
        } else {
            self.put_elsewhere(entry, ticket);
        }
    }

    /// Where a packet is, in the table of routes.
    pub(crate) fn entry(&self, ticket: Ticket) -> u32 {
        self.routes[ticket.hop as usize]
    }

    /// The link direction of an entry in the table of routes, if it is one.
    pub(crate) fn link_of(&self, entry: u32) -> Option<Direction> {
        match entry & !QUICK {
            r if r & MANAGED != 0 => Some(self.managed[(r & !MANAGED) as usize].link),
            r if r < QUICK => Some(r),
            _ => None,
        }
    }

    /// The hop over a radio that a packet is making.
    pub(crate) fn radio_entry(&self, ticket: Ticket) -> u32 {
        self.routes[ticket.hop as usize] & !(RADIO | QUICK)
    }

    /// The profile of a host.
    pub(crate) fn profile_of(&self, host: usize) -> &Profile {
        &self.profiles[self.hosts[host].profile as usize]
    }

    /// The hops of a host's route: link directions, and hops over radios.
    pub(crate) fn route_of(&self, host: usize) -> impl Iterator<Item = Result<Direction, Hop>> {
        let rest = &self.routes[self.hosts[host].route as usize..];
        rest.iter().take_while(|r| **r & DELIVER == 0).map(|&r| match r {
            r if r & MANAGED != 0 => Ok(self.managed[(r & !MANAGED) as usize].link),
            r if r & RADIO != 0 => Err(self.radios.hop(r & !RADIO)),
            r => Ok(r),
        })
    }

    /// The host that a packet is on its way to.
    pub(crate) fn destination(&self, ticket: Ticket) -> u32 {
        let rest = &self.routes[ticket.hop as usize..];
        rest.iter().find(|r| **r & DELIVER != 0).map_or(0, |r| r & !(DELIVER | QUICK))
    }

    /// A packet was dropped: it counts against the host that sent it, the peer of the one that
    /// it was meant for.
    pub(crate) fn drop_packet(&mut self, ticket: Ticket) {
        let sender = self.destination(ticket) ^ 1;
        self.dropped[sender as usize] += 1;
        self.packets.remove(ticket.id);
    }

    #[inline]
    pub(crate) fn log(&mut self, time: Time, link: u32, fate: PacketFate, ticket: Ticket) {
        if self.recorder.is_some() {
            self.log_captured(time, link, fate, ticket);
        }
    }

    pub(crate) fn deliver(&mut self, host: u32, id: u32) {
        self.received += 1;
        if !self.transits.is_empty() {
            self.note_arrival(host, id);
        }
        if !self.sensors.is_empty() {
            self.tell_below(host);
        }
        let Host { profile, kind, .. } = &mut self.hosts[host as usize];
        let profile = &self.profiles[*profile as usize];
        match (kind, self.packets.get(id)) {
            (Kind::Tcp { endpoint, app }, Body::Segment(segment)) => {
                endpoint.on_segment(profile, self.now, segment);
                app.act(profile, self.now, endpoint);
            }
            (Kind::DatagramSink { bytes, last }, Body::Datagram { len }) => {
                *bytes += u64::from(*len);
                *last = self.now;
            }
            (Kind::Port { owner, path }, _) => {
                let (owner, path) = (*owner, *path);
                return self.deliver_to_port(owner, path, id);
            }
            (Kind::Outside(_), body) => {
                self.departures.push(Departure { time: self.now, host, id, body: *body });
            }
            _ => {}
        }
        // Freed before the answer is sent, which then takes its place.
        self.packets.remove(id);
        self.flush(host);
    }

    /// An event of a host, a queue or a radio, at the root of the agenda, is due.
    fn on_other_event(&mut self, entity: u32) {
        self.agenda.finish_next();
        let (hosts, queues) = (self.hosts.len() as u32, self.managed.len() as u32);
        if entity < hosts {
            self.on_host_event(entity);
        } else if entity - hosts < queues {
            self.on_transmitted(entity - hosts);
        } else if entity - hosts - queues < self.radios.all.len() as u32 {
            self.on_radio_event(entity - hosts - queues);
        } else {
            self.on_mesh_event(entity - hosts - queues - self.radios.all.len() as u32);
        }
    }

    fn on_host_event(&mut self, host: u32) {
        if !self.hosts[host as usize].disarm(self.now) {
            return; // an earlier event took its place
        }
        if !self.sensors.is_empty() {
            self.tell_below(host);
        }
        let Host { profile, kind, .. } = &mut self.hosts[host as usize];
        let profile = &self.profiles[*profile as usize];
        match kind {
            Kind::Tcp { endpoint, app } => {
                endpoint.on_deadline(profile, self.now);
                app.act(profile, self.now, endpoint);
            }
            Kind::DatagramSource { .. } => self.send_datagram(host),
            Kind::Multipath(_) => self.wake_multipath(host),
            Kind::DatagramSink { .. } | Kind::Port { .. } | Kind::Outside(_) => {}
        }
        self.flush(host);
    }

    fn send_datagram(&mut self, host: u32) {
        let Host { route, kind, .. } = &mut self.hosts[host as usize];
        let Kind::DatagramSource { cbr, next, sent, pauses } = kind else { return };
        if self.now < *next {
            return;
        }
        if self.now >= cbr.stop {
            *next = Time::NEVER;
            return;
        }
        while let Some([_, until]) = pauses.pop_if(|[from, _]| *from <= self.now) {
            *next = until;
            if self.now < until {
                return;
            }
        }
        *next = self.now + cbr.interval;
        *sent += 1;
        let len = cbr.packet as u32;
        let hop = *route;
        self.emit(hop, IPV4_HEADER + UDP_HEADER + len, Body::Datagram { len });
    }

    /// Sends what a host has to say, records it, and sees that it is woken in time.
    pub(crate) fn flush(&mut self, host: u32) {
        if self.quick.is_some() {
            self.flush_quick_start(host);
        }
        loop {
            let Host { route, profile, kind, .. } = &mut self.hosts[host as usize];
            let Kind::Tcp { endpoint, .. } = kind else { break };
            let profile = &self.profiles[*profile as usize];
            let Some(segment) = endpoint.poll_transmit(profile, self.now) else { break };
            let hop = *route;
            self.emit(hop, segment.ip_len(), Body::Segment(segment));
        }
        if let Some(recorder) = &mut self.recorder
            && let Host { profile, kind: Kind::Tcp { endpoint, app }, .. } =
                &self.hosts[host as usize]
        {
            if host.is_multiple_of(2) {
                let profile = &self.profiles[*profile as usize];
                recorder.sender(self.now, host / 2, profile, endpoint);
            } else {
                recorder.receiver(self.now, host / 2, endpoint, app.delivered);
            }
        }
        self.arm(host);
    }

    /// Timers are lazy: an event is added only if none is pending early enough.
    #[inline]
    pub(crate) fn arm(&mut self, host: u32) {
        if let Some(at) = self.hosts[host as usize].arm(self.now) {
            self.agenda.schedule(at, self.links.len() as u32 + host);
        }
    }
}
