//! What a run yields: every quantity declared once, with its name, unit, meaning and better direction.
//!
//! The columns of the [tables](crate::store::table), the metrics of claims, sweeps and comparisons, the
//! terminal's overview and the tables of `docs/src/reference/results.md` are all taken from here. A name ends in its
//! unit where it has one.

mod flow;
mod network;
mod row;
mod run;

pub use row::{Kind, Row, Value};
pub use run::jain_index;

use std::borrow::Cow;

use crate::RunRecord;

/// A quantity of a run or of a part of it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// What it says, in a phrase.
    pub meaning: &'static str,
    /// What its values are.
    pub of: Type,
    /// Whether a part may be without it.
    pub nullable: bool,
    /// Which way is better, where one is.
    pub better: Option<Better>,
    /// What a scenario must have for it to have a value.
    pub need: Option<Need>,
    /// Whether it is a column; a metric it is in any case, if it is a number.
    pub column: bool,
    /// Whether what has no value has not come to it yet: as a metric it is infinite.
    infinite: bool,
    read: for<'a> fn(Row<'a>) -> Option<Value<'a>>,
}

/// What the values of a field are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// Counts, bytes, identifiers: 64 bits without sign.
    Integer,
    /// Everything that is measured.
    Real,
    /// A list of numbers.
    Reals,
}

/// Which values of a quantity are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger ones.
    More,
    /// Smaller ones.
    Less,
}

/// What a scenario must have for a field to have a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// A connection over one path.
    Connection,
    /// The delay of each packet is measured.
    Delays,
    /// Losses and progress are counted by intervals.
    Bins,
    /// Messages have a deadline.
    Deadline,
    /// There is a Wi-Fi station.
    Radio,
    /// It is said what a radio draws.
    Power,
    /// A station has a battery.
    Battery,
    /// Packets find their own way.
    Routing,
    /// The runs have a warm-up, which only those of a sweep have.
    WarmUp,
}

impl Field {
    const fn new(
        name: &'static str,
        meaning: &'static str,
        of: Type,
        nullable: bool,
        read: for<'a> fn(Row<'a>) -> Option<Value<'a>>,
    ) -> Field {
        let (better, need) = (None, None);
        Field { name, meaning, of, nullable, better, need, column: true, infinite: false, read }
    }

    const fn better(self, better: Better) -> Field {
        Field { better: Some(better), ..self }
    }

    const fn needs(self, need: Need) -> Field {
        Field { need: Some(need), ..self }
    }

    /// Infinite as a metric where it is null as a column.
    const fn or_never(self) -> Field {
        Field { infinite: true, ..self }
    }

    /// No column: it follows from those that are.
    const fn metric_only(self) -> Field {
        Field { column: false, ..self }
    }

    /// The value in a row, as its column has it.
    pub fn value<'a>(&self, row: Row<'a>) -> Option<Value<'a>> {
        (self.read)(row)
    }

    /// The value in a row, as a metric; `None` where there is none.
    pub fn number(&self, row: Row<'_>) -> Option<f64> {
        match self.value(row) {
            Some(Value::Integer(n)) => Some(n as f64),
            Some(Value::Real(x)) => Some(x),
            Some(Value::Text(_) | Value::Reals(_)) => None,
            None => (self.infinite && self.applies(row)).then_some(f64::INFINITY),
        }
    }

    /// Whether it is a metric.
    pub const fn is_number(&self) -> bool {
        matches!(self.of, Type::Integer | Type::Real)
    }

    /// Whether the row has what the field needs: one that lacks it has no value whatever happens, and
    /// is no part of a mean.
    pub fn applies(&self, row: Row<'_>) -> bool {
        self.need.is_none_or(|need| row.has(need))
    }

    /// Unit, as the name's ending tells; empty for counts and fractions.
    pub fn unit(&self) -> &'static str {
        unit_of(self.name)
    }

    /// The type of its column, for people: `real or null`.
    pub fn type_text(&self) -> Cow<'static, str> {
        let name = match self.of {
            Type::Text => "text",
            Type::Integer => "integer",
            Type::Real => "real",
            Type::Reals => "list of reals",
        };
        if self.nullable { format!("{name} or null").into() } else { name.into() }
    }
}

/// The unit that the end of a column's name tells; empty for counts and fractions.
pub fn unit_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('_').map_or("", |(_, ending)| ending);
    let known =
        ["bps", "ns", "ms", "s", "m", "bytes", "packets"].into_iter().find(|u| *u == ending);
    known.unwrap_or(match ending {
        "j" => "J",
        "nj" => "nJ",
        _ => "",
    })
}

