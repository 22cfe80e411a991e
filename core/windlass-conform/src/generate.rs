//! Makes vectors. A script is played to the model, whose answers become the expected answers.

use std::path::{Path, PathBuf};
use std::{fs, io};

use windlass_cc::recovery::LossRecovery;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{ALGORITHMS, AnyParams, Conn, Event, Setup, Span, Time};

use super::cases::pairs::{self, Lane, PairCase};
use super::cases::{CASES, Case, Opening};
use super::format::{ConnLine, Expect, FORMAT, Header, Line, SetupLine, VERSION};
use super::host::{Host, Pair, Sender, Setting, Sibling};
use super::models::Model;
use super::parameters::write_params;
use super::subjects::{SUBJECTS, Start, Subject, subjects};

/// A file that [`write()`] writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path below the folder, such as `cubic/one-loss.jsonl`.
    pub path: String,
    /// Its text.
    pub text: String,
}

struct Modelled(Box<dyn Model>);

impl Sender for Modelled {
    fn cwnd(&self, _c: &Conn) -> u64 {
        self.0.windows().0 as u64
    }

    fn pacing(&self, _c: &Conn) -> Option<f64> {
        self.0.pacing()
    }

    fn apply(&mut self, c: &Conn, e: &Event) {
        self.0.apply(c, e);
    }
}

impl Sibling for Modelled {
    fn ssthresh(&self, _c: &Conn) -> u64 {
        self.0.windows().1 as u64
    }

    fn disclosed(&self) -> u64 {
        self.0.disclosed() as u64
    }
}

/// Writes the vectors and a README.md with the table of cases into a folder. Returns the number of vectors.
///
/// # Errors
///
/// A folder or file cannot be written; its path is the first value.
pub fn write(folder: &Path) -> Result<usize, (PathBuf, io::Error)> {
    let vectors = vectors();
    let put = |file: &File| {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, &file.text))
            .map_err(|e| (path.clone(), e))
    };
    put(&File { path: "README.md".to_owned(), text: coverage() })?;
    vectors.iter().try_for_each(put)?;
    Ok(vectors.len())
}

/// The vectors of every algorithm with a model.
pub fn vectors() -> Vec<File> {
    let mut files = Vec::new();
    for info in ALGORITHMS {
        for subject in subjects(info.id) {
            for case in subject.cases() {
                let path = format!("{}/{}.jsonl", subject.folder(), case.id);
                files.push(File { path, text: vector(subject, case) });
            }
            for case in subject.pairs {
                let path = format!("{}/{}.jsonl", subject.folder(), case.id);
                files.push(File { path, text: pair_vector(subject, case) });
            }
        }
    }
    files
}

/// The recovery of a vector: the case's choice, or else the algorithm's recovery. RFC 6675's
/// recovery replaces proportional rate reduction unless the case chooses the latter.
fn style(params: &AnyParams, asked: Option<LossRecovery>) -> LossRecovery {
    match asked.unwrap_or(params.requirements().recovery) {
        LossRecovery::Prr if asked.is_none() => LossRecovery::Sack,
        style => style,
    }
}

/// The setup of a case.
struct Beginning {
    mss: u32,
    initial_window: u64,
    avoidance: bool,
    ack_limit: u32,
    recovery: Option<LossRecovery>,
    opening: Opening,
}

impl Beginning {
    fn of(subject: &Subject, case: &Case) -> Beginning {
        Beginning {
            mss: case.mss,
            initial_window: case.window * u64::from(subject.scale) * u64::from(case.mss),
            avoidance: case.avoidance,
            ack_limit: case.ack_limit,
            recovery: case.recovery,
            opening: case.opening,
        }
    }

    fn of_lane(lane: &Lane, avoidance: bool) -> Beginning {
        Beginning {
            mss: lane.mss,
            initial_window: lane.window * u64::from(lane.mss),
            avoidance,
            ack_limit: 1,
            recovery: None,
            opening: Opening::Standard,
        }
    }

