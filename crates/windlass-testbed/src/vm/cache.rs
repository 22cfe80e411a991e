//! Where kernels and images are kept between runs, and their checksums.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Error;

/// The folder: `WINDLASS_CACHE`, else `windlass` in `XDG_CACHE_HOME`, else in `~/.cache`. Made if need be.
pub(super) fn folder() -> Result<PathBuf, Error> {
    let given = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = given("WINDLASS_CACHE")
        .or_else(|| given("XDG_CACHE_HOME").map(|base| base.join("windlass")))
        .or_else(|| given("HOME").map(|home| home.join(".cache/windlass")))
        .unwrap_or_else(|| env::temp_dir().join("windlass-cache"));
    make(&folder)?;
    Ok(folder)
}

/// Makes a folder and those above it.
pub(super) fn make(folder: &Path) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(Error::file("cannot make the folder", folder))
}

/// A folder to work in, on the same file system as its destination. It goes away when dropped.
pub(super) fn workplace(beside: &Path) -> Result<tempfile::TempDir, Error> {
    tempfile::Builder::new()
        .prefix(".making-")
        .tempdir_in(beside)
        .map_err(Error::file("cannot make a folder in", beside))
}

/// A file's bytes.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(Error::file("cannot read", path))
}

/// Writes a new file.
pub(super) fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(path, bytes).map_err(Error::file("cannot write", path))
}

/// SHA-256 in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes as hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
