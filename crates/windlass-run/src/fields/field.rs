//! A field, and how fields are declared.

use std::borrow::Cow;

use super::need::Need;
use super::row::{Row, Value};

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
    /// Whether it is part of a whole: no more than 1. Nothing that is measured is less than 0.
    pub share: bool,
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

impl Field {
    pub(super) const fn new(
        name: &'static str,
        meaning: &'static str,
        of: Type,
        nullable: bool,
        read: for<'a> fn(Row<'a>) -> Option<Value<'a>>,
    ) -> Field {
        let (better, need) = (None, None);
        Field {
            name,
            meaning,
            of,
            nullable,
            better,
            need,
            column: true,
            infinite: false,
            share: false,
            read,
        }
    }

    pub(super) const fn better(self, better: Better) -> Field {
        Field { better: Some(better), ..self }
    }

    pub(super) const fn needs(self, need: Need) -> Field {
        Field { need: Some(need), ..self }
    }

    /// Infinite as a metric where it is null as a column.
    pub(super) const fn or_never(self) -> Field {
        Field { infinite: true, ..self }
    }

    /// Part of a whole.
    pub(super) const fn share(self) -> Field {
        Field { share: true, ..self }
    }

    /// No column: it follows from those that are.
    pub(super) const fn metric_only(self) -> Field {
        Field { column: false, ..self }
    }

    /// The value in a row. An infinite one is null in its column.
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

    /// Whether it is infinite as a metric where it is null as a column.
    pub const fn is_never(&self) -> bool {
        self.infinite
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
        pub(super) const $list: &[$crate::fields::field::Field] = &[$(
            $crate::fields::field::fields!(@type $kind, stringify!($name), $meaning, |$row| {
                let $part = $row.$part()?;
                // A name that the row knows needs no more of the part than that it is there.
                let _ = &$part;
                $crate::fields::row::Readable::value($crate::fields::field::fields!(@read $part $name $($read)?))
            })
            $(.$property($($value)?))*
        ),*];
    };
    (@read $part:ident $name:ident) => { $part.$name };
    (@read $part:ident $name:ident $read:expr) => { $read };
    (@type text, $($rest:tt)*) => { $crate::fields::field::fields!(@new Text, false, $($rest)*) };
    (@type text_or_null, $($rest:tt)*) => { $crate::fields::field::fields!(@new Text, true, $($rest)*) };
    (@type integer, $($rest:tt)*) => { $crate::fields::field::fields!(@new Integer, false, $($rest)*) };
    (@type real, $($rest:tt)*) => { $crate::fields::field::fields!(@new Real, false, $($rest)*) };
    (@type real_or_null, $($rest:tt)*) => { $crate::fields::field::fields!(@new Real, true, $($rest)*) };
    (@type reals, $($rest:tt)*) => { $crate::fields::field::fields!(@new Reals, false, $($rest)*) };
    (@new $of:ident, $nullable:literal, $name:expr, $meaning:expr, $read:expr) => {
        $crate::fields::field::Field::new($name, $meaning, $crate::fields::field::Type::$of, $nullable, $read)
    };
}

pub(super) use fields;
