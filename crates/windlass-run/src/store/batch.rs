//! A batch: the folder that runs go into, and what is known of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::export::{self, Format, Provenance};
use super::journal::Content;
use super::meta::{Invocation, Meta, read_meta};
use super::parts::{self, Own};
use super::table::{self, SeriesRun};
use super::{Store, files, journal};
use crate::{Failed, RunRecord, Runner, version};

/// What makes a run this run: the same key means the same result.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RunKey {
    /// Experiment identifier.
    pub experiment: String,
    /// Point identifier.
    pub point: String,
    /// Seed.
    pub seed: u64,
    /// Hash of the resolved scenario.
    pub scenario_hash: String,
    /// The world it runs in.
    pub world: String,
    /// What its results are results of: the part of the record's version after the `+`.
    pub version: String,
}

impl RunKey {
    /// The key of a finished run.
    pub fn of(record: &RunRecord) -> RunKey {
        RunKey {
            experiment: record.experiment.clone(),
            point: record.point.clone(),
            seed: record.seed,
            scenario_hash: record.scenario_hash.clone(),
            world: record.world.clone(),
            version: version::results(&record.version).to_owned(),
        }
    }

    /// The part that names a run's place in the batch, whatever made it.
    fn place(&self) -> (&str, &str, u64) {
        (&self.experiment, &self.point, self.seed)
    }
}

impl fmt::Display for RunKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the run of {} at {:?} with seed {}", self.experiment, self.point, self.seed)
    }
}

/// The runs that gave no result when they were last tried.
pub const FAILURES: &str = "failures.jsonl";

/// The batch's own folders.
const SCENARIOS: &str = "scenarios";
const SERIES: &str = "series";
const CAPTURES: &str = "captures";

/// Where the files of a point stand. Each form of its scenario has its own, so that no setting ever
/// removes or overwrites what another has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// Experiment identifier.
    pub experiment: &'a str,
    /// Point identifier.
    pub point: &'a str,
    /// The form of its scenario: see [`Task::form`](crate::Task::form).
    pub form: &'a str,
}

impl Place<'_> {
    /// `POINT@FORM`, which no identifier of a point alone becomes.
    fn name(&self) -> String {
        format!("{}@{}", files::file_name(self.point), self.form)
    }
}

fn scenario_name(place: Place<'_>) -> String {
    format!("{}.toml", place.name())
}

/// Something about a batch that its user should know, though work can go on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The journal's last line was half or damaged, and was cut off; its run is made again.
    CutOff {
        /// Line number, from 1.
        line: usize,
        /// Its bytes.
        bytes: usize,
    },
    /// An intact line is of a form that this version does not know. It stays and is ignored.
    Foreign {
        /// Line number, from 1.
        line: usize,
    },
    /// A line says what an earlier one said, and is ignored.
    RepeatedLine {
        /// Line number, from 1.
        line: usize,
    },
    /// Another instance is at work, or the disk has no locks to tell.
    Beside,
    /// Runs that another version made, another kernel, or another form of the scenario. They stay and are ignored.
    Stale {
        /// Experiment identifier.
        experiment: String,
        /// Point identifier.
        point: String,
        /// How many runs.
        runs: usize,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::CutOff { line, bytes } => write!(
                f,
                "line {line} of the journal was incomplete ({bytes} bytes, as a killed run leaves \
                 it) and was removed; its run has to be made again"
            ),
            Notice::Foreign { line } => write!(
                f,
                "line {line} of the journal was written by another version of Windlass and is \
                 ignored"
            ),
            Notice::RepeatedLine { line } => {
                write!(f, "line {line} of the journal repeats an earlier one and is ignored")
            }
            Notice::Beside => f.write_str(
                "another Windlass is at work in this folder, or its disk has no locks to tell; what each \
                 makes counts for both, and what both are making now is made twice",
            ),
            Notice::Stale { experiment, point, runs } => write!(
                f,
                "{runs} earlier runs of {experiment} at {point:?} come from another version of \
                 Windlass, of the scenario or of the kernel and do not count"
            ),
        }
    }
}

/// An open batch. Several instances may have the same folder open and write at once.
#[derive(Debug)]
pub struct Batch {
    dir: PathBuf,
    records: Vec<RunRecord>,
    /// Place in `records` by key.
    index: BTreeMap<RunKey, usize>,
    /// Keys of runs that were made on another kernel than the one there is.
    outdated: Vec<RunKey>,
    /// What this instance writes into; none before it writes where another holds the journal.
    own: Option<Own>,
}

