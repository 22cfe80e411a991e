//! Catalogue of algorithms, slow starts and timers, as text and as a page. The descriptions come from
//! the algorithms' own metadata.

use std::fmt::Write;

use windlass_cc::recovery::LossRecovery;
use windlass_cc::registry::{STATE_BYTES, fixed};
use windlass_cc::rto::{self, TIMERS};
use windlass_cc::slow_start::{self, SLOW_STARTS};
use windlass_cc::{
    ALGORITHMS, AnyParams, Change, Departure, Ecn, Flavour, Info, Param, Requirements,
};

use crate::report::text::lines;
use crate::scenario::{range_text, value_text};

/// One algorithm, slow start or timer, with its defaults.
// Only a few dozen exist at a time, so their size does not matter.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy)]
pub enum Entry {
    /// A congestion-control algorithm.
    Algorithm(AnyParams),
    /// A slow start.
    SlowStart(slow_start::AnyParams),
    /// A retransmission timer.
    Timer(rto::AnyParams),
}

/// All entries: algorithms, then slow starts, then timers.
pub fn entries() -> Vec<Entry> {
    let ids = |infos: &[&'static Info]| infos.iter().map(|info| info.id).collect::<Vec<_>>();
    let algorithms = ids(ALGORITHMS).into_iter().filter_map(AnyParams::by_name);
    let slow_starts = ids(SLOW_STARTS).into_iter().filter_map(slow_start::AnyParams::by_name);
    let timers = ids(TIMERS).into_iter().filter_map(rto::AnyParams::by_name);
    algorithms
        .map(Entry::Algorithm)
        .chain(slow_starts.map(Entry::SlowStart))
        .chain(timers.map(Entry::Timer))
        .collect()
}

/// The entries with this name. An algorithm and a slow start may have the same name.
pub fn find(name: &str) -> Vec<Entry> {
    entries().into_iter().filter(|entry| entry.info().id.eq_ignore_ascii_case(name)).collect()
}

impl Entry {
    /// The entry's metadata.
    pub fn info(&self) -> &'static Info {
        match self {
            Entry::Algorithm(p) => p.info(),
            Entry::SlowStart(p) => p.info(),
            Entry::Timer(p) => p.info(),
        }
    }

    /// The kind, as one or two words.
    pub fn kind(&self) -> &'static str {
        match self {
            Entry::Algorithm(_) => "algorithm",
            Entry::SlowStart(_) => "slow start",
            Entry::Timer(_) => "timer",
        }
    }

    /// The place in a scenario, and the keys that select the entry and set its parameters.
    fn usage(&self) -> (&'static str, String) {
        let id = self.info().id;
        match self {
            Entry::Algorithm(_) => {
                ("In a flow", format!("algorithm = \"{id}\", params = {{ ... }}"))
            }
            Entry::SlowStart(_) => {
                ("In a flow", format!("slow_start = \"{id}\" or {{ name = \"{id}\", ... }}"))
            }
            Entry::Timer(_) => ("In a stack", format!("rto = {{ algorithm = \"{id}\", ... }}")),
        }
    }

    fn default_of(&self, place: usize) -> u64 {
        let value = match self {
            Entry::Algorithm(p) => p.get(place),
            Entry::SlowStart(p) => p.get(place),
            Entry::Timer(p) => p.get(place),
        };
        value.unwrap_or_default()
    }

    /// Deviations of stacks from the paper or RFC.
    fn departures(&self) -> &'static [Departure] {
        match self {
            Entry::Algorithm(p) => p.departures(),
            Entry::SlowStart(p) => p.departures(),
            Entry::Timer(_) => &[],
        }
    }

    /// The key that a deviation changes, its value in the paper or RFC, and its value in the stack.
    fn told(&self, change: Change) -> (&'static str, String, String) {
        match change {
            Change::Param(name, value) => {
                let params = self.info().params;
                let place = params.iter().position(|p| p.name == name).unwrap_or_default();
                let text = |raw| params.get(place).map(|p| value_text(p.kind, raw));
                let [here, there] = [self.default_of(place), value].map(text);
                (name, here.unwrap_or_default(), there.unwrap_or_default())
            }
            Change::SlowStart(id) => {
                let here = match self {
                    Entry::Algorithm(p) => p.requirements().slow_start,
                    _ => None,
                };
                ("slow_start", here.unwrap_or_default().to_owned(), id.to_owned())
            }
            Change::AckLimit(n) => ("ack_limit", "the stack's".to_owned(), n.to_string()),
            Change::Filled { in_slow_start } => {
                let there =
                    if in_slow_start { "filled cwnd" } else { "filled cwnd, or slow start" };
                ("window_validation", "the stack's".to_owned(), there.to_owned())
            }
        }
    }

    /// The keys that differ between implementations, with the value in each implementation and the reasons.
    fn flavours(&self) -> Vec<Flavours> {
        let mut all: Vec<Flavours> = Vec::new();
        for departure in self.departures() {
            let (key, here, there) = self.told(departure.change);
            let at = all.iter().position(|f| f.key == key).unwrap_or_else(|| {
                let values = Flavour::ALL.iter().map(|_| here.clone()).collect();
                all.push(Flavours { key, values, why: Vec::new() });
                all.len() - 1
            });
            all[at].values[departure.flavour as usize] = there;
            let word = Flavour::WORDS[departure.flavour as usize];
            all[at].why.push(format!("`{word}`: {}", departure.why));
        }
        all
    }

    /// Facts in addition to the description, as label and text.
    fn facts(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        if let Entry::Algorithm(p) = self {
            facts.extend(wants(&p.requirements()));
            facts.extend(sizes(p).map(|(alone, any)| {
                let any =
                    any.map_or(String::new(), |n| format!(", or {n} bytes with any slow start"));
                ("State", format!("{alone} bytes{any}"))
            }));
        }
        facts.push(("Citation key", self.info().citation.to_owned()));
        facts.push(self.usage());
        facts
    }
}

