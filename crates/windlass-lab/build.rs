//! Fingerprints the sources that decide what a run yields, so that stored results of other code
//! are never taken for this code's.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Sources beside this crate; a published crate has none of them and goes by its version alone.
const SIMULATOR: [&str; 4] = [
    "../windlass-cc/src",
    "../windlass-tcp/src",
    "../windlass-sim/src",
    "../windlass-scenario/src/compile.rs",
];
/// Sources that decide a run on a kernel.
const TESTBED: [&str; 4] = [
    "../windlass-sim/src",
    "../windlass-testbed/src/live",
    "../windlass-testbed/src/vm",
    "../windlass-scenario/src/compile.rs",
];

fn main() {
    println!("cargo:rustc-env=WINDLASS_VERSION={}", version(&SIMULATOR));
    println!("cargo:rustc-env=WINDLASS_TESTBED_VERSION={}", version(&TESTBED));
}

/// The crate's version with a fingerprint of these sources.
fn version(sources: &[&str]) -> String {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let mut files = Vec::new();
    for source in sources {
        let path = root.join(source);
        println!("cargo:rerun-if-changed={}", path.display());
        collect(&path, &mut files);
    }
    files.sort();
    // FNV-1a, 64 bits: chance collisions are what matters, not malice.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in files.iter().filter_map(|f| fs::read(f).ok()).flatten() {
        // Line ends differ between checkouts of the same source.
        if byte != b'\r' {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    let version = env::var("CARGO_PKG_VERSION").unwrap_or_default();
    if files.len() > 1 { format!("{version}+{:08x}", hash >> 32) } else { version }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    match fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|e| collect(&e.path(), files)),
        Err(_) if path.is_file() => files.push(path.to_path_buf()),
        Err(_) => {}
    }
}
