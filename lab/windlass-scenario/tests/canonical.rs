//! Results are stored under the stored form of a scenario. The test compares the written form and the hashes
//! of the repository's scenarios with the stored values. With another hash, the stored runs of a scenario are
//! no longer found.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use windlass_scenario::Scenario;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/hashes.txt");
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Every scenario file below a folder, in order.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder").map(|e| e.expect("readable").path());
    let mut entries: Vec<PathBuf> = entries.collect();
    entries.sort();
    for path in entries {
        let is_scenario = |text: String| text.lines().any(|l| l.starts_with("[[flow]]"));
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml")
            && fs::read_to_string(&path).is_ok_and(is_scenario)
        {
            found.push(path);
        }
    }
}

/// A line for each: file, hash, hash without parameters, and a checksum of all that is written.
fn hashes() -> String {
    let mut found = Vec::new();
    for folder in ["papers", "scenarios"] {
        files(&Path::new(ROOT).join(folder), &mut found);
    }
    let mut out = String::new();
    for path in found {
        let scenario = Scenario::from_file(&path).unwrap_or_else(|e| panic!("{e}"));
        let text = scenario.resolved_toml();
        let sum = text.bytes().fold(0u64, |h, b| h.wrapping_mul(31).wrapping_add(b.into()));
        let name = path.strip_prefix(ROOT).unwrap_or(&path).display();
        let (whole, bare) = (scenario.hash(), scenario.hash_without_parameters());
        let _ = writeln!(out, "{name} {whole} {bare} {sum:016x}");
    }
    out
}

#[test]
fn the_repositorys_scenarios_are_written_unchanged() {
    let now = hashes();
    if env::var_os("WINDLASS_BLESS").is_some() {
        return fs::write(GOLDEN, now).expect("written");
    }
    let then = fs::read_to_string(GOLDEN).expect("tests/golden/hashes.txt");
    let moved: Vec<&str> = now.lines().filter(|l| !then.lines().any(|t| t == *l)).collect();
    assert!(
        moved.is_empty() && now.lines().count() == then.lines().count(),
        "WINDLASS_BLESS=1 writes them anew; moved or new: {moved:#?}"
    );
}