/// A key that differs between implementations.
struct Flavours {
    key: &'static str,
    /// In the order of [`Flavour::ALL`].
    values: Vec<String>,
    /// The reasons. Each starts with the name of the implementation.
    why: Vec<String>,
}

/// A deviation of a stack's algorithm from the paper or RFC.
pub struct Difference {
    /// A parameter, `slow_start`, or the stack's `ack_limit`.
    pub key: &'static str,
    /// The value of the paper or RFC.
    pub here: String,
    /// The value of the stack.
    pub value: String,
    /// The reason, with the place in the stack's source.
    pub why: &'static str,
}

/// The deviations of an implementation of the algorithm with this identifier.
pub fn differences(id: &str, flavour: Flavour) -> Vec<Difference> {
    let Some(entry) = AnyParams::by_name(id).map(Entry::Algorithm) else { return Vec::new() };
    let own = entry.departures().iter().filter(|d| d.flavour == flavour);
    own.map(|d| {
        let (key, here, value) = entry.told(d.change);
        Difference { key, here, value, why: d.why }
    })
    .collect()
}

/// Bytes of state with the usual slow start, and with space for any slow start if it can be chosen.
fn sizes(params: &AnyParams) -> Option<(usize, Option<usize>)> {
    let place = ALGORITHMS.iter().position(|info| info.id == params.info().id)?;
    let (alone, any) = (fixed::STATE_BYTES.get(place)?, STATE_BYTES.get(place)?);
    Some((*alone, params.requirements().slow_start.map(|_| *any)))
}

fn recovery_word(wants: &Requirements) -> &'static str {
    LossRecovery::ALL.iter().find(|(_, style)| *style == wants.recovery).map_or("", |s| s.0)
}

fn wants(wants: &Requirements) -> Vec<(&'static str, String)> {
    let ecn = match wants.ecn {
        Ecn::None => "none: its packets are not ECN-capable",
        Ecn::Classic => "classic, one reduction per RTT (RFC 3168)",
        Ecn::Exact if wants.l4s => "exact, byte for byte; its packets carry ECT(1) (RFC 9331)",
        Ecn::Exact => "exact, byte for byte (RFC 8257)",
    };
    let mut facts = vec![
        ("Loss recovery", recovery_word(wants).to_owned()),
        ("Slow start", wants.slow_start.unwrap_or("its own").to_owned()),
        ("ECN", ecn.to_owned()),
    ];
    if wants.rate_samples {
        facts.push(("Requirements", "delivery-rate samples".to_owned()));
    }
    facts
}

