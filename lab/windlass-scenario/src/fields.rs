//! Typed access to a table. All errors of single values are produced here.

use std::fmt::Display;
use std::str::FromStr;

use windlass_cc::Span;
use windlass_sim::config::MAX_SPAN;

use crate::problem::{Place, Problem, listed, nearest};
use crate::schema::Kinds;
use crate::tree::{Node, Table, Value};
use crate::units::{BitRate, Bytes, Duration, Packets, Probability, QueueLimit, UnitError, Window};

/// A table whose keys have been checked against the known keys.
pub(super) struct Fields<'a> {
    /// How messages call the table: ``` `[[link]]` ```, `the scenario`.
    what: &'a str,
    place: Place,
    table: &'a Table,
}

/// A value together with its key.
pub(super) struct Field<'a> {
    pub(super) key: &'a str,
    pub(super) node: &'a Node,
}

impl<'a> Fields<'a> {
    /// The table in `node`, which messages call `what`.
    pub(super) fn any(node: &'a Node, what: &'a str) -> Result<Fields<'a>, Problem> {
        match &node.value {
            Value::Table(table) => Ok(Fields { what, place: node.place.clone(), table }),
            _ => Err(Problem::new(
                &node.place,
                format!("{what} must be a table, not {}", node.kind()),
            )),
        }
    }

    /// The table in `node`, which must have only `known` keys.
    pub(super) fn open(
        node: &'a Node,
        what: &'a str,
        known: &[&str],
    ) -> Result<Fields<'a>, Problem> {
        let fields = Fields::any(node, what)?;
        fields.allow(known)?;
        Ok(fields)
    }

    /// The place of a key's value, or of the table if the key is missing.
    pub(super) fn place_of<'b>(&'b self, key: &'b str) -> &'b Place {
        self.field(key).map_or(self.place(), |field| &field.node.place)
    }

    /// An error at a key's value, or at the table if the key is missing.
    pub(super) fn error(&self, key: &str, message: impl Display) -> Problem {
        Problem::new(self.place_of(key), format!("`{key}`: {message}"))
    }

    /// The same table under another name.
    pub(super) fn called<'b>(&'b self, what: &'b str) -> Fields<'b> {
        Fields { what, place: self.place.clone(), table: self.table }
    }

    /// Returns an error for keys that are not `known`.
    pub(super) fn allow(&self, known: &[&str]) -> Result<(), Problem> {
        let Some(entry) = self.table.0.iter().find(|e| !known.contains(&e.key.as_str())) else {
            return Ok(());
        };
        let message = format!("unknown key `{}` in {}", entry.key.escape_debug(), self.what);
        let near = nearest(&entry.key, known);
        let known = format!("the keys of {} are {}", self.what, listed(known));
        Err(Problem::suggesting(&entry.key_place, message, near, known))
    }

    /// The kind of the table. It may have only the keys of this kind. `example` shows how a kind is written.
    pub(super) fn kind(&self, kinds: &Kinds, example: &str) -> Result<&'static str, Problem> {
        let kind = match kinds.usual {
            Some(usual) => self.or(kinds.tag, choice(&kinds.words()), usual)?,
            None => self.req(kinds.tag, example, choice(&kinds.words()))?,
        };
        self.allow(&kinds.names(kind)).map(|()| kind)
    }

    /// The place of the table.
    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    pub(super) fn field(&self, key: &'a str) -> Option<Field<'a>> {
        self.table.get(key).map(|node| Field { key, node })
    }

    /// The value of a key that may be missing.
    pub(super) fn opt<T>(
        &self,
        key: &'a str,
        read: impl FnOnce(&Field<'a>) -> Result<T, Problem>,
    ) -> Result<Option<T>, Problem> {
        self.field(key).map(|field| read(&field)).transpose()
    }

    /// The value of a key, or a default.
    pub(super) fn or<T>(
        &self,
        key: &'a str,
        read: impl FnOnce(&Field<'a>) -> Result<T, Problem>,
        default: T,
    ) -> Result<T, Problem> {
        Ok(self.opt(key, read)?.unwrap_or(default))
    }

    /// The value of a required key; `example` shows how it is written.
    pub(super) fn req<T>(
        &self,
        key: &'a str,
        example: &str,
        read: impl FnOnce(&Field<'a>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.opt(key, read)?.ok_or_else(|| self.lacks(key, example))
    }

    /// The error for a required key that is missing.
    pub(super) fn lacks(&self, key: &str, example: &str) -> Problem {
        let message = format!("{} lacks the key `{key}`", self.what);
        Problem::new(&self.place, format!("{message}; write for example `{key} = {example}`"))
    }
}

impl Field<'_> {
    /// An error at the value.
    pub(super) fn error(&self, message: impl Display) -> Problem {
        Problem::new(&self.node.place, format!("`{}`: {message}", self.key))
    }

    pub(super) fn wrong_kind(&self, wanted: &str) -> Problem {
        let message = format!("`{}` must be {wanted}, not {}", self.key, self.node.kind());
        Problem::new(&self.node.place, message)
    }

    /// The text of a string.
    pub(super) fn string(&self) -> Result<&str, Problem> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong_kind("a string")),
        }
    }

    /// The items of an array.
    pub(super) fn array(&self) -> Result<Vec<Field<'_>>, Problem> {
        match &self.node.value {
            Value::Array(items) => {
                Ok(items.iter().map(|node| Field { key: self.key, node }).collect())
            }
            _ => Err(self.wrong_kind("an array")),
        }
    }

    /// The two items of an array. `wrong` is the error for another number of items.
    pub(super) fn pair(
        &self,
        wrong: impl FnOnce(usize) -> String,
    ) -> Result<[Field<'_>; 2], Problem> {
        let items = self.array()?;
        let n = items.len();
        items.try_into().map_err(|_| self.error(wrong(n)))
    }

    /// A quantity that is written as a string, or as a bare number if it has no dimension.
    fn quantity<T: FromStr<Err = UnitError>>(&self) -> Result<T, Problem> {
        let parsed = match &self.node.value {
            Value::Text(text) => text.parse(),
            Value::Integer(n) => n.to_string().parse(),
            Value::Float(text) => text.parse(),
            _ => return Err(self.wrong_kind("a quantity in quotes, such as \"30ms\"")),
        };
        parsed.map_err(|e| self.error(e))
    }
}

