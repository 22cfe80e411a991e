//! Builds a network at time zero from a configuration.

use windlass_tcp::mptcp::MultipathProfile;
use windlass_tcp::{Endpoint, Profile, Seq};

use windlass_cc::{Span, Time};

use crate::app::{App, Role};
use crate::aqm::AqmQueue;
use crate::arrivals::ArrivalProcess;
use crate::coap::{Client, Server};
use crate::config::{Config, ConfigError, FlowConfig, ReadPolicy, SubflowConfig, Traffic};
use crate::core::{Core, Entities, PacketCounts};
use crate::course::Course;
use crate::event_queue::EventQueue;
use crate::host::{DatagramSource, Host, Kind};
use crate::line::DelayLine;
use crate::link::{Link, QueueLimit};
use crate::link_radio::gate::Gate;
use crate::loss::{BurstProcess, Errors, InTime, LossProcess, StepProcess};
use crate::media;
use crate::multipath::MultipathEnd;
use crate::packet::PacketBuffer;
use crate::packet_log::PacketLog;
use crate::queue::Discipline;
use crate::quick_start::QuickStartRouters;
use crate::radio::network::Radios;
use crate::random::{Purpose, Stream};
use crate::route::{Hop, RouteTable};
use crate::routing::disjoint::{self, DisjointPaths};
use crate::routing::{Direction, Routes};
use crate::schedule::Schedule;
use crate::session::SessionEnd;

/// The parts of a network. Flow `i` has the hosts `2i` (which sends the data) and `2i + 1`. The
/// hosts of all flows precede the ports, two per subflow: see [`crate::multipath`].
pub(crate) struct Network<'a> {
    config: &'a Config,
    pub(crate) core: Core,
    pub(crate) queues: Vec<AqmQueue>,
    pub(crate) lines: Vec<DelayLine>,
    pub(crate) radios: Radios,
    pub(crate) gates: Vec<Gate>,
    /// `None` if no connection requests a rate from its routers.
    pub(crate) quick_start: Option<Box<QuickStartRouters>>,
}

