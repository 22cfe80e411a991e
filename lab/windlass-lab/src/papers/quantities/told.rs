//! Values of quantities on traced runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use minijinja::{Environment, Value};
use toml::Spanned;

use super::course::{
    changes, distinct, end, growth, packets, passes, regrowth, rest_after_peak, series,
};
use super::file::{Amount, Element, Flows, Item, Over, Take, Term, When};
use super::formula;
use crate::papers::ask::{Course, Recorded};
use crate::papers::material::{Trace, Traces};
use crate::template::said;

/// A missing or invalid number.
pub(super) enum Fault {
    /// The run has no such value, with the reason.
    Lack(String),
    /// A mistake that only a run shows, with its place.
    Wrong(Range<usize>, String),
}

type Told<T = f64> = Result<T, Fault>;

fn lack<T>(why: impl Into<String>) -> Told<T> {
    Err(Fault::Lack(why.into()))
}

/// `None` if the run has no such number.
fn optional(told: Told) -> Result<Option<f64>, Fault> {
    match told {
        Ok(value) => Ok(Some(value)),
        Err(Fault::Lack(_)) => Ok(None),
        Err(wrong) => Err(wrong),
    }
}

/// The recording of each trace of the plan.
pub(super) type Recordings = BTreeMap<String, Recorded>;

/// Courses that several terms share.
#[derive(Default)]
pub(super) struct Courses(RefCell<BTreeMap<(String, String, u32), Rc<Course>>>);

/// The current flow and event.
#[derive(Clone, Copy, Default)]
struct Hand {
    flow: Option<u32>,
    event: Option<f64>,
}

/// An element of the file with its traces.
pub(super) struct Reader<'a> {
    pub(super) env: &'a Environment<'static>,
    pub(super) element: &'a Element,
    pub(super) traces: &'a Traces,
    pub(super) recorded: &'a Recordings,
    pub(super) courses: &'a Courses,
}

/// The terms of an element for one flow and event, or for the totals of all.
struct Scope<'a> {
    r: &'a Reader<'a>,
    hand: Hand,
    totals: Option<&'a [Hand]>,
}

impl Reader<'_> {
    /// The value of a term of the element.
    pub(super) fn value(&self, term: &Spanned<Term>) -> Told {
        let hands = self.hands()?;
        let one = |hand: &Hand| Scope { r: self, hand: *hand, totals: None }.term(term);
        match self.element.over.as_ref().map(|over| *over.get_ref()) {
            None => one(&Hand::default()),
            Some(Over::Total) => {
                Scope { r: self, hand: Hand::default(), totals: Some(&hands) }.term(term)
            }
            Some(Over::Share) => {
                let all: Vec<Option<f64>> =
                    hands.iter().map(|hand| optional(one(hand))).collect::<Result<_, _>>()?;
                let holds = all.iter().flatten().filter(|v| **v != 0.0).count();
                Ok(holds as f64 / all.len().max(1) as f64)
            }
            Some(Over::Mean) => {
                let flows = hands.chunk_by(|a, b| a.flow == b.flow);
                mean(flows.map(|hands| mean(hands.iter().map(one))))
            }
        }
    }

    fn hands(&self) -> Result<Vec<Hand>, Fault> {
        let mut hands = Vec::new();
        for flow in self.flows()? {
            let hand = Hand { flow, event: None };
            match &self.element.each {
                None => hands.push(hand),
                Some(item) => {
                    let scope = Scope { r: self, hand, totals: None };
                    let events = scope.events(item.get_ref(), &item.span())?;
                    let at = |(t, _): (f64, f64)| Hand { flow, event: Some(t) };
                    hands.extend(events.into_iter().map(at));
                }
            }
        }
        Ok(hands)
    }

    fn flows(&self) -> Result<Vec<Option<u32>>, Fault> {
        let id = self.element.trace.get_ref();
        match self.element.flows.as_ref().map(Spanned::get_ref) {
            None => Ok(vec![None]),
            Some(Flows::These(all)) => all.iter().map(|f| self.flow(id, f).map(Some)).collect(),
            Some(Flows::Word(_)) => {
                let all = self.traces.get(id).into_iter().flat_map(|t| &t.samples).map(|s| s.flow);
                Ok(all.collect::<BTreeSet<u32>>().into_iter().map(Some).collect())
            }
        }
    }

    fn flow(&self, trace: &str, flow: &Spanned<Amount>) -> Result<u32, Fault> {
        let wrong = |message| Fault::Wrong(flow.span(), message);
        flow_of(self.recorded, trace, flow.get_ref()).map_err(wrong)
    }

    fn id<'i>(&'i self, item: &'i Item) -> &'i str {
        item.trace.as_ref().unwrap_or(&self.element.trace).get_ref()
    }

    fn trace(&self, item: &Item) -> Told<&Trace> {
        self.traces.get(self.id(item)).map_or_else(|| lack("its trace was not run"), Ok)
    }

    /// A series or a count of packets, without limits in time.
    fn whole(&self, item: &Item, what: &str, flow: u32) -> Told<Rc<Course>> {
        let key = (self.id(item).to_owned(), what.to_owned(), flow);
        if let Some(known) = self.courses.0.borrow().get(&key) {
            return Ok(known.clone());
        }
        let trace = self.trace(item)?;
        let read = match item.packets {
            Some(_) => packets(trace, what, flow),
            None => series(trace, what, flow),
        };
        let course = Rc::new(read.unwrap_or(Course(Vec::new())));
        self.courses.0.borrow_mut().insert(key, course.clone());
        Ok(course)
    }
}