/// A quantity with its unit.
pub(super) fn quantity<T: FromStr<Err = UnitError>>(field: &Field) -> Result<T, Problem> {
    field.quantity()
}

pub(super) fn text(field: &Field) -> Result<String, Problem> {
    field.string().map(str::to_owned)
}

/// The name of a node, link or flow: it becomes part of file names and column values.
pub(super) fn name(field: &Field) -> Result<String, Problem> {
    Ok(legal_name(field, field.string()?)?.to_owned())
}

/// The text, which the field contains, if it is a name.
pub(super) fn legal_name<'a>(field: &Field, text: &'a str) -> Result<&'a str, Problem> {
    let legal = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    if !text.starts_with(char::is_alphanumeric) || !text.chars().all(legal) {
        return Err(field.error(format!(
            "`{}` is not a name; a name has letters, digits, `-`, `_` and `.`, and begins with a \
             letter or digit",
            text.escape_debug()
        )));
    }
    Ok(text)
}

pub(super) fn boolean(field: &Field) -> Result<bool, Problem> {
    match field.node.value {
        Value::Boolean(value) => Ok(value),
        _ => Err(field.wrong_kind("`true` or `false`")),
    }
}

/// An integer from `min` to `max`.
pub(super) fn whole(min: u64, max: u64) -> impl Fn(&Field) -> Result<u64, Problem> {
    move |field| match field.node.value {
        Value::Integer(n) if u64::try_from(n).is_ok_and(|n| (min..=max).contains(&n)) => {
            Ok(n as u64) // not negative, as just tested
        }
        Value::Integer(n) => {
            Err(field.error(format!("{n} is outside the range from {min} to {max}")))
        }
        _ => Err(field.wrong_kind("an integer")),
    }
}

/// An integer from `min` to `max` that is stored in 32 bits.
pub(super) fn whole_u32(min: u32, max: u32) -> impl Fn(&Field) -> Result<u32, Problem> {
    move |field| whole(min.into(), max.into())(field).map(|n| n as u32) // within `max`
}

/// A size from `min` to `max` bytes.
pub(super) fn size(min: u64, max: u64) -> impl Fn(&Field) -> Result<u64, Problem> {
    move |field| {
        let Bytes(value) = field.quantity()?;
        if (min..=max).contains(&value) {
            return Ok(value);
        }
        let said = match &field.node.value {
            Value::Text(text) => text.clone(),
            _ => Bytes(value).to_string(),
        };
        let (min, max) = (Bytes(min), Bytes(max));
        Err(field.error(format!("{said} is outside the range from {min} to {max}")))
    }
}

/// A size from `min` to `max` bytes that is stored in 32 bits.
pub(super) fn size_u32(min: u32, max: u32) -> impl Fn(&Field) -> Result<u32, Problem> {
    move |field| size(min.into(), max.into())(field).map(|n| n as u32) // within `max`
}

pub(super) fn span(field: &Field) -> Result<Span, Problem> {
    field.quantity().map(|Duration(span)| span)
}

