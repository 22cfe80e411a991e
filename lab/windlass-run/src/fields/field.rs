//! A field, and the macro that declares fields.

use std::borrow::Cow;

use super::need::Need;
use super::row::{Row, Value};

/// A quantity of a run or of a part of it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name, with the unit at its end.
    pub name: &'static str,
    /// Meaning, in a phrase.
    pub meaning: &'static str,
    /// Type of the values.
    pub of: Type,
    /// True if a row may have no value.
    pub nullable: bool,
    /// Better direction, if one direction is better.
    pub better: Option<Better>,
    /// Property that a scenario needs so that the field has a value.
    pub need: Option<Need>,
    /// True if the field is a column. A number is also a metric.
    pub column: bool,
    /// True if a missing value means that the event never happened. As a metric it is infinite.
    infinite: bool,
    /// True if the value is a share, at most 1. No measured value is less than 0.
    pub share: bool,
    /// For a share of counted events: the field of the same part with the number of events.
    pub events: Option<&'static str>,
    read: for<'a> fn(Row<'a>) -> Option<Value<'a>>,
}

/// Type of the values of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// Counts, bytes, identifiers: 64 bits without sign.
    Integer,
    /// Measured values.
    Real,
    /// A list of numbers.
    Reals,
}

/// Better direction of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// Larger values are better.
    More,
    /// Smaller values are better.
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
            events: None,
            read,
        }
    }

    pub(super) const fn better(self, better: Better) -> Field {
        Field { better: Some(better), ..self }
    }

    pub(super) const fn needs(self, need: Need) -> Field {
        Field { need: Some(need), ..self }
    }

    /// Marks the field as infinite as a metric if it is null as a column.
    pub(super) const fn or_never(self) -> Field {
        Field { infinite: true, ..self }
    }

    /// Marks the field as a share.
    pub(super) const fn share(self) -> Field {
        Field { share: true, ..self }
    }

    /// Marks the field as a share of events, whose number is the field with this name.
    pub(super) const fn share_of(self, events: &'static str) -> Field {
        Field { share: true, events: Some(events), ..self }
    }

    /// Marks the field as a metric without a column, because it follows from columns.
    pub(super) const fn metric_only(self) -> Field {
        Field { column: false, ..self }
    }

    /// The value in a row. An infinite value is null in its column.
    pub fn value<'a>(&self, row: Row<'a>) -> Option<Value<'a>> {
        (self.read)(row)
    }

    /// The value in a row as a metric; `None` if it has no value.
    pub fn number(&self, row: Row<'_>) -> Option<f64> {
        match self.value(row) {
            Some(Value::Integer(n)) => Some(n as f64),
            Some(Value::Real(x)) => Some(x),
            Some(Value::Text(_) | Value::Reals(_)) => None,
            None => (self.infinite && self.applies(row)).then_some(f64::INFINITY),
        }
    }

    /// True if the field is infinite as a metric when it is null as a column.
    pub const fn is_never(&self) -> bool {
        self.infinite
    }

    /// True if the field is a metric.
    pub const fn is_number(&self) -> bool {
        matches!(self.of, Type::Integer | Type::Real)
    }

    /// True if the row has the property that the field needs. Otherwise the row never has a value, and is
    /// left out of means.
    pub fn applies(&self, row: Row<'_>) -> bool {
        self.need.is_none_or(|need| row.has(need))
    }

    /// Unit, from the end of the name; empty for counts and fractions.
    pub fn unit(&self) -> &'static str {
        unit_of(self.name)
    }

    /// The type of its column as text: `real or null`.
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

/// The unit at the end of a column's name; empty for counts and fractions.
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

/// Declares fields, one per line: type, name, meaning, properties, and the expression that reads the value
/// from the part. Without an expression, the value is the part's member of the same name.
macro_rules! fields {
    ($(#[$doc:meta])* $list:ident, |$row:ident, $part:ident|
     $($kind:ident $name:ident: $meaning:literal $(, $property:ident($($value:expr)?))* $(= $read:expr)?;)*) => {
        $(#[$doc])*
        pub(super) const $list: &[$crate::fields::field::Field] = &[$(
            $crate::fields::field::fields!(@type $kind, stringify!($name), $meaning, |$row| {
                let $part = $row.$part()?;
                // An expression may use the row alone, and only needs the part to exist.
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
    (@type integer_or_null, $($rest:tt)*) => { $crate::fields::field::fields!(@new Integer, true, $($rest)*) };
    (@type real, $($rest:tt)*) => { $crate::fields::field::fields!(@new Real, false, $($rest)*) };
    (@type real_or_null, $($rest:tt)*) => { $crate::fields::field::fields!(@new Real, true, $($rest)*) };
    (@type reals, $($rest:tt)*) => { $crate::fields::field::fields!(@new Reals, false, $($rest)*) };
    (@new $of:ident, $nullable:literal, $name:expr, $meaning:expr, $read:expr) => {
        $crate::fields::field::Field::new($name, $meaning, $crate::fields::field::Type::$of, $nullable, $read)
    };
}

pub(super) use fields;
