//! What is kept of a run.

use serde::{Deserialize, Serialize};

use crate::{Course, World};

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
    /// The world it ran in: `sim`, `linux`, `linux-vt=6.12`.
    #[serde(default = "simulated")]
    pub world: String,
    /// Release of the kernel it ran on, if one did.
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
    /// Each flow after its warm-up, in their order, `None` where the run is too short to tell;
    /// empty in a run without a warm-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steady: Vec<Option<Steady>>,
    /// What the run's intervals came to, where the scenario counts by intervals.
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