/// The mean of the values that exist.
fn mean(all: impl Iterator<Item = Told>) -> Told {
    let there: Vec<Option<f64>> = all.map(optional).collect::<Result<_, _>>()?;
    let there: Vec<f64> = there.into_iter().flatten().collect();
    if there.is_empty() {
        return lack("no flow or event has a value");
    }
    Ok(there.iter().sum::<f64>() / there.len() as f64)
}

impl Scope<'_> {
    fn term(&self, term: &Spanned<Term>) -> Told {
        match term.get_ref() {
            Term::Number(v) => Ok(*v),
            Term::Formula(text) => self.formula(text, term.span()),
            Term::Item(item) => match self.totals {
                None => self.number(item, &term.span()),
                Some(hands) => {
                    let mut sum = 0.0;
                    for hand in hands {
                        let one = Scope { r: self.r, hand: *hand, totals: None };
                        sum += optional(one.number(item, &term.span()))?.unwrap_or(0.0);
                    }
                    Ok(sum)
                }
            },
        }
    }

    fn formula(&self, text: &str, span: Range<usize>) -> Told {
        let mut numbers = BTreeMap::new();
        for name in formula::names(self.r.env, text).unwrap_or_default() {
            let value = self.named(&name)?;
            numbers.insert(name, value);
        }
        formula::value(self.r.env, text, numbers).map_err(|message| Fault::Wrong(span, message))
    }

    /// The number of a name in `read`.
    fn named(&self, name: &str) -> Told {
        match (name, self.r.element.read.get(name), self.hand.event) {
            ("event", _, Some(event)) => Ok(event),
            (_, Some(term), _) => self.term(term),
            (_, None, _) => lack(format!("`{name}` has no value here")),
        }
    }

    fn amount(&self, amount: &Amount, item: &Item) -> Told {
        match amount {
            Amount::Number(v) => Ok(*v),
            Amount::Name(name) if name == "end" => self.r.trace(item).map(end),
            Amount::Name(name) if name == "last_sample" => match self.base(item)?.0.last() {
                Some((t, _)) => Ok(*t),
                None => lack(format!("{} has no value", label(item))),
            },
            Amount::Name(name) => self.named(name),
        }
    }

    /// The number of a measure or a moment.
    fn number(&self, item: &Item, span: &Range<usize>) -> Told {
        if let Some(what) = &item.exchange {
            let asked = crate::papers::exchange::Asked::of(self.r.trace(item)?);
            let number = asked.and_then(|asked| asked.number(what.get_ref()));
            let none = || lack("the captured packets have no loss with its repair");
            return number.map_or_else(none, Ok);
        }
        if item.when.is_some() {
            return match (self.events(item, span)?.first(), &item.otherwise) {
                (Some((t, _)), _) => Ok(t + item.plus.unwrap_or(0.0)),
                (None, Some(otherwise)) => self.amount(otherwise.get_ref(), item),
                (None, None) => lack(format!("{} has no such moment", label(item))),
            };
        }
        let course = self.course(item)?;
        if let Some(at) = &item.at {
            let at = self.amount(at.get_ref(), item)?;
            return match (course.at(at), course.0.first()) {
                (Some(value), _) => Ok(value),
                (None, None) => lack(format!("{} has no value", label(item))),
                (None, Some((first, _))) => lack(format!(
                    "`at` {at} s is before the first value of {}, at {first} s",
                    label(item)
                )),
            };
        }
        let Some(take) = &item.take else {
            return lack(format!("{} is not a number", label(item)));
        };
        self.taken(item, take.get_ref(), &course)
    }

    /// The course before limits in time apply.
    fn base(&self, item: &Item) -> Told<Rc<Course>> {
        let what = item.of.as_ref().or(item.packets.as_ref()).map_or("", |w| w.get_ref());
        match self.r.element.read.get(what).map(Spanned::get_ref) {
            Some(Term::Item(named)) if item.of.is_some() => self.course(named).map(Rc::new),
            _ => {
                let flow = match &item.flow {
                    Some(flow) => self.r.flow(self.r.id(item), flow)?,
                    None => self.hand.flow.unwrap_or(0),
                };
                self.r.whole(item, what, flow)
            }
        }
    }

    fn course(&self, item: &Item) -> Told<Course> {
        let base = self.base(item)?;
        let unit = item.unit.as_ref().map_or(1.0, |u| *u.get_ref());
        let most = item.most.unwrap_or(f64::INFINITY);
        let mut course = base.mapped(|v| (v / unit).min(most));
        let limit = |amount: &Option<Spanned<Amount>>| {
            amount.as_ref().map(|amount| self.amount(amount.get_ref(), item)).transpose()
        };
        let (since, until, before) =
            (limit(&item.since)?, limit(&item.until)?, limit(&item.before)?);
        if let Some(from) = limit(&item.from)? {
            course = course.within(from, until.unwrap_or(f64::INFINITY));
        }
        course.0.retain(|(t, _)| {
            since.is_none_or(|s| *t >= s)
                && until.is_none_or(|u| *t <= u)
                && before.is_none_or(|b| *t < b)
        });
        Ok(course)
    }

    /// The events of `when`, with the values at them.
    fn events(&self, item: &Item, span: &Range<usize>) -> Told<Vec<(f64, f64)>> {
        let Some(when) = &item.when else { return Ok(Vec::new()) };
        let course = self.course(item)?;
        let amount = match when.get_ref().amount() {
            Some(amount) => self.amount(amount, item)?,
            None => 0.0,
        };
        let after = match &item.after {
            Some(after) => self.amount(after.get_ref(), item)?,
            None => f64::NEG_INFINITY,
        };
        let later = |(t, _): &(f64, f64)| *t > after;
        let all = course.0.iter().copied();
        Ok(match when.get_ref() {
            When::Change(_) if amount.is_nan() || amount < 1.0 => {
                let message = format!("`change`: invalid {amount}; expected 1 or more");
                return Err(Fault::Wrong(span.clone(), message));
            }
            When::Change(_) => changes(&course).filter(later).skip(amount as usize - 1).collect(),
            When::Becomes(value) => {
                changes(&course).filter(later).filter(|(_, v)| v == value).collect()
            }
            When::AtMost(_) => all.filter(later).filter(|(_, v)| *v <= amount).collect(),
            When::AtLeast(_) => all.filter(later).filter(|(_, v)| *v >= amount).collect(),
        })
    }

    /// The other course of a measure, if it has one.
    fn other(&self, item: &Item, take: &Take) -> Told<Option<Rc<Course>>> {
        let Some(name) = take.other() else { return Ok(None) };
        let place = item.of.as_ref().map_or(0..0, Spanned::span);
        let of = Some(Spanned::new(place, name.to_owned()));
        let (trace, flow) = (item.trace.clone(), item.flow.clone());
        self.base(&Item { of, trace, flow, ..Item::default() }).map(Some)
    }

    fn taken(&self, item: &Item, take: &Take, course: &Course) -> Told {
        let value = match (self.other(item, take)?, take) {
            (Some(other), _) => compared(take, course, &other),
            (None, Take::Mean) => {
                let end = Amount::Name("end".to_owned());
                let until = item.until.as_ref().map_or(&end, Spanned::get_ref);
                course.mean(self.amount(until, item)?)
            }
            (None, _) => alone(take, course),
        };
        let name = format!("{take:?}").to_lowercase();
        let name = name.split(['(', ' ']).next().unwrap_or_default();
        let nothing = if course.0.is_empty() { "has no value there" } else { "has no such number" };
        value.map_or_else(|| lack(format!("`{name}`: {} {nothing}", label(item))), Ok)
    }
}

