//! The report of a stack and the ranking of several, as Markdown for an issue tracker.

use std::fmt::Write as _;

use super::checks::CHECKS;
use super::probes::probe;
use super::verdict::Verdict;
use super::{Audited, Outcome};

/// The report of a stack. `repeat` is the command that repeats a check, without its name.
pub fn page(audited: &Audited, repeat: &str) -> String {
    let mut out = format!(
        "# Audit of {}\n\n{}, congestion control `{}`. {}. The probes took {:.0} s.\n\n\
         Windlass sends no hints to the stack: it observes packets in a simulated network, and compares them with the RFCs.\n\n\
         | check | verdict | measured |\n| --- | --- | --- |\n",
        audited.name,
        audited.version.trim(),
        audited.algorithm,
        tally(audited),
        audited.took_s
    );
    for outcome in &audited.outcomes {
        let _ = writeln!(
            out,
            "| {} | {} | {} |",
            title(outcome),
            marked(outcome.verdict),
            cell(&outcome.measured)
        );
    }
    for outcome in &audited.outcomes {
        if matches!(outcome.verdict, Verdict::Fails | Verdict::Deviates) {
            out.push_str(&detail(outcome, repeat));
        }
    }
    out
}

fn detail(outcome: &Outcome, repeat: &str) -> String {
    let Some(check) = CHECKS.iter().find(|c| c.id == outcome.check) else { return String::new() };
    let mut out = format!("\n## {}: {}\n\n", check.title, outcome.verdict.name());
    let _ = writeln!(out, "* **Requirement**: {} ({})", check.rule, check.source);
    let _ = writeln!(out, "* **Bound**: {}", check.bound);
    let about = probe(check.probe).map_or("", |p| p.about);
    let _ = writeln!(out, "* **Network**: `{}`, {about}", check.probe);
    let _ = writeln!(out, "* **Measured**: {}", outcome.measured);
    if let Some(event) = &outcome.event {
        let _ = writeln!(out, "* **First event**: {:.3} s, {}", event.at_s, event.what);
    }
    if let Some(place) = &outcome.documented {
        let _ = writeln!(out, "* **Documented**: {place}");
    }
    let _ = writeln!(out, "* **Packets**: `{}.pcapng`", check.probe);
    let _ = writeln!(out, "* **Repeat**: `{repeat} --check {}`", check.id);
    if outcome.picture.is_some() {
        let _ = writeln!(out, "\n![Packets in flight, and the first event]({}.svg)", check.id);
    }
    out
}

/// One row per stack: those with the fewest failures first.
pub fn ranking(all: &[Audited]) -> String {
    let mut sorted: Vec<&Audited> = all.iter().collect();
    sorted.sort_by_key(|a| (a.count(Verdict::Fails), a.count(Verdict::Deviates), a.name.clone()));
    let mut out = "# Ranking of stacks\n\n| stack | version | algorithm | fails | deviates | pass | not observable | failed checks | seconds |\n\
                   | --- | --- | --- | ---: | ---: | ---: | ---: | --- | ---: |\n"
        .to_owned();
    for audited in sorted {
        let of = |verdict| audited.outcomes.iter().filter(move |o| o.verdict == verdict);
        let failed: Vec<&str> = of(Verdict::Fails).map(|o| o.check).collect();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {:.0} |",
            audited.name,
            audited.version.trim(),
            audited.algorithm,
            audited.count(Verdict::Fails),
            audited.count(Verdict::Deviates),
            audited.count(Verdict::Pass),
            audited.count(Verdict::NotObservable),
            failed.join(", "),
            audited.took_s
        );
    }
    out
}

fn title(outcome: &Outcome) -> &'static str {
    CHECKS.iter().find(|c| c.id == outcome.check).map_or("", |c| c.title)
}

fn tally(audited: &Audited) -> String {
    let counts = Verdict::ALL.map(|v| format!("{} {}", audited.count(v), v.name()));
    counts.join(", ")
}

fn marked(verdict: Verdict) -> String {
    match verdict {
        Verdict::Fails => format!("**{}**", verdict.name()),
        _ => verdict.name().to_owned(),
    }
}

/// A text without characters that end a cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
