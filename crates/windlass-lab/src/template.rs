//! Templates in TOML files: `for`, `if`, `let` and `{{ expressions }}`.
//!
//! A string may hold expressions of the template language minijinja between double braces. One that is a
//! single expression takes the expression's type, so that `paper = "{{ value }}"` is a number where the
//! value is one. In a list of tables
//!
//! * an element with `for` stands for as many as its variables have values: `for = { p = ["0%", "1%"] }`;
//!   `"p, paper" = [["0%", 60.2], ["1%", 76.8]]` binds several at a time, and of several keys the last
//!   varies fastest;
//! * an element with `if` is there only where that is true;
//! * a table's `let` names values, in the order of the file, for all that stands in the table.
//!
//! Everything keeps its place in the file, so that errors say where they are.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr, ValueKind};
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::experiment::FileError;
use crate::report::numbers::NONE;
use crate::scenario::did_you_mean;

/// Values by name.
pub(crate) type Vars = BTreeMap<String, Value>;

/// That a value has no run to come from: no mistake, its place stays empty.
#[derive(Debug, thiserror::Error)]
#[error("there is no run of it")]
pub(crate) struct Absent;

/// The error of a value without runs.
pub(crate) fn absent() -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, "there is no run of it").with_source(Absent)
}

/// What a name of `let` stands for whose value has no run to come from: so does all that is asked of it.
#[derive(Debug)]
pub(crate) struct Missing;

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from_object(Missing))
    }

    fn is_true(self: &Arc<Self>) -> bool {
        false
    }

    fn call_method(
        self: &Arc<Self>,
        _: &mut minijinja::State<'_, '_>,
        _: &str,
        _: &[Value],
    ) -> Result<Value, minijinja::Error> {
        Err(absent())
    }

    fn render(self: &Arc<Self>, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(NONE)
    }
}

/// Whether a value is one that is not there.
pub(crate) fn is_missing(value: &Value) -> bool {
    value.downcast_object_ref::<Missing>().is_some()
}

/// Whether this error says only that runs are missing.
pub(crate) fn is_absent(error: &minijinja::Error) -> bool {
    let mut next = std::error::Error::source(error);
    while let Some(source) = next {
        if source.is::<Absent>() {
            return true;
        }
        next = source.source();
    }
    false
}

/// A mistake in an expression.
pub(crate) fn mistake(message: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, message.into())
}

/// What is wrong with an expression, on one line.
pub(crate) fn said(error: &minijinja::Error) -> String {
    let said = match (error.kind(), error.detail()) {
        (ErrorKind::InvalidOperation, Some(detail)) => detail.to_owned(),
        (kind, Some(detail)) => match detail.strip_suffix(" is unknown") {
            Some(name) => format!("{kind} `{name}`"),
            None => format!("{kind}: {detail}"),
        },
        (kind, None) => kind.to_string(),
    };
    match std::error::Error::source(error).and_then(|s| s.downcast_ref::<minijinja::Error>()) {
        Some(inner) => format!("{said}: {}", self::said(inner)),
        None => said,
    }
}

/// An environment whose expressions must name what exists.
pub(crate) fn environment() -> Environment<'static> {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env
}

/// Whether every name of an expression stands for something: the template language takes one that does not for a value that
/// is undefined, and a condition on it for false.
pub(crate) fn known_names(
    env: &Environment<'_>,
    asked: HashSet<String>,
    vars: &Vars,
) -> Result<(), minijinja::Error> {
    let global: Vec<&str> = env.globals().map(|(name, _)| name).collect();
    let known: Vec<&str> = vars.keys().map(String::as_str).chain(global).collect();
    // Sets have an order of their own each time.
    match asked.iter().filter(|name| !known.contains(&name.as_str())).min() {
        None => Ok(()),
        Some(name) => {
            Err(mistake(format!("nothing is called `{name}` here{}", did_you_mean(name, &known))))
        }
    }
}