/// The list of all entries, one per line.
pub fn list() -> String {
    let mut out = String::new();
    let mut kind = "";
    for entry in entries() {
        if entry.kind() != kind {
            kind = entry.kind();
            let _ = writeln!(out, "{}{}s", if out.is_empty() { "" } else { "\n" }, capital(kind));
        }
        let info = entry.info();
        let _ = writeln!(out, "  {:<12} {:<20} {}", info.id, info.name, short(info.origin));
    }
    out.push_str("\nwindlass algorithms NAME describes one.\n");
    out
}

/// The origin, cut at a word to at most `LONGEST` characters.
fn short(origin: &str) -> String {
    const LONGEST: usize = 60;
    if origin.chars().count() <= LONGEST {
        return origin.to_owned();
    }
    let cut: String = origin.chars().take(LONGEST).collect();
    let whole = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{} ...", whole.trim_end_matches(','))
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// The full description of an entry, for a terminal.
pub fn describe(entry: &Entry) -> String {
    let info = entry.info();
    let mut out = format!("{} ({}, {})\n", info.name, info.id, entry.kind());
    out.push_str(&wrap(info.origin, 78, ""));
    out.push('\n');
    out.push_str(&wrap(info.description, 78, ""));
    out.push('\n');
    for (label, text) in entry.facts() {
        let _ = writeln!(out, "{:<15}{text}", format!("{label}:"));
    }
    out.push_str("\nParameters\n");
    if info.params.is_empty() {
        out.push_str("  none\n");
    }
    for (place, param) in info.params.iter().enumerate() {
        let default = value_text(param.kind, entry.default_of(place));
        let _ =
            writeln!(out, "  {}\n    {}; default {default}", param.name, range_text(param.kind));
        out.push_str(&wrap(param.doc, 74, "    "));
        out.push_str(&wrap(&format!("Source: {}", param.source), 74, "    "));
    }
    let flavours = entry.flavours();
    if !flavours.is_empty() {
        let words = Flavour::WORDS.iter().map(|word| format!("{word:<12} ")).collect::<String>();
        let _ = writeln!(out, "\n{:<19} {}", "Implementations", words.trim_end());
    }
    for one in &flavours {
        let values = one.values.iter().map(|value| format!("{value:<12} ")).collect::<String>();
        let _ = writeln!(out, "  {:<17} {}", one.key, values.trim_end());
        one.why.iter().for_each(|why| out.push_str(&wrap(why, 74, "    ")));
    }
    if !info.trace.is_empty() {
        out.push_str("\nTrace fields\n");
    }
    for field in info.trace {
        let _ = writeln!(out, "  {:<20} {}", field.name, field.unit);
    }
    out
}

/// A paragraph in lines of at most `width` characters after the indentation.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    lines(text, width).iter().map(|line| format!("{indent}{line}\n")).collect()
}

/// All entries in Markdown for `docs/src/reference/algorithms.md`: a table of facts, then a section each.
pub fn markdown() -> String {
    let mut out = facts_table();
    let mut kind = "";
    let mut seen = Vec::new();
    for entry in entries() {
        if entry.kind() != kind {
            kind = entry.kind();
            let _ = writeln!(out, "\n## {}s", capital(kind));
        }
        out.push_str(&section(&entry, &mut seen));
    }
    out
}

