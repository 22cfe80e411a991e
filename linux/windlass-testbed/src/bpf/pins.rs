//! Algorithms that stay in the kernel after their loading process has ended: `windlass kernel load`, `list`
//! and `unload`.
//!
//! A file of a BPF file system pins each algorithm. Windlass mounts this file system while it holds anything.
//! Removing the file removes the algorithm from the kernel, and so does a reboot. Windlass does not change
//! defaults or other settings of the system. Connections that use the algorithm keep it until they end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount, umount};
use nix::sys::statfs::{FsType, statfs};

use super::{Algorithm, Error};

/// Mount point of the file system.
const FOLDER: &str = "/run/windlass/bpf";
/// Type of the file system (`BPF_FS_MAGIC`, linux/magic.h).
const BPF_FS: i64 = 0xcafe_4a11;
/// Prefix of the names of Windlass's algorithms.
const PREFIX: &str = "wl_";

/// Default name by which sockets choose an algorithm: `wl_cubic`.
pub fn usual_name(id: &str) -> String {
    let letters = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    PREFIX.chars().chain(letters).take(super::object::NAME_LENGTH).collect()
}

/// Loads an algorithm into the kernel and keeps it there.
///
/// # Errors
///
/// Returns an error of [`Algorithm::load`], or an error if the name is taken or the kernel is older than 6.4.
pub fn load(algorithm: &Algorithm, objects: &Path) -> Result<(), Error> {
    let path = place(&algorithm.name)?;
    if path.exists() {
        return Err(Error::Unsupported(format!(
            "`{0}` is already loaded; `windlass kernel unload {0}` removes it",
            algorithm.name
        )));
    }
    let attached = algorithm.load(objects)?;
    set_up()?;
    attached.pin(&path).inspect_err(|_| take_down())
}

/// Returns the names of the loaded algorithms, sorted.
///
/// # Errors
///
/// Returns an error if the folder exists and cannot be read.
pub fn list() -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(FOLDER) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::on(format!("reading {FOLDER}")))?,
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // Files that the kernel itself puts into every BPF file system have a dot in their names.
    let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
    names.sort();
    Ok(names)
}

/// Removes an algorithm from the kernel.
///
/// # Errors
///
/// Returns an error if no algorithm of this name is loaded.
pub fn unload(name: &str) -> Result<(), Error> {
    let path = place(name)?;
    fs::remove_file(&path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::Unsupported(format!(
            "`{name}` is not loaded; {}",
            match list().unwrap_or_default().join(", ").as_str() {
                "" => "nothing is".to_owned(),
                loaded => format!("loaded: {loaded}"),
            }
        )),
        _ => Error::System { what: format!("removing {}", path.display()), source },
    })?;
    if list()?.is_empty() {
        take_down();
    }
    Ok(())
}

fn place(name: &str) -> Result<PathBuf, Error> {
    let plain = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    if plain && !name.is_empty() {
        return Ok(Path::new(FOLDER).join(name));
    }
    Err(Error::Unsupported(format!("invalid name `{name}`; expected letters, digits and `_`")))
}

fn set_up() -> Result<(), Error> {
    fs::create_dir_all(FOLDER).map_err(Error::on(format!("making the folder {FOLDER}")))?;
    let found = statfs(FOLDER).map_err(|e| Error::on(format!("looking at {FOLDER}"))(e.into()))?;
    if found.filesystem_type() == FsType(BPF_FS) {
        return Ok(());
    }
    mount(Some("windlass"), FOLDER, Some("bpf"), MsFlags::empty(), Some("mode=0700"))
        .map_err(|e| Error::on(format!("mounting a BPF file system at {FOLDER}"))(e.into()))
}

/// Unmounts and removes the empty file system. Errors are ignored: a mount or folder that cannot be removed
/// holds no algorithm.
fn take_down() {
    if list().is_ok_and(|names| names.is_empty()) && umount(FOLDER).is_ok() {
        let _ = fs::remove_dir(FOLDER);
        let _ = fs::remove_dir(Path::new(FOLDER).parent().unwrap_or(Path::new(FOLDER)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_names_are_unique_and_fit_into_the_kernel() {
        let names: std::collections::BTreeSet<String> =
            windlass_cc::ALGORITHMS.iter().map(|info| usual_name(info.id)).collect();
        assert_eq!(names.len(), windlass_cc::ALGORITHMS.len());
        assert!(names.contains("wl_cubic") && names.contains("wl_tcp_modified"));
        assert!(names.iter().all(|name| name.len() <= super::super::object::NAME_LENGTH));
    }
}
