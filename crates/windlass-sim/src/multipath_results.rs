//! Results of multipath flows, and their books.

use windlass_tcp::mptcp::MultipathStats;

use crate::config::{FlowConfig, Traffic};
use crate::host::Kind;
use crate::latency::TransitResult;
use crate::multipath::{MultipathEnd, PathEnd};
use crate::results::{FlowResult, MultipathResult, SubflowResult};
use crate::simulation::Simulation;
use crate::totals::{known_ms, ratio};

impl Simulation {
    /// The first account of a multipath flow that does not close, if any. On each path: what an end
    /// sent has come in at the other, was dropped, or is inside; in the stream: what the application
    /// has read is what the connection took in order, each byte once, and no more than was offered.
    pub(crate) fn open_multipath_account(&self) -> Option<String> {
        let mut inside = 0;
        for (i, flow) in self.config.flows.iter().enumerate() {
            let [Some(tx), Some(rx)] = [0, 1].map(|end| self.multipath_end(2 * i + end)) else {
                continue;
            };
            let name = &flow.name;
            for [from, to] in [[tx, rx], [rx, tx]] {
                for (path, (a, b)) in from.paths.iter().zip(&to.paths).enumerate() {
                    match self.inside_path(a, b) {
                        Some(packets) => inside += packets,
                        None => return Some(format!("path {path} of flow {name}: {a:?}, {b:?}")),
                    }
                }
                if let Some(account) = open_stream(from, to) {
                    return Some(format!("stream of flow {name}: {account}"));
                }
            }
        }
        let all = self.packets.len();
        let only = (0..self.config.flows.len()).all(|i| self.multipath_end(2 * i).is_some());
        let wrong = if only { inside != all } else { inside > all };
        wrong.then(|| format!("{inside} packets inside on paths, {all} in all"))
    }

    /// Packets on their way from one end of a path to the other; `None` if more left than came.
    fn inside_path(&self, from: &PathEnd, to: &PathEnd) -> Option<u64> {
        from.sent.checked_sub(to.received + self.dropped[from.port as usize])
    }

    fn multipath_end(&self, host: usize) -> Option<&MultipathEnd> {
        match &self.hosts[host].kind {
            Kind::Multipath(end) => Some(end),
            _ => None,
        }
    }

    pub(crate) fn multipath_result(
        &self,
        flow: &FlowConfig,
        tx: &MultipathEnd,
        rx: &MultipathEnd,
        transit: Option<TransitResult>,
    ) -> FlowResult {
        let endless = matches!(flow.traffic, Traffic::Bulk { bytes: None });
        let completed = if endless { None } else { rx.app.completed };
        let active_s = self.active_s(flow, completed);
        let subflows = self.subflow_results(flow, tx, rx, active_s);
        let sum = |of: fn(&SubflowResult) -> u64| subflows.iter().map(of).sum::<u64>();
        let least = |a: Option<f64>, b: f64| Some(a.map_or(b, |a| a.min(b)));
        let dropped: u64 = tx.paths.iter().map(|p| self.dropped[p.port as usize]).sum();
        let packets_sent = sum(|s| s.packets_sent);
        let failure = tx.connection.failure().or(rx.connection.failure());
        FlowResult {
            name: flow.name.clone(),
            algorithm: algorithms(&subflows),
            active_s,
            delivered_bytes: rx.app.delivered,
            goodput_bps: ratio(rx.app.delivered as f64 * 8.0, active_s),
            throughput_bps: subflows.iter().map(|s| s.throughput_bps).sum(),
            retransmits: sum(|s| s.retransmits),
            fast_retransmits: sum(|s| s.fast_retransmits),
            rto_count: sum(|s| s.rto_count),
            data_segments: sum(|s| s.data_segments),
            packets_sent,
            peer_packets_sent: sum(|s| s.peer_packets_sent),
            loss_rate: ratio(dropped as f64, packets_sent as f64),
            // Of several smoothed RTTs none is the connection's.
            srtt_ms: subflows.first().filter(|_| subflows.len() == 1).and_then(|s| s.srtt_ms),
            min_rtt_ms: subflows.iter().filter_map(|s| s.min_rtt_ms).fold(None, least),
            cwnd_bytes: sum(|s| s.cwnd_bytes),
            completion_s: completed.map(|t| t.since(flow.start).0 as f64 / 1e9),
            responses_s: rx.app.responses_s.clone(),
            failure: failure.map(|f| f.describe().to_string()),
            transit,
            messages: rx.app.messages.as_ref().map(|m| m.result(self.now())),
            radio: self.radio_use(flow),
            multipath: Some(multipath_totals(tx, rx, subflows)),
        }
    }

