//! The values of a scenario that a reader can drag: found in its text, and changed there, so that what is seen is what is shared.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item, Value};
use windlass_lab::scenario::units::{BitRate, Duration, Probability, QueueLimit};

/// Where a value stands: keys of tables, and places in arrays from 0.
type Path = Vec<String>;

/// A value that can be changed.
#[derive(Debug, PartialEq, Serialize)]
pub struct Knob {
    path: Path,
    /// What it is of, as a reader calls it.
    of: String,
    kind: Kind,
    /// As the text has it; for a kind that may be left out, what it is then.
    text: String,
    /// In bits per second, seconds, as a fraction of one, or in `unit`; nothing for words.
    value: Option<f64>,
    /// Of a queue: `pkt`, `B` or `bdp`.
    unit: Option<&'static str>,
}

/// What is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Rate,
    Delay,
    Loss,
    Queue,
    Algorithm,
}

/// A value that a reader wants otherwise.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    path: Path,
    value: String,
}

/// What of a scenario can be turned, in the order of its text; nothing of a text that is no TOML.
pub fn knobs(text: &str) -> Vec<Knob> {
    let mut found = Vec::new();
    if let Ok(document) = text.parse::<DocumentMut>() {
        search(document.as_item(), &mut Vec::new(), &mut found);
    }
    found
}

/// Looks for tables that are links or flows.
fn search(item: &Item, path: &mut Path, found: &mut Vec<Knob>) {
    if let Some(table) = item.as_table_like() {
        match path.first().map(String::as_str) {
            Some("flow") => found.extend(algorithm(item, path)),
            // What is shared or goes back has the keys of a link, but not its loss.
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

/// A name of its own, or where it stands.
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

/// How much a queue holds, and in what.
fn amount(text: &str) -> Option<(f64, &'static str)> {
    Some(match QueueLimit::from_str(text).ok()? {
        QueueLimit::Packets(n) => (n as f64, "pkt"),
        QueueLimit::Bytes(n) => (n as f64, "B"),
        QueueLimit::BdpMillionths(n) => (n as f64 / 1e6, "bdp"),
        _ => return None,
    })
}

/// The chance that a packet is lost: of the model `drop`, which is put where there is none.
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

/// The text with one value changed; comments and order stay.
///
/// # Errors
///
/// The text is no TOML, or the path leads nowhere.
pub fn turned(text: &str, turn: &Turn) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|e: toml_edit::TomlError| e.to_string())?;
    let nowhere = || format!("there is no `{}` to change", turn.path.join("."));
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

/// A member of a table or an array. A link's loss comes into being, so that its chance can be set.
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
    fn what_can_be_turned_is_found_with_its_value_and_its_place() {
        let found = knobs(TEXT);
        let short: Vec<(String, Kind, &str, Option<f64>)> =
            found.iter().map(|k| (k.path.join("."), k.kind, k.text.as_str(), k.value)).collect();
        let expected = [
            ("link.0.rate", Kind::Rate, "2.5Mbps", Some(2.5e6)),
            ("link.0.delay", Kind::Delay, "20ms", Some(0.02)),
            ("link.0.queue", Kind::Queue, "1bdp", Some(1.0)),
            ("link.0.loss.probability", Kind::Loss, "0%", Some(0.0)),
            // Its losses are of another model, which is left alone.
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
    fn a_turned_value_stands_where_the_old_one_stood_and_nothing_else_changes() {
        let text = turned(TEXT, &turn(&["link", "0", "rate"], "3Mbps")).expect("turned");
        assert_eq!(text, TEXT.replace("2.5Mbps", "3Mbps"));
        let text =
            turned(TEXT, &turn(&["topology", "paths", "0", "rate"], "9Mbps")).expect("turned");
        assert_eq!(text, TEXT.replace("1Mbps", "9Mbps"));
    }

    #[test]
    fn a_link_without_loss_gets_a_model_that_reads_back() {
        let text =
            turned(TEXT, &turn(&["link", "0", "loss", "probability"], "3%")).expect("turned");
        assert!(text.contains(r#"loss = { model = "drop", probability = "3%" }"#), "{text}");
        let loss = knobs(&text).into_iter().find(|k| k.kind == Kind::Loss).expect("a loss");
        assert_eq!((loss.text.as_str(), loss.value), ("3%", Some(0.03)));
    }

    #[test]
    fn a_place_that_is_not_there_is_said() {
        let e = turned(TEXT, &turn(&["link", "7", "rate"], "1Mbps")).expect_err("no link 7");
        assert!(e.contains("link.7.rate"), "{e}");
    }
}
