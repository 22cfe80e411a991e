//! Where an instance writes: the batch's own journal, or a part of the batch that is its alone.
//!
//! The batch's journal belongs to the one instance that holds the lock on it. Every other, and every
//! one on a disk without locks, writes into a folder of its own below `parts`, under a name that no other
//! takes; so any number write at once and none waits for another. Who reads takes the runs of all. A part
//! whose writer has ended is moved into the journal by whoever next holds the lock.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files;
use super::journal::{self, Content, JOURNAL, Journal};
use super::meta::{FAILURES, META};

/// The folder of the parts.
const PARTS: &str = "parts";
/// The file that stands for the batch's journal, locked.
const LOCK: &str = "batch.lock";
/// A part with this file has no writer any more.
const FINISHED: &str = "finished";
/// All that a part holds.
const CONTENT: [&str; 4] = [JOURNAL, META, FAILURES, FINISHED];

/// What an instance writes into.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) dir: PathBuf,
    pub(super) journal: Journal,
    /// That on the batch's journal, released when the file closes, which a kill does too; `None` in a part.
    lock: Option<File>,
}

impl Own {
    /// The batch's journal, unless another instance holds it or the disk knows no locks.
    pub(super) fn whole(dir: &Path) -> Result<Option<(Own, Content)>, StoreError> {
        if [LOCK, JOURNAL, PARTS].iter().all(|ours| !dir.join(ours).exists()) {
            files::spare_others(dir)?;
        }
        let Some(lock) = lock(dir)? else { return Ok(None) };
        let (journal, content) = Journal::open(dir)?;
        Ok(Some((Own { dir: dir.to_path_buf(), journal, lock: Some(lock) }, content)))
    }

    /// A new part of the batch in `dir`.
    pub(super) fn part(dir: &Path) -> Result<Own, StoreError> {
        let dir = dir.join(PARTS).join(files::unique());
        files::make_folder(&dir)?;
        let (journal, _) = Journal::open(&dir)?;
        Ok(Own { dir, journal, lock: None })
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        let kept = self.journal.commit().is_ok();
        match &self.lock {
            // To close the file is not enough: a program that another thread is just starting has it too, until
            // it is another program.
            Some(lock) => drop(lock.unlock()),
            // Without it the part stays a part, and its runs count all the same.
            None if kept => drop(File::create(self.dir.join(FINISHED))),
            None => {}
        }
    }
}

fn lock(dir: &Path) -> Result<Option<File>, StoreError> {
    let path = dir.join(LOCK);
    let file = File::options()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        // A disk that knows no locks refuses them in words of its own.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Ok(None),
    }
}

/// The parts of the batch in `dir`, those begun first first.
pub(super) fn all(dir: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let dir = dir.join(PARTS);
    let entries = match fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(StoreError::io("read", &dir)(e)),
    };
    let mut parts = Vec::new();
    for entry in entries {
        parts.push(entry.map_err(StoreError::io("read", &dir))?.path());
    }
    parts.sort();
    Ok(parts)
}

/// What a part holds, and whether nobody writes to it any more and all of it is known here.
pub(super) fn read(part: &Path) -> Result<(Content, bool), StoreError> {
    let finished = part.join(FINISHED).is_file();
    let content = journal::read(part)?;
    let known = content.notices.is_empty();
    Ok((content, finished && known))
}

/// Removes a part whose runs and invocations are elsewhere; what Windlass did not put there stays.
pub(super) fn remove(part: &Path) -> Result<(), StoreError> {
    for name in CONTENT {
        let path = part.join(name);
        match fs::remove_file(&path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io("remove", &path)(e));
            }
            _ => {}
        }
    }
    // Both fail where something else is in them.
    let _ = fs::remove_dir(part);
    let _ = part.parent().map(fs::remove_dir);
    Ok(())
}
