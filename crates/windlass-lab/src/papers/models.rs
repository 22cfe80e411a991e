//! `models.toml`: a paper's closed forms. Each is one expression without loops.
//!
//! `values` is a table of several forms, in whose names `*` of `name` stands for theirs. `largest` and `count` are over the
//! cases of a `for`.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

use super::paper::Paper;
use crate::experiment::FileError;
use crate::template::{environment, read_with};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    model: Vec<Model>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    name: Spanned<String>,
    /// The value.
    is: Option<Spanned<Number>>,
    /// Several values by the name in place of `*`.
    values: Option<BTreeMap<String, Spanned<Number>>>,
    /// The largest of the cases.
    largest: Option<Spanned<Vec<Case<Number>>>>,
    /// Number of cases that are true.
    count: Option<Spanned<Vec<Case<bool>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case<T> {
    is: Spanned<T>,
}

/// A number, or the text of a template that comes to one.
#[derive(Deserialize)]
#[serde(untagged)]
enum Number {
    Value(f64),
    Text(String),
}

/// The closed forms by name.
pub(super) fn models(paper: &Paper) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(text) = paper.file("models.toml") else { return Ok(BTreeMap::new()) };
    let file = paper.place("models.toml");
    no_statements(text, &file)?;
    let mut env = environment();
    super::forms::add(&mut env);
    let read: ModelsFile = read_with(text, &file, &env, &|_| None)?;
    let fail = |(span, message)| FileError::at(&file, text, span, message);
    let mut found = BTreeMap::new();
    for model in &read.model {
        for (name, value, span) in model.values().map_err(fail)? {
            if found.insert(name.clone(), value).is_some() {
                let message = format!("`{name}` exists already, give it another name");
                return Err(fail((span, message)));
            }
        }
    }
    Ok(found)
}

/// An error if a text has a template statement: loops and assignments are programs, which no editor can see in a string.
pub(super) fn no_statements(text: &str, file: &str) -> Result<(), FileError> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !line.trim_start().starts_with('#')
            && let Some(at) = line.find("{%")
        {
            let at = start + at;
            let message = "this file has no template statements; use `values`, `largest`, `count`, `flows` or `each`, \
                           or a function";
            return Err(FileError::at(file, text, at..at + 2, message));
        }
        start += line.len();
    }
    Ok(())
}

/// A place in the file and the fault there.
type Fault = (Range<usize>, String);

impl Model {
    fn values(&self) -> Result<Vec<(String, f64, Range<usize>)>, Fault> {
        let name = self.name.get_ref();
        if self.values.is_none() && name.contains('*') {
            return Err((self.name.span(), "`*` in `name` needs `values`".to_owned()));
        }
        match (&self.is, &self.values, &self.largest, &self.count) {
            (Some(is), None, None, None) => Ok(vec![(name.clone(), number(name, is)?, is.span())]),
            (None, Some(values), None, None) if name.matches('*').count() == 1 => {
                let one = |(key, is): (&String, &Spanned<Number>)| {
                    let name = name.replace('*', key);
                    let value = number(&name, is)?;
                    Ok((name, value, is.span()))
                };
                values.iter().map(one).collect()
            }
            (None, Some(_), None, None) => {
                let message =
                    "`name` needs one `*` for the names of `values`, such as \"table-1.*\"";
                Err((self.name.span(), message.to_owned()))
            }
            (None, None, Some(cases), None) => {
                let all = cases.get_ref().iter().map(|case| number(name, &case.is));
                let all = all.collect::<Result<Vec<f64>, Fault>>()?;
                let most = all.into_iter().reduce(f64::max);
                let most = most.ok_or((cases.span(), "`largest` needs a case".to_owned()))?;
                Ok(vec![(name.clone(), most, cases.span())])
            }
            (None, None, None, Some(cases)) => {
                let n = cases.get_ref().iter().filter(|case| *case.is.get_ref()).count();
                Ok(vec![(name.clone(), n as f64, cases.span())])
            }
            _ => {
                let message =
                    format!("`{name}` needs one of `is`, `values`, `largest` and `count`");
                Err((self.name.span(), message))
            }
        }
    }
}

fn number(name: &str, is: &Spanned<Number>) -> Result<f64, Fault> {
    let (shown, value) = match is.get_ref() {
        Number::Value(value) => (value.to_string(), Some(*value)),
        Number::Text(text) => (text.clone(), text.trim().parse().ok()),
    };
    let finite = value.filter(|v: &f64| v.is_finite());
    finite.ok_or_else(|| (is.span(), format!("`{name}` comes to `{shown}`, which is no number")))
}
