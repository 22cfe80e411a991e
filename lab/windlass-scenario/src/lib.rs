//! Scenario files.
//!
//! A scenario is one experiment as TOML: links, flows and the data to record. The ends of the links define the nodes.
//! Quantities carry their units, and keys that are left out have defaults. `docs/src/reference/scenarios.md` lists
//! every key.
//!
//! ```
//! use windlass_scenario::Scenario;
//!
//! let text = r#"
//!     duration = "100s"
//!
//!     [[link]]
//!     between = ["server", "client"]
//!     rate = "10Mbps"
//!     delay = "20ms"
//!     loss = { model = "drop", probability = "1%" }
//!
//!     [[flow]]
//!     from = "server"
//!     to = "client"
//!     algorithm = "newreno"
//! "#;
//! let scenario = Scenario::from_str(text, "download.toml")?;
//! assert_eq!(scenario.name, "download");
//! assert_eq!(scenario.links[0].rate_bps, 10_000_000);
//!
//! // Changes one value, as `--set` does. A name or a number selects the link.
//! let set = [("link.server-client.rate".to_owned(), "2Mbps".to_owned())];
//! let slower = Scenario::with_overrides(text, "download.toml", &set)?;
//! assert_eq!(slower.links[0].rate_bps, 2_000_000);
//!
//! // The text that is stored with results, and the hash that identifies the scenario.
//! assert_eq!(Scenario::from_str(&slower.resolved_toml(), "stored.toml")?, slower);
//! assert_ne!(slower.hash(), scenario.hash());
//!
//! let error = Scenario::from_str("duration = 100", "download.toml").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "download.toml:1:12: `duration`: `100` has no unit; write a time such as `30ms`, `1.5s`, \
//!      `100us` or `2min`"
//! );
//! # Ok::<(), windlass_scenario::ScenarioError>(())
//! ```
//!
//! # How a file is read
//!
//! The text becomes a tree in which every value has its place. Overrides replace values in this tree. Then the tree is
//! read into [`Scenario`], and each value is checked when it is read. An error therefore points at the line and column
//! of the file, or at the `--set` that causes it.
//!
//! [`compile`] converts a scenario to the simulator's configuration. [`outlook`] has the summary and the warnings that
//! need no run. [`units`] has the quantities.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod candidate;
mod class;
mod codec;
pub mod compile;
pub mod connections;
mod context;
mod course;
#[cfg(test)]
mod docs_test;
mod draw;
mod error;
mod fields;
mod flow;
mod json_schema;
mod library;
mod link;
mod link_radio;
mod loss;
mod model;
mod multipath;
mod network;
mod outage;
pub mod outlook;
mod overrides;
mod params;
pub mod presets;
mod problem;
mod queue;
mod quic;
mod quick_start;
mod quote;
mod read;
mod reference;
mod schema;
mod stack;
mod topology;
mod trace_columns;
mod traces;
mod traffic;
mod tree;
pub mod units;
mod ways;
mod wifi;
mod write;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use windlass_cc::Span;

pub use candidate::Candidate;
pub use class::{Class, ClassHost, Declaration, Fault, class_host, class_label, host_classes};
pub use error::ScenarioError;
pub use library::{Library, LibraryEnds, LibraryHost, host_library, library_host};
pub use model::{
    Coap, DirectionSpec, FlowSpec, Home, LinkSpec, Media, MultipathSpec, NO_ALGORITHM, OutageSpec,
    RadioSpec, Read, ReceiveWindow, RecordSpec, Scenario, SubflowSpec, TestbedSpec, Traffic,
    Transport, WifiSpec,
};
pub use params::{range_text, value_text};
pub use problem::{did_you_mean, listed, nearest, what_there_is};
pub use reference::key_table;
pub use ways::{Hop, Ways};
pub use windlass_sim::arrivals::Law;
pub use windlass_sim::link::Framing;
pub use windlass_sim::loss::{BerFormula, LossModel};
pub use windlass_sim::queue::{
    CoDel, Device, Discipline, DualPi2, FqCoDel, Pie, Policer, Red, Threshold,
};
use windlass_sim::routing::link_of;

pub use crate::units::QueueLimit;

use error::SourceText;
use overrides::Override;
use problem::{Place, Problem};
use tree::Node;

