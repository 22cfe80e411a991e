//! From a finished simulation to its results; the books must close.

use windlass_cc::{Span, Time};

use crate::config::{FlowConfig, Traffic};
use crate::host::Kind;
use crate::latency::{MessageResult, Messages, TransitResult};
use crate::link::Link;
use crate::managed::Managed;
use crate::results::{FlowResult, LinkResult, RadioUse, RunResult};
use crate::simulation::Simulation;

/// The books of a run do not close: a defect of the simulator, never of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BooksError {
    /// Which account, and by how much.
    pub account: String,
}

impl std::fmt::Display for BooksError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "packets are unaccounted for ({}): this is a defect of Windlass", self.account)
    }
}

impl std::error::Error for BooksError {}

pub(crate) fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

pub(crate) fn known_ms(span: Span) -> Option<f64> {
    span.is_known().then(|| span.0 as f64 / 1e6)
}

impl Simulation {
    /// Checks the books and draws up the results.
    pub fn finish(mut self) -> Result<RunResult, BooksError> {
        self.check_books()?;
        let timeline = self.take_timeline();
        let (samples, mut packets) = match self.recorder.take() {
            Some(r) => (r.samples, r.packets),
            None => Default::default(),
        };
        // A transmission is logged when it is decided, and may begin after the end.
        packets.retain(|p| p.time <= self.now());
        packets.sort_by_key(|p| p.time);
        Ok(RunResult {
            end: self.now(),
            events: self.events,
            packet_hops: self.packet_hops(),
            flows: (0..self.config.flows.len()).map(|i| self.flow_result(i)).collect(),
            links: (0..self.links.len()).map(|i| self.link_result(i)).collect(),
            radios: self.radios.results(&self.config, self.now()),
            messages: self.messages(),
            samples,
            packets,
            timeline,
        })
    }

    /// Packets sent = delivered + dropped + still inside, per link, per station and in all.
    fn check_books(&self) -> Result<(), BooksError> {
        for (i, link) in self.links.iter().enumerate() {
            if !link.books_close() {
                let account = format!("link {}: {:?}", self.direction_name(i), link.counters);
                return Err(BooksError { account });
            }
        }
        for m in &self.managed {
            let link = &self.links[m.link as usize];
            if !m.books_close(link) {
                let name = self.direction_name(m.link as usize);
                let account =
                    format!("queue of {name}: {:?}, {} taken", m.counters, link.counters.offered);
                return Err(BooksError { account });
            }
        }
        if let Some(account) = self.radios.open_account(&self.config, self.now()) {
            return Err(BooksError { account });
        }
        let waiting: u64 = self.managed.iter().map(|m| m.queue.len()).sum();
        let in_links = self.links.iter().map(Link::inside).sum::<u64>();
        let inside = waiting + in_links + self.radios.inside();
        let dropped: u64 = self.dropped.iter().sum();
        if inside != self.packets.len() {
            let account =
                format!("{inside} in links and stations, {} in being", self.packets.len());
            return Err(BooksError { account });
        }
        let by_link = |l: &Link| l.counters.dropped_queue + l.counters.dropped_error;
        let by_queues: u64 = self.managed.iter().map(|m| m.counters.dropped).sum();
        let by_links = self.links.iter().map(by_link).sum::<u64>();
        let taken = by_queues + by_links + self.radios.dropped();
        if taken != dropped {
            let account =
                format!("{taken} dropped by links and stations, {dropped} missed by hosts");
            return Err(BooksError { account });
        }
        if self.emitted != self.received + dropped + inside {
            let account = format!(
                "{} sent, {} received, {dropped} dropped, {inside} inside",
                self.emitted, self.received
            );
            return Err(BooksError { account });
        }
        match self.open_multipath_account() {
            Some(account) => Err(BooksError { account }),
            None => Ok(()),
        }
    }

    fn direction_name(&self, i: usize) -> String {
        let link = &self.config.links[i / 2];
        let (a, b) = (link.ends[i % 2], link.ends[1 - i % 2]);
        format!("{}:{}>{}", link.name, self.config.nodes[a], self.config.nodes[b])
    }

    fn link_result(&self, i: usize) -> LinkResult {
        let link = &self.links[i];
        let c = &link.counters;
        let duration = self.now().0 as f64;
        let accepted = c.offered - c.dropped_queue;
        let result = LinkResult {
            name: self.direction_name(i),
            sent: c.offered,
            delivered: c.delivered,
            drops: c.dropped_queue + c.dropped_error,
            drops_queue: c.dropped_queue,
            drops_early: 0,
            marks: 0,
            drops_error: c.dropped_error,
            inside: link.inside(),
            bytes: c.bytes,
            utilisation: ratio(link.busy_ns_by(self.now()) as f64, duration),
            mean_queue_packets: ratio(link.waited_ns_by(self.now()) as f64, duration),
            mean_queue_delay_ms: ratio(c.waited_ns as f64 / 1e6, accepted as f64),
            max_queue_packets: c.max_waiting,
        };
        match self.managed.iter().find(|m| m.link as usize == i) {
            Some(queue) => self.with_queue(result, queue),
            None => result,
        }
    }

