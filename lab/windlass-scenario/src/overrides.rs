//! Changing single values of a document before it is read: `--set link.0.rate=2Mbps`.

use crate::problem::{Place, Problem, listed, nearest};
use crate::read::SCENARIO;
use crate::schema::Shape;
use crate::tree::{Entry, Node, Table, Value, parse_value};

/// One override as typed. Its text, to which places refer, is `key=value`.
pub(super) struct Override<'a> {
    /// Number of the source, from 1.
    pub(super) source: usize,
    pub(super) key: &'a str,
    pub(super) value: &'a str,
}

impl Override<'_> {
    /// Sets the value in the document.
    pub(super) fn apply(&self, root: &mut Node) -> Result<(), Problem> {
        let keys = toml_edit::Key::parse(self.key).map_err(|_| self.not_a_key())?;
        let path: Vec<&str> = keys.iter().map(toml_edit::Key::get).collect();
        let Some((last, parents)) = path.split_last() else { return Err(self.not_a_key()) };
        let mut node = root;
        for depth in 0..parents.len() {
            node = self.step(node, &path[..=depth])?;
        }
        let value = self.parse_value()?;
        match &mut node.value {
            Value::Table(table) => {
                let key = (*last).to_owned();
                table.set(Entry { key, key_place: self.key_place(), node: value });
            }
            Value::Array(items) => {
                let index = self.index(items, &path)?;
                items[index] = value;
            }
            _ => return Err(self.not_a_table(node.kind(), parents)),
        }
        Ok(())
    }

    /// Goes from a table or array to the member that the last name of `path` selects.
    fn step<'n>(&self, node: &'n mut Node, path: &[&str]) -> Result<&'n mut Node, Problem> {
        let key = path[path.len() - 1];
        let kind = node.kind();
        match &mut node.value {
            Value::Table(table) => {
                if table.get(key).is_none() {
                    if !Shape::Table(&SCENARIO).leads_to_defaults(path) {
                        return Err(self.missing(table, path));
                    }
                    let empty =
                        Node { place: self.key_place(), value: Value::Table(Table::default()) };
                    table.set(Entry {
                        key: key.to_owned(),
                        key_place: self.key_place(),
                        node: empty,
                    });
                }
                table.get_mut(key).ok_or_else(|| self.error(&format!("`{key}` not found")))
            }
            Value::Array(items) => {
                let index = self.index(items, path)?;
                Ok(&mut items[index])
            }
            _ => Err(self.not_a_table(kind, &path[..path.len() - 1])),
        }
    }

    fn not_a_key(&self) -> Problem {
        self.error(&format!(
            "`{}` is not a key; write the names of tables and the key joined by dots, such as \
             `link.0.rate`",
            self.key
        ))
    }

    fn not_a_table(&self, kind: &str, path: &[&str]) -> Problem {
        self.error(&format!("`{}` is {kind}, not a table", path.join(".")))
    }

    fn missing(&self, table: &Table, path: &[&str]) -> Problem {
        let key = path[path.len() - 1];
        let is_container = |e: &&Entry| matches!(e.node.value, Value::Table(_) | Value::Array(_));
        let known: Vec<&str> =
            table.0.iter().filter(is_container).map(|e| e.key.as_str()).collect();
        let near = nearest(key, &known);
        let whole = path.join(".");
        let advice =
            format!("a table as a whole is set with --set '{whole}={{ key = value, ... }}'");
        let message = format!("the file has no table `{whole}`");
        Problem::suggesting(&self.key_place(), message, near, advice)
    }

    /// Position of the item that the last name of `path` selects, by name or by number from 0.
    fn index(&self, items: &[Node], path: &[&str]) -> Result<usize, Problem> {
        let (key, parents) = (path[path.len() - 1], &path[..path.len() - 1]);
        let names: Vec<Option<String>> = match parents {
            ["link" | "flow"] => items.iter().map(name_of).collect(),
            ["flow", _, "multipath", "subflows"] => items.iter().map(own_name).collect(),
            ["wifi"] => items.iter().map(|item| name_of_cell(item, items.len() == 1)).collect(),
            _ => vec![None; items.len()],
        };
        let mut called = (0..items.len()).filter(|i| names[*i].as_deref() == Some(key));
        if let Some(index) = called.next() {
            if called.next().is_some() {
                let message =
                    format!("more than one item of `{}` is called `{key}`", parents.join("."));
                return Err(self.error(&format!("{message}; use its number, from 0")));
            }
            return Ok(index);
        }
        if let Ok(index) = key.parse::<usize>()
            && index < items.len()
        {
            return Ok(index);
        }
        let names: Vec<&str> = names.iter().flatten().map(String::as_str).collect();
        let near = nearest(key, &names);
        let message = format!("`{}` has no item `{key}`", parents.join("."));
        let mut known = "its items are called by number, from 0".to_owned();
        if !names.is_empty() {
            known += &format!(", or by name: {}", listed(&names));
        }
        Err(Problem::suggesting(&self.key_place(), message, near, known))
    }

    /// The value, which may omit the quotes of a string.
    fn parse_value(&self) -> Result<Node, Problem> {
        let offset = self.key.len() + 1;
        match parse_value(self.value, self.source, offset) {
            Ok(node) => Ok(node),
            Err(error) if self.value.trim_start().starts_with(['"', '\'', '[', '{']) => Err(error),
            Err(_) => Ok(Node {
                place: Place { source: self.source, span: offset..offset + self.value.len() },
                value: Value::Text(self.value.trim().to_owned()),
            }),
        }
    }

    fn key_place(&self) -> Place {
        Place { source: self.source, span: 0..self.key.len() }
    }

    fn error(&self, message: &str) -> Problem {
        Problem::new(&self.key_place(), message)
    }
}

/// The name of a link or flow. The default consists of its ends.
fn name_of(node: &Node) -> Option<String> {
    let Value::Table(table) = &node.value else { return None };
    if let Some(name) = table.text("name") {
        return Some(name.to_owned());
    }
    if let Some(Node { value: Value::Array(ends), .. }) = table.get("between") {
        let ends: Option<Vec<&str>> = ends.iter().map(text_of).collect();
        return ends.map(|ends| ends.join("-"));
    }
    Some(format!("{}-{}", table.text("from")?, table.text("to")?))
}

/// The explicit name of a subflow.
fn own_name(node: &Node) -> Option<String> {
    match &node.value {
        Value::Table(table) => table.text("name").map(str::to_owned),
        _ => None,
    }
}

/// The name of a cell. A single cell is called `wifi` by default.
fn name_of_cell(node: &Node, only: bool) -> Option<String> {
    let Value::Table(table) = &node.value else { return None };
    table.text("name").map(str::to_owned).or_else(|| only.then(|| "wifi".to_owned()))
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
