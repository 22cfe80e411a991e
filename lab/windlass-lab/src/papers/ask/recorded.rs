//! Contents of a traced run by its request in `experiments.toml`: series, packets and names of flows.

use std::sync::{Arc, OnceLock};

use minijinja::{Error, Value};

use crate::experiment::{Plan, TraceRequest, series};
use crate::papers::paper::Paper;
use crate::scenario::{Scenario, what_there_is};
use crate::template::mistake;

/// The request of a traced run, and its scenario.
#[derive(Debug)]
pub(crate) struct Recorded {
    request: TraceRequest,
    plan: Arc<Plan>,
    /// Text of the scenario.
    scenario: String,
    /// Names by index: flows, then subflows as `flow:subflow`.
    tracks: OnceLock<Vec<String>>,
}

impl Recorded {
    pub(crate) fn of(paper: &Paper, plan: &Arc<Plan>, request: &TraceRequest) -> Recorded {
        let experiment = plan.experiment(&request.experiment);
        let scenario = experiment.and_then(|e| paper.scenario(&e.scenario)).unwrap_or_default();
        let (request, scenario) = (request.clone(), scenario.to_owned());
        Recorded { request, plan: plan.clone(), scenario, tracks: OnceLock::new() }
    }

    fn tracks(&self) -> &[String] {
        self.tracks.get_or_init(|| {
            let changes = self.plan.changes(&self.request);
            let scenario = Scenario::with_overrides(&self.scenario, "", &changes);
            scenario.map(|s| s.tracks()).unwrap_or_default()
        })
    }

    /// The index of the flow with this name or index.
    pub(crate) fn flow(&self, flow: &Value) -> Result<u32, Error> {
        let tracks = self.tracks();
        let known: Vec<&str> = tracks.iter().map(String::as_str).collect();
        if let Some(name) = flow.as_str() {
            let found = tracks.iter().position(|track| track == name);
            let instead = what_there_is(name, &known);
            let missing =
                || mistake(format!("trace `{}` has no flow `{name}`{instead}", self.request.id));
            return found.map(|at| at as u32).ok_or_else(missing);
        }
        let shown = known.join(", ");
        let index = u32::try_from(flow.clone());
        index.map_err(|_| {
            mistake(format!(
                "`{flow}` is neither a flow's name nor its index; expected one of {shown}"
            ))
        })
    }

    /// Checks that a run has a flow of this index.
    pub(crate) fn has_flow(&self, flow: u32) -> Result<(), Error> {
        let tracks = self.tracks();
        if tracks.is_empty() || (flow as usize) < tracks.len() {
            return Ok(());
        }
        let (id, last, shown) = (&self.request.id, tracks.len() - 1, tracks.join(", "));
        Err(mistake(format!(
            "trace `{id}` has no flow {flow}; expected an index from 0 to {last}, or a name: {shown}"
        )))
    }

    /// Checks that a run records this series.
    pub(crate) fn has_series(&self, name: &str) -> Result<(), Error> {
        series(name).map_err(mistake)?;
        let TraceRequest { id, series, .. } = &self.request;
        let within = |known: &String| known == name || name.starts_with(&format!("{known}."));
        if series.iter().any(within) {
            return Ok(());
        }
        let recorded = match series.as_slice() {
            [] => "nothing".to_owned(),
            all => all.join(", "),
        };
        Err(mistake(format!(
            "trace `{id}` does not record `{name}`; it records {recorded}: add it to `series` in experiments.toml"
        )))
    }

    /// Checks that a run records packets.
    pub(crate) fn has_packets(&self) -> Result<(), Error> {
        if !self.request.capture.is_empty() {
            return Ok(());
        }
        Err(mistake(format!(
            "trace `{}` captures no packets: add a link to `capture` in experiments.toml",
            self.request.id
        )))
    }
}
