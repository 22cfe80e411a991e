//! Scenario files.
//!
//! A scenario is one experiment as TOML: links, flows that cross them, and what to record. Nodes
//! exist by being an end of a link, quantities carry their units, and whatever is left out has a
//! default. `docs/src/reference/scenarios.md` lists every key.
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
//! // One value changed, as with `--set`; a link is called by its name or its number.
//! let set = [("link.server-client.rate".to_owned(), "2Mbps".to_owned())];
//! let slower = Scenario::with_overrides(text, "download.toml", &set)?;
//! assert_eq!(slower.links[0].rate_bps, 2_000_000);
//!
//! // What is stored beside results, and what identifies it.
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
//! The text becomes a tree in which every value knows its place; overrides replace values in that
//! tree; then the tree is read into [`Scenario`], every check being made where the value is read.
//! An error therefore points at the file's line and column or at the `--set` that is at fault.
//!
//! [`compile`] turns a scenario into what the simulator takes, [`outlook`] says what can be known of
//! it before it runs, and [`units`] are its quantities.
#![forbid(unsafe_code)]

mod candidate;
mod codec;
pub mod compile;
mod context;
mod course;
#[cfg(test)]
mod docs_test;
mod draw;
mod error;
mod fields;
mod flow;
mod json_schema;
mod link;
mod loss;
mod model;
mod multipath;
mod network;
pub mod outlook;
mod overrides;
mod params;
mod problem;
mod queue;
mod quick_start;
mod quote;
mod read;
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
pub use error::ScenarioError;
pub use model::{
    Coap, DirectionSpec, FlowSpec, Home, Law, LinkSpec, MultipathSpec, NO_ALGORITHM, Read,
    ReceiveWindow, RecordSpec, Scenario, SubflowSpec, TestbedSpec, Traffic, Transport, WifiSpec,
};
pub use params::{range_text, value_text};
pub use problem::{did_you_mean, listed, nearest, what_there_is};
pub use ways::{Hop, Ways};
pub use windlass_sim::link::Framing;
pub use windlass_sim::loss::{BerFormula, LossModel};
pub use windlass_sim::queue::{CoDel, Device, Discipline, FqCoDel, Pie, Policer, Red, Threshold};
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
    /// The first thing that is wrong, with its place.
    // Not `FromStr`: an error without the name of its file is half an error.
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

    /// What stands in a scenario file.
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

    /// Reads a scenario and changes single values, in order, before their meaning is looked at.
    ///
    /// A key is a dotted path as in TOML, the items of `link`, `wifi` and `flow` being called by name or
    /// by number from 0: `link.0.rate`, `flow.download.params.increase`. A value is TOML, and the
    /// quotes of a string may be left out. A table whose keys all have defaults, such as `stack`, `record`, `params`
    /// or a cell's `path_loss`, comes into being when a key in it is set; every other table has to exist. An `algorithm` may have
    /// parameters as [`Candidate::parse`] reads them: `flow.download.algorithm` = `cubic:keep=0.8`.
    ///
    /// # Errors
    ///
    /// The first thing that is wrong in the file alone, with its place; then the first thing that
    /// is wrong after the overrides, with the override that causes it.
    pub fn with_overrides(
        text: &str,
        source_name: &str,
        overrides: &[(String, String)],
    ) -> Result<Scenario, ScenarioError> {
        Document::parse(text, source_name)?.with(overrides)
    }

    /// The scenario as TOML with every default filled in and topologies expanded. It reads back as
    /// an equal scenario.
    pub fn resolved_toml(&self) -> String {
        write::resolved(self)
    }

    /// 16 hexadecimal digits that identify what is simulated: name, description, seed and what is
    /// recorded leave them alone, and so does the spelling of the file.
    pub fn hash(&self) -> String {
        write::hash(self)
    }

    /// The same, whatever the parameters of the algorithms and their slow starts.
    pub fn hash_without_parameters(&self) -> String {
        write::hash_without_parameters(self)
    }

    /// The ways over the scenario's links and through its cells.
    pub fn ways(&self) -> Ways {
        Ways::new(self.nodes.len(), &self.links, &self.wifi)
    }

    /// The bandwidth-delay product of each link's forward direction in bytes, to which [`QueueLimit::BdpMillionths`]
    /// refers there: its rate times [`LinkSpec::bdp_rtt`] or else the longest round trip, propagation
    /// only, of the flows that cross it; zero for a link that no flow crosses.
    pub fn bdp_bytes(&self) -> Vec<u64> {
        let ways = self.ways();
        let mut round_trips = vec![Span::ZERO; self.links.len()];
        for nodes in self.flows.iter().flat_map(FlowSpec::ways) {
            let hops = ways.through(&nodes).unwrap_or_default();
            // What the air takes, nanoseconds, is nothing beside what its protocol takes.
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

/// A scenario file that is right as it stands, to be read many times with other values.
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
    /// The first thing that is wrong, with its place.
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
    /// The first thing that is wrong after the overrides, with the override that causes it.
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

/// Most bytes of a file that is read as text: more than any trace of a network has, and less than a device without an
/// end.
const MOST_BYTES: u64 = 256 << 20;

/// A text file. What has no end is an error as soon as that is plain.
fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    let read = File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    if read as u64 > MOST_BYTES {
        return Err(std::io::Error::other(format!("it has more than {} MiB", MOST_BYTES >> 20)));
    }
    Ok(text)
}

/// The JSON Schema (draft 7) of scenario files, by which editors complete and check them. It takes words such as
/// `reno` in lower case only, and knows nothing of what depends on several keys at once.
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

/// Reads the document with all overrides but one applied to it.
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

/// Finds the override behind a problem: the one where it stands, or else, as the file alone is
/// fine, the one without which all is well, or else all of them together.
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