    /// The result of a link together with that of the queue before it, in which no packet ever
    /// waits for the link that has not gone through it.
    fn with_queue(&self, link: LinkResult, m: &Managed) -> LinkResult {
        let c = &m.counters;
        let waited_ms = m.waited_ns_by(self.now()) as f64 / 1e6;
        LinkResult {
            sent: c.offered,
            drops: c.dropped + link.drops_error,
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

    fn flow_result(&self, i: usize) -> FlowResult {
        let flow = &self.config.flows[i];
        match (&self.hosts[2 * i].kind, &self.hosts[2 * i + 1].kind) {
            (Kind::Tcp { .. }, Kind::Tcp { .. }) => self.tcp_result(i, flow),
            (Kind::Multipath(tx), Kind::Multipath(rx)) => {
                self.multipath_result(flow, tx, rx, self.transit(i))
            }
            (Kind::Outside(_), _) | (_, Kind::Outside(_)) => self.outside_result(i, flow),
            _ => self.datagram_result(i, flow),
        }
    }

    /// What the radios at the flow's ends did.
    pub(crate) fn radio_use(&self, flow: &FlowConfig) -> Option<RadioUse> {
        self.radios.used_by(&self.config, [flow.from, flow.to], self.now())
    }

    /// Seconds from the flow's start to `end`, or to the end of the run.
    pub(crate) fn active_s(&self, flow: &FlowConfig, end: Option<Time>) -> f64 {
        end.unwrap_or(self.now()).since(flow.start).0 as f64 / 1e9
    }

    fn tcp_result(&self, i: usize, flow: &FlowConfig) -> FlowResult {
        let (Kind::Tcp { endpoint: tx, .. }, Kind::Tcp { endpoint: rx, app }) =
            (&self.hosts[2 * i].kind, &self.hosts[2 * i + 1].kind)
        else {
            unreachable!("flow_result looked")
        };
        let endless = matches!(flow.traffic, Traffic::Bulk { bytes: None });
        let completed = if endless { None } else { app.completed };
        let active_s = self.active_s(flow, completed);
        let s = tx.stats();
        // Where the receiver of the data opens the connection, its attempts and requests count.
        let asks = matches!(flow.traffic, Traffic::RequestResponse { .. });
        let rto_count = s.rto_count + if asks { rx.stats().rto_count } else { 0 };
        FlowResult {
            name: flow.name.clone(),
            algorithm: flow.profile.params.info().id.to_string(),
            active_s,
            delivered_bytes: app.delivered,
            goodput_bps: ratio(app.delivered as f64 * 8.0, active_s),
            throughput_bps: ratio(s.data_bytes as f64 * 8.0, active_s),
            retransmits: s.retransmits,
            fast_retransmits: s.fast_retransmits,
            rto_count,
            data_segments: s.data_segments,
            packets_sent: s.segments_sent,
            peer_packets_sent: rx.stats().segments_sent,
            loss_rate: ratio(self.dropped[2 * i] as f64, s.segments_sent as f64),
            srtt_ms: known_ms(tx.srtt()),
            min_rtt_ms: known_ms(tx.min_rtt()),
            cwnd_bytes: tx.control().cwnd,
            completion_s: completed.map(|t| t.since(flow.start).0 as f64 / 1e9),
            responses_s: app.responses_s.clone(),
            failure: tx.failure().or(rx.failure()).map(|f| f.describe().to_string()),
            transit: self.transit(i),
            messages: app.messages.as_ref().map(|m| m.result(self.now())),
            multipath: None,
            radio: self.radio_use(flow),
        }
    }

    /// The messages of all flows that have a deadline.
    fn messages(&self) -> Option<MessageResult> {
        let apps = self.hosts.iter().filter_map(|host| match &host.kind {
            Kind::Tcp { app, .. } => Some(app),
            Kind::Multipath(end) => Some(&end.app),
            _ => None,
        });
        Messages::together(apps.filter_map(|app| app.messages.as_deref()), self.now())
    }

    fn transit(&self, i: usize) -> Option<TransitResult> {
        self.transits.get(i)?.result()
    }

    fn datagram_result(&self, i: usize, flow: &FlowConfig) -> FlowResult {
        let (Kind::DatagramSource { cbr, sent, .. }, Kind::DatagramSink { bytes, last }) =
            (&self.hosts[2 * i].kind, &self.hosts[2 * i + 1].kind)
        else {
            unreachable!("flow_result looked")
        };
        // What queues have held back arrives after the source stopped, and the flow ends with it.
        let end = cbr.stop.max(*last).min(self.now());
        let paused = |[from, until]: &[Time; 2]| until.min(&end).since(*from).0 as f64 / 1e9;
        let active_s = self.active_s(flow, Some(end)) - flow.pauses.iter().map(paused).sum::<f64>();
        FlowResult {
            name: flow.name.clone(),
            algorithm: "none".to_string(),
            active_s,
            delivered_bytes: *bytes,
            goodput_bps: ratio(*bytes as f64 * 8.0, active_s),
            throughput_bps: ratio((*sent * cbr.packet) as f64 * 8.0, active_s),
            retransmits: 0,
            fast_retransmits: 0,
            rto_count: 0,
            data_segments: *sent,
            packets_sent: *sent,
            peer_packets_sent: 0,
            loss_rate: ratio(self.dropped[2 * i] as f64, *sent as f64),
            srtt_ms: None,
            min_rtt_ms: None,
            cwnd_bytes: 0,
            completion_s: None,
            responses_s: Vec::new(),
            failure: None,
            transit: self.transit(i),
            messages: None,
            multipath: None,
            radio: self.radio_use(flow),
        }
    }
}
