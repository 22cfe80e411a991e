//! What can go wrong with results on disk.

use std::io;
use std::path::{Path, PathBuf};

use crate::key::RunKey;

/// A failure to keep or to read results: what happened, where, and what would help.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The output folder is something else.
    #[error("{} is not a folder; name a folder, or a path where one can be made", path.display())]
    NotAFolder {
        /// The path given.
        path: PathBuf,
    },
    /// A file of somebody else's is where one would be written.
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
        "line {line} of {} is damaged although lines follow it, so the file was changed from \
         outside; delete that line to have its run made again, or move the folder away to start \
         afresh",
        path.display()
    )]
    DamagedLine {
        /// The journal.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
    },
    /// A file that Windlass wrote cannot be understood.
    #[error("{} cannot be understood ({reason}); delete it to start it afresh", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the parser says.
        reason: String,
    },
    /// A run has a result that is not a number, or infinite.
    #[error("{key} has a result that is not a finite number, which no journal keeps")]
    NotFinite {
        /// The run.
        key: Box<RunKey>,
    },
    /// A run is in the journal already.
    #[error("{key} is in the journal already; ask whether the batch has a run before making it")]
    Repeated {
        /// The run.
        key: Box<RunKey>,
    },
    /// An earlier failure left the journal with a half line that could not be taken back.
    #[error(
        "an earlier write to {} failed half-way; open the batch again to mend it",
        path.display()
    )]
    Broken {
        /// The journal.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried: `write`, `create`, …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl StoreError {
    /// Turns an error of the operating system into one that says what was tried on which path.
    pub fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
        let path = path.to_path_buf();
        move |source| StoreError::Io { action, path, source }
    }
}
