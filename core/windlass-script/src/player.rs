//! Playing a script line by line against a stack.

use windlass_cc::{Span, Time};
use windlass_tcp::Segment;

use super::ast::{
    Bounds, Check, ErrorKind, Event, INFINITE, Line, PHASES, STATES, Script, When, World, name_of,
};
use super::ladder::{Ladder, Side, milliseconds};
use super::matching::{arrived, differences, left};
use super::peer::Peer;
use super::stack::{Departure, Seen, Stack, Tolerance};

/// Time for which the stack is watched after the last line, in addition to its tolerance. Any segment in this
/// time is unexpected.
const LAST_LOOK: Span = Span::from_millis(1);

/// The first difference between a stack and a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// Line number in the file.
    pub line: usize,
    /// Text of the line; empty after the last line.
    pub expected: String,
    /// Description of the actual event.
    pub came: String,
    /// The exchange up to this point, as a ladder.
    pub exchange: String,
    /// True if a busy machine can be the reason: an event came late, or the script acted late.
    pub may_be_load: bool,
}

/// Plays the lines of a script that apply to `lines_of`. `stack` may be another stack, to check whether it
/// behaves like `lines_of`.
pub fn play(script: &Script, lines_of: World, stack: &mut dyn Stack) -> Result<(), Mismatch> {
    let mut exchange = Exchange::default();
    play_lines(&script.lines, lines_of, stack, &mut exchange)?;
    let last = script.lines.last().map_or(0, |line| line.number);
    let mut player = Player { stack, exchange: &mut exchange };
    player.last_look().map_err(|came| player.mismatch(last, "", came))
}

/// Plays lines as the next part of an exchange. Segments after the last line belong to the part that follows.
pub fn play_lines(
    lines: &[Line],
    lines_of: World,
    stack: &mut dyn Stack,
    exchange: &mut Exchange,
) -> Result<(), Mismatch> {
    let mut player = Player { stack, exchange };
    for line in lines.iter().filter(|line| line.only.is_none_or(|only| only == lines_of)) {
        player.line(line).map_err(|came| player.mismatch(line.number, &line.text, came))?;
    }
    Ok(())
}

/// The actual event, which differs from the expected event.
struct Came {
    what: String,
    /// True if the load of the machine may have delayed the event.
    late: bool,
}

impl From<String> for Came {
    fn from(what: String) -> Came {
        Came { what, late: false }
    }
}

/// State of an exchange.
#[derive(Default, Debug)]
pub struct Exchange {
    /// The script's end of the connection.
    pub peer: Peer,
    ladder: Ladder,
    /// Time at which the line before was fulfilled.
    reference: Time,
    /// True if the script acted later than its time, by more than the tolerance.
    late: bool,
}

struct Player<'a> {
    stack: &'a mut dyn Stack,
    exchange: &'a mut Exchange,
}