impl Batch {
    /// Opens the batch in `dir`, or begins one there. A half line that a killed instance left at
    /// the end of the journal is removed and told in a notice.
    ///
    /// # Errors
    ///
    /// `dir` is no folder and cannot become one, cannot be written, or a journal in it is damaged before
    /// the last line.
    pub fn open(dir: impl AsRef<Path>) -> Result<(Batch, Vec<Notice>), StoreError> {
        let dir = dir.as_ref();
        files::make_folder(dir)?;
        let Some((own, content)) = Own::whole(dir)? else {
            let (batch, mut notices) = Batch::share(dir)?;
            notices.push(Notice::Beside);
            return Ok((batch, notices));
        };
        files::sweep_temporaries(dir)?;
        // Only the batch's own folders: `dir` may hold anything besides.
        [SCENARIOS, SERIES, CAPTURES]
            .iter()
            .try_for_each(|sub| files::sweep_tree(&dir.join(sub)))?;
        let mut batch = Batch::empty(dir);
        batch.own = Some(own);
        let notices = batch.take(content);
        for part in parts::all(dir)? {
            batch.take_in(&part)?;
        }
        batch.commit()?;
        Ok((batch, notices))
    }

    /// The batch in `dir` as it stands, to look at or to take part in beside others: what is kept goes
    /// into a part of its own. Nothing is made or changed before that, and `dir` need not exist.
    ///
    /// # Errors
    ///
    /// A journal cannot be read, or is damaged before its last line.
    pub fn share(dir: impl AsRef<Path>) -> Result<(Batch, Vec<Notice>), StoreError> {
        let dir = dir.as_ref();
        if dir.is_file() {
            return Err(StoreError::NotAFolder { path: dir.to_path_buf() });
        }
        // Before the journal, which what is in them may be moved to meanwhile.
        let parts = parts::all(dir)?;
        let parts = parts.iter().map(|p| parts::read(p)).collect::<Result<Vec<_>, _>>()?;
        let mut batch = Batch::empty(dir);
        let notices = batch.take(journal::read(dir)?);
        for (content, _) in parts {
            batch.take(content);
        }
        Ok((batch, notices))
    }

    fn empty(dir: &Path) -> Batch {
        Batch {
            dir: dir.to_path_buf(),
            records: Vec::new(),
            index: BTreeMap::new(),
            outdated: Vec::new(),
            own: None,
        }
    }

    /// Knows the runs of a journal; of runs made twice the first counts.
    fn take(&mut self, content: Content) -> Vec<Notice> {
        let mut notices = content.notices;
        for (line, record) in content.records {
            let key = RunKey::of(&record);
            // On another kernel it is another run, and the last counts unless it is said which kernel does.
            if self.get(&key).is_some_and(|known| known.kernel == record.kernel) {
                notices.push(Notice::RepeatedLine { line });
            } else {
                self.remember(key, record);
            }
        }
        notices
    }

    /// Knows the runs of a part, and moves them into the journal if its writer has ended.
    fn take_in(&mut self, part: &Path) -> Result<(), StoreError> {
        let (content, ended) = parts::read(part)?;
        if !ended {
            self.take(content);
            return Ok(());
        }
        for (_, record) in content.records {
            if !self.has(&RunKey::of(&record)) {
                self.append(record)?;
            }
        }
        let meta = Meta { invocations: [read_meta(&self.dir)?, read_meta(part)?].concat() };
        meta.write(&self.dir)?;
        self.commit()?;
        parts::remove(part)
    }

    /// What this instance writes into.
    fn own(&mut self) -> Result<&mut Own, StoreError> {
        if self.own.is_none() {
            files::make_folder(&self.dir)?;
            self.own = Some(Own::part(&self.dir)?);
        }
        match &mut self.own {
            Some(own) => Ok(own),
            None => unreachable!("it was begun just now"),
        }
    }

    /// The folder that the failures and calls of this instance are noted in.
    pub fn own_dir(&self) -> &Path {
        self.own.as_ref().map_or(&self.dir, |own| &own.dir)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Every run in the journal in order of writing, stale ones included.
    pub fn records(&self) -> &[RunRecord] {
        &self.records
    }

    /// Whether this very run is finished.
    pub fn has(&self, key: &RunKey) -> bool {
        self.index.contains_key(key)
    }

    /// Of the runs on kernels only those count from now on that were made on what the runner's back ends have
    /// now, as far as they can tell.
    pub fn count_only(&mut self, runner: &Runner) {
        let mut releases: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let mut index = BTreeMap::new();
        for (place, record) in self.records.iter().enumerate() {
            let release =
                releases.entry(&record.world).or_insert_with(|| runner.release(&record.world));
            let counts = release.is_none() || *release == record.kernel;
            let key = RunKey::of(record);
            if counts {
                index.insert(key, place);
            } else {
                self.outdated.push(key);
            }
        }
        self.index = index;
    }

    /// Notices on runs in the journal that are at the place of a wanted one (experiment, point
    /// and seed) but were made by another version or from another scenario, and so do not count.
    pub fn stale(&self, wanted: &[RunKey]) -> Vec<Notice> {
        let keys: BTreeSet<&RunKey> = wanted.iter().collect();
        let places: BTreeSet<_> = wanted.iter().map(RunKey::place).collect();
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for key in self.index.keys() {
            if places.contains(&key.place()) && !keys.contains(key) {
                *counts.entry((&key.experiment, &key.point)).or_default() += 1;
            }
        }
        for key in self.outdated.iter().filter(|key| places.contains(&key.place())) {
            *counts.entry((&key.experiment, &key.point)).or_default() += 1;
        }
        let notice = |((experiment, point), runs): ((&str, &str), usize)| Notice::Stale {
            experiment: experiment.into(),
            point: point.into(),
            runs,
        };
        counts.into_iter().map(notice).collect()
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.own.as_mut().map_or(Ok(()), |own| own.journal.commit())
    }

    fn remember(&mut self, key: RunKey, record: RunRecord) {
        self.index.insert(key, self.records.len());
        self.records.push(record);
    }

    /// Keeps the resolved scenario of a point under its form, and returns where. It is there whole or
    /// not at all; should the machine fail, the next call writes it again.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write_scenario(&self, place: Place<'_>, toml: &str) -> Result<PathBuf, StoreError> {
        let path = self.scenario_path(place);
        let dir = self.scenarios_of(place.experiment);
        match fs::read(&path) {
            Ok(there) if there == toml.as_bytes() => Ok(path),
            _ => files::put(&dir, &scenario_name(place), |out| out.write_all(toml.as_bytes())),
        }
    }

