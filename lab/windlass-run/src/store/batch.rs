//! A batch: the folder of the runs, and its index.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::export::{self, Format, Provenance};
use super::journal::{self, Content};
use super::meta::{FAILURES, Invocation, Meta, read_meta};
use super::notice::Notice;
use super::parts::{self, Own};
use super::table::{self, SeriesRun};
use super::{Store, files};
use crate::key::{Place, RunKey};
use crate::record::RunRecord;
use crate::task::Failed;

/// The batch's subfolders.
const SCENARIOS: &str = "scenarios";
const SERIES: &str = "series";
const CAPTURES: &str = "captures";

/// An open batch. Several instances may have the same folder open, and write at the same time.
#[derive(Debug)]
pub struct Batch {
    dir: PathBuf,
    records: Vec<RunRecord>,
    /// Index in `records` by key.
    index: BTreeMap<RunKey, usize>,
    /// Keys of runs that were executed on another kernel than the present kernel.
    outdated: Vec<RunKey>,
    /// The place to which this instance writes. `None` until the first write, if another instance holds the
    /// journal.
    own: Option<Own>,
}

impl Batch {
    /// Opens the batch in `dir`, or begins a batch there. An incomplete line that a killed instance left at
    /// the end of the journal is removed, with a notice.
    ///
    /// # Errors
    ///
    /// `dir` is not a folder and cannot become one, cannot be written, or has a journal that is damaged
    /// before its last line.
    pub fn open(dir: impl AsRef<Path>) -> Result<(Batch, Vec<Notice>), StoreError> {
        let dir = dir.as_ref();
        files::make_folder(dir)?;
        let Some((own, content)) = Own::whole(dir)? else {
            let (batch, mut notices) = Batch::share(dir)?;
            notices.push(Notice::Beside);
            return Ok((batch, notices));
        };
        files::sweep_temporaries(dir)?;
        // Only the batch's subfolders, because `dir` may hold other files.
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

    /// Opens the batch in `dir` for reading, or for writing next to other instances. New runs go into a
    /// separate part. Before the first write, this method creates and changes nothing, and `dir` need not
    /// exist.
    ///
    /// # Errors
    ///
    /// A journal cannot be read, or is damaged before its last line.
    pub fn share(dir: impl AsRef<Path>) -> Result<(Batch, Vec<Notice>), StoreError> {
        let dir = dir.as_ref();
        if dir.is_file() {
            return Err(StoreError::NotAFolder { path: dir.to_path_buf() });
        }
        // Before the journal, because their runs may be moved to the journal in the meantime.
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

    /// Adds the runs of a journal to the index. If a run is repeated, the first counts.
    fn take(&mut self, content: Content) -> Vec<Notice> {
        let mut notices = content.notices;
        let mut repeated = None;
        for (line, record) in content.records {
            let key = RunKey::of(&record);
            // A run on another kernel is another run; the last counts unless `count_only` selects a kernel.
            if self.get(&key).is_some_and(|known| known.kernel == record.kernel) {
                repeated.get_or_insert((line, 0)).1 += 1;
            } else {
                self.remember(key, record);
            }
        }
        notices.extend(repeated.map(|(line, lines)| Notice::Repeated { line, lines }));
        notices
    }

    /// Adds the runs of a part to the index. If the part's writer has ended, moves them into the journal.
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

    /// The place to which this instance writes.
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

    /// The folder that records the failures and calls of this instance.
    pub fn own_dir(&self) -> &Path {
        self.own.as_ref().map_or(&self.dir, |own| &own.dir)
    }

    /// The folder.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Every run in the journal in order of writing, including stale runs.
    pub fn records(&self) -> &[RunRecord] {
        &self.records
    }

    /// True if this exact run is finished.
    pub fn has(&self, key: &RunKey) -> bool {
        self.index.contains_key(key)
    }

    /// Limits the valid runs on kernels to runs on the kernels that the runner's backends use now, if they
    /// are known.
    pub fn count_only(&mut self, release: impl Fn(&str) -> Option<String>) {
        let mut releases: BTreeMap<&str, Option<String>> = BTreeMap::new();
        let mut index = BTreeMap::new();
        for (place, record) in self.records.iter().enumerate() {
            let now = releases.entry(&record.world).or_insert_with(|| release(&record.world));
            let counts = now.is_none() || *now == record.kernel;
            let key = RunKey::of(record);
            if counts {
                index.insert(key, place);
            } else {
                self.outdated.push(key);
            }
        }
        self.index = index;
    }

    /// Notices about stale runs in the journal, one for each experiment. They have the place of a wanted run (experiment,
    /// point and seed), but belong to another version or another scenario.
    pub fn stale(&self, wanted: &[RunKey]) -> Vec<Notice> {
        let keys: BTreeSet<&RunKey> = wanted.iter().collect();
        let places: BTreeSet<_> = wanted.iter().map(RunKey::place).collect();
        let replaced = self.index.keys().filter(|key| !keys.contains(key));
        let mut stale: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for key in replaced.chain(&self.outdated).filter(|key| places.contains(&key.place())) {
            stale.entry(&key.experiment).or_default().push(&key.point);
        }
        let notice = |(experiment, of_runs): (&str, Vec<&str>)| {
            let points: BTreeSet<&str> = of_runs.iter().copied().collect();
            Notice::Stale {
                experiment: experiment.into(),
                point: points.first().copied().unwrap_or_default().into(),
                points: points.len(),
                runs: of_runs.len(),
            }
        };
        stale.into_iter().map(notice).collect()
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.own.as_mut().map_or(Ok(()), |own| own.journal.commit())
    }

    fn remember(&mut self, key: RunKey, record: RunRecord) {
        self.index.insert(key, self.records.len());
        self.records.push(record);
    }

    /// Writes the resolved scenario of a point under its form, and returns its path. The file is complete or
    /// missing. If the machine fails, the next call writes it again.
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

    /// The path of the scenario that [`Batch::write_scenario`] writes.
    pub fn scenario_path(&self, place: Place<'_>) -> PathBuf {
        self.scenarios_of(place.experiment).join(scenario_name(place))
    }

    fn scenarios_of(&self, experiment: &str) -> PathBuf {
        self.dir.join(SCENARIOS).join(files::file_name(experiment))
    }

    /// Writes the time series of a run as Parquet, and returns the path. Call it before [`Store::append`] of
    /// the same run, so that a finished run has its series.
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

    /// The path of the time series that [`Batch::write_series`] writes.
    pub fn series_path(&self, place: Place<'_>, seed: u64) -> PathBuf {
        self.folder_of(SERIES, place).join(format!("{seed}.parquet"))
    }

    /// The path of the packets that [`Batch::write_capture`] writes.
    pub fn capture_path(&self, place: Place<'_>, seed: u64) -> PathBuf {
        self.folder_of(CAPTURES, place).join(format!("{seed}.pcapng"))
    }

    /// Writes the packets of a run with `write` as a pcapng file, and returns the path. Call it before
    /// [`Store::append`] of the same run, as [`Batch::write_series`].
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
        self.dir.join(kind).join(files::file_name(place.experiment)).join(form_name(place))
    }

    /// The calls that have worked on this batch, in order.
    ///
    /// # Errors
    ///
    /// `meta.json` exists but cannot be read or parsed.
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
    /// `meta.json` cannot be parsed or written.
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

    /// After this method has returned, the run survives the end of the process. After a later
    /// [`Store::finish`] has returned, it survives a failure of the machine. Runs in quick succession are
    /// committed together.
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

/// `POINT@FORM`. No identifier of a point alone has this form.
fn form_name(place: Place<'_>) -> String {
    format!("{}@{}", files::file_name(place.point), place.form)
}

fn scenario_name(place: Place<'_>) -> String {
    format!("{}.toml", form_name(place))
}