impl Network<'_> {
    /// Builds the network of a checked configuration.
    pub(crate) fn new(config: &Config) -> Result<Network<'_>, ConfigError> {
        let queues = AqmQueue::all(config);
        let lines = DelayLine::all(config);
        let radios = Radios::new(config);
        let hosts = 2 * (config.flows.len() + config.subflows());
        let directions = 2 * config.links.len();
        let gates = Gate::all(config);
        let entities = directions + hosts + queues.len() + lines.len() + 2 * radios.cells.len();
        let core = Core {
            now: Time::ZERO,
            events: EventQueue::with_capacity(entities),
            entities: Entities::new(
                directions,
                hosts,
                queues.len(),
                radios.cells.len(),
                lines.len(),
            ),
            links: links(config),
            packets: PacketBuffer::default(),
            hosts: Vec::with_capacity(hosts),
            routes: RouteTable::default(),
            profiles: Vec::new(),
            multipath_profiles: Vec::new(),
            counts: PacketCounts { dropped: vec![0; hosts], ..PacketCounts::default() },
            log: PacketLog::new(config).map(Box::new),
            sent_times: (config.record.delays || config.record.decisions).then(Box::default),
            evidence: config.record.decisions.then(Box::default),
        };
        let quick_start = QuickStartRouters::new(config);
        let mut network = Network { config, core, queues, lines, radios, gates, quick_start };
        let ends = config.links.iter().map(|l| l.ends).chain(Radios::ends(config));
        let routes = Routes::new(config.nodes.len(), ends);
        for (i, flow) in config.flows.iter().enumerate() {
            match &flow.multipath {
                None => network.add_flow(i, flow, &routes)?,
                Some(multipath) => {
                    let profile = multipath.profile().map_err(|problem| of_flow(flow, problem))?;
                    network.add_multipath_ends(i, flow, profile);
                }
            }
        }
        network.add_ports(&routes)?;
        for (number, gate) in network.gates.iter().enumerate() {
            gate.schedule_cuts(&mut network.core, number as u32);
        }
        network.radios.know_users(config, &network.core.hosts);
        network.radios.know_eager(config, &network.core.hosts);
        Ok(network)
    }

    fn add_flow(
        &mut self,
        i: usize,
        flow: &FlowConfig,
        routes: &Routes,
    ) -> Result<(), ConfigError> {
        let host = 2 * i as u32;
        let path = routes
            .path(flow.from, flow.to)
            .filter(|p| !p.is_empty())
            .ok_or_else(|| ConfigError::NoRoute { flow: flow.name.clone() })?;
        let [sender, receiver] = kinds(flow, self.config.seed, host);
        let disjoint = disjoint::of_flow(self.config, i);
        let [forward, backward] = self.add_routes(&path, [host + 1, host], &disjoint);
        let profile = self.add_profile(*flow.profile);
        self.core.hosts.push(Host::new(forward, profile, sender));
        self.core.hosts.push(Host::new(backward, profile, receiver));
        if let Some(quick_start) = &mut self.quick_start
            && flow.profile.asks_routers()
        {
            for (host, route) in [(host, forward), (host + 1, backward)] {
                quick_start.add_route(host, self.core.routes.add_with_option(route));
            }
        }
        Ok(())
    }

    fn add_profile(&mut self, profile: Profile) -> u32 {
        let profiles = &mut self.core.profiles;
        let known = profiles.iter().rposition(|p| *p == profile);
        let index = known.unwrap_or_else(|| {
            profiles.push(profile);
            profiles.len() - 1
        });
        index as u32
    }

    /// Adds a route to the first of these hosts, and the reverse route, over the same links and
    /// radio hops, to the second host.
    fn add_routes(
        &mut self,
        path: &[Direction],
        [to, back_to]: [u32; 2],
        disjoint: &DisjointPaths,
    ) -> [u32; 2] {
        let forward: Vec<Hop> = path.iter().flat_map(|d| self.hops(*d, disjoint)).collect();
        let forward = self.core.routes.add(forward, to);
        let back = path.iter().rev();
        let backward: Vec<Hop> = back.flat_map(|d| self.hops(*d ^ 1, disjoint)).collect();
        [forward, self.core.routes.add(backward, back_to)]
    }

    /// The hops over a link or radio: the hop itself, and the hop through the delay line, if the
    /// link has a line.
    fn hops(&mut self, direction: Direction, disjoint: &DisjointPaths) -> Vec<Hop> {
        let line = self.lines.iter().position(|line| line.link == direction);
        let line = line.map(|line| Hop::line(line as u32));
        std::iter::once(self.hop(direction, disjoint)).chain(line).collect()
    }

    /// The hop of a direction. Directions above the link directions are hops over radios.
    fn hop(&mut self, direction: Direction, disjoint: &DisjointPaths) -> Hop {
        let queue = self.queues.iter().position(|queue| queue.link == direction);
        let gates = self.gates.iter().enumerate();
        let mut ways = gates.flat_map(|(i, gate)| (2 * i as u32..).zip(gate.queues()));
        if let Some((number, _)) = ways.find(|(_, queue)| queue.link == direction) {
            return Hop::gate(number);
        }
        match (self.radio_hop(direction), queue) {
            (Some(hop), _) => Hop::radio(self.radios.hop_on(hop, disjoint)),
            (None, Some(queue)) => Hop::queue(queue as u32),
            (None, None) => Hop::link(direction),
        }
    }

    fn radio_hop(&self, direction: Direction) -> Option<u32> {
        (direction as usize).checked_sub(self.core.links.len()).map(|hop| hop as u32)
    }

    /// Adds the two ends of a multipath flow.
    fn add_multipath_ends(&mut self, i: usize, flow: &FlowConfig, profile: MultipathProfile) {
        let place = self.core.multipath_profiles.len() as u32;
        // The host needs a profile index, but a multipath end does not use it.
        let own = self.add_profile(*flow.profile);
        for (end, (role, read)) in (0..).zip(roles(flow, self.config.seed, 2 * i as u32)) {
            let host = 2 * i as u64 + end;
            let seed = Stream::new(self.config.seed, host, Purpose::Multipath).next_u64();
            let mut end = MultipathEnd::new(&profile, seed, role, read, flow);
            (end.profile, end.track) = (place, self.config.track(i) as u32);
            self.core.hosts.push(Host::new(0, own, Kind::Multipath(Box::new(end))));
        }
        self.core.multipath_profiles.push(profile);
    }

    /// Adds the ports of all subflows, after the hosts of all flows.
    fn add_ports(&mut self, routes: &Routes) -> Result<(), ConfigError> {
        for (i, flow) in self.config.flows.iter().enumerate() {
            let Some(multipath) = &flow.multipath else { continue };
            let ways = multipath.subflows.iter().map(|s| way(flow, s, routes));
            let ways: Vec<Vec<Direction>> = ways.collect::<Result<_, _>>()?;
            let hop = |direction| Some(self.radios.hop(self.radio_hop(direction)?));
            let disjoint = disjoint::of_subflows(self.config, i, &ways, hop)
                .map_err(|problem| of_flow(flow, &problem))?;
            for (path, (way, disjoint)) in (0..).zip(ways.into_iter().zip(&disjoint)) {
                self.add_path(2 * i as u32, path, &way, disjoint);
            }
        }
        Ok(())
    }

    /// Adds a path between the hosts `owner` and `owner + 1`.
    fn add_path(&mut self, owner: u32, path: u32, way: &[Direction], disjoint: &DisjointPaths) {
        let port = self.core.hosts.len() as u32;
        let profile = self.core.hosts[owner as usize].profile;
        let routes = self.add_routes(way, [port + 1, port], disjoint);
        for (end, route) in (0..).zip(routes) {
            let kind = Kind::Port { owner: owner + end, path };
            self.core.hosts.push(Host::new(route, profile, kind));
            if let Kind::Multipath(end_of) = &mut self.core.hosts[(owner + end) as usize].kind {
                end_of.add_path(route, port + end);
            }
        }
    }
}