/// The name of a course, for messages.
fn label(item: &Item) -> String {
    let name = item.of.as_ref().or(item.packets.as_ref()).map_or("", |of| of.get_ref());
    format!("`{name}`")
}

/// The index of a flow of a trace.
pub(super) fn flow_of(all: &Recordings, trace: &str, flow: &Amount) -> Result<u32, String> {
    let Some(recorded) = all.get(trace) else { return Ok(0) };
    let value = match flow {
        Amount::Name(name) => Value::from(name.as_str()),
        Amount::Number(v) if v.fract() == 0.0 => Value::from(*v as i64),
        Amount::Number(v) => Value::from(*v),
    };
    let index = recorded.flow(&value).and_then(|at| recorded.has_flow(at).map(|()| at));
    index.map_err(|e| said(&e))
}

fn truth(holds: bool) -> Option<f64> {
    Some(f64::from(u8::from(holds)))
}

/// A number of one course.
fn alone(take: &Take, course: &Course) -> Option<f64> {
    let values = || course.0.iter().map(|(_, v)| *v);
    let has = |all: &[f64]| values().any(|v| all.contains(&v));
    if course.0.is_empty() && !matches!(take, Take::Count) {
        return None;
    }
    match take {
        Take::Max => values().reduce(f64::max),
        Take::Min => values().reduce(f64::min),
        Take::Last => values().next_back(),
        Take::Count => Some(course.0.len() as f64),
        Take::RestAfterPeak => rest_after_peak(course),
        Take::Pauses(least) => course.pauses(*least),
        Take::Ever(all) => truth(has(all)),
        Take::Never(all) => truth(!has(all)),
        Take::Begins(all) => truth(distinct(course).starts_with(all)),
        Take::Follows(all) => {
            let here = |w: &[f64]| w == all.as_slice();
            truth(distinct(course).windows(all.len().max(1)).any(here))
        }
        _ => None,
    }
}

/// A number of a course and another course.
fn compared(take: &Take, course: &Course, other: &Course) -> Option<f64> {
    if course.0.is_empty() {
        return None;
    }
    match take {
        Take::Regrowth { low, high, .. } => regrowth(course, *low, *high, other),
        Take::EverBelow(_) => {
            let below = |(t, v): &(f64, f64)| other.at(*t).is_some_and(|o| *v < o);
            truth(course.0.iter().any(below))
        }
        Take::Passes(_) => truth(passes(course, other)),
        Take::RiseFrom(_) => Some(growth(course, other).0),
        Take::TimeFrom(_) => Some(growth(course, other).1),
        _ => None,
    }
}