    fn params(&self, subject: &Subject) -> AnyParams {
        let params = AnyParams::by_name(subject.id).unwrap_or_default();
        let mut params = params.flavoured(subject.flavour);
        for (name, raw) in subject.params {
            let place = params.info().params.iter().position(|param| param.name == *name);
            params.set(place.unwrap_or(usize::MAX), *raw);
        }
        let initial_ssthresh = if self.avoidance { self.initial_window } else { MAX_WINDOW };
        params.set_common(&Setup {
            initial_window: self.initial_window,
            initial_ssthresh,
            recovery: Some(style(&params, self.recovery)),
            ack_limit: self.ack_limit,
            slow_start: self.opening.params().unwrap_or_default(),
            ..params.common()
        });
        params
    }

    fn conn(&self) -> Conn {
        Conn { now: Time::from_secs(1), una: 1, next_id: 1, ..Conn::new(self.mss) }
    }

    fn model(&self, subject: &Subject) -> Box<dyn Model> {
        let params = self.params(subject);
        let common = params.common();
        (subject.model)(&Start {
            conn: self.conn(),
            initial_window: common.initial_window as f64,
            initial_ssthresh: common.initial_ssthresh as f64,
            style: style(&params, self.recovery),
            ack_limit: self.ack_limit,
            opening: self.opening,
        })
    }

    fn setting(&self, subject: &Subject, rtt: Span, segment_time: Span) -> Setting {
        let params = self.params(subject);
        Setting {
            rtt,
            segment_time,
            rto: Span::from_secs(1),
            style: style(&params, self.recovery),
            ecn: params.requirements().ecn,
        }
    }

    fn header(&self, subject: &Subject, case: &str, about: &str) -> Header {
        let params = self.params(subject);
        let (own, slow_start) = write_params(&params);
        Header {
            format: FORMAT.to_owned(),
            version: VERSION,
            algorithm: subject.id.to_owned(),
            case: case.to_owned(),
            about: about.split_whitespace().collect::<Vec<_>>().join(" "),
            source: subject.source.to_owned(),
            params: own,
            slow_start,
            setup: SetupLine::of(&params),
            conn: ConnLine::of(&self.conn(), None),
            expect: expect(self.model(subject).as_ref()),
        }
    }
}

/// Records events.
struct Scribe {
    text: String,
    before: Conn,
    rates: bool,
}

impl Scribe {
    fn write(&mut self, sender: &Modelled, c: &Conn, e: &Event) {
        let mut conn = ConnLine::of(c, Some(&self.before));
        if !self.rates {
            conn.entropy = None; // nobody draws
        }
        self.text += &json(&Line::of(e, self.rates, conn, expect(sender.0.as_ref())));
        self.before = *c;
    }
}

fn vector(subject: &Subject, case: &Case) -> String {
    let beginning = Beginning::of(subject, case);
    let (rtt, segment_time) = case
        .path
        .unwrap_or((Span::from_millis(subject.rtt_ms), Span::from_micros(subject.segment_us)));
    let setting = beginning.setting(subject, rtt, segment_time);
    let rates = beginning.params(subject).requirements().rate_samples;
    let text = json(&beginning.header(subject, case.id, case.about));
    let mut scribe = Scribe { text, before: beginning.conn(), rates };
    let mut host = Host::new(Modelled(beginning.model(subject)), beginning.conn(), setting);
    for step in (case.script)(subject.scale.min(3)) {
        host.play(&step, &mut |sender, c, e| scribe.write(sender, c, e));
    }
    scribe.text
}

