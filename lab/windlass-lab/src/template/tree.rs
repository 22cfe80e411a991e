//! A file after expansion: its values with their places.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::experiment::FileError;

/// A value after expansion, with its place in the file.
pub(super) struct Node {
    pub(super) span: Range<usize>,
    pub(super) content: Content,
}

pub(super) enum Content {
    Text(String),
    /// A number, truth value or date as TOML spells it.
    Plain(String),
    List(Vec<Node>),
    Table(Entries),
}

/// Keys with their places, and values.
pub(super) type Entries = Vec<(Range<usize>, String, Node)>;

pub(super) fn in_toml(entries: &Entries) -> DeTable<'_> {
    let mut table = DeTable::new();
    for (span, key, node) in entries {
        table.insert(Spanned::new(span.clone(), key.clone().into()), node.in_toml());
    }
    table
}

impl Node {
    fn in_toml(&self) -> Spanned<DeValue<'_>> {
        let value = match &self.content {
            Content::Text(text) => DeValue::String(text.as_str().into()),
            Content::Plain(text) => match DeValue::parse(text) {
                Ok(value) => value.into_inner(),
                Err(_) => DeValue::String(text.as_str().into()),
            },
            Content::List(all) => DeValue::Array(all.iter().map(Node::in_toml).collect()),
            Content::Table(entries) => DeValue::Table(in_toml(entries)),
        };
        Spanned::new(self.span.clone(), value)
    }
}

/// Places of the values of an element, by their keys with dots: `measure.ratio.1.metric.at`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places(BTreeMap<String, Range<usize>>);

impl Places {
    fn add(&mut self, path: &str, entries: &Entries) {
        let dot = if path.is_empty() { "" } else { "." };
        for (key, name, node) in entries {
            let path = format!("{path}{dot}{name}");
            self.0.insert(path.clone(), key.start..node.span.end.max(key.end));
            self.inside(&path, node);
        }
    }

    fn inside(&mut self, path: &str, node: &Node) {
        match &node.content {
            Content::Table(entries) => self.add(path, entries),
            Content::List(all) => {
                for (i, node) in all.iter().enumerate() {
                    let path = format!("{path}.{i}");
                    self.0.insert(path.clone(), node.span.clone());
                    self.inside(&path, node);
                }
            }
            Content::Text(_) | Content::Plain(_) => {}
        }
    }

    /// The place of a value, or of the nearest table around it.
    pub(crate) fn of(&self, path: &str) -> Option<Range<usize>> {
        let mut path = path;
        loop {
            if let Some(span) = self.0.get(path) {
                return Some(span.clone());
            }
            (path, _) = path.rsplit_once('.')?;
        }
    }
}

impl Places {
    /// Copies the places below the path `from` of `others` to the path `path`.
    pub(crate) fn graft(&mut self, path: &str, others: &Places, from: &str) {
        let beneath =
            |key: &str| key.strip_prefix(from).filter(|k| k.starts_with('.')).map(str::to_owned);
        for (key, span) in &others.0 {
            if let Some(rest) = beneath(key) {
                self.0.insert(format!("{path}{rest}"), span.clone());
            }
        }
    }
}

/// An element of a list with its place and the places of its values.
pub(crate) struct Placed<T> {
    pub(crate) value: T,
    pub(crate) span: Range<usize>,
    pub(crate) places: Places,
}

/// A file after expansion.
pub(crate) struct Tree<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
    pub(super) span: Range<usize>,
    pub(super) entries: Entries,
    /// Errors of elements that could not be expanded. The tree leaves out these elements.
    pub(super) errors: Vec<FileError>,
}

impl Tree<'_> {
    /// Errors of elements that could not be expanded.
    pub(crate) fn errors(&self) -> &[FileError] {
        &self.errors
    }

    /// The value of the whole file.
    ///
    /// # Errors
    ///
    /// The errors of expansion, or the first error of the reader.
    pub(crate) fn whole<T: DeserializeOwned>(self) -> Result<T, Vec<FileError>> {
        let value = self.read(&self.entries, self.span.clone());
        match (self.errors.is_empty(), value) {
            (true, value) => value.map_err(|e| vec![e]),
            (false, _) => Err(self.errors),
        }
    }

    fn read<T: DeserializeOwned>(
        &self,
        entries: &Entries,
        span: Range<usize>,
    ) -> Result<T, FileError> {
        let source = toml::de::Deserializer::from(Spanned::new(span, in_toml(entries)));
        T::deserialize(source).map_err(|e| FileError::toml(self.file, self.text, &e))
    }

    /// The elements of a list of tables, one by one; a wrong element is an error.
    pub(crate) fn elements<T: DeserializeOwned>(
        &self,
        list: &str,
        errors: &mut Vec<FileError>,
    ) -> Vec<Placed<T>> {
        let found = self.entries.iter().find(|(_, key, _)| key == list);
        let all = match found {
            Some((_, _, Node { content: Content::List(all), .. })) => all,
            Some((key, ..)) => {
                let message = format!("`{list}` is a list of tables; write `[[{list}]]`");
                errors.push(FileError::at(self.file, self.text, key.clone(), message));
                return Vec::new();
            }
            None => return Vec::new(),
        };
        let mut elements = Vec::new();
        for Node { span, content } in all {
            let Content::Table(entries) = content else { continue };
            let mut places = Places::default();
            places.add("", entries);
            match self.read(entries, span.clone()) {
                Ok(value) => elements.push(Placed { value, span: span.clone(), places }),
                Err(e) => errors.push(e),
            }
        }
        elements
    }
}
