//! Values that a file may spell in several ways, and lists of a fixed length.

use std::collections::BTreeMap;

use serde::de::{Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

/// A text, or a number or truth value that is read as its text.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a text, a number, or true or false; in `set` a table or list is a text, such as \"{ model = 'drop' }\""
)]
enum Scalar {
    Text(String),
    Whole(i64),
    Real(f64),
    Truth(bool),
}

impl From<Scalar> for String {
    fn from(scalar: Scalar) -> String {
        match scalar {
            Scalar::Text(text) => text,
            Scalar::Whole(n) => n.to_string(),
            Scalar::Real(v) => format!("{v:?}"),
            Scalar::Truth(b) => b.to_string(),
        }
    }
}

/// A text that may be written as a number.
pub(crate) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Scalar::deserialize(from).map(String::from)
}

/// Texts by key that may be written as numbers.
pub(crate) fn texts<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<BTreeMap<String, String>, D::Error> {
    let all = BTreeMap::<String, Scalar>::deserialize(from)?;
    Ok(all.into_iter().map(|(key, value)| (key, value.into())).collect())
}

/// Exactly two values. The TOML reader would accept a longer list and take its first two values.
pub(crate) fn two<'de, D, T>(from: D) -> Result<[T; 2], D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    struct Two<T>(std::marker::PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Two<T> {
        type Value = [T; 2];

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of two values")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<[T; 2], A::Error> {
            let mut all = Vec::new();
            while let Some(value) = list.next_element()? {
                all.push(value);
            }
            let n = all.len();
            <[T; 2]>::try_from(all)
                .map_err(|_| A::Error::custom(format!("expected a list of two values, not of {n}")))
        }
    }
    from.deserialize_seq(Two(std::marker::PhantomData))
}
