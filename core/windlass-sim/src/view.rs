//! Read-only view of a run, for the results and the conservation check.

use std::collections::BTreeMap;

use windlass_cc::Time;
use windlass_tcp::Journal;

use crate::aqm::AqmQueue;
use crate::config::Config;
use crate::core::Core;
use crate::delays::Delays;
use crate::evidence::{Decided, Decisions};
use crate::host::Kind;
use crate::line::DelayLine;
use crate::link_radio::gate::Gate;
use crate::radio::network::Radios;
use crate::results::{RadioResult, RadioUse};
use crate::session;

/// The parts of a run.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) config: &'a Config,
    pub(crate) core: &'a Core,
    pub(crate) queues: &'a [AqmQueue],
    pub(crate) lines: &'a [DelayLine],
    pub(crate) radios: &'a Radios,
    pub(crate) gates: &'a [Gate],
    pub(crate) delays: Option<&'a Delays>,
}

impl View<'_> {
    pub(crate) fn now(&self) -> Time {
        self.core.now
    }

    /// The queue with a discipline in front of a link direction, if the direction has such a queue.
    pub(crate) fn queue_before(&self, direction: usize) -> Option<&AqmQueue> {
        self.all_queues().find(|queue| queue.link as usize == direction)
    }

    /// The queues with a discipline, and the queues of links with a radio.
    pub(crate) fn all_queues(&self) -> impl Iterator<Item = &AqmQueue> {
        self.queues.iter().chain(self.gates.iter().flat_map(Gate::queues))
    }

    /// Results of the radios: the Wi-Fi cells, then the links with a radio.
    pub(crate) fn radio_results(&self) -> Vec<RadioResult> {
        let mut radios = self.radios.results(self.config, self.now());
        radios.extend(self.gates.iter().filter_map(|gate| gate.result(self.config, self.core)));
        radios
    }

    /// Use of the radios of a flow's two nodes.
    pub(crate) fn radio_use(&self, nodes: [usize; 2]) -> Option<RadioUse> {
        let in_cells = self.radios.used_by(self.config, nodes, self.now());
        let add = |sum, gate: &Gate| gate.add_use(self.config, nodes, self.now(), sum);
        self.gates.iter().fold(in_cells, add)
    }

    /// The delay line of this link direction, if the direction has a line.
    pub(crate) fn line_after(&self, direction: usize) -> Option<&DelayLine> {
        self.lines.iter().find(|line| line.link as usize == direction)
    }

    /// Decisions of the senders and fates of the packets, if they are recorded.
    pub(crate) fn decisions(&self) -> Option<Decisions> {
        let incidents = self.core.evidence.as_ref()?.incidents.clone();
        let mut senders = Vec::new();
        for (flow, host) in (0u32..).zip(self.core.hosts.iter().step_by(2)) {
            let mut add = |path, journal: Option<&Journal>| {
                senders.extend(journal.map(|j| Decided { flow, path, journal: j.clone() }));
            };
            match &host.kind {
                Kind::Tcp { endpoint, .. } => add(None, endpoint.journal()),
                Kind::Multipath(end) => (0..end.paths.len())
                    .for_each(|path| add(Some(path as u8), end.connection.subflow(path).journal())),
                Kind::Session(end) => end.journals().for_each(|journal| add(None, Some(journal))),
                _ => {}
            }
        }
        let mut sessions = BTreeMap::new();
        for (flow, hosts) in (0u32..).zip(self.core.hosts.chunks_exact(2)) {
            if let [Kind::Session(from), Kind::Session(to)] = [&hosts[0].kind, &hosts[1].kind] {
                sessions.insert(flow, session::of_both([&**from, &**to]));
            }
        }
        let radios = self.gates.iter().filter_map(Gate::states).collect();
        Some(Decisions { senders, incidents, sessions, radios })
    }

    /// Name of a link direction in results.
    pub(crate) fn direction_name(&self, i: usize) -> String {
        let link = &self.config.links[i / 2];
        let (a, b) = (link.ends[i % 2], link.ends[1 - i % 2]);
        format!("{}:{}>{}", link.name, self.config.nodes[a], self.config.nodes[b])
    }
}
