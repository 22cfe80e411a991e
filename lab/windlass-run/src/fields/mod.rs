//! The fields of results. Every quantity is declared once, with its name, unit, meaning and better direction.
//!
//! The declarations define the columns of the [tables](crate::store::table), the metrics of claims, sweeps and
//! comparisons, the terminal's overview and the tables of `docs/src/reference/results.md`. If a quantity has a unit,
//! its name ends in the unit.

mod connections;
mod field;
mod flow;
mod need;
mod network;
mod row;
mod run;

pub use field::{Better, Field, Type, unit_of};
pub use need::Need;
pub use row::{Kind, Row, Value};
pub use run::jain_index;

use crate::RunRecord;
use connections::{CONNECTIONS, joined};

/// A table of results: its rows and its columns.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Name, which is also the file's name.
    pub name: &'static str,
    /// True if the table is written without rows too.
    pub always: bool,
    /// Kind of its rows.
    pub kind: Kind,
    fields: &'static [Field],
}

const fn listing(name: &'static str, kind: Kind, fields: &'static [Field]) -> Listing {
    let always = matches!(kind, Kind::Run | Kind::Flow | Kind::Link);
    Listing { name, always, kind, fields }
}

/// The fields of runs and of flows, which both have connections.
const RUN: [Field; run::RUN.len() + CONNECTIONS.len()] = joined(run::RUN, CONNECTIONS);
const FLOW: [Field; flow::FLOW.len() + CONNECTIONS.len()] = joined(flow::FLOW, CONNECTIONS);

/// One row per run.
pub const RUNS: Listing = listing("runs", Kind::Run, &RUN);
/// One row per run and flow.
pub const SUMMARY: Listing = listing("summary", Kind::Flow, &FLOW);
/// One row per run and link direction.
pub const LINKS: Listing = listing("links", Kind::Link, network::LINK);
/// One row per run and Wi-Fi cell.
pub const CELLS: Listing = listing("cells", Kind::Cell, network::CELL);
/// One row per run and Wi-Fi cell with a routing protocol.
pub const ROUTING: Listing = listing("routing", Kind::Cell, network::ROUTING);
/// One row per run and station of a Wi-Fi cell.
pub const STATIONS: Listing = listing("stations", Kind::Station, network::STATION);
/// One row per run and multipath flow.
pub const MULTIPATH: Listing = listing("multipath", Kind::Multipath, flow::MULTIPATH);
/// One row per run and subflow of a multipath flow.
pub const SUBFLOWS: Listing = listing("subflows", Kind::Subflow, flow::SUBFLOW);

/// Every table.
pub const LISTINGS: [Listing; 8] =
    [RUNS, SUMMARY, LINKS, CELLS, STATIONS, MULTIPATH, SUBFLOWS, ROUTING];

impl Listing {
    /// The fields of its rows. A field with `column` is a column, and a number is a metric.
    pub fn fields(&self) -> &'static [Field] {
        self.fields
    }

    /// Its columns: first the columns that identify the run, then the table's other columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static Field> + use<> {
        run::IDENTITY.iter().chain(self.fields).filter(|f| f.column)
    }

    /// The table's rows for these runs.
    pub fn rows<'a>(&self, records: &'a [RunRecord]) -> Vec<Row<'a>> {
        let rows = records.iter().flat_map(|run| self.kind.rows(run));
        let routed = self.name == ROUTING.name;
        rows.filter(|row| !routed || row.routing().is_some()).collect()
    }
}

impl Kind {
    /// The fields that are metrics.
    pub fn metrics(self) -> impl Iterator<Item = &'static Field> + use<> {
        let own = LISTINGS.into_iter().filter(move |l| l.kind == self).flat_map(|l| l.fields);
        own.filter(|f| f.is_number())
    }

    /// The metric of this name.
    pub fn metric(self, name: &str) -> Option<&'static Field> {
        self.metrics().find(|f| f.name == name)
    }
}
