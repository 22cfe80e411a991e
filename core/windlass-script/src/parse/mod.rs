//! Parsing a script's text line by line.

mod segment;
pub mod words;

pub(super) use self::segment::FLAGS;

use windlass_cc::{AnyParams, Span};
use windlass_tcp::stack::{LossDetection, PRESETS};
use windlass_tcp::{Codepoint, Preset};

use self::words::{Word, Words, bounds, named, number, times};
use super::ast::{
    Action, Bounds, Check, Difference, ErrorKind, Event, INFINITE, Line, PHASES, STATES, Script,
    When, World, release_numbers,
};
use super::error::{Problem, ScriptError};
use super::settings::{FEEDBACK, Kind, SETTINGS, Settings, take_preset};
use super::virtual_time::OWN;

/// Maximum number of bytes per write or read: the send buffer of the stacks.
const MOST_BYTES: u64 = 4 << 20;
/// The positions of a switch.
pub const ON_OFF: [(&str, bool); 2] = [("on", true), ("off", false)];
const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];
/// Description of the possible events of a line.
const EVENTS: &str = "a line is \"< SEGMENT\", \"> SEGMENT\", \"= NAME VALUE\", quiet, listen, \
    connect, write N, read N, shutdown, close or abort";

impl Script {
    /// Parses a script; `file` is its name in errors and reports.
    ///
    /// # Errors
    ///
    /// Returns the first error in the text, with its place and its remedy.
    pub fn parse(text: &str, file: &str) -> Result<Script, ScriptError> {
        read(text, file).map_err(|problem| problem.in_file(file, text))
    }
}

impl Line {
    /// Parses events without a head, as a part of a script whose settings are known.
    ///
    /// # Errors
    ///
    /// Returns the first error in the text, with its place and its remedy.
    pub fn parse(text: &str, file: &str) -> Result<Vec<Line>, ScriptError> {
        let read = read_lines(text).map(|reader| reader.lines);
        read.map_err(|problem| problem.in_file(file, text))
    }
}

fn read(text: &str, file: &str) -> Result<Script, Problem> {
    read_lines(text)?.finish(text, file)
}

fn read_lines(text: &str) -> Result<Reader, Problem> {
    let mut reader = Reader::default();
    let mut start = 0;
    for (index, line) in text.split('\n').enumerate() {
        let code = line.split('#').next().unwrap_or("");
        reader.line(index + 1, code, start)?;
        start += line.len() + 1;
    }
    Ok(reader)
}

#[derive(Default)]
struct Reader {
    title: Option<String>,
    sources: Vec<String>,
    settings: Settings,
    /// True if a setting was changed, because a preset would undo the change.
    changed: bool,
    differs: Option<Difference>,
    lines: Vec<Line>,
}

impl Reader {
    fn line(&mut self, number: usize, code: &str, start: usize) -> Result<(), Problem> {
        let mut words = Words::new(code, start);
        let Some(first) = words.peek() else { return Ok(()) };
        if matches!(first.text, "peer" | "case") {
            let help = "play it with `windlass-dev interop`, which has all of them";
            return Err(first.problem("this file has cases with a kernel as the peer", help));
        }
        if !matches!(first.text, "title" | "source" | "set" | "differs") {
            let line = self.event_line(number, code.trim(), words)?;
            self.lines.push(line);
            return Ok(());
        }
        if !self.lines.is_empty() {
            let message = format!("\"{}\" is after the first event", first.text);
            return Err(first.problem(message, "move it to the head of the script"));
        }
        words.next();
        match first.text {
            "title" if self.title.is_some() => {
                Err(first.problem("the script has a title already", "keep one of the two"))
            }
            "title" => {
                self.title = Some(sentence(words, "what the script shows, in one line")?);
                Ok(())
            }
            "source" => {
                self.sources.push(sentence(words, "an RFC and its section")?);
                Ok(())
            }
            "set" => words.parts().into_iter().try_for_each(|part| self.set(part)),
            _ => self.difference(first, words),
        }
    }

    fn set(&mut self, words: Words<'_>) -> Result<(), Problem> {
        let stack = words.peek().filter(|name| name.text.eq_ignore_ascii_case("stack"));
        if let (Some(name), true) = (stack, self.changed) {
            let help = "write the stack before the settings that change it";
            return Err(name.problem("the stack would undo earlier settings", help));
        }
        self.changed |= stack.is_none();
        self.settings.set(words)
    }

