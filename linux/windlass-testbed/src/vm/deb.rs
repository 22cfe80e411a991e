//! Reading a Debian package without Debian's tools: an `ar` archive that contains a compressed `tar` archive
//! (deb(5)).

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use lzma_rust2::XzReader;

use super::Error;

/// A package, opened but not unpacked.
pub(super) struct Package {
    path: PathBuf,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Name of the package.
    pub name: String,
    /// Version of the package.
    pub version: String,
    /// Archive of its files. The suffix of the name gives the compression.
    data: (String, Vec<u8>),
}

impl Package {
    /// Reads a package file.
    pub fn open(path: &Path) -> Result<Package, Error> {
        let bytes = super::cache::read(path)?;
        let wrong = |what: String| Error::package(path, what);
        let members = members(&bytes)
            .ok_or_else(|| wrong("not a Debian package (no `ar` archive)".to_string()))?;
        let member = |stem: &str| {
            let found = members.iter().find(|(name, _)| name.starts_with(stem));
            found.ok_or_else(|| wrong(format!("the package has no {stem}")))
        };
        let (name, data) = member("control.tar")?;
        let control = control(&decompress(name, data).map_err(wrong)?)
            .ok_or_else(|| wrong("the package has no control file".to_string()))?;
        let field = |name: &str| {
            let line = control.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_string).ok_or_else(|| wrong(format!("its control file has no {name}")))
        };
        let (data_name, data) = member("data.tar")?;
        Ok(Package {
            path: path.to_path_buf(),
            sha256: super::cache::sha256(&bytes),
            name: field("Package")?,
            version: field("Version")?,
            data: (data_name.clone(), data.to_vec()),
        })
    }

    /// Unpacks the files in memory.
    pub fn unpack(&self) -> Result<Contents, Error> {
        let (name, data) = &self.data;
        let data = decompress(name, data).map_err(|what| Error::package(&self.path, what))?;
        Ok(Contents { path: self.path.clone(), data })
    }
}

/// The files of a package.
pub(super) struct Contents {
    path: PathBuf,
    data: Vec<u8>,
}

impl Contents {
    /// Returns the kernel's release, as `uname -r` would print it, and the compressed kernel, if the package contains
    /// a kernel.
    pub fn vmlinuz(&self) -> Result<Option<(String, Vec<u8>)>, Error> {
        let mut found = None;
        self.each(|path, entry| {
            if let Some(release) = kernel(path) {
                let mut bytes = Vec::new();
                entry.read_to_end(&mut bytes)?;
                found = Some((release.to_string(), bytes));
            }
            Ok(())
        })?;
        Ok(found)
    }

