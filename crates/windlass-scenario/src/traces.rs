//! The files of rate traces that a scenario names, which are read into it: from then on it stands by itself.

use std::fs;
use std::path::Path;

use windlass_sim::course::Trace;

use crate::problem::Problem;
use crate::tree::{Node, Value};

/// Largest file, bytes: some hours at 10 Mbit/s.
const MAX_BYTES: u64 = 64 << 20;

/// The document with the opportunities of each trace in the place of its file's name, which is relative to the folder of the scenario;
/// `None` if it names none.
pub(super) fn embedded(root: &Node, source_name: &str) -> Result<Option<Node>, Problem> {
    if !names_any(root) {
        return Ok(None);
    }
    let folder = Path::new(source_name).parent().unwrap_or(Path::new(""));
    let mut root = root.clone();
    embed(&mut root, folder)?;
    Ok(Some(root))
}

/// Whether this is what names a file, not opportunities in its place.
fn is_file(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text.contains(|c: char| !c.is_ascii_digit() && !c.is_whitespace()))
}

/// The `trace` of a `rate` in this table.
fn trace_of(node: &Node) -> Option<&Node> {
    let Value::Table(table) = &node.value else { return None };
    let Value::Table(rate) = &table.get("rate")?.value else { return None };
    rate.get("trace").filter(|trace| is_file(trace))
}

fn names_any(node: &Node) -> bool {
    trace_of(node).is_some()
        || match &node.value {
            Value::Table(table) => table.0.iter().any(|entry| names_any(&entry.node)),
            Value::Array(items) => items.iter().any(names_any),
            _ => false,
        }
}

fn embed(node: &mut Node, folder: &Path) -> Result<(), Problem> {
    if let Some(trace) = trace_of(node) {
        let read = read(trace, folder)?;
        if let Value::Table(table) = &mut node.value
            && let Some(Node { value: Value::Table(rate), .. }) = table.get_mut("rate")
            && let Some(trace) = rate.get_mut("trace")
        {
            trace.value = Value::Text(read);
        }
    }
    match &mut node.value {
        Value::Table(table) => {
            table.0.iter_mut().try_for_each(|entry| embed(&mut entry.node, folder))
        }
        Value::Array(items) => items.iter_mut().try_for_each(|item| embed(item, folder)),
        _ => Ok(()),
    }
}

/// The opportunities of a file, with spaces between them.
fn read(node: &Node, folder: &Path) -> Result<String, Problem> {
    let Value::Text(name) = &node.value else { return Ok(String::new()) };
    let path = folder.join(name);
    let wrong = |message: String| Problem::new(&node.place, format!("`trace`: {message}"));
    let unreadable = |e| wrong(format!("{} cannot be read: {e}", path.display()));
    let size = fs::metadata(&path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(wrong(format!("{name} has {size} bytes; a trace has {MAX_BYTES} at most")));
    }
    let text = fs::read_to_string(&path).map_err(unreadable)?;
    let (ms, lines) = parsed(name, &text).map_err(wrong)?;
    let trace = Trace::new(ms).map_err(|(place, problem)| {
        let line = place.and_then(|place| lines.get(place));
        wrong(match line {
            Some(line) => format!("{name}:{line}: {problem}"),
            None => format!("{name}: {problem}"),
        })
    })?;
    Ok(trace.ms().iter().map(u32::to_string).collect::<Vec<_>>().join(" "))
}

/// Milliseconds, and the line of each.
fn parsed(name: &str, text: &str) -> Result<(Vec<u32>, Vec<usize>), String> {
    let (mut ms, mut lines) = (Vec::new(), Vec::new());
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        let moment = content.parse().map_err(|_| {
            format!(
                "{name}:{line}: `{}` is no whole number of milliseconds; each line says when up to \
                 1500 B can leave, as in Mahimahi's traces",
                content.escape_debug()
            )
        })?;
        ms.push(moment);
        lines.push(line);
    }
    Ok((ms, lines))
}