    fn difference(&mut self, first: Word<'_>, mut words: Words<'_>) -> Result<(), Problem> {
        if self.differs.is_some() {
            return Err(first.problem("one world differs already", "keep one such line"));
        }
        let mut word = words.expect("the world that differs, such as linux:")?;
        let mut before = None;
        let name = word.text;
        if words.peek().is_some_and(|next| next.text == "before") {
            words.next();
            word = words.expect("a kernel's release, such as 6.18:")?;
            before = release_numbers(word.text);
            if before.is_none() {
                return Err(word.problem(
                    "this is not a kernel's release",
                    "write: differs linux before 6.18: reason",
                ));
            }
        }
        if !word.text.ends_with(':') {
            return Err(word.problem("a colon is missing", "write: differs linux: reason"));
        }
        let world = named(Word { text: name.trim_end_matches(':'), ..word }, "world", &World::ALL)?;
        let reason = sentence(words, "the reason")?;
        self.differs = Some(Difference { world, before, reason });
        Ok(())
    }

    fn event_line(&self, number: usize, text: &str, mut words: Words<'_>) -> Result<Line, Problem> {
        let only = self.only(&mut words)?;
        let (when, when_word) = when(&mut words)?;
        let word = words.expect("what happens")?;
        let event = event(word, words)?;
        if when.earliest != when.latest && !matches!(event, Event::Out(_)) {
            let place = when_word.unwrap_or(word);
            let help = "write one time; a range is for segments that are expected";
            return Err(place.problem("an action has exactly one time", help));
        }
        Ok(Line { number, text: text.to_owned(), only, when, event })
    }

    /// Parses `linux:` or `sim:` at the start of a line that applies only to one stack.
    fn only(&self, words: &mut Words<'_>) -> Result<Option<World>, Problem> {
        let Some(word) = words.peek().filter(|word| word.text.ends_with(':')) else {
            return Ok(None);
        };
        words.next();
        let world =
            named(Word { text: word.text.trim_end_matches(':'), ..word }, "world", &World::ALL)?;
        if self.differs.is_none() {
            let help = "give the reason at the head of the script: differs linux: reason";
            return Err(word.problem("a line is for one world only, without a reason", help));
        }
        Ok(Some(world))
    }

    fn finish(self, text: &str, file: &str) -> Result<Script, Problem> {
        let end = text.len()..text.len();
        let missing = |what: &str, help: &str| Problem::new(end.clone(), what, help);
        let title = self.title.ok_or_else(|| {
            missing("the script has no title", "write at its head: title what it shows")
        })?;
        if self.sources.is_empty() {
            let help = "write at its head: source RFC 9293 section 3.5";
            return Err(missing("the script has no source", help));
        }
        if self.lines.is_empty() {
            return Err(missing("nothing happens in the script", EVENTS));
        }
        Ok(Script {
            file: file.to_owned(),
            title,
            sources: self.sources,
            settings: self.settings,
            differs: self.differs,
            lines: self.lines,
        })
    }
}

impl Settings {
    /// Parses `NAME = VALUE` and changes this setting.
    pub fn set(&mut self, mut words: Words<'_>) -> Result<(), Problem> {
        let name = words.expect("NAME = VALUE")?;
        let kind = named(name, "setting", &SETTINGS)?;
        let equals = words.expect("= and a value")?;
        if equals.text != "=" {
            return Err(equals.problem("a setting is written NAME = VALUE", "write = here"));
        }
        let value = words.expect("a value")?;
        words.finish()?;
        match kind {
            Kind::Switch(put) => put(&mut self.stack, named(value, "switch position", &ON_OFF)?),
            Kind::Ecn => self.stack.ecn = named(value, "feedback of ECN", &FEEDBACK)?,
            Kind::LossDetection => {
                self.stack.loss_detection = named(value, "loss detection", &LossDetection::ALL)?;
            }
            Kind::Count(least, most, put) => put(self, number(value, least, most)?),
            Kind::Algorithm => self.algorithm = algorithm(value)?,
            Kind::Stack => take_preset(self, preset(value)?),
        }
        Ok(())
    }
}

fn sentence(mut words: Words<'_>, what: &str) -> Result<String, Problem> {
    words.clone().expect(what)?;
    Ok(words.rest().text.to_owned())
}

