//! The guest's file system: this executable as `/init`, its libraries, the kernel's modules, and the job.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use super::cpio::Archive;
use super::{Error, Kernel, cache, elf};

/// Folder of the kernel's modules in the guest. Their names begin with their position in the loading order.
pub(super) const MODULES: &str = "/windlass/modules";
/// File with the job's arguments as a JSON array. Its presence shows the guest's process 1 that it runs in a
/// guest.
pub(super) const ARGS: &str = "/windlass/args";
/// The folder with the job's files, in which the job runs.
pub(super) const JOB: &str = "/job";
/// Folder of the shared libraries in the guest.
pub(super) const LIBRARIES: &str = "/lib";

/// Returns the part of the image that is equal for every job on a kernel. It is built once per process: the
/// mapped and running files do not change, even if the files on disk do.
pub(super) fn base(kernel: &Kernel) -> Result<Arc<Vec<u8>>, Error> {
    /// Images by kernel and set of libraries.
    type Made = BTreeMap<(String, Vec<String>), Arc<Vec<u8>>>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    // A library that was opened in the meantime must be packed too.
    let libraries = mapped().map_err(|e| Error::Image(e.to_string()))?;
    let key = (kernel.sha256.clone(), libraries);
    if let Some(base) = made.get(&key) {
        return Ok(base.clone());
    }
    let base = Arc::new(build(kernel)?);
    made.insert(key, base.clone());
    Ok(base)
}

/// Returns the part of the image with the job: an archive that follows the other part.
pub(super) fn job(args: &[String], files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::default();
    archive.file(ARGS, &serde_json::to_vec(args).expect("strings are JSON"));
    archive.folder(JOB);
    for (name, bytes) in files {
        let plain =
            !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !plain {
            return Err(Error::Image(format!("invalid file name `{name}` in a job")));
        }
        archive.file(&format!("{JOB}/{name}"), bytes);
    }
    Ok(archive.finish())
}

fn build(kernel: &Kernel) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::default();
    for folder in ["/dev", "/proc", "/sys", "/tmp"] {
        archive.folder(folder);
    }
    // The kernel opens the console as the standard streams of process 1.
    archive.device("/dev/console", 5, 1);
    program(&mut archive)?;
    for (i, path) in kernel.modules.iter().enumerate() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        archive.file(&format!("{MODULES}/{i:03}-{name}"), &cache::read(path)?);
    }
    Ok(archive.finish())
}

/// Adds this executable and the files that its loading needs.
fn program(archive: &mut Archive) -> Result<(), Error> {
    let unreadable = |what: &str, e: &dyn std::fmt::Display| {
        Error::Image(format!("cannot read {what} of this program: {e}"))
    };
    let executable = fs::read("/proc/self/exe").map_err(|e| unreadable("the file", &e))?;
    let damaged = |e| unreadable("the file", &e);
    archive.program("/init", &elf::loaded(&executable).map_err(damaged)?);
    let interpreter = elf::interpreter(&executable).map_err(damaged)?;
    for path in mapped().map_err(|e| unreadable("the memory map", &e))? {
        let what = format!("the library {path}");
        let library = fs::read(&path).map_err(|e| unreadable(&what, &e))?;
        let damaged = |e| unreadable(&what, &e);
        let file_name = path.rsplit('/').next().unwrap_or_default().to_string();
        let name = elf::soname(&library).map_err(damaged)?.unwrap_or(file_name);
        let library = elf::loaded(&library).map_err(damaged)?;
        match &interpreter {
            Some(interpreter) if interpreter.rsplit('/').next() == Some(&name) => {
                archive.program(interpreter, &library);
            }
            _ => archive.program(&format!("{LIBRARIES}/{name}"), &library),
        }
    }
    Ok(())
}

/// Returns the files, except the executable, from which this process has mapped code: its shared libraries
/// and their loader.
fn mapped() -> std::io::Result<Vec<String>> {
    let executable = fs::read_link("/proc/self/exe")?;
    let map = fs::read_to_string("/proc/self/maps")?;
    Ok(libraries(&map, &executable.to_string_lossy()))
}

fn libraries(map: &str, executable: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for line in map.lines() {
        // Addresses, permissions, offset, device, inode, path (proc_pid_maps(5)).
        let mut rest = line;
        let mut fields = [""; 5];
        for field in &mut fields {
            (*field, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        }
        let path = rest.trim_start();
        let code = fields[1].contains('x') && path.starts_with('/');
        if code && path != executable && !paths.iter().any(|known| known == path) {
            paths.push(path.to_string());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libraries_are_the_mapped_code_files_except_the_program() {
        let map = "\
55d0-55d1 r-xp 00001000 fe:00 131 /opt/my tools/windlass
7f00-7f01 r--p 00000000 fe:00 132                        /usr/lib/locale/C.utf8/LC_CTYPE
7f10-7f11 r--p 00000000 fe:00 133                        /usr/lib/libc.so.6
7f11-7f12 r-xp 00001000 fe:00 133                        /usr/lib/libc.so.6
7f20-7f21 r-xp 00001000 fe:00 134                        /usr/lib/odd name.so
7ffc-7ffd r-xp 00000000 00:00 0                          [vdso]
7ffe-7fff rw-p 00000000 00:00 0
";
        let found = libraries(map, "/opt/my tools/windlass");
        assert_eq!(found, ["/usr/lib/libc.so.6", "/usr/lib/odd name.so"]);
    }

    #[test]
    fn a_jobs_files_stay_in_its_folder() {
        for name in ["../init", "/init", "a//b", "", "a/./b"] {
            assert!(job(&[], &[(name.to_string(), vec![])]).is_err(), "{name}");
        }
        assert!(job(&[], &[("a/b.toml".to_string(), vec![])]).is_ok());
    }
}
