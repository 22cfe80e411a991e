//! Expansion of a file's templates.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use minijinja::value::ValueKind;
use minijinja::{Environment, Value};
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::tree::{Content, Entries, Node};
use super::values::{Missing, Vars, is_absent, is_missing, known_names, said};
use crate::experiment::FileError;
use crate::report::numbers::NONE;

/// Maximum number of elements that one `for` may make.
const MOST: usize = 100_000;

pub(super) struct Expander<'a> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
    pub(super) env: &'a Environment<'a>,
    pub(super) keep: &'a dyn Fn(&Value) -> Option<String>,
    /// Values that replace the file's values of `let` names.
    pub(super) given: &'a Vars,
    /// Elements of lists that could not be expanded.
    pub(super) errors: RefCell<Vec<FileError>>,
}

type Entry<'t, 'i> = (&'t Spanned<Cow<'i, str>>, &'t Spanned<DeValue<'i>>);

/// The entries of a table in the order of the file.
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

    pub(super) fn table(&self, table: &DeTable, vars: &Vars) -> Result<Entries, FileError> {
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
            match self.element(element.span(), table, vars) {
                Ok(nodes) => out.extend(nodes),
                Err(error) => self.errors.borrow_mut().push(error),
            }
        }
        Ok(out)
    }

    /// The nodes that an element of a list makes.
    fn element(
        &self,
        span: Range<usize>,
        table: &DeTable,
        vars: &Vars,
    ) -> Result<Vec<Node>, FileError> {
        let mut out = Vec::new();
        for vars in self.turns(table, vars)? {
            if self.wanted(table, &vars)? {
                let content = Content::Table(self.table(table, &vars)?);
                out.push(Node { span: span.clone(), content });
            }
        }
        Ok(out)
    }

    /// The variables of each element that an element with `for` makes.
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
                    if more.len() > MOST {
                        let message =
                            format!("`for` makes more than {MOST} elements; use shorter lists");
                        return Err(self.fail(list.span(), message));
                    }
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

    /// The value of a name of `let` or `for`.
    fn bound(&self, value: &Spanned<DeValue>, vars: &Vars) -> Result<Value, FileError> {
        Ok(match value.get_ref() {
            DeValue::String(text) => match self.evaluated(text, vars) {
                Ok(value) => value,
                Err(e) if is_absent(&e) || self.missing(text, vars) => {
                    Value::from_object(Missing(self.reason(&e, vars)))
                }
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
            Err(e) if is_absent(&e) || self.missing(text, vars) => Content::Text(NONE.to_owned()),
            Err(e) => return Err(self.fail(span, said(&e))),
        };
        Ok(Node { span, content })
    }

    /// True if an expression reads a name whose value is missing.
    fn missing(&self, text: &str, vars: &Vars) -> bool {
        let names = self.env.template_from_str(text).map(|t| t.undeclared_variables(false));
        let missing = |name: &String| vars.get(name).is_some_and(is_missing);
        names.is_ok_and(|names| names.iter().any(missing))
    }

    /// The reason why a value is missing: the reason of a missing name in it, or else the error.
    fn reason(&self, error: &minijinja::Error, vars: &Vars) -> String {
        let missing = |v: &Value| v.downcast_object_ref::<Missing>().map(|m| m.0.clone());
        let first = vars.values().find_map(missing).filter(|_| !is_absent(error));
        first.unwrap_or_else(|| said(error))
    }

    /// The content of a file that represents a value.
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
                let message = format!("the expression gives {kind}; expected a value");
                return Err(self.fail(span.clone(), message));
            }
        })
    }
}
