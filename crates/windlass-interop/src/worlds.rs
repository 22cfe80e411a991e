//! Cases and calibrations in a world: on this machine's kernel, or on one in virtual time whose guest is this program.

use std::error::Error;
use std::{fs, io};

use serde::{Deserialize, Serialize};
use windlass_run::{RunError, World};
use windlass_testbed::{guest, live};

use crate::calibrate::{self, Calibration, Effort};
use crate::interop::{self, Case, Direction, Report};
use crate::lockstep::{self, Case as RandomCase, Played};
use crate::script::{self, Script, Trouble};

/// What a guest is to do.
#[derive(Serialize, Deserialize)]
enum Task {
    /// Cases of our endpoint against the kernel's, by name.
    Interop { cases: Vec<(String, Direction)>, seed: u64 },
    /// Scripts against the kernel, each by its file's name and text; the answers are in their order.
    Scripts { scripts: Vec<(String, String)> },
    /// The calibration of the links; the answer is a [`Calibration`].
    Calibrate { quick: bool },
    /// Cases in lockstep with the kernel; the answer is a list of [`Played`].
    Lockstep(lockstep::Task),
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
        World::LinuxVt(series) => guest::ask(series, &Task::Calibrate { quick }, Vec::new()),
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
            let Verdicts { reports, kernel } = guest::ask(series, &task, Vec::new())?;
            reports.iter().for_each(done);
            Ok((reports, kernel))
        }
    }
}

/// Why a script did not pass, told.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Unpassed {
    /// The kernel lacks what the script is about.
    Unable(String),
    /// It does otherwise, or the set-up failed.
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

/// Plays scripts against the kernel of a world, or against our TCP in the simulator's. The answers stand in the order of
/// the scripts.
///
/// # Errors
///
/// The world is not to be had here, or a script's file cannot be read again.
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

/// Plays random cases against the kernel of a world and our endpoint at once. `tries` says how often
/// each case that differs is tried again to make it smaller.
///
/// # Errors
///
/// The world is no kernel in virtual time, or is not to be had here.
pub fn lockstep(world: World, cases: Vec<RandomCase>, tries: u32) -> Result<Vec<Played>, RunError> {
    match world {
        World::LinuxVt(series) => {
            let task = Task::Lockstep(lockstep::Task { cases, tries });
            guest::ask(series, &task, Vec::new())
        }
        _ => Err(RunError::NoKernel),
    }
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
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
        case.map(|case| (case, *direction)).ok_or_else(|| format!("there is no case `{name}`"))
    };
    let cases = wanted.iter().map(find).collect::<Result<Vec<_>, String>>()?;
    let options = interop::Options { seed, ..interop::Options::in_virtual_time() };
    let mut reports = interop::run(&cases, &options, |_| {})?;
    reports.iter_mut().filter(|report| report.passed()).for_each(|report| report.packets.clear());
    Ok(serde_json::to_vec(&Verdicts { reports, kernel: live::kernel() })?)
}
