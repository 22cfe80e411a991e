//! Runs in the simulator in which the ends of some flows are connections of a QUIC library.

use windlass_cc::Time;
use windlass_scenario::{Scenario, library_host};
use windlass_sim::external::{Carrier, PacketEnd};
use windlass_sim::{Config, ConservationError, RunResult, Simulation};

use crate::RunError;

/// The ends in a library, by host. It is empty for most scenarios.
pub(crate) struct Outside(Vec<(u32, Box<dyn PacketEnd + Send>)>);

impl Outside {
    /// The ends of a run with this configuration.
    ///
    /// # Errors
    ///
    /// A flow does not suit its library, or this program has no library.
    pub(crate) fn of(scenario: &Scenario, config: &Config) -> Result<Outside, RunError> {
        let mut ends = Vec::new();
        for (place, (spec, flow)) in (0..).zip(scenario.flows.iter().zip(&config.flows)) {
            let Some(library) = &spec.library else { continue };
            let unfit = |message| RunError::Library { flow: spec.name.clone(), message };
            if let Some((key, reason)) = spec.unfit_for_library(flow.profile.mtu) {
                return Err(unfit(format!("`{key}`: {reason}")));
            }
            let host =
                library_host().ok_or_else(|| unfit("this program has no quinn".to_owned()))?;
            let [from, to] = host.ends(library.own, place, flow, config.seed);
            ends.extend([(2 * place, from), (2 * place + 1, to)]);
        }
        Ok(Outside(ends))
    }

    /// The ends, for a [`Carrier`].
    pub(crate) fn ends(&mut self) -> Vec<(u32, &mut dyn PacketEnd)> {
        self.0.iter_mut().map(|(host, end)| (*host, &mut **end as &mut dyn PacketEnd)).collect()
    }
}

/// A run that can be interrupted.
pub(crate) trait Run {
    /// Runs up to this time, at most the duration. Returns true if the run may continue.
    ///
    /// # Errors
    ///
    /// An end in a library fails.
    fn until(&mut self, end: Time) -> Result<bool, RunError>;

    /// The results.
    ///
    /// # Errors
    ///
    /// Packets are unaccounted for.
    fn finish(self) -> Result<RunResult, ConservationError>;
}

impl Run for Simulation {
    fn until(&mut self, end: Time) -> Result<bool, RunError> {
        Ok(self.run_until(end))
    }

    fn finish(self) -> Result<RunResult, ConservationError> {
        Simulation::finish(self)
    }
}

impl Run for Carrier<'_, '_> {
    fn until(&mut self, end: Time) -> Result<bool, RunError> {
        self.run_until(end).map_err(RunError::backend)
    }

    fn finish(self) -> Result<RunResult, ConservationError> {
        Carrier::finish(self)
    }
}
