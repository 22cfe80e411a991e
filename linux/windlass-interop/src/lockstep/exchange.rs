//! An exchange, written as a script.

use std::collections::BTreeSet;
use std::fmt::Write;

use windlass_cc::{Span, Time};
use windlass_tcp::{Codepoint, Flags};

use super::case::Case;
use super::remote::stamp_name;
use super::timing::EARLY;
use crate::script::{Action, Bounds, SegmentSpec, Stamp, TimestampsSpec};

/// A segment that leaves within this time after an event is the immediate consequence of the event.
pub(super) const AT_ONCE: Span = Span::from_millis(4);

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// The application acted.
    Act(Action),
    /// A segment of the peer arrived.
    In(SegmentSpec),
    /// The kernel sent a segment, with its number. An endpoint may send the segment from this time on.
    Out(SegmentSpec, u32, Time),
    /// The kernel sent nothing up to this time.
    Quiet,
}

/// All events up to now.
#[derive(Default, Debug)]
pub(super) struct Exchange {
    steps: Vec<(Time, Step)>,
    /// Step with the differing segment, and the fields that differ.
    differing: Option<(usize, Vec<String>)>,
}

impl Exchange {
    pub(super) fn add(&mut self, at: Time, step: Step) {
        self.steps.push((at, step));
    }

    /// Marks the latest step as the step that differs, in these fields.
    pub(super) fn mark(&mut self, parts: Vec<String>) {
        self.differing = self.steps.len().checked_sub(1).map(|last| (last, parts));
    }

    /// True if the exchange ends with a time in which the kernel sent nothing.
    pub(super) fn ends_quiet(&self) -> bool {
        matches!(self.steps.last(), Some((_, Step::Quiet)))
    }

    /// Returns the latest step of the peer or the application, with its time.
    pub(super) fn cause(&self) -> Option<&(Time, Step)> {
        self.steps.iter().rev().find(|(_, step)| !matches!(step, Step::Out(..) | Step::Quiet))
    }

    /// The peer's segment before the latest.
    pub(super) fn arrivals(&self) -> impl Iterator<Item = &SegmentSpec> {
        self.steps.iter().rev().filter_map(|(_, step)| match step {
            Step::In(spec) => Some(spec),
            _ => None,
        })
    }

    /// Returns the time at which the kernel last sent a segment.
    pub(super) fn last_out(&self) -> Time {
        let last = self.steps.iter().rev().find(|(_, step)| matches!(step, Step::Out(..)));
        last.map_or(Time::ZERO, |(at, _)| *at)
    }

    /// Returns the time at which the timer of a segment may have been set: the time of the last segment that
    /// uses sequence numbers. For an acknowledgement, it is the time of the last event.
    pub(super) fn armed(&self, spec: &SegmentSpec) -> Time {
        let consumes = |step: &Step| matches!(step, Step::Out(out, ..) if carries(out));
        let last = self.steps.iter().rev().find(|(_, step)| !carries(spec) || consumes(step));
        last.map_or(Time::ZERO, |(at, _)| *at)
    }

    /// Returns the exchange as a script.
    pub(super) fn script(&self, case: &Case, title: &str) -> String {
        let named = self.named();
        let mut text = format!("title  {title}\nsource Linux, lockstep seed {}\n", case.seed);
        let _ = writeln!(text, "{}\n", case.options.line());
        let mut window = None;
        let mut reference = Time::ZERO;
        for (i, (at, step)) in self.steps.iter().enumerate() {
            let marked = self.differing.as_ref().filter(|marked| marked.0 == i);
            let parts = marked.map_or(&[][..], |marked| &marked.1);
            let (time, event) = match step {
                Step::Act(action) => (moment(*at, reference), act(*action)),
                Step::Quiet => (moment(*at, reference), "quiet".to_owned()),
                Step::In(spec) => {
                    let mut spec = spec.clone();
                    let same = spec.window == window && !spec.flags.has(Flags::SYN);
                    window = if spec.flags.has(Flags::SYN) { None } else { spec.window };
                    spec.window = spec.window.filter(|_| !same);
                    (moment(*at, reference), format!("< {spec}"))
                }
                Step::Out(spec, number, earliest) => {
                    let time = range(*at, reference, *earliest);
                    (time, format!("> {}", expected(spec, *number, &named, parts)))
                }
            };
            reference = if matches!(step, Step::Out(..)) && at.since(reference) < AT_ONCE {
                reference
            } else {
                *at
            };
            let _ = writeln!(text, "{time:<16} {event}");
        }
        text
    }

