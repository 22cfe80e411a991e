//! Algorithms that stay in the kernel after the process that loaded them: `windlass kernel load`, `list` and `unload`.
//!
//! Each is held by a file of a BPF file system that is Windlass's own and mounted while it holds anything; removing the file
//! takes the algorithm from the kernel, and so does a reboot. Nothing else of the system is touched: no default, no
//! setting. Connections that run it keep it until they end.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::mount::{MsFlags, mount, umount};
use nix::sys::statfs::{FsType, statfs};

use super::{Algorithm, Error};

/// Where the file system is mounted.
const FOLDER: &str = "/run/windlass/bpf";
/// Its kind (`BPF_FS_MAGIC`, linux/magic.h).
const BPF_FS: i64 = 0xcafe_4a11;
/// How the names of our algorithms begin.
const PREFIX: &str = "wl_";

/// The name by which sockets choose an algorithm unless another is given: `wl_cubic`.
pub fn usual_name(id: &str) -> String {
    let letters = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' });
    PREFIX.chars().chain(letters).take(super::object::NAME_LENGTH).collect()
}

/// Puts an algorithm into the kernel and leaves it there.
///
/// # Errors
///
/// As [`Algorithm::load`]; the name is taken; the kernel is older than 6.4.
pub fn load(algorithm: &Algorithm, objects: &Path) -> Result<(), Error> {
    let path = place(&algorithm.name)?;
    if path.exists() {
        return Err(Error::Unsupported(format!(
            "`{0}` is loaded; `windlass kernel unload {0}` takes it away",
            algorithm.name
        )));
    }
    let attached = algorithm.load(objects)?;
    set_up()?;
    attached.pin(&path).inspect_err(|_| take_down())
}

/// The names of what is loaded, in order.
///
/// # Errors
///
/// The folder is there and cannot be read.
pub fn list() -> Result<Vec<String>, Error> {
    let entries = match fs::read_dir(FOLDER) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(Error::on(format!("reading {FOLDER}")))?,
    };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    // What a kernel puts into every BPF file system by itself has a dot in its name.
    let mut names: Vec<String> = names.filter(|name| !name.contains('.')).collect();
    names.sort();
    Ok(names)
}

/// Takes an algorithm from the kernel.
///
/// # Errors
///
/// There is none of that name.
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
    Err(Error::Unsupported(format!("`{name}` is no name: letters, digits and `_`")))
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

/// Takes the empty file system away. What cannot be removed holds nothing.
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
    fn every_algorithm_has_a_usual_name_of_its_own_that_the_kernel_has_room_for() {
        let names: std::collections::BTreeSet<String> =
            windlass_cc::ALGORITHMS.iter().map(|info| usual_name(info.id)).collect();
        assert_eq!(names.len(), windlass_cc::ALGORITHMS.len());
        assert!(names.contains("wl_cubic") && names.contains("wl_tcp_modified"));
        assert!(names.iter().all(|name| name.len() <= super::super::object::NAME_LENGTH));
    }
}
