//! The place to which an instance writes: the batch's journal, or a separate part of the batch.
//!
//! The batch's journal belongs to the one instance that holds the lock on it. Every other instance, and every
//! instance on a disk without locks, writes into a separate folder below `parts` with a unique name. Any number
//! of instances can therefore write at once without waiting. A reader reads the runs of all parts. If the
//! writer of a part has ended, the next instance with the lock moves the part into the journal.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::error::StoreError;
use super::files;
use super::journal::{self, Content, JOURNAL, Journal};
use super::meta::{FAILURES, META};

/// The folder of the parts.
const PARTS: &str = "parts";
/// The lock file of the batch's journal.
const LOCK: &str = "batch.lock";
/// The file that marks a part whose writer has ended.
const FINISHED: &str = "finished";
/// All files of a part.
const CONTENT: [&str; 4] = [JOURNAL, META, FAILURES, FINISHED];

/// The place to which an instance writes.
#[derive(Debug)]
pub(super) struct Own {
    pub(super) dir: PathBuf,
    pub(super) journal: Journal,
    /// The lock on the batch's journal; `None` in a part. Closing the file releases it, also after a kill.
    lock: Option<File>,
}

impl Own {
    /// The batch's journal, unless another instance holds it or the disk has no locks.
    pub(super) fn whole(dir: &Path) -> Result<Option<(Own, Content)>, StoreError> {
        let is_new = || [LOCK, JOURNAL, PARTS].iter().all(|ours| !dir.join(ours).exists());
        if is_new() {
            // Another instance may begin the batch at this time. Its lock is there before its other files.
            files::spare_others(dir).or_else(|e| if is_new() { Err(e) } else { Ok(()) })?;
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
            // Closing the file is not enough: a process that another thread is starting also has it open, until
            // it executes its program.
            Some(lock) => drop(lock.unlock()),
            // Without this file the part stays, and its runs count too.
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
        // A disk without locks returns an error of the system.
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => Ok(None),
    }
}

/// The parts of the batch in `dir`, in the order in which they were begun.
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

/// Reads a part. The flag is true if its writer has ended, and this version can read all of its lines.
pub(super) fn read(part: &Path) -> Result<(Content, bool), StoreError> {
    let finished = part.join(FINISHED).is_file();
    let content = journal::read(part)?;
    let known = content.notices.is_empty();
    Ok((content, finished && known))
}

/// Removes a part whose runs and invocations have been moved. Files that Windlass did not write stay.
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
    // Both fail if the folder has other files.
    let _ = fs::remove_dir(part);
    let _ = part.parent().map(fs::remove_dir);
    Ok(())
}
