//! A TOML document as a tree in which every key and value has its place.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Place, Problem};

/// A value and its place.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) place: Place,
    pub(super) value: Value,
}

/// A TOML value. Numbers keep their text so that no decimal is rounded.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text(String),
    Integer(i64),
    Float(String),
    Boolean(bool),
    Datetime,
    Array(Vec<Node>),
    Table(Table),
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) key_place: Place,
    pub(super) node: Node,
}

/// The entries of a table, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Table(pub(super) Vec<Entry>);

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Node> {
        self.0.iter().find(|e| e.key == key).map(|e| &e.node)
    }

    pub(super) fn get_mut(&mut self, key: &str) -> Option<&mut Node> {
        self.0.iter_mut().find(|e| e.key == key).map(|e| &mut e.node)
    }

    /// Replaces the entry with this key, or appends it.
    pub(super) fn set(&mut self, entry: Entry) {
        match self.0.iter_mut().find(|e| e.key == entry.key) {
            Some(old) => *old = entry,
            None => self.0.push(entry),
        }
    }

    pub(super) fn text(&self, key: &str) -> Option<&str> {
        match &self.get(key)?.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Node {
    /// The type of the value, with its article, for messages.
    pub(super) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Boolean(_) => "a boolean",
            Value::Datetime => "a date",
            Value::Array(_) => "an array",
            Value::Table(_) => "a table",
        }
    }
}

impl Node {
    /// The path of the key or value at this place of the text, such as `flow[0].start`. This is the shortest value
    /// that contains the place; of two with equal length, the inner value.
    pub(super) fn path_of(&self, span: &Range<usize>) -> Option<String> {
        let mut found: Option<(usize, String)> = None;
        if !span.is_empty() {
            self.search(span, "", &mut found);
        }
        found.map(|(_, path)| path)
    }

    fn search(&self, span: &Range<usize>, path: &str, found: &mut Option<(usize, String)>) {
        let mut look = |place: &Place, path: &str| {
            let of = &place.span;
            let holds = place.source == 0 && of.start <= span.start && span.end <= of.end;
            if holds && found.as_ref().is_none_or(|(shortest, _)| of.len() <= *shortest) {
                *found = Some((of.len(), path.to_owned()));
            }
        };
        let mut children: Vec<(&Node, String)> = Vec::new();
        match &self.value {
            Value::Table(table) => {
                let dot = if path.is_empty() { "" } else { "." };
                for entry in &table.0 {
                    let path = format!("{path}{dot}{}", entry.key);
                    look(&entry.key_place, &path);
                    look(&entry.node.place, &path);
                    children.push((&entry.node, path));
                }
            }
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    let path = format!("{path}[{i}]");
                    look(&item.place, &path);
                    children.push((item, path));
                }
            }
            _ => {}
        }
        children.iter().for_each(|(child, path)| child.search(span, path, found));
    }
}

/// Parses a document.
pub(super) fn parse_document(text: &str) -> Result<Node, Problem> {
    let table = DeTable::parse(text).map_err(|e| syntax_error(0, 0, &e))?;
    let place = Place { source: 0, span: 0..0 };
    Ok(Node { place, value: Value::Table(convert_table(0, 0, table.get_ref())?) })
}

/// Parses a single value at `offset` in the text of `source`.
pub(super) fn parse_value(text: &str, source: usize, offset: usize) -> Result<Node, Problem> {
    let value = DeValue::parse(text).map_err(|e| syntax_error(source, offset, &e))?;
    convert(source, offset, &value)
}

fn place(source: usize, offset: usize, span: std::ops::Range<usize>) -> Place {
    Place { source, span: span.start + offset..span.end + offset }
}

fn syntax_error(source: usize, offset: usize, error: &toml::de::Error) -> Problem {
    let place = place(source, offset, error.span().unwrap_or(0..0));
    let message = error.message().lines().collect::<Vec<_>>().join(", ");
    Problem::new(&place, format!("not valid TOML: {message}"))
}

fn convert(source: usize, offset: usize, node: &Spanned<DeValue>) -> Result<Node, Problem> {
    let place = place(source, offset, node.span());
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(n) => match i64::from_str_radix(n.as_str(), n.radix()) {
            Ok(n) => Value::Integer(n),
            Err(_) => {
                let message = format!("`{n}` does not fit a TOML integer of 64 bits");
                return Err(Problem::new(&place, message));
            }
        },
        DeValue::Float(x) => Value::Float(x.as_str().to_owned()),
        DeValue::Boolean(b) => Value::Boolean(*b),
        DeValue::Datetime(_) => Value::Datetime,
        DeValue::Array(items) => {
            let items = items.iter().map(|item| convert(source, offset, item));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        DeValue::Table(table) => Value::Table(convert_table(source, offset, table)?),
    };
    Ok(Node { place, value })
}

fn convert_table(source: usize, offset: usize, table: &DeTable) -> Result<Table, Problem> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, value) in table {
        entries.push(Entry {
            key: key.get_ref().to_string(),
            key_place: place(source, offset, key.span()),
            node: convert(source, offset, value)?,
        });
    }
    // The parser sorts by key.
    entries.sort_by_key(|e| e.key_place.span.start);
    Ok(Table(entries))
}
