//! Ends outside the simulation: see [`crate::external`].

use super::Simulation;
use crate::external::Egress;
use crate::host::{Host, Kind, Sent};
use crate::packet::{Body, PacketHandle};

impl Simulation {
    /// Puts a host outside: from now on its packets come by [`inject`](Simulation::inject). To be
    /// called before the run begins. Returns its gates, the hosts by which its packets go and come:
    /// itself, or one for each path of a multipath flow, whose two ends must both be outside then.
    /// The gate of the path whose [track](crate::Config::track) is `t` is `2t`, or `2t + 1` for the end that
    /// receives the data.
    ///
    /// # Panics
    ///
    /// If there is no such host, or the run has begun.
    pub fn make_external(&mut self, host: u32) -> Vec<u32> {
        assert_eq!(self.processed, 0, "an end is made external before the run begins");
        let gates = match &self.core.hosts[host as usize].kind {
            Kind::Multipath(end) => end.paths.iter().map(|path| path.port).collect(),
            _ => vec![host],
        };
        for &outside in gates.iter().chain([&host]) {
            let kind = Kind::External { owner: host, sent: Sent::default() };
            self.core.hosts[outside as usize].kind = kind;
        }
        gates
    }

    /// An end outside sends an IP packet of `size` bytes, now, by this gate. Returns the packet's number.
    ///
    /// # Panics
    ///
    /// If the gate is none of an end outside.
    pub fn inject(&mut self, gate: u32, size: u32, body: Body) -> u32 {
        let Host { route, kind: Kind::External { sent, .. }, .. } =
            &mut self.core.hosts[gate as usize]
        else {
            panic!("host {gate} is not outside")
        };
        let payload = match body {
            Body::Segment(segment) => segment.len,
            Body::Datagram { len } => len,
            Body::Coap(message) => message.len,
        };
        sent.packets += 1;
        sent.data_packets += u64::from(payload > 0);
        sent.data_bytes += u64::from(payload);
        let hop = *route;
        let id = self.core.packets.insert(body);
        self.launch(PacketHandle { id, size, hop });
        id
    }

    /// Takes what has reached ends outside, in the order of its arrival.
    pub fn take_egress(&mut self) -> std::vec::Drain<'_, Egress> {
        self.egress.drain(..)
    }
}
