//! Writing vectors: a script is played to the model, whose answers become the expected ones.

use windlass_cc::recovery::Style;
use windlass_cc::window::MAX_WINDOW;
use windlass_cc::{ALGORITHMS, AnyParams, Conn, Event, Setup, Span, Time};

use super::cases::{CASES, Case};
use super::format::{ConnLine, Expect, FORMAT, Header, Line, SetupLine, VERSION};
use super::host::{Host, Sender, Setting};
use super::models::Model;
use super::parameters::write_params;
use super::subjects::{SUBJECTS, Start, Subject, subject};

/// A file of the kit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path below the kit's folder.
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

/// Every file of the kit: the vectors of every algorithm that has a model, and the table of cases.
pub fn generate() -> Vec<File> {
    let mut files = Vec::new();
    for info in ALGORITHMS {
        let Some(subject) = subject(info.id) else { continue };
        for case in subject.cases() {
            let path = format!("{}/{}.jsonl", subject.id, case.id);
            files.push(File { path, text: vector(subject, case) });
        }
    }
    files.push(File { path: "README.md".to_owned(), text: coverage() });
    files
}

/// The recovery of a vector: the algorithm's own, and of the two with a scoreboard the one that the
/// case is about.
fn style(params: &AnyParams, case: &Case) -> Style {
    match case.recovery.unwrap_or(params.wants().recovery) {
        Style::Prr if case.recovery.is_none() => Style::Sack,
        style => style,
    }
}

fn params(subject: &Subject, case: &Case) -> AnyParams {
    let mut params = AnyParams::by_name(subject.id).unwrap_or_default();
    let initial_window = case.window * u64::from(subject.scale) * u64::from(case.mss);
    let initial_ssthresh = if case.avoidance { initial_window } else { MAX_WINDOW };
    params.set_common(&Setup {
        initial_window,
        initial_ssthresh,
        recovery: Some(style(&params, case)),
        ack_limit: case.ack_limit,
        slow_start: case.opening.params().unwrap_or_default(),
        ..params.common()
    });
    params
}

fn vector(subject: &Subject, case: &Case) -> String {
    let params = params(subject, case);
    let first = Conn { now: Time::from_secs(1), una: 1, next_id: 1, ..Conn::new(case.mss) };
    let common = params.common();
    let start = Start {
        conn: first,
        initial_window: common.initial_window as f64,
        initial_ssthresh: common.initial_ssthresh as f64,
        style: style(&params, case),
        ack_limit: case.ack_limit,
        opening: case.opening,
    };
    let model = (subject.model)(&start);
    let (own, slow_start) = write_params(&params);
    let header = Header {
        format: FORMAT.to_owned(),
        version: VERSION,
        algorithm: subject.id.to_owned(),
        case: case.id.to_owned(),
        about: case.about.split_whitespace().collect::<Vec<_>>().join(" "),
        source: subject.source.to_owned(),
        params: own,
        slow_start,
        setup: SetupLine::of(&params),
        conn: ConnLine::of(&first, None),
        expect: expect(model.as_ref()),
    };
    let mut text = json(&header);
    let (rtt, segment_time) = case
        .path
        .unwrap_or((Span::from_millis(subject.rtt_ms), Span::from_micros(subject.segment_us)));
    let setting = Setting {
        rtt,
        segment_time,
        rto: Span::from_secs(1),
        style: style(&params, case),
        ecn: params.wants().ecn,
    };
    let rates = params.wants().rate_samples;
    let mut before = first;
    let mut host = Host::new(Modelled(model), first, setting);
    for step in (case.script)(subject.scale.min(3)) {
        host.play(&step, &mut |sender, c, e| {
            let mut conn = ConnLine::of(c, Some(&before));
            if !rates {
                conn.entropy = None; // nobody draws
            }
            text += &json(&Line::of(e, rates, conn, expect(sender.0.as_ref())));
            before = *c;
        });
    }
    text
}

fn json(value: &impl serde::Serialize) -> String {
    // Strings and numbers only: nothing here can fail to be written.
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
        // Rates and gains are cut to whole numbers, of which three make one.
        pacing_tolerance: pacing.map(|rate| thousandth(3.0 + rate * 1e-3)),
    }
}

/// Which case is there for which algorithm, and why not.
fn coverage() -> String {
    let mut out = String::from(
        "# Conformance vectors\n\nWritten by `windlass conform --write`; the format stands in \
         [docs/conformance.md](../docs/conformance.md).\n\n## Cases\n\n",
    );
    out += &table(CASES);
    for subject in SUBJECTS {
        if let Some(own) = subject.own {
            out += &format!("\n### Cases of `{}`\n\n{}", subject.id, table(own));
        }
    }
    out += "\n## Algorithms\n\n| algorithm | expected values from | cases | left out |\n\
            | --- | --- | --- | --- |\n";
    for info in ALGORITHMS {
        out += &row(info.id);
    }
    out
}

fn table(cases: &[Case]) -> String {
    let mut out = String::from("| case | about |\n| --- | --- |\n");
    for case in cases {
        let about: Vec<&str> = case.about.split_whitespace().collect();
        out += &format!("| `{}` | {} |\n", case.id, about.join(" "));
    }
    out
}

fn row(id: &str) -> String {
    let Some(subject) = subject(id) else {
        return format!("| `{id}` | | 0 | no independent model is written yet |\n");
    };
    let count = subject.cases().count();
    format!("| `{id}` | {} | {count} | {} |\n", subject.source, left_out(subject))
}

fn left_out(subject: &Subject) -> String {
    if subject.own.is_some() {
        return "has cases of its own".to_owned();
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
