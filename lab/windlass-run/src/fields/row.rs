//! The parts of a run, from which fields are read.

use std::borrow::Cow;

use windlass_sim::results::ConnectionsResult;
use windlass_sim::routing::aodv::RoutingResult;
use windlass_sim::{
    FlowResult, LinkResult, MultipathResult, RadioResult, StationResult, SubflowResult,
};

use super::need::Need;
use crate::{RunRecord, Steady};

/// The kind of part that a field describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A flow.
    Flow,
    /// One direction of a link.
    Link,
    /// All flows together.
    Run,
    /// A Wi-Fi cell.
    Cell,
    /// A station of a Wi-Fi cell.
    Station,
    /// A multipath flow, with its additional fields.
    Multipath,
    /// A subflow of a multipath flow.
    Subflow,
}

impl Kind {
    /// Every kind, with the first word of its metrics and the pattern for the names of its parts.
    pub const ALL: [(&'static str, Kind, &'static str); 7] = [
        ("flow", Kind::Flow, "NAME"),
        ("link", Kind::Link, "NAME:FROM>TO"),
        ("run", Kind::Run, ""),
        ("cell", Kind::Cell, "NAME"),
        ("station", Kind::Station, "CELL:NODE"),
        ("multipath", Kind::Multipath, "FLOW"),
        ("subflow", Kind::Subflow, "FLOW:NAME"),
    ];

    /// The parts of this kind of a run, in the scenario's order.
    pub fn rows(self, run: &RunRecord) -> Vec<Row<'_>> {
        let row = |part| Row { run, part };
        let flows = || run.flows.iter();
        let paths = || flows().filter_map(|flow| Some((flow, flow.multipath.as_ref()?)));
        match self {
            Kind::Run => vec![row(Part::Run)],
            Kind::Flow => flows().enumerate().map(|(i, flow)| row(Part::Flow(i, flow))).collect(),
            Kind::Link => run.links.iter().map(|link| row(Part::Link(link))).collect(),
            Kind::Cell => run.radios.iter().map(|cell| row(Part::Cell(cell))).collect(),
            Kind::Station => {
                let of = |cell| move |station| row(Part::Station(cell, station));
                run.radios.iter().flat_map(|cell| cell.stations.iter().map(of(cell))).collect()
            }
            Kind::Multipath => paths().map(|(f, m)| row(Part::Multipath(f, m))).collect(),
            Kind::Subflow => {
                let of = |flow| move |subflow| row(Part::Subflow(flow, subflow));
                paths().flat_map(|(f, m)| m.subflows.iter().map(of(f))).collect()
            }
        }
    }
}

