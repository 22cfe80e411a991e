//! The named numbers of a paper: closed forms, and quantities of traced runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::Deserialize;

use super::ask::{Scenarios, asking};
use super::material::Material;
use super::paper::Paper;
use super::parts::cells::NONE;
use crate::experiment::FileError;
use crate::scenario::what_there_is;
use crate::template::{
    COMPUTED, absent, environment, mistake, read_every, read_with, read_with_gaps, spelt_out,
};

/// A named value of `models.toml` or `quantities.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    is: toml::Spanned<Number>,
}

/// The numbers of a file by name, and the reasons for missing numbers.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) values: BTreeMap<String, f64>,
    pub(crate) gaps: BTreeMap<String, String>,
}

/// A named value whose expression is not evaluated.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Spelt {
    name: String,
    #[serde(deserialize_with = "crate::template::text")]
    is: String,
}

/// A number, or the text of a template that comes to one.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number, or an expression that has one")]
enum Number {
    Value(f64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModelsFile {
    model: Vec<Named>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuantitiesFile {
    quantity: Vec<Named>,
}

/// Beginning of the error of a model that is not there.
const NO_MODEL: &str = "models.toml has no model";
/// Closed forms within one another.
const DEEPEST: usize = 50;

/// The closed forms of `models.toml`. One that reads others is computed after these.
pub(super) fn models(paper: &Paper) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(text) = paper.file("models.toml") else { return Ok(BTreeMap::new()) };
    let file = paper.place("models.toml");
    let mut known = BTreeMap::new();
    for _ in 0..DEEPEST {
        let (told, lacking) = models_with(&known, None, text, &file)?;
        if !lacking {
            return Ok(told.values);
        }
        if told.values.len() == known.len() {
            // The rest reads a model that is not there, or itself.
            let all: Vec<String> = told.gaps.into_keys().collect();
            let (told, _) = models_with(&known, Some(&all), text, &file)?;
            return Ok(told.values);
        }
        known = told.values;
    }
    let message =
        format!("closed forms read closed forms, more than {DEEPEST} deep; write some out");
    Err(FileError::at(&file, text, 0..0, message))
}

/// The closed forms that need no more than `known` ones, and whether others need more. With `last`, the names of these
/// others, a lack is an error.
fn models_with(
    known: &BTreeMap<String, f64>,
    last: Option<&[String]>,
    text: &str,
    file: &str,
) -> Result<(Told, bool), FileError> {
    let mut env = environment();
    super::forms::add(&mut env);
    super::ask::add_lists(&mut env);
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
    // The model that is not there comes before those that wait for it.
    let read = read.map_err(|mut errors| {
        let cause = errors.iter().position(|e| e.message.starts_with(NO_MODEL));
        errors.swap_remove(cause.unwrap_or(0))
    })?;
    Ok((numbers(read.model, text, file, None)?, lacking.load(Ordering::Relaxed)))
}

/// The quantities of `quantities.toml`, as far as the traces yield them. Where none is asked and no trace is given, all
/// are there; else those that the given ones yield.
pub(super) fn quantities(m: &Material, probing: Option<&Scenarios>) -> Result<Told, FileError> {
    let Some(text) = m.paper.file("quantities.toml") else { return Ok(Told::default()) };
    if m.traces.is_empty() && probing.is_none() {
        return Ok(Told::default());
    }
    let env = asking(m, probing)?;
    let file = m.paper.place("quantities.toml");
    let read: QuantitiesFile = match probing {
        // The check has found the mistakes: what fails now is for the runs to say.
        None => read_with_gaps(text, &file, &env)?,
        Some(_) => read_with(text, &file, &env, &|_| None)?,
    };
    let all = probing.is_some() && m.traces.is_empty();
    numbers(read.quantity, text, &file, all.then_some(1.0))
}

/// The expressions of the quantities by name, with the values of the names in them, and the file's `let` table if a quantity
/// may read what has no such value.
pub(super) fn spelt_quantities(
    m: &Material,
    probing: &Scenarios,
) -> Result<BTreeMap<String, String>, FileError> {
    let Some(text) = m.paper.file("quantities.toml") else { return Ok(BTreeMap::new()) };
    let (env, file) = (asking(m, Some(probing))?, m.paper.place("quantities.toml"));
    let tree = spelt_out((text, &file), &env, "is")?;
    let mut errors = tree.errors().to_vec();
    let named =
        text.parse::<toml::Table>().ok().and_then(|t| t.get("let").map(ToString::to_string));
    let named = named.unwrap_or_default();
    let all = tree.elements::<Spelt>("quantity", &mut errors);
    let whole = |is: String| if is.contains(COMPUTED) { format!("{is} {named}") } else { is };
    let told = all.into_iter().map(|q| (q.value.name, whole(q.value.is))).collect();
    errors.into_iter().next().map_or(Ok(told), Err)
}

/// The numbers by name; `missing` stands for those that no run yields.
fn numbers(
    all: Vec<Named>,
    text: &str,
    file: &str,
    missing: Option<f64>,
) -> Result<Told, FileError> {
    let mut found = Told::default();
    for Named { name, is } in all {
        let fail = |message| Err(FileError::at(file, text, is.span(), message));
        let (shown, value) = match is.get_ref() {
            Number::Value(value) => (value.to_string(), Some(*value)),
            Number::Text(t) if t.trim().starts_with(NONE) => match missing {
                Some(value) => (String::new(), Some(value)),
                None => {
                    let why = t.trim().trim_start_matches(NONE).trim().to_owned();
                    found.gaps.insert(name, why);
                    continue;
                }
            },
            Number::Text(t) => (t.clone(), t.trim().parse().ok()),
        };
        let Some(value) = value.filter(|v: &f64| v.is_finite()) else {
            return fail(format!("`{name}` comes to `{shown}`, which is no number"));
        };
        if found.values.insert(name.clone(), value).is_some() {
            return fail(format!("`{name}` exists already, give it another name"));
        }
    }
    Ok(found)
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
}
