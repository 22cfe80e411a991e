//! Windlass's algorithms beside the kernel's own, over the same links.
//!
//! Every algorithm that both have crosses the same networks in the simulator, with the stack preset
//! `linux`, and on a kernel. The link model is one and takes its random choices from the seed, so
//! that the same packets are lost in both until the senders part. [`algorithms`] says what ours are
//! asked for to be as the kernel's are, [`cells`] what the networks are, and [`compare`] what a
//! difference is. What kernels have run is [recorded] in the project.

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
use crate::run::keep::{Filled, Folder};
use crate::run::store::{Notice, replace};
use crate::run::{Failed, RunRecord, Runner, Task, World};
use crate::{Error, report};

pub use page::PAGE;
pub use recorded::RUNS;

/// Name of the folder within the results.
pub const FOLDER: &str = "crosscheck";

/// What a cross-check is to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// The kernel.
    pub world: World,
    /// A handful of networks, one seed.
    pub quick: bool,
    /// Compare what the kernel has run already, running no more of it.
    pub kept: bool,
    /// The file of the kernel's runs, usually [`RUNS`].
    pub runs: PathBuf,
    /// Algorithms by identifier; all when none is named.
    pub algorithms: Vec<String>,
    /// Parts of the grid by the identifier of their experiment; all when none is named.
    pub grids: Vec<String>,
    /// Folder in which the cross-check gets its own.
    pub out: PathBuf,
    /// The command line, for the record.
    pub command: String,
}

/// A cross-check in the course of its work.
pub struct Crosscheck {
    world: World,
    algorithms: Vec<&'static Algorithm>,
    left_out: Vec<&'static str>,
    cells: Vec<CellTasks>,
    recorded: Recorded,
    folder: Folder,
    command: String,
}

/// What a cross-check came to.
#[derive(Debug)]
pub struct Outcome {
    /// The cells that both worlds have run, cheap ones first.
    pub comparisons: Vec<Comparison>,
    /// One line for each algorithm and one for all, single flows.
    pub lines: Vec<Line>,
    /// The tables that a terminal shows and the page holds.
    pub tables: Vec<Table>,
    /// The report's file.
    pub report: PathBuf,
    /// All of the kernel's runs, those of this cross-check included.
    pub recorded: Recorded,
    /// Runs that gave no result.
    pub failed: Vec<Failed>,
}

