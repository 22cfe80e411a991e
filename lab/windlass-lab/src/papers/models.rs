//! `models.toml`: a paper's closed forms. Each is one expression without loops.
//!
//! `values` is a table of several forms. The `*` in `name` stands for their names. `largest` and `count` apply to
//! the cases of a `for`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;
use toml::Spanned;

use super::paper::Paper;
use super::parts::cells::NONE;
use crate::experiment::FileError;
use crate::scenario::what_there_is;
use crate::template::{absent, environment, mistake, read_every};

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
    /// Several values by the name that replaces `*`.
    values: Option<BTreeMap<String, Spanned<Number>>>,
    /// The largest of the cases.
    largest: Option<Spanned<Vec<Case>>>,
    /// Number of cases that are true.
    count: Option<Spanned<Vec<Case>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    is: Spanned<Number>,
}

/// A number, a truth value, or the text of a template that gives one.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or an expression that has one")]
enum Number {
    Truth(bool),
    Value(f64),
    Text(String),
}

/// The closed forms with a value, and the names of the others.
#[derive(Default)]
struct Told {
    values: BTreeMap<String, f64>,
    gaps: Vec<String>,
}

/// Beginning of the error of a missing model.
const NO_MODEL: &str = "models.toml has no model";
/// Maximum depth of nested closed forms.
const DEEPEST: usize = 50;

/// The closed forms of `models.toml`. A form that reads others is computed after them.
pub(super) fn models(paper: &Paper) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(text) = paper.file("models.toml") else { return Ok(BTreeMap::new()) };
    let file = paper.place("models.toml");
    no_statements(text, &file)?;
    let mut known = BTreeMap::new();
    for _ in 0..DEEPEST {
        let (told, lacking) = models_with(&known, None, text, &file)?;
        if !lacking {
            return Ok(told.values);
        }
        if told.values.len() == known.len() {
            // The remaining forms read a missing model, or themselves.
            let all: Vec<String> = told.gaps;
            let (told, _) = models_with(&known, Some(&all), text, &file)?;
            return Ok(told.values);
        }
        known = told.values;
    }
    let message = format!(
        "closed forms are nested more than {DEEPEST} deep; replace some by their expressions"
    );
    Err(FileError::at(&file, text, 0..0, message))
}

/// The closed forms that need only the `known` ones, and true if others need more. `last` has the names of these
/// others; with it, a missing value is an error.
fn models_with(
    known: &BTreeMap<String, f64>,
    last: Option<&[String]>,
    text: &str,
    file: &str,
) -> Result<(Told, bool), FileError> {
    let mut env = environment();
    super::forms::add(&mut env);
    let (known, last) = (known.clone(), last.map(<[String]>::to_vec));
    let lacking = Arc::new(AtomicBool::new(false));
    let lacks = lacking.clone();
    env.add_function("model", move |name: &str| match (known.get(name), &last) {
        (Some(value), _) => Ok(*value),
        (None, None) => {
            lacks.store(true, Ordering::Relaxed);
            Err(absent())
        }
        (None, Some(last)) if last.iter().any(|l| l == name) => {
            Err(mistake(format!("model `{name}` reads itself, or a model that cannot be computed")))
        }
        (None, Some(_)) => {
            let all: Vec<&str> = known.keys().map(String::as_str).collect();
            Err(mistake(format!("{NO_MODEL} `{name}`{}", what_there_is(name, &all))))
        }
    });
    let read = read_every::<ModelsFile>(text, file, &env, &|_| None);
    // The error of a missing model is reported before the errors of the models that need it.
    let read = read.map_err(|mut errors| {
        let cause = errors.iter().position(|e| e.message.starts_with(NO_MODEL));
        errors.swap_remove(cause.unwrap_or(0))
    })?;
    Ok((told(&read.model, text, file)?, lacking.load(Ordering::Relaxed)))
}

fn told(all: &[Model], text: &str, file: &str) -> Result<Told, FileError> {
    let fail = |(span, message)| FileError::at(file, text, span, message);
    let mut found = Told::default();
    for model in all {
        for (name, value, span) in model.values().map_err(fail)? {
            let Some(value) = value else {
                found.gaps.push(name);
                continue;
            };
            if found.values.insert(name.clone(), value).is_some() {
                let message = format!("`{name}` exists already, give it another name");
                return Err(fail((span, message)));
            }
        }
    }
    Ok(found)
}

/// Refuses template statements. Loops and assignments are programs, which an editor does not recognise in a string.
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

/// A value with its name and place; `None` if it needs other values first.
type Named = (String, Option<f64>, Range<usize>);

impl Model {
    fn values(&self) -> Result<Vec<Named>, Fault> {
        let name = self.name.get_ref();
        if self.values.is_none() && name.contains('*') {
            return Err((self.name.span(), "`*` in `name` needs `values`".to_owned()));
        }
        match (&self.is, &self.values, &self.largest, &self.count) {
            (Some(is), None, None, None) => Ok(vec![(name.clone(), number(name, is)?, is.span())]),
            (None, Some(values), None, None) => self.table(values),
            (None, None, Some(cases), None) => {
                let all = cases.get_ref().iter().map(|case| number(name, &case.is));
                let all = all.collect::<Result<Option<Vec<f64>>, Fault>>()?;
                let most = all.map(|all| all.into_iter().reduce(f64::max));
                if most == Some(None) {
                    return Err((cases.span(), "`largest` needs a case".to_owned()));
                }
                Ok(vec![(name.clone(), most.flatten(), cases.span())])
            }
            (None, None, None, Some(cases)) => {
                let all = cases.get_ref().iter().map(|case| truth(&case.is));
                let all = all.collect::<Result<Option<Vec<bool>>, Fault>>()?;
                let n = all.map(|all| all.iter().filter(|holds| **holds).count() as f64);
                Ok(vec![(name.clone(), n, cases.span())])
            }
            _ => {
                let message =
                    format!("`{name}` needs one of `is`, `values`, `largest` and `count`");
                Err((self.name.span(), message))
            }
        }
    }

