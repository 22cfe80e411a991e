//! Reading, writing and describing the values of one key, for tables whose keys are the fields of a struct.

use windlass_cc::Span;

use crate::fields::{
    Field, Fields, boolean, choice, number, quantity, rate, size, size_u32, whole_u32, word_of,
};
use crate::problem::Problem;
use crate::quote::{inline, quote};
use crate::schema::{Quantity, Section, Shape};
use crate::tree::Value;
use crate::units::{BitRate, Bytes, Duration, Probability, QueueLimit, Watts};

type Reader<T> = Box<dyn Fn(&Field<'_>) -> Result<T, Problem>>;
/// Returns TOML text; `None` if the key is left out.
type Writer<T> = Box<dyn Fn(&T) -> Option<String>>;

/// Keys and their TOML text.
pub(crate) type Pairs = Vec<(&'static str, String)>;

/// A form of values, with its reader and its writer.
pub(crate) struct Codec<T> {
    pub(crate) shape: Shape,
    read: Reader<T>,
    write: Writer<T>,
    absent: Absent<T>,
}

/// The value of a key that a table leaves out.
enum Absent<T> {
    /// The value of the struct that the table changes.
    Kept,
    Is(T),
    /// The key is required. The text shows how it is written.
    Refused(&'static str),
}

/// Generates a section, its reader and its writer from one list of keys. If a field of the struct is missing
/// here, the code does not compile. Fields after the keys are listed only for this check.
///
/// The reader changes a struct, or `builds` a struct or a variant. `as` gives the key another name than the field. A
/// key with a form in brackets belongs to the section only.
macro_rules! table {
    ($section:ident, $name:literal, $apply:ident, $written:ident, $struct:ident {
        $($field:ident $([$shape:expr])? $($(as $key:ident)?: $codec:expr)?, $meaning:literal, $default:literal;)*
    } $($by_hand:tt)*) => {
        $crate::schema::section! {
            $section, $name: $($field $($shape)? $($(as $key)? $codec.shape)?, $meaning, $default;)*
        }

        pub(crate) fn $apply(config: &mut $struct, fields: &Fields) -> Result<(), Problem> {
            $($(if let Some(value) = $codec.value(fields, $crate::schema::key!($field $($key)?))? {
                config.$field = value;
            })?)*
            Ok(())
        }

        /// Every field as key and TOML text.
        pub(crate) fn $written(config: &$struct) -> $crate::codec::Pairs {
            let $struct { $($($field: table!(@any $codec),)?)* $($by_hand)* } = config;
            let pairs = [$($($codec.pair($crate::schema::key!($field $($key)?), &config.$field),)?)*];
            pairs.into_iter().flatten().collect()
        }
    };
    (@any $codec:expr) => { _ };
    ($section:ident, $name:literal, $read:ident, $written:ident, builds $type:ident $(:: $variant:ident)? {
        $($field:ident $([$shape:expr])? $($(as $key:ident)?: $codec:expr)?, $meaning:literal, $default:literal;)*
    }) => {
        $crate::schema::section! {
            $section, $name: $($field $($shape)? $($(as $key)? $codec.shape)?, $meaning, $default;)*
        }

        fn $read(fields: &Fields) -> Result<$type, Problem> {
            use $type $(:: $variant)? as Built;
            Ok(Built { $($($field: $codec.built(fields, $crate::schema::key!($field $($key)?))?,)?)* })
        }

        /// Every field as key and TOML text; nothing for another variant.
        #[allow(irrefutable_let_patterns)]
        pub(crate) fn $written(value: &$type) -> $crate::codec::Pairs {
            use $type $(:: $variant)? as Built;
            let mut pairs = Vec::new();
            $($(
                let codec = $codec;
                if let Built { $field, .. } = value {
                    pairs.extend(codec.pair($crate::schema::key!($field $($key)?), $field));
                }
            )?)*
            pairs
        }
    };
}

pub(crate) use table;

/// The value with the changes of a table.
pub(crate) fn changed<T>(
    field: &Field,
    section: &Section,
    mut value: T,
    apply: fn(&mut T, &Fields) -> Result<(), Problem>,
) -> Result<T, Problem> {
    let what = format!("`{}`", field.key);
    apply(&mut value, &Fields::open(field.node, &what, section.names)?)?;
    Ok(value)
}

/// The pairs with these keys first, which have spaces between them.
pub(crate) fn ordered(mut pairs: Pairs, first: &str) -> Pairs {
    let place = |key: &str| first.split(' ').position(|known| known == key);
    pairs.sort_by_key(|(key, _)| place(key).unwrap_or(usize::MAX));
    pairs
}

impl<T: 'static> Codec<T> {
    /// A codec with the given form, reader and writer.
    pub(crate) fn new(
        shape: Shape,
        read: impl Fn(&Field<'_>) -> Result<T, Problem> + 'static,
        write: impl Fn(&T) -> String + 'static,
    ) -> Codec<T> {
        let write = Box::new(move |value: &T| Some(write(value)));
        Codec { shape, read: Box::new(read), write, absent: Absent::Kept }
    }

    /// The value without the key.
    pub(crate) fn or(self, default: T) -> Codec<T> {
        Codec { absent: Absent::Is(default), ..self }
    }

    /// A required key. `example` shows how it is written.
    pub(crate) fn req(self, example: &'static str) -> Codec<T> {
        Codec { absent: Absent::Refused(example), ..self }
    }

    /// A key without a default.
    pub(crate) fn opt(self) -> Codec<Option<T>> {
        let Codec { shape, read, write, .. } = self;
        let write = Box::new(move |value: &Option<T>| write(value.as_ref()?));
        let read = Box::new(move |field: &Field<'_>| read(field).map(Some));
        Codec { shape, read, write, absent: Absent::Is(None) }
    }

    /// A value, or a word for none.
    pub(crate) fn or_word(self, word: &'static str) -> Codec<Option<T>> {
        let Codec { shape, read, write, .. } = self;
        let read = Box::new(move |field: &Field<'_>| match &field.node.value {
            Value::Text(text) if text.eq_ignore_ascii_case(word) => Ok(None),
            _ => read(field).map(Some),
        });
        let write = Box::new(move |value: &Option<T>| match value {
            None => Some(quote(word)),
            Some(value) => write(value),
        });
        let shape = Shape::Either(vec![Shape::Words(vec![word]), shape]);
        Codec { shape, read, write, absent: Absent::Kept }
    }

    /// The value of the key; `None` if it is left out and nothing replaces it.
    pub(crate) fn value(
        self,
        fields: &Fields<'_>,
        key: &'static str,
    ) -> Result<Option<T>, Problem> {
        match (fields.field(key), self.absent) {
            (Some(field), _) => (self.read)(&field).map(Some),
            (None, Absent::Kept) => Ok(None),
            (None, Absent::Is(value)) => Ok(Some(value)),
            (None, Absent::Refused(example)) => Err(fields.lacks(key, example)),
        }
    }

    /// The value of a key of a table that builds a value.
    pub(crate) fn built(self, fields: &Fields<'_>, key: &'static str) -> Result<T, Problem> {
        self.value(fields, key)?.ok_or_else(|| fields.lacks(key, "..."))
    }

    /// The key and its text, unless it is left out.
    pub(crate) fn pair(self, key: &'static str, value: &T) -> Option<(&'static str, String)> {
        Some((key, (self.write)(value)?))
    }
}

impl<T: Default + 'static> Codec<T> {
    /// A key whose default depends on other keys, so that the reader of the table fills it in.
    pub(crate) fn later(self) -> Codec<T> {
        self.or(T::default())
    }
}

impl<T: PartialEq + 'static> Codec<T> {
    /// A key that is not written at this value, so that it changes no older hash.
    pub(crate) fn unless(self, usual: T) -> Codec<T> {
        let write = self.write;
        let write = Box::new(move |value: &T| if *value == usual { None } else { write(value) });
        Codec { write, ..self }
    }
}

impl<T: Copy + PartialEq + 'static> Codec<T> {
    /// One of the given words.
    pub(crate) fn word(all: &'static [(&'static str, T)]) -> Codec<T> {
        let words = Shape::Words(all.iter().map(|(word, _)| *word).collect());
        Codec::new(words, choice(all), |value| quote(word_of(all, value)))
    }
}

