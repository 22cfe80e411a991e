//! A guest in virtual time does a task for the program that started it: both are the same executable, and a task and
//! its answer are JSON.

use std::error::Error;
use std::time::Duration;
use std::{fmt, fs};

use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass_run::RunError;

use crate::vm;

/// Where the guest finds its task.
const TASK: &str = "task.json";
/// Longest that a run may take on the host. It is there so that a guest that hangs is noticed; a long
/// transfer of many flows takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Boots a guest with a kernel of this series, gives it a task and reads its answer. `objects` are further files, of
/// programs that the guest's kernel is to run.
///
/// # Errors
///
/// The kernel or QEMU is not to be had, or the guest failed.
pub fn ask<A: DeserializeOwned>(
    series: vm::Series,
    task: &impl Serialize,
    objects: Vec<(String, Vec<u8>)>,
) -> Result<A, RunError> {
    let kernel = vm::prepare(series, &mut |_| {}).map_err(RunError::backend)?;
    let task = serde_json::to_vec(task).map_err(failed)?;
    let programs = !objects.is_empty();
    let files = [vec![(TASK.to_string(), task)], objects].concat();
    let job = vm::Job { files, programs, timeout: PATIENCE, ..vm::Job::default() };
    let answer = vm::run(&kernel, &job).map_err(RunError::backend)?;
    let unreadable = |e| failed(format!("its answer cannot be read: {e}"));
    serde_json::from_slice(&answer.output).map_err(unreadable)
}

fn failed(why: impl fmt::Display) -> RunError {
    RunError::backend(format!("the guest failed: {why}"))
}

/// Does the task of a guest, if this process is a guest's first; does not return then. To be called
/// at the very start of the program.
pub fn serve<T: DeserializeOwned>(work: impl Fn(T) -> Result<Vec<u8>, Box<dyn Error>>) {
    let serve = || work(serde_json::from_slice(&fs::read(TASK)?)?);
    vm::guest_main(|_| serve().map_err(|e| e.to_string()));
}
