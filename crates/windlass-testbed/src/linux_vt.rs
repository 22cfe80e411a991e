//! A kernel in virtual time as a back end: this very program boots as a guest's first process, runs the scenario on the
//! kernel there, and sends back what it yielded.

use std::error::Error;
use std::time::Duration;
use std::{fmt, fs};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use windlass_run::{Backend, Ran, RunError, World};
use windlass_scenario::Scenario;
use windlass_sim::RunResult;

use crate::calibrate::{self, Calibration};
use crate::calibration::effort;
use crate::interop::{self, Case, Direction, Report};
use crate::{linux, live, vm};

/// Where the guest finds its task.
const TASK: &str = "task.json";
/// Longest that a run may take on the host. It is there so that a guest that hangs is noticed; a long
/// transfer of many flows takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// What a guest is to do.
#[derive(Serialize, Deserialize)]
enum Task {
    /// A scenario, resolved.
    Scenario { scenario: String, seed: u64 },
    /// Cases of our endpoint against the kernel's, by name.
    Interop { cases: Vec<(String, Direction)>, seed: u64 },
    /// The calibration of the links; the answer is a [`Calibration`].
    Calibrate { quick: bool },
}

/// What a guest answers to a scenario.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: RunResult,
    kernel: String,
}

/// What a guest answers to cases.
#[derive(Serialize, Deserialize)]
struct Verdicts {
    reports: Vec<Report>,
    kernel: String,
}

/// A Debian kernel of this series under QEMU, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct LinuxVt(pub vm::Series);

impl Backend for LinuxVt {
    fn world(&self) -> World {
        World::LinuxVt(self.0)
    }

    fn run(&self, scenario: &Scenario, seed: u64) -> Result<Ran, RunError> {
        linux::takes(self.world(), scenario)?;
        let task = Task::Scenario { scenario: scenario.resolved_toml(), seed };
        let Answer { result, kernel } = ask(self.0, &task)?;
        Ok(Ran { result, kernel: Some(emulated(&kernel).map_err(RunError::backend)?) })
    }

    fn check(&self) -> Result<(), RunError> {
        vm::check(self.0).map_err(RunError::backend)
    }

    fn release(&self) -> Option<String> {
        emulated(&vm::kept_release(self.0)?).ok()
    }

    fn differences(&self, scenario: &Scenario) -> Result<Vec<String>, RunError> {
        linux::differences(self.world(), scenario)
    }
}

/// A kernel's release with the QEMU that keeps its clock.
fn emulated(kernel: &str) -> Result<String, vm::Error> {
    Ok(format!("{kernel} (QEMU {})", vm::qemu_version()?))
}

/// Runs cases of our endpoint against that of a kernel of this series. Returns the reports, with the
/// packets of those that have failed, and the kernel's release.
pub(crate) fn interop(
    series: vm::Series,
    cases: &[(&Case, Direction)],
    seed: u64,
) -> Result<(Vec<Report>, String), RunError> {
    let named = cases.iter().map(|(case, direction)| (case.name.clone(), *direction));
    let Verdicts { reports, kernel } =
        ask(series, &Task::Interop { cases: named.collect(), seed })?;
    Ok((reports, kernel))
}

/// Calibrates the links in virtual time on a kernel of this series.
pub(crate) fn calibrate(series: vm::Series, quick: bool) -> Result<Calibration, RunError> {
    ask(series, &Task::Calibrate { quick })
}

/// Boots a guest, gives it a task and reads its answer.
fn ask<A: DeserializeOwned>(series: vm::Series, task: &Task) -> Result<A, RunError> {
    let kernel = vm::prepare(series, &mut |_| {}).map_err(RunError::backend)?;
    let task = serde_json::to_vec(task).map_err(guest)?;
    let files = vec![(TASK.to_string(), task)];
    let job = vm::Job { files, timeout: PATIENCE, ..vm::Job::default() };
    let answer = vm::run(&kernel, &job).map_err(RunError::backend)?;
    let unreadable = |e| guest(format!("its answer cannot be read: {e}"));
    serde_json::from_slice(&answer.output).map_err(unreadable)
}

fn guest(why: impl fmt::Display) -> RunError {
    RunError::backend(format!("the guest failed: {why}"))
}

/// Does the work of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve_if_guest() {
    vm::guest_main(|_| serve().map_err(|e| e.to_string()));
}

fn serve() -> Result<Vec<u8>, Box<dyn Error>> {
    match serde_json::from_slice(&fs::read(TASK)?)? {
        Task::Scenario { scenario, seed } => serve_scenario(&scenario, seed),
        Task::Interop { cases, seed } => serve_interop(&cases, seed),
        Task::Calibrate { quick } => serve_calibration(quick),
    }
}

fn serve_scenario(scenario: &str, seed: u64) -> Result<Vec<u8>, Box<dyn Error>> {
    let scenario = Scenario::from_str(scenario, "the task")?;
    let ran = linux::run(&scenario, seed, live::Options::in_virtual_time())?;
    let answer = Answer { result: ran.result, kernel: ran.kernel.unwrap_or_default() };
    Ok(serde_json::to_vec(&answer)?)
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

fn serve_calibration(quick: bool) -> Result<Vec<u8>, Box<dyn Error>> {
    let options = calibrate::Options::in_virtual_time(effort(quick));
    let calibration = calibrate::run(&calibrate::points(), &options, &mut |_| {})?;
    Ok(serde_json::to_vec(&calibration)?)
}