impl<T: Copy + PartialEq + From<bool> + 'static> Codec<T> {
    /// `true`, `false`, or one of two words.
    pub(crate) fn flag_or(all: &'static [(&'static str, T); 2]) -> Codec<T> {
        let read = |field: &Field| {
            let word = match &field.node.value {
                Value::Boolean(on) => return Ok(T::from(*on)),
                Value::Text(text) => all.iter().find(|(word, _)| word == text),
                _ => None,
            };
            let [a, b] = all.map(|(word, _)| quote(word));
            let wrong = || field.error(format!("must be `true`, `false`, `{a}` or `{b}`"));
            word.map(|(_, value)| *value).ok_or_else(wrong)
        };
        let write = |value: &T| match all.iter().find(|(_, known)| known == value) {
            Some((word, _)) => quote(word),
            None => (*value == T::from(true)).to_string(),
        };
        let words = Shape::Words(all.map(|(word, _)| word).to_vec());
        Codec::new(Shape::Either(vec![Shape::Flag, words]), read, write)
    }
}

impl<T: Copy + Default + 'static> Codec<Option<T>> {
    /// `none`, a word for the usual settings, or a table that changes them.
    pub(crate) fn settings(
        word: &'static str,
        section: &'static Section,
        apply: fn(&mut T, &Fields) -> Result<(), Problem>,
        written: fn(&T) -> Pairs,
    ) -> Codec<Option<T>> {
        let words = [("none", false), (word, true)];
        let read = move |field: &Field| match field.node.value {
            Value::Text(_) => Ok(choice(&words)(field)?.then(T::default)),
            _ => changed(field, section, T::default(), apply).map(Some),
        };
        let shape = Shape::Either(vec![Shape::Words(vec!["none", word]), Shape::Table(section)]);
        let write = Box::new(move |value: &Option<T>| Some(inline(&written(value.as_ref()?))));
        Codec { shape, read: Box::new(read), write, absent: Absent::Kept }
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

    /// A number that is stored in thousandths, of which there are `min` to `max`. `refusal` is the error.
    pub(crate) fn thousandths(min: u32, max: u32, refusal: &'static str) -> Codec<u32> {
        let read = move |field: &Field| {
            let value = number(field)? * 1000.0;
            let whole = value.round();
            let range = f64::from(min)..=f64::from(max);
            let fits = range.contains(&whole) && (value - whole).abs() < 1e-6;
            if fits { Ok(whole as u32) } else { Err(field.error(refusal)) }
        };
        Codec::new(Shape::Number, read, |value| (f64::from(*value) / 1000.0).to_string())
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

    /// A power, microwatts.
    pub(crate) fn watts() -> Codec<u64> {
        let read = |field: &Field| quantity(field).map(|Watts { uw }| uw);
        Codec::new(Shape::Of(Quantity::Watts), read, |uw| quote(Watts { uw: *uw }))
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

    /// A number from `min` to `max`, of which none is negative.
    pub(crate) fn number(min: f64, max: f64) -> Codec<f64> {
        let read = move |field: &Field| match number(field)? {
            value if (min..=max).contains(&value) => Ok(value.abs()), // -0 is 0
            value => Err(field.error(format!("{value} is outside the range from {min} to {max}"))),
        };
        Codec::new(Shape::Number, read, f64::to_string)
    }
}

impl Codec<QueueLimit> {
    /// A queue length. `read` parses it.
    pub(crate) fn level(read: fn(&Field<'_>) -> Result<QueueLimit, Problem>) -> Codec<QueueLimit> {
        Codec::new(Shape::Of(Quantity::Queue), read, |value| quote(value))
    }
}
