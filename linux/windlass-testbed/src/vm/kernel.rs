//! A kernel in the cache: downloaded once, checked at each use.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::{Error, Series, apt, cache, deb, modules, vmlinux};

/// A kernel that is ready to boot.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Release, as `uname -r` prints it: `6.12.94+deb13-cloud-amd64`.
    pub release: String,
    /// Packages of the kernel, and their version.
    pub package: String,
    /// File of the kernel in ELF format.
    pub(super) vmlinux: PathBuf,
    /// Modules of the guest, in the order in which they are loaded.
    pub(super) modules: Vec<PathBuf>,
    /// SHA-256 of the manifest, which identifies the kernel and its modules to the byte.
    pub(super) sha256: String,
}

/// Data of a cached kernel.
#[derive(Serialize, Deserialize)]
struct Manifest {
    release: String,
    /// Name of the package; of several packages the names, with ` + ` between them.
    package: String,
    /// Version of the first package.
    version: String,
    /// SHA-256 of the package file, or of the files in the order of their names.
    package_sha256: String,
    /// The kernel, then the modules in the order in which they are loaded.
    files: Vec<File>,
}

#[derive(Serialize, Deserialize)]
struct File {
    name: String,
    sha256: String,
}

const MANIFEST: &str = "manifest.json";
/// Version of the layout. Increase it when kernels are unpacked differently or with other modules. Each
/// layout has its own folder, so that versions of Windlass do not remove each other's kernels.
const LAYOUT: &str = "1";

/// Returns a kernel of a series that is ready to boot.
///
/// The kernel comes from the packages that `WINDLASS_KERNEL_DEB` names (file names with `:` between them),
/// else from the cache if its checksums are correct, else from apt. A kernel in the cache stays until its
/// folder is removed, so that results stay comparable. The first call in a process does the work, and all
/// calls return the same kernel. `progress` receives messages about steps that take long.
///
/// # Errors
///
/// Returns an error if no kernel can be obtained. The error names a remedy.
pub fn prepare(series: Series, progress: &mut dyn FnMut(&str)) -> Result<Kernel, Error> {
    static READY: Mutex<BTreeMap<Series, Kernel>> = Mutex::new(BTreeMap::new());
    // Another caller waits here instead of downloading the kernel too.
    let mut ready = READY.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(kernel) = ready.get(&series) {
        return Ok(kernel.clone());
    }
    let kernel = find(series, progress)?;
    ready.insert(series, kernel.clone());
    Ok(kernel)
}

fn find(series: Series, progress: &mut dyn FnMut(&str)) -> Result<Kernel, Error> {
    let shelf = shelf(series)?;
    let given = given(series)?;
    for folder in kept(&shelf) {
        match load(&folder) {
            Ok((kernel, sha256)) => {
                if given.is_empty() || joined(&given, |package| &package.sha256) == sha256 {
                    return Ok(kernel);
                }
            }
            Err(e) => {
                progress(&format!("{e}; the kernel is unpacked again"));
                fs::remove_dir_all(&folder)
                    .map_err(Error::file("cannot remove the damaged", &folder))?;
            }
        }
    }
    let work = cache::workplace(&shelf)?;
    let packages = match given.is_empty() {
        false => given,
        true => {
            let files = fetch(series, &shelf, work.path(), progress)?;
            files.iter().map(|file| deb::Package::open(file)).collect::<Result<_, _>>()?
        }
    };
    unpack(&packages, &shelf, work, progress)
}

/// Joins a property of a kernel's packages.
fn joined<'a>(packages: &'a [deb::Package], of: impl Fn(&'a deb::Package) -> &'a str) -> String {
    packages.iter().map(of).collect::<Vec<_>>().join(" + ")
}

