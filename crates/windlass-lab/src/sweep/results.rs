//! The folder of a sweep: its own runs, and those of the shards beside it.
//!
//! The sweep's folder is a batch. A shard is a batch of its own in `shards/I-of-N` below it, so
//! that no two processes ever write to one file; who reads takes the runs of all of them together.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::run::store::{Batch, Notice, RunKey, StoreError, read_journal, share};
use crate::run::{Failed, RunRecord};

/// A part of a sweep's runs: one of `of`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1.
    pub index: u32,
    /// How many there are.
    pub of: u32,
}

impl Shard {
    /// Whether the `i`-th piece of work, from 0, is this shard's.
    pub(super) fn has(self, i: usize) -> bool {
        i % self.of as usize == (self.index - 1) as usize
    }

    fn folder(self, sweep: &Path) -> PathBuf {
        sweep.join(SHARDS).join(format!("{}-of-{}", self.index, self.of))
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let read = || {
            let (index, of) = text.split_once('/')?;
            let shard = Shard { index: index.parse().ok()?, of: of.parse().ok()? };
            (1..=shard.of).contains(&shard.index).then_some(shard)
        };
        read().ok_or_else(|| {
            format!("`{text}` is no shard; write which and of how many, from 1: `3/8`")
        })
    }
}

/// The shards' folders.
const SHARDS: &str = "shards";

/// The runs of a sweep that are finished, and where new ones go.
pub(super) struct Results {
    dir: PathBuf,
    /// `None` when nothing is to be made.
    batch: Option<Batch>,
    /// Held by shards in the sweep's folder, so that no unsharded sweep begins meanwhile.
    _share: Option<File>,
    /// Runs of other journals.
    others: BTreeMap<RunKey, RunRecord>,
    pub(super) notices: Vec<Notice>,
}

impl Results {
    /// Opens the sweep's folder for this shard, or for the whole sweep.
    ///
    /// # Errors
    ///
    /// Another instance works on the same part, or a journal cannot be read.
    pub(super) fn open(dir: &Path, shard: Option<Shard>) -> Result<Results, StoreError> {
        let (own, held) = match shard {
            None => (dir.to_path_buf(), None),
            Some(shard) => (shard.folder(dir), Some(share(dir)?)),
        };
        let (batch, notices) = Batch::open(&own)?;
        let others = gather(dir, Some(&own))?;
        Ok(Results { dir: dir.to_path_buf(), batch: Some(batch), _share: held, others, notices })
    }

    /// What the sweep's folder holds, however many work on it.
    ///
    /// # Errors
    ///
    /// A journal cannot be read.
    pub(super) fn read(dir: &Path) -> Result<Results, StoreError> {
        let others = gather(dir, None)?;
        let notices = Vec::new();
        Ok(Results { dir: dir.to_path_buf(), batch: None, _share: None, others, notices })
    }

    /// The sweep's folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The batch that new runs go into.
    pub(super) fn batch(&self) -> Option<&Batch> {
        self.batch.as_ref()
    }

    /// The record of this very run.
    pub(super) fn get(&self, key: &RunKey) -> Option<&RunRecord> {
        self.batch.as_ref().and_then(|b| b.get(key)).or_else(|| self.others.get(key))
    }

    /// Keeps a finished run; once this returns, it is on disk.
    ///
    /// # Errors
    ///
    /// As [`Batch::append`].
    pub(super) fn append(&mut self, record: &RunRecord) -> Result<(), StoreError> {
        match &mut self.batch {
            Some(batch) => batch.append(record),
            None => unreachable!("results that are only read have no runs to make"),
        }
    }

    /// Waits until every run that was kept is on disk, and notes those that gave no result.
    ///
    /// # Errors
    ///
    /// As [`Batch::commit`] and [`Batch::keep_failures`].
    pub(super) fn commit(&mut self, failed: &[Failed]) -> Result<(), StoreError> {
        let Some(batch) = &mut self.batch else { return Ok(()) };
        batch.commit()?;
        batch.keep_failures(failed)
    }