    fn subflow_results(
        &self,
        flow: &FlowConfig,
        tx: &MultipathEnd,
        rx: &MultipathEnd,
        active_s: f64,
    ) -> Vec<SubflowResult> {
        let configured = flow.multipath.iter().flat_map(|m| &m.subflows);
        let delivered: Vec<u64> = configured
            .clone()
            .enumerate()
            .map(|(path, _)| rx.connection.subflow(path).received())
            .collect();
        let all: u64 = delivered.iter().sum();
        let one = |(path, config): (usize, &crate::config::SubflowConfig)| {
            let [sender, receiver] = [tx, rx].map(|end| end.connection.subflow(path));
            let stats = tx.connection.path_stats(path);
            let bits = |bytes: u64| ratio(bytes as f64 * 8.0, active_s);
            // Where the receiver of the data opens the connection, its attempts count.
            let asks = matches!(flow.traffic, Traffic::RequestResponse { .. });
            let failure = sender.failure().or(receiver.failure());
            SubflowResult {
                name: config.name.clone(),
                algorithm: config.profile.params.info().id.to_string(),
                delivered_bytes: delivered[path],
                goodput_bps: bits(delivered[path]),
                share: ratio(delivered[path] as f64, all as f64),
                throughput_bps: bits(stats.data_bytes),
                retransmits: stats.retransmits,
                fast_retransmits: stats.fast_retransmits,
                rto_count: stats.rto_count
                    + if asks { rx.connection.path_stats(path).rto_count } else { 0 },
                data_segments: stats.data_segments,
                packets_sent: tx.paths[path].sent,
                peer_packets_sent: rx.paths[path].sent,
                loss_rate: self.path_loss_rate(&tx.paths[path]),
                srtt_ms: known_ms(sender.srtt()),
                min_rtt_ms: known_ms(sender.min_rtt()),
                cwnd_bytes: sender.control().cwnd,
                mode: tx.connection.mode(path).into(),
                failure: failure.map(|f| f.describe().to_string()),
            }
        };
        configured.enumerate().map(one).collect()
    }

    fn path_loss_rate(&self, end: &PathEnd) -> f64 {
        ratio(self.dropped[end.port as usize] as f64, end.sent as f64)
    }
}

/// What one end read against what the other offered.
fn open_stream(from: &MultipathEnd, to: &MultipathEnd) -> Option<String> {
    let (sender, receiver) = (&from.connection, &to.connection);
    let read_or_waiting = to.app.delivered + receiver.readable();
    let acknowledged = sender.acknowledged();
    (read_or_waiting != receiver.received() || acknowledged > receiver.received()).then(|| {
        format!(
            "{} received in order, {read_or_waiting} read or readable, {acknowledged} acknowledged",
            receiver.received()
        )
    })
}

fn multipath_totals(
    tx: &MultipathEnd,
    rx: &MultipathEnd,
    subflows: Vec<SubflowResult>,
) -> MultipathResult {
    let (sender, receiver) = (tx.connection.stats(), rx.connection.stats());
    // Either end may be the one that opens the connection and joins.
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

/// The algorithms of the subflows, each once: `mfast`, or `lia+reno`.
fn algorithms(subflows: &[SubflowResult]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for subflow in subflows {
        if !names.contains(&subflow.algorithm.as_str()) {
            names.push(&subflow.algorithm);
        }
    }
    names.join("+")
}
