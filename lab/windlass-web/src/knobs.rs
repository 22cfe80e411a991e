//! The values of a scenario that a user can drag. They are found and changed in the scenario's text, so that
//! the shared text is the displayed text.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item, Value};
use windlass_lab::scenario::units::{BitRate, Duration, Probability, QueueLimit};

/// Position of a value: keys of tables, and indices of arrays from 0.
type Path = Vec<String>;

/// A value that can be changed.
#[derive(Debug, PartialEq, Serialize)]
pub struct Knob {
    path: Path,
    /// Name of the link or flow.
    of: String,
    kind: Kind,
    /// The text of the value, or of the default if the value is missing.
    text: String,
    /// The value in bits per second, in seconds, as a fraction of one, or in `unit`; `None` for words.
    value: Option<f64>,
    /// Unit of a queue: `pkt`, `B` or `bdp`.
    unit: Option<&'static str>,
}

/// The quantity that is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Rate,
    Delay,
    Loss,
    Queue,
    Algorithm,
}

/// A change that a user requests.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    path: Path,
    value: String,
}

/// The values of a scenario that can be changed, in the order of its text. Empty for text that is not valid
/// TOML.
pub fn knobs(text: &str) -> Vec<Knob> {
    let mut found = Vec::new();
    if let Ok(document) = text.parse::<DocumentMut>() {
        search(document.as_item(), &mut Vec::new(), &mut found);
    }
    found
}

/// Searches for tables that are links or flows.
fn search(item: &Item, path: &mut Path, found: &mut Vec<Knob>) {
    if let Some(table) = item.as_table_like() {
        match path.first().map(String::as_str) {
            Some("flow") => found.extend(algorithm(item, path)),
            // The shared and the reverse part of a path have the keys of a link, but not its loss.
            Some("link" | "topology") if item.get("rate").is_some() => {
                found.extend(of_link(item, path));
            }
            _ => {}
        }
        for (key, inner) in table.iter() {
            step(key.to_owned(), inner, path, found);
        }
    } else if let Some(tables) = item.as_array_of_tables() {
        for (place, table) in tables.iter().enumerate() {
            step(place.to_string(), &Item::Table(table.clone()), path, found);
        }
    } else if let Some(array) = item.as_array() {
        for (place, value) in array.iter().enumerate().filter(|(_, v)| v.is_inline_table()) {
            step(place.to_string(), &Item::Value(value.clone()), path, found);
        }
    }
}

fn step(key: String, inner: &Item, path: &mut Path, found: &mut Vec<Knob>) {
    path.push(key);
    search(inner, path, found);
    path.pop();
}

fn text_of<'a>(item: &'a Item, key: &str) -> Option<&'a str> {
    item.get(key).and_then(Item::as_str)
}

/// The name of an item, or its position.
fn called(item: &Item, path: &[String]) -> String {
    text_of(item, "name").map_or_else(|| path.join(" "), str::to_owned)
}

fn algorithm(item: &Item, path: &[String]) -> Option<Knob> {
    let text = text_of(item, "algorithm")?.to_owned();
    let of = called(item, path);
    Some(Knob {
        path: inside(path, &["algorithm"]),
        of,
        kind: Kind::Algorithm,
        text,
        value: None,
        unit: None,
    })
}

fn inside(path: &[String], keys: &[&str]) -> Path {
    path.iter().cloned().chain(keys.iter().map(|key| (*key).to_owned())).collect()
}

fn of_link(item: &Item, path: &[String]) -> Vec<Knob> {
    let of = called(item, path);
    let knob = |keys: &[&str], kind, text: &str, value: Option<f64>, unit| {
        let (path, of, text) = (inside(path, keys), of.clone(), text.to_owned());
        value.map(|value| Knob { path, of, kind, text, value: Some(value), unit })
    };
    let rate = text_of(item, "rate").and_then(|t| {
        knob(&["rate"], Kind::Rate, t, BitRate::from_str(t).ok().map(|r| r.0 as f64), None)
    });
    let delay = text_of(item, "delay").and_then(|t| {
        let seconds = Duration::from_str(t).ok().map(|d| d.0.0 as f64 / 1e9);
        knob(&["delay"], Kind::Delay, t, seconds, None)
    });
    let queue = text_of(item, "queue").and_then(|t| {
        let (value, unit) = amount(t)?;
        knob(&["queue"], Kind::Queue, t, Some(value), Some(unit))
    });
    [rate, delay, queue, loss(item, path, &of)].into_iter().flatten().collect()
}

/// Size of a queue, and its unit.
fn amount(text: &str) -> Option<(f64, &'static str)> {
    Some(match QueueLimit::from_str(text).ok()? {
        QueueLimit::Packets(n) => (n as f64, "pkt"),
        QueueLimit::Bytes(n) => (n as f64, "B"),
        QueueLimit::BdpMillionths(n) => (n as f64 / 1e6, "bdp"),
        _ => return None,
    })
}

