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

mod expand;
mod scalar;
mod tree;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use minijinja::value::{Object, ObjectRepr};
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::experiment::FileError;
use crate::report::numbers::NONE;
use crate::scenario::did_you_mean;
use expand::Expander;
pub(crate) use scalar::{text, texts, two};
pub(crate) use tree::{Placed, Places, Tree};

/// Values by name.
pub(crate) type Vars = BTreeMap<String, Value>;

/// That a value has no run to come from: no mistake, its place stays empty.
#[derive(Debug, thiserror::Error)]
#[error("there is no run of it")]
pub(crate) struct Absent;

/// The error of a value without runs.
pub(crate) fn absent() -> minijinja::Error {
    absent_because("there is no run of it")
}

/// The error of a value that the runs do not have, with the reason.
pub(crate) fn absent_because(why: impl Into<String>) -> minijinja::Error {
    minijinja::Error::new(ErrorKind::InvalidOperation, why.into()).with_source(Absent)
}

/// What a name of `let` stands for whose value has no run to come from: so does all that is asked of it.
#[derive(Debug)]
pub(crate) struct Missing(pub(crate) String);

impl Object for Missing {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from_object(Missing(self.0.clone())))
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
        Err(absent_because(self.0.clone()))
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
            Some(name) => {
                let word = kind.to_string().replace("unknown ", "");
                format!("{kind} `{}`", name.trim_start_matches(&format!("{word} ")))
            }
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
    first(expanded(text, file, given).map_err(|e| vec![e]).and_then(Tree::whole))
}

/// Reads a file in an environment, with an error for each wrong element of a list; `keep` says what stands in a file for a
/// value that TOML has not.
pub(crate) fn read_every<T: DeserializeOwned>(
    text: &str,
    file: &str,
    env: &Environment<'_>,
    keep: &dyn Fn(&Value) -> Option<String>,
) -> Result<T, Vec<FileError>> {
    let reading = Reading { env, keep, given: &Vars::new() };
    reading.tree(text, file).map_err(|e| vec![e])?.whole()
}

fn first<T>(read: Result<T, Vec<FileError>>) -> Result<T, FileError> {
    read.map_err(|mut errors| errors.swap_remove(0))
}

/// A file after expansion, in an environment without functions.
pub(crate) fn expanded<'a>(
    text: &'a str,
    file: &'a str,
    given: &Vars,
) -> Result<Tree<'a>, FileError> {
    let env = environment();
    Reading { env: &env, keep: &|_| None, given }.tree(text, file)
}

/// What a file is read with.
struct Reading<'a> {
    env: &'a Environment<'a>,
    keep: &'a dyn Fn(&Value) -> Option<String>,
    given: &'a Vars,
}

impl Reading<'_> {
    fn tree<'t>(&self, text: &'t str, file: &'t str) -> Result<Tree<'t>, FileError> {
        let parsed = DeTable::parse(text).map_err(|e| FileError::toml(file, text, &e))?;
        let Reading { env, keep, given } = *self;
        let expander = Expander { text, file, env, keep, given, errors: RefCell::default() };
        let entries = expander.table(parsed.get_ref(), &Vars::new())?;
        let errors = expander.errors.into_inner();
        Ok(Tree { text, file, span: parsed.span(), entries, errors })
    }
}
