//! Cases and calibrations in a world: on this machine's kernel, or on one in virtual time whose guest is this program.

use std::error::Error;

use serde::{Deserialize, Serialize};
use windlass_run::{RunError, World};
use windlass_testbed::{guest, live};

use crate::calibrate::{self, Calibration, Effort};
use crate::interop::{self, Case, Direction, Report};

/// What a guest is to do.
#[derive(Serialize, Deserialize)]
enum Task {
    /// Cases of our endpoint against the kernel's, by name.
    Interop { cases: Vec<(String, Direction)>, seed: u64 },
    /// The calibration of the links; the answer is a [`Calibration`].
    Calibrate { quick: bool },
}

/// What a guest answers to cases.
#[derive(Serialize, Deserialize)]
struct Verdicts {
    reports: Vec<Report>,
    kernel: String,
}

/// Measures what the links of a world deliver against what was asked of them. `tell` is told what is
/// being measured; a guest measures all in one go.
///
/// # Errors
///
/// The world has no kernel, or is not to be had here.
pub fn calibrate(
    world: World,
    quick: bool,
    tell: &mut dyn FnMut(&str),
) -> Result<Calibration, RunError> {
    match world {
        World::Sim | World::Ns3 => Err(RunError::NoKernel),
        World::Linux => {
            live::check().map_err(RunError::backend)?;
            let options = calibrate::Options::live(effort(quick));
            let mut tell = |point: &calibrate::Point| tell(&point.to_string());
            calibrate::run(&calibrate::points(), &options, &mut tell).map_err(RunError::backend)
        }
        World::LinuxVt(series) => guest::ask(series, &Task::Calibrate { quick }),
    }
}

/// How much is measured.
fn effort(quick: bool) -> Effort {
    if quick { Effort::QUICK } else { Effort::FULL }
}

/// Holds our endpoint and a world's kernel to each other in these cases, and returns the reports
/// and the kernel's release. `seed` is of the random losses. In virtual time only failures keep
/// their packets. `done` is told of each case as it ends; in virtual time, when all have.
///
/// # Errors
///
/// The world has no kernel, or is not to be had here.
pub fn interoperate(
    world: World,
    cases: &[(&Case, Direction)],
    seed: u64,
    done: impl Fn(&Report) + Sync,
) -> Result<(Vec<Report>, String), RunError> {
    match world {
        World::Sim | World::Ns3 => Err(RunError::NoKernel),
        World::Linux => {
            live::check().map_err(RunError::backend)?;
            let options = interop::Options { seed, ..interop::Options::default() };
            let reports = interop::run(cases, &options, done).map_err(RunError::backend)?;
            Ok((reports, live::kernel()))
        }
        World::LinuxVt(series) => {
            let named = cases.iter().map(|(case, direction)| (case.name.clone(), *direction));
            let task = Task::Interop { cases: named.collect(), seed };
            let Verdicts { reports, kernel } = guest::ask(series, &task)?;
            reports.iter().for_each(done);
            Ok((reports, kernel))
        }
    }
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve_if_guest() {
    guest::serve(|task| match task {
        Task::Interop { cases, seed } => serve_interop(&cases, seed),
        Task::Calibrate { quick } => {
            let options = calibrate::Options::in_virtual_time(effort(quick));
            let calibration = calibrate::run(&calibrate::points(), &options, &mut |_| {})?;
            Ok(serde_json::to_vec(&calibration)?)
        }
    });
}

fn serve_interop(wanted: &[(String, Direction)], seed: u64) -> Result<Vec<u8>, Box<dyn Error>> {
    let known = interop::cases();
    let find = |(name, direction): &(String, Direction)| {
        let case = known.iter().find(|case| case.name == *name);
        case.map(|case| (case, *direction)).ok_or_else(|| format!("there is no case `{name}`"))
    };
    let cases = wanted.iter().map(find).collect::<Result<Vec<_>, String>>()?;
    let options = interop::Options { seed, ..interop::Options::in_virtual_time() };
    let mut reports = interop::run(&cases, &options, |_| {})?;
    reports.iter_mut().filter(|report| report.passed()).for_each(|report| report.packets.clear());
    Ok(serde_json::to_vec(&Verdicts { reports, kernel: live::kernel() })?)
}
