//! Multipath connections in the network: an end owns the connection and its application, and each
//! path has a port at each end, which gives its packets a route and an account of their own.

use windlass_tcp::Segment;
use windlass_tcp::mptcp::{Connection, MultipathProfile, Outgoing};
use windlass_tcp::segment::Flags;

use crate::app::{App, Role};
use crate::config::{Config, ConfigError, FlowConfig, Multipath, ReadPolicy, SubflowConfig};
use crate::host::{Host, Kind};
use crate::packet::Body;
use crate::random::{Purpose, Stream};
use crate::results::PathPacket;
use crate::routing::disjoint::{self, Circuits};
use crate::routing::{Direction, Routes};
use crate::simulation::Simulation;

/// One end of a multipath connection.
#[derive(Clone, Debug)]
pub struct MultipathEnd {
    /// The connection.
    pub connection: Connection,
    /// The application.
    pub app: App,
    /// Whether it opens the connection and all its subflows.
    opens: bool,
    /// Place of its profile among those of multipath connections.
    profile: u32,
    /// What is known of each path.
    pub(crate) paths: Vec<PathEnd>,
    /// Number of the first path among all series: see [`Config::track`].
    pub(crate) track: u32,
}

/// One end of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathEnd {
    /// Where its packets begin in the table of routes.
    route: u32,
    /// The host that its packets come in by.
    pub(crate) port: u32,
    /// The attempt to have a subflow that is under way: each has a port of its own at the end that
    /// opens, so that what is left of one never gets to the next.
    attempt: u16,
    /// Packets put on the first link, and packets that have come in.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl MultipathEnd {
    /// An end at time zero, whose paths are still to be entered.
    pub(crate) fn new(
        p: &MultipathProfile,
        seed: u64,
        role: Role,
        read: ReadPolicy,
        flow: &FlowConfig,
    ) -> Self {
        let listens = matches!(role, Role::Receiver | Role::Server { .. });
        let mut connection =
            if listens { Connection::server(p, seed) } else { Connection::client(p, seed) };
        if listens {
            connection.listen();
        }
        let app = App::of_flow(role, read, flow);
        MultipathEnd { connection, app, opens: !listens, profile: 0, paths: Vec::new(), track: 0 }
    }

    /// Whether a packet is for the port in use on its path. The end that opens chooses it, and the
    /// other learns of it by the SYN.
    fn takes(&mut self, packet: &PathPacket, segment: &Segment) -> bool {
        let path = &mut self.paths[usize::from(packet.path)];
        let begins = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if begins && !self.opens {
            path.attempt = packet.attempt;
        }
        path.attempt == packet.attempt
    }

    /// Its profile among these.
    pub(crate) fn profile<'a>(&self, all: &'a [MultipathProfile]) -> &'a MultipathProfile {
        &all[self.profile as usize]
    }

    /// Congestion windows of all paths together, bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        (0..self.connection.paths()).map(|i| self.connection.subflow(i).control().cwnd).sum()
    }
}

impl Multipath {
    /// The connection's profile; an error is a sentence.
    pub(crate) fn profile(&self) -> Result<MultipathProfile, &'static str> {
        MultipathProfile::new(self.config, self.subflows.iter().map(|s| s.profile).collect())
    }
}

impl Config {
    /// Where the subflows of the flow with this index begin in the numbering of
    /// [`Sample::flow`](crate::Sample::flow): all flows first, then all subflows in their order.
    pub fn track(&self, flow: usize) -> usize {
        let before = self.flows.iter().take(flow).filter_map(|f| f.multipath.as_ref());
        self.flows.len() + before.map(|m| m.subflows.len()).sum::<usize>()
    }
}

impl Simulation {
    /// The two ends of a multipath flow, for the hosts from `host` on.
    pub(crate) fn multipath_ends(
        &mut self,
        flow: usize,
        profile: MultipathProfile,
        roles: [(Role, ReadPolicy); 2],
    ) {
        let config = &self.config;
        let host = 2 * flow as u64;
        let place = self.multipath_profiles.len() as u32;
        let mut ends = Vec::new();
        for (end, (role, read)) in (0..).zip(roles) {
            let seed = Stream::new(config.seed, host + end, Purpose::Multipath).next_u64();
            let mut end = MultipathEnd::new(&profile, seed, role, read, &config.flows[flow]);
            (end.profile, end.track) = (place, config.track(flow) as u32);
            ends.push(end);
        }
        // What a host of an ordinary connection has is never used of this one.
        let own = self.add_profile(self.config.flows[flow].profile);
        let hosts = ends.into_iter().map(|end| Host::new(0, own, Kind::Multipath(Box::new(end))));
        self.hosts.extend(hosts);
        self.multipath_profiles.push(profile);
    }