    /// Where [`Batch::write_scenario`] keeps the scenario of a point.
    pub fn scenario_path(&self, place: Place<'_>) -> PathBuf {
        self.scenarios_of(place.experiment).join(scenario_name(place))
    }

    fn scenarios_of(&self, experiment: &str) -> PathBuf {
        self.dir.join(SCENARIOS).join(files::file_name(experiment))
    }

    /// Keeps the time series of a run as Parquet, and returns where. To be called before
    /// [`Store::append`] of the same run, so that a finished run has its series.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write_series(
        &self,
        run: SeriesRun<'_>,
        provenance: &Provenance,
    ) -> Result<PathBuf, StoreError> {
        let dir = self.folder_of(SERIES, run.place);
        let name = run.seed.to_string();
        export::export(&dir, &name, Format::Parquet, table::series([run]), provenance)
    }

    /// Where [`Batch::write_series`] keeps the time series of a run.
    pub fn series_path(&self, place: Place<'_>, seed: u64) -> PathBuf {
        self.folder_of(SERIES, place).join(format!("{seed}.parquet"))
    }

    /// Where [`Batch::write_capture`] keeps the packets of a run.
    pub fn capture_path(&self, place: Place<'_>, seed: u64) -> PathBuf {
        self.folder_of(CAPTURES, place).join(format!("{seed}.pcapng"))
    }

    /// Keeps the packets of a run as `write` puts them into a pcapng file, and returns where. To
    /// be called before [`Store::append`] of the same run, as [`Batch::write_series`].
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn write_capture(
        &self,
        place: Place<'_>,
        seed: u64,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> Result<PathBuf, StoreError> {
        let dir = self.folder_of(CAPTURES, place);
        files::replace(&dir, &format!("{seed}.pcapng"), write)
    }

    fn folder_of(&self, kind: &str, place: Place<'_>) -> PathBuf {
        self.dir.join(kind).join(files::file_name(place.experiment)).join(place.name())
    }

    /// The calls that have worked on this batch, in order.
    ///
    /// # Errors
    ///
    /// `meta.json` is there but cannot be read or understood.
    pub fn invocations(&self) -> Result<Vec<Invocation>, StoreError> {
        let mut all = read_meta(&self.dir)?;
        for part in parts::all(&self.dir)? {
            all.extend(read_meta(&part)?);
        }
        Ok(all)
    }

    /// Adds a call to `meta.json`.
    ///
    /// # Errors
    ///
    /// `meta.json` cannot be understood or written.
    pub fn add_invocation(&mut self, invocation: &Invocation) -> Result<(), StoreError> {
        let dir = &self.own()?.dir;
        let mut meta = Meta { invocations: read_meta(dir)? };
        meta.invocations.push(invocation.clone());
        meta.write(dir)
    }
}

impl Store for Batch {
    fn get(&self, key: &RunKey) -> Option<&RunRecord> {
        self.index.get(key).map(|&i| &self.records[i])
    }

    /// Once this returns, the run outlives the process, and once [`Store::finish`] has returned after it,
    /// the machine. Runs that come in quick succession are committed together.
    fn append(&mut self, record: RunRecord) -> Result<(), StoreError> {
        let key = RunKey::of(&record);
        if self.has(&key) {
            return Err(StoreError::Repeated { key: Box::new(key) });
        }
        self.own()?.journal.append(&journal::encode(&record)?)?;
        self.remember(key, record);
        Ok(())
    }

    fn finish(&mut self, failed: &[Failed]) -> Result<(), StoreError> {
        self.commit()?;
        let Some(Own { dir, .. }) = &self.own else { return Ok(()) };
        if failed.is_empty() && !dir.join(FAILURES).is_file() {
            return Ok(());
        }
        files::replace(dir, FAILURES, |out| {
            for line in failed {
                serde_json::to_writer(&mut *out, line)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        })?;
        Ok(())
    }
}
