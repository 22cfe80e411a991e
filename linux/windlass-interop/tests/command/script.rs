//! `windlass-dev script`, as a user calls it.

use std::fs;

use super::{call, done};
use windlass_skip::skip;
use windlass_testbed::vm;

const GOOD: &str = "title A closed end refuses\nsource RFC 9293 section 3.10.7.1\n\
    < S 0 win 60000 <mss 1000>\n> R. 0 ack 1\n";

/// Runs the command on a file with this text.
fn play(text: &str) -> super::Said {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("one.script");
    fs::write(&file, text).expect("written");
    call(&["script", file.to_str().expect("plain")])
}

#[test]
fn committed_scripts_pass_and_are_listed_in_a_table() {
    let said = done(&["script"]);
    let last = said.out.lines().last().expect("a summary");
    let (count, rest) = last.split_once(' ').expect("a count");
    assert!(count.parse::<u32>().is_ok_and(|n| n >= 60), "{last}");
    assert_eq!(rest, "scripts on sim, 0 failed, 0 skipped");
    assert!(said.out.contains("paws") && said.out.contains("RFC 7323 section 5.3"), "{}", said.out);
}

#[test]
fn failed_script_exits_with_1_and_shows_the_exchange() {
    let said = play(&GOOD.replace("> R. 0 ack 1", "> R. 0 ack 7"));
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.out.contains("FAILED") && said.out.contains("1 failed"), "{}", said.out);
    for part in
        ["one.script:4: sim differs from the script", "acknowledgement 1 instead of 7", "|----"]
    {
        assert!(said.err.contains(part), "{part}: {}", said.err);
    }
}

#[test]
fn invalid_script_exits_with_2_and_names_place_and_remedy() {
    let said = play(&GOOD.replace("> R. 0", "> Q. 0"));
    assert_eq!(said.code, Some(2), "{}", said.err);
    assert!(said.err.contains("one.script:4:3: invalid flags \"Q.\""), "{}", said.err);
    assert!(said.err.contains("flags are S, F, R, P"), "{}", said.err);
    let missing = call(&["script", "no-such-file"]);
    assert_eq!(missing.code, Some(2), "{}", missing.err);
    assert!(missing.err.contains("cannot read no-such-file"), "{}", missing.err);
    let empty = tempfile::tempdir().expect("a folder");
    let none = call(&["script", empty.path().to_str().expect("plain")]);
    assert_eq!(none.code, Some(2), "{}", none.err);
    assert!(none.err.contains("no script to play"), "{}", none.err);
}

#[test]
fn script_plays_on_the_kernel_or_names_the_missing_requirement() {
    let said = call(&["script", "conformance/scripts/passive-open.script", "--on", "linux"]);
    if said.code == Some(1) && said.err.contains("scripts on linux need") {
        skip(said.err.trim());
        return;
    }
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert!(said.out.contains("1 scripts on linux, 0 failed"), "{}", said.out);
}

#[test]
fn scripts_of_accurate_ecn_pass_on_linux_7_3() {
    let series = vm::Series::V7_3;
    if let Err(why) = vm::check(series).and_then(|()| vm::prepare(series, &mut |_| {})) {
        skip(why);
        return;
    }
    let said = done(&["script", "conformance/scripts/accecn", "--on", "linux-vt=7.3"]);
    assert!(said.out.contains("58 scripts on linux-vt=7.3, 0 failed, 0 skipped"), "{}", said.out);
}
