//! Folder for kernels, images and ns-3 between runs, and their checksums.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::error::Error;

/// Prefix of the names of unfinished folders.
const MAKING: &str = ".making-";
const ABANDONED: Duration = Duration::from_secs(3600);

/// Returns the cache folder: `WINDLASS_CACHE`, else `windlass` in `XDG_CACHE_HOME`, else in `~/.cache`.
/// Creates it if it is missing.
pub(crate) fn folder() -> Result<PathBuf, Error> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = given("WINDLASS_CACHE")
        .or_else(|| given("XDG_CACHE_HOME").map(|base| base.join("windlass")))
        .or_else(|| given("HOME").map(|home| home.join(".cache/windlass")))
        .unwrap_or_else(|| env::temp_dir().join("windlass-cache"));
    make(&folder)?;
    Ok(folder)
}

/// Creates a folder and its parents.
pub(super) fn make(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file("cannot make the folder", folder))
}

/// Creates a folder to work in, on the same file system as its destination. Dropping the value removes it.
/// The next call removes a folder that a killed process has left.
pub(super) fn workplace(beside: &Path) -> Result<tempfile::TempDir, Error> {
    for entry in fs::read_dir(beside).into_iter().flatten().flatten() {
        let left = entry.file_name().to_string_lossy().starts_with(MAKING);
        if left && is_abandoned(&entry) {
            fs::remove_dir_all(entry.path())
                .map_err(Error::file("cannot remove the unfinished", &entry.path()))?;
        }
    }
    tempfile::Builder::new()
        .prefix(MAKING)
        .tempdir_in(beside)
        .map_err(Error::file("cannot make a folder in", beside))
}

/// True if no process has worked in a folder for an hour. Downloading and unpacking a kernel takes minutes.
fn is_abandoned(entry: &fs::DirEntry) -> bool {
    let changed = entry.metadata().and_then(|meta| meta.modified());
    changed.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > ABANDONED))
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::file("cannot read", path))
}

/// Writes a new file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(Error::file("cannot write", path))
}

/// Returns the SHA-256 in hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn only_old_unfinished_folders_are_removed() {
        let shelf = tempfile::tempdir().expect("a folder");
        for name in [".making-old", ".making-new", "6.12"] {
            fs::create_dir(shelf.path().join(name)).expect("made");
            fs::write(shelf.path().join(name).join("vmlinux"), "half").expect("written");
        }
        let long_ago = SystemTime::now() - 2 * ABANDONED;
        for name in [".making-old", "6.12"] {
            let folder = fs::File::open(shelf.path().join(name)).expect("there");
            folder.set_modified(long_ago).expect("a time");
        }
        let work = workplace(shelf.path()).expect("a folder");
        let there = |name: &str| shelf.path().join(name).exists();
        assert!(!there(".making-old") && there(".making-new") && there("6.12"));
        assert!(work.path().starts_with(shelf.path()));
    }
}
