//! Compares the page of algorithms and the references with the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use windlass_lab::catalogue::{describe, entries, find, list, markdown};

fn docs(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src").join(name)
}

#[test]
fn the_page_has_a_section_for_each_entry() {
    let page = markdown();
    for entry in entries() {
        let heading = format!("\n### `{}`: ", entry.info().id);
        assert!(page.contains(&heading), "{heading}");
    }
}

/// Entry types and keys of the BibTeX file.
fn references() -> Vec<(String, String)> {
    let text = fs::read_to_string(docs("reference/references.bib")).unwrap();
    let heads = text.lines().filter_map(|line| line.strip_prefix('@')?.strip_suffix(','));
    heads
        .map(|head| head.split_once('{').expect("an entry"))
        .map(|(kind, key)| (kind.to_owned(), key.to_owned()))
        .collect()
}

#[test]
fn every_citation_key_is_in_the_references_and_every_reference_is_cited() {
    let keys: Vec<String> = references().into_iter().map(|(_, key)| key).collect();
    let unique: BTreeSet<&String> = keys.iter().collect();
    assert_eq!(unique.len(), keys.len(), "a key twice");
    for entry in entries() {
        let info = entry.info();
        assert!(keys.iter().any(|key| key == info.citation), "{}: {}", info.id, info.citation);
    }
    let cited: BTreeSet<&str> = entries().iter().map(|entry| entry.info().citation).collect();
    // The page of the patient ward cites the sources of its scenario.
    let ward = fs::read_to_string(docs("studies/patient-ward.md")).unwrap();
    for key in &keys {
        let on_the_page = ward.contains(&format!("`{key}`"));
        assert!(cited.contains(key.as_str()) || on_the_page, "nothing cites {key}");
    }
}

#[test]
fn references_are_well_formed() {
    let text = fs::read_to_string(docs("reference/references.bib")).unwrap();
    let count = |c: char| text.chars().filter(|x| *x == c).count();
    assert_eq!(count('{'), count('}'));
    for entry in text.split("\n@").skip(1) {
        let key = entry.split(['{', ',']).nth(1).unwrap();
        for field in ["author", "title"] {
            assert!(entry.contains(&format!("\n  {field} ")), "{key} lacks {field}");
        }
    }
}

#[test]
fn descriptions_are_complete() {
    for entry in entries() {
        let info = entry.info();
        assert!(info.description.split_whitespace().count() >= 15, "{}", info.id);
        assert!(!info.origin.is_empty() && info.id == info.id.to_lowercase(), "{}", info.id);
        for param in info.params {
            assert!(!param.doc.trim().is_empty(), "{}: {}", info.id, param.name);
            assert!(!param.source.trim().is_empty(), "{}: {}", info.id, param.name);
        }
        let names: BTreeSet<_> = info.trace.iter().map(|field| field.name).collect();
        assert_eq!(names.len(), info.trace.len(), "{}: a trace field twice", info.id);
        let text = describe(&entry);
        assert!(text.contains(info.citation) && text.contains(entry.kind()), "{text}");
        assert!(list().contains(info.id));
        assert!(text.lines().all(|line| line.chars().count() <= 140), "{text}");
    }
}

#[test]
fn algorithms_slow_starts_and_timers_are_found_in_upper_and_lower_case() {
    let kinds = |name: &str| find(name).iter().map(|e| e.kind()).collect::<Vec<_>>();
    assert_eq!(kinds("Cubic"), ["algorithm"]);
    assert_eq!(kinds("HYSTART"), ["slow start"]);
    assert_eq!(kinds("rfc6298"), ["timer"]);
    assert_eq!(kinds("cubik"), [""; 0]);
}
