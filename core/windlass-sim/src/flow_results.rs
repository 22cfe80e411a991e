//! Results of flows. An ordinary connection, an external end and a datagram source have one path. A
//! multipath connection has several. The totals of a flow are the sums over its paths, and the
//! counts of its receiving end.

use windlass_cc::{Span, Time};
use windlass_tcp::mptcp::MultipathStats;
use windlass_tcp::{Endpoint, Failure, Stats};

use crate::app::App;
use crate::coap::Client;
use crate::config::{FlowConfig, SubflowConfig, Traffic};
use crate::host::{Host, Kind, Sent};
use crate::latency::Messages;
use crate::multipath::MultipathEnd;
use crate::results::{CoapResult, FlowResult, MultipathResult, SubflowResult, ratio};
use crate::session::{self, SessionEnd};
use crate::view::View;

impl View<'_> {
    /// Results of a flow. For an external end, the network counts only the packets sent. The other
    /// results are from the [reports](crate::external::Report) of the end. If it does not report,
    /// they are zero or `None` here, and its owner adds them: the delivered bytes and times of the
    /// data receiver, and the connection state of the data sender.
    pub(crate) fn flow_result(&self, i: usize) -> FlowResult {
        let flow = &self.config.flows[i];
        let [tx, rx] = [2 * i, 2 * i + 1].map(|host| &self.core.hosts[host]);
        let app = app(rx);
        let delivered_bytes = match &rx.kind {
            Kind::DatagramSink { bytes, .. } => *bytes,
            Kind::CoapServer(server) => server.bytes,
            Kind::MediaSink(sink) => sink.bytes,
            Kind::Session(end) => end.delivered(),
            Kind::External { .. } => rx.report().map_or(0, |report| report.delivered),
            _ => app.map_or(0, |app| app.delivered),
        };
        let endless = matches!(flow.traffic, Traffic::Bulk { bytes: None });
        let sessions = self.sessions(i);
        let completed = match sessions {
            Some((ends, _)) => session::completed(ends),
            None => {
                let read = app.and_then(|app| app.completed);
                read.or(rx.report().and_then(|report| report.completed)).filter(|_| !endless)
            }
        };
        let active_s = self.active_s(flow, [tx, rx], completed);
        let paths = self.paths(i, flow, [tx, rx], active_s);
        let sum = |of: fn(&SubflowResult) -> u64| paths.iter().map(of).sum::<u64>();
        let min = |a: Option<f64>, b: f64| Some(a.map_or(b, |a| a.min(b)));
        let packets_sent = sum(|s| s.packets_sent);
        let dropped: u64 = self.senders(i).map(|host| self.core.counts.dropped[host]).sum();
        FlowResult {
            name: flow.name.clone(),
            algorithm: algorithms(&paths),
            active_s,
            delivered_bytes,
            goodput_bps: ratio(delivered_bytes as f64 * 8.0, active_s),
            throughput_bps: paths.iter().map(|s| s.throughput_bps).sum(),
            retransmits: sum(|s| s.retransmits),
            fast_retransmits: sum(|s| s.fast_retransmits),
            rto_count: sum(|s| s.rto_count),
            uncounted: tx.report().is_some(),
            data_segments: sum(|s| s.data_segments),
            packets_sent,
            peer_packets_sent: sum(|s| s.peer_packets_sent),
            loss_rate: ratio(dropped as f64, packets_sent as f64),
            // A connection with several paths has no single smoothed RTT.
            srtt_ms: paths.first().filter(|_| paths.len() == 1).and_then(|s| s.srtt_ms),
            min_rtt_ms: paths.iter().filter_map(|s| s.min_rtt_ms).fold(None, min),
            cwnd_bytes: sum(|s| s.cwnd_bytes),
            completion_s: completed.map(|t| seconds(flow, t)),
            responses_s: responses_s([tx, rx]),
            failure: match sessions {
                Some((ends, names)) => session::failure(ends, names),
                None => failure(tx, self.end_name(i, 0)).or(failure(rx, self.end_name(i, 1))),
            },
            connections: session::together(sessions, self.now()).map(Box::new),
            rtt: self.delays.and_then(|delays| delays.rtt(i)).map(Box::new),
            transit: self.delays.and_then(|delays| delays.result(i)).map(Box::new),
            messages: messages(rx).map(|messages| messages.result(self.now()).into()),
            coap: coap([tx, rx]).map(Box::new),
            radio: self.radio_use([flow.from, flow.to]),
            multipath: match (&tx.kind, &rx.kind) {
                (Kind::Multipath(tx), Kind::Multipath(rx)) => Some(multipath(tx, rx, paths).into()),
                _ if flow.multipath.is_some() => {
                    Some(MultipathResult { subflows: paths, ..Default::default() }.into())
                }
                _ => None,
            },
        }
    }

    /// The two ends of a flow with successive connections, and their nodes.
    pub(crate) fn sessions(&self, i: usize) -> Option<([&SessionEnd; 2], [&str; 2])> {
        match [2 * i, 2 * i + 1].map(|host| &self.core.hosts[host].kind) {
            [Kind::Session(from), Kind::Session(to)] => {
                Some(([from, to], [0, 1].map(|end| self.end_name(i, end))))
            }
            _ => None,
        }
    }

    /// Name of the node at an end of a flow.
    fn end_name(&self, i: usize, end: usize) -> &str {
        let flow = &self.config.flows[i];
        &self.config.nodes[[flow.from, flow.to][end]]
    }

    /// Seconds between the start of a flow and its end or the end of the run, without a source's
    /// pauses.
    fn active_s(&self, flow: &FlowConfig, ends: [&Host; 2], completed: Option<Time>) -> f64 {
        let end = match (&ends[1].kind, &flow.traffic) {
            // Queued packets arrive after the source has stopped. The flow ends with the last
            // arrival.
            (Kind::DatagramSink { last, .. }, Traffic::CbrUdp(cbr)) => {
                cbr.stop.max(*last).min(self.now())
            }
            (Kind::MediaSink(sink), Traffic::Media(media)) => {
                media.stop.max(sink.last).min(self.now())
            }
            _ => completed.unwrap_or(self.now()),
        };
        let paused = match ends.map(|host| &host.kind) {
            [Kind::DatagramSource(_), Kind::DatagramSink { .. }] => flow.paused_until(end),
            _ => Span::ZERO,
        };
        seconds(flow, end) - paused.0 as f64 / 1e9
    }

    /// Hosts whose drop counts belong to a flow's data sender: the sender itself, or its ports or
    /// gates. Each track has two hosts.
    fn senders(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        let tracks = match &self.config.flows[i].multipath {
            Some(multipath) => {
                let first = self.config.track(i);
                first..first + multipath.subflows.len()
            }
            None => i..i + 1,
        };
        tracks.map(|track| 2 * track)
    }

    /// Results of each path of a flow.
    fn paths(
        &self,
        i: usize,
        flow: &FlowConfig,
        [tx, rx]: [&Host; 2],
        active_s: f64,
    ) -> Vec<SubflowResult> {
        let subflows = flow.multipath.iter().flat_map(|m| &m.subflows);
        let (Kind::Multipath(tx), Kind::Multipath(rx)) = (&tx.kind, &rx.kind) else {
            let Some(_) = &flow.multipath else {
                return vec![self.only_path(i, flow, [tx, rx], active_s)];
            };
            let gates = self.senders(i).zip(subflows);
            return gates
                .map(|(gate, config)| self.external_path(gate, config, active_s))
                .collect();
        };
        let delivered = |path: usize| rx.connection.subflow(path).received();
        let all: u64 = (0..tx.paths.len()).map(delivered).sum();
        let path = |(path, config): (usize, &SubflowConfig)| {
            let ends = [tx, rx].map(|end| Some(end.connection.subflow(path)));
            let stats = [tx, rx].map(|end| end.connection.path_stats(path));
            let sent = Sent {
                packets: tx.paths[path].sent,
                data_packets: stats[0].data_segments,
                data_bytes: stats[0].data_bytes,
            };
            let dropped = self.core.counts.dropped[tx.paths[path].port as usize];
            SubflowResult {
                name: config.name.clone(),
                algorithm: config.profile.params.info().id.to_string(),
                delivered_bytes: delivered(path),
                goodput_bps: ratio(delivered(path) as f64 * 8.0, active_s),
                share: ratio(delivered(path) as f64, all as f64),
                retransmits: stats[0].retransmits,
                fast_retransmits: stats[0].fast_retransmits,
                rto_count: stats[0].rto_count + asked(flow, stats[1].rto_count),
                peer_packets_sent: rx.paths[path].sent,
                mode: tx.connection.mode(path).into(),
                ..of_path(ends, sent, dropped, active_s)
            }
        };
        subflows.enumerate().map(path).collect()
    }

    /// Results of a path between two external ends of a multipath flow, from this gate to the next.
    fn external_path(&self, gate: usize, config: &SubflowConfig, active_s: f64) -> SubflowResult {
        let [data, back] = [gate, gate + 1].map(|gate| sent(&self.core.hosts[gate]));
        SubflowResult {
            name: config.name.clone(),
            algorithm: config.profile.params.info().id.to_string(),
            peer_packets_sent: back.packets,
            ..of_path([None, None], data, self.core.counts.dropped[gate], active_s)
        }
    }

    /// Results of the only path of a flow.
    fn only_path(
        &self,
        i: usize,
        flow: &FlowConfig,
        [tx, rx]: [&Host; 2],
        active_s: f64,
    ) -> SubflowResult {
        let algorithm =
            if flow.traffic.is_datagrams() { "none" } else { flow.profile.params.info().id };
        let ends = [tx, rx].map(endpoint);
        let stats = [tx, rx].map(stats);
        let path = SubflowResult {
            algorithm: algorithm.to_string(),
            retransmits: stats[0].retransmits,
            fast_retransmits: stats[0].fast_retransmits,
            rto_count: stats[0].rto_count + asked(flow, stats[1].rto_count),
            peer_packets_sent: sent(rx).packets,
            ..of_path(ends, sent(tx), self.core.counts.dropped[2 * i], active_s)
        };
        match &tx.kind {
            Kind::CoapClient(client) => of_client(path, client),
            Kind::Session(end) => {
                let [srtt, min_rtt] = end.rtts();
                SubflowResult { srtt_ms: known_ms(srtt), min_rtt_ms: known_ms(min_rtt), ..path }
            }
            Kind::External { report: Some(report), .. } => SubflowResult {
                retransmits: report.retransmits,
                srtt_ms: report.srtt.and_then(known_ms),
                min_rtt_ms: report.min_rtt.and_then(known_ms),
                cwnd_bytes: report.cwnd,
                ..path
            },
            _ => path,
        }
    }
}

