//! Runs: from tasks to records, many side by side.

use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::store::Store;
use crate::task::{Failed, Task};
use crate::{Backend, Error, Ran, RunError, RunRecord, Simulator, World};

/// What makes runs: the back ends that there are, and how many runs go side by side.
pub struct Runner {
    backends: Vec<Box<dyn Backend>>,
    jobs: usize,
    stop: Option<Arc<AtomicBool>>,
}

impl Runner {
    /// A runner with the simulator alone that makes `jobs` runs side by side (0: one for each
    /// processor).
    pub fn new(jobs: usize) -> Runner {
        Runner { backends: vec![Box::new(Simulator::default())], jobs, stop: None }
    }

    /// One with the simulator alone whose work ends with [`RunError::Stopped`] soon after `stop` has become
    /// true. What is finished by then is kept.
    pub fn until(stop: Arc<AtomicBool>, jobs: usize) -> Runner {
        Runner::on(Simulator::until(stop.clone()), stop, jobs)
    }

    /// The same on a simulator that ends with `stop` as well.
    pub fn on(simulator: Simulator, stop: Arc<AtomicBool>, jobs: usize) -> Runner {
        Runner { backends: vec![Box::new(simulator)], jobs, stop: Some(stop) }
    }

    /// The same with another back end.
    pub fn with(mut self, backend: impl Backend + 'static) -> Runner {
        self.backends.push(Box::new(backend));
        self
    }

    /// Runs side by side that are wanted (0: one for each processor).
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// The back end of this name.
    ///
    /// # Errors
    ///
    /// This program has none.
    pub fn backend(&self, world: World) -> Result<&dyn Backend, RunError> {
        let found = self.backends.iter().find(|b| b.world() == world);
        found.map(|b| &**b).ok_or(RunError::NotBuilt(world))
    }

    /// What a run in the world of this name would be on now, as far as that can be told.
    pub fn release(&self, world: &str) -> Option<String> {
        self.backends.iter().find(|b| b.world().to_string() == world)?.release()
    }

    /// Makes one run.
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

    /// Makes the runs and keeps each in the store with the record that `record` makes of it, telling `done` of it and of
    /// the time that it took. Those that fail or panic are noted there and returned.
    ///
    /// # Errors
    ///
    /// A back end does not take a scenario, or a run cannot be kept. What is finished stays.
    pub fn fill(
        &self,
        tasks: &[Task],
        store: &mut dyn Store,
        record: impl Fn(&Task, &Ran) -> Result<RunRecord, RunError> + Sync,
        done: impl Fn(&Task, &RunRecord, Duration) + Sync,
    ) -> Result<Vec<Failed>, Error> {
        let shared = RwLock::new(&mut *store);
        let failed = self.execute(tasks, |task, ran, took| {
            // Recordings of several runs are written side by side; only the records take turns.
            shared.read().unwrap_or_else(PoisonError::into_inner).record(task, &ran)?;
            let record = record(task, &ran)?;
            let mut store = shared.write().unwrap_or_else(PoisonError::into_inner);
            // It is there already when only a recording was missing.
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

    /// Makes all runs side by side, and hands each with what it yielded and the time that it took to
    /// `keep` as it is finished: world by world and in the order of the tasks. A run that fails or panics
    /// is noted, and the others go on.
    ///
    /// What a run yields does not depend on the number of jobs or on the order in which runs finish.
    ///
    /// # Errors
    ///
    /// That of `keep`, or a scenario that its back end does not take. What was kept stays kept; runs
    /// that have not begun do not begin.
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
                Ok(Err(e)) if e.is_input() || matches!(e, RunError::Stopped) => {
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

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it does not say why")
}

fn in_one_world<E: Send>(
    tasks: &[&Task],
    jobs: usize,
    make: &(impl Fn(&Task) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let stopped = AtomicBool::new(false);
    let work = || {
        // A bridge hands them out in their order.
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
    // More threads than tasks would only wait.
    let threads = jobs.min(tasks.len());
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        // Without threads of its own the process still has the one it runs on.
        Err(_) => tasks.iter().try_for_each(|task| make(task)),
    }
}