fn preset(word: Word<'_>) -> Result<&'static Preset, Problem> {
    let table: Vec<_> = PRESETS.iter().map(|preset| (preset.name, preset)).collect();
    named(word, "stack", &table)
}

fn algorithm(word: Word<'_>) -> Result<AnyParams, Problem> {
    AnyParams::by_name(word.text).ok_or_else(|| {
        let message = format!("no algorithm is called \"{}\"", word.text);
        word.problem(message, "\"windlass algorithms\" lists them")
    })
}

/// Parses the time of a line, if the line starts with a time.
fn when<'a>(words: &mut Words<'a>) -> Result<(When, Option<Word<'a>>), Problem> {
    let now = When { relative: true, earliest: Span::ZERO, latest: Span::ZERO };
    let Some(word) = words.peek() else { return Ok((now, None)) };
    let relative = word.text.starts_with('+');
    if !relative && !word.text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((now, None));
    }
    words.next();
    let skip = usize::from(relative);
    let bare = Word { text: &word.text[skip..], start: word.start + skip };
    let Bounds { least, most } = times(bare)?;
    if most == u64::MAX {
        return Err(word.problem("this time has no end", "write one, such as +200ms"));
    }
    Ok((When { relative, earliest: Span(least), latest: Span(most) }, Some(word)))
}

fn event(word: Word<'_>, mut words: Words<'_>) -> Result<Event, Problem> {
    let mut bytes = |what| number(words.expect(what)?, 1, MOST_BYTES).map(|n| n as u32);
    let event = match word.text {
        "<" => return segment::incoming(words).map(Event::In),
        ">" => return segment::outgoing(words).map(Event::Out),
        "=" => return check(words).map(Event::Check),
        "listen" => Event::Act(Action::Listen),
        "connect" => Event::Act(Action::Connect),
        "shutdown" => Event::Act(Action::Shutdown),
        "close" => Event::Act(Action::Close),
        "abort" => Event::Act(Action::Abort),
        "write" => Event::Act(Action::Write(bytes("how many bytes to write")?)),
        "read" => Event::Act(Action::Read(bytes("how many bytes to read")?)),
        "quiet" => Event::Quiet,
        other => {
            return Err(word.problem(format!("unknown event \"{other}\""), EVENTS));
        }
    };
    words.finish()?;
    Ok(event)
}

#[derive(Clone, Copy)]
enum Seen {
    State,
    Cwnd,
    Ssthresh,
    DeliveredCe,
    DeliveredBytes(Codepoint),
    Srtt,
    Rto,
    Readable,
    Eof,
    Error,
    Phase,
}

const SEEN: [(&str, Seen); 13] = [
    ("state", Seen::State),
    ("cwnd", Seen::Cwnd),
    ("ssthresh", Seen::Ssthresh),
    ("delivered_ce", Seen::DeliveredCe),
    ("delivered_ce_bytes", Seen::DeliveredBytes(Codepoint::Ce)),
    ("delivered_e0_bytes", Seen::DeliveredBytes(Codepoint::Ect0)),
    ("delivered_e1_bytes", Seen::DeliveredBytes(Codepoint::Ect1)),
    ("srtt", Seen::Srtt),
    ("rto", Seen::Rto),
    ("readable", Seen::Readable),
    ("eof", Seen::Eof),
    ("error", Seen::Error),
    ("phase", Seen::Phase),
];

fn check(mut words: Words<'_>) -> Result<Check, Problem> {
    let name = words.expect("what to look at, such as cwnd")?;
    let count = |word| bounds(word, 1 << 40);
    if let Some(own) = OWN.iter().find(|own| own.0 == name.text) {
        let value = count(words.expect("its value")?)?;
        words.finish()?;
        return Ok(Check::Own(own.0, value));
    }
    let seen = named(name, "value that can be seen", &SEEN)?;
    let value = words.expect("its value")?;
    words.finish()?;
    Ok(match seen {
        Seen::State => Check::State(named(value, "state", &STATES)?),
        Seen::Cwnd => Check::Cwnd(count(value)?),
        Seen::Ssthresh if value.text == "infinite" => {
            Check::Ssthresh(Bounds { least: INFINITE, most: INFINITE })
        }
        Seen::Ssthresh => Check::Ssthresh(count(value)?),
        Seen::DeliveredCe => Check::DeliveredCe(count(value)?),
        Seen::DeliveredBytes(field) => Check::DeliveredBytes(field, count(value)?),
        Seen::Srtt => Check::Srtt(times(value)?),
        Seen::Rto => Check::Rto(times(value)?),
        Seen::Readable => Check::Readable(count(value)?),
        Seen::Eof => Check::Eof(named(value, "answer", &YES_NO)?),
        Seen::Phase => Check::Phase(named(value, "phase", &PHASES)?),
        Seen::Error => Check::Error(named(value, "error", &ErrorKind::ALL)?),
    })
}