fn of_flow(flow: &FlowConfig, problem: &str) -> ConfigError {
    ConfigError::Invalid { of: format!("flow \"{}\"", flow.name), problem: problem.to_string() }
}

fn links(config: &Config) -> Vec<Link> {
    let mut links = Vec::with_capacity(2 * config.links.len());
    for (i, l) in config.links.iter().enumerate() {
        for direction in 0..2 {
            let entity = (2 * i + direction) as u64;
            let loss = l.loss[direction].as_ref().map(|model| {
                LossProcess::new(model, Stream::new(config.seed, entity, Purpose::Loss))
            });
            let in_time = in_time(&l.course[direction], config.seed, entity);
            let errors = (loss.is_some() || in_time.is_some() || !l.down.is_empty())
                .then(|| Errors::new(loss, l.down.clone()).over_time(in_time));
            // With a queue discipline or a radio, packets wait in the queue in front of the link, and not in
            // the link.
            let own = l.direction(direction);
            let course = &l.course[direction];
            let limit = match own.discipline {
                Discipline::DropTail if l.radio.is_none() => own.queue,
                _ => QueueLimit::Unlimited,
            };
            // The delay line of a link delays the packets that leave the link.
            let delay = if course.has_line() { Span::ZERO } else { own.delay };
            let mut link = Link::new(own.rate_bps, delay, limit, l.framing, errors);
            if let Some(rate) = &course.rate {
                link.follow(Schedule::new(rate));
            }
            if let Some(quick) = l.quick_start {
                link.measure(quick.interval);
            }
            links.push(link);
        }
    }
    links
}