impl Player<'_> {
    fn line(&mut self, line: &Line) -> Result<(), Came> {
        match &line.event {
            Event::Out(spec) => {
                let departure = self.wait_for(line.when)?;
                self.receive(&departure);
                let mut found = differences(spec, &departure.segment, &mut self.exchange.peer);
                if !departure.intact {
                    found.push("payload that the application did not write there".to_owned());
                }
                if !found.is_empty() {
                    let text = left(&departure.segment, &self.exchange.peer);
                    return Err(Came::from(format!("{text}: {}", found.join(", "))));
                }
                self.in_time(line.when, &departure)
            }
            Event::In(spec) => {
                self.pass(line.when)?;
                let segment = self.exchange.peer.write(spec, self.stack.now())?;
                self.send(&segment)
            }
            Event::Act(action) => {
                self.pass(line.when)?;
                self.exchange.ladder.remark(self.stack.now(), event_text(&line.text));
                self.stack.act(*action).map_err(Came::from)
            }
            Event::Check(check) => {
                self.pass(line.when)?;
                self.check(check)
            }
            Event::Quiet => self.pass(line.when),
        }
    }

    /// Returns the times between which an event may happen, and the tolerance around them.
    fn bounds(&self, when: When) -> (Time, Time, Tolerance) {
        let base = if when.relative { self.exchange.reference } else { Time::ZERO };
        let (earliest, latest) = (base + when.earliest, base + when.latest);
        let wait = latest.since(self.exchange.reference.min(latest));
        (earliest, latest, self.stack.tolerance(wait))
    }

    /// Lets time pass until the script must act. The stack must not send anything until then.
    fn pass(&mut self, when: When) -> Result<(), Came> {
        let (at, _, tolerance) = self.bounds(when);
        if let Some(departure) = self.stack.next(at)? {
            self.receive(&departure);
            let text = left(&departure.segment, &self.exchange.peer);
            let at = milliseconds(departure.at);
            return Err(Came::from(format!("{text} at {at}, which no line expects")));
        }
        let now = self.stack.now();
        self.exchange.late |= now > at + tolerance.late;
        self.exchange.reference = now;
        Ok(())
    }

    fn wait_for(&mut self, when: When) -> Result<Departure, Came> {
        let (_, latest, tolerance) = self.bounds(when);
        let until = latest + tolerance.late;
        self.stack
            .next(until)?
            .ok_or_else(|| Came { what: format!("nothing by {}", milliseconds(until)), late: true })
    }

    fn in_time(&mut self, when: When, departure: &Departure) -> Result<(), Came> {
        let (earliest, latest, tolerance) = self.bounds(when);
        let at = departure.at;
        let text = || {
            let (from, to) = (milliseconds(earliest), milliseconds(latest));
            let allowed = if from == to { from } else { format!("{from} to {to}") };
            format!("the same at {}, not at {allowed}", milliseconds(at))
        };
        if at + tolerance.early < earliest {
            return Err(Came::from(text()));
        }
        if at > latest + tolerance.late {
            return Err(Came { what: text(), late: true });
        }
        self.exchange.reference = at;
        Ok(())
    }

    fn receive(&mut self, departure: &Departure) {
        self.exchange.peer.read(&departure.segment);
        self.exchange.ladder.segment(
            departure.at,
            Side::Stack,
            left(&departure.segment, &self.exchange.peer),
        );
    }

    fn send(&mut self, segment: &Segment) -> Result<(), Came> {
        self.exchange.ladder.segment(
            self.stack.now(),
            Side::Peer,
            arrived(segment, &self.exchange.peer),
        );
        self.stack.deliver(segment).map_err(Came::from)
    }

    fn check(&mut self, check: &Check) -> Result<(), Came> {
        let seen = self.stack.look(check)?;
        let slack = self.stack.tolerance(Span::ZERO);
        let right = match (check, seen) {
            (Check::State(wanted), Seen::State(seen)) => *wanted == seen,
            (Check::Eof(wanted), Seen::Answer(seen)) => *wanted == seen,
            (Check::Error(wanted), Seen::Error(seen)) => *wanted == seen,
            (Check::Phase(wanted), Seen::Phase(seen)) => *wanted == seen,
            (Check::Srtt(wanted) | Check::Rto(wanted), Seen::Number(seen)) => {
                let least = wanted.least.saturating_sub(slack.early.0);
                Bounds { least, most: wanted.most.saturating_add(slack.late.0) }.allow(seen)
            }
            (
                Check::Cwnd(wanted)
                | Check::Ssthresh(wanted)
                | Check::DeliveredCe(wanted)
                | Check::DeliveredBytes(_, wanted)
                | Check::Readable(wanted)
                | Check::Own(_, wanted),
                Seen::Number(seen),
            ) => wanted.allow(seen),
            _ => false,
        };
        if right { Ok(()) } else { Err(Came::from(value_text(check, seen))) }
    }

    fn last_look(&mut self) -> Result<(), Came> {
        let tolerance = self.stack.tolerance(Span::ZERO);
        let until = self.stack.now() + tolerance.late + LAST_LOOK;
        match self.stack.next(until)? {
            None => Ok(()),
            Some(departure) => {
                self.receive(&departure);
                let text = left(&departure.segment, &self.exchange.peer);
                Err(Came::from(format!("{text} after the last line, which no line expects")))
            }
        }
    }

    fn mismatch(&self, line: usize, text: &str, came: Came) -> Mismatch {
        Mismatch {
            line,
            expected: text.to_owned(),
            came: came.what,
            exchange: self.exchange.ladder.to_string(),
            may_be_load: came.late || self.exchange.late,
        }
    }
}

/// Returns a line without its time.
fn event_text(line: &str) -> &str {
    let is_time = |word: &str| word.starts_with(|c: char| c == '+' || c.is_ascii_digit());
    match line.split_once(char::is_whitespace) {
        Some((first, rest)) if is_time(first) || first.ends_with(':') => {
            event_text(rest.trim_start())
        }
        _ => line,
    }
}

fn value_text(check: &Check, seen: Seen) -> String {
    match (check, seen) {
        (Check::Srtt(_) | Check::Rto(_), Seen::Number(n)) => milliseconds(Time(n)),
        (_, Seen::Number(INFINITE)) => "infinite".to_owned(),
        (_, Seen::Number(n)) => n.to_string(),
        (_, Seen::State(state)) => name_of(&STATES, &state).to_owned(),
        (_, Seen::Answer(yes)) => if yes { "yes" } else { "no" }.to_owned(),
        (_, Seen::Phase(phase)) => name_of(&PHASES, &phase).to_owned(),
        (_, Seen::Error(kind)) => name_of(&ErrorKind::ALL, &kind).to_owned(),
    }
}