impl Crosscheck {
    /// Draws up the runs, which `runner` is to make, and opens the folder.
    ///
    /// # Errors
    ///
    /// An option is not right, or the folder cannot be used.
    pub fn prepare(options: &Options, runner: &Runner) -> Result<Crosscheck, Error> {
        if matches!(options.world, World::Sim | World::Ns3) {
            return Err(Error::Input(
                "the cross-check holds the simulator against a kernel; name one with --on, such as \
                 linux-vt=6.12"
                    .to_owned(),
            ));
        }
        let mut algorithms = chosen(&options.algorithms)?;
        let mut left_out = Vec::new();
        // What is named is asked for, and its absence then an error that says what would help.
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
            // A grid cut short has something of everything.
            tasks.sort_by_key(|t| t.seed);
            tasks
        };
        let mut folder = Folder::open(&dir, all(&cells), runner)?;
        if options.kept {
            for cell in &mut cells {
                cell.pairs.retain(|p| p.recorded.is_some() || folder.has(&p.kernel));
            }
            folder.restrict(all(&cells));
        }
        let (world, command) = (options.world, options.command.clone());
        Ok(Crosscheck { world, algorithms, left_out, cells, recorded, folder, command })
    }

    /// Algorithms that this machine's kernel does not offer.
    pub fn left_out(&self) -> &[&'static str] {
        &self.left_out
    }

    /// What the user should know of the folder: a half line that was cut off.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.folder.notices.iter().filter(|n| !matches!(n, Notice::Stale { .. }))
    }

    /// Earlier runs that do not count: of another version of Windlass or of a scenario.
    pub fn stale(&self) -> usize {
        let runs = |n: &Notice| match n {
            Notice::Stale { runs, .. } => *runs,
            _ => 0,
        };
        self.folder.notices.iter().map(runs).sum()
    }

    /// Runs wanted in all, of both worlds, without those that are recorded.
    pub fn total(&self) -> usize {
        self.cells.iter().flat_map(|c| &c.pairs).flat_map(Pair::tasks).count()
    }

    /// Runs that an earlier call has finished.
    pub fn finished(&self) -> usize {
        self.folder.finished()
    }

    /// The worlds that runs are still to be made in.
    pub fn worlds(&self) -> BTreeSet<World> {
        self.folder.worlds()
    }

    /// Makes the runs that are missing, telling `made` of each, writes tables
    /// and report, and says what came out. A kill loses only what was running.
    ///
    /// # Errors
    ///
    /// A run fails or a file cannot be written. What is finished stays.
    pub fn work(
        mut self,
        runner: &Runner,
        made: impl Fn(&RunRecord) + Sync,
    ) -> Result<Outcome, Error> {
        let Filled { records, failed, tables } = self.folder.fill(runner, &self.command, made)?;
        tables?;
        let comparisons = self.compare();
        if comparisons.is_empty() {
            return Err(Error::Input(format!(
                "no run of {} is there yet; the same command without --kept makes them",
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

    /// Adds the kernel's new runs to those that are recorded.
    fn keep_in_mind(&mut self) {
        for CellTasks { cell, pairs } in &self.cells {
            for pair in pairs.iter().filter(|p| p.recorded.is_none()) {
                let Some(record) = self.folder.record(&pair.kernel) else { continue };
                // What emulates its processor changes nothing that is compared.
                let kernel = record.kernel.as_deref().and_then(|k| k.split(' ').next());
                let kernel = kernel.unwrap_or_default();
                let (seed, measures) = (pair.kernel.seed, Measures::of(record));
                self.recorded.put(self.world, kernel, cell, seed, measures);
            }
        }
    }

    fn compare(&self) -> Vec<Comparison> {
        let measured = |task: &Task| Some(Measures::of(self.folder.record(task)?));
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
            title: "Windlass beside the kernel's own congestion control".to_string(),
            summary: sections::SUMMARY.to_string(),
            verdicts: Vec::new(),
            counted: None,
            provenance: vec![
                line("Windlass", crate::run::VERSION.to_string()),
                line("World", self.world.to_string()),
                line("Kernel", Vec::from_iter(kernels).join(", ")),
                line("Runs", records.len().to_string()),
                line("Command", self.command.clone()),
            ],
            sections: sections::all(&names, comparisons, charts),
            ..Report::default()
        };
        let page = report::html::render(&report)?;
        let write = |out: &mut dyn Write| out.write_all(page.as_bytes());
        Ok(replace(self.folder.dir(), "report.html", |out| write(out))?)
    }
}

impl Outcome {
    /// Puts the tables into a page between its marks.
    ///
    /// # Errors
    ///
    /// The page has no marks, or cannot be read or written.
    pub fn write_page(&self, path: &Path) -> Result<(), Error> {
        page::write(path, &self.tables)
    }

    /// Writes the kernel's runs into their file.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write_runs(&self, path: &Path) -> Result<(), Error> {
        Ok(self.recorded.write(path)?)
    }
}

/// Whether a cell is of one of these parts of the grid, of any when none is named.
fn wanted(names: &[String]) -> Result<impl Fn(&Cell) -> bool, Error> {
    let all: Vec<Cell> = grids::all(&Vec::from_iter(ALGORITHMS), false);
    let known: BTreeSet<&str> = all.iter().map(Cell::experiment).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name.as_str())) {
        let known = Vec::from_iter(known).join(", ");
        return Err(Error::Input(format!("\"{name}\" is no part of the grid; there are {known}")));
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
                "\"{name}\" is no algorithm of both worlds; there are {}",
                known.join(", ")
            ))
        })
    };
    let mut chosen = names.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let mut seen = BTreeSet::new();
    chosen.retain(|a| seen.insert(a.id));
    Ok(chosen)
}
