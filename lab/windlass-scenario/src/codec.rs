//! Reading, writing and describing the values of one key, for tables whose keys are the fields of a struct.

use windlass_cc::Span;

use crate::fields::{Field, boolean, choice, rate, size, size_u32, whole_u32, word_of};
use crate::problem::Problem;
use crate::quote::quote;
use crate::schema::{Quantity, Shape};
use crate::units::{BitRate, Bytes, Duration, Probability, QueueLimit};

type Reader<T> = Box<dyn Fn(&Field<'_>) -> Result<T, Problem>>;

/// A form of values, with its reader and its writer.
pub(crate) struct Codec<T> {
    pub(crate) shape: Shape,
    pub(crate) read: Reader<T>,
    /// As TOML text.
    pub(crate) write: Box<dyn Fn(&T) -> String>,
}

/// Generates a section, its reader and its writer from one list of keys. If a field of the struct is missing
/// here, the code does not compile. Fields under `by_hand` are listed only for this check.
macro_rules! table {
    ($section:ident, $name:literal, $apply:ident, $written:ident, $struct:ident {
        $($field:ident: $codec:expr, $meaning:literal, $default:literal;)*
    } $($by_hand:ident)?) => {
        pub(crate) static $section: $crate::schema::Section = $crate::schema::Section {
            name: $name,
            names: &[$(stringify!($field)),*],
            own: || vec![$($crate::schema::Key {
                name: stringify!($field),
                shape: $codec.shape,
                meaning: $meaning,
                default: $default,
            }),*],
            common: None,
        };

        fn $apply(config: &mut $struct, fields: &Fields) -> Result<(), Problem> {
            $(if let Some(field) = fields.field(stringify!($field)) {
                config.$field = ($codec.read)(&field)?;
            })*
            Ok(())
        }

        /// Every field as key and TOML text.
        pub(crate) fn $written(config: &$struct) -> Vec<(&'static str, String)> {
            let $struct { $($field: _,)* $($by_hand: _)? } = config;
            vec![$((stringify!($field), ($codec.write)(&config.$field))),*]
        }
    };
}

pub(crate) use table;

impl<T: 'static> Codec<T> {
    /// A codec with the given form, reader and writer.
    pub(crate) fn new(
        shape: Shape,
        read: impl Fn(&Field<'_>) -> Result<T, Problem> + 'static,
        write: impl Fn(&T) -> String + 'static,
    ) -> Codec<T> {
        Codec { shape, read: Box::new(read), write: Box::new(write) }
    }
}

impl<T: Copy + PartialEq + 'static> Codec<T> {
    /// One of the given words.
    pub(crate) fn word(all: &'static [(&'static str, T)]) -> Codec<T> {
        let words = Shape::Words(all.iter().map(|(word, _)| *word).collect());
        Codec::new(words, choice(all), |value| quote(word_of(all, value)))
    }
}

impl Codec<bool> {
    pub(crate) fn flag() -> Codec<bool> {
        Codec::new(Shape::Flag, boolean, bool::to_string)
    }
}

impl Codec<u32> {
    pub(crate) fn whole(min: u32, max: u32) -> Codec<u32> {
        Codec::new(Shape::Whole(min.into(), max.into()), whole_u32(min, max), u32::to_string)
    }

    pub(crate) fn size_u32(min: u32, max: u32) -> Codec<u32> {
        let write = |value: &u32| quote(Bytes((*value).into()));
        Codec::new(Shape::Of(Quantity::Size), size_u32(min, max), write)
    }
}

impl Codec<u64> {
    /// A rate above zero, bits per second.
    pub(crate) fn rate() -> Codec<u64> {
        Codec::new(Shape::Of(Quantity::Rate), rate, |bps| quote(BitRate(*bps)))
    }

    pub(crate) fn size(min: u64, max: u64) -> Codec<u64> {
        Codec::new(Shape::Of(Quantity::Size), size(min, max), |value| quote(Bytes(*value)))
    }
}

impl Codec<Span> {
    /// A time. `read` parses it.
    pub(crate) fn time(read: fn(&Field<'_>) -> Result<Span, Problem>) -> Codec<Span> {
        Codec::new(Shape::Of(Quantity::Time), read, |value| quote(Duration(*value)))
    }
}

impl Codec<f64> {
    /// A probability or weight. `read` parses it.
    pub(crate) fn share(read: fn(&Field<'_>) -> Result<f64, Problem>) -> Codec<f64> {
        Codec::new(Shape::Of(Quantity::Share), read, |value| Probability(*value).to_string())
    }

    /// A number. `read` parses it.
    pub(crate) fn number(read: fn(&Field<'_>) -> Result<f64, Problem>) -> Codec<f64> {
        Codec::new(Shape::Number, read, f64::to_string)
    }
}

impl Codec<QueueLimit> {
    /// A queue length. `read` parses it.
    pub(crate) fn level(read: fn(&Field<'_>) -> Result<QueueLimit, Problem>) -> Codec<QueueLimit> {
        Codec::new(Shape::Of(Quantity::Queue), read, |value| quote(value))
    }
}
