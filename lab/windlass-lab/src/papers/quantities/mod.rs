//! `quantities.toml`: numbers of traced runs, declared as data.
//!
//! An element has a `name` and a `trace`. Its measures are tables: `of` is a series, `from` and `until` limit it,
//! and `take` is the number that is read. `read` names courses, moments and numbers, with which formulas compute.
//! `flows` and `each` apply an element to flows and events. Loops and methods do not exist, so that everything is
//! checked without a run.

mod check;
mod course;
mod file;
mod formula;
#[cfg(test)]
mod tests;
mod told;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use minijinja::Environment;
use toml::Spanned;

use super::ask::Recorded;
use super::material::Material;
use crate::experiment::{FileError, TraceRequest};
use check::Check;
use file::{Element, QuantitiesFile, Term};
use told::{Courses, Fault, Reader, Recordings};

/// The quantities by name, and the reasons for missing ones.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) values: BTreeMap<String, f64>,
    pub(crate) gaps: BTreeMap<String, String>,
}

/// The parsed file.
struct File<'a> {
    text: &'a str,
    place: String,
    env: Environment<'static>,
    elements: Vec<Element>,
    recorded: Recordings,
}

/// A quantity of an element.
struct Quantity<'e> {
    name: String,
    /// Position of the element in the file.
    at: usize,
    element: &'e Element,
    term: &'e Spanned<Term>,
    /// The traces that it reads.
    sources: BTreeSet<String>,
}

/// The quantities for which the traces have values.
pub(super) fn quantities(m: &Material) -> Result<Told, FileError> {
    match File::read(m)? {
        Some(file) if !m.traces.is_empty() => file.values(m, &file.checked(m)?),
        _ => Ok(Told::default()),
    }
}

/// The names of the quantities after a check of the file; each has a placeholder value.
pub(super) fn names(m: &Material) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(file) = File::read(m)? else { return Ok(BTreeMap::new()) };
    Ok(file.checked(m)?.into_iter().map(|q| (q.name, 1.0)).collect())
}

/// The traces that each quantity reads, by their positions in the plan.
pub(super) fn sources(m: &Material) -> Result<BTreeMap<String, Vec<usize>>, FileError> {
    let Some(file) = File::read(m)? else { return Ok(BTreeMap::new()) };
    let traces = m.plan.traces.iter().enumerate();
    let places = |q: &Quantity| {
        traces.clone().filter(|(_, t)| q.sources.contains(&t.id)).map(|(at, _)| at).collect()
    };
    let all = file.checked(m)?;
    Ok(all.iter().map(|q| (q.name.clone(), places(q))).collect())
}

/// The declaration of each quantity after expansion, in a form that does not depend on the file's spelling.
pub(super) fn meanings(m: &Material) -> Result<BTreeMap<String, String>, FileError> {
    let Some(file) = File::read(m)? else { return Ok(BTreeMap::new()) };
    let whole: toml::Table = crate::template::read(file.text, &file.place)?;
    let elements = whole.get("quantity").and_then(toml::Value::as_array);
    let mut all = BTreeMap::new();
    for q in file.checked(m)? {
        let element = elements.and_then(|all| all.get(q.at)).and_then(toml::Value::as_table);
        let mut element = element.cloned().unwrap_or_default();
        if let Some(toml::Value::Table(values)) = element.remove("values") {
            let mine = |key: &str| q.element.name.get_ref().replace('*', key) == q.name;
            let own = values.into_iter().find(|(key, _)| mine(key));
            element.extend(own.map(|(_, term)| ("is".to_owned(), term)));
        }
        element.remove("name");
        all.insert(q.name, element.to_string());
    }
    Ok(all)
}

impl<'a> File<'a> {
    fn read(m: &Material<'a>) -> Result<Option<File<'a>>, FileError> {
        let Some(text) = m.paper.file("quantities.toml") else { return Ok(None) };
        let place = m.paper.place("quantities.toml");
        super::models::no_statements(text, &place)?;
        let read: QuantitiesFile = crate::template::read(text, &place)?;
        let plan = Arc::new(m.plan.clone());
        let recorded = |t: &TraceRequest| (t.id.clone(), Recorded::of(m.paper, &plan, t));
        let recorded = m.plan.traces.iter().map(recorded).collect();
        let (env, elements) = (formula::environment(), read.quantity);
        Ok(Some(File { text, place, env, elements, recorded }))
    }

    fn checked(&self, m: &Material) -> Result<Vec<Quantity<'_>>, FileError> {
        let (text, file, plan, env) = (self.text, self.place.as_str(), m.plan, &self.env);
        let (mut all, mut names) = (Vec::new(), BTreeSet::new());
        for (at, element) in self.elements.iter().enumerate() {
            let check = Check { text, file, plan, recorded: &self.recorded, env, element };
            let terms = check.terms()?;
            check.whole(&terms)?;
            for (name, term) in terms {
                if !names.insert(name.clone()) {
                    let message = format!("`{name}` exists already; give it another name");
                    return Err(FileError::at(file, text, term.span(), message));
                }
                let sources = check.sources(term)?;
                all.push(Quantity { name, at, element, term, sources });
            }
        }
        Ok(all)
    }

    fn values(&self, m: &Material, all: &[Quantity]) -> Result<Told, FileError> {
        let fail = |span, message| Err(FileError::at(&self.place, self.text, span, message));
        let (courses, mut told) = (Courses::default(), Told::default());
        for Quantity { name, element, term, sources, .. } in all {
            let (env, traces, recorded) = (&self.env, m.traces, &self.recorded);
            let reader = Reader { env, element, traces, recorded, courses: &courses };
            let value = match sources.iter().all(|id| traces.contains_key(id)) {
                true => reader.value(term),
                false => Err(Fault::Lack("its trace was not run".to_owned())),
            };
            match value {
                Err(Fault::Wrong(span, message)) => return fail(span, message),
                Err(Fault::Lack(why)) => {
                    told.gaps.insert(name.clone(), why);
                }
                Ok(value) if value.is_finite() => {
                    told.values.insert(name.clone(), value);
                }
                Ok(value) => {
                    let message = format!("`{name}` is {value}, which is not finite");
                    return fail(term.span(), message);
                }
            }
        }
        Ok(told)
    }
}