    /// Returns the departures whose timestamps the peer echoes.
    fn named(&self) -> BTreeSet<String> {
        let echo = |(_, step): &(Time, Step)| match step {
            Step::In(spec) => match &spec.options.timestamps {
                TimestampsSpec::Given(_, Stamp::Named(name)) => Some(name.clone()),
                _ => None,
            },
            _ => None,
        };
        self.steps.iter().filter_map(echo).collect()
    }
}

/// True if a segment uses sequence numbers, so that it can be retransmitted.
pub(super) fn carries(spec: &SegmentSpec) -> bool {
    end(spec) > spec.seq.unwrap_or(0)
}

/// Returns the number after the last number of a segment.
pub(super) fn end(spec: &SegmentSpec) -> i64 {
    let flags = [Flags::SYN, Flags::FIN].into_iter().filter(|flag| spec.flags.has(*flag));
    spec.seq.unwrap_or(0) + i64::from(spec.len) + flags.count() as i64
}

fn act(action: Action) -> String {
    match action {
        Action::Listen => "listen".to_owned(),
        Action::Connect => "connect".to_owned(),
        Action::Write(n) => format!("write {n}"),
        Action::Read(n) => format!("read {n}"),
        Action::Shutdown => "shutdown".to_owned(),
        Action::Close => "close".to_owned(),
        Action::Abort => "abort".to_owned(),
    }
}

/// An expected segment. Parts that a script implies are left out, except `parts`.
fn expected(
    spec: &SegmentSpec,
    number: u32,
    named: &BTreeSet<String>,
    parts: &[String],
) -> SegmentSpec {
    let mut spec = spec.clone();
    let told = |part| parts.iter().any(|told| told == part);
    let zero = Bounds { least: 0, most: 0 };
    let syn = spec.flags.has(Flags::SYN);
    if !told("window") {
        spec.window = spec.window.filter(|window| *window == zero);
    }
    if !told("codepoint") {
        spec.ecn = spec.ecn.filter(|ecn| *ecn != Codepoint::NotEct);
    }
    let name = Some(stamp_name(number)).filter(|name| named.contains(name));
    let value = name.clone().map_or(Stamp::Any, Stamp::Named);
    spec.options.timestamps = match spec.options.timestamps {
        TimestampsSpec::Absent if told("options") => TimestampsSpec::Absent,
        TimestampsSpec::Given(_, echo) if told("timestamp echo") || told("options") => {
            TimestampsSpec::Given(value, echo)
        }
        TimestampsSpec::Given(..) if syn || name.is_some() => {
            TimestampsSpec::Given(value, Stamp::Any)
        }
        _ => TimestampsSpec::Implied,
    };
    spec
}

/// Returns the time of an event of the script, from the start.
fn moment(at: Time, reference: Time) -> String {
    if at == reference { String::new() } else { format!("{}ms", at.0 / 1_000_000) }
}

/// Returns the times at which a segment is expected. The kernel sent it at `at`.
fn range(at: Time, reference: Time, earliest: Time) -> String {
    if at.since(reference) < AT_ONCE {
        return String::new();
    }
    let least = earliest.max(reference).0.div_ceil(1_000_000);
    let most = (at.0 + EARLY.0).div_ceil(1_000_000);
    format!("{least}ms..{most}ms")
}