    /// Every journal's folder that there is.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        folders(&self.dir).unwrap_or_default()
    }
}

/// The sweep's folder and its shards', in order of name.
fn folders(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let shards = dir.join(SHARDS);
    let mut found = vec![dir.to_path_buf()];
    match fs::read_dir(&shards) {
        Ok(entries) => {
            for entry in entries {
                let path = entry.map_err(StoreError::io("read", &shards))?.path();
                if path.is_dir() {
                    found.push(path);
                }
            }
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        Err(e) => return Err(StoreError::io("read", &shards)(e)),
    }
    found[1..].sort();
    Ok(found)
}

/// The runs of all journals but `own`. Of runs made twice, as by shards of another number, the
/// first counts.
fn gather(dir: &Path, own: Option<&Path>) -> Result<BTreeMap<RunKey, RunRecord>, StoreError> {
    let mut runs = BTreeMap::new();
    for folder in folders(dir)?.iter().filter(|f| Some(f.as_path()) != own) {
        for record in read_journal(folder)? {
            runs.entry(RunKey::of(&record)).or_insert(record);
        }
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::fixtures::run;

    fn shard(text: &str) -> Shard {
        text.parse().unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn shards_are_read_as_they_are_written_and_share_the_work_out() {
        assert_eq!(shard("3/8").to_string(), "3/8");
        for text in ["0/8", "9/8", "3", "3/0", "a/b", "-1/2", ""] {
            assert!(text.parse::<Shard>().unwrap_err().contains("`3/8`"), "{text}");
        }
        for i in 0..20 {
            let takers = (1..=3).filter(|k| Shard { index: *k, of: 3 }.has(i)).count();
            assert_eq!(takers, 1);
        }
    }

    #[test]
    fn shards_work_side_by_side_and_are_read_together() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Results::open(dir.path(), Some(shard("1/2"))).unwrap();
        let mut second = Results::open(dir.path(), Some(shard("2/2"))).unwrap();
        let records = [run("e", "p", 1, 1.0), run("e", "p", 2, 2.0), run("e", "p", 3, 3.0)];
        first.append(&records[0]).unwrap();
        second.append(&records[1]).unwrap();
        // Both made it, as shards of different numbers may.
        first.append(&records[2]).unwrap();
        second.append(&records[2]).unwrap();
        // Not the whole sweep meanwhile, nor a shard twice; to look is free.
        assert!(matches!(Results::open(dir.path(), None), Err(StoreError::Locked { .. })));
        let twice = Results::open(dir.path(), Some(shard("1/2")));
        assert!(matches!(twice, Err(StoreError::Locked { .. })));
        let look = Results::read(dir.path()).unwrap();
        drop((first, second));
        let whole = Results::open(dir.path(), None).unwrap();
        for results in [look, whole] {
            for record in &records {
                assert_eq!(results.get(&RunKey::of(record)), Some(record));
            }
        }
        let _whole = Results::open(dir.path(), None).unwrap();
        let shard = Results::open(dir.path(), Some(shard("1/2")));
        assert!(matches!(shard, Err(StoreError::Locked { .. })));
    }

    #[test]
    fn a_half_line_of_a_shard_at_work_is_left_out_and_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let mut first = Results::open(dir.path(), Some(shard("1/2"))).unwrap();
        first.append(&run("e", "p", 1, 1.0)).unwrap();
        let journal = dir.path().join("shards/1-of-2/journal.jsonl");
        let whole = fs::read(&journal).unwrap();
        let half = [whole.as_slice(), &whole[..whole.len() / 2]].concat();
        fs::write(&journal, &half).unwrap();
        assert_eq!(Results::read(dir.path()).unwrap().others.len(), 1);
        assert_eq!(fs::read(&journal).unwrap(), half);
        let damaged = [&whole[..10], b"\n".as_slice(), &whole].concat();
        fs::write(&journal, damaged).unwrap();
        assert!(matches!(Results::read(dir.path()), Err(StoreError::DamagedLine { line: 1, .. })));
    }
}
