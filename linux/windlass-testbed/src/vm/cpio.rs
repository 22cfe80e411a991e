//! Writing an initramfs in the `newc` format of cpio, defined in the kernel's documentation
//! (driver-api/early-userspace/buffer-format).

/// An archive under construction. Times, owners and inode numbers are fixed, so that equal contents give
/// equal bytes.
#[derive(Default)]
pub(super) struct Archive {
    bytes: Vec<u8>,
    entries: u32,
    folders: std::collections::BTreeSet<String>,
}

const REGULAR: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const CHARACTER: u32 = 0o020_000;

impl Archive {
    /// Adds a file that all users may read, with its parent folders.
    pub fn file(&mut self, path: &str, data: &[u8]) {
        self.add(path, REGULAR | 0o644, (0, 0), data);
    }

    /// Adds a program, with its parent folders.
    pub fn program(&mut self, path: &str, data: &[u8]) {
        self.add(path, REGULAR | 0o755, (0, 0), data);
    }

    /// Adds a folder, with its parents.
    pub fn folder(&mut self, path: &str) {
        let path = path.trim_matches('/');
        if !path.is_empty() && self.folders.insert(path.to_string()) {
            self.add(path, FOLDER | 0o755, (0, 0), &[]);
        }
    }

    /// Adds a character device.
    pub fn device(&mut self, path: &str, major: u32, minor: u32) {
        self.add(path, CHARACTER | 0o600, (major, minor), &[]);
    }

    /// Returns the complete archive. Its length is a multiple of four, so that another archive may follow.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn add(&mut self, path: &str, mode: u32, device: (u32, u32), data: &[u8]) {
        let path = path.trim_start_matches('/');
        if let Some((above, _)) = path.rsplit_once('/') {
            self.folder(above);
        }
        self.entries += 1;
        self.entry(path, mode, device, data);
    }

    fn entry(&mut self, path: &str, mode: u32, (major, minor): (u32, u32), data: &[u8]) {
        let name = path.len() as u32 + 1;
        let size = u32::try_from(data.len()).expect("a file of less than 4 GiB");
        // Inode, mode, user, group, links, time, size, device of the file, device, length of the name, checksum.
        let fields = [self.entries, mode, 0, 0, 1, 0, size, 0, 0, major, minor, name, 0]
            .map(|n| format!("{n:08x}"));
        self.bytes.extend(b"070701");
        self.bytes.extend(fields.concat().bytes());
        self.bytes.extend(path.bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_has_each_parent_folder_once_and_ends_aligned() {
        let mut archive = Archive::default();
        archive.file("/a/b/one", b"1");
        archive.file("a/b/two", b"22");
        let bytes = archive.finish();
        let names: Vec<String> = names(&bytes);
        assert_eq!(names, ["a", "a/b", "a/b/one", "a/b/two", "TRAILER!!!"]);
        assert_eq!(bytes.len() % 4, 0);
    }

    /// Returns the names that a reader of the format finds.
    fn names(mut bytes: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        while let Some(rest) = bytes.strip_prefix(b"070701") {
            let field = |i: usize| {
                let digits = std::str::from_utf8(&rest[8 * i..8 * (i + 1)]).unwrap();
                usize::from_str_radix(digits, 16).unwrap()
            };
            let (size, name) = (field(6), field(11));
            names.push(String::from_utf8(bytes[110..110 + name - 1].to_vec()).unwrap());
            let data = (110 + name).next_multiple_of(4);
            bytes = &bytes[(data + size).next_multiple_of(4)..];
        }
        names
    }
}
