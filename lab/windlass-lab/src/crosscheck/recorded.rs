//! The kernel's runs as data of the project: a file with a line for each, so that the simulator can be compared
//! without a kernel.
//!
//! A run is identified by its cell's point, which describes the network completely, by its seed and by the series
//! of the kernel. It stays valid if Windlass's algorithms, endpoint or simulator change, because it contains only
//! the link model. After a change of the effect of links or of their random values, increase `LINK_MODEL`.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::cells::Cell;
use super::measures::Measures;
use crate::Error;
use crate::experiment::FileError;
use crate::run::World;
use crate::run::store::{StoreError, replace};

/// The file, relative to the project's folder.
pub const RUNS: &str = "conformance/linux/runs.csv";
/// Version of the link model. Increase it if links, queues or their losses behave differently with the same
/// scenario.
const LINK_MODEL: u32 = 1;

/// Number of fields of a line: three that identify the run, and its measures.
const FIELDS: usize = 3 + Measures::COLUMNS.len();

/// A run of a kernel.
#[derive(Clone, Debug, PartialEq)]
struct Run {
    /// The kernel's release.
    kernel: String,
    /// The cell's point, with spaces instead of commas.
    cell: String,
    seed: u64,
    measures: Measures,
}

/// The kernel's runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded(Vec<Run>);

impl Recorded {
    /// Reads the file. Runs of another link model are ignored. Without a file the list is empty.
    ///
    /// # Errors
    ///
    /// The file exists and is not readable.
    pub fn read(path: &Path) -> Result<Recorded, Error> {
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Recorded::default()),
            Err(e) => return Err(StoreError::io("read", path)(e).into()),
        };
        if text.lines().next() != Some(&title()) {
            return Ok(Recorded::default());
        }
        let run = |(line, text): (usize, &str)| {
            let fail = || {
                let message = format!("a run has {FIELDS} fields");
                Error::File(FileError::in_line(&path.display().to_string(), line, message))
            };
            parse(text).ok_or_else(fail)
        };
        (1..).zip(text.lines()).skip(2).map(run).collect::<Result<_, _>>().map(Recorded)
    }

    /// Results of a cell on a kernel of this backend.
    pub fn get(&self, world: World, cell: &Cell, seed: u64) -> Option<&Measures> {
        self.run(world, &key(cell), seed).map(|place| &self.0[place].measures)
    }

    /// Adds a run of a kernel of this release. It replaces a run of the same series.
    pub fn put(&mut self, world: World, kernel: &str, cell: &Cell, seed: u64, measures: Measures) {
        let run = Run { kernel: kernel.to_string(), cell: key(cell), seed, measures };
        match self.run(world, &run.cell, seed) {
            Some(place) => self.0[place] = run,
            None => self.0.push(run),
        }
    }

    fn run(&self, world: World, cell: &str, seed: u64) -> Option<usize> {
        let World::LinuxVt(series) = world else { return None };
        let series = format!("{series}.");
        let is =
            |run: &Run| run.seed == seed && run.cell == cell && run.kernel.starts_with(&series);
        self.0.iter().position(is)
    }

    /// Writes the file, with its lines in order.
    ///
    /// # Errors
    ///
    /// The file is not writable.
    pub fn write(&self, path: &Path) -> Result<(), StoreError> {
        let mut runs: Vec<&Run> = self.0.iter().collect();
        runs.sort_by(|a, b| (&a.kernel, &a.cell, a.seed).cmp(&(&b.kernel, &b.cell, b.seed)));
        let mut text = format!("{}\nkernel,cell,seed,{}\n", title(), Measures::COLUMNS.join(","));
        for Run { kernel, cell, seed, measures } in runs {
            text += &format!("{kernel},{cell},{seed},{}\n", measures.fields().join(","));
        }
        let dir = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or("runs.csv");
        replace(dir, name, |out| out.write_all(text.as_bytes()))?;
        Ok(())
    }
}

fn title() -> String {
    format!("# Runs of Linux kernels, by `windlass crosscheck --write`; link model {LINK_MODEL}")
}

/// The cell's point as a field of a line, with one space instead of each comma.
fn key(cell: &Cell) -> String {
    let point = cell.point();
    let words = point.split([',', ' ']).filter(|word| !word.is_empty());
    Vec::from_iter(words).join(" ").replace(" = ", "=")
}

fn parse(line: &str) -> Option<Run> {
    let fields: Vec<&str> = line.split(',').collect();
    let [kernel, cell, seed, measures @ ..] = &fields[..] else { return None };
    Some(Run {
        kernel: kernel.to_string(),
        cell: cell.to_string(),
        seed: seed.parse().ok()?,
        measures: Measures::parse(measures)?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::algorithms::ALGORITHMS;
    use super::*;

    fn measures(goodput_bps: f64) -> Measures {
        Measures { parts_bps: [goodput_bps, 0.0], srtt_ms: None, ..Measures::default() }
    }

    #[test]
    fn a_run_is_found_by_its_series_and_replaced() {
        let [old, new] = ["linux-vt=6.1", "linux-vt=6.12"].map(|w| w.parse().expect("a world"));
        let cell = Cell::grid(&[&ALGORITHMS[0]], true)[0];
        let mut runs = Recorded::default();
        runs.put(new, "6.12.1-amd64", &cell, 1, measures(1e6));
        runs.put(new, "6.12.2-amd64", &cell, 1, measures(2e6));
        runs.put(old, "6.1.3-amd64", &cell, 1, measures(3e6));
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("runs.csv");
        runs.write(&path).expect("written");
        let read = Recorded::read(&path).expect("read");
        assert_eq!(read.get(new, &cell, 1), Some(&measures(2e6)));
        assert_eq!(read.get(old, &cell, 1), Some(&measures(3e6)));
        assert_eq!(read.get(new, &cell, 2), None);
        assert_eq!(read.get(World::Linux, &cell, 1), None, "a machine's kernel is not recorded");
    }

    #[test]
    fn every_recorded_run_belongs_to_a_cell_of_the_grid() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(RUNS);
        let Recorded(runs) = Recorded::read(&path).expect("read");
        let algorithms: Vec<_> = ALGORITHMS.iter().collect();
        let cells: Vec<String> =
            crate::crosscheck::grids::all(&algorithms, false).iter().map(key).collect();
        let strange: Vec<&Run> = runs.iter().filter(|run| !cells.contains(&run.cell)).collect();
        assert!(!runs.is_empty() && strange.is_empty(), "{strange:?}");
    }

    #[test]
    fn runs_of_another_link_model_are_ignored_and_a_truncated_line_is_an_error() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("runs.csv");
        assert_eq!(Recorded::read(&path).expect("none"), Recorded::default());
        fs::write(&path, "# link model 0\nkernel\n6.12.1,a,1\n").expect("written");
        assert_eq!(Recorded::read(&path).expect("others"), Recorded::default());
        fs::write(&path, format!("{}\nkernel\n6.12.1,a,1\n", title())).expect("written");
        let problem = Recorded::read(&path).expect_err("half a line").to_string();
        assert!(problem.contains("runs.csv:3:1: "), "{problem}");
    }
}
