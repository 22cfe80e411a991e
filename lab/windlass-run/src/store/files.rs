//! Writes files that are always complete or missing.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::StoreError;

/// Ending of a file that is being written.
const TEMPORARY: &str = ".windlass-tmp";

/// Maximum length of a name in bytes, with room for the text before and after it.
const LONGEST: usize = 160;

/// A name that no other instance uses, on this machine or another. Later names sort after earlier names.
pub(super) fn unique() -> String {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = since.map_or(0, |d| d.as_nanos() as u64);
    // The hasher's keys are the system's random numbers.
    let random = RandomState::new().build_hasher().finish();
    format!("{nanos:016x}-{random:016x}")
}

/// Creates `dir` and its parent folders.
pub(super) fn make_folder(dir: &Path) -> Result<(), StoreError> {
    match fs::metadata(dir) {
        Ok(meta) if meta.is_dir() => return Ok(()),
        Ok(_) => return Err(StoreError::NotAFolder { path: dir.to_path_buf() }),
        Err(_) => {}
    }
    let new: Vec<&Path> = dir.ancestors().take_while(|p| !p.exists()).collect();
    create_all(dir).map_err(StoreError::io("create the folder", dir))?;
    // A folder's name is permanent when its parent folder is on disk.
    let above = |p: &Path| match p.parent() {
        Some(above) if above.as_os_str().is_empty() => Path::new(".").to_path_buf(),
        Some(above) => above.to_path_buf(),
        None => p.to_path_buf(),
    };
    new.into_iter().filter(|p| !p.as_os_str().is_empty()).try_for_each(|p| sync_folder(&above(p)))
}

/// Creates a folder and its parents. Another instance may remove an empty parent before the folder is in it, or
/// after it was found.
fn create_all(dir: &Path) -> io::Result<()> {
    const TRIES: u32 = 100;
    let raced =
        |e: &io::Error| matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists);
    let mut made = fs::create_dir_all(dir);
    for _ in 1..TRIES {
        if !made.as_ref().is_err_and(raced) {
            break;
        }
        made = fs::create_dir_all(dir);
    }
    made
}

/// Names, without endings, of files that are overwritten whenever the folder has more runs.
const WRITTEN_OVER: &str = "report meta failures runs summary links cells stations multipath subflows \
    routing points pace ranking harm scorecard verdicts answers readings looks traced";

/// Checks that a folder that is not yet a batch has no file that Windlass would overwrite.
pub(super) fn spare_others(dir: &Path) -> Result<(), StoreError> {
    for stem in WRITTEN_OVER.split_whitespace() {
        for ending in ["html", "json", "jsonl", "md", "csv", "parquet"] {
            let path = dir.join(stem).with_extension(ending);
            if path.exists() {
                return Err(StoreError::Foreign { path });
            }
        }
    }
    Ok(())
}

/// Writes `dir/name` through `write` into a temporary file in `dir`, and renames it when it is safely on
/// disk. On failure no temporary file remains, and an older file of this name stays.
///
/// # Errors
///
/// The folder cannot be created, or the file cannot be written.
pub fn replace(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<PathBuf, StoreError> {
    let path = put_in_place(dir, name, |temporary| {
        let file = written(temporary, write)?;
        file.sync_all()?;
        Ok(file)
    })?;
    sync_folder(dir)?;
    Ok(path)
}

/// As [`replace`], but without waiting for the disk, for files that can be written again.
pub(super) fn put(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<PathBuf, StoreError> {
    put_in_place(dir, name, |temporary| written(temporary, write))
}

fn put_in_place(
    dir: &Path,
    name: &str,
    write: impl FnOnce(File) -> io::Result<File>,
) -> Result<PathBuf, StoreError> {
    make_folder(dir)?;
    let path = dir.join(name);
    let temporary = dir.join(format!(".{name}.{}{TEMPORARY}", unique()));
    let file = begin(&temporary).and_then(write).map_err(StoreError::io("write", &path));
    // The file is locked until it has its final name.
    let result = file.and_then(|_locked| {
        fs::rename(&temporary, &path).map_err(StoreError::io("put in place", &path))
    });
    if result.is_err() {
        // The first error is the one to report; the file may not exist.
        let _ = fs::remove_file(&temporary);
    }
    result.map(|()| path)
}

/// Creates a temporary file and locks it, so that no other process takes it for an abandoned file.
fn begin(path: &Path) -> io::Result<File> {
    loop {
        let file = File::create(path)?;
        // On a disk without locks, no process removes temporary files.
        let _ = file.lock();
        if path.exists() {
            return Ok(file);
        }
    }
}

fn written(
    file: File,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<File> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}

/// Makes the names in `dir` permanent. On Unix a new file's name is only safe when its folder is on disk.
pub(super) fn sync_folder(dir: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(dir).and_then(|f| f.sync_all()).map_err(StoreError::io("write", dir))?;
    }
    Ok(())
}

/// Removes abandoned temporary files of killed instances in `dir` itself.
pub(super) fn sweep_temporaries(dir: &Path) -> Result<(), StoreError> {
    for entry in fs::read_dir(dir).map_err(StoreError::io("read", dir))? {
        let path = entry.map_err(StoreError::io("read", dir))?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if name.starts_with('.') && name.ends_with(TEMPORARY) && is_abandoned(&path) {
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// True if no process writes to the temporary file any more. A writer holds its lock.
fn is_abandoned(path: &Path) -> bool {
    File::options().write(true).open(path).is_ok_and(|file| file.try_lock().is_ok())
}

/// As [`sweep_temporaries`] in `dir` and every folder below it, without following links. `dir` need not
/// exist.
pub(super) fn sweep_tree(dir: &Path) -> Result<(), StoreError> {
    if !dir.is_dir() {
        return Ok(());
    }
    sweep_temporaries(dir)?;
    for entry in fs::read_dir(dir).map_err(StoreError::io("read", dir))? {
        let entry = entry.map_err(StoreError::io("read", dir))?;
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            sweep_tree(&entry.path())?;
        }
    }
    Ok(())
}

/// A file name that is unique to `id`. Letters, digits and `-_=,+.` stay; every other byte, and a leading
/// dot, becomes `%` and two hexadecimal digits. A name that is too long for file systems becomes its
/// beginning, `%~` and a checksum.
pub fn file_name(id: &str) -> String {
    let mut name = String::with_capacity(id.len());
    for (i, byte) in id.bytes().enumerate() {
        let plain = byte.is_ascii_alphanumeric() || b"-_=,+".contains(&byte);
        if plain || (byte == b'.' && i > 0) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.len() > LONGEST {
        name.truncate(LONGEST);
        name.push_str(&format!("%~{:08x}", crc32fast::hash(id.as_bytes())));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_become_distinct_names_that_stay_in_their_folder() {
        assert_eq!(file_name("mode=data-only,p=0.1%"), "mode=data-only,p=0.1%25");
        assert_eq!(file_name("../a b"), "%2e.%2fa%20b");
        assert_eq!(file_name("."), "%2e");
        assert_ne!(file_name("a/b"), file_name("a%2fb"));
        let [long, other] = ["a", "b"].map(|last| file_name(&("é".repeat(5000) + last)));
        assert!(long != other && long.len() < 180, "{long}");
    }
}
