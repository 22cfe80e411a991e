//! External ends of flows: see [`crate::external`].

use super::Simulation;
use crate::external::{Egress, Report};
use crate::host::{Host, Kind, Sent};
use crate::packet::{Body, PacketHandle};

impl Simulation {
    /// Makes a host external: from now on its packets come from [`inject`](Simulation::inject).
    /// Call this before the run begins.
    ///
    /// Returns its gates, the hosts at which its packets leave and arrive. An ordinary host is its
    /// own gate. A multipath host has one gate per path, and both its ends must be external. The
    /// gate of the path with [track](crate::Config::track) `t` is `2t`, or `2t + 1` at the end that
    /// receives the data.
    ///
    /// # Panics
    ///
    /// If the host does not exist, or the run has begun.
    pub fn make_external(&mut self, host: u32) -> Vec<u32> {
        assert_eq!(self.processed, 0, "an end is made external before the run begins");
        let gates = match &self.core.hosts[host as usize].kind {
            Kind::Multipath(end) => end.paths.iter().map(|path| path.port).collect(),
            _ => vec![host],
        };
        for &outside in gates.iter().chain([&host]) {
            let kind = Kind::External { owner: host, sent: Sent::default(), report: None };
            self.core.hosts[outside as usize].kind = kind;
        }
        gates
    }

    /// Sends an IP packet of `size` bytes from an external end, now, at this gate. Returns the
    /// packet's number.
    ///
    /// # Panics
    ///
    /// If the gate does not belong to an external end.
    pub fn inject(&mut self, gate: u32, size: u32, body: Body) -> u32 {
        let Host { route, kind: Kind::External { sent, .. }, .. } =
            &mut self.core.hosts[gate as usize]
        else {
            panic!("host {gate} is not external")
        };
        let payload = body.payload();
        sent.packets += 1;
        sent.data_packets += u64::from(payload > 0);
        sent.data_bytes += u64::from(payload);
        let hop = *route;
        let id = self.core.packets.insert(body);
        self.launch(PacketHandle { id, size, hop });
        id
    }

    /// Takes over the present values of an external end. The results and the recorded series of its
    /// flow then include them.
    pub fn report(&mut self, host: u32, values: Report) {
        if let Kind::External { report, .. } = &mut self.core.hosts[host as usize].kind {
            *report.get_or_insert_default().as_mut() = values;
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.record(&self.core, host);
        }
    }

    /// Takes the packets that have reached external ends, in the order of arrival.
    pub fn take_egress(&mut self) -> std::vec::Drain<'_, Egress> {
        self.egress.drain(..)
    }
}