/// A run, or a part of one.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    run: &'a RunRecord,
    part: Part<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Run,
    /// A flow with its index.
    Flow(usize, &'a FlowResult),
    Link(&'a LinkResult),
    Cell(&'a RadioResult),
    Station(&'a RadioResult, &'a StationResult),
    Multipath(&'a FlowResult, &'a MultipathResult),
    Subflow(&'a FlowResult, &'a SubflowResult),
}

impl<'a> Row<'a> {
    /// The name of the part in metrics; empty for a whole run.
    pub fn name(self) -> Cow<'a, str> {
        match self.part {
            Part::Run => "".into(),
            Part::Flow(_, flow) | Part::Multipath(flow, _) => (&flow.name).into(),
            Part::Link(link) => (&link.name).into(),
            Part::Cell(cell) => (&cell.name).into(),
            Part::Station(cell, station) => format!("{}:{}", cell.name, station.name).into(),
            Part::Subflow(flow, subflow) => format!("{}:{}", flow.name, subflow.name).into(),
        }
    }

    /// The run of this row.
    pub const fn record(self) -> &'a RunRecord {
        self.run
    }

    pub(super) const fn run(self) -> Option<&'a RunRecord> {
        Some(self.run)
    }

    pub(super) const fn flow(self) -> Option<&'a FlowResult> {
        match self.part {
            Part::Flow(_, flow) | Part::Multipath(flow, _) | Part::Subflow(flow, _) => Some(flow),
            _ => None,
        }
    }

    /// The flow after its warm-up, if the runs have a warm-up.
    pub(super) fn steady(self) -> Option<&'a Steady> {
        match self.part {
            Part::Flow(place, _) => self.run.steady.get(place)?.as_ref(),
            _ => None,
        }
    }

    pub(super) const fn link(self) -> Option<&'a LinkResult> {
        match self.part {
            Part::Link(link) => Some(link),
            _ => None,
        }
    }

    pub(super) const fn cell(self) -> Option<&'a RadioResult> {
        match self.part {
            Part::Cell(cell) | Part::Station(cell, _) => Some(cell),
            _ => None,
        }
    }

    pub(super) fn routing(self) -> Option<&'a RoutingResult> {
        self.cell()?.routing.as_ref()
    }

    /// The connections of the flow, or of all flows of the run.
    pub(super) fn connections(self) -> Option<&'a ConnectionsResult> {
        match self.part {
            Part::Run => self.run.connections.as_ref(),
            Part::Flow(_, flow) => flow.connections.as_deref(),
            _ => None,
        }
    }

    pub(super) const fn station(self) -> Option<&'a StationResult> {
        match self.part {
            Part::Station(_, station) => Some(station),
            _ => None,
        }
    }

    pub(super) const fn multipath(self) -> Option<&'a MultipathResult> {
        match self.part {
            Part::Multipath(_, multipath) => Some(multipath),
            _ => None,
        }
    }

    pub(super) const fn subflow(self) -> Option<&'a SubflowResult> {
        match self.part {
            Part::Subflow(_, subflow) => Some(subflow),
            _ => None,
        }
    }

    /// True if the part has the needed property, according to its results.
    pub(super) fn has(self, need: Need) -> bool {
        match (need, self.part) {
            (Need::Connection, Part::Flow(_, flow)) => {
                let paths = flow.multipath.as_ref().map_or(1, |m| m.subflows.len());
                flow.algorithm != windlass_scenario::NO_ALGORITHM && paths == 1
            }
            (Need::Deadline, Part::Flow(_, flow)) => flow.messages.is_some(),
            (Need::Connections, Part::Flow(_, flow)) => flow.connections.is_some(),
            (Need::Exchanges, Part::Flow(_, flow)) => flow.coap.is_some(),
            (Need::Radio, Part::Flow(_, flow)) => flow.radio.is_some(),
            (Need::Power, Part::Flow(_, flow)) => flow.radio.is_some_and(|r| r.sender_j.is_some()),
            (Need::Power, Part::Station(_, station)) => station.energy_j.is_some(),
            (Need::Battery, Part::Station(_, station)) => station.battery_left_j.is_some(),
            (Need::Routing, Part::Cell(cell)) => cell.routing.is_some(),
            (Need::Bins, _) => self.run.course.is_some(),
            (Need::Radio, Part::Run) => !self.run.radios.is_empty(),
            _ => true,
        }
    }
}

/// A value of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// Text.
    Text(&'a str),
    /// A count.
    Integer(u64),
    /// A measured value.
    Real(f64),
    /// A list.
    Reals(&'a [f64]),
}

/// A type that a field may read from a part.
pub(super) trait Readable<'a> {
    fn value(self) -> Option<Value<'a>>;
}

impl<'a> Readable<'a> for u64 {
    fn value(self) -> Option<Value<'a>> {
        Some(Value::Integer(self))
    }
}

impl<'a> Readable<'a> for f64 {
    fn value(self) -> Option<Value<'a>> {
        Some(Value::Real(self))
    }
}

impl<'a> Readable<'a> for &'a str {
    fn value(self) -> Option<Value<'a>> {
        Some(Value::Text(self))
    }
}

impl<'a> Readable<'a> for &'a [f64] {
    fn value(self) -> Option<Value<'a>> {
        Some(Value::Reals(self))
    }
}

impl<'a, T: Readable<'a>> Readable<'a> for Option<T> {
    fn value(self) -> Option<Value<'a>> {
        self?.value()
    }
}
