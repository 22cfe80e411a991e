//! Cross-check of Windlass's algorithms with the kernel's own algorithms, over the same links.
//!
//! Every algorithm that both have runs over the same networks in the simulator, with the stack preset `linux`, and
//! on a kernel. Both use the same link model with the same seed. Therefore the same packets are lost until the
//! senders behave differently. [`algorithms`] lists the algorithms, [`cells`] the networks, and [`compare`] defines
//! the differences. The runs of kernels are [recorded] in the project.

pub mod algorithms;
pub mod cases;
pub mod cells;
pub mod compare;
pub mod grids;
pub mod measures;
mod page;
pub mod recorded;
mod sections;
mod tasks;
mod traces;

use tasks::{CellTasks, Pair};

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use algorithms::{ALGORITHMS, Algorithm};
use cells::{Cell, Kind};
use compare::{Comparison, Line};
use measures::Measures;
use recorded::Recorded;

use crate::report::model::{Report, Table};
use crate::run::store::{Notice, replace};
use crate::run::{Failed, Filled, Folder, RunRecord, Runner, Task, World};
use crate::{Error, report};

pub use page::PAGE;
pub use recorded::RUNS;

/// Name of the folder within the results.
pub const FOLDER: &str = "crosscheck";

/// The options of a cross-check.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kernel.
    pub world: World,
    /// True for a few networks with one seed.
    pub quick: bool,
    /// True to compare only the kernel's existing runs and to make no new ones.
    pub kept: bool,
    /// The file of the kernel's runs, usually [`RUNS`].
    pub runs: PathBuf,
    /// Algorithms by identifier; empty for all.
    pub algorithms: Vec<String>,
    /// Parts of the grid by the identifier of their experiment; empty for all.
    pub grids: Vec<String>,
    /// Folder that contains the cross-check's folder.
    pub out: PathBuf,
    /// The command line, for the report.
    pub command: String,
}

/// A cross-check with its folder and its finished runs.
pub struct Crosscheck {
    world: World,
    algorithms: Vec<&'static Algorithm>,
    left_out: Vec<&'static str>,
    cells: Vec<CellTasks>,
    recorded: Recorded,
    folder: Folder,
}

/// Results of a cross-check.
#[derive(Debug)]
pub struct Outcome {
    /// The cells that have runs on both backends, cheap cells first.
    pub comparisons: Vec<Comparison>,
    /// One line for each algorithm and one for all, single flows.
    pub lines: Vec<Line>,
    /// The tables of the terminal and of the page.
    pub tables: Vec<Table>,
    /// The report's file.
    pub report: PathBuf,
    /// All of the kernel's runs, including this cross-check's runs.
    pub recorded: Recorded,
    /// Runs that gave no result.
    pub failed: Vec<Failed>,
}

impl Crosscheck {
    /// Creates the runs for `runner`, and opens the folder.
    ///
    /// # Errors
    ///
    /// An option is not valid, or the folder is not usable.
    pub fn prepare(options: &Options, runner: &Runner) -> Result<Crosscheck, Error> {
        if matches!(options.world, World::Sim | World::Ns3) {
            return Err(Error::Input(
                "the cross-check compares the simulator with a kernel; name a kernel with --on, such as \
                 linux-vt=6.12"
                    .to_owned(),
            ));
        }
        let mut algorithms = chosen(&options.algorithms)?;
        let mut left_out = Vec::new();
        // Without named algorithms, the kernel's missing algorithms are left out. A named algorithm that is missing
        // gives an error later, with a remedy.
        if options.algorithms.is_empty() && options.world == World::Linux {
            let offered = algorithms::of_this_kernel();
            algorithms.retain(|a| {
                let there = offered.iter().any(|name| name == a.id);
                left_out.extend((!there).then_some(a.id));
                there
            });
        }
        let recorded = Recorded::read(&options.runs)?;
        let mut cells = Vec::new();
        let wanted = wanted(&options.grids)?;
        for cell in grids::all(&algorithms, options.quick).into_iter().filter(wanted) {
            cells.push(CellTasks::of(cell, (options.world, options.quick), &recorded)?);
        }
        let dir = options.out.join(FOLDER);
        let all = |cells: &[CellTasks]| -> Vec<Task> {
            let mut tasks: Vec<Task> =
                cells.iter().flat_map(|c| &c.pairs).flat_map(Pair::tasks).collect();
            // Seeds are the outer order, so that an interrupted grid has runs of every cell.
            tasks.sort_by_key(|t| t.seed);
            tasks
        };
        let (tasks, command) = (all(&cells), options.command.clone());
        let mut folder = Folder::open(&dir, tasks, None, &command, runner)?;
        if options.kept {
            for cell in &mut cells {
                cell.pairs.retain(|p| p.recorded.is_some() || folder.campaign().has(&p.kernel));
            }
            folder.restrict(all(&cells));
        }
        let world = options.world;
        Ok(Crosscheck { world, algorithms, left_out, cells, recorded, folder })
    }