/// Adds the values of a CoAP client to a path.
fn of_client(path: SubflowResult, client: &Client) -> SubflowResult {
    let [srtt, min_rtt, _] = client.times();
    SubflowResult {
        retransmits: client.retransmits,
        rto_count: client.expiries,
        srtt_ms: known_ms(srtt),
        min_rtt_ms: known_ms(min_rtt),
        ..path
    }
}

fn known_ms(span: Span) -> Option<f64> {
    span.is_known().then(|| span.0 as f64 / 1e6)
}

/// Seconds since the start of a flow.
fn seconds(flow: &FlowConfig, to: Time) -> f64 {
    to.since(flow.start).0 as f64 / 1e9
}

/// Returns `count` if the receiver of the data opens the connection, otherwise zero.
fn asked(flow: &FlowConfig, count: u64) -> u64 {
    if flow.traffic.to_opens() { count } else { 0 }
}

/// Results of a path from its two endpoints, if they are simulated, and from the packets that its
/// sender sent.
fn of_path(
    [sender, receiver]: [Option<&Endpoint>; 2],
    sent: Sent,
    dropped: u64,
    active_s: f64,
) -> SubflowResult {
    let failure = sender.and_then(Endpoint::failure).or(receiver.and_then(Endpoint::failure));
    SubflowResult {
        throughput_bps: ratio(sent.data_bytes as f64 * 8.0, active_s),
        data_segments: sent.data_packets,
        packets_sent: sent.packets,
        loss_rate: ratio(dropped as f64, sent.packets as f64),
        srtt_ms: sender.and_then(|e| known_ms(e.srtt())),
        min_rtt_ms: sender.and_then(|e| known_ms(e.min_rtt())),
        cwnd_bytes: sender.map_or(0, |e| e.control().cwnd),
        failure: failure.map(|f| f.describe().to_string()),
        ..SubflowResult::default()
    }
}

