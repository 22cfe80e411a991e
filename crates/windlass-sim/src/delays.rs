//! The delays of data packets, for runs that measure them.

use windlass_cc::Time;

use crate::config::Config;
use crate::core::Core;
use crate::host::Kind;
use crate::latency::{Transit, TransitResult};
use crate::packet::Body;

/// Delays of the data packets of each flow; absent if delays are not measured.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// By flow.
    transits: Vec<Transit>,
}

impl Delays {
    pub(crate) fn new(config: &Config) -> Option<Box<Delays>> {
        let transits = vec![Transit::default(); config.flows.len()];
        config.record.delays.then(|| Box::new(Delays { transits }))
    }

    /// Records the arrival of a packet at a host.
    #[cold]
    pub(crate) fn on_arrival(&mut self, core: &Core, host: u32, id: u32) {
        let host = match &core.hosts[host as usize].kind {
            Kind::Port { owner, .. } | Kind::External { owner, .. } => *owner,
            _ => host,
        };
        let len = match core.packets.get(id) {
            Body::Segment(segment) => segment.len,
            Body::Datagram { len } => *len,
            Body::Coap(message) => message.len,
        };
        if host % 2 == 1 && len > 0 {
            let sent = core.sent_times.as_ref().map_or(Time::ZERO, |times| times.of(id));
            self.transits[host as usize / 2].arrival(sent, core.now);
        }
    }

    /// Returns the delays of a flow.
    pub(crate) fn result(&self, flow: usize) -> Option<TransitResult> {
        self.transits[flow].result()
    }
}