    /// Algorithms that this machine's kernel does not offer.
    pub fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }

    /// Notices for the user about the folder, such as a truncated line.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.folder.notices.iter().filter(|n| !matches!(n, Notice::Stale { .. }))
    }

    /// Number of earlier runs that do not count, because they are from another version of Windlass or of a
    /// scenario.
    pub fn stale(&self) -> usize {
        let runs = |n: &Notice| match n {
            Notice::Stale { runs, .. } => *runs,
            _ => 0,
        };
        self.folder.notices.iter().map(runs).sum()
    }

    /// Number of runs on both backends, without the recorded runs.
    pub fn total(&self) -> usize {
        self.folder.total()
    }

    /// Number of runs that an earlier call has finished.
    pub fn finished(&self) -> usize {
        self.folder.finished()
    }

    /// The backends of the missing runs.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.folder.worlds()
    }

    /// Makes the missing runs and calls `made` for each. Then writes the tables and the report, and returns the
    /// results. A kill loses only unfinished runs.
    ///
    /// # Errors
    ///
    /// A run fails or a file is not writable. Finished runs are kept.
    pub fn work(
        mut self,
        runner: &Runner,
        made: impl Fn(&RunRecord) + Sync,
    ) -> Result<Outcome, Error> {
        let Filled { records, failed, tables } = self.folder.fill(runner, made)?;
        tables?;
        let comparisons = self.compare();
        if comparisons.is_empty() {
            return Err(Error::Input(format!(
                "no run of {} exists yet; run the same command without --kept",
                self.world
            )));
        }
        let names: Vec<&str> = self.algorithms.iter().map(|a| a.id).collect();
        let single: Vec<Comparison> =
            comparisons.iter().filter(|c| c.cell.kind == Kind::Single).cloned().collect();
        let lines = compare::lines(&names, &single);
        let tables = sections::tables(&names, &comparisons);
        let report = self.write_report(&records, &comparisons)?;
        self.keep_in_mind();
        Ok(Outcome { comparisons, lines, tables, report, recorded: self.recorded, failed })
    }

    /// Adds the kernel's new runs to the recorded runs.
    fn keep_in_mind(&mut self) {
        for CellTasks { cell, pairs } in &self.cells {
            for pair in pairs.iter().filter(|p| p.recorded.is_none()) {
                let Some(record) = self.folder.campaign().record(&pair.kernel) else { continue };
                // The first word is the kernel's release. The rest names the emulator of its processor, which does
                // not affect the compared values.
                let kernel = record.kernel.as_deref().and_then(|k| k.split(' ').next());
                let kernel = kernel.unwrap_or_default();
                let (seed, measures) = (pair.kernel.seed, Measures::of(record));
                self.recorded.put(self.world, kernel, cell, seed, measures);
            }
        }
    }

    fn compare(&self) -> Vec<Comparison> {
        let measured = |task: &Task| Some(Measures::of(self.folder.campaign().record(task)?));
        let of = |cell: &CellTasks| {
            let pair = |p: &Pair| {
                let kernel = p.recorded.clone().or_else(|| measured(&p.kernel))?;
                Some((kernel, measured(&p.ours)?))
            };
            Comparison::of(cell.cell, cell.pairs.iter().filter_map(pair).collect())
        };
        self.cells.iter().filter_map(of).collect()
    }

    fn write_report(
        &self,
        records: &[RunRecord],
        comparisons: &[Comparison],
    ) -> Result<PathBuf, Error> {
        let names: Vec<&str> = self.algorithms.iter().map(|a| a.id).collect();
        let charts = traces::charts(&self.folder, &self.cells)?;
        let kernels: BTreeSet<&str> = records.iter().filter_map(|r| r.kernel.as_deref()).collect();
        let line = |label: &str, value: String| (label.to_string(), value);
        let report = Report {
            title: "Windlass compared with the kernel's own congestion control".to_string(),
            summary: sections::SUMMARY.to_string(),
            verdicts: Vec::new(),
            counted: None,
            provenance: vec![
                line("Windlass", crate::run::VERSION.to_string()),
                line("World", self.world.to_string()),
                line("Kernel", Vec::from_iter(kernels).join(", ")),
                line("Runs", records.len().to_string()),
                line("Command", self.folder.campaign().command().to_owned()),
            ],
            sections: sections::all(&names, comparisons, charts),
            ..Report::default()
        };
        let page = report::html::render(&report)?;
        let write = |out: &mut dyn Write| out.write_all(page.as_bytes());
        Ok(replace(self.folder.campaign().batch().dir(), "report.html", |out| write(out))?)
    }
}

impl Outcome {
    /// Writes the tables into a page, between its marks.
    ///
    /// # Errors
    ///
    /// The page has no marks, or is not readable or writable.
    pub fn write_page(&self, path: &Path) -> Result<(), Error> {
        page::write(path, &self.tables)
    }

    /// Writes the kernel's runs into their file.
    ///
    /// # Errors
    ///
    /// The file is not writable.
    pub fn write_runs(&self, path: &Path) -> Result<(), Error> {
        Ok(self.recorded.write(path)?)
    }
}

/// True for a cell of one of these parts of the grid; without names, for every cell.
fn wanted(names: &[String]) -> Result<impl Fn(&Cell) -> bool, Error> {
    let all: Vec<Cell> = grids::all(&Vec::from_iter(ALGORITHMS), false);
    let known: BTreeSet<&str> = all.iter().map(Cell::experiment).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(Error::Input(format!(
            "\"{name}\" is not a part of the grid; expected {known}"
        )));
    }
    let names = names.to_vec();
    Ok(move |cell: &Cell| names.is_empty() || names.iter().any(|name| name == cell.experiment()))
}

fn chosen(names: &[String]) -> Result<Vec<&'static Algorithm>, Error> {
    if names.is_empty() {
        return Ok(ALGORITHMS.iter().collect());
    }
    let find = |name: &String| {
        algorithms::by_id(name).ok_or_else(|| {
            let known: Vec<&str> = ALGORITHMS.iter().map(|a| a.id).collect();
            Error::Input(format!(
                "\"{name}\" is not an algorithm of both Linux and Windlass; expected {}",
                known.join(", ")
            ))
        })
    };
    let mut chosen = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut seen = BTreeSet::new();
    chosen.retain(|a| seen.insert(a.id));
    Ok(chosen)
}