fn endpoint(host: &Host) -> Option<&Endpoint> {
    match &host.kind {
        Kind::Tcp { endpoint, .. } => Some(endpoint),
        Kind::Session(end) => end.endpoint(),
        _ => None,
    }
}

/// Counters of a host's endpoints.
fn stats(host: &Host) -> Stats {
    match &host.kind {
        Kind::Tcp { endpoint, .. } => *endpoint.stats(),
        Kind::Session(end) => end.stats(),
        _ => Stats::default(),
    }
}

/// The application at a host, if the host has an application.
pub(crate) fn app(host: &Host) -> Option<&App> {
    match &host.kind {
        Kind::Tcp { app, .. } => Some(app),
        Kind::Multipath(end) => Some(&end.app),
        _ => None,
    }
}

/// Deadline statistics of the messages to a host, if they have a deadline.
pub(crate) fn messages(host: &Host) -> Option<&Messages> {
    match &host.kind {
        Kind::CoapServer(server) => server.messages.as_deref(),
        Kind::Session(end) => end.messages(),
        _ => app(host)?.messages.as_deref(),
    }
}

/// Durations of the responses that arrived at one of the ends, seconds.
fn responses_s([tx, rx]: [&Host; 2]) -> Vec<f64> {
    match &tx.kind {
        Kind::CoapClient(client) => client.delays_s(),
        Kind::Session(_) => match &rx.kind {
            Kind::Session(end) => end.responses_s().to_vec(),
            _ => Vec::new(),
        },
        _ => app(rx).map(|app| app.responses_s.clone()).unwrap_or_default(),
    }
}

