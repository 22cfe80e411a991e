//! Audit of congestion control: observes a stack in simulated networks, and judges it by the RFCs.
//!
//! A [`Subject`] is a program that exchanges packets ([`process`]), Windlass's own endpoint, or a
//! kernel. It runs in the networks of [`PROBES`]. A [`trace::Trace`] is what the network saw of its
//! packets. Each of the [`CHECKS`] judges a trace, and gives a [`Verdict`] with the first event that
//! breaks its bound. No check reads the stack's own variables, so that every stack has the same judge.

mod checks;
mod page;
mod picture;
mod probes;
pub mod process;
pub mod qlog;
mod subject;
pub mod trace;
mod verdict;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

pub use checks::{CHECKS, Check};
pub use page::{page, ranking};
pub use probes::{PROBES, Probe, probe};
pub use subject::{Law, Observed, Subject, Transport};
pub use verdict::{Event, Finding, Verdict};

use crate::run::Runner;
use process::Carries;

/// Probes that run at the same time.
const AT_ONCE: usize = 2;

/// The result of a check of a stack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outcome {
    /// Name of the check.
    pub check: &'static str,
    /// Verdict.
    pub verdict: Verdict,
    /// Measured value, or the reason of its absence.
    pub measured: String,
    /// First event that breaks the bound.
    pub event: Option<Event>,
    /// Place of the documentation of a deviation.
    pub documented: Option<String>,
    /// Picture of the first event, SVG.
    #[serde(skip)]
    pub picture: Option<String>,
}

/// A stack and its verdicts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Audited {
    /// Name of the stack.
    pub name: String,
    /// Name and version of the library or kernel.
    pub version: String,
    /// Congestion control.
    pub algorithm: String,
    /// Results, in the order of [`CHECKS`].
    pub outcomes: Vec<Outcome>,
    /// Duration in real time, seconds.
    pub took_s: f64,
}

impl Audited {
    /// Number of checks with this verdict.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.outcomes.iter().filter(|o| o.verdict == verdict).count()
    }
}

/// A list of stacks.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    stack: Vec<Subject>,
}

/// Reads a list of stacks: a TOML file with one table `[[stack]]` per stack. Relative paths of commands
/// that begin with `./` refer to its folder.
///
/// # Errors
///
/// The file cannot be read, or is invalid.
pub fn list(path: &Path) -> Result<Vec<Subject>, String> {
    let place = path.display();
    let text = std::fs::read_to_string(path).map_err(|e| format!("{place}: {e}"))?;
    let mut list: List = toml::from_str(&text).map_err(|e| format!("{place}: {e}"))?;
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    for subject in &mut list.stack {
        if subject.command.is_none() && subject.algorithm.is_none() {
            return Err(format!(
                "{place}: stack `{}` needs `command` or `algorithm`",
                subject.name
            ));
        }
        for check in subject.documented.keys() {
            if !CHECKS.iter().any(|c| c.id == check) {
                return Err(format!(
                    "{place}: stack `{}`: no check is called `{check}`",
                    subject.name
                ));
            }
        }
        for command in [&mut subject.command, &mut subject.peer].into_iter().flatten() {
            if let Some(rest) = command.strip_prefix("./") {
                *command = format!("{}/{rest}", folder.display());
            }
        }
    }
    Ok(list.stack)
}

/// Runs the probes of a stack, and judges it. `only` selects checks by name; empty selects all.
/// `watch` receives each finished probe.
///
/// # Errors
///
/// No probe ran; the reason of the first.
pub fn audit(
    subject: &Subject,
    only: &[String],
    runner: &Runner,
    mut watch: impl FnMut(&Probe, &Result<Observed, String>),
) -> Result<Audited, String> {
    let begun = Instant::now();
    let wanted = |check: &Check| only.is_empty() || only.iter().any(|id| id == check.id);
    let checks: Vec<&Check> = CHECKS.iter().filter(|check| wanted(check)).collect();
    let needed = |probe: &&Probe| checks.iter().any(|check| check.probe == probe.id);
    let probes: Vec<&Probe> = PROBES.iter().filter(needed).collect();
    let seen = observe_all(subject, &probes, runner, &mut watch);
    let Some(first) = seen.values().find_map(|o| o.as_ref().ok()) else {
        return Err(seen.into_values().find_map(Result::err).unwrap_or_default());
    };
    let algorithm = match &first.greeting {
        Some(greeting) => greeting.algorithm.clone(),
        None => subject.algorithm.clone().unwrap_or_default(),
    };
    let (law, transport) = (Law::of(&algorithm), transport(first));
    let outcomes = checks.iter().map(|check| {
        let finding = match &seen[check.probe] {
            Ok(observed) => (check.judge)(observed, law, transport),
            Err(why) => Finding::none(why.clone()),
        };
        outcome(subject, check, finding, seen[check.probe].as_ref().ok())
    });
    Ok(Audited {
        name: subject.name.clone(),
        version: version(first),
        outcomes: outcomes.collect(),
        algorithm,
        took_s: begun.elapsed().as_secs_f64(),
    })
}

/// Runs probes, as many at a time as there are processors, and at most two: each has a simulated network, or a kernel. `watch`
/// sees the packets, which are then dropped.
fn observe_all<'a>(
    subject: &Subject,
    probes: &[&'a Probe],
    runner: &Runner,
    watch: &mut impl FnMut(&Probe, &Result<Observed, String>),
) -> BTreeMap<&'a str, Result<Observed, String>> {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let next = AtomicUsize::new(0);
    let mut seen = BTreeMap::new();
    std::thread::scope(|scope| {
        let (sender, finished) = mpsc::sync_channel(0);
        for _ in 0..processors.min(AT_ONCE) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while let Some(probe) = probes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if sender.send((*probe, subject.observe(probe, runner))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        for (probe, mut observed) in finished {
            watch(probe, &observed);
            if let Ok(observed) = &mut observed {
                observed.events = Vec::new();
            }
            seen.insert(probe.id, observed);
        }
    });
    seen
}

fn transport(observed: &Observed) -> Transport {
    match &observed.greeting {
        Some(greeting) if greeting.carries == Carries::Udp => Transport::Quic,
        _ => Transport::Tcp,
    }
}

fn version(observed: &Observed) -> String {
    match (&observed.greeting, &observed.kernel) {
        (Some(greeting), _) => format!("{} {}", greeting.name, greeting.version),
        (None, Some(kernel)) => format!("Linux {kernel}"),
        (None, None) => format!("Windlass {}", env!("CARGO_PKG_VERSION")),
    }
}

/// A documented deviation is not a failure.
fn outcome(subject: &Subject, check: &Check, finding: Finding, seen: Option<&Observed>) -> Outcome {
    let documented = subject.documented.get(check.id).cloned();
    let verdict = match (finding.verdict, &documented) {
        (Verdict::Fails, Some(_)) => Verdict::Deviates,
        (verdict, _) => verdict,
    };
    let draw = |seen: &Observed| {
        let title = format!("{}: {}", subject.name, check.title);
        picture::draw(&title, &seen.trace, seen.rival.as_ref(), &finding)
    };
    Outcome {
        check: check.id,
        verdict,
        picture: seen.and_then(draw),
        measured: finding.measured,
        event: finding.event,
        documented: documented.filter(|_| verdict == Verdict::Deviates),
    }
}
