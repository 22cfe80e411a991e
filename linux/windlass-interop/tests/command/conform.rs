//! `windlass-dev conform`, as a user calls it.

use std::fs;

use super::{call, done};

#[test]
fn vectors_of_the_models_pass_and_are_listed_in_a_table() {
    let said = done(&["conform"]);
    let last = said.out.lines().last().expect("a summary");
    let (count, rest) = last.split_once(' ').expect("a count");
    assert!(count.parse::<u32>().is_ok_and(|n| n > 100) && rest == "vectors, 0 failed", "{last}");
    let one = done(&["conform", "--algorithm", "CUBIC"]);
    assert!(one.out.contains("two-losses") && !one.out.contains("reno"), "{}", one.out);
}

#[test]
fn failed_vector_exits_with_1_and_names_the_place() {
    let dir = tempfile::tempdir().expect("a folder");
    let said = done(&["conform", "--write", dir.path().to_str().expect("plain")]);
    assert!(said.err.contains(" vectors in "), "{}", said.err);
    assert!(dir.path().join("README.md").exists());
    let text = fs::read_to_string(dir.path().join("reno/timeout.jsonl")).expect("a vector");
    let file = dir.path().join("wrong.jsonl");
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
fn invalid_vector_exits_with_2_and_names_the_place() {
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
