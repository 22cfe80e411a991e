//! Experiments: a scenario, axes that vary it, and replications over seeds.

use serde::{Deserialize, Serialize};

/// One point of an experiment: coordinates, and what they change in the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// `axis=label` pairs joined by commas: `mode=data-only,p=1%`.
    pub id: String,
    /// Axis and label of each coordinate.
    pub coordinates: Vec<(String, String)>,
    /// `key = value` overrides in TOML syntax, applied to the scenario in order.
    pub overrides: Vec<(String, String)>,
}

/// The record of one run, as the journal keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Experiment identifier.
    pub experiment: String,
    /// Point identifier.
    pub point: String,
    /// Seed of the run.
    pub seed: u64,
    /// Hash of the resolved scenario.
    pub scenario_hash: String,
    /// Windlass version that made it.
    pub version: String,
    /// Simulated time at the end, seconds.
    pub end_s: f64,
    /// Events processed.
    pub events: u64,
    /// Frames put on links.
    pub packet_hops: u64,
    /// Flow totals.
    pub flows: Vec<windlass_sim::FlowResult>,
    /// Link totals.
    pub links: Vec<windlass_sim::LinkResult>,
}