/// The probability of a packet loss with the model `drop`. A link without a loss model counts as 0 %.
fn loss(item: &Item, path: &[String], of: &str) -> Option<Knob> {
    let text = match item.get("loss") {
        None => "0%",
        Some(loss) if text_of(loss, "model") == Some("drop") => text_of(loss, "probability")?,
        Some(_) => return None,
    };
    let value = Some(Probability::from_str(text).ok()?.0);
    let (of, text) = (of.to_owned(), text.to_owned());
    Some(Knob {
        path: inside(path, &["loss", "probability"]),
        of,
        kind: Kind::Loss,
        text,
        value,
        unit: None,
    })
}

/// Returns the text with one value changed. Comments and order do not change.
///
/// # Errors
///
/// The text is not valid TOML, or the path does not exist.
pub fn turned(text: &str, turn: &Turn) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let nowhere = || format!("`{}` not found in the scenario", turn.path.join("."));
    let (last, parents) = turn.path.split_last().ok_or_else(nowhere)?;
    let mut item = document.as_item_mut();
    for key in parents {
        item = member(item, key).ok_or_else(nowhere)?;
    }
    let table = item.as_table_like_mut().ok_or_else(nowhere)?;
    match table.get_mut(last).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = Value::from(turn.value.as_str());
            *old.decor_mut() = decor;
        }
        None => {
            table.insert(last, Item::Value(Value::from(turn.value.as_str())));
        }
    }
    Ok(document.to_string())
}

/// A member of a table or an array. Creates a missing `loss` of a link, so that its probability can be set.
fn member<'a>(item: &'a mut Item, key: &str) -> Option<&'a mut Item> {
    if key == "loss" && item.get(key).is_none() {
        let none = toml_edit::InlineTable::from_iter([("model", Value::from("drop"))]);
        item.as_table_like_mut()?.insert(key, Item::Value(Value::InlineTable(none)));
    }
    match key.parse::<usize>() {
        Ok(place) => item.get_mut(place),
        Err(_) => item.get_mut(key),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"# A link.
duration = "10s"

[[link]]
name = "way"
between = ["a", "b"]
rate = "2.5Mbps" # of the radio
delay = "20ms"
queue = "1bdp"

[topology]
paths = [{ rate = "1Mbps", delay = "5ms", loss = { model = "bit-error", ber = 1e-6 } }]

[[flow]]
from = "a"
to = "b"
algorithm = "cubic"
"#;

    fn turn(path: &[&str], value: &str) -> Turn {
        Turn { path: inside(&[], path), value: value.to_owned() }
    }

    #[test]
    fn changeable_values_are_found_with_value_and_position() {
        let found = knobs(TEXT);
        let short: Vec<(String, Kind, &str, Option<f64>)> =
            found.iter().map(|k| (k.path.join("."), k.kind, k.text.as_str(), k.value)).collect();
        let expected = [
            ("link.0.rate", Kind::Rate, "2.5Mbps", Some(2.5e6)),
            ("link.0.delay", Kind::Delay, "20ms", Some(0.02)),
            ("link.0.queue", Kind::Queue, "1bdp", Some(1.0)),
            ("link.0.loss.probability", Kind::Loss, "0%", Some(0.0)),
            // This link has another loss model, which is not changed.
            ("topology.paths.0.rate", Kind::Rate, "1Mbps", Some(1e6)),
            ("topology.paths.0.delay", Kind::Delay, "5ms", Some(0.005)),
            ("flow.0.algorithm", Kind::Algorithm, "cubic", None),
        ];
        assert_eq!(
            short,
            expected.map(|(path, kind, text, value)| (path.to_owned(), kind, text, value))
        );
        assert_eq!(found[0].of, "way");
    }

    #[test]
    fn changed_value_replaces_the_old_value_and_nothing_else() {
        let text = turned(TEXT, &turn(&["link", "0", "rate"], "3Mbps")).expect("turned");
        assert_eq!(text, TEXT.replace("2.5Mbps", "3Mbps"));
        let text =
            turned(TEXT, &turn(&["topology", "paths", "0", "rate"], "9Mbps")).expect("turned");
        assert_eq!(text, TEXT.replace("1Mbps", "9Mbps"));
    }

    #[test]
    fn link_without_loss_gets_a_loss_model_that_parses() {
        let text =
            turned(TEXT, &turn(&["link", "0", "loss", "probability"], "3%")).expect("turned");
        assert!(text.contains(r#"loss = { model = "drop", probability = "3%" }"#), "{text}");
        let loss = knobs(&text).into_iter().find(|k| k.kind == Kind::Loss).expect("a loss");
        assert_eq!((loss.text.as_str(), loss.value), ("3%", Some(0.03)));
    }

    #[test]
    fn missing_path_is_reported() {
        let e = turned(TEXT, &turn(&["link", "7", "rate"], "1Mbps")).expect_err("no link 7");
        assert!(e.contains("link.7.rate"), "{e}");
    }
}
