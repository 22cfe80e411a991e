//! The delays of data packets, for runs that measure them.

use windlass_cc::Time;

use crate::config::Config;
use crate::core::Core;
use crate::host::Kind;
use crate::latency::{Transit, TransitResult};
use crate::packet::Body;

/// Absent when no delay is measured.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// By flow.
    transits: Vec<Transit>,
    /// When each packet in the network was sent, by its slot.
    sent: Vec<Time>,
}

impl Delays {
    pub(crate) fn new(config: &Config) -> Option<Box<Delays>> {
        let transits = vec![Transit::default(); config.flows.len()];
        config.record.delays.then(|| Box::new(Delays { transits, sent: Vec::new() }))
    }

    /// A packet in this slot is sent now.
    #[cold]
    pub(crate) fn on_sent(&mut self, now: Time, id: u32) {
        let slot = id as usize;
        self.sent.resize(self.sent.len().max(slot + 1), Time::ZERO);
        self.sent[slot] = now;
    }

    /// It has come to a host.
    #[cold]
    pub(crate) fn on_arrival(&mut self, core: &Core, host: u32, id: u32) {
        let host = match &core.hosts[host as usize].kind {
            Kind::Port { owner, .. } | Kind::External { owner, .. } => *owner,
            _ => host,
        };
        let len = match core.packets.get(id) {
            Body::Segment(segment) => segment.len,
            Body::Datagram { len } => *len,
        };
        if host % 2 == 1 && len > 0 {
            self.transits[host as usize / 2].arrival(self.sent[id as usize], core.now);
        }
    }

    /// What a flow's come to.
    pub(crate) fn result(&self, flow: usize) -> Option<TransitResult> {
        self.transits[flow].result()
    }
}
