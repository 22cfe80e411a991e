//! The form of `quantities.toml`.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QuantitiesFile {
    pub(super) quantity: Vec<Element>,
}

/// One quantity, or with `values` several of one trace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Element {
    /// Name for claims. `*` stands for each name of `values`.
    pub(super) name: Spanned<String>,
    /// The traced run.
    pub(super) trace: Spanned<String>,
    /// Named courses, moments and numbers.
    #[serde(default)]
    pub(super) read: BTreeMap<String, Spanned<Term>>,
    /// Flows to which the terms are applied one after another.
    pub(super) flows: Option<Spanned<Flows>>,
    /// Events to which the terms are applied one after another; the name `event` is the time of each.
    pub(super) each: Option<Spanned<Item>>,
    /// Summary of flows and events.
    pub(super) over: Option<Spanned<Over>>,
    /// The quantity.
    pub(super) is: Option<Spanned<Term>>,
    /// Several quantities by the name that replaces `*`.
    pub(super) values: Option<Spanned<BTreeMap<String, Spanned<Term>>>>,
}

/// Flows of a trace.
#[derive(Clone, Debug)]
pub(super) enum Flows {
    /// `all`: each flow that has a sample.
    Word(String),
    /// Indexes or names.
    These(Vec<Spanned<Amount>>),
}

/// Summary of a term over flows and events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Over {
    /// Mean of the values that exist: of each flow over its events, then over the flows.
    Mean,
    /// Share for which the term is true; a missing value counts as false.
    Share,
    /// The term is computed once, from the sum of each measure.
    Total,
}

/// A number, a formula, or a measure of the trace.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Number(f64),
    Formula(String),
    Item(Box<Item>),
}

/// A course of values, a moment of it (`when`), or a number (`take`, `at`, `exchange`).
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Item {
    /// A series or a named course.
    pub(super) of: Option<Spanned<String>>,
    /// Count of packets with this fate.
    pub(super) packets: Option<Spanned<String>>,
    /// Property of the packet exchange around the first loss.
    pub(super) exchange: Option<Spanned<String>>,
    /// Another trace than the quantity's.
    pub(super) trace: Option<Spanned<String>>,
    /// Index or name of a flow.
    pub(super) flow: Option<Spanned<Amount>>,
    /// Values are divided by it.
    pub(super) unit: Option<Spanned<f64>>,
    /// Greater values are reduced to this value.
    pub(super) most: Option<f64>,
    /// Beginning; the value that holds there is included.
    pub(super) from: Option<Spanned<Amount>>,
    /// Beginning; only changes from there on are included.
    pub(super) since: Option<Spanned<Amount>>,
    /// Last moment.
    pub(super) until: Option<Spanned<Amount>>,
    /// End, which is excluded.
    pub(super) before: Option<Spanned<Amount>>,
    pub(super) take: Option<Spanned<Take>>,
    /// The value at a moment.
    pub(super) at: Option<Spanned<Amount>>,
    pub(super) when: Option<Spanned<When>>,
    /// Only later events count for `when`.
    pub(super) after: Option<Spanned<Amount>>,
    /// The moment that applies without an event of `when`.
    pub(super) otherwise: Option<Spanned<Amount>>,
    /// Seconds from the moment of `when` to the result.
    pub(super) plus: Option<f64>,
}

/// A number or the name of a number.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Amount {
    Number(f64),
    Name(String),
}

/// A number of a course.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Take {
    Max,
    Min,
    /// Weighted by time, up to `until`.
    Mean,
    Last,
    /// Number of values.
    Count,
    /// The value at which the fall from the largest value ends.
    RestAfterPeak,
    /// Share of the time in pauses of at least this number of seconds without growth.
    Pauses(f64),
    /// Time to grow from the fall to `low` until `high`, in values of the course `clock`.
    Regrowth {
        low: f64,
        high: f64,
        clock: String,
    },
    /// 1 if a value is below the other course, else 0.
    EverBelow(String),
    /// 1 if a value is at most the other course and a later value is above it, else 0.
    Passes(String),
    /// Sum of the increases while the value was at least the other course.
    RiseFrom(String),
    /// Seconds during which the value was at least the other course.
    TimeFrom(String),
    /// 1 if one of these values occurs, else 0.
    Ever(Vec<f64>),
    /// 1 if none of these values occurs, else 0.
    Never(Vec<f64>),
    /// 1 if the course begins with these values, else 0.
    Begins(Vec<f64>),
    /// 1 if these values occur one directly after another, else 0.
    Follows(Vec<f64>),
}

/// An event of a course.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum When {
    /// The n-th change.
    Change(Amount),
    /// The first change to a value.
    Becomes(f64),
    /// The first moment at which the value is at most this amount.
    AtMost(Amount),
    /// The first moment at which the value is at least this amount.
    AtLeast(Amount),
}

impl When {
    /// The amount of the event, if it can be a name.
    pub(super) fn amount(&self) -> Option<&Amount> {
        match self {
            When::Change(a) | When::AtMost(a) | When::AtLeast(a) => Some(a),
            When::Becomes(_) => None,
        }
    }
}

impl Take {
    /// The other course that the number needs.
    pub(super) fn other(&self) -> Option<&str> {
        match self {
            Take::Regrowth { clock: other, .. }
            | Take::EverBelow(other)
            | Take::Passes(other)
            | Take::RiseFrom(other)
            | Take::TimeFrom(other) => Some(other),
            _ => None,
        }
    }
}

impl Item {
    /// The moments and amounts that it names, with their keys.
    pub(super) fn amounts(&self) -> impl Iterator<Item = (&'static str, &Spanned<Amount>)> {
        [
            ("from", &self.from),
            ("since", &self.since),
            ("until", &self.until),
            ("before", &self.before),
            ("at", &self.at),
            ("after", &self.after),
            ("otherwise", &self.otherwise),
        ]
        .into_iter()
        .filter_map(|(key, amount)| Some((key, amount.as_ref()?)))
    }
}

// Written out for the three types below, because serde's `untagged` loses the place of a mistake in the file.
impl<'de> Deserialize<'de> for Term {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Term, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Term;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a formula or a table such as { of = \"cwnd_bytes\", take = \"max\" }")
            }

            fn visit_f64<E: Error>(self, v: f64) -> Result<Term, E> {
                Ok(Term::Number(v))
            }

            fn visit_i64<E: Error>(self, v: i64) -> Result<Term, E> {
                Ok(Term::Number(v as f64))
            }

            fn visit_str<E: Error>(self, v: &str) -> Result<Term, E> {
                Ok(Term::Formula(v.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Term, A::Error> {
                Item::deserialize(MapAccessDeserializer::new(map)).map(|i| Term::Item(Box::new(i)))
            }
        }
        source.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Flows {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Flows, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flows;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"all\" or a list of flows")
            }

            fn visit_str<E: Error>(self, v: &str) -> Result<Flows, E> {
                Ok(Flows::Word(v.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, all: A) -> Result<Flows, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(all)).map(Flows::These)
            }
        }
        source.deserialize_any(Any)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Amount, D::Error> {
        struct Any;
        impl Visitor<'_> for Any {
            type Value = Amount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a name")
            }

            fn visit_f64<E: Error>(self, v: f64) -> Result<Amount, E> {
                Ok(Amount::Number(v))
            }

            fn visit_i64<E: Error>(self, v: i64) -> Result<Amount, E> {
                Ok(Amount::Number(v as f64))
            }

            fn visit_str<E: Error>(self, v: &str) -> Result<Amount, E> {
                Ok(Amount::Name(v.to_owned()))
            }
        }
        source.deserialize_any(Any)
    }
}