/// Checks that a kernel of a series is in the cache or can be obtained. Downloads nothing.
pub(super) fn obtainable(series: Series) -> Result<(), Error> {
    let shelf = shelf(series)?;
    if !kept(&shelf).is_empty() || !given(series)?.is_empty() {
        return Ok(());
    }
    if !apt::present() {
        return Err(Error::NoApt { series, cache: shelf });
    }
    if !apt::Lists::can_be_separate(series) && apt::Lists::MACHINE.newest(series)?.is_empty() {
        return Err(Error::NoPackage(series));
    }
    Ok(())
}

/// Returns the release of the kernel that [`prepare`] would use without a download.
pub fn kept_release(series: Series) -> Option<String> {
    if let Some(package) = given(series).ok()?.first() {
        return apt::release_of(&package.name).map(str::to_owned);
    }
    let manifest = cache::read(&kept(&shelf(series).ok()?).first()?.join(MANIFEST)).ok()?;
    serde_json::from_slice::<Manifest>(&manifest).ok().map(|m| m.release)
}

fn shelf(series: Series) -> Result<PathBuf, Error> {
    let shelf = cache::folder()?.join("kernels").join(LAYOUT).join(series.name());
    cache::make(&shelf)?;
    Ok(shelf)
}

/// Returns the folders of kernels in the cache, newest first.
fn kept(shelf: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(shelf).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|folder| folder.join(MANIFEST).is_file() && !is_hidden(folder))
        .collect();
    let age =
        |folder: &PathBuf| fs::metadata(folder.join(MANIFEST)).and_then(|m| m.modified()).ok();
    folders.sort_by_key(|folder| std::cmp::Reverse(age(folder)));
    folders
}

/// Unfinished folders have hidden names.
fn is_hidden(folder: &Path) -> bool {
    folder.file_name().and_then(|name| name.to_str()).is_none_or(|name| name.starts_with('.'))
}

