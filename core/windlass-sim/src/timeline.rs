//! Counts by intervals of time, which show the times of losses and the overlap of flows.

use windlass_cc::{Span, Time};

use crate::config::Config;
use crate::host::Kind;
use crate::results::{FlowTimeline, Timeline};
use crate::view::View;

/// A timeline during the run.
#[derive(Clone, Debug)]
pub(crate) struct Bins {
    /// End of the present interval. Events at this time belong to the interval.
    pub(crate) next: Time,
    timeline: Timeline,
    /// Bytes delivered by each flow, and packets dropped by each link direction, before the present
    /// interval.
    delivered: Vec<u64>,
    dropped: Vec<u64>,
}

impl Bins {
    /// `None` if the configuration requests no intervals.
    pub(crate) fn new(config: &Config) -> Option<Bins> {
        let (bin, flows, links) = (config.record.bins, config.flows.len(), 2 * config.links.len());
        (bin > Span::ZERO).then(|| Bins {
            next: Time::ZERO + bin,
            timeline: Timeline {
                bin,
                flows: vec![FlowTimeline::default(); flows],
                drops: vec![Vec::new(); links],
                waiting: vec![Vec::new(); links],
            },
            delivered: vec![0; flows],
            dropped: vec![0; links],
        })
    }

    /// Closes the intervals that end before `now`, the time of the next event.
    #[cold]
    pub(crate) fn close(&mut self, run: View, now: Time) {
        while self.next < now {
            self.close_one(run);
        }
    }

    fn close_one(&mut self, run: View) {
        for (i, flow) in self.timeline.flows.iter_mut().enumerate() {
            let (delivered, cwnd) = progress(run, i);
            flow.delivered_bytes.push(delivered - self.delivered[i]);
            flow.cwnd_bytes.push(cwnd);
            self.delivered[i] = delivered;
        }
        for (i, drops) in self.timeline.drops.iter_mut().enumerate() {
            let dropped = dropped_by(run, i);
            drops.push(dropped - self.dropped[i]);
            self.dropped[i] = dropped;
        }
        for (i, waiting) in self.timeline.waiting.iter_mut().enumerate() {
            waiting.push(waiting_at(run, i, self.next));
        }
        self.next += self.timeline.bin;
    }

    /// The complete intervals of the run, at its end.
    pub(crate) fn finish(mut self, run: View) -> Timeline {
        // All events at the present time have been processed.
        self.close(run, run.now() + Span(1));
        self.timeline
    }
}

/// Bytes that have reached a flow's application, and its sender's cwnd.
fn progress(run: View, flow: usize) -> (u64, u64) {
    let [tx, rx] = [2 * flow, 2 * flow + 1].map(|host| &run.core.hosts[host]);
    let cwnd = match &tx.kind {
        Kind::Tcp { endpoint, .. } => endpoint.control().cwnd,
        Kind::Multipath(end) => end.cwnd(),
        Kind::Session(end) => end.endpoint().map_or(0, |endpoint| endpoint.control().cwnd),
        _ => tx.report().map_or(0, |report| report.cwnd),
    };
    let delivered = match &rx.kind {
        Kind::Tcp { app, .. } => app.delivered,
        Kind::Multipath(end) => end.app.delivered,
        Kind::Session(end) => end.delivered(),
        Kind::DatagramSink { bytes, .. } => *bytes,
        Kind::CoapServer(server) => server.bytes,
        Kind::MediaSink(sink) => sink.bytes,
        _ => rx.report().map_or(0, |report| report.delivered),
    };
    (delivered, cwnd)
}

fn waiting_at(run: View, link: usize, now: Time) -> u64 {
    let queue = run.queue_before(link).map_or(0, |queue| queue.queue.len());
    queue + run.core.links[link].waiting_at(now)
}

fn dropped_by(run: View, link: usize) -> u64 {
    let c = &run.core.links[link].counters;
    c.dropped_queue + c.dropped_error + run.queue_before(link).map_or(0, |m| m.counters.dropped)
}