/// The names of all `let` tables of a file; none where it is no TOML.
pub(crate) fn let_names(text: &str) -> BTreeSet<String> {
    fn visit(value: &toml::Value, names: &mut BTreeSet<String>) {
        match value {
            toml::Value::Table(table) => {
                let named = table.get("let").and_then(toml::Value::as_table);
                names.extend(named.into_iter().flat_map(|t| t.keys().cloned()));
                table.values().for_each(|v| visit(v, names));
            }
            toml::Value::Array(all) => all.iter().for_each(|v| visit(v, names)),
            _ => {}
        }
    }
    let mut names = BTreeSet::new();
    if let Ok(table) = text.parse::<toml::Table>() {
        visit(&toml::Value::Table(table), &mut names);
    }
    names
}

/// Reads a file whose templates need nothing but themselves; `file` names it in errors.
pub(crate) fn read<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, FileError> {
    read_given(text, file, &Vars::new())
}

/// The same with other values for some names of the `let` tables.
pub(crate) fn read_given<T: DeserializeOwned>(
    text: &str,
    file: &str,
    given: &Vars,
) -> Result<T, FileError> {
    let env = environment();
    Reading { env: &env, keep: &|_| None, given }.read(text, file)
}

/// Reads a file in an environment; `keep` says what stands in a file for a value that TOML has not.
pub(crate) fn read_with<T: DeserializeOwned>(
    text: &str,
    file: &str,
    env: &Environment<'_>,
    keep: &dyn Fn(&Value) -> Option<String>,
) -> Result<T, FileError> {
    Reading { env, keep, given: &Vars::new() }.read(text, file)
}

/// What a file is read with.
struct Reading<'a> {
    env: &'a Environment<'a>,
    keep: &'a dyn Fn(&Value) -> Option<String>,
    given: &'a Vars,
}

impl Reading<'_> {
    fn read<T: DeserializeOwned>(&self, text: &str, file: &str) -> Result<T, FileError> {
        let fail = |e: &toml::de::Error| FileError::toml(file, text, e);
        let parsed = DeTable::parse(text).map_err(|e| fail(&e))?;
        let Reading { env, keep, given } = *self;
        let expander = Expander { text, file, env, keep, given };
        let expanded = expander.table(parsed.get_ref(), &Vars::new())?;
        let source = toml::de::Deserializer::from(Spanned::new(parsed.span(), in_toml(&expanded)));
        T::deserialize(source).map_err(|e| fail(&e))
    }
}

/// A value after expansion, with its place in the file.
struct Node {
    span: Range<usize>,
    content: Content,
}

enum Content {
    Text(String),
    /// A number, truth value or date as TOML spells it.
    Plain(String),
    List(Vec<Node>),
    Table(Entries),
}

/// Keys with their places, and values.
type Entries = Vec<(Range<usize>, String, Node)>;

fn in_toml(entries: &Entries) -> DeTable<'_> {
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

struct Expander<'a> {
    text: &'a str,
    file: &'a str,
    env: &'a Environment<'a>,
    keep: &'a dyn Fn(&Value) -> Option<String>,
    /// Values that names of `let` have in place of the file's.
    given: &'a Vars,
}

