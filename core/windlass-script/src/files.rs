//! Script files.

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use super::ast::Script;
use super::error::ScriptError;

/// Extension of a script's file name.
pub const EXTENSION: &str = "script";

/// Reason why a file gives no script.
#[derive(Debug)]
pub enum FileError {
    /// The file cannot be read.
    Io(PathBuf, io::Error),
    /// The file is not a script. The text of the file is kept to show the place.
    Script(Box<ScriptError>, String),
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileError::Io(path, e) => write!(f, "cannot read {}: {e}", path.display()),
            FileError::Script(e, _) => e.fmt(f),
        }
    }
}

impl std::error::Error for FileError {}

/// Loads the scripts at or below a path, in order of path. In a folder, the names must end in `.script`. A
/// file may have any name.
///
/// # Errors
///
/// Returns the first error of reading or parsing a file.
pub fn load(path: &Path) -> Result<Vec<Script>, FileError> {
    let mut files = Vec::new();
    find(path, &mut files).map_err(|e| FileError::Io(path.to_path_buf(), e))?;
    files.iter().map(|file| load_file(file)).collect()
}

fn load_file(path: &Path) -> Result<Script, FileError> {
    let text = fs::read_to_string(path).map_err(|e| FileError::Io(path.to_path_buf(), e))?;
    Script::parse(&text, &path.display().to_string())
        .map_err(|e| FileError::Script(Box::new(e), text))
}

fn find(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !fs::metadata(path)?.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    let entries = fs::read_dir(path)?.map(|entry| entry.map(|e| e.path()));
    let mut entries = entries.collect::<io::Result<Vec<PathBuf>>>()?;
    entries.sort();
    for entry in entries {
        if entry.is_dir() || entry.extension().is_some_and(|e| e == EXTENSION) {
            find(&entry, files)?;
        }
    }
    Ok(())
}
