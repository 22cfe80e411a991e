//! The vectors that the models give, and a check that wrong parameters fail.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use serde_json::Value;
use sha2::{Digest, Sha256};
use windlass_cc::{ALGORITHMS, AnyParams, Param, ParamKind, Ratio};
use windlass_conform::check::check_text;
use windlass_conform::subjects::subjects;
use windlass_conform::{CheckError, File, vectors};

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/vectors.txt");

fn generated(path: &str) -> String {
    let file = vectors().into_iter().find(|file| file.path == path);
    file.unwrap_or_else(|| panic!("no {path}")).text
}

fn sums() -> String {
    let mut out = String::new();
    for File { path, text } in vectors() {
        let sum = Sha256::digest(text);
        let sum: String = sum.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        let _ = writeln!(out, "{sum} {path}");
    }
    out
}

/// `WINDLASS_BLESS=1` writes the checksums. Before, compare the vectors of both versions, which
/// `windlass-dev conform --write FOLDER` writes.
#[test]
fn the_models_give_the_vectors_with_these_checksums() {
    let sums = sums();
    if env::var_os("WINDLASS_BLESS").is_some() {
        fs::write(KEPT, &sums).unwrap();
    }
    let kept = fs::read_to_string(KEPT).unwrap();
    let changed: Vec<&str> = sums.lines().filter(|line| !kept.contains(line)).collect();
    assert!(changed.is_empty(), "changed or new:\n{}", changed.join("\n"));
    assert_eq!(kept.lines().count(), sums.lines().count(), "vectors are missing");
}

