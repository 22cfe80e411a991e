//! Running cases, and what is found.

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

/// A case in one direction, and its verdict.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Report {
    /// The case.
    pub case: String,
    /// Which end was ours.
    pub direction: Direction,
    /// What was found amiss; the case has passed if nothing was.
    pub findings: Vec<Finding>,
    /// Time until both applications were done, seconds.
    pub seconds: f64,
    /// Data segments that each end has retransmitted, sender first.
    pub retransmissions: [u64; 2],
    /// How late deliveries were.
    pub lateness: String,
    /// Every packet: as an end sends it, as it arrives, as it is lost. On the first path link 0 leads
    /// from the sender to the receiver and link 1 back, on the second links 2 and 3.
    pub packets: Vec<PacketEvent>,
    /// Number of paths.
    pub paths: u8,
    /// Whether the receiver opened the connection.
    pub receiver_opens: bool,
    /// Whether mappings of Multipath TCP have checksums.
    pub checksums: bool,
}

impl Report {
    /// Addresses of the two ends, the sender's first.
    pub fn addresses(&self) -> FlowAddresses {
        let addresses = addresses();
        if self.receiver_opens { addresses.opened_by_to() } else { addresses }
    }

    /// What the links are called, by their numbers.
    pub fn links(&self) -> Vec<String> {
        let path = |path| match path {
            0 => String::new(),
            _ => format!(", path {}", path + 1),
        };
        let both =
            |path: String| [format!("sender>receiver{path}"), format!("receiver>sender{path}")];
        (0..self.paths).map(path).flat_map(both).collect()
    }

    /// Whether nothing was amiss.
    pub fn passed(&self) -> bool {
        self.findings.is_empty()
    }
}

/// How cases are run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Cases side by side; they wait most of the time.
    pub jobs: usize,
    /// Times that a case is run at most while it fails and deliveries are late.
    pub attempts: u32,
    /// Lateness that speaks against a failure; `None` where nothing is late, as in virtual time.
    pub bound: Option<Bound>,
    /// Seed of random losses.
    pub seed: u64,
}

impl Default for Options {
    /// Eight at once, five attempts, the usual bound, seed 1.
    fn default() -> Options {
        Options { jobs: 8, attempts: 5, bound: Some(Bound::default()), seed: 1 }
    }
}

impl Options {
    /// In a guest whose clock counts instructions nothing is late.
    pub fn in_virtual_time() -> Options {
        Options { jobs: 4, attempts: 1, bound: None, ..Options::default() }
    }
}

/// Runs cases side by side, and once more those that have failed while deliveries were late: one at a
/// time then, so that they are not each other's reason. `done` is told of each as its verdict is final.
///
/// # Errors
///
/// When the machine lacks something, or refuses it.
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

/// What a run of a case is worth.
enum Verdict {
    /// It has passed, or failed with deliveries in time.
    Final(Report),
    /// It has failed with late deliveries, which may be why.
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
    (case.check)(trace, &mut findings);
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