/// Returns the packages of this series that the user has given, in the order of their names.
fn given(series: Series) -> Result<Vec<deb::Package>, Error> {
    let Some(named) = env::var_os("WINDLASS_KERNEL_DEB") else { return Ok(Vec::new()) };
    let mut packages = Vec::new();
    for path in env::split_paths(&named).filter(|path| !path.as_os_str().is_empty()) {
        let package = deb::Package::open(&path)?;
        if apt::release_of(&package.name).is_some_and(|release| series.covers(release)) {
            packages.push(package);
        }
    }
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

/// Downloads the packages of a series.
fn fetch(
    series: Series,
    shelf: &Path,
    folder: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Vec<PathBuf>, Error> {
    if !apt::present() {
        return Err(Error::NoApt { series, cache: shelf.to_path_buf() });
    }
    let mut lists = apt::Lists::MACHINE;
    let mut names = lists.newest(series)?;
    if names.is_empty() {
        let found = apt::Lists::separate(series, &folder.join("apt"))?;
        lists = found.ok_or(Error::NoPackage(series))?;
        names = lists.newest(series)?;
    }
    if names.is_empty() {
        return Err(Error::NoPackage(series));
    }
    progress(&format!("downloading {} (about 30 MB) with apt", names.join(" and ")));
    lists.download(&names, folder)
}

/// Unpacks packages into a separate folder on the shelf.
fn unpack(
    packages: &[deb::Package],
    shelf: &Path,
    work: tempfile::TempDir,
    progress: &mut dyn FnMut(&str),
) -> Result<Kernel, Error> {
    let names = joined(packages, |package| &package.name);
    let version = packages.first().map(|package| package.version.clone()).unwrap_or_default();
    let package_sha256 = joined(packages, |package| &package.sha256);
    progress(&format!("unpacking {names}"));
    let contents = packages.iter().map(deb::Package::unpack).collect::<Result<Vec<_>, _>>()?;
    let (release, vmlinuz) = vmlinuz(&contents)?
        .ok_or_else(|| Error::Image(format!("{names}: no kernel in the packages (vmlinuz)")))?;
    let place = work.path().join("kernel");
    cache::make(&place)?;
    let elf = vmlinux::extract(&vmlinuz).map_err(|what| Error::package(&place, what))?;
    let mut files = vec![("vmlinux".to_string(), elf)];
    for (name, bytes) in modules::choose(&contents)? {
        files.push((format!("{name}.ko"), bytes));
    }
    for (name, bytes) in &files {
        cache::write(&place.join(name), bytes)?;
    }
    let describe = |(name, bytes): (String, Vec<u8>)| File { sha256: cache::sha256(&bytes), name };
    let manifest = Manifest {
        release: release.clone(),
        package: names,
        version,
        package_sha256,
        files: files.into_iter().map(describe).collect(),
    };
    let text = serde_json::to_string_pretty(&manifest).expect("a manifest is JSON");
    cache::write(&place.join(MANIFEST), text.as_bytes())?;
    let folder = shelf.join(format!("{release}-{}", &manifest.package_sha256[..8]));
    match fs::rename(&place, &folder) {
        // Another process may have finished earlier.
        Err(_) if folder.join(MANIFEST).is_file() => {}
        renamed => renamed.map_err(Error::file("cannot make", &folder))?,
    }
    load(&folder).map(|(kernel, _)| kernel)
}

/// Returns the kernel's release and the compressed kernel, from the first package that contains a kernel.
fn vmlinuz(packages: &[deb::Contents]) -> Result<Option<(String, Vec<u8>)>, Error> {
    for package in packages {
        let found = package.vmlinuz()?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

/// Reads a kernel's manifest and checks every file against it. Also returns the package's SHA-256.
fn load(folder: &Path) -> Result<(Kernel, String), Error> {
    let path = folder.join(MANIFEST);
    let text = cache::read(&path)?;
    let manifest: Manifest = serde_json::from_slice(&text)
        .map_err(|e| Error::package(&path, format!("not a manifest: {e}")))?;
    let mut paths = Vec::new();
    for file in &manifest.files {
        let path = folder.join(&file.name);
        if cache::sha256(&cache::read(&path)?) != file.sha256 {
            return Err(Error::package(&path, "it has changed since it was unpacked"));
        }
        paths.push(path);
    }
    if paths.is_empty() {
        return Err(Error::package(&path, "the manifest does not name a kernel"));
    }
    let kernel = Kernel {
        release: manifest.release,
        package: format!("{} {}", manifest.package, manifest.version),
        vmlinux: paths.remove(0),
        modules: paths,
        sha256: cache::sha256(&text),
    };
    Ok((kernel, manifest.package_sha256))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a folder like `unpack`, with a kernel and a module of a few bytes.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            fs::write(folder.path().join(name), name).unwrap();
            File { name: name.to_string(), sha256: cache::sha256(name.as_bytes()) }
        };
        let manifest = Manifest {
            release: "6.1.0-1-cloud-amd64".to_string(),
            package: "linux-image".to_string(),
            version: "1".to_string(),
            package_sha256: "00".to_string(),
            files: vec![file("vmlinux"), file("tun.ko")],
        };
        fs::write(folder.path().join(MANIFEST), serde_json::to_vec(&manifest).unwrap()).unwrap();
        folder
    }

    #[test]
    fn complete_kernel_is_accepted_with_its_parts() {
        let folder = folder();
        let (kernel, package) = load(folder.path()).unwrap();
        assert_eq!(kernel.vmlinux, folder.path().join("vmlinux"));
        assert_eq!(kernel.modules, [folder.path().join("tun.ko")]);
        assert_eq!((kernel.package.as_str(), package.as_str()), ("linux-image 1", "00"));
    }

    #[test]
    fn changed_or_incomplete_kernel_is_refused() {
        for (name, contents) in
            [("vmlinux", Some("vmlinuy")), ("tun.ko", Some("")), ("tun.ko", None)]
        {
            let folder = folder();
            match contents {
                Some(text) => fs::write(folder.path().join(name), text).unwrap(),
                None => fs::remove_file(folder.path().join(name)).unwrap(),
            }
            assert!(load(folder.path()).is_err(), "{name}: {contents:?}");
        }
    }
}
