//! More than a hundred mistakes in a paper's folder. Each is an error with its place, before any run.

use std::fs;
use std::panic::catch_unwind;
use std::path::Path;

use crate::paper_support;
use windlass_lab::papers::check::check;
use windlass_lab::papers::{Paper, new};

/// Rows of file, text in it, replacement, and the beginning of the error.
const MISTAKES: &str = include_str!("data/paper-mistakes.json");

/// Additions to the new folder of a paper.
const MORE: [(&str, &str); 3] = [
    (
        "experiments.toml",
        "\n[[trace]]\nid = \"t\"\nexperiment = \"loss\"\npoint = \"p=1%\"\nseries = [\"cwnd_bytes\"]\n",
    ),
    (
        "quantities.toml",
        "[[quantity]]\nname = \"q\"\ntrace = \"t\"\nis = { of = \"cwnd_bytes\", take = \"max\", unit = 1460 }\n",
    ),
    (
        "claims.toml",
        "\n[[claim]]\nid = \"traced\"\nsource = \"x\"\nquantity = \"x\"\nunit = \"1\"\n\
         measure = { trace = \"q\" }\ndirection = { greater_than = { constant = 1.0 } }\n",
    ),
];

/// The errors of a folder with one mistake; empty if it passes.
fn said(dir: &Path, [file, from, to, _]: &[String; 4]) -> String {
    let folder = new(&dir.join("mine")).unwrap();
    for (file, text) in MORE {
        let before = fs::read_to_string(folder.join(file)).unwrap_or_default();
        fs::write(folder.join(file), before + text).unwrap();
    }
    let text = fs::read_to_string(folder.join(file)).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(folder.join(file), text.replacen(from, to, 1)).unwrap();
    let said = match Paper::read(&folder) {
        Err(e) => e.to_string(),
        Ok(paper) => check(&paper).map_or_else(|e| paper_support::said(&e), |_| String::new()),
    };
    said.replace(&format!("{}/", folder.display()), "")
}

#[test]
fn each_mistake_is_an_error_at_its_place() {
    let mut odd = Vec::new();
    let mistakes: Vec<[String; 4]> = serde_json::from_str(MISTAKES).unwrap();
    for row in &mistakes {
        let dir = tempfile::tempdir().unwrap();
        let said = catch_unwind(|| said(dir.path(), row)).unwrap_or_else(|_| "panicked".to_owned());
        if said.is_empty() || !said.starts_with(&row[3]) {
            let [file, _, to, expected] = row;
            odd.push(format!("{file}: {to:?} gives {said:?}, not {expected:?}"));
        }
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}
