//! What a scenario file may say: each key declared once, with its form, meaning and default.
//!
//! The readers know their keys from here, errors list and suggest them, the JSON Schema ([`json`]) is made of
//! them, and a test holds the tables of `docs/src/reference/scenarios.md` to them.

mod codec;
mod json;
mod sections;

pub(super) use codec::{Codec, table};
pub(super) use json::scenario as json_schema;
pub(super) use sections::*;

/// A key of a table.
pub(super) struct Key {
    pub(super) name: &'static str,
    /// How a value is written.
    pub(super) shape: Shape,
    pub(super) meaning: &'static str,
    /// In words, or TOML between backquotes; [`REQUIRED`] where there is none.
    pub(super) default: &'static str,
}

/// Stands for a default that there is not.
pub(super) const REQUIRED: &str = "required";

/// How a value is written.
pub(super) enum Shape {
    Text,
    /// Letters, digits, `-`, `_` and `.`.
    Name,
    /// `true` or `false`.
    Flag,
    /// A number without a unit.
    Number,
    /// An integer in this range.
    Whole(u64, u64),
    /// A number with a unit.
    Of(Quantity),
    /// One of these words.
    Words(Vec<&'static str>),
    List(Box<Shape>),
    Table(&'static Section),
    /// A table one of whose keys says which others there are.
    Kinds(&'static Kinds),
    Either(Vec<Shape>),
    /// The parameters of the algorithm beside it.
    Params,
    /// A slow start, with its parameters or without.
    SlowStart,
    /// A retransmission timer with its parameters.
    Timer,
}

/// What a number with a unit measures.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    Rate,
    Time,
    Size,
    Packets,
    /// Packets, a size, a share of the bandwidth-delay product, or no limit.
    Queue,
    /// A number from 0 to 1, or as much in per cent.
    Share,
    /// An initial window.
    Window,
    Distance,
    Power,
    Decibels,
    Watts,
    Energy,
}

/// The keys of a table.
pub(super) struct Section {
    /// What the schema calls it.
    pub(super) name: &'static str,
    /// Its own keys' names.
    pub(super) names: &'static [&'static str],
    pub(super) own: fn() -> Vec<Key>,
    /// Those that it has in common with others.
    pub(super) common: Option<&'static Section>,
}

impl Section {
    /// The names of all keys.
    pub(super) fn all_names(&self) -> Vec<&'static str> {
        let common = self.common.map_or_else(Vec::new, Section::all_names);
        self.names.iter().copied().chain(common).collect()
    }

    /// All keys.
    pub(super) fn keys(&self) -> Vec<Key> {
        let mut keys = (self.own)();
        keys.extend(self.common.map_or_else(Vec::new, Section::keys));
        keys
    }
}

/// A table whose other keys depend on one of them.
pub(super) struct Kinds {
    pub(super) name: &'static str,
    /// The key that says which it is.
    pub(super) tag: &'static str,
    /// What it is where the key is left out; `None` where it must not be.
    pub(super) usual: Option<&'static str>,
    /// Each kind, with the sections of its keys.
    pub(super) kinds: &'static [(&'static str, &'static [&'static Section])],
}

impl Kinds {
    /// The names of the keys of this kind, the one that chooses it first.
    pub(super) fn names(&self, kind: &str) -> Vec<&'static str> {
        let sections =
            self.kinds.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, s)| s);
        let own = sections.iter().flat_map(|section| section.all_names());
        std::iter::once(self.tag).chain(own).collect()
    }
}

/// Whether a file may lack the table at this path, of keys and of names or numbers of items, because every key in
/// it has a default.
pub(super) fn may_be_left_out(path: &[&str]) -> bool {
    Shape::Table(&SCENARIO).leads_to_defaults(path)
}

impl Shape {
    fn leads_to_defaults(&self, path: &[&str]) -> bool {
        let leads = |keys: Vec<Key>, first: &str, rest: &[&str]| {
            keys.iter().any(|key| key.name == first && key.shape.leads_to_defaults(rest))
        };
        match (self, path) {
            (Shape::Either(shapes), _) => shapes.iter().any(|shape| shape.leads_to_defaults(path)),
            (Shape::List(item), [_, rest @ ..]) => item.leads_to_defaults(rest),
            (Shape::Table(section), []) => section.keys().iter().all(|key| key.default != REQUIRED),
            (Shape::Table(section), [first, rest @ ..]) => leads(section.keys(), first, rest),
            (Shape::Kinds(kinds), []) => kinds.usual.is_some(),
            (Shape::Kinds(kinds), [first, rest @ ..]) => {
                let mut all = kinds.kinds.iter().flat_map(|(_, sections)| *sections);
                all.any(|section| leads(section.keys(), first, rest))
            }
            (shape, path) => path.is_empty() && matches!(shape, Shape::Params | Shape::Timer),
        }
    }
}

/// Declares a section, one key a line: name, form, meaning and default.
macro_rules! section {
    ($(#[$doc:meta])* $list:ident, $name:literal $(with $common:ident)?: $($key:ident $shape:expr, $meaning:literal, $default:literal;)*) => {
        $(#[$doc])*
        pub(crate) static $list: $crate::schema::Section = $crate::schema::Section {
            name: $name,
            names: &[$(stringify!($key)),*],
            own: || vec![$($crate::schema::Key {
                name: stringify!($key),
                shape: $shape,
                meaning: $meaning,
                default: $default,
            }),*],
            common: $crate::schema::section!(@common $($common)?),
        };
    };
    (@common) => { None };
    (@common $common:ident) => { Some(&$common) };
}

use section;
