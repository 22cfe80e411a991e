//! The guest's file system: this executable as `/init`, its libraries, the kernel's modules, and the job.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use super::cpio::Archive;
use super::{Error, Kernel, cache, elf};

/// Where the guest finds the kernel's modules; their names begin with their place in the order.
pub(super) const MODULES: &str = "/windlass/modules";
/// The job's arguments as a JSON array. That it is there tells the guest's process 1 what it is.
pub(super) const ARGS: &str = "/windlass/args";
/// The folder with the job's files, in which the job runs.
pub(super) const JOB: &str = "/job";
/// Where the guest's program finds its shared libraries.
pub(super) const LIBRARIES: &str = "/lib";

/// The part that is the same for every job on a kernel. Made once in this process: what is mapped and
/// running does not change, whatever happens to the files meanwhile.
pub(super) fn base(kernel: &Kernel) -> Result<Arc<Vec<u8>>, Error> {
    /// Of a kernel with a set of libraries.
    type Made = BTreeMap<(String, Vec<String>), Arc<Vec<u8>>>;
    static MADE: Mutex<Made> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    // A library that has been opened since is one more to be packed.
    let libraries = mapped().map_err(|e| Error::Image(e.to_string()))?;
    let key = (kernel.sha256.clone(), libraries);
    if let Some(base) = made.get(&key) {
        return Ok(base.clone());
    }
    let base = Arc::new(build(kernel)?);
    made.insert(key, base.clone());
    Ok(base)
}

/// The part that is the job: an archive that follows the other.
pub(super) fn job(args: &[String], files: &[(String, Vec<u8>)]) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::default();
    archive.file(ARGS, &serde_json::to_vec(args).expect("strings are JSON"));
    archive.folder(JOB);
    for (name, bytes) in files {
        let plain =
            !name.is_empty() && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
        if !plain {
            return Err(Error::Image(format!("`{name}` is no name for a file of a job")));
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
    // The kernel opens it as the standard streams of process 1.
    archive.device("/dev/console", 5, 1);
    program(&mut archive)?;
    for (i, path) in kernel.modules.iter().enumerate() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        archive.file(&format!("{MODULES}/{i:03}-{name}"), &cache::read(path)?);
    }
    Ok(archive.finish())
}

/// Adds this executable and what it needs to be loaded.
fn program(archive: &mut Archive) -> Result<(), Error> {
    let unreadable = |what: &str, e: &dyn std::fmt::Display| {
        Error::Image(format!("{what} of this program cannot be read: {e}"))
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

/// The files, besides the executable, from which this process has mapped code: its shared libraries and
/// the program that has loaded them.
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
    fn libraries_are_the_files_other_than_the_program_that_code_is_mapped_from() {
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
