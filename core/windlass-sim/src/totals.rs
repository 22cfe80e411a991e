//! Results of a finished simulation.

use crate::aqm::AqmQueue;
use crate::flow_results::messages;
use crate::latency::{MessageResult, Messages};
use crate::line::DelayLine;
use crate::results::{ConnectionsResult, LinkResult, ratio};
use crate::session;
use crate::view::View;

impl View<'_> {
    /// Result of a link direction, including the queue in front of the link.
    pub(crate) fn link_result(&self, i: usize) -> LinkResult {
        let link = &self.core.links[i];
        let c = &link.counters;
        let duration = self.now().0 as f64;
        let (begun, waited_ns) = link.begun_by(self.now());
        let result = LinkResult {
            name: self.direction_name(i),
            sent: c.offered,
            delivered: c.delivered,
            drops: c.dropped_queue + c.dropped_error,
            drops_queue: c.dropped_queue,
            drops_early: 0,
            marks: 0,
            drops_error: c.dropped_error,
            drops_thinned: 0,
            inside: link.inside(),
            bytes: c.bytes,
            utilisation: ratio(link.busy_ns_by(self.now()) as f64, duration),
            mean_queue_packets: ratio(link.waited_ns_by(self.now()) as f64, duration),
            mean_queue_delay_ms: ratio(waited_ns as f64 / 1e6, begun as f64),
            max_queue_packets: c.max_waiting,
        };
        let result = match self.line_after(i) {
            Some(line) => with_line(result, line),
            None => result,
        };
        match self.queue_before(i) {
            Some(queue) => self.with_queue(result, queue),
            None => result,
        }
    }

    /// The result of a link combined with the result of the queue in front of it. Every packet
    /// passes through this queue, and no packet waits in the link.
    fn with_queue(&self, link: LinkResult, m: &AqmQueue) -> LinkResult {
        let c = &m.counters;
        let waited_ms = m.waited_ns_by(self.now()) as f64 / 1e6;
        LinkResult {
            sent: c.offered,
            drops: c.dropped + link.drops_error + link.drops_thinned,
            drops_queue: c.dropped,
            drops_early: c.early,
            marks: c.marked,
            inside: link.inside + m.queue.len(),
            bytes: link.bytes + m.queue.bytes(),
            mean_queue_packets: ratio(waited_ms, self.now().0 as f64 / 1e6),
            mean_queue_delay_ms: ratio(c.taken_waited_ns as f64 / 1e6, link.sent as f64),
            max_queue_packets: c.max_waiting,
            ..link
        }
    }

    /// Results of the connections of all flows with successive connections.
    pub(crate) fn connections(&self) -> Option<ConnectionsResult> {
        session::together((0..self.config.flows.len()).filter_map(|i| self.sessions(i)), self.now())
    }

    /// Results of the messages of all flows with a deadline.
    pub(crate) fn messages(&self) -> Option<MessageResult> {
        Messages::together(self.core.hosts.iter().filter_map(messages), self.now())
    }
}

/// The result of a link combined with the result of its delay line.
fn with_line(link: LinkResult, line: &DelayLine) -> LinkResult {
    LinkResult {
        delivered: link.delivered - line.inside - line.thinned,
        drops: link.drops + line.thinned,
        drops_thinned: line.thinned,
        inside: link.inside + line.inside,
        ..link
    }
}
