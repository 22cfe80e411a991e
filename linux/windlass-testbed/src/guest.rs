//! A guest in virtual time does a task for the program that started it. Both are the same executable. A task
//! and its answer are JSON.

use std::error::Error;
use std::time::Duration;
use std::{fmt, fs};

use serde::Serialize;
use serde::de::DeserializeOwned;
use windlass_run::RunError;

use crate::vm;

/// File in which the guest finds its task.
const TASK: &str = "task.json";
/// Maximum duration of a run on the host, so that a hanging guest is noticed. A long transfer of many flows
/// takes minutes.
const PATIENCE: Duration = Duration::from_secs(3600);

/// Boots a guest with a kernel of this series, gives it a task and reads its answer. `objects` are additional
/// files of programs for the guest's kernel.
///
/// # Errors
///
/// Returns an error if the kernel or QEMU is missing, or if the guest failed.
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
    let unreadable = |e| failed(format!("cannot read its answer: {e}"));
    serde_json::from_slice(&answer.output).map_err(unreadable)
}

fn failed(why: impl fmt::Display) -> RunError {
    RunError::backend(format!("the guest failed: {why}"))
}

/// Does the task of a guest and does not return, if this process is a guest's first process. Call this at the
/// very start of the program.
pub fn serve<T: DeserializeOwned>(work: impl Fn(T) -> Result<Vec<u8>, Box<dyn Error>>) {
    let serve = || work(serde_json::from_slice(&fs::read(TASK)?)?);
    vm::guest_main(|_| serve().map_err(|e| e.to_string()));
}
