//! Values of quantities on traced runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use minijinja::Environment;
use toml::Spanned;

use super::course::{
    changes, distinct, end, growth, packets, passes, regrowth, rest_after_peak, series,
};
use super::file::{Amount, Element, Flows, Item, Over, Take, Term, When};
use super::formula;
use crate::papers::ask::Course;
use crate::papers::material::{Trace, Traces};

/// A fault that only a run shows, with its place.
pub(super) struct Wrong {
    pub(super) span: Range<usize>,
    pub(super) message: String,
}

type Told = Result<Option<f64>, Wrong>;

/// Courses that several terms share.
#[derive(Default)]
pub(super) struct Courses(RefCell<BTreeMap<(String, String, u32), Rc<Course>>>);

/// The flow and the event at hand.
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
    pub(super) courses: &'a Courses,
}

/// The terms of an element for one hand, or for the totals of all.
struct Scope<'a> {
    r: &'a Reader<'a>,
    hand: Hand,
    totals: Option<&'a [Hand]>,
}

impl Reader<'_> {
    /// The value of a term of the element; none if the runs have none.
    pub(super) fn value(&self, term: &Spanned<Term>) -> Told {
        let hands = self.hands()?;
        let one = |hand: &Hand| Scope { r: self, hand: *hand, totals: None }.term(term);
        match self.element.over.as_ref().map(|over| *over.get_ref()) {
            None => one(&Hand::default()),
            Some(Over::Total) => {
                Scope { r: self, hand: Hand::default(), totals: Some(&hands) }.term(term)
            }
            Some(Over::Share) => {
                let all: Vec<Option<f64>> = hands.iter().map(one).collect::<Result<_, _>>()?;
                let holds = all.iter().flatten().filter(|v| **v != 0.0).count();
                Ok(Some(holds as f64 / all.len().max(1) as f64))
            }
            Some(Over::Mean) => {
                let of_flow = |hands: &[Hand]| {
                    let all: Vec<Option<f64>> = hands.iter().map(one).collect::<Result<_, _>>()?;
                    Ok(mean(all))
                };
                let flows = hands.chunk_by(|a, b| a.flow == b.flow);
                Ok(mean(flows.map(of_flow).collect::<Result<_, _>>()?))
            }
        }
    }

    fn hands(&self) -> Result<Vec<Hand>, Wrong> {
        let flows = match self.element.flows.as_ref().map(Spanned::get_ref) {
            None => vec![None],
            Some(Flows::These(all)) => all.iter().map(|f| Some(*f)).collect(),
            Some(Flows::Word(_)) => {
                let trace = self.traces.get(self.element.trace.get_ref());
                let all = trace.into_iter().flat_map(|t| &t.samples).map(|s| s.flow);
                all.collect::<BTreeSet<u32>>().into_iter().map(Some).collect()
            }
        };
        let mut hands = Vec::new();
        for flow in flows {
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

    fn trace(&self, item: &Item) -> Option<&Trace> {
        let id = item.trace.as_ref().unwrap_or(&self.element.trace);
        self.traces.get(id.get_ref())
    }

    /// A series or a count of packets, as the trace has it.
    fn whole(&self, item: &Item, what: &str, flow: u32) -> Option<Rc<Course>> {
        let id = item.trace.as_ref().unwrap_or(&self.element.trace).get_ref();
        let key = (id.clone(), what.to_owned(), flow);
        if let Some(known) = self.courses.0.borrow().get(&key) {
            return Some(known.clone());
        }
        let trace = self.trace(item)?;
        let course = Rc::new(match item.packets {
            Some(_) => packets(trace, what, flow)?,
            None => series(trace, what, flow)?,
        });
        self.courses.0.borrow_mut().insert(key, course.clone());
        Some(course)
    }
}

/// The mean of the values that exist.
fn mean(all: Vec<Option<f64>>) -> Option<f64> {
    let there: Vec<f64> = all.into_iter().flatten().collect();
    (!there.is_empty()).then(|| there.iter().sum::<f64>() / there.len() as f64)
}

impl Scope<'_> {
    fn term(&self, term: &Spanned<Term>) -> Told {
        match term.get_ref() {
            Term::Number(v) => Ok(Some(*v)),
            Term::Item(item) => match self.totals {
                None => self.number(item, &term.span()),
                Some(hands) => {
                    let mut sum = 0.0;
                    for hand in hands {
                        let one = Scope { r: self.r, hand: *hand, totals: None };
                        sum += one.number(item, &term.span())?.unwrap_or(0.0);
                    }
                    Ok(Some(sum))
                }
            },
            Term::Formula(text) => self.formula(text, term.span()),
        }
    }

    fn formula(&self, text: &str, span: Range<usize>) -> Told {
        let mut numbers = BTreeMap::new();
        for name in formula::names(self.r.env, text).unwrap_or_default() {
            match self.named(&name)? {
                Some(value) => numbers.insert(name, value),
                None => return Ok(None),
            };
        }
        let value = formula::value(self.r.env, text, numbers);
        value.map(Some).map_err(|message| Wrong { span, message })
    }

    /// The number with a name of `read`.
    fn named(&self, name: &str) -> Told {
        match (name, self.r.element.read.get(name)) {
            ("event", _) => Ok(self.hand.event),
            (_, Some(term)) => self.term(term),
            (_, None) => Ok(None),
        }
    }

    fn amount(&self, amount: &Amount, item: &Item) -> Told {
        match amount {
            Amount::Number(v) => Ok(Some(*v)),
            Amount::Name(name) if name == "end" => Ok(self.r.trace(item).map(end)),
            Amount::Name(name) if name == "last_sample" => {
                Ok(self.base(item)?.and_then(|c| c.0.last().map(|(t, _)| *t)))
            }
            Amount::Name(name) => self.named(name),
        }
    }

    /// The number that a measure or a moment is.
    fn number(&self, item: &Item, span: &Range<usize>) -> Told {
        if let Some(what) = &item.exchange {
            let asked = self.r.trace(item).and_then(crate::papers::exchange::Asked::of);
            return Ok(asked.and_then(|asked| asked.number(what.get_ref())));
        }
        if item.when.is_some() {
            return match self.events(item, span)?.first() {
                Some((t, _)) => Ok(Some(t + item.plus.unwrap_or(0.0))),
                None => {
                    item.otherwise.as_ref().map_or(Ok(None), |o| self.amount(o.get_ref(), item))
                }
            };
        }
        let Some(course) = self.course(item)? else { return Ok(None) };
        if let Some(at) = &item.at {
            return Ok(self.amount(at.get_ref(), item)?.and_then(|t| course.at(t)));
        }
        let Some(take) = &item.take else { return Ok(None) };
        self.taken(item, take.get_ref(), &course)
    }

    /// The course before it is cut.
    fn base(&self, item: &Item) -> Result<Option<Rc<Course>>, Wrong> {
        let what = item.of.as_ref().or(item.packets.as_ref()).map_or("", |w| w.get_ref());
        let whole = match self.r.element.read.get(what).map(Spanned::get_ref) {
            Some(Term::Item(named)) if item.of.is_some() => self.course(named)?.map(Rc::new),
            _ => {
                let flow = item.flow.as_ref().map(|f| *f.get_ref()).or(self.hand.flow);
                self.r.whole(item, what, flow.unwrap_or(0))
            }
        };
        Ok(whole)
    }

    fn course(&self, item: &Item) -> Result<Option<Course>, Wrong> {
        let Some(base) = self.base(item)? else { return Ok(None) };
        let unit = item.unit.as_ref().map_or(1.0, |u| *u.get_ref());
        let most = item.most.unwrap_or(f64::INFINITY);
        let mut course = base.mapped(|v| (v / unit).min(most));
        let limit = |amount: &Option<Spanned<Amount>>| match amount {
            None => Ok(Some(None)),
            Some(amount) => Ok(self.amount(amount.get_ref(), item)?.map(Some)),
        };
        let all =
            [limit(&item.from)?, limit(&item.since)?, limit(&item.until)?, limit(&item.before)?];
        let [Some(from), Some(since), Some(until), Some(before)] = all else { return Ok(None) };
        if let Some(from) = from {
            course = course.within(from, until.unwrap_or(f64::INFINITY));
        }
        let kept = |(t, _): &(f64, f64)| {
            since.is_none_or(|s| *t >= s)
                && until.is_none_or(|u| *t <= u)
                && before.is_none_or(|b| *t < b)
        };
        course.0.retain(kept);
        Ok(Some(course))
    }

    /// The events of `when`, with the values there.
    fn events(&self, item: &Item, span: &Range<usize>) -> Result<Vec<(f64, f64)>, Wrong> {
        let (Some(when), Some(course)) = (&item.when, self.course(item)?) else {
            return Ok(Vec::new());
        };
        let amount = match when.get_ref().amount() {
            Some(amount) => self.amount(amount, item)?,
            None => Some(0.0),
        };
        let after = match &item.after {
            Some(after) => self.amount(after.get_ref(), item)?,
            None => Some(f64::NEG_INFINITY),
        };
        let (Some(amount), Some(after)) = (amount, after) else { return Ok(Vec::new()) };
        let later = |(t, _): &(f64, f64)| *t > after;
        let all = course.0.iter().copied();
        Ok(match when.get_ref() {
            When::Change(_) if amount.is_nan() || amount < 1.0 => {
                let message = format!("`change`: invalid {amount}; expected 1 or more");
                return Err(Wrong { span: span.clone(), message });
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
    fn other(&self, item: &Item, take: &Take) -> Result<Option<Rc<Course>>, Wrong> {
        let Some(name) = take.other() else { return Ok(None) };
        let place = item.of.as_ref().map_or(0..0, Spanned::span);
        let of = Some(Spanned::new(place, name.to_owned()));
        let (trace, flow) = (item.trace.clone(), item.flow.clone());
        self.base(&Item { of, trace, flow, ..Item::default() })
    }

    fn taken(&self, item: &Item, take: &Take, course: &Course) -> Told {
        if let Some(other) = self.other(item, take)? {
            return Ok(compared(take, course, &other));
        }
        if let Take::Mean = take {
            let end = Amount::Name("end".to_owned());
            let until = item.until.as_ref().map_or(&end, Spanned::get_ref);
            return Ok(self.amount(until, item)?.and_then(|end| course.mean(end)));
        }
        Ok(alone(take, course))
    }
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

/// A number of a course and another.
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