impl Scenario {
    /// Reads a scenario. `source_name` appears in errors, and its stem is the default name.
    ///
    /// # Errors
    ///
    /// The first error, with its place.
    // Not `FromStr`: an error message needs the name of the file.
    #[allow(clippy::should_implement_trait)]
    pub fn from_str(text: &str, source_name: &str) -> Result<Scenario, ScenarioError> {
        Scenario::with_overrides(text, source_name, &[])
    }

    /// Reads a scenario file.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or as [`Scenario::from_str`].
    pub fn from_file(path: impl AsRef<Path>) -> Result<Scenario, ScenarioError> {
        Scenario::from_file_with(path, &[])
    }

    /// Reads a scenario file and applies overrides as [`Scenario::with_overrides`] does.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or as [`Scenario::with_overrides`].
    pub fn from_file_with(
        path: impl AsRef<Path>,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        let text = Scenario::text_of(&path)?;
        Scenario::with_overrides(&text, &path.as_ref().display().to_string(), overrides)
    }

    /// Reads the text of a scenario file.
    ///
    /// # Errors
    ///
    /// The file cannot be read.
    pub fn text_of(path: impl AsRef<Path>) -> Result<String, ScenarioError> {
        read_text(path.as_ref()).map_err(|e| {
            let name = path.as_ref().display().to_string();
            ScenarioError::unlocated(&name, format!("the scenario file cannot be read: {e}"))
        })
    }

    /// Reads a scenario and changes single values, in order, before the values are interpreted.
    ///
    /// A key is a dotted path as in TOML. Items of `link`, `wifi` and `flow` are selected by name or by number from 0:
    /// `link.0.rate`, `flow.download.params.increase`. A value is TOML, and the quotes of a string may be left out. A
    /// table whose keys all have defaults, such as `stack`, `record`, `params` or a cell's `path_loss`, is created when
    /// a key in it is set. Every other table has to exist. An `algorithm` may have parameters as [`Candidate::parse`]
    /// reads them: `flow.download.algorithm` = `cubic:keep=0.8`.
    ///
    /// # Errors
    ///
    /// The first error in the file alone, with its place. If the file is valid, the first error after the overrides,
    /// with the override that causes it.
    pub fn with_overrides(
        text: &str,
        source_name: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        Document::parse(text, source_name)?.with(overrides)
    }

    /// Returns the scenario as TOML with every default filled in and topologies expanded. This text reads back as an
    /// equal scenario.
    pub fn resolved_toml(&self) -> String {
        write::resolved(self)
    }

    /// 16 hexadecimal digits that identify the simulation. Name, description, seed, the data to record and the
    /// formatting of the file do not change them.
    pub fn hash(&self) -> String {
        write::hash(self)
    }

    /// The hash without the parameters of the algorithms and without their slow starts.
    pub fn hash_without_parameters(&self) -> String {
        write::hash_without_parameters(self)
    }

    /// The routes over the scenario's links and through its cells.
    pub fn ways(&self) -> Ways {
        Ways::new(self.nodes.len(), &self.links, &self.wifi)
    }

    /// The bandwidth-delay product of each link's forward direction in bytes, for [`QueueLimit::BdpMillionths`]. It is
    /// the rate times [`LinkSpec::bdp_rtt`]. Without `bdp_rtt`, the RTT is the longest propagation RTT of the flows
    /// that cross the link. Zero for a link without flows.
    pub fn bdp_bytes(&self) -> Vec<u64> {
        let ways = self.ways();
        let mut round_trips = vec![Span::ZERO; self.links.len()];
        for nodes in self.flows.iter().flat_map(FlowSpec::ways) {
            let hops = ways.through(&nodes).unwrap_or_default();
            // The propagation over the air takes nanoseconds, which its protocol exceeds by far.
            let link = |hop: Hop| match hop {
                Hop::Link(direction) => Some(link_of(direction)),
                Hop::Air { .. } => None,
            };
            let path: Vec<usize> = hops.into_iter().filter_map(link).collect();
            let both = |l: &usize| [0, 1].map(|d| self.links[*l].direction(d).delay);
            let whole = path.iter().flat_map(both).fold(Span::ZERO, |sum, delay| sum + delay);
            for link in path {
                round_trips[link] = round_trips[link].max(whole);
            }
        }
        let product = |(link, longest): (&LinkSpec, Span)| {
            let rtt = link.bdp_rtt.unwrap_or(longest);
            let bytes = u128::from(link.rate_bps) * u128::from(rtt.0) / 8_000_000_000;
            u64::try_from(bytes).unwrap_or(u64::MAX)
        };
        self.links.iter().zip(round_trips).map(product).collect()
    }
}

