//! The nodes and links of a scenario while it is read.

use std::collections::BTreeMap;

use crate::model::{LinkSpec, WifiSpec};
use crate::problem::{Place, Problem};
use crate::ways::Ways;

/// Enough for studies of flows that share a link, and few enough to fit in memory.
pub(super) const MAX_PAIRS: u32 = 10_000;

/// The nodes and links of a scenario.
#[derive(Default)]
pub(super) struct Network {
    pub(super) nodes: Vec<String>,
    pub(super) links: Vec<LinkSpec>,
    pub(super) wifi: Vec<WifiSpec>,
    /// Pairs of flows that take disjoint routes in a cell, with their cell.
    pub(super) disjoint: Vec<(usize, Pair)>,
    /// Nodes whose stations sleep, each with the place of the key that sets it.
    pub(super) sleepers: Vec<(usize, Place)>,
    /// Links with a radio, each with the place of the key that sets it.
    pub(super) radios: Vec<(usize, Place)>,
    /// Pairs of the topology, if it has pairs.
    pub(super) pairs: Option<u32>,
    index: BTreeMap<String, usize>,
    names: BTreeMap<String, usize>,
}

/// A pair of flows that take disjoint routes, by name.
pub(super) type Pair = [(String, Place); 2];

/// A link without its name and its ends, and the place of its radio.
pub(super) type Line = (LinkSpec, Option<Place>);

impl Network {
    /// The routes of the network.
    pub(super) fn ways(&self) -> Ways {
        Ways::new(self.nodes.len(), &self.links, &self.wifi)
    }

    /// Index of the node with this name.
    pub(super) fn node(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// Index of the link with this name.
    pub(super) fn link(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Index of the node with this name. Adds the node if it does not exist.
    pub(super) fn intern(&mut self, name: &str) -> usize {
        if let Some(index) = self.node(name) {
            return index;
        }
        self.nodes.push(name.to_owned());
        self.index.insert(name.to_owned(), self.nodes.len() - 1);
        self.nodes.len() - 1
    }

    /// The name, or the name with the smallest number that makes it unique.
    pub(super) fn free_name(&self, base: &str) -> String {
        let mut name = base.to_owned();
        let mut n = 2;
        while self.names.contains_key(&name) {
            name = format!("{base}-{n}");
            n += 1;
        }
        name
    }

    pub(super) fn push(
        &mut self,
        name: String,
        (a, b): (&str, &str),
        (spec, radio): Line,
        place: &Place,
    ) -> Result<(), Problem> {
        if self.names.contains_key(&name) {
            let message = format!("there is already a link `{name}`; link names are unique");
            return Err(Problem::new(place, message));
        }
        let (a, b) = (self.intern(a), self.intern(b));
        self.names.insert(name.clone(), self.links.len());
        self.radios.extend(radio.map(|place| (self.links.len(), place)));
        self.links.push(LinkSpec { name, a, b, ..spec });
        Ok(())
    }
}
