//! `windlass-dev interop`, as a user calls it.

use super::{call, done};
use windlass_skip::skip;

#[test]
fn cases_are_listed_with_their_expected_results() {
    let said = done(&["interop", "--list"]);
    assert!(said.out.contains("lost-syn ") && said.out.contains("RFC 6298"), "{}", said.out);
    let one = done(&["interop", "--list", "--json", "--case", "random-loss-vegas"]);
    assert!(one.out.contains("\"direction\": \"ours-sends\""), "{}", one.out);
    assert!(!one.out.contains("kernel-sends"), "{}", one.out);
}

#[test]
fn invalid_arguments_exit_with_2() {
    for (args, expected) in [
        (vec!["--case", "lost-sin"], "no case is called \"lost-sin\""),
        (vec!["--on", "sim"], "the simulator has no kernel"),
        (vec!["--direction", "up"], "`ours-sends` or `kernel-sends`"),
        (vec!["--case", "random-loss-vegas", "--direction", "kernel-sends"], "in that direction"),
    ] {
        let said = call(&[&["interop"], &args[..]].concat());
        assert_eq!(said.code, Some(2), "{}", said.err);
        assert!(said.err.contains(expected), "{}", said.err);
    }
}

#[test]
fn cases_run_on_this_machines_kernel_and_are_listed_in_a_table() {
    let said = call(&["interop", "--case", "transfer", "--case", "closed-port"]);
    if said.err.contains("the live testbed needs") {
        skip(said.err.trim());
        return;
    }
    assert_eq!(said.code, Some(0), "{}{}", said.out, said.err);
    let last = said.out.lines().last().expect("a summary");
    assert!(last.starts_with("4 runs against Linux ") && last.ends_with(", 0 failed"), "{last}");
}