/// A valid scenario file, to read many times with other values.
#[derive(Clone, Debug)]
pub struct Document {
    name: String,
    root: Node,
    alone: Scenario,
}

impl Document {
    /// Reads a scenario's text as [`Scenario::from_str`] does.
    ///
    /// # Errors
    ///
    /// The first error, with its place.
    pub fn parse(text: &str, source_name: &str) -> Result<Document, ScenarioError> {
        let file = SourceText { name: source_name, text };
        let root =
            tree::parse_document(text).map_err(|e| ScenarioError::in_file(&file, None, e))?;
        let alone = read::scenario(&root, source_name)
            .map_err(|e| ScenarioError::in_file(&file, Some(&root), e))?;
        Ok(Document { name: source_name.to_owned(), root, alone })
    }

    /// The scenario with single values changed, as [`Scenario::with_overrides`] changes them.
    ///
    /// # Errors
    ///
    /// The first error after the overrides, with the override that causes it.
    pub fn with(&self, overrides: &[(String, String)]) -> Result<Scenario, ScenarioError> {
        if overrides.is_empty() {
            return Ok(self.alone.clone());
        }
        let overrides: &[(String, String)] = &overrides
            .iter()
            .flat_map(|(key, value)| candidate::overrides(key, value))
            .collect::<Vec<_>>();
        changed(&self.root, &self.name, overrides, None)
            .map_err(|problem| blame(&self.root, &self.name, overrides, problem))
    }
}

/// Maximum size of a file that is read as text, bytes. It is larger than any trace of a network. A device without an
/// end exceeds it.
const MOST_BYTES: u64 = 256 << 20;

/// Reads a text file. A file of more than [`MOST_BYTES`] is an error, so a device without an end is one too.
fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_BYTES {
        return Err(std::io::Error::other(format!("it has more than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(text)
}

/// The JSON Schema (draft 7) of scenario files, for completion and checks in editors. It accepts words such as `reno`
/// in lower case only, and has no rule that involves several keys.
pub fn json_schema() -> serde_json::Value {
    json_schema::scenario()
}

/// The keys of scenario files as `--set` names them, with `*` for every item of a list: `flow.*.algorithm`.
pub fn keys() -> std::collections::BTreeSet<String> {
    let mut paths = std::collections::BTreeSet::new();
    schema::Shape::Table(&read::SCENARIO).add_paths("", &mut paths);
    paths
}

/// The keys of `stack` with their values as a scenario would spell them.
pub fn stack_values(config: &windlass_tcp::StackConfig) -> Vec<(&'static str, String)> {
    stack::written(config)
}

/// The keys of a link with this named radio, and of the radio, with their values as a scenario would spell them.
pub fn link_radio_values(
    preset: &windlass_sim::link_radio::presets::Preset,
) -> [Vec<(&'static str, String)>; 2] {
    link_radio::values(preset)
}

/// Reads the document with all overrides except `without` applied to it.
fn changed(
    root: &Node,
    source_name: &str,
    overrides: &[(String, String)],
    without: Option<usize>,
) -> Result<Scenario, Problem> {
    let mut root = root.clone();
    for (i, (key, value)) in overrides.iter().enumerate().filter(|(i, _)| Some(*i) != without) {
        Override { source: i + 1, key, value }.apply(&mut root)?;
    }
    read::scenario(&root, source_name)
}

/// Finds the override that causes a problem. This is the override at the problem's place. Otherwise, because the file
/// alone is valid, it is the override without which no problem remains. If there is no such override, all of them
/// together are the cause.
fn blame(
    root: &Node,
    source_name: &str,
    overrides: &[(String, String)],
    mut problem: Problem,
) -> ScenarioError {
    let text = |i: usize| format!("{}={}", overrides[i].0, overrides[i].1);
    if let Some(i) = problem.place.source.checked_sub(1) {
        return ScenarioError::in_override(&text(i), problem);
    }
    let is_cause = |i: &usize| changed(root, source_name, overrides, Some(*i)).is_ok();
    let text = match (0..overrides.len()).find(is_cause) {
        Some(i) => text(i),
        None => (0..overrides.len()).map(text).collect::<Vec<_>>().join(" --set "),
    };
    problem.place = Place { source: 1, span: 0..text.len() };
    ScenarioError::in_override(&text, problem)
}
