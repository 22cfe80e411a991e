//! What a run notes of single packets: their delays, and what becomes of them on links that are
//! captured. Out of the way of runs that note neither.

use windlass_cc::Time;

use crate::host::Kind;
use crate::packet::{Body, Ticket};
use crate::results::{PacketEvent, PacketFate};
use crate::simulation::Simulation;

impl Simulation {
    /// A packet with this number is sent now.
    #[cold]
    pub(crate) fn note_birth(&mut self, id: u32) {
        let place = id as usize;
        self.births.resize(self.births.len().max(place + 1), Time::ZERO);
        self.births[place] = self.now;
    }

    /// It has come to a host.
    #[cold]
    pub(crate) fn note_arrival(&mut self, host: u32, id: u32) {
        let host = self.owner(host);
        let len = match self.packets.get(id) {
            Body::Segment(segment) => segment.len,
            Body::Datagram { len } => *len,
        };
        if host % 2 == 1 && len > 0 {
            self.transits[host as usize / 2].arrival(self.births[id as usize], self.now);
        }
    }

    /// The end of a flow that a host is: itself, or of a gate of a multipath flow the end behind it.
    fn owner(&self, host: u32) -> u32 {
        let (config, track) = (&self.config, host as usize / 2);
        match &self.hosts[host as usize].kind {
            Kind::Port { owner, .. } => *owner,
            _ if track < config.flows.len() => host,
            _ => {
                let behind = |flow: &usize| {
                    config.flows[*flow].multipath.is_some() && config.track(*flow) <= track
                };
                let flow = (0..config.flows.len()).rev().find(behind).unwrap_or_default();
                2 * flow as u32 + host % 2
            }
        }
    }

    /// Something becomes of a packet on a link, of which packets may be logged.
    #[cold]
    pub(crate) fn log_captured(&mut self, time: Time, link: u32, fate: PacketFate, ticket: Ticket) {
        let to = self.destination(ticket);
        let (to, path) = match self.path_packet(to, ticket.id) {
            Some((owner, path)) => (owner, Some(path)),
            None => (self.owner(to), None),
        };
        let quick_start = self.carried(ticket);
        let Some(recorder) = self.recorder.as_mut().filter(|r| r.captures(link)) else { return };
        let segment = match self.packets.get(ticket.id) {
            Body::Segment(s) => Some(*s),
            Body::Datagram { .. } => None,
        };
        let (flow, forward, ip_len) = (to / 2, to % 2 == 1, ticket.size);
        recorder.packets.push(PacketEvent {
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