/// The facts of each algorithm that have few values, as one table in place of a sentence per section.
fn facts_table() -> String {
    let mut out = String::from(
        "| algorithm | loss recovery | slow start | ECN | delivery rate | state, bytes |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    );
    for entry in entries() {
        let Entry::Algorithm(params) = entry else { continue };
        let info = entry.info();
        let wants = params.requirements();
        let sizes = sizes(&params).map(|(alone, any)| match any {
            Some(any) => format!("{alone} ({any})"),
            None => alone.to_string(),
        });
        let _ = writeln!(
            out,
            "| [`{}`](#{}) | {} | {} | {} | {} | {} |",
            info.id,
            anchor(info),
            recovery_word(&wants),
            wants.slow_start.unwrap_or("its own"),
            match wants.ecn {
                Ecn::None => "none",
                Ecn::Classic => "classic",
                Ecn::Exact => "exact",
            },
            if wants.rate_samples { "yes" } else { "" },
            sizes.unwrap_or_default(),
        );
    }
    out
}

/// The place that the heading of a section makes on the page.
fn anchor(info: &Info) -> String {
    let text = format!("{}: {}", info.id, info.name).to_lowercase().replace(' ', "-");
    text.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_')).collect()
}

/// A section. A row that an earlier section has, as in `seen`, is a reference to that section.
fn section(entry: &Entry, seen: &mut Vec<(&'static str, String)>) -> String {
    let info = entry.info();
    let mut out = format!("\n### `{}`: {}\n\n", info.id, cell(info.name));
    let _ = writeln!(out, "{}. `{}`\n", cell(info.origin).trim_end_matches('.'), info.citation);
    let _ = writeln!(out, "{}", cell(info.description));
    let rows = info.params.iter().enumerate().map(|(place, p)| row(p, entry.default_of(place)));
    let mut same: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut head = "\n| parameter | default | meaning, range and source |\n| --- | --- | --- |\n";
    for (param, row) in info.params.iter().zip(rows) {
        let Some((first, _)) = seen.iter().find(|(_, earlier)| *earlier == row) else {
            out.push_str(std::mem::take(&mut head));
            out.push_str(&row);
            seen.push((info.id, row));
            continue;
        };
        match same.iter_mut().find(|(id, _)| id == first) {
            Some((_, names)) => names.push(param.name),
            None => same.push((first, vec![param.name])),
        }
    }
    for (id, names) in same {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let _ = writeln!(out, "\nAs for `{id}`: {}.", names.join(", "));
    }
    out.push_str(&flavour_table(entry));
    if !info.trace.is_empty() {
        let fields = info.trace.iter().map(|f| format!("`{}` ({})", f.name, cell(f.unit)));
        let _ = writeln!(out, "\nTrace fields: {}.", fields.collect::<Vec<_>>().join(", "));
    }
    out
}

fn flavour_table(entry: &Entry) -> String {
    let flavours = entry.flavours();
    let mut out = String::new();
    if !flavours.is_empty() {
        let words = Flavour::WORDS.iter().map(|word| format!("`{word}` | ")).collect::<String>();
        let _ = writeln!(out, "\n| difference | {words}reason |");
        let _ = writeln!(out, "| --- | {}--- |", "--- | ".repeat(Flavour::ALL.len()));
    }
    for one in &flavours {
        let values = one.values.iter().map(|value| format!("{} | ", cell(value)));
        let why: Vec<String> = one.why.iter().map(|why| cell(why)).collect();
        let values: String = values.collect();
        let _ = writeln!(out, "| `{}` | {values}{} |", one.key, why.join("; "));
    }
    out
}

fn row(param: &Param, default: u64) -> String {
    let range = range_text(param.kind);
    // The default shows the kind of value, so that the noun before the range adds nothing.
    let range = range.split_once(" from ").map_or(range.as_str(), |(_, range)| range);
    format!(
        "| `{}` | `{}` | {} ({}; {}) |\n",
        param.name,
        value_text(param.kind, default),
        cell(param.doc),
        cell(range),
        cell(param.source)
    )
}

/// Text in a cell of a table: one line, with Markdown's special characters escaped outside of code.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
    let plain = |part: &str| part.replace('*', "\\*").replace('_', "\\_").replace('<', "&lt;");
    let parts = text.split('`').enumerate();
    let parts =
        parts.map(|(place, part)| if place % 2 == 0 { plain(part) } else { part.to_owned() });
    parts.collect::<Vec<_>>().join("`")
}
