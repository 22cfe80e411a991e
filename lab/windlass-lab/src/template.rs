//! Templates in TOML files: `for`, `if`, `let` and `{{ expressions }}`.
//!
//! A string may contain expressions of the template language minijinja between double braces. A string that is a
//! single expression takes the expression's type: `paper = "{{ value }}"` is a number if the value is a number.
//!
//! * `for` in an element of a list of tables repeats the element for each value of its variables:
//!   `for = { p = ["0%", "1%"] }`. `"p, paper" = [["0%", 60.2], ["1%", 76.8]]` binds two variables at a time. With
//!   several keys, the last key varies fastest.
//! * `if` in an element of a list of tables keeps the element only if the condition is true.
//! * `let` in a table defines values for all of the table, in the order of the file.
//!
//! Every value keeps its place in the file, so that an error can give its line.

mod expand;
mod scalar;
mod tree;
mod values;

use std::cell::RefCell;
use std::collections::BTreeSet;

use minijinja::{Environment, Value};
use serde::de::DeserializeOwned;
use toml::de::DeTable;

use crate::experiment::FileError;
use expand::Expander;
pub(crate) use scalar::{text, texts, two};
pub(crate) use tree::{Placed, Places, Tree};
pub(crate) use values::{
    Missing, Vars, absent, absent_because, environment, is_absent, is_missing, known_names,
    mistake, said,
};

/// The names of all `let` tables of a file. Empty if the file is not valid TOML.
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

/// Reads a file whose templates use only their own values. `file` is its name in errors.
pub(crate) fn read<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, FileError> {
    read_given(text, file, &Vars::new())
}

/// Reads a file as [`read`] does, with the values `given` for some names of its `let` tables.
pub(crate) fn read_given<T: DeserializeOwned>(
    text: &str,
    file: &str,
    given: &Vars,
) -> Result<T, FileError> {
    first(expanded(text, file, given).map_err(|e| vec![e]).and_then(Tree::whole))
}

/// Reads a file in an environment, with an error for each wrong element of a list. `keep` returns the text for a value
/// that TOML cannot represent.
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

/// The environment and values for the expansion of a file.
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