#[test]
fn every_algorithm_agrees_with_its_vectors() {
    let mut failed = Vec::new();
    for File { path, text } in vectors() {
        let outcome = check_text(Path::new(&path), &text).unwrap_or_else(|e| panic!("{e}"));
        assert!(outcome.answers > 20, "{path}");
        failed.extend(outcome.failure.map(|mismatch| mismatch.to_string()));
    }
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn vectors_are_short_enough_to_be_read() {
    for File { path, text } in vectors() {
        assert!(text.lines().count() <= 400, "{path}: {}", text.lines().count());
    }
}

#[test]
fn a_wrong_expectation_is_found_with_its_line() {
    let text = generated("reno/one-loss.jsonl");
    let changed: Vec<String> = text
        .lines()
        .enumerate()
        .map(|(number, line)| match number {
            7 => line.replace("\"expect\":{\"cwnd\":", "\"expect\":{\"cwnd\":9"),
            _ => line.to_owned(),
        })
        .collect();
    assert_ne!(changed.join("\n"), text.trim_end());
    let outcome = check_text(Path::new("x.jsonl"), &changed.join("\n")).unwrap();
    let failure = outcome.failure.expect("a mismatch");
    assert_eq!((failure.line, failure.what), (8, "cwnd"));
    assert!(failure.to_string().starts_with("x.jsonl:8: cwnd: expected 9"), "{failure}");
    assert!(outcome.worst > 1.0);
}

/// Parameters that no case can show. Some matter only in another variant than the default, after tens of rounds or
/// minutes, or at a loss after a rise of the throughput that follows two losses without a rise. Others belong to the
/// connection, which selects the algorithm of its paths, or to the lower layers, which are not in a vector.
const UNSEEN: &[(&str, &str)] = &[
    ("htcp", "clock"),
    ("tcp-modified", "when_rising"),
    ("hybla", "initial_rho"), // no round trip is known when a vector begins
    ("yeah", "rho"),
    ("yeah", "zeta"),
    ("yeah", "forget_base"),
    ("ledbat", "base_history"),
    ("mfvl", "mvegas_beta_offset"), // `mvegas` has these two
    ("mfvl", "mvegas_decrement"),
    ("mfvl", "mfast_mi"), // and `mfast` this
    ("mfvl", "cycle"),
    ("mfvl", "interval"),
    ("mfvl", "delta"),
    ("mfvl", "matching"),
    ("mfvl", "events"),
    ("mfvl", "reset"),
    ("mfvl", "compare"),
    ("mfvl", "selection"),
    ("mfvl", "first"),
    ("cocoa3plus", "delay"),
    ("cocoa3plus", "bandwidth"),
    ("cocoa3plus", "queue"),
    ("cocoa3plus", "queue_weight"),
    ("cocoa3plus", "queue_share"),
];

/// For every parameter, a vector must fail with the parameter at one end of its range. For algorithms with separate
/// cases, this must hold for each end.
#[test]
fn a_wrong_parameter_is_noticed() {
    let files = vectors();
    let mut unseen = Vec::new();
    for info in ALGORITHMS {
        let prefix = format!("{}/", info.id);
        let vectors: Vec<&File> = files.iter().filter(|f| f.path.starts_with(&prefix)).collect();
        let Some(subject) = subjects(info.id).next() else { continue };
        let own = subject.own.is_some();
        for (place, param) in info.params.iter().enumerate() {
            let set = subject.params.iter().find(|(name, _)| *name == param.name);
            let default = || AnyParams::by_name(info.id).unwrap().get(place).unwrap();
            let usual = set.map_or_else(default, |(_, raw)| *raw);
            let wrong = wrong_values(param).into_iter().filter(|(raw, _)| *raw != usual);
            let noticed = |(_, value): (u64, Value)| {
                vectors.iter().any(|file| {
                    let text = with_param(&file.text, param.name, value.clone());
                    check_text(Path::new(&file.path), &text).unwrap().failure.is_some()
                })
            };
            let mut noticed = wrong.map(noticed);
            let enough = if own { noticed.all(|it| it) } else { noticed.any(|it| it) };
            if !enough {
                unseen.push((info.id, param.name));
            }
        }
    }
    assert_eq!(unseen, UNSEEN);
}

/// Both ends of the range, as raw values and as values of a header.
fn wrong_values(param: &Param) -> Vec<(u64, Value)> {
    let ratio = |r: Ratio| (r.0, Value::from(r.0 as f64 / 65_536.0));
    let whole = |raw: u64| (raw, Value::from(raw));
    match param.kind {
        ParamKind::Bytes { min, max }
        | ParamKind::Segments { min, max }
        | ParamKind::Count { min, max } => vec![whole(min), whole(max)],
        ParamKind::Time { min, max } => vec![whole(min.0), whole(max.0)],
        ParamKind::Ratio { min, max } => vec![ratio(min), ratio(max)],
        ParamKind::Flag => vec![(1, true.into()), (0, false.into())],
        ParamKind::Choice(words) => (0..).zip(words.iter().map(|w| Value::from(*w))).collect(),
    }
}

fn with_param(text: &str, name: &str, value: Value) -> String {
    let (header, rest) = text.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["params"][name] = value;
    format!("{header}\n{rest}")
}

#[test]
fn a_vector_of_one_recovery_does_not_fit_another() {
    let text = generated("newreno/two-holes.jsonl").replace("\"newreno\",\"ack", "\"sack\",\"ack");
    assert!(check_text(Path::new("x"), &text).unwrap().failure.is_some());
}

#[test]
fn an_invalid_vector_is_refused_with_its_line() {
    let text = generated("reno/slow-start.jsonl");
    let refused = |from: &str, to: &str, line: usize, says: &str| {
        let text = text.replacen(from, to, 1);
        match check_text(Path::new("x.jsonl"), &text) {
            Err(e @ CheckError::Format { line: at, .. }) => {
                assert_eq!(at, line, "{e}");
                assert!(e.to_string().contains(says), "{e}");
            }
            other => panic!("{other:?}"),
        }
    };
    refused("\"version\":1", "\"version\":7", 1, "version 7");
    refused("\"algorithm\":\"reno\"", "\"algorithm\":\"rhino\"", 1, "rhino");
    refused("\"per-ack\"", "\"per-haps\"", 1, "increase");
    refused("\"event\":\"ack\"", "\"event\":\"rack\"", 2, "rack");
    refused("\"acked\":1460,", "", 2, "`acked`");
    refused("\"acked\":1460,", "\"acker\":1460,", 2, "acker");
    refused("{\"event\"", "{\"event", 2, "column");
}