/// The losses over time of a link direction.
fn in_time(course: &Course, seed: u64, entity: u64) -> Option<InTime> {
    let bursts = course.bursts.as_ref();
    let bursts = bursts.map(|bursts| InTime::Bursts(BurstProcess::new(bursts, seed, entity)));
    let steps = || Some(InTime::Steps(StepProcess::new(course.loss.as_ref()?, seed, entity)));
    bursts.or_else(steps)
}

/// The two ends of a flow.
fn kinds(flow: &FlowConfig, seed: u64, host: u32) -> [Kind; 2] {
    if let Traffic::CbrUdp(cbr) = flow.traffic {
        let source = DatagramSource::new(cbr, flow.start, &flow.pauses, seed, host);
        return [Kind::DatagramSource(source), Kind::DatagramSink { bytes: 0, last: Time::ZERO }];
    }
    if let Traffic::Coap(coap) = flow.traffic {
        let stream = Stream::new(seed, u64::from(host), Purpose::Coap);
        return [
            Kind::CoapClient(Box::new(Client::new(coap, flow.start, stream))),
            Kind::CoapServer(Box::new(Server::new(coap, flow.start))),
        ];
    }
    if let Traffic::Media(media) = flow.traffic {
        let source = media::Source::new(media, flow.start);
        return [Kind::MediaSource(source.into()), Kind::MediaSink(media::Sink::default().into())];
    }
    if let Traffic::Sessions(sessions) = &flow.traffic {
        let end = |end: u32| {
            let end = SessionEnd::new(sessions, end as usize, flow.start, seed, host + end);
            Kind::Session(Box::new(end))
        };
        return [end(0), end(1)];
    }
    let tcp = |end: u32, (role, read): (Role, ReadPolicy)| {
        let mut iss = Stream::new(seed, u64::from(host + end), Purpose::InitialSequence);
        let mut endpoint = Endpoint::new(&flow.profile, Seq(iss.next_u64() as u32));
        if role.listens() {
            endpoint.listen();
        }
        Kind::Tcp { endpoint, app: App::of_flow(role, read, flow) }
    };
    let [sender, receiver] = roles(flow, seed, host);
    [tcp(0, sender), tcp(1, receiver)]
}

/// Roles and reading policies of the applications at the two ends of a TCP flow.
fn roles(flow: &FlowConfig, seed: u64, host: u32) -> [(Role, ReadPolicy); 2] {
    let receiver = (Role::Receiver, flow.read);
    match flow.traffic {
        Traffic::Custom(ref application) => {
            let stream = |end| Stream::new(seed, u64::from(host + end), Purpose::Application);
            let ends = application.start(flow.start, [0, 1].map(stream));
            ends.map(|end| (Role::Custom(end), flow.read))
        }
        Traffic::Bulk { bytes } => [(Role::Sender { bytes }, ReadPolicy::Immediate), receiver],
        // These flows have no such applications.
        Traffic::Coap(_) | Traffic::Media(_) | Traffic::Sessions(_) => {
            [(Role::Receiver, flow.read), receiver]
        }
        Traffic::CbrTcp(cbr) | Traffic::CbrUdp(cbr) => {
            [(Role::CbrSender(cbr), ReadPolicy::Immediate), receiver]
        }
        Traffic::Messages(arrivals) => {
            let process = ArrivalProcess::new(arrivals, flow.start);
            [(Role::Messages(Box::new(process)), ReadPolicy::Immediate), receiver]
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

/// The path of a subflow from its flow's `from` to its `to`.
fn way(
    flow: &FlowConfig,
    subflow: &SubflowConfig,
    routes: &Routes,
) -> Result<Vec<Direction>, ConfigError> {
    let ends = [&[flow.from], subflow.via.as_slice(), &[flow.to]].concat();
    routes
        .through(&ends)
        .filter(|way| !way.is_empty())
        .ok_or_else(|| ConfigError::NoRoute { flow: format!("{}:{}", flow.name, subflow.name) })
}
