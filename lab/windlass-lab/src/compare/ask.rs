//! The request for a comparison, and its check.

use super::{Flows, FlowsError, Measure, Question};
use crate::Error;
use crate::run::World;
use crate::scenario::{Candidate, Scenario};
use crate::sweep::check_seeds;
use crate::units::Duration;

/// A requested comparison, before the check.
#[derive(Clone, Debug)]
pub struct Request {
    /// The network and its flows.
    pub scenario: Scenario,
    /// The algorithms, as [`Candidate::parse`] reads them. For CoAP flows these are timers, as [`Candidate::timer`]
    /// reads them.
    pub algorithms: Vec<String>,
    /// Settings of the scenario to compare instead of algorithms, by their labels.
    pub settings: Vec<(String, Scenario)>,
    /// Names of the flows that run them; empty for all flows that can.
    pub flows: Vec<String>,
    /// Replications.
    pub seeds: u64,
    /// The algorithm that the others are compared with; `None` for the best one.
    pub baseline: Option<String>,
    /// Jitter of every flow's start, instead of the scenario's jitter.
    pub jitter: Option<Duration>,
    /// Measure of the printed ranking; `None` for the usual one of the flows: latency, exchange or goodput.
    pub measure: Option<Measure>,
    /// True if mixtures also run, to measure the harm between algorithms.
    pub harm: bool,
    /// Backend of the runs.
    pub world: World,
}

impl Request {
    /// Returns the question, after all checks that need no run.
    ///
    /// # Errors
    ///
    /// The first fault, with its option.
    pub fn question(mut self) -> Result<Question, Error> {
        check_seeds(&self.scenario, self.seeds)?;
        if let Some(Duration(jitter)) = self.jitter {
            self.scenario.flows.iter_mut().for_each(|flow| flow.jitter = jitter);
            // Parse the scenario again, so that the usual check of jitter applies.
            self.scenario = Scenario::from_str(&self.scenario.resolved_toml(), "--jitter")
                .map_err(|e| Error::Input(format!("--jitter: {}", e.message())))?;
        }
        let option = if self.flows.is_empty() { "" } else { "--flows: " };
        let flows = match Flows::of(&self.scenario, &self.flows) {
            Err(FlowsError::NothingToCompare) if !self.settings.is_empty() => {
                Flows::every(&self.scenario)
            }
            flows => flows.map_err(|e| Error::Input(format!("{option}{e}")))?,
        };
        let candidates = self.candidates(flows.have_timers(&self.scenario))?;
        let baseline =
            self.baseline.as_ref().map(|name| position(&candidates, name)).transpose()?;
        let compared = flows.indices().iter().map(|i| &self.scenario.flows[*i]);
        let measure = self.measure.unwrap_or_else(|| Measure::usual(compared));
        let Request { scenario, seeds, harm, world, .. } = self;
        Ok(Question { scenario, candidates, flows, seeds, baseline, measure, harm, world })
    }

    /// The algorithms, or the timers of CoAP flows.
    fn candidates(&self, timers: bool) -> Result<Vec<Candidate>, Error> {
        if !self.settings.is_empty() {
            return Ok(self
                .settings
                .iter()
                .cloned()
                .map(|(l, s)| Candidate::setting(l, s))
                .collect());
        }
        if timers && self.world != World::Sim {
            return Err(Error::Input(format!(
                "the compared flows are CoAP flows, whose timers only the backend `sim` has, not `{}`",
                self.world
            )));
        }
        let read = if timers { Candidate::timer } else { Candidate::parse };
        let example = if timers { "coap,cocoa" } else { "cubic,bbr" };
        let mut candidates: Vec<Candidate> = Vec::new();
        for text in &self.algorithms {
            let candidate = read(text)?;
            if candidates.iter().any(|c| c.label == candidate.label) {
                return Err(Error::Input(format!("--algorithms: `{text}` is listed twice")));
            }
            let wrong = |problem| Error::Input(format!("--algorithms {problem}"));
            self.world.takes(&candidate).map_err(wrong)?;
            candidates.push(candidate);
        }
        if candidates.len() < 2 {
            return Err(Error::Input(format!(
                "--algorithms: a comparison needs at least two, such as `--algorithms {example}`"
            )));
        }
        Ok(candidates)
    }
}

fn position(candidates: &[Candidate], name: &str) -> Result<usize, Error> {
    candidates.iter().position(|c| c.label == name.trim()).ok_or_else(|| {
        let known: Vec<&str> = candidates.iter().map(|c| c.label.as_str()).collect();
        Error::Input(format!(
            "--baseline {name}: it is not among the algorithms compared, which are {}",
            known.join(", ")
        ))
    })
}
