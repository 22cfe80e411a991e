//! Errors of results on disk.

use std::io;
use std::path::{Path, PathBuf};

use crate::key::RunKey;

/// A failure to store or to read results: the fault, the place and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The output path is not a folder.
    #[error("{} is not a folder; name a folder, or a path where one can be made", path.display())]
    NotAFolder {
        /// The path given.
        path: PathBuf,
    },
    /// A file of another program has the name of an output file.
    #[error(
        "{} is there and was not written by Windlass, which would write over it; move it away, or name another folder",
        path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A line that is not the last is damaged.
    #[error(
        "line {line} of {} is damaged although lines follow it, so another program changed the \
         file; delete this line to repeat its run, or move the folder away to begin a new \
         one",
        path.display()
    )]
    DamagedLine {
        /// The journal.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// A file of Windlass cannot be parsed.
    #[error("{} is not valid ({reason}); delete it, and Windlass writes a new file", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// A run has a result that is not a number, or infinite.
    #[error("{key}: a result is NaN or infinite, so the run is not stored")]
    NotFinite {
        /// The run.
        key: Box<RunKey>,
    },
    /// A run is in the journal already.
    #[error(
        "{key} is in the journal already; check whether the batch has a run before you execute it"
    )]
    Repeated {
        /// The run.
        key: Box<RunKey>,
    },
    /// An earlier failure left an incomplete line in the journal that could not be removed.
    #[error(
        "an earlier write to {} was incomplete; open the batch again to repair it",
        path.display()
    )]
    Broken {
        /// The journal.
        path: PathBuf,
    },
    /// An operation of the operating system failed.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The operation: `write`, `create`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl StoreError {
    /// Converts an error of the operating system to one that names the operation and the path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_path_buf();
        move |source| StoreError::Io { action, path, source }
    }
}
