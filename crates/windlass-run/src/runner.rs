//! Runs: from tasks to records, many side by side.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use windlass_scenario::Scenario;
use windlass_sim::RunResult;

use crate::store::RunKey;
use crate::{Backend, Course, Ran, RunError, RunRecord, Simulator, World, version};

/// One run to be made.
#[derive(Clone, Debug)]
pub struct Task {
    /// Experiment identifier.
    pub experiment: String,
    /// Point identifier.
    pub point: String,
    /// Seed.
    pub seed: u64,
    /// The scenario, overrides applied.
    pub scenario: Arc<Scenario>,
    /// Its hash.
    pub scenario_hash: Arc<str>,
    /// Where it runs.
    pub world: World,
}

impl Task {
    /// What identifies the run in a journal.
    pub fn key(&self) -> RunKey {
        RunKey {
            experiment: self.experiment.clone(),
            point: self.point.clone(),
            seed: self.seed,
            scenario_hash: self.scenario_hash.to_string(),
            version: version::results(self.world.version()).to_owned(),
        }
    }

    /// A kernel's window and progress are not seen from outside it.
    fn course(&self, result: &RunResult) -> Option<Course> {
        let timeline = result.timeline.as_ref().filter(|_| self.world == World::Sim)?;
        Some(Course::of(timeline, &self.scenario, result))
    }

    /// The totals of a result as a record of this task.
    pub fn record(&self, ran: &Ran) -> RunRecord {
        let result = &ran.result;
        RunRecord {
            experiment: self.experiment.clone(),
            point: self.point.clone(),
            seed: self.seed,
            scenario_hash: self.scenario_hash.to_string(),
            version: self.world.version().to_string(),
            world: self.world.to_string(),
            kernel: ran.kernel.clone(),
            end_s: result.end.0 as f64 / 1e9,
            events: result.events,
            packet_hops: result.packet_hops,
            flows: result.flows.clone(),
            links: result.links.clone(),
            course: self.course(result),
            steady: Vec::new(),
            radios: result.radios.clone(),
            messages: result.messages,
        }
    }
}

/// What makes runs: the back ends that there are, and how many runs go side by side.
pub struct Runner {
    backends: Vec<Box<dyn Backend>>,
    jobs: usize,
}

impl Runner {
    /// A runner with the simulator alone that makes `jobs` runs side by side (0: one for each
    /// processor).
    pub fn new(jobs: usize) -> Runner {
        Runner { backends: vec![Box::new(Simulator)], jobs }
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

    /// Makes one run.
    ///
    /// # Errors
    ///
    /// As [`Backend::run`].
    pub fn run(&self, task: &Task) -> Result<Ran, RunError> {
        self.backend(task.world)?.run(&task.scenario, task.seed)
    }

    /// Makes all runs side by side, and hands each record to `keep` as it is finished. The first
    /// error stops the work; what was kept stays kept.
    ///
    /// A record does not depend on the number of jobs or on the order in which runs finish.
    ///
    /// # Errors
    ///
    /// That of a run, or of `keep`.
    pub fn execute<E, F>(&self, tasks: &[Task], keep: F) -> Result<(), E>
    where
        E: From<RunError> + Send,
        F: Fn(RunRecord) -> Result<(), E> + Sync,
    {
        self.side_by_side(tasks, |task| keep(task.record(&self.run(task)?)))
    }

    /// Calls `make` for every task, as many at a time as are wanted, world by world and in the order of
    /// the tasks. The first error keeps tasks that have not begun from beginning.
    ///
    /// # Errors
    ///
    /// That of `make`.
    pub fn side_by_side<E: Send>(
        &self,
        tasks: &[Task],
        make: impl Fn(&Task) -> Result<(), E> + Sync,
    ) -> Result<(), E> {
        let worlds: BTreeSet<World> = tasks.iter().map(|t| t.world).collect();
        worlds.into_iter().try_for_each(|world| {
            let here: Vec<&Task> = tasks.iter().filter(|t| t.world == world).collect();
            in_one_world(&here, world.jobs(self.jobs), &make)
        })
    }
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
