//! The runs of a cell.

use std::sync::Arc;

use super::cells::Cell;
use super::measures::Measures;
use super::recorded::Recorded;
use crate::run::{Task, World};
use crate::scenario::ScenarioError;

/// A cell and its runs on both backends, one pair for each seed.
pub(super) struct CellTasks {
    pub cell: Cell,
    pub pairs: Vec<Pair>,
}

/// The runs of one seed.
pub(super) struct Pair {
    pub kernel: Task,
    /// The kernel's recorded result. If it exists, the kernel's task does not run.
    pub recorded: Option<Measures>,
    pub ours: Task,
}

impl Pair {
    pub fn tasks(&self) -> impl Iterator<Item = Task> {
        let kernel = self.recorded.is_none().then(|| self.kernel.clone());
        [self.ours.clone()].into_iter().chain(kernel)
    }
}

impl CellTasks {
    /// Creates the runs in the simulator and on the kernel, whose recorded runs are `known`. A quick cross-check
    /// has fewer.
    pub fn of(
        cell: Cell,
        (world, quick): (World, bool),
        known: &Recorded,
    ) -> Result<CellTasks, ScenarioError> {
        let task = |world: World| {
            let scenario = Arc::new(cell.scenario()?);
            let scenario_hash: Arc<str> = world.hash(&scenario).into();
            Ok(Task {
                experiment: cell.experiment().to_string(),
                point: format!("{},on={world}", cell.point()),
                seed: scenario.seed,
                scenario,
                scenario_hash,
                world,
            })
        };
        let (kernel, ours) = (task(world)?, task(World::Sim)?);
        let pair = |seed| Pair {
            kernel: Task { seed, ..kernel.clone() },
            recorded: known.get(world, &cell, seed).cloned(),
            ours: Task { seed, ..ours.clone() },
        };
        Ok(CellTasks { cell, pairs: cell.seeds(quick).map(pair).collect() })
    }
}
