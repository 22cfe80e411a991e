//! `windlass schema` with scenarios. The scenarios of the repository and their stored forms are valid, and
//! scenarios with mistakes are not. Python's `jsonschema` validates them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{fs, str};

use windlass_lab::scenario::Scenario;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Prints one line per error: file, place, message.
const JUDGE: &str = r#"
import json, sys, tomllib
from jsonschema import Draft7Validator
schema = json.load(open(sys.argv[1]))
Draft7Validator.check_schema(schema)
validator = Draft7Validator(schema)
for path in sys.argv[2:]:
    with open(path, "rb") as file:
        for error in validator.iter_errors(tomllib.load(file)):
            print(path, error.json_path, error.message[:300])
"#;

fn python(arguments: &[&Path], script: &str) -> Output {
    let mut python = Command::new("python3");
    python.arg("-c").arg(script).args(arguments).output().expect("python3")
}

/// A folder with the schema; `None` without Python's `jsonschema`.
fn judge() -> Option<tempfile::TempDir> {
    let there = Command::new("python3").args(["-c", "import jsonschema, tomllib"]).output();
    if !there.is_ok_and(|out| out.status.success()) {
        windlass_skip::skip("python3 has no jsonschema; no scenario was held against the schema");
        return None;
    }
    let out = Command::new(env!("CARGO_BIN_EXE_windlass")).arg("schema").output().expect("runs");
    assert!(out.status.success());
    let dir = tempfile::tempdir().expect("a folder");
    fs::write(dir.path().join("schema.json"), out.stdout).expect("written");
    Some(dir)
}

/// The errors of these files by the schema.
fn errors(dir: &Path, files: &[PathBuf]) -> String {
    let schema = dir.join("schema.json");
    let all: Vec<&Path> =
        std::iter::once(schema.as_path()).chain(files.iter().map(PathBuf::as_path)).collect();
    let out = python(&all, JUDGE);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// Every scenario file below a folder.
fn scenarios(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        let is_scenario = |text: String| text.lines().any(|l| l.starts_with("[[flow]]"));
        if path.is_dir() {
            scenarios(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml")
            && fs::read_to_string(&path).is_ok_and(is_scenario)
        {
            found.push(path);
        }
    }
}

#[test]
fn every_scenario_and_its_stored_form_fit_the_schema() {
    let Some(dir) = judge() else { return };
    let mut files = Vec::new();
    for folder in ["papers", "scenarios"] {
        scenarios(&Path::new(ROOT).join(folder), &mut files);
    }
    assert!(files.len() >= 20, "{}", files.len());
    let reference = fs::read_to_string(Path::new(ROOT).join("docs/src/reference/scenarios.md"));
    let reference = reference.expect("the reference");
    let examples = reference.split("```toml\n").skip(1).filter_map(|s| s.split("```").next());
    for (i, example) in examples.filter(|e| e.contains("[[flow]]")).enumerate() {
        let path = dir.path().join(format!("example-{i}.toml"));
        fs::write(&path, example).expect("written");
        files.push(path);
    }
    for (i, file) in files.clone().iter().enumerate() {
        let scenario = Scenario::from_file(file).unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join(format!("stored-{i}.toml"));
        fs::write(&path, scenario.resolved_toml()).expect("written");
        files.push(path);
    }
    let errors = errors(dir.path(), &files);
    assert!(errors.is_empty(), "{errors}");
}

const WHOLE: &str = r#"
duration = "10s"
[stack]
preset = "linux"
rto = { algorithm = "rfc6298", min = "200ms" }
[[link]]
between = ["a", "b"]
rate = "1Mbps"
queue = { discipline = "red", limit = "20pkt" }
loss = { model = "drop", probability = "1%" }
[[wifi]]
standard = "802.11g"
access_point = "b"
stations = ["c"]
routing = "static"
[[flow]]
from = "a"
to = "b"
algorithm = "cubic"
params = { keep = 0.7 }
slow_start = { name = "hystart", detect = "delay" }
traffic = { kind = "bulk", bytes = "1MB" }
read = { kind = "rate", rate = "1Mbps" }
[record]
series = ["cwnd_bytes"]
"#;

#[test]
fn the_schema_and_windlass_refuse_the_same_mistakes() {
    let slips = [
        ("duration = \"10s\"", ""),
        ("duration = \"10s\"", "duration = 10"),
        ("duration = \"10s\"", "duration = \"10 parsecs\""),
        ("duration = \"10s\"", "duration = \"10s\"\nseeds = 3"),
        ("duration = \"10s\"", "duration = \"10s\"\nseed = -3"),
        ("preset = \"linux\"", "preset = \"lunix\""),
        ("preset = \"linux\"", "sack = \"yes\""),
        ("min = \"200ms\"", "minimum = \"200ms\""),
        ("rate = \"1Mbps\"\nqueue", "rate = \"1Mb\"\nqueue"),
        ("limit = \"20pkt\"", "limit = \"20pkt\", target = \"5ms\""),
        ("discipline = \"red\"", "discipline = \"read\""),
        ("model = \"drop\", probability", "model = \"drop\", rate"),
        ("probability = \"1%\"", "probability = 1.5"),
        ("standard = \"802.11g\"", "standard = \"802.11ax\""),
        ("stations = [\"c\"]", "stations = [{ at = [\"1m\", \"1m\"] }]"),
        ("routing = \"static\"", "routing = { protocol = \"aodv\", ttl = 3 }"),
        ("from = \"a\"", "form = \"a\""),
        ("algorithm = \"cubic\"", "algorithm = \"cubik\""),
        ("keep = 0.7", "kept = 0.7"),
        ("keep = 0.7", "keep = 7.0"),
        ("keep = 0.7", "keep = true"),
        ("name = \"hystart\"", "name = \"hystar\""),
        ("detect = \"delay\"", "detects = \"delay\""),
        ("kind = \"bulk\", bytes", "kind = \"bulk\", requests"),
        ("kind = \"rate\"", "kind = \"delayed\""),
        ("\"cwnd_bytes\"]", "3]"),
    ];
    assert!(Scenario::from_str(WHOLE, "whole.toml").is_ok());
    let Some(dir) = judge() else { return };
    let path = |i: usize| dir.path().join(format!("slip-{i}.toml"));
    let whole = dir.path().join("whole.toml");
    fs::write(&whole, WHOLE).expect("written");
    assert_eq!(errors(dir.path(), &[whole]), "");
    for (i, (right, wrong)) in slips.iter().enumerate() {
        assert!(WHOLE.contains(right), "{right}");
        let text = WHOLE.replacen(right, wrong, 1);
        assert!(Scenario::from_str(&text, "slip.toml").is_err(), "Windlass takes {wrong}");
        fs::write(path(i), text).expect("written");
    }
    let files: Vec<PathBuf> = (0..slips.len()).map(path).collect();
    let errors = errors(dir.path(), &files);
    for (file, (_, wrong)) in files.iter().zip(slips) {
        assert!(errors.contains(&file.display().to_string()), "the schema takes {wrong}");
    }
}
