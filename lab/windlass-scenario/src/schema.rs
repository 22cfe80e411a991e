//! Declarations of keys. Each key is declared once, with its form, meaning and default, next to the function that
//! reads it.
//!
//! Readers take their keys from the declarations, and errors list and suggest them. The JSON Schema
//! ([`json_schema`](crate::json_schema)) is generated from them, and a test compares them with the tables of
//! `docs/src/reference/scenarios.md`.

use std::collections::BTreeSet;

/// A key of a table.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    /// The form of a value.
    pub(crate) shape: Shape,
    pub(crate) meaning: &'static str,
    /// The default in words, or as TOML between backquotes; [`REQUIRED`] if the key has no default.
    pub(crate) default: &'static str,
}

/// The text for a key without a default.
pub(crate) const REQUIRED: &str = "required";

/// The form of a value.
pub(crate) enum Shape {
    Text,
    /// Letters, digits, `-`, `_` and `.`.
    Name,
    /// An algorithm by the kernel's name.
    KernelName,
    /// An algorithm that is a class in Python.
    ClassName,
    /// A controller in a QUIC library.
    LibraryName,
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
    /// A table in which one key determines the other keys.
    Kinds(&'static Kinds),
    Either(Vec<Shape>),
    /// The parameters of the algorithm in the same table.
    Params,
    /// A slow start, with or without parameters.
    SlowStart,
    /// A retransmission timer with its parameters.
    Timer,
}

/// The kind of a number with a unit.
#[derive(Clone, Copy)]
pub(crate) enum Quantity {
    Rate,
    Time,
    Size,
    Packets,
    /// Packets, a size, a share of the bandwidth-delay product, or no limit.
    Queue,
    /// A number from 0 to 1, or a percentage.
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
pub(crate) struct Section {
    /// Name in the JSON Schema.
    pub(crate) name: &'static str,
    /// Names of the keys that only this section has.
    pub(crate) names: &'static [&'static str],
    pub(crate) own: fn() -> Vec<Key>,
    /// The section with its common keys, which other sections share.
    pub(crate) common: Option<&'static Section>,
}

impl Section {
    /// The names of all keys.
    pub(crate) fn all_names(&self) -> Vec<&'static str> {
        let common = self.common.map_or_else(Vec::new, Section::all_names);
        self.names.iter().copied().chain(common).collect()
    }

    /// All keys.
    pub(crate) fn keys(&self) -> Vec<Key> {
        let mut keys = (self.own)();
        keys.extend(self.common.map_or_else(Vec::new, Section::keys));
        keys
    }
}

/// A table whose other keys depend on one of them.
pub(crate) struct Kinds {
    pub(crate) name: &'static str,
    /// The key that selects the kind.
    pub(crate) tag: &'static str,
    /// The kind if the key is left out; `None` if the key is required.
    pub(crate) usual: Option<&'static str>,
    /// Each kind, with the sections of its keys.
    pub(crate) kinds: &'static [(&'static str, &'static [&'static Section])],
}

impl Kinds {
    /// The names of the kinds, as words to select one.
    pub(crate) fn words(&self) -> Vec<(&'static str, &'static str)> {
        self.kinds.iter().map(|(kind, _)| (*kind, *kind)).collect()
    }

    /// The names of the keys of this kind; the key that selects it is the first.
    pub(crate) fn names(&self, kind: &str) -> Vec<&'static str> {
        let sections =
            self.kinds.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, s)| s);
        let own = sections.iter().flat_map(|section| section.all_names());
        std::iter::once(self.tag).chain(own).collect()
    }
}

impl Shape {
    /// True if the value at this path may be left out, because every key in it has a default. A path consists of
    /// keys, and of names or numbers of items.
    pub(crate) fn leads_to_defaults(&self, path: &[&str]) -> bool {
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

    /// Adds the paths of all values below this value, which is at `path`. An item of a list is `*`.
    pub(crate) fn add_paths(&self, path: &str, paths: &mut BTreeSet<String>) {
        let mut add_keys = |section: &Section| {
            for key in section.keys() {
                let dot = if path.is_empty() { "" } else { "." };
                key.shape.add_paths(&format!("{path}{dot}{}", key.name), paths);
            }
        };
        match self {
            Shape::Either(shapes) => shapes.iter().for_each(|shape| shape.add_paths(path, paths)),
            Shape::List(item) if matches!(**item, Shape::Table(_) | Shape::Kinds(_)) => {
                item.add_paths(&format!("{path}.*"), paths);
            }
            Shape::Table(section) => add_keys(section),
            Shape::Kinds(kinds) => {
                kinds.kinds.iter().flat_map(|(_, sections)| *sections).copied().for_each(add_keys);
                paths.insert(format!("{path}.{}", kinds.tag));
            }
            _ => {
                paths.insert(path.to_owned());
            }
        }
    }
}

/// An array of these.
pub(crate) fn list(shape: Shape) -> Shape {
    Shape::List(Box::new(shape))
}

/// The words of a table of words.
pub(crate) fn words<T>(all: &'static [(&'static str, T)]) -> Shape {
    Shape::Words(all.iter().map(|(word, _)| *word).collect())
}

/// A form, in which forms and quantities are written by their bare names.
macro_rules! shape {
    ($shape:expr) => {{
        #[allow(unused_imports)]
        use $crate::schema::{Quantity::*, Shape::*, list, words};
        $shape
    }};
}

pub(crate) use shape;

/// The name of a key: of its field, or another.
macro_rules! key {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $key:ident) => {
        stringify!($key)
    };
}

pub(crate) use key;

/// Declares a section, one key per line: name, form, meaning and default.
macro_rules! section {
    ($(#[$doc:meta])* $list:ident, $name:literal $(with $common:ident)?: $($field:ident $(as $key:ident)? $shape:expr, $meaning:literal, $default:literal;)*) => {
        $(#[$doc])*
        pub(crate) static $list: $crate::schema::Section = $crate::schema::Section {
            name: $name,
            names: &[$($crate::schema::key!($field $($key)?)),*],
            own: || vec![$($crate::schema::Key {
                name: $crate::schema::key!($field $($key)?),
                shape: $crate::schema::shape!($shape),
                meaning: $meaning,
                default: $default,
            }),*],
            common: $crate::schema::section!(@common $($common)?),
        };
    };
    (@common) => { None };
    (@common $common:ident) => { Some(&$common) };
}

pub(crate) use section;
