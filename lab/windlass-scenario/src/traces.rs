//! Reads the files of traces of rates, delays and losses into the scenario, so that it needs no other file.

use std::fs;
use std::path::Path;

use windlass_cc::Span;
use windlass_sim::course::Trace;

use crate::problem::Problem;
use crate::trace_columns::{self, COLUMNS, Column, Columns};
use crate::tree::{Entry, Node, Value};
use crate::units::Duration;

/// Largest file, bytes: some hours at 10 Mbit/s.
const MAX_BYTES: u64 = 64 << 20;

/// The document in which the opportunities of each trace replace the name of its file; `None` if it names no file. File
/// names are relative to the folder of the scenario.
pub(super) fn embedded(root: &Node, source_name: &str) -> Result<Option<Node>, Problem> {
    if !names_any(root) {
        return Ok(None);
    }
    let folder = Path::new(source_name).parent().unwrap_or(Path::new(""));
    let mut root = root.clone();
    embed("", &mut root, folder)?;
    Ok(Some(root))
}

/// True if the value is a file name instead of opportunities.
fn is_file(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text.contains(|c: char| !c.is_ascii_digit() && !c.is_whitespace()))
}

/// The file name in a table that is the value of `key`, or an item of this value.
fn trace_of<'a>(key: &str, node: &'a Node) -> Option<(&'static Column, &'a Node)> {
    let column = COLUMNS.iter().find(|column| column.key == key)?;
    let Value::Table(table) = &node.value else { return None };
    Some((column, table.get("trace").filter(|trace| is_file(trace))?))
}

fn names_any(root: &Node) -> bool {
    names("", root)
}

fn names(key: &str, node: &Node) -> bool {
    trace_of(key, node).is_some()
        || match &node.value {
            Value::Table(table) => table.0.iter().any(|entry| names(&entry.key, &entry.node)),
            Value::Array(items) => items.iter().any(|item| names(key, item)),
            _ => false,
        }
}

fn embed(key: &str, node: &mut Node, folder: &Path) -> Result<(), Problem> {
    if let Some((column, trace)) = trace_of(key, node) {
        let read = read(column, trace, folder)?;
        if let Value::Table(table) = &mut node.value {
            table.0.retain(|entry| entry.key != "trace");
            read.into_iter().for_each(|entry| table.set(entry));
        }
    }
    match &mut node.value {
        Value::Table(table) => {
            table.0.iter_mut().try_for_each(|entry| embed(&entry.key, &mut entry.node, folder))
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| embed(key, item, folder)),
        _ => Ok(()),
    }
}

/// The entries that replace a file's name: its opportunities with spaces between them, or the steps of its columns.
fn read(column: &Column, node: &Node, folder: &Path) -> Result<Vec<Entry>, Problem> {
    let Value::Text(name) = &node.value else { return Ok(Vec::new()) };
    let path = folder.join(name);
    let wrong = |message: String| Problem::new(&node.place, format!("`trace`: {message}"));
    let unreadable = |e| wrong(format!("{} cannot be read: {e}", path.display()));
    let size = fs::metadata(&path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(wrong(format!(
            "{name} has {size} bytes; a trace has at most {MAX_BYTES} bytes"
        )));
    }
    let text = fs::read_to_string(&path).map_err(unreadable)?;
    let entry = |key: &str, value: Value| Entry {
        key: key.to_owned(),
        key_place: node.place.clone(),
        node: Node { place: node.place.clone(), value },
    };
    if trace_columns::has_columns(&text) || column.key != "rate" {
        let Columns { steps, period } =
            trace_columns::parsed(column, name, &text).map_err(wrong)?;
        let node = |value| Node { place: node.place.clone(), value };
        let text = |text: String| node(Value::Text(text));
        let step = |(from, value): (Span, f64)| {
            let pair = [Duration(from).to_string(), (column.text)(value)];
            node(Value::Array(pair.map(text).to_vec()))
        };
        let steps = steps.into_iter().map(step).collect();
        let period = Value::Text(Duration(period).to_string());
        return Ok(vec![entry("steps", Value::Array(steps)), entry("repeat", period)]);
    }
    let (ms, lines) = parsed(name, &text).map_err(wrong)?;
    let trace = Trace::new(ms).map_err(|(place, problem)| {
        let line = place.and_then(|place| lines.get(place));
        wrong(match line {
            Some(line) => format!("{name}:{line}: {problem}"),
            None => format!("{name}: {problem}"),
        })
    })?;
    let opportunities = trace.ms().iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
    Ok(vec![entry("trace", Value::Text(opportunities))])
}

/// Times in milliseconds, and the line of each.
fn parsed(name: &str, text: &str) -> Result<(Vec<u32>, Vec<usize>), String> {
    let (mut ms, mut lines) = (Vec::new(), Vec::new());
    for (line, content) in trace_columns::lines(text) {
        let moment = content.parse().map_err(|_| {
            format!(
                "{name}:{line}: `{}` is not a whole number of milliseconds; each line has a time at which up to \
                 1500 B can leave, as in Mahimahi's traces, or has a time and a rate, such as `0.5 2.4` for \
                 2.4 Mbit/s from 0.5 s on",
                content.escape_debug()
            )
        })?;
        ms.push(moment);
        lines.push(line);
    }
    Ok((ms, lines))
}
