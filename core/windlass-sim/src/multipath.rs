//! Ends of multipath connections. An end owns the connection and its application. Each path has a
//! port at each end, with its own route and packet counts.

use windlass_tcp::Segment;
use windlass_tcp::mptcp::{Connection, MultipathProfile, Outgoing};
use windlass_tcp::segment::Flags;

use windlass_cc::{CrossLayer, Time};

use crate::app::{App, Bound, Role};
use crate::config::FlowConfig;
use crate::packet::{Body, PacketBuffer, PacketHandle, PathPacket};
use crate::traffic::ReadPolicy;

/// One end of a multipath connection.
#[derive(Clone, Debug)]
pub struct MultipathEnd {
    /// The connection.
    pub connection: Connection,
    /// The application.
    pub app: App,
    /// True if this end opens the connection and all its subflows.
    opens: bool,
    /// Index of its profile among the profiles of multipath connections.
    pub(crate) profile: u32,
    /// State of each path.
    pub(crate) paths: Vec<PathEnd>,
    /// Number of the first path among all series: see [`Config::track`].
    pub(crate) track: u32,
}

/// One end of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathEnd {
    /// First hop of its packets in the route table.
    pub(crate) route: u32,
    /// The host at which its packets arrive.
    pub(crate) port: u32,
    /// The present attempt to open the subflow. Each attempt has its own port at the opening end,
    /// so that packets of one attempt never reach the next attempt.
    attempt: u16,
    /// Packets put on the first link, and packets that have arrived.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl MultipathEnd {
    /// An end at time zero, without paths.
    pub(crate) fn new(
        p: &MultipathProfile,
        seed: u64,
        role: Role,
        read: ReadPolicy,
        flow: &FlowConfig,
    ) -> Self {
        let listens = role.listens();
        let mut connection =
            if listens { Connection::server(p, seed) } else { Connection::client(p, seed) };
        if listens {
            connection.listen();
        }
        let app = App::of_flow(role, read, flow);
        MultipathEnd { connection, app, opens: !listens, profile: 0, paths: Vec::new(), track: 0 }
    }

    /// True if a packet is for the port in use on its path. The opening end chooses the port, and
    /// the SYN announces it to the other end.
    fn takes(&mut self, packet: &PathPacket, segment: &Segment) -> bool {
        let path = &mut self.paths[usize::from(packet.path)];
        let begins = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if begins && !self.opens {
            path.attempt = packet.attempt;
        }
        path.attempt == packet.attempt
    }

    /// Returns the profile of this end from the list.
    pub(crate) fn profile<'a>(&self, all: &'a [MultipathProfile]) -> &'a MultipathProfile {
        &all[self.profile as usize]
    }

    /// Sum of the congestion windows of all paths, bytes.
    pub(crate) fn cwnd(&self) -> u64 {
        (0..self.connection.paths()).map(|i| self.connection.subflow(i).control().cwnd).sum()
    }

    /// Adds a path with this route for its outgoing packets and this port for its incoming packets.
    pub(crate) fn add_path(&mut self, route: u32, port: u32) {
        self.paths.push(PathEnd { route, port, attempt: 0, sent: 0, received: 0 });
    }

    /// Receives a packet at the port of a path.
    pub(crate) fn receive(
        &mut self,
        all: &[MultipathProfile],
        now: Time,
        path: usize,
        packets: &PacketBuffer,
        id: u32,
    ) {
        let Body::Segment(segment) = packets.get(id) else { return };
        self.paths[path].received += 1;
        if let Some(packet) = packets.path(id).filter(|p| self.takes(p, segment)) {
            let profile = self.profile(all);
            self.connection.on_segment(profile, now, path, segment, packet.option.as_ref());
            self.app.act(now, &mut Bound { socket: &mut self.connection, profile, now });
        }
    }

    /// Handles the expiry of the deadline.
    pub(crate) fn wake(&mut self, all: &[MultipathProfile], now: Time) {
        let profile = self.profile(all);
        self.connection.on_deadline(profile, now);
        self.app.act(now, &mut Bound { socket: &mut self.connection, profile, now });
    }

    /// The next packet to send now, on any path.
    pub(crate) fn next_packet(
        &mut self,
        all: &[MultipathProfile],
        now: Time,
        packets: &mut PacketBuffer,
    ) -> Option<PacketHandle> {
        let out = self.connection.poll_transmit(self.profile(all), now)?;
        let size = out.ip_len();
        let Outgoing { path, attempt, segment, option } = out;
        let number = path as u8; // there are at most MAX_PATHS
        let path = &mut self.paths[path];
        if self.opens {
            path.attempt = attempt;
        }
        let packet = PathPacket { path: number, attempt: path.attempt, option };
        path.sent += 1;
        let id = packets.insert_multipath(segment, packet);
        Some(PacketHandle { id, size, hop: path.route })
    }

    /// Passes a path's cross-layer snapshots to the path's controller, if it requires them, and to
    /// the scheduler.
    pub(crate) fn tell(
        &mut self,
        all: &[MultipathProfile],
        now: Time,
        path: usize,
        [of_node, of_path]: [Option<CrossLayer>; 2],
    ) {
        let profile = self.profile(all);
        if let Some(layers) = of_node
            && profile.path(path).params.requirements().cross_layer
        {
            self.connection.on_cross_layer(profile, now, path, &layers);
        }
        if let Some(layers) = of_path {
            self.connection.tell_scheduler(path, &layers);
        }
    }
}