fn coap([tx, rx]: [&Host; 2]) -> Option<CoapResult> {
    match (&tx.kind, &rx.kind) {
        (Kind::CoapClient(client), Kind::CoapServer(server)) => client.result(server.duplicates),
        _ => None,
    }
}

/// Reason of a connection failure at a host, with its node and the segment.
fn failure(host: &Host, node: &str) -> Option<String> {
    let failure = match &host.kind {
        Kind::Tcp { endpoint, .. } => endpoint.failure_text(),
        Kind::Multipath(end) => end.connection.failure().map(Failure::describe),
        Kind::External { report, .. } => report.as_ref().and_then(|r| r.failure.as_deref()),
        _ => None,
    };
    failure.map(|text| format!("`{node}`: {text}"))
}

/// Packets sent by a host. The packets of a multipath connection are counted for its paths.
fn sent(host: &Host) -> Sent {
    match &host.kind {
        Kind::External { sent, .. } => *sent,
        Kind::Tcp { .. } | Kind::Session(_) => {
            let s = stats(host);
            Sent {
                packets: s.segments_sent,
                data_packets: s.data_segments,
                data_bytes: s.data_bytes,
            }
        }
        Kind::DatagramSource(source) => Sent {
            packets: source.sent,
            data_packets: source.sent,
            data_bytes: source.sent * source.cbr.packet,
        },
        Kind::CoapClient(client) => Sent {
            packets: client.packets(),
            data_packets: client.sent,
            data_bytes: client.sent_bytes,
        },
        Kind::MediaSource(source) => Sent {
            packets: source.sent,
            data_packets: source.sent,
            data_bytes: source.sent_bytes(),
        },
        Kind::MediaSink(sink) => Sent { packets: sink.sent, ..Sent::default() },
        Kind::CoapServer(server) => Sent { packets: server.sent, ..Sent::default() },
        Kind::DatagramSink { .. } | Kind::Multipath(_) | Kind::Port { .. } => Sent::default(),
    }
}

fn multipath(
    tx: &MultipathEnd,
    rx: &MultipathEnd,
    subflows: Vec<SubflowResult>,
) -> MultipathResult {
    let (sender, receiver) = (tx.connection.stats(), rx.connection.stats());
    // Either end may open the connection and join subflows.
    let either = |of: fn(&MultipathStats) -> u64| of(sender).max(of(receiver));
    MultipathResult {
        fallen_back: tx.connection.fallen_back(),
        reinjections: sender.reinjections,
        reinjected_bytes: sender.reinjected_bytes,
        opportunistic: sender.opportunistic,
        penalties: sender.penalties,
        redundant_bytes: sender.redundant_bytes,
        duplicate_bytes: receiver.duplicate_bytes,
        max_out_of_order_bytes: receiver.max_out_of_order_bytes,
        joins: either(|s| s.joins),
        failed_joins: either(|s| s.failed_joins),
        suspensions: sender.suspensions,
        returns: sender.returns,
        lost_subflows: either(|s| s.lost_subflows),
        subflows,
    }
}

/// The distinct algorithms of the paths: `mfast`, or `lia+reno`.
fn algorithms(paths: &[SubflowResult]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for path in paths {
        if !names.contains(&path.algorithm.as_str()) {
            names.push(&path.algorithm);
        }
    }
    names.join("+")
}
