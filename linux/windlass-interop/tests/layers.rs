//! Dependencies between the crates, as in docs/src/inside/architecture.md, and requirements of external
//! libraries.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// Windlass's crates from the bottom up, each with the crates of Windlass that it depends on. A line may only
/// name crates of the lines above it.
const LAYERS: &[(&str, &[&str])] = &[
    ("windlass-skip", &[]),
    ("windlass-cc", &[]),
    ("windlass-conform", &["cc"]),
    ("windlass-stats", &[]),
    ("windlass-tcp", &["cc"]),
    ("windlass-script", &["cc", "tcp"]),
    ("windlass-sim", &["cc", "tcp"]),
    ("windlass-scenario", &["cc", "stats", "tcp", "sim"]),
    ("windlass-report", &[]),
    ("windlass-run", &["cc", "tcp", "sim", "scenario"]),
    ("windlass-lab", &["cc", "tcp", "sim", "stats", "scenario", "run", "report"]),
    ("windlass-web", &["lab"]),
    ("windlass-testbed", &["cc", "conform", "tcp", "sim", "scenario", "run"]),
    ("windlass-cli", &["cc", "tcp", "sim", "lab", "testbed"]),
    ("windlass-python", &["cc", "conform", "sim", "tcp", "lab", "cli"]),
    ("windlass-interop", &["cc", "conform", "tcp", "script", "sim", "scenario", "run", "testbed"]),
];

/// Returns every package of a build for this machine. Packages of other systems may not have been downloaded.
fn metadata() -> Vec<Value> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let cargo = std::env::var("CARGO").expect("cargo runs the tests");
    let said = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo");
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    let all: Value = serde_json::from_slice(&said.stdout).expect("JSON");
    all["packages"].as_array().expect("packages").clone()
}

fn name(package: &Value) -> &str {
    package["name"].as_str().expect("a name")
}

#[test]
fn each_crate_depends_on_exactly_the_listed_lower_crates() {
    let packages = metadata();
    let ours = packages.iter().filter(|p| p["source"].is_null());
    assert_eq!(ours.clone().count(), LAYERS.len(), "a crate without a line in LAYERS");
    for package in ours {
        let place = LAYERS.iter().position(|(of, _)| *of == name(package));
        let place = place.unwrap_or_else(|| panic!("{} has no line in LAYERS", name(package)));
        let known: BTreeSet<&str> = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|d| d["kind"].is_null() && !d["path"].is_null())
            .map(name)
            .collect();
        let said: BTreeSet<String> =
            LAYERS[place].1.iter().map(|short| format!("windlass-{short}")).collect();
        assert_eq!(known, said.iter().map(String::as_str).collect(), "{}", name(package));
        let above = |k: &str| LAYERS[..place].iter().any(|(of, _)| *of == k);
        assert!(known.iter().all(|k| above(k)), "{} depends on a crate above it", name(package));
    }
}

/// The folders are products: `core` builds and passes its tests without the others, and `lab` without `linux`.
#[test]
fn core_uses_no_other_folder_and_lab_uses_linux_by_one_feature_only() {
    const FOLDERS: [&str; 3] = ["core", "lab", "linux"];
    let rank = |krate: &Path| {
        let folder = krate.parent().and_then(Path::file_name).expect("a folder");
        FOLDERS.iter().position(|of| folder == *of).expect("core, lab or linux")
    };
    let mut upwards = Vec::new();
    for package in metadata().iter().filter(|p| p["source"].is_null()) {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        let place = rank(manifest.parent().expect("a folder"));
        // Of every kind: also for tests and builds.
        for used in package["dependencies"].as_array().expect("dependencies") {
            if used["path"].as_str().is_some_and(|path| rank(Path::new(path)) > place) {
                upwards.push((
                    name(package).to_owned(),
                    name(used).to_owned(),
                    used["optional"] == true,
                ));
            }
        }
    }
    let kernels = ("windlass-cli".to_owned(), "windlass-testbed".to_owned(), true);
    assert_eq!(upwards, [kernels], "(crate, its dependency in a later folder, optional)");
}

#[test]
fn no_library_needs_a_newer_compiler_than_the_declared_version() {
    // The patch release of the compiler is ignored.
    let version =
        |text: &str| -> Vec<u32> { text.split('.').take(2).flat_map(str::parse).collect() };
    let packages = metadata();
    let of = |p: &Value| p["rust_version"].as_str().map(version);
    let ours = packages.iter().find(|p| name(p) == "windlass-cli").and_then(of).expect("ours");
    let newer: Vec<&str> =
        packages.iter().filter(|p| of(p).is_some_and(|theirs| theirs > ours)).map(name).collect();
    assert!(newer.is_empty(), "{newer:?} need more than Rust {ours:?}");
}

/// If the tests of a crate are one program, `suite.rs` must name each of their files. Otherwise the file is
/// never compiled.
#[test]
fn every_file_of_tests_is_compiled() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let listed = |group| fs::read_dir(root.join(group)).expect("listed");
    let mut suites = 0;
    for folder in ["core", "lab", "linux"].into_iter().flat_map(listed) {
        let folder = folder.expect("listed").path();
        let Ok(suite) = fs::read_to_string(folder.join("tests/suite.rs")) else { continue };
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        suites += 1;
        for file in fs::read_dir(folder.join("tests")).expect("listed") {
            let file = file.expect("listed").path();
            let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
            let tested = suite.contains(&format!("\nmod {name};\n"))
                || manifest.contains(&format!("[[test]]\nname = \"{name}\"\n"));
            let rust = file.extension().is_some_and(|e| e == "rs");
            assert!(
                !rust || tested,
                "{} is not in any test program: add it to suite.rs",
                file.display()
            );
        }
    }
    assert!(suites >= 8, "{suites} suites");
}