fn pair_vector(subject: &Subject, case: &PairCase) -> String {
    let begin = |lane: &Lane| Beginning::of_lane(lane, case.avoidance);
    let host = |lane: &Lane| {
        let beginning = begin(lane);
        let setting = beginning.setting(subject, lane.rtt, lane.segment_time);
        Host::new(Modelled(beginning.model(subject)), beginning.conn(), setting)
    };
    let [first, second] = &case.lanes;
    let text = json(&begin(first).header(subject, case.id, case.about));
    let mut scribe = Scribe { text, before: begin(first).conn(), rates: false };
    let mut pair = Pair::new([host(first), host(second)]);
    for step in (case.script)() {
        pair.play(&step, &mut |sender, c, e| scribe.write(sender, c, e));
    }
    scribe.text
}

fn json(value: &impl serde::Serialize) -> String {
    // Strings and numbers only, which can always be written.
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

fn expect(model: &dyn Model) -> Expect {
    let thousandth = |value: f64| (value * 1e3).round() / 1e3;
    let (cwnd, ssthresh) = model.windows();
    let pacing = model.pacing();
    Expect {
        cwnd: thousandth(cwnd),
        ssthresh: ssthresh.is_finite().then_some(thousandth(ssthresh)),
        pacing: pacing.map(thousandth),
        tolerance: thousandth(model.tolerance()),
        // A rate is the product of three values, each truncated to a whole number.
        pacing_tolerance: pacing.map(|rate| thousandth(3.0 + rate * 1e-3)),
    }
}

/// The cases of each algorithm, and the reasons for missing cases.
fn coverage() -> String {
    let mut out = String::from(
        "# Conformance vectors\n\nWritten by Windlass. The book's page on conformance vectors describes the format.\n\n## Cases\n\n",
    );
    out += &table(CASES.iter().map(|case| (case.id, case.about)));
    out += "\n### Cases with two paths\n\nOf the algorithms that couple them.\n\n";
    out += &table(pairs::CASES.iter().map(|case| (case.id, case.about)));
    for subject in SUBJECTS {
        if let Some(own) = subject.own.filter(|own| !own.is_empty()) {
            let cases = table(own.iter().map(|case| (case.id, case.about)));
            out += &format!("\n### Cases of `{}`\n\n{cases}", subject.id);
        }
        if !subject.pairs.is_empty() && !std::ptr::eq(subject.pairs, pairs::CASES) {
            let cases = table(subject.pairs.iter().map(|case| (case.id, case.about)));
            out += &format!("\n### Cases of `{}` with two paths\n\n{cases}", subject.id);
        }
    }
    out += "\n## Algorithms\n\n| algorithm | expected values from | cases | left out |\n\
            | --- | --- | --- | --- |\n";
    for info in ALGORITHMS {
        out += &rows(info.id);
    }
    out
}

fn table<'a>(cases: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("| case | about |\n| --- | --- |\n");
    for (id, about) in cases {
        let about: Vec<&str> = about.split_whitespace().collect();
        out += &format!("| `{id}` | {} |\n", about.join(" "));
    }
    out
}

fn rows(id: &str) -> String {
    let row = |subject: &Subject| {
        let (name, source) = (subject.folder(), subject.source);
        let count = subject.cases().count() + subject.pairs.len();
        format!("| `{name}` | {source} | {count} | {} |\n", left_out(subject))
    };
    let all: String = subjects(id).map(row).collect();
    match all.as_str() {
        "" => format!("| `{id}` | | 0 | no independent model is written yet |\n"),
        _ => all,
    }
}

fn left_out(subject: &Subject) -> String {
    if !subject.pairs.is_empty() {
        return "has cases with two paths; on one path it is what algorithms.md says".to_owned();
    }
    if subject.own.is_some() {
        return "has separate cases".to_owned();
    }
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for case in CASES {
        let Some(reason) = subject.beside(case) else { continue };
        let name = format!("`{}`", case.id);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, cases)) => cases.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let listed: Vec<String> =
        reasons.iter().map(|(reason, cases)| format!("{}: {reason}", cases.join(", "))).collect();
    listed.join("; ")
}