/// A time that the simulator can run or wait for: at most [`MAX_SPAN`].
pub(super) fn countable_span(field: &Field) -> Result<Span, Problem> {
    match span(field)? {
        longer if longer > MAX_SPAN => Err(field.error("must be at most 73 years")),
        span => Ok(span),
    }
}

pub(super) fn positive_span(field: &Field) -> Result<Span, Problem> {
    match span(field)? {
        Span::ZERO => Err(field.error("must be longer than zero")),
        span => Ok(span),
    }
}

/// A rate above zero in bits per second.
pub(super) fn rate(field: &Field) -> Result<u64, Problem> {
    match field.quantity()? {
        BitRate(0) => Err(field.error("must be more than zero, for example `10Mbps`")),
        BitRate(bps) => Ok(bps),
    }
}

/// A rate that may be zero.
pub(super) fn rate_or_zero(field: &Field) -> Result<u64, Problem> {
    field.quantity().map(|BitRate(bps)| bps)
}

pub(super) fn queue(field: &Field) -> Result<QueueLimit, Problem> {
    field.quantity()
}

/// A queue length at which something begins.
pub(super) fn threshold(field: &Field) -> Result<QueueLimit, Problem> {
    match queue(field)? {
        QueueLimit::Unlimited => {
            Err(field.error("must be a queue length, for example `20pkt`, `30kB` or `0.2bdp`"))
        }
        level => Ok(level),
    }
}

/// A number of packets or segments, such as `30pkt`.
pub(super) fn packets(field: &Field) -> Result<u64, Problem> {
    field.quantity().map(|Packets(n)| n)
}

/// A number without a unit.
pub(super) fn number(field: &Field) -> Result<f64, Problem> {
    let value = match &field.node.value {
        Value::Integer(n) => *n as f64,
        Value::Float(text) => text.parse().unwrap_or(f64::NAN),
        _ => f64::NAN,
    };
    if value.is_finite() { Ok(value) } else { Err(field.wrong_kind("a number")) }
}

pub(super) fn probability(field: &Field) -> Result<f64, Problem> {
    field.quantity().map(|Probability(p)| p)
}

pub(super) fn window(field: &Field) -> Result<windlass_tcp::InitialWindow, Problem> {
    field.quantity().map(|Window(window)| window)
}

/// Packet numbers, from 1: bare integers, since they are ordinals and not quantities.
pub(super) fn packet_numbers(field: &Field) -> Result<Vec<u64>, Problem> {
    let items = field.array()?;
    let mut numbers = items.iter().map(whole(1, i64::MAX as u64)).collect::<Result<Vec<_>, _>>()?;
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers)
}

/// One of the words of a table, in upper or lower case.
pub(super) fn choice<T: Copy>(all: &[(&str, T)]) -> impl Fn(&Field) -> Result<T, Problem> {
    move |field| {
        let text = field.string()?;
        if let Some((_, value)) = all.iter().find(|(word, _)| word.eq_ignore_ascii_case(text)) {
            return Ok(*value);
        }
        let words: Vec<&str> = all.iter().map(|(word, _)| *word).collect();
        Err(unknown_word(field, text, &words))
    }
}

/// The item with the name in the field, in upper or lower case.
pub(super) fn named<T>(
    field: &Field,
    all: &'static [T],
    name: impl Fn(&T) -> &'static str,
) -> Result<&'static T, Problem> {
    choice(&all.iter().map(|item| (name(item), item)).collect::<Vec<_>>())(field)
}

/// The error for a word that is not a known word.
pub(super) fn unknown_word(field: &Field, word: &str, known: &[&str]) -> Problem {
    let message = format!("`{}`: unknown value `{}`", field.key, word.escape_debug());
    let near = nearest(word, known);
    let known = format!("`{}` is one of {}", field.key, listed(known));
    Problem::suggesting(&field.node.place, message, near, known)
}

/// The word of `value` in a table of words. Every table lists all of its values.
pub(super) fn word_of<T: PartialEq>(all: &[(&'static str, T)], value: &T) -> &'static str {
    all.iter().find(|(_, v)| v == value).map_or("", |(word, _)| word)
}

/// The tables of `[[link]]`, `[[wifi]]` and `[[flow]]`.
pub(super) fn tables<'a>(field: &Field<'a>) -> Result<&'a [Node], Problem> {
    match &field.node.value {
        Value::Array(items) => Ok(items),
        Value::Table(_) => {
            let key = field.key;
            Err(field.error(format!("write `[[{key}]]` with two brackets, as there may be many")))
        }
        _ => Err(field.error(format!("must be tables, each beginning with `[[{}]]`", field.key))),
    }
}
