//! `quantities.toml`: numbers of traced runs, declared as data.
//!
//! An element has a `name` and a `trace`. Its measures are tables: `of` is a series, `from` and `until` cut it, and `take`
//! is the number that is read. `read` names courses, moments and numbers, of which formulas compute. `flows` and `each`
//! apply an element to flows and events. There are no loops and no methods, so that everything is checked without a run.

mod check;
mod course;
mod file;
mod formula;
#[cfg(test)]
mod tests;
mod told;

use std::collections::{BTreeMap, BTreeSet};

use minijinja::Environment;
use toml::Spanned;

use super::ask::Scenarios;
use super::material::Material;
use crate::experiment::FileError;
use check::Check;
use file::{Element, QuantitiesFile, Term};
use told::{Courses, Reader, Wrong};

/// The file, checked.
struct File<'a> {
    text: &'a str,
    place: String,
    env: Environment<'static>,
    elements: Vec<Element>,
}

/// A quantity of an element.
struct Quantity<'e> {
    name: String,
    element: &'e Element,
    term: &'e Spanned<Term>,
    /// The traces that it reads.
    sources: BTreeSet<String>,
}

/// The quantities, as far as the traces yield them. With `scenarios` and without a trace, all are there: the file is checked,
/// also for the flows of these scenarios.
pub(super) fn quantities(
    m: &Material,
    scenarios: Option<&Scenarios>,
) -> Result<BTreeMap<String, f64>, FileError> {
    let Some(file) = File::read(m)? else { return Ok(BTreeMap::new()) };
    if m.traces.is_empty() && scenarios.is_none() {
        return Ok(BTreeMap::new());
    }
    let all = file.checked(m, scenarios)?;
    if m.traces.is_empty() {
        return Ok(all.into_iter().map(|q| (q.name, 1.0)).collect());
    }
    file.values(m, &all)
}

/// The traces that each quantity reads, by their places in the plan.
pub(super) fn sources(m: &Material) -> Result<BTreeMap<String, Vec<usize>>, FileError> {
    let Some(file) = File::read(m)? else { return Ok(BTreeMap::new()) };
    let traces = m.plan.traces.iter().enumerate();
    let places = |q: &Quantity| {
        traces.clone().filter(|(_, t)| q.sources.contains(&t.id)).map(|(at, _)| at).collect()
    };
    let all = file.checked(m, None)?;
    Ok(all.iter().map(|q| (q.name.clone(), places(q))).collect())
}

impl<'a> File<'a> {
    fn read(m: &Material<'a>) -> Result<Option<File<'a>>, FileError> {
        let Some(text) = m.paper.file("quantities.toml") else { return Ok(None) };
        let place = m.paper.place("quantities.toml");
        super::models::no_statements(text, &place)?;
        let read: QuantitiesFile = crate::template::read(text, &place)?;
        let (env, elements) = (formula::environment(), read.quantity);
        Ok(Some(File { text, place, env, elements }))
    }

    fn checked(
        &self,
        m: &Material,
        scenarios: Option<&Scenarios>,
    ) -> Result<Vec<Quantity<'_>>, FileError> {
        let (text, file, plan, env) = (self.text, self.place.as_str(), m.plan, &self.env);
        let (mut all, mut names) = (Vec::new(), BTreeSet::new());
        for element in &self.elements {
            let check = Check { text, file, plan, scenarios, env, element };
            let terms = check.terms()?;
            check.whole(&terms)?;
            for (name, term) in terms {
                if !names.insert(name.clone()) {
                    let message = format!("`{name}` exists already; give it another name");
                    return Err(FileError::at(file, text, term.span(), message));
                }
                let sources = check.sources(term)?;
                all.push(Quantity { name, element, term, sources });
            }
        }
        Ok(all)
    }

    fn values(&self, m: &Material, all: &[Quantity]) -> Result<BTreeMap<String, f64>, FileError> {
        let fail = |span, message| Err(FileError::at(&self.place, self.text, span, message));
        let (courses, mut found) = (Courses::default(), BTreeMap::new());
        let there = |q: &&Quantity| q.sources.iter().all(|id| m.traces.contains_key(id));
        for Quantity { name, element, term, .. } in all.iter().filter(there) {
            let reader = Reader { env: &self.env, element, traces: m.traces, courses: &courses };
            match reader.value(term) {
                Err(Wrong { span, message }) => return fail(span, message),
                Ok(None) => {}
                Ok(Some(value)) if value.is_finite() => {
                    found.insert(name.clone(), value);
                }
                Ok(Some(value)) => {
                    let message = format!("`{name}` is {value}, which is no finite number");
                    return fail(term.span(), message);
                }
            }
        }
        Ok(found)
    }
}
