//! The end of a run: its results.

use super::Simulation;
use crate::conservation::{self, ConservationError};
use crate::results::RunResult;

impl Simulation {
    /// Checks packet conservation and returns the results.
    ///
    /// # Errors
    ///
    /// If packets are unaccounted for.
    pub fn finish(mut self) -> Result<RunResult, ConservationError> {
        conservation::check(self.view())?;
        let bins = self.bins.take();
        let samples = self.recorder.take().map(|r| r.samples).unwrap_or_default();
        let mut packets = self.core.log.take().map(|log| log.packets).unwrap_or_default();
        // A transmission is logged before it starts, and may start after the end of the run.
        packets.retain(|p| p.time <= self.now());
        packets.sort_by_key(|p| p.time);
        // The state and the results of a million devices need not fit into memory together: what no later line needs
        // goes first.
        (self.core.events, self.core.packets) = Default::default();
        let view = self.view();
        let mut result = RunResult {
            end: self.now(),
            events: self.processed,
            packet_hops: self.packet_hops(),
            flows: (0..self.config.flows.len()).map(|i| view.flow_result(i)).collect(),
            links: Vec::new(),
            radios: view.radio_results(),
            messages: view.messages(),
            connections: view.connections(),
            samples,
            packets,
            timeline: bins.map(|bins| bins.finish(view)),
            decisions: view.decisions().map(Box::new),
        };
        self.core.hosts = Vec::new();
        result.links = (0..self.core.links.len()).map(|i| self.view().link_result(i)).collect();
        Ok(result)
    }
}