    /// Enters the ports of all subflows, after the hosts of all flows.
    pub(crate) fn add_ports(&mut self, routes: &Routes) -> Result<(), ConfigError> {
        for i in 0..self.config.flows.len() {
            let flow = self.config.flows[i].clone();
            let Some(multipath) = &flow.multipath else { continue };
            let ways = multipath.subflows.iter().map(|s| way(&flow, s, routes));
            let ways: Vec<Vec<Direction>> = ways.collect::<Result<_, _>>()?;
            let hop = |direction| Some(self.radios.hop(self.is_radio_hop(direction)?));
            let circuits = disjoint::of_subflows(&self.config, i, &ways, hop);
            let circuits = circuits.map_err(|problem| ConfigError::Invalid {
                of: format!("flow \"{}\"", flow.name),
                problem,
            })?;
            for (path, (way, circuits)) in (0..).zip(ways.into_iter().zip(&circuits)) {
                self.add_path(2 * i as u32, path, way, circuits);
            }
        }
        Ok(())
    }

    /// Enters a path between the hosts `owner` and `owner + 1`.
    fn add_path(&mut self, owner: u32, path: u32, way: Vec<Direction>, circuits: &Circuits) {
        let port = self.hosts.len() as u32;
        let profile = self.hosts[owner as usize].profile;
        let back = way.iter().rev().map(|direction| direction ^ 1).collect();
        let routes =
            [self.add_route(way, port + 1, circuits), self.add_route(back, port, circuits)];
        for (end, route) in (0..).zip(routes) {
            self.hosts.push(Host::new(route, profile, Kind::Port { owner: owner + end, path }));
            if let Kind::Multipath(end_of) = &mut self.hosts[(owner + end) as usize].kind {
                let port = port + end;
                end_of.paths.push(PathEnd { route, port, attempt: 0, sent: 0, received: 0 });
            }
        }
    }

    /// A packet has come in by a port of this owner.
    #[cold]
    #[inline(never)]
    pub(crate) fn deliver_to_port(&mut self, owner: u32, path: u32, id: u32) {
        self.tell_paths_if_asked(owner);
        let kind = &mut self.hosts[owner as usize].kind;
        if let (Kind::Multipath(end), Body::Segment(segment)) = (kind, self.packets.get(id)) {
            let profile = &self.multipath_profiles[end.profile as usize];
            end.paths[path as usize].received += 1;
            if let Some(packet) = self.packets.path(id).filter(|p| end.takes(p, segment)) {
                let (path, option) = (path as usize, packet.option.as_ref());
                end.connection.on_segment(profile, self.now, path, segment, option);
                end.app.act(profile, self.now, &mut end.connection);
            }
        }
        // Freed before the answer is sent, which then takes its place.
        self.packets.remove(id);
        self.flush_multipath(owner);
        self.arm(owner);
    }

    /// A deadline of an end has come.
    #[cold]
    #[inline(never)]
    pub(crate) fn wake_multipath(&mut self, host: u32) {
        self.tell_paths_if_asked(host);
        let Kind::Multipath(end) = &mut self.hosts[host as usize].kind else { return };
        let profile = &self.multipath_profiles[end.profile as usize];
        end.connection.on_deadline(profile, self.now);
        end.app.act(profile, self.now, &mut end.connection);
        self.flush_multipath(host);
    }

    fn tell_paths_if_asked(&mut self, owner: u32) {
        if !(self.sensors.is_empty() && self.path_sensors.is_empty()) {
            self.tell_paths(owner);
        }
    }

    /// Sends what an end has to say, and records it.
    fn flush_multipath(&mut self, host: u32) {
        loop {
            let Kind::Multipath(end) = &mut self.hosts[host as usize].kind else { return };
            let profile = &self.multipath_profiles[end.profile as usize];
            let Some(out) = end.connection.poll_transmit(profile, self.now) else { break };
            let size = out.ip_len();
            let Outgoing { path, attempt, segment, option } = out;
            let number = path as u8; // there are at most MAX_PATHS
            let path = &mut end.paths[path];
            if end.opens {
                path.attempt = attempt;
            }
            let packet = PathPacket { path: number, attempt: path.attempt, option };
            path.sent += 1;
            let hop = path.route;
            let id = self.packets.insert_multipath(segment, packet);
            self.launch(hop, size, id);
        }
        self.record_multipath(host);
    }

    fn record_multipath(&mut self, host: u32) {
        let Some(recorder) = &mut self.recorder else { return };
        let Kind::Multipath(end) = &self.hosts[host as usize].kind else { return };
        let profile = &self.multipath_profiles[end.profile as usize];
        let MultipathEnd { connection, app, .. } = &**end;
        for (path, p) in profile.paths().iter().enumerate() {
            let (subflow, track) = (connection.subflow(path), end.track + path as u32);
            if host.is_multiple_of(2) {
                recorder.sender(self.now, track, p, subflow);
            } else {
                recorder.receiver(self.now, track, subflow, subflow.received());
            }
        }
        if host.is_multiple_of(2) {
            recorder.multipath_sender(self.now, host / 2, end.cwnd(), connection);
        } else {
            recorder.multipath_receiver(self.now, host / 2, connection, app.delivered);
        }
    }

    /// Which packet of which flow this is to `port`.
    pub(crate) fn path_packet(&self, port: u32, id: u32) -> Option<(u32, PathPacket)> {
        let Kind::Port { owner, .. } = self.hosts[port as usize].kind else { return None };
        Some((owner, self.packets.path(id)?))
    }
}

/// The way of a subflow from its flow's `from` to its `to`.
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
