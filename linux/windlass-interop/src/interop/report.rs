//! Running cases, and their reports.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use serde::{Deserialize, Serialize};
use windlass_sim::addresses::FlowAddresses;
use windlass_sim::results::PacketEvent;

use super::findings::{Finding, Findings};
use super::plan::Case;
use super::trace::Trace;
use super::{Direction, Side, addresses, rules, runs};
use windlass_testbed::live::{Bound, Error};

/// A case in one direction, with its verdict.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// Name of the case.
    pub case: String,
    /// Direction of the case.
    pub direction: Direction,
    /// Findings; the case has passed if the list is empty.
    pub findings: Vec<Finding>,
    /// Time until both applications had finished, seconds.
    pub seconds: f64,
    /// Number of data segments that each end has retransmitted, sender first.
    pub retransmissions: [u64; 2],
    /// Lateness of the deliveries.
    pub lateness: String,
    /// Every packet when an end sends it, and when it arrives or is lost. On the first path, link 0 leads
    /// from the sender to the receiver and link 1 back. On the second path, these are links 2 and 3.
    pub packets: Vec<PacketEvent>,
    /// Number of paths.
    pub paths: u8,
    /// True if the receiver opened the connection.
    pub receiver_opens: bool,
    /// True if mappings of Multipath TCP have checksums.
    pub checksums: bool,
}

impl Report {
    /// Returns the addresses of the two ends, the sender's first.
    pub fn addresses(&self) -> FlowAddresses {
        let addresses = addresses();
        if self.receiver_opens { addresses.opened_by_to() } else { addresses }
    }

    /// Returns the names of the links, by their numbers.
    pub fn links(&self) -> Vec<String> {
        let path = |path| match path {
            0 => String::new(),
            _ => format!(", path {}", path + 1),
        };
        let both =
            |path: String| [format!("sender>receiver{path}"), format!("receiver>sender{path}")];
        (0..self.paths).map(path).flat_map(both).collect()
    }

    /// True if there are no findings.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Options of running cases.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Number of parallel cases; a case mostly waits.
    pub jobs: usize,
    /// Maximum number of runs of a case while it fails with late deliveries.
    pub attempts: u32,
    /// Lateness above which a failure is not final; `None` if nothing can be late, as in virtual time.
    pub bound: Option<Bound>,
    /// Seed of the random losses.
    pub seed: u64,
}

impl Default for Options {
    /// Eight parallel cases, five attempts, the default bound, seed 1.
    fn default() -> Options {
        Options { jobs: 8, attempts: 5, bound: Some(Bound::default()), seed: 1 }
    }
}

impl Options {
    /// Options for a guest whose clock counts instructions, where nothing is late.
    pub fn in_virtual_time() -> Options {
        Options { jobs: 4, attempts: 1, bound: None, ..Options::default() }
    }
}

/// Runs cases in parallel. Cases that failed with late deliveries are run again one at a time, so that they
/// do not delay each other. `done` is called for each case with its final verdict.
///
/// # Errors
///
/// Returns an error if the machine does not meet a requirement, or refuses an operation.
pub fn run(
    cases: &[(&Case, Direction)],
    options: &Options,
    done: impl Fn(&Report) + Sync,
) -> Result<Vec<Report>, Error> {
    let next = AtomicUsize::new(0);
    let slots: Vec<_> = cases.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        while let Some((at, (case, direction))) = take(&next, cases) {
            let verdict = attempt(case, *direction, options);
            if let Ok(Verdict::Final(report)) = &verdict {
                done(report);
            }
            *slots[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(verdict);
        }
    };
    thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, cases.len().max(1)) {
            scope.spawn(work);
        }
    });
    let verdicts =
        slots.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner));
    let mut reports = Vec::with_capacity(cases.len());
    for ((case, direction), verdict) in cases.iter().zip(verdicts) {
        let mut verdict = verdict.unwrap_or(Err(Error::Defect("conformance run")))?;
        for _ in 1..options.attempts {
            if let Verdict::Final(_) = verdict {
                break;
            }
            verdict = attempt(case, *direction, options)?;
            if let Verdict::Final(report) = &verdict {
                done(report);
            }
        }
        reports.push(match verdict {
            Verdict::Final(report) => report,
            Verdict::Late(report) => {
                done(&report);
                report
            }
        });
    }
    Ok(reports)
}

/// Verdict of one run of a case.
enum Verdict {
    /// The case passed, or failed with deliveries in time.
    Final(Report),
    /// The case failed with late deliveries, which may be the reason.
    Late(Report),
}

fn attempt(case: &Case, direction: Direction, options: &Options) -> Result<Verdict, Error> {
    let trace = runs::run(&case.plan, direction, options.seed)?;
    let findings = judge(case, &trace);
    let late = options.bound.is_some_and(|bound| !bound.admits(&trace.lateness));
    let verdict = if late && !findings.0.is_empty() { Verdict::Late } else { Verdict::Final };
    Ok(verdict(report(case, trace, findings)))
}

fn take<'a, T>(next: &AtomicUsize, items: &'a [T]) -> Option<(usize, &'a T)> {
    let at = next.fetch_add(1, Ordering::Relaxed);
    items.get(at).map(|item| (at, item))
}

fn judge(case: &Case, trace: &Trace) -> Findings {
    let mut findings = Findings::default();
    rules::judge(&case.plan, trace, &mut findings);
    case.expected.iter().for_each(|expected| expected.check(&case.plan, trace, &mut findings));
    findings
}

fn report(case: &Case, trace: Trace, findings: Findings) -> Report {
    Report {
        case: case.name.clone(),
        direction: trace.direction,
        findings: findings.0,
        seconds: trace.done.0 as f64 / 1e9,
        retransmissions: Side::BOTH.map(|side| trace.retransmissions(side) as u64),
        lateness: trace.lateness.to_string(),
        packets: trace.packets,
        paths: case.plan.paths(),
        receiver_opens: case.plan.client() == Side::Receiver,
        checksums: case.plan.multipath.as_ref().is_some_and(|m| m.config.checksum),
    }
}
