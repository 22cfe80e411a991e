//! Counts by intervals of time, for what a total hides: when losses came, when flows met.

use windlass_cc::{Span, Time};

use crate::config::Config;
use crate::host::Kind;
use crate::results::{FlowTimeline, Timeline};
use crate::simulation::Simulation;

/// A timeline as it grows.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    /// When the interval that is running ends; what happens at that moment still belongs to it.
    pub(crate) next: Time,
    timeline: Timeline,
    /// Bytes delivered by each flow, and packets dropped by each link direction, before it.
    delivered: Vec<u64>,
    dropped: Vec<u64>,
}

impl Bins {
    /// `None` when the configuration asks for none.
    pub(crate) fn new(config: &Config) -> Option<Bins> {
        let (bin, flows, links) = (config.record.bins, config.flows.len(), 2 * config.links.len());
        (bin > Span::ZERO).then(|| Bins {
            next: Time::ZERO + bin,
            timeline: Timeline {
                bin,
                flows: vec![FlowTimeline::default(); flows],
                drops: vec![Vec::new(); links],
            },
            delivered: vec![0; flows],
            dropped: vec![0; links],
        })
    }
}

impl Simulation {
    /// Ends the intervals that are over when something happens at `now`.
    #[cold]
    pub(crate) fn close_bins(&mut self, now: Time) {
        let Some(mut bins) = self.bins.take() else { return };
        while bins.next < now {
            self.close_bin(&mut bins);
        }
        self.next_bin = bins.next;
        self.bins = Some(bins);
    }

    fn close_bin(&self, bins: &mut Bins) {
        for (i, flow) in bins.timeline.flows.iter_mut().enumerate() {
            let (delivered, cwnd) = self.progress(i);
            flow.delivered_bytes.push(delivered - bins.delivered[i]);
            flow.cwnd_bytes.push(cwnd);
            bins.delivered[i] = delivered;
        }
        for (i, drops) in bins.timeline.drops.iter_mut().enumerate() {
            let dropped = self.dropped_by(i);
            drops.push(dropped - bins.dropped[i]);
            bins.dropped[i] = dropped;
        }
        bins.next += bins.timeline.bin;
    }

    /// Bytes that have reached a flow's application, and its sender's window.
    fn progress(&self, flow: usize) -> (u64, u64) {
        let cwnd = match &self.hosts[2 * flow].kind {
            Kind::Tcp { endpoint, .. } => endpoint.control().cwnd,
            Kind::Multipath(end) => end.cwnd(),
            _ => 0,
        };
        let delivered = match &self.hosts[2 * flow + 1].kind {
            Kind::Tcp { app, .. } => app.delivered,
            Kind::Multipath(end) => end.app.delivered,
            Kind::DatagramSink { bytes, .. } => *bytes,
            _ => 0,
        };
        (delivered, cwnd)
    }

    fn dropped_by(&self, link: usize) -> u64 {
        let c = &self.links[link].counters;
        let queue = self.managed.iter().find(|m| m.link as usize == link);
        c.dropped_queue + c.dropped_error + queue.map_or(0, |m| m.counters.dropped)
    }

    /// The whole intervals of the run.
    pub(crate) fn take_timeline(&mut self) -> Option<Timeline> {
        // What happened at this very moment has happened already.
        self.close_bins(self.now + Span(1));
        self.bins.take().map(|bins| bins.timeline)
    }
}
