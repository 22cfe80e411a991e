//! Executes tasks, several at a time, and returns their records.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::store::{Memory, Store};
use crate::task::{Failed, Task};
use crate::{Backend, Error, Ran, RunError, RunRecord, Simulator, World};

/// Executes runs: the available backends, and the number of concurrent runs.
pub struct Runner {
    backends: Vec<Box<dyn Backend>>,
    jobs: usize,
    stop: Option<Arc<AtomicBool>>,
}

impl Runner {
    /// A runner with only the simulator. It executes `jobs` runs concurrently (0: one per processor).
    pub fn new(jobs: usize) -> Runner {
        Runner { backends: vec![Box::new(Simulator::default())], jobs, stop: None }
    }

    /// A runner with only the simulator. Soon after `stop` has become true, it returns [`RunError::Stopped`]. Runs that
    /// are finished by then are stored.
    pub fn until(stop: Arc<AtomicBool>, jobs: usize) -> Runner {
        Runner::on(Simulator::until(stop.clone()), stop, jobs)
    }

    /// A runner with this simulator, which must stop with `stop` too.
    pub fn on(simulator: impl Backend + 'static, stop: Arc<AtomicBool>, jobs: usize) -> Runner {
        Runner { backends: vec![Box::new(simulator)], jobs, stop: Some(stop) }
    }

    /// Adds a backend.
    pub fn with(mut self, backend: impl Backend + 'static) -> Runner {
        self.backends.push(Box::new(backend));
        self
    }

    /// Number of concurrent runs (0: one per processor).
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// The backend of this name.
    ///
    /// # Errors
    ///
    /// This program was built without the backend.
    pub fn backend(&self, world: World) -> Result<&dyn Backend, RunError> {
        let found = self.backends.iter().find(|b| b.world() == world);
        found.map(|b| &**b).ok_or(RunError::NotBuilt(world))
    }

    /// The kernel that a run on the backend of this name would use now, if it is known.
    pub fn release(&self, world: &str) -> Option<String> {
        self.backends.iter().find(|b| b.world().to_string() == world)?.release()
    }

    /// Executes one run.
    ///
    /// # Errors
    ///
    /// As [`Backend::run`].
    pub fn run(&self, task: &Task) -> Result<Ran, RunError> {
        if self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            return Err(RunError::Stopped);
        }
        self.backend(task.world)?.run(&task.scenario, task.seed)
    }

    /// Executes the runs, and stores the record that `record` returns for each. Calls `done` with each stored run and
    /// its duration. Runs that fail or panic are recorded in the store, and returned.
    ///
    /// # Errors
    ///
    /// A backend does not support a scenario, or a run cannot be stored. Finished runs stay.
    pub fn fill(
        &self,
        tasks: &[Task],
        store: &mut dyn Store,
        record: impl Fn(&Task, &Ran) -> Result<RunRecord, RunError> + Sync,
        done: impl Fn(&Task, &RunRecord, Duration) + Sync,
    ) -> Result<Vec<Failed>, Error> {
        let shared = RwLock::new(&mut *store);
        let failed = self.execute(tasks, |task, ran, took| {
            // Recordings of several runs are written concurrently; only the records are written one at a time.
            shared.read().unwrap_or_else(PoisonError::into_inner).record(task, &ran)?;
            let record = record(task, &ran)?;
            let mut store = shared.write().unwrap_or_else(PoisonError::into_inner);
            // The record exists already if only a recording was missing.
            if store.get(&task.key()).is_none() {
                store.append(record.clone())?;
            }
            drop(store);
            done(task, &record, took);
            Ok::<(), Error>(())
        })?;
        store.finish(&failed)?;
        Ok(failed)
    }

    /// Executes the runs and keeps them in memory. Calls `made` with each finished run, and returns the runs that fail.
    ///
    /// # Errors
    ///
    /// As [`Runner::fill`].
    pub fn in_memory(
        &self,
        tasks: &[Task],
        made: impl Fn(&RunRecord) + Sync,
    ) -> Result<(Memory, Vec<Failed>), Error> {
        let mut memory = Memory::default();
        let record = |task: &Task, ran: &Ran| Ok(task.record(ran));
        let failed = self.fill(tasks, &mut memory, record, |_, record, _| made(record))?;
        Ok((memory, failed))
    }

    /// Executes all runs concurrently, and calls `keep` with each finished run, its result and its duration. Backends
    /// follow one another, and on each the runs start in the order of the tasks. A run that fails or panics is
    /// recorded, and the other runs continue.
    ///
    /// The result of a run does not depend on the number of jobs or on the order in which runs finish.
    ///
    /// # Errors
    ///
    /// The error of `keep`, or a scenario that its backend does not support. Stored runs stay. Runs that have not begun
    /// do not begin.
    pub fn execute<E: From<RunError> + Send>(
        &self,
        tasks: &[Task],
        keep: impl Fn(&Task, Ran, Duration) -> Result<(), E> + Sync,
    ) -> Result<Vec<Failed>, E> {
        let failed = Mutex::new(Vec::new());
        let make = |task: &Task| {
            let begun = Instant::now();
            let outcome = catch_unwind(AssertUnwindSafe(|| self.run(task)));
            let reason = match outcome {
                Ok(Ok(ran)) => return keep(task, ran, begun.elapsed()),
                Ok(Err(e)) if e.ends_all() => {
                    return Err(e.into());
                }
                Ok(Err(e)) => e.to_string(),
                Err(panic) => format!("the program panicked: {}", said(&*panic)),
            };
            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.push(Failed::of(task, reason));
            Ok(())
        };
        let worlds: BTreeSet<World> = tasks.iter().map(|t| t.world).collect();
        worlds.into_iter().try_for_each(|world| {
            let here: Vec<&Task> = tasks.iter().filter(|t| t.world == world).collect();
            in_one_world(&here, world.jobs(self.jobs), &make)
        })?;
        let mut failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort();
        Ok(failed)
    }
}

/// The message of a panic.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

fn in_one_world<E: Send>(
    tasks: &[&Task],
    jobs: usize,
    make: &(impl Fn(&Task) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let stopped = AtomicBool::new(false);
    let work = || {
        // The bridge passes on the tasks in their order.
        tasks.iter().par_bridge().try_for_each(|task| {
            if stopped.load(Ordering::Relaxed) {
                return Ok(());
            }
            let outcome = make(task);
            if outcome.is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
            outcome
        })
    };
    // More threads than tasks are of no use.
    let threads = jobs.min(tasks.len());
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        // If no threads can be created, the present thread executes the tasks.
        Err(_) => tasks.iter().try_for_each(|task| make(task)),
    }
}
