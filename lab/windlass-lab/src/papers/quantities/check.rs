//! Checks of `quantities.toml` that need no run.

use std::collections::BTreeSet;
use std::ops::Range;

use minijinja::Environment;
use toml::Spanned;

use super::file::{Amount, Element, Flows, Item, Term, When};
use super::formula;
use super::told::{Recordings, flow_of};
use crate::experiment::{FileError, Plan, series};
use crate::papers::ask::{Recorded, fate};
use crate::papers::exchange;
use crate::scenario::what_there_is;
use crate::template::said;

/// Maximum depth of nested names of `read`.
const DEEPEST: usize = 12;
/// Names that need no entry in `read`.
const MOMENTS: [&str; 3] = ["end", "last_sample", "event"];

/// An element of the file under check.
pub(super) struct Check<'a, 'e> {
    pub(super) text: &'a str,
    pub(super) file: &'a str,
    pub(super) plan: &'a Plan,
    pub(super) recorded: &'a Recordings,
    pub(super) env: &'a Environment<'static>,
    pub(super) element: &'e Element,
}

type Checked = Result<(), FileError>;

impl<'a, 'e> Check<'a, 'e> {
    fn fail<T>(&self, span: Range<usize>, message: impl Into<String>) -> Result<T, FileError> {
        Err(FileError::at(self.file, self.text, span, message))
    }

    /// The names and terms of the element's quantities.
    pub(super) fn terms(&self) -> Result<Vec<(String, &'e Spanned<Term>)>, FileError> {
        let e = self.element;
        let name = e.name.get_ref();
        match (&e.is, &e.values) {
            (Some(is), None) if !name.contains('*') => Ok(vec![(name.clone(), is)]),
            (Some(_), None) => self.fail(
                e.name.span(),
                "`name`: `*` stands for the names of `values`, which is missing",
            ),
            (None, Some(values)) if name.matches('*').count() == 1 => {
                let all = values.get_ref().iter();
                Ok(all.map(|(key, term)| (name.replace('*', key), term)).collect())
            }
            (None, Some(_)) => self.fail(
                e.name.span(),
                "`name` needs one `*` for the names of `values`, such as \"window.*\"",
            ),
            _ => self.fail(e.name.span(), format!("`{name}` needs either `is` or `values`")),
        }
    }

    /// Checks the element itself, all that it reads, and these terms.
    pub(super) fn whole(&self, terms: &[(String, &Spanned<Term>)]) -> Checked {
        self.trace(&self.element.trace)?;
        self.folds()?;
        for (name, term) in &self.element.read {
            if MOMENTS.contains(&name.as_str()) {
                let message =
                    format!("`read`: `{name}` has a meaning already; give it another name");
                return self.fail(term.span(), message);
            }
        }
        let read = self.element.read.values();
        for term in read.chain(terms.iter().map(|(_, term)| *term)) {
            self.term(term)?;
            self.sources(term)?;
        }
        for (name, term) in terms {
            if self.is_course(term.get_ref()) {
                let message =
                    format!("`{name}` is a course, not a number: add `take`, `at` or `when`");
                return self.fail(term.span(), message);
            }
        }
        Ok(())
    }

    /// `flows`, `each` and `over`.
    fn folds(&self) -> Checked {
        let e = self.element;
        match (e.flows.is_some() || e.each.is_some(), &e.over) {
            (true, None) => {
                let message = "`flows` and `each` need `over`: mean, share or total";
                return self.fail(e.name.span(), message);
            }
            (false, Some(over)) => {
                return self.fail(over.span(), "`over` needs `flows` or `each`");
            }
            _ => {}
        }
        if let Some(each) = &e.each {
            if each.get_ref().when.is_none() {
                let message = "`each` needs `when`, such as when = { change = 1 }";
                return self.fail(each.span(), message);
            }
            self.item(each.get_ref(), each.span())?;
        }
        match e.flows.as_ref().map(|f| (f.get_ref(), f.span())) {
            Some((Flows::Word(word), span)) if word != "all" => {
                let message =
                    format!("`flows`: invalid `{word}`; expected \"all\" or a list of flows");
                self.fail(span, message)
            }
            Some((Flows::These(all), _)) => {
                all.iter().try_for_each(|flow| self.flow(&e.trace, flow))
            }
            _ => Ok(()),
        }
    }

