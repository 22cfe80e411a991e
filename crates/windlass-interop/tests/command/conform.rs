//! `windlass-dev conform`, as a user calls them.

use std::fs;
use std::path::Path;

use super::{call, done, root};

#[test]
fn the_committed_vectors_hold_and_a_table_says_so() {
    let said = done(&["conform"]);
    let last = said.out.lines().last().expect("a summary");
    let (count, rest) = last.split_once(' ').expect("a count");
    assert!(count.parse::<u32>().is_ok_and(|n| n > 100) && rest == "vectors, 0 failed", "{last}");
    let one = done(&["conform", "--algorithm", "CUBIC"]);
    assert!(one.out.contains("two-losses") && !one.out.contains("reno"), "{}", one.out);
}

#[test]
fn a_vector_that_does_not_hold_ends_with_code_1_and_says_where() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("wrong.jsonl");
    let text = fs::read_to_string(root().join("conformance/reno/timeout.jsonl")).expect("a vector");
    let keep = "\"initial_window\":17520";
    assert!(text.contains(keep));
    fs::write(&file, text.replace(keep, "\"initial_window\":16000")).expect("written");
    let said = call(&["conform", file.to_str().expect("plain")]);
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(
        said.out.contains("FAILED") && said.out.contains("1 vectors, 1 failed"),
        "{}",
        said.out
    );
    let expected = "wrong.jsonl:1: cwnd: expected 17520 within 4, got 16000";
    assert!(said.err.contains(expected), "{}", said.err);
}

#[test]
fn what_is_no_vector_ends_with_code_2_and_says_where() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("none.jsonl");
    fs::write(&file, "{\"format\":\"something else\"}\n").expect("written");
    let file = file.to_str().expect("plain");
    for (args, says) in [
        (vec!["conform", file], "none.jsonl:1: "),
        (vec!["conform", "/no/such/vector.jsonl"], "cannot read /no/such/vector.jsonl"),
        (vec!["conform", "--algorithm", "renoo"], "called \"renoo\"; did you mean `reno`?"),
        (vec!["conform", dir.path().to_str().expect("plain")], "none.jsonl:1: "),
    ] {
        let said = call(&args);
        assert_eq!(said.code, Some(2), "{args:?} {}", said.err);
        assert!(said.err.contains(says), "{args:?} {}", said.err);
    }
}

#[test]
fn the_vectors_are_written_again_byte_for_byte() {
    let dir = tempfile::tempdir().expect("a folder");
    let said = done(&["conform", "--write", dir.path().to_str().expect("plain")]);
    assert!(said.err.contains(" files in "), "{}", said.err);
    for file in ["reno/timeout.jsonl", "README.md"] {
        let read = |root: &Path| fs::read(root.join(file)).expect(file);
        assert!(read(dir.path()) == read(&root().join("conformance")), "{file} differs");
    }
}