type Entry<'t, 'i> = (&'t Spanned<Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// The entries of a table as the file has them one after another.
fn in_order<'t, 'i>(table: &'t DeTable<'i>) -> Vec<Entry<'t, 'i>> {
    let mut all: Vec<Entry> = table.iter().collect();
    all.sort_by_key(|(key, _)| key.span().start);
    all
}

fn entry<'t, 'i>(table: &'t DeTable<'i>, name: &str) -> Option<Entry<'t, 'i>> {
    table.iter().find(|(key, _)| key.get_ref() == name)
}

impl Expander<'_> {
    fn fail(&self, span: Range<usize>, message: impl Into<String>) -> FileError {
        FileError::at(self.file, self.text, span, message)
    }

    fn table(&self, table: &DeTable, vars: &Vars) -> Result<Entries, FileError> {
        let mut vars = vars.clone();
        if let Some((_, named)) = entry(table, "let") {
            let Some(named) = named.get_ref().as_table() else {
                return Err(self.fail(named.span(), "`let` must be a table of names and values"));
            };
            for (key, value) in in_order(named) {
                let value = match self.given.get(key.get_ref().as_ref()) {
                    Some(given) => given.clone(),
                    None => self.bound(value, &vars)?,
                };
                vars.insert(key.get_ref().to_string(), value);
            }
        }
        let told = |key: &str| !["let", "for", "if"].contains(&key);
        let mut entries = Entries::new();
        for (key, value) in in_order(table).into_iter().filter(|(key, _)| told(key.get_ref())) {
            entries.push((key.span(), key.get_ref().to_string(), self.value(value, &vars)?));
        }
        Ok(entries)
    }

    fn value(&self, value: &Spanned<DeValue>, vars: &Vars) -> Result<Node, FileError> {
        let span = value.span();
        let content = match value.get_ref() {
            DeValue::String(text) => return self.string(text, span, vars),
            DeValue::Array(all) => Content::List(self.array(all, vars)?),
            DeValue::Table(table) => Content::Table(self.table(table, vars)?),
            DeValue::Integer(n) => Content::Plain(n.to_string()),
            DeValue::Float(v) => Content::Plain(v.to_string()),
            DeValue::Boolean(b) => Content::Plain(b.to_string()),
            DeValue::Datetime(d) => Content::Plain(d.to_string()),
        };
        Ok(Node { span, content })
    }

    fn array(&self, all: &DeArray, vars: &Vars) -> Result<Vec<Node>, FileError> {
        let mut out = Vec::new();
        for element in all {
            let Some(table) = element.get_ref().as_table() else {
                out.push(self.value(element, vars)?);
                continue;
            };
            for vars in self.turns(table, vars)? {
                if self.wanted(table, &vars)? {
                    let content = Content::Table(self.table(table, &vars)?);
                    out.push(Node { span: element.span(), content });
                }
            }
        }
        Ok(out)
    }

    /// The variables of each of the elements that one with `for` stands for.
    fn turns(&self, table: &DeTable, vars: &Vars) -> Result<Vec<Vars>, FileError> {
        let Some((_, given)) = entry(table, "for") else { return Ok(vec![vars.clone()]) };
        let Some(lists) = given.get_ref().as_table() else {
            return Err(self.fail(given.span(), "`for` must be a table of names and lists"));
        };
        let mut turns = vec![vars.clone()];
        for (names, list) in in_order(lists) {
            let names: Vec<&str> = names.get_ref().split(',').map(str::trim).collect();
            let mut more = Vec::new();
            for turn in &turns {
                for item in self.items(list, turn)? {
                    let mut turn = turn.clone();
                    self.bind(&names, &item, &mut turn, list.span())?;
                    more.push(turn);
                }
            }
            turns = more;
        }
        Ok(turns)
    }

    fn items(&self, list: &Spanned<DeValue>, vars: &Vars) -> Result<Vec<Value>, FileError> {
        let value = self.bound(list, vars)?;
        match (value.kind(), value.try_iter()) {
            (ValueKind::Seq | ValueKind::Iterable, Ok(items)) => Ok(items.collect()),
            _ => Err(self.fail(list.span(), "`for` needs a list of values for each name")),
        }
    }

    fn bind(
        &self,
        names: &[&str],
        item: &Value,
        vars: &mut Vars,
        span: Range<usize>,
    ) -> Result<(), FileError> {
        if let [name] = names {
            vars.insert((*name).to_owned(), item.clone());
            return Ok(());
        }
        let values: Vec<Value> = item.try_iter().map(Iterator::collect).unwrap_or_default();
        if values.len() != names.len() {
            let (n, all) = (names.len(), names.join(", "));
            let message = format!("{item} must be a row of {n} values, for {all}");
            return Err(self.fail(span, message));
        }
        vars.extend(names.iter().map(|n| (*n).to_owned()).zip(values));
        Ok(())
    }

    fn wanted(&self, table: &DeTable, vars: &Vars) -> Result<bool, FileError> {
        let Some((_, condition)) = entry(table, "if") else { return Ok(true) };
        Ok(self.bound(condition, vars)?.is_true())
    }

    /// What a name of `let` or `for` stands for.
    fn bound(&self, value: &Spanned<DeValue>, vars: &Vars) -> Result<Value, FileError> {
        Ok(match value.get_ref() {
            DeValue::String(text) => match self.evaluated(text, vars) {
                Ok(value) => value,
                Err(e) if is_absent(&e) => Value::from_object(Missing),
                Err(e) => return Err(self.fail(value.span(), said(&e))),
            },
            DeValue::Integer(n) => n.to_string().parse::<i64>().map_or(Value::from(0), Value::from),
            DeValue::Float(v) => v.to_string().parse::<f64>().map_or(Value::from(0), Value::from),
            DeValue::Boolean(b) => Value::from(*b),
            DeValue::Datetime(d) => Value::from(d.to_string()),
            DeValue::Array(all) => {
                let mut values = Vec::new();
                for element in all {
                    match element.get_ref().as_table() {
                        None => values.push(self.bound(element, vars)?),
                        Some(table) => {
                            for vars in self.turns(table, vars)? {
                                values.push(self.bound_table(table, &vars)?);
                            }
                        }
                    }
                }
                Value::from(values)
            }
            DeValue::Table(table) => self.bound_table(table, vars)?,
        })
    }

    fn bound_table(&self, table: &DeTable, vars: &Vars) -> Result<Value, FileError> {
        let mut all = BTreeMap::new();
        for (key, value) in table.iter().filter(|(key, _)| key.get_ref() != "for") {
            all.insert(key.get_ref().to_string(), self.bound(value, vars)?);
        }
        Ok(Value::from(all))
    }

    fn evaluated(&self, text: &str, vars: &Vars) -> Result<Value, minijinja::Error> {
        if !text.contains("{{") && !text.contains("{%") {
            return Ok(Value::from(text));
        }
        let context = Value::from(vars.clone());
        let inner = text.trim().strip_prefix("{{").and_then(|t| t.strip_suffix("}}"));
        match inner.filter(|t| !t.contains("{{") && !t.contains("}}")) {
            Some(expression) => {
                let expression = self.env.compile_expression_owned(expression.to_owned())?;
                known_names(self.env, expression.undeclared_variables(false), vars)?;
                expression.eval(context)
            }
            None => {
                let template = self.env.template_from_str(text)?;
                known_names(self.env, template.undeclared_variables(false), vars)?;
                template.render(context).map(Value::from)
            }
        }
    }

    fn string(&self, text: &str, span: Range<usize>, vars: &Vars) -> Result<Node, FileError> {
        let content = match self.evaluated(text, vars) {
            Ok(value) => self.content(&value, &span)?,
            Err(e) if is_absent(&e) => Content::Text(NONE.to_owned()),
            Err(e) => return Err(self.fail(span, said(&e))),
        };
        Ok(Node { span, content })
    }

    /// A value as a file has it.
    fn content(&self, value: &Value, span: &Range<usize>) -> Result<Content, FileError> {
        if let Some(kept) = (self.keep)(value) {
            return Ok(Content::Text(kept));
        }
        if is_missing(value) {
            return Ok(Content::Text(NONE.to_owned()));
        }
        Ok(match value.kind() {
            ValueKind::String => Content::Text(value.to_string()),
            ValueKind::Bool | ValueKind::Number => Content::Plain(value.to_string().to_lowercase()),
            ValueKind::Seq | ValueKind::Iterable => {
                let node =
                    |v: Value| Ok(Node { span: span.clone(), content: self.content(&v, span)? });
                let items = value.try_iter().into_iter().flatten();
                Content::List(items.map(node).collect::<Result<_, FileError>>()?)
            }
            ValueKind::Map if value.downcast_object_ref::<BTreeMap<String, Value>>().is_some() => {
                let mut entries = Entries::new();
                for key in value.try_iter().into_iter().flatten() {
                    let item = value.get_item(&key).unwrap_or_default();
                    let node = Node { span: span.clone(), content: self.content(&item, span)? };
                    entries.push((span.clone(), key.to_string(), node));
                }
                Content::Table(entries)
            }
            kind => {
                let message = format!("this comes to {kind}, where a value is needed");
                return Err(self.fail(span.clone(), message));
            }
        })
    }
}
