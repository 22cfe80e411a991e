//! The delays of data packets and the RTT samples of their senders, for runs that measure them.

use windlass_cc::Time;
use windlass_tcp::Endpoint;

use crate::config::Config;
use crate::core::Core;
use crate::host::{Host, Kind};
use crate::latency::{RttResult, Transit, TransitResult};
use crate::quantiles::Times;

/// Delays of the data packets of each flow, and RTT samples; absent if delays are not measured.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    /// By flow.
    transits: Vec<Transit>,
    rtts: Vec<Times>,
    /// Number of samples of each endpoint that were recorded, by track: flows, then subflows.
    known: Vec<u32>,
}

impl Delays {
    pub(crate) fn new(config: &Config) -> Option<Box<Delays>> {
        let flows = config.flows.len();
        let delays = || Delays {
            transits: vec![Transit::default(); flows],
            rtts: vec![Times::default(); flows],
            known: vec![0; flows + config.subflows()],
        };
        config.record.delays.then(|| Box::new(delays()))
    }

    /// Records the arrival of a packet at a host.
    #[cold]
    pub(crate) fn on_arrival(&mut self, core: &Core, host: u32, id: u32) {
        let host = match &core.hosts[host as usize].kind {
            Kind::Port { owner, .. } | Kind::External { owner, .. } => *owner,
            _ => host,
        };
        let len = core.packets.get(id).payload();
        if host % 2 == 1 && len > 0 {
            let sent = core.sent_times.as_ref().map_or(Time::ZERO, |times| times.of(id));
            self.transits[host as usize / 2].arrival(sent, core.now);
        }
    }

    /// Records the RTT sample that a packet gave to the data sender at this host, if it gave one.
    #[cold]
    pub(crate) fn on_delivered(&mut self, core: &Core, host: u32) {
        let Host { kind, .. } = &core.hosts[host as usize];
        let flow = host as usize / 2;
        match kind {
            _ if host % 2 == 1 => {}
            Kind::Tcp { endpoint, .. } => self.sample(flow, flow, endpoint),
            Kind::Session(end) => {
                if let Some(endpoint) = end.endpoint() {
                    self.sample(flow, flow, endpoint);
                }
            }
            Kind::Multipath(end) => {
                for path in 0..end.connection.paths() {
                    let track = end.track as usize + path;
                    self.sample(flow, track, end.connection.subflow(path));
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, flow: usize, track: usize, endpoint: &Endpoint) {
        let (samples, rtt) = endpoint.rtt_samples();
        // Each connection of successive connections counts anew.
        if samples > 0 && samples != self.known[track] {
            self.rtts[flow].add(rtt.0);
        }
        self.known[track] = samples;
    }

    /// Returns the delays of a flow.
    pub(crate) fn result(&self, flow: usize) -> Option<TransitResult> {
        self.transits[flow].result()
    }

    /// Returns the RTTs of a flow.
    pub(crate) fn rtt(&self, flow: usize) -> Option<RttResult> {
        RttResult::of(&self.rtts[flow])
    }
}
