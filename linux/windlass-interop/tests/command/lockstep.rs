//! `windlass-dev lockstep`, as a user calls it.

use super::{call, done};
use windlass_skip::skip;
use windlass_testbed::vm;

/// The seeds, and the minimum number of equal cases. 6.12 reaches 39; the number may only rise.
const SEEDS: &str = "1..40";
const EQUAL: u32 = 38;

#[test]
fn invalid_arguments_exit_with_2() {
    for (args, expected) in [
        (
            vec!["--on", "sim"],
            "lockstep needs a kernel in virtual time, not sim: give --on linux-vt=6.12",
        ),
        (vec!["--on", "linux"], "lockstep needs a kernel in virtual time, not linux"),
        (vec!["--seeds", "9..3"], "give one number, or the first and the last seed as 1..300"),
        (vec!["--seeds", "few"], "give one number, or the first and the last seed as 1..300"),
    ] {
        let said = call(&[&["lockstep"], &args[..]].concat());
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains(expected), "{}", said.err);
    }
}

#[test]
fn random_exchanges_reach_the_minimum_of_equal_cases_repeatably() {
    let available = vm::Series::ALL.into_iter().find(|series| vm::check(*series).is_ok());
    let Some(series) = available else {
        skip(vm::check(vm::Series::V6_12).expect_err("nothing to run on"));
        return;
    };
    let world = format!("linux-vt={series}");
    let call = || {
        let args = ["lockstep", "--seeds", SEEDS, "--on", &world, "--tries", "0", "--allow", "40"];
        done(&args).out
    };
    let first = call();
    let summary = first.lines().last().expect("a summary");
    let equal = summary.strip_prefix("40 cases: ").and_then(|rest| rest.split_once(" equal"));
    let equal: u32 = equal.and_then(|found| found.0.parse().ok()).expect(summary);
    assert!(equal >= EQUAL, "{first}");
    assert!(summary.ends_with(" 0 not played"), "{summary}");
    assert_eq!(first, call());
}