/// Declares fields, one a line: what they are, name, meaning, properties, and how they are read from the part
/// where that is not the member of their name.
macro_rules! fields {
    ($(#[$doc:meta])* $list:ident, |$row:ident, $part:ident|
     $($kind:ident $name:ident: $meaning:literal $(, $property:ident($($value:expr)?))* $(= $read:expr)?;)*) => {
        $(#[$doc])*
        pub(super) const $list: &[$crate::fields::Field] = &[$(
            $crate::fields::fields!(@type $kind, stringify!($name), $meaning, |$row| {
                let $part = $row.$part()?;
                // A name that the row knows needs no more of the part than that it is there.
                let _ = &$part;
                $crate::fields::row::Readable::value($crate::fields::fields!(@read $part $name $($read)?))
            })
            $(.$property($($value)?))*
        ),*];
    };
    (@read $part:ident $name:ident) => { $part.$name };
    (@read $part:ident $name:ident $read:expr) => { $read };
    (@type text, $($rest:tt)*) => { $crate::fields::fields!(@new Text, false, $($rest)*) };
    (@type text_or_null, $($rest:tt)*) => { $crate::fields::fields!(@new Text, true, $($rest)*) };
    (@type integer, $($rest:tt)*) => { $crate::fields::fields!(@new Integer, false, $($rest)*) };
    (@type real, $($rest:tt)*) => { $crate::fields::fields!(@new Real, false, $($rest)*) };
    (@type real_or_null, $($rest:tt)*) => { $crate::fields::fields!(@new Real, true, $($rest)*) };
    (@type reals, $($rest:tt)*) => { $crate::fields::fields!(@new Reals, false, $($rest)*) };
    (@new $of:ident, $nullable:literal, $name:expr, $meaning:expr, $read:expr) => {
        $crate::fields::Field::new($name, $meaning, $crate::fields::Type::$of, $nullable, $read)
    };
}

use fields;

/// A table of results: its rows and its columns.
#[derive(Clone, Copy, Debug)]
pub struct Listing {
    /// Name, which is also the file's.
    pub name: &'static str,
    /// Whether it is there without rows too.
    pub always: bool,
    /// What its rows are.
    pub kind: Kind,
    fields: &'static [Field],
}

const fn listing(name: &'static str, kind: Kind, fields: &'static [Field]) -> Listing {
    let always = matches!(kind, Kind::Run | Kind::Flow | Kind::Link);
    Listing { name, always, kind, fields }
}

/// One row a run.
pub const RUNS: Listing = listing("runs", Kind::Run, run::RUN);
/// One row a run and flow.
pub const SUMMARY: Listing = listing("summary", Kind::Flow, flow::FLOW);
/// One row a run and link direction.
pub const LINKS: Listing = listing("links", Kind::Link, network::LINK);
/// One row a run and Wi-Fi cell.
pub const CELLS: Listing = listing("cells", Kind::Cell, network::CELL);
/// One row a run and Wi-Fi cell whose packets find their own way.
pub const ROUTING: Listing = listing("routing", Kind::Cell, network::ROUTING);
/// One row a run and station of a Wi-Fi cell.
pub const STATIONS: Listing = listing("stations", Kind::Station, network::STATION);
/// One row a run and multipath flow.
pub const MULTIPATH: Listing = listing("multipath", Kind::Multipath, flow::MULTIPATH);
/// One row a run and subflow of a multipath flow.
pub const SUBFLOWS: Listing = listing("subflows", Kind::Subflow, flow::SUBFLOW);

/// Every table.
pub const LISTINGS: [Listing; 8] =
    [RUNS, SUMMARY, LINKS, CELLS, STATIONS, MULTIPATH, SUBFLOWS, ROUTING];

impl Listing {
    /// Its columns: those that say which run a row belongs to, and its own.
    pub fn columns(&self) -> impl Iterator<Item = &'static Field> + use<> {
        run::IDENTITY.iter().chain(self.fields).filter(|f| f.column)
    }

    /// Its rows of these runs.
    pub fn rows<'a>(&self, records: &'a [RunRecord]) -> Vec<Row<'a>> {
        let rows = records.iter().flat_map(|run| self.kind.rows(run));
        let routed = self.name == ROUTING.name;
        rows.filter(|row| !routed || row.routing().is_some()).collect()
    }
}

impl Kind {
    /// The fields that can be asked for as metrics.
    pub fn metrics(self) -> impl Iterator<Item = &'static Field> + use<> {
        let own = LISTINGS.into_iter().filter(move |l| l.kind == self).flat_map(|l| l.fields);
        own.filter(|f| f.is_number())
    }

    /// The metric of this name.
    pub fn metric(self, name: &str) -> Option<&'static Field> {
        self.metrics().find(|f| f.name == name)
    }
}
