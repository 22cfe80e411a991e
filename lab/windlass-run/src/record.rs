//! The stored record of a run.

use serde::{Deserialize, Serialize};

use crate::{Course, World};

/// The record of one run in the journal.
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
    /// Windlass version of the run.
    pub version: String,
    /// The backend: `sim`, `linux`, `linux-vt=6.12`.
    #[serde(default = "simulated")]
    pub world: String,
    /// Release of the kernel, if a kernel ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
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
    /// Totals of the Wi-Fi cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub radios: Vec<windlass_sim::RadioResult>,
    /// The messages of all flows that have a deadline, together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub messages: Option<windlass_sim::latency::MessageResult>,
    /// The connections of all flows that open connections again, together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<windlass_sim::results::ConnectionsResult>,
    /// Each flow after its warm-up, in the scenario's order; `None` for a run that is too short.
    /// Empty in a run without a warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<Option<Steady>>,
    /// Summary of the run's intervals, if the scenario counts per interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub course: Option<Course>,
}

/// A flow after its warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Simulated time at which the warm-up ends, seconds.
    pub from_s: f64,
    /// New payload at the receiving application from then until the flow's end, bits per second.
    pub goodput_bps: f64,
}

fn simulated() -> String {
    World::Sim.to_string()
}
