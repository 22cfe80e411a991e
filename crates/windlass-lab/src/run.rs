//! Runs: from a scenario to results, many side by side.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use windlass_sim::{BooksError, ConfigError, RunResult};
use windlass_testbed::{live, vm};

use crate::experiment::{Course, RunRecord};
use crate::scenario::Scenario;
use crate::store::RunKey;
use crate::world::{Ran, World};

/// Why a run gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The simulator does not take the scenario.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The simulator lost count of packets.
    #[error("run of \"{scenario}\" with seed {seed}: {source}")]
    Books {
        /// Name of the scenario.
        scenario: String,
        /// Seed of the run.
        seed: u64,
        /// What is unaccounted for.
        source: BooksError,
    },
    /// This machine's kernel, or the way to it.
    #[error(transparent)]
    Live(#[from] live::Error),
    /// The virtual machine.
    #[error(transparent)]
    Machine(#[from] vm::Error),
    /// What ran in the virtual machine.
    #[error("the guest failed: {0}")]
    Guest(String),
    /// A kernel was asked of the simulator.
    #[error("the simulator has no kernel; choose linux, linux-vt=6.12 or linux-vt=6.1")]
    NoKernel,
    /// The scenario has a Wi-Fi cell, and the world kernels only.
    #[error(
        "the world `{world}` has no radio for the Wi-Fi cell `{cell}`: kernels are joined by links; \
         run it with --on sim, or write links instead of the cell"
    )]
    NoRadio {
        /// The world.
        world: World,
        /// Name of the cell.
        cell: String,
    },
}

/// Runs a scenario once in the simulator.
pub fn simulate(scenario: &Scenario, seed: u64) -> Result<RunResult, RunError> {
    Ok(World::Sim.run(scenario, seed)?.result)
}

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
            version: self.world.version().to_string(),
        }
    }

    /// Makes the run.
    pub fn run(&self) -> Result<Ran, RunError> {
        self.world.run(&self.scenario, self.seed)
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

/// Makes all runs, `jobs` side by side (0: one for each processor), and hands each record to
/// `keep` as it is finished. The first error stops the work; what was kept stays kept.
///
/// A record does not depend on `jobs` or on the order in which runs finish.
///
/// # Errors
///
/// That of a run, or of `keep`.
pub fn execute<E, F>(tasks: &[Task], jobs: usize, keep: F) -> Result<(), E>
where
    E: From<RunError> + Send,
    F: Fn(RunRecord) -> Result<(), E> + Sync,
{
    side_by_side(tasks, jobs, |task| keep(task.record(&task.run()?)))
}

/// Calls `make` for every task, `jobs` at a time (0: one for each processor), world by world and in
/// the order of the tasks. The first error keeps tasks that have not begun from beginning.
///
/// # Errors
///
/// That of `make`.
pub fn side_by_side<E: Send>(
    tasks: &[Task],
    jobs: usize,
    make: impl Fn(&Task) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let worlds: BTreeSet<World> = tasks.iter().map(|t| t.world).collect();
    worlds.into_iter().try_for_each(|world| {
        let here: Vec<&Task> = tasks.iter().filter(|t| t.world == world).collect();
        in_one_world(&here, world.jobs(jobs), &make)
    })
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