    fn trace(&self, id: &Spanned<String>) -> Result<&'a Recorded, FileError> {
        match (self.plan.look_up_trace(id.get_ref()), self.recorded.get(id.get_ref())) {
            (Ok(()), Some(recorded)) => Ok(recorded),
            (Err(message), _) => self.fail(id.span(), format!("`trace`: {message}")),
            (Ok(()), None) => self.fail(id.span(), "`trace`: not found"),
        }
    }

    /// Checks that the trace's scenario has this flow.
    fn flow(&self, trace: &Spanned<String>, flow: &Spanned<Amount>) -> Checked {
        match flow_of(self.recorded, trace.get_ref(), flow.get_ref()) {
            Ok(_) => Ok(()),
            Err(message) => self.fail(flow.span(), message),
        }
    }

    fn term(&self, term: &Spanned<Term>) -> Checked {
        match term.get_ref() {
            Term::Number(_) => Ok(()),
            Term::Item(item) => self.item(item, term.span()),
            Term::Formula(formula) => {
                let read = self.element.read.iter();
                let numbers = read.filter(|(_, term)| !self.is_course(term.get_ref()));
                let mut known: Vec<&str> = numbers.map(|(name, _)| name.as_str()).collect();
                known.extend(self.element.each.iter().map(|_| "event"));
                formula::check(self.env, formula, &known).or_else(|(word, message)| {
                    let word = word.unwrap_or_default();
                    self.fail(formula::place(self.text, term.span(), &word), message)
                })
            }
        }
    }

    /// True for a term without a rule that makes it a number.
    fn is_course(&self, term: &Term) -> bool {
        let Term::Item(i) = term else { return false };
        i.take.is_none() && i.at.is_none() && i.when.is_none() && i.exchange.is_none()
    }

    fn item(&self, item: &Item, span: Range<usize>) -> Checked {
        let trace = item.trace.as_ref().unwrap_or(&self.element.trace);
        let recorded = self.trace(trace)?;
        self.form(item, span)?;
        if let Some(flow) = &item.flow {
            self.flow(trace, flow)?;
        }
        match (&item.of, item.packets.as_ref().or(item.exchange.as_ref())) {
            (Some(of), _) => self.course(of.get_ref(), of.span(), recorded)?,
            (None, Some(what)) => self.packets(item, what, recorded)?,
            (None, None) => {}
        }
        for (key, amount) in item.amounts() {
            self.amount(key, amount.get_ref(), amount.span())?;
        }
        if let Some((when, amount)) =
            item.when.as_ref().and_then(|w| Some((w, w.get_ref().amount()?)))
        {
            self.amount("when", amount, when.span())?;
        }
        if let Some((take, other)) =
            item.take.as_ref().and_then(|t| Some((t, t.get_ref().other()?)))
        {
            let place = formula::place(self.text, take.span(), other);
            self.course(other, place, recorded)?;
        }
        Ok(())
    }

    /// Checks that the keys of a measure are compatible.
    fn form(&self, item: &Item, span: Range<usize>) -> Checked {
        let count = |there: &[bool]| there.iter().filter(|t| **t).count();
        if count(&[item.of.is_some(), item.packets.is_some(), item.exchange.is_some()]) != 1 {
            return self.fail(span, "a measure needs one of `of`, `packets` and `exchange`");
        }
        let rules = count(&[item.take.is_some(), item.at.is_some(), item.when.is_some()]);
        if rules > 1 {
            return self
                .fail(span, "a measure has more than one of `take`, `at` and `when`; keep one");
        }
        let cut =
            item.amounts().any(|(key, _)| ["from", "since", "until", "before"].contains(&key));
        if item.exchange.is_some()
            && (rules > 0 || cut || item.flow.is_some() || item.unit.is_some())
        {
            return self.fail(span, "`exchange` goes with `trace` only");
        }
        let lone = item.after.is_some() || item.otherwise.is_some() || item.plus.is_some();
        if lone && item.when.is_none() {
            return self.fail(span, "`after`, `otherwise` and `plus` need `when`");
        }
        if let Some(When::Change(Amount::Number(n))) = item.when.as_ref().map(Spanned::get_ref)
            && (n.is_nan() || *n < 1.0)
        {
            return self.fail(span, format!("`change`: invalid {n}; expected 1 or more"));
        }
        let unit = item.unit.as_ref().filter(|u| *u.get_ref() == 0.0 || !u.get_ref().is_finite());
        match unit {
            None => Ok(()),
            Some(unit) => {
                let message =
                    format!("`unit`: invalid {}; expected the size of a unit", unit.get_ref());
                self.fail(unit.span(), message)
            }
        }
    }

    /// Checks that a name is a course, or a series that the trace records.
    fn course(&self, name: &str, span: Range<usize>, recorded: &Recorded) -> Checked {
        let read = &self.element.read;
        if let Some(term) = read.get(name) {
            if self.is_course(term.get_ref()) {
                return Ok(());
            }
            return self.fail(span, format!("`{name}` of `read` is a number, not a course"));
        }
        if series(name).is_ok() {
            return recorded.has_series(name).or_else(|e| self.fail(span, said(&e)));
        }
        let courses = read.iter().filter(|(_, term)| self.is_course(term.get_ref()));
        let series = windlass_sim::Series::known();
        let names = courses.map(|(n, _)| n.as_str()).chain(series.iter().map(|(n, _)| n.as_str()));
        let known: Vec<&str> = names.collect();
        self.fail(span, format!("series `{name}` not found{}", what_there_is(name, &known)))
    }

    fn packets(&self, item: &Item, what: &Spanned<String>, recorded: &Recorded) -> Checked {
        let name = what.get_ref();
        let wrong = match item.packets {
            Some(_) => fate(name).err(),
            None if exchange::KNOWN.contains(&name.as_str()) => None,
            None => {
                let instead = what_there_is(name, &exchange::KNOWN);
                Some(format!("property `{name}` of an exchange not found{instead}"))
            }
        };
        let wrong = wrong.or_else(|| recorded.has_packets().err().map(|e| said(&e)));
        wrong.map_or(Ok(()), |message| self.fail(what.span(), message))
    }

    /// Checks that an amount is a number, or the name of a number.
    fn amount(&self, key: &str, amount: &Amount, span: Range<usize>) -> Checked {
        let Amount::Name(name) = amount else { return Ok(()) };
        let numbers = self.element.read.iter().filter(|(_, term)| !self.is_course(term.get_ref()));
        let mut known: Vec<&str> = numbers.map(|(name, _)| name.as_str()).collect();
        let events = self.element.each.is_some();
        known.extend(MOMENTS.iter().filter(|moment| events || **moment != "event"));
        if known.contains(&name.as_str()) {
            return Ok(());
        }
        let place = formula::place(self.text, span, name);
        self.fail(place, format!("`{key}`: name `{name}` not found{}", what_there_is(name, &known)))
    }

    /// The traces that a quantity of the element reads.
    pub(super) fn sources(&self, term: &Spanned<Term>) -> Result<BTreeSet<String>, FileError> {
        let mut found = self.reads(term, &mut Vec::new())?;
        if let Some(each) = &self.element.each {
            found.extend(self.reads_of(each.get_ref(), each.span(), &mut Vec::new())?);
        }
        if found.is_empty() {
            found.insert(self.element.trace.get_ref().clone());
        }
        Ok(found)
    }

    /// The traces that a term reads; `open` has the names of `read` on the path to it. A name that depends on
    /// itself is an error.
    fn reads(
        &self,
        term: &Spanned<Term>,
        open: &mut Vec<String>,
    ) -> Result<BTreeSet<String>, FileError> {
        match term.get_ref() {
            Term::Number(_) => Ok(BTreeSet::new()),
            Term::Item(item) => self.reads_of(item, term.span(), open),
            Term::Formula(formula) => {
                let names = formula::names(self.env, formula).unwrap_or_default();
                self.reads_by_name(names, term.span(), open)
            }
        }
    }

    fn reads_of(
        &self,
        item: &Item,
        span: Range<usize>,
        open: &mut Vec<String>,
    ) -> Result<BTreeSet<String>, FileError> {
        let when = item.when.as_ref().and_then(|w| w.get_ref().amount());
        let amounts = item.amounts().map(|(_, amount)| amount.get_ref()).chain(when);
        let mut names: BTreeSet<String> = amounts
            .filter_map(|amount| match amount {
                Amount::Name(name) => Some(name.clone()),
                Amount::Number(_) => None,
            })
            .collect();
        names.extend(item.of.as_ref().map(|of| of.get_ref().clone()));
        let other = item.take.as_ref().and_then(|t| t.get_ref().other());
        names.extend(other.map(str::to_owned));
        let mut found = self.reads_by_name(names, span, open)?;
        found.insert(item.trace.as_ref().unwrap_or(&self.element.trace).get_ref().clone());
        Ok(found)
    }

    fn reads_by_name(
        &self,
        names: BTreeSet<String>,
        span: Range<usize>,
        open: &mut Vec<String>,
    ) -> Result<BTreeSet<String>, FileError> {
        let mut found = BTreeSet::new();
        for name in names {
            let Some(inner) = self.element.read.get(&name) else { continue };
            if open.contains(&name) {
                return self.fail(span, format!("`{name}` of `read` needs itself"));
            }
            if open.len() >= DEEPEST {
                let message = format!("names of `read` need names more than {DEEPEST} deep");
                return self.fail(span, message);
            }
            open.push(name);
            found.extend(self.reads(inner, open)?);
            open.pop();
        }
        Ok(found)
    }
}
