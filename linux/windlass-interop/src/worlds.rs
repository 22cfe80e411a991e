//! Cases and calibrations on a backend: on this machine's kernel, or on a kernel in virtual time whose guest
//! is this program.

use std::error::Error;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use windlass_run::{RunError, World};
use windlass_testbed::{guest, live};

use crate::calibrate::{self, Calibration, Effort};
use crate::interop::{self, Case, Direction, Report};
use crate::lockstep::{self, Case as RandomCase, Played};
use crate::script::{self, Script, Trouble};

/// Task of a guest.
#[derive(Serialize, Deserialize)]
enum Task {
    /// Cases of Windlass's endpoint and the kernel's, by name.
    Interop { cases: Vec<(String, Direction)>, seed: u64 },
    /// Scripts against the kernel, each by its file's name and text. The answers have the same order.
    Scripts { scripts: Vec<(String, String)> },
    /// The calibration of the links; the answer is a [`Calibration`].
    Calibrate { quick: bool },
    /// Cases in lockstep with the kernel; the answer is a list of [`Played`].
    Lockstep(lockstep::Task),
}

/// Answer of a guest to cases.
#[derive(Serialize, Deserialize)]
struct Verdicts {
    reports: Vec<Report>,
    kernel: String,
}

/// Compares the values that a backend's links deliver with the requested values. `tell` is called with the
/// name of each measurement. A guest measures everything at once.
///
/// # Errors
///
/// Returns an error if the backend has no kernel or is not available.
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
        World::LinuxVt(series) => guest::ask(series, &Task::Calibrate { quick }, Vec::new()),
    }
}

/// Returns the amount of measurement.
fn effort(quick: bool) -> Effort {
    if quick { Effort::QUICK } else { Effort::FULL }
}

/// Runs Windlass's endpoint and a backend's kernel against each other in these cases. Returns the reports and
/// the kernel's release.
///
/// `seed` determines the random losses. In virtual time only failures keep their packets. `done` is called
/// for each finished case; in virtual time, this happens after the last case.
///
/// # Errors
///
/// Returns an error if the backend has no kernel or is not available.
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
            let Verdicts { reports, kernel } = guest::ask(series, &task, Vec::new())?;
            reports.iter().for_each(done);
            Ok((reports, kernel))
        }
    }
}

/// Reason why a script did not pass.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Unpassed {
    /// The kernel does not have a feature that the script needs.
    Unable(String),
    /// The stack differs from the script, or the set-up failed.
    Failed(String),
}

impl From<Trouble> for Unpassed {
    fn from(trouble: Trouble) -> Unpassed {
        match trouble {
            Trouble::Unable(why) => Unpassed::Unable(why),
            other => Unpassed::Failed(other.to_string()),
        }
    }
}

/// Plays scripts against the kernel of a backend, or against Windlass's TCP in the simulator. The answers
/// have the order of the scripts.
///
/// # Errors
///
/// Returns an error if the backend is not available, or if a script's file cannot be read again.
pub fn play(world: World, scripts: &[Script]) -> Result<Vec<Result<(), Unpassed>>, RunError> {
    let here = |place| {
        script::available(place).map_err(RunError::backend)?;
        let answers = script::run_all(scripts, place);
        Ok(answers.into_iter().map(|answer| answer.map_err(Unpassed::from)).collect())
    };
    match world {
        World::Sim => here(script::World::Sim),
        World::Linux => here(script::World::Linux),
        World::LinuxVt(series) => {
            let text =
                |script: &Script| Ok((script.file.clone(), fs::read_to_string(&script.file)?));
            let scripts = scripts.iter().map(text).collect::<io::Result<_>>();
            let task = Task::Scripts { scripts: scripts.map_err(RunError::backend)? };
            guest::ask(series, &task, Vec::new())
        }
        World::Ns3 => Err(RunError::NoKernel),
    }
}

/// Plays random cases against the kernel of a backend and Windlass's endpoint at once. `tries` is the number
/// of smaller cases to try for each case that differs.
///
/// # Errors
///
/// Returns an error if the backend is not a kernel in virtual time, or is not available.
pub fn lockstep(world: World, cases: Vec<RandomCase>, tries: u32) -> Result<Vec<Played>, RunError> {
    match world {
        World::LinuxVt(series) => {
            let task = Task::Lockstep(lockstep::Task { cases, tries });
            guest::ask(series, &task, Vec::new())
        }
        _ => Err(RunError::NoKernel),
    }
}

/// Does the work of a guest and does not return, if this process is a guest's first process. Call this at the
/// very start of the program.
pub fn serve_if_guest() {
    guest::serve(|task| match task {
        Task::Interop { cases, seed } => serve_interop(&cases, seed),
        Task::Scripts { scripts } => {
            let parse = |(file, text): &(String, String)| Script::parse(text, file);
            let scripts = scripts.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
            let answers = play(World::Linux, &scripts)?;
            Ok(serde_json::to_vec(&answers)?)
        }
        Task::Lockstep(task) => Ok(serde_json::to_vec(&lockstep::run(&task))?),
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
        case.map(|case| (case, *direction)).ok_or_else(|| format!("case `{name}` not found"))
    };
    let cases = wanted.iter().map(find).collect::<Result<Vec<_>, String>>()?;
    let options = interop::Options { seed, ..interop::Options::in_virtual_time() };
    let mut reports = interop::run(&cases, &options, |_| {})?;
    reports.iter_mut().filter(|report| report.passed()).for_each(|report| report.packets.clear());
    Ok(serde_json::to_vec(&Verdicts { reports, kernel: live::kernel() })?)
}
