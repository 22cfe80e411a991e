//! Routes of packets: over links, and over the air between two stations.

use windlass_sim::routing::{Direction, Routes, link_of};

use crate::model::{LinkSpec, Scenario, WifiSpec};

/// The routes between the nodes of a scenario.
#[derive(Clone, Debug)]
pub struct Ways {
    routes: Routes,
    links: usize,
    /// Pairs of stations, with the index of their cell.
    air: Vec<(usize, [usize; 2])>,
}

/// One step of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Hop {
    /// Over a link in this direction.
    Link(Direction),
    /// Between two stations of a Wi-Fi cell.
    Air {
        /// Index among the scenario's cells.
        cell: usize,
        /// Index of the sending station among the cell's.
        from: usize,
        /// Index of the receiving station among the cell's.
        to: usize,
    },
}

impl Hop {
    /// The same step in the opposite direction.
    pub fn reversed(self) -> Hop {
        match self {
            Hop::Link(direction) => Hop::Link(direction ^ 1),
            Hop::Air { cell, from, to } => Hop::Air { cell, from: to, to: from },
        }
    }
}

impl Ways {
    /// The routes over these links, then over these cells. They equal the simulator's routes.
    pub(super) fn new(nodes: usize, links: &[LinkSpec], wifi: &[WifiSpec]) -> Ways {
        let of_cell = |(i, cell): (usize, &WifiSpec)| {
            cell.radio.pairs().into_iter().map(move |pair| (i, pair)).collect::<Vec<_>>()
        };
        let air: Vec<(usize, [usize; 2])> = wifi.iter().enumerate().flat_map(of_cell).collect();
        let wires = links.iter().map(|l| [l.a, l.b]);
        let pairs = air.iter().map(|(i, pair)| pair.map(|s| wifi[*i].radio.stations[s].node));
        Ways { routes: Routes::new(nodes, wires.chain(pairs)), links: links.len(), air }
    }

    /// The route from one node to another, as directions; `None` if they are not connected. A
    /// direction after the directions of the links is a direction over the air.
    pub fn path(&self, from: usize, to: usize) -> Option<Vec<Direction>> {
        self.routes.path(from, to)
    }

    /// The step of a direction.
    pub fn hop(&self, direction: Direction) -> Hop {
        let Some(&(cell, [a, b])) =
            link_of(direction).checked_sub(self.links).and_then(|i| self.air.get(i))
        else {
            return Hop::Link(direction);
        };
        let (from, to) = if direction.is_multiple_of(2) { (a, b) } else { (b, a) };
        Hop::Air { cell, from, to }
    }

    /// The route from one node to another, step by step.
    pub fn hops(&self, from: usize, to: usize) -> Option<Vec<Hop>> {
        self.through(&[from, to])
    }

    /// The route from the first of these nodes over each of the next nodes to the last, step by
    /// step.
    pub fn through(&self, nodes: &[usize]) -> Option<Vec<Hop>> {
        let path = self.routes.through(nodes)?;
        Some(path.into_iter().map(|direction| self.hop(direction)).collect())
    }
}

impl Scenario {
    /// Largest IP packet for this step, bytes.
    pub fn mtu(&self, hop: Hop) -> u32 {
        mtu(hop, &self.links, &self.wifi)
    }
}

/// Largest IP packet for this step, bytes.
pub(super) fn mtu(hop: Hop, links: &[LinkSpec], wifi: &[WifiSpec]) -> u32 {
    match hop {
        Hop::Link(direction) => links[link_of(direction)].mtu,
        Hop::Air { cell, .. } => wifi[cell].mtu,
    }
}