    /// Returns modules as ELF files, by name (`tcp_bbr`, `sch_fq`). `wanted` selects them by their path in
    /// the kernel's tree, such as `net/ipv4/tcp_bbr`.
    pub fn modules(
        &self,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Vec<u8>>, Error> {
        let mut modules = BTreeMap::new();
        self.each(|path, entry| {
            let Some((place, compressed)) = module(path) else { return Ok(()) };
            if wanted(place) {
                let mut bytes = Vec::new();
                match compressed {
                    true => XzReader::new(entry, true).read_to_end(&mut bytes)?,
                    false => entry.read_to_end(&mut bytes)?,
                };
                modules.insert(name_of(place), bytes);
            }
            Ok(())
        })?;
        Ok(modules)
    }

    /// Calls `visit` with each file that the package would install, by its path from the root without `usr/`.
    fn each(
        &self,
        mut visit: impl FnMut(&str, &mut dyn Read) -> std::io::Result<()>,
    ) -> Result<(), Error> {
        let mut archive = tar::Archive::new(Cursor::new(&self.data));
        let mut all = || {
            for entry in archive.entries()? {
                let mut entry = entry?;
                let path = entry.path()?.into_owned();
                if let Some(path) = path.to_str() {
                    let path = path.trim_start_matches("./").trim_start_matches("usr/");
                    visit(path, &mut entry)?;
                }
            }
            Ok(())
        };
        all().map_err(|e: std::io::Error| {
            Error::package(&self.path, format!("cannot read its files: {e}"))
        })
    }
}

/// Converts a module's path to its name. File names may contain dashes, but names use underscores.
pub(super) fn name_of(place: &str) -> String {
    place.rsplit('/').next().unwrap_or(place).replace('-', "_")
}

/// Returns the members of an `ar` archive as name and data, or `None` if it is not such an archive.
fn members(bytes: &[u8]) -> Option<Vec<(String, &[u8])>> {
    let mut rest = bytes.strip_prefix(b"!<arch>\n")?;
    let mut members = Vec::new();
    while !rest.is_empty() {
        let (header, after) = rest.split_at_checked(60)?;
        let text = |range: std::ops::Range<usize>| std::str::from_utf8(&header[range]).ok();
        let name = text(0..16)?.trim_end().trim_end_matches('/').to_string();
        let size: usize = text(48..58)?.trim_end().parse().ok()?;
        let (data, after) = after.split_at_checked(size)?;
        members.push((name, data));
        // Members start at even offsets.
        rest = after.get(size % 2..).unwrap_or_default();
    }
    Some(members)
}

fn decompress(name: &str, data: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = match name.rsplit('.').next() {
        Some("tar") => Cursor::new(data).read_to_end(&mut bytes),
        Some("xz") => XzReader::new(data, true).read_to_end(&mut bytes),
        Some("zst") => match ruzstd::decoding::StreamingDecoder::new(data) {
            Ok(mut decoder) => decoder.read_to_end(&mut bytes),
            Err(e) => return Err(format!("its {name} is damaged: {e}")),
        },
        _ => return Err(format!("its {name} has an unknown compression")),
    };
    read.map_err(|e| format!("its {name} is damaged: {e}"))?;
    Ok(bytes)
}

/// Returns the text of the control file.
fn control(archive: &[u8]) -> Option<String> {
    let mut archive = tar::Archive::new(Cursor::new(archive));
    for entry in archive.entries().ok()? {
        let mut entry = entry.ok()?;
        if entry.path().ok()?.ends_with("control") {
            let mut text = String::new();
            entry.read_to_string(&mut text).ok()?;
            return Some(text);
        }
    }
    None
}

/// Returns the release in the path of a compressed kernel. Debian's packages have it below `boot`, from Linux 7.2 on
/// beside the modules.
fn kernel(path: &str) -> Option<&str> {
    let beside = || path.strip_prefix("lib/modules/")?.strip_suffix("/vmlinuz");
    path.strip_prefix("boot/vmlinuz-").or_else(beside).filter(|release| !release.contains('/'))
}

/// Splits `lib/modules/RELEASE/kernel/PLACE.ko.xz`. Returns the place, and true if the file is compressed.
fn module(path: &str) -> Option<(&str, bool)> {
    let (_, place) = path.strip_prefix("lib/modules/")?.split_once("/kernel/")?;
    match place.strip_suffix(".ko.xz") {
        Some(place) => Some((place, true)),
        None => Some((place.strip_suffix(".ko")?, false)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_members_are_padded_and_a_truncated_archive_is_refused() {
        let mut bytes = b"!<arch>\n".to_vec();
        for (name, data) in [("one.tar", "odd"), ("two.tar/", "even")] {
            bytes.extend(format!("{name:<16}{:<32}{:<10}`\n", "0", data.len()).bytes());
            bytes.extend(data.bytes());
            bytes.extend(std::iter::repeat_n(b'\n', data.len() % 2));
        }
        let found = members(&bytes).expect("an archive");
        assert_eq!(found, [("one.tar".into(), &b"odd"[..]), ("two.tar".into(), &b"even"[..])]);
        assert_eq!(members(&bytes[..bytes.len() - 1]), None);
        assert_eq!(members(b"PK\x03\x04"), None);
    }

    #[test]
    fn a_kernel_is_found_in_both_of_its_places() {
        assert_eq!(kernel("boot/vmlinuz-6.1.0-1-cloud-amd64"), Some("6.1.0-1-cloud-amd64"));
        assert_eq!(kernel("lib/modules/7.3.4+deb13/vmlinuz"), Some("7.3.4+deb13"));
        assert_eq!(kernel("lib/modules/7.3.4+deb13/kernel/x/vmlinuz"), None);
        assert_eq!(kernel("lib/modules/7.3.4+deb13/modules.dep"), None);
    }

    #[test]
    fn modules_are_found_by_their_path_in_the_kernels_tree() {
        let path = "lib/modules/6.1.0-1/kernel/net/ipv4/tcp_bbr.ko";
        assert_eq!(module(path), Some(("net/ipv4/tcp_bbr", false)));
        assert_eq!(module(&format!("{path}.xz")), Some(("net/ipv4/tcp_bbr", true)));
        assert_eq!(module("lib/modules/6.1.0-1/modules.order"), None);
    }
}