    fn table(&self, values: &BTreeMap<String, Spanned<Number>>) -> Result<Vec<Named>, Fault> {
        let name = self.name.get_ref();
        if name.matches('*').count() != 1 {
            let message = "`name` needs one `*` for the names of `values`, such as \"table-1.*\"";
            return Err((self.name.span(), message.to_owned()));
        }
        let one = |(key, is): (&String, &Spanned<Number>)| {
            let name = name.replace('*', key);
            let value = number(&name, is)?;
            Ok((name, value, is.span()))
        };
        values.iter().map(one).collect()
    }
}

/// A number; `None` if it needs other values first.
fn number(name: &str, is: &Spanned<Number>) -> Result<Option<f64>, Fault> {
    let (shown, value) = match is.get_ref() {
        Number::Text(text) if text.trim().starts_with(NONE) => return Ok(None),
        Number::Value(value) => (value.to_string(), Some(*value)),
        Number::Truth(truth) => (truth.to_string(), None),
        Number::Text(text) => (text.clone(), text.trim().parse().ok()),
    };
    let finite = value.filter(|v: &f64| v.is_finite());
    let wrong = || (is.span(), format!("`{name}` is `{shown}`, which is not a number"));
    finite.map(Some).ok_or_else(wrong)
}

/// A truth value; `None` if it needs other values first.
fn truth(is: &Spanned<Number>) -> Result<Option<bool>, Fault> {
    match is.get_ref() {
        Number::Truth(truth) => Ok(Some(*truth)),
        Number::Text(text) if text.trim().starts_with(NONE) => Ok(None),
        _ => Err((is.span(), "`count` needs conditions, such as \"{{ k > 2 }}\"".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::new;

    fn of(text: &str) -> Result<BTreeMap<String, f64>, String> {
        let dir = tempfile::tempdir().unwrap();
        let folder = new(&dir.path().join("p")).unwrap();
        std::fs::write(folder.join("models.toml"), text).unwrap();
        models(&Paper::read(&folder).unwrap()).map_err(|e| e.to_string())
    }

    #[test]
    fn a_model_reads_others_in_any_order() {
        let text = "[let]\nk = \"{{ model('c') }}\"\n\
            [[model]]\nname = 'a'\nis = \"{{ 2 * model('b') + k }}\"\n\
            [[model]]\nname = 'b'\nis = \"{{ model('c') + 1 }}\"\n\
            [[model]]\nif = \"{{ model('c') > 2 }}\"\nname = 'd'\nis = 7\n\
            [[model]]\nname = 'c'\nis = 3\n";
        let known = of(text).unwrap();
        let named = |name: &str| known.get(name).copied();
        assert_eq!(["a", "b", "c", "d"].map(named), [11.0, 4.0, 3.0, 7.0].map(Some));
        let unknown = of(&text.replace("('c') + 1", "('e') + 1")).unwrap_err();
        assert!(unknown.contains("8:6: models.toml has no model `e`"), "{unknown}");
        let cycle = of(&text.replace("('c') + 1", "('a') + 1")).unwrap_err();
        assert!(cycle.contains(": model `b` reads itself, or a model"), "{cycle}");
    }

    #[test]
    fn forms_have_tables_and_cases() {
        let text = "[[model]]\nname = 'most'\nlargest = [{ for = { k = [1, 3, 2] }, is = '{{ k * model(\"t.two\") }}' }]\n\
            [[model]]\nname = 'many'\ncount = [{ for = { k = [1, 3, 2] }, is = '{{ k >= model(\"t.two\") }}' }]\n\
            [[model]]\nname = 't.*'\nvalues = { one = 1, two = '{{ 1 + 1 }}' }\n";
        let known = of(text).unwrap();
        let named = |name: &str| known.get(name).copied();
        assert_eq!(["most", "many", "t.one", "t.two"].map(named), [6.0, 2.0, 1.0, 2.0].map(Some));
        for (right, wrong, expected) in [
            ("'t.*'", "'t'", "8:8: `name` needs one `*`"),
            ("'most'", "'most.*'", "2:8: `*` in `name` needs `values`"),
            ("k >= model(\"t.two\")", "k", "6:42: `count` needs conditions"),
            (
                "'{{ 1 + 1 }}'",
                "'{% set a = 1 %}{{ a }}'",
                "9:28: this file has no template statements",
            ),
            (
                "count = [",
                "is = 1\ncount = [",
                "5:8: `many` needs one of `is`, `values`, `largest` and `count`",
            ),
            (
                "[{ for = { k = [1, 3, 2] }, is = '{{ k * ",
                "[{ for = { k = [] }, is = '{{ k * ",
                "3:11: `largest` needs a case",
            ),
        ] {
            assert!(text.contains(right), "{right}");
            let said = of(&text.replacen(right, wrong, 1)).unwrap_err();
            assert!(said.contains(expected), "{said} is not {expected}");
        }
    }
}
