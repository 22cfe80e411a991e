//! Paper folders that a stranger would write: what they yield, and what is said of their mistakes.

use std::fs;
use std::path::Path;

use crate::paper_support;
use windlass_lab::papers::check::check;
use windlass_lab::papers::{Paper, new};

/// A new paper's folder in which texts are replaced, and files added to.
fn folder(dir: &Path, changes: &[(&str, &str, &str)], more: &[(&str, &str)]) -> Paper {
    let folder = new(&dir.join("mine")).unwrap();
    for (file, from, to) in changes {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        assert!(text.contains(from), "{file} has no {from}");
        fs::write(folder.join(file), text.replace(from, to)).unwrap();
    }
    for (file, text) in more {
        let before = fs::read_to_string(folder.join(file)).unwrap_or_default();
        fs::write(folder.join(file), before + text).unwrap();
    }
    Paper::read(&folder).unwrap()
}

const TWO_TRACES: &str = r#"
[[trace]]
for = { id = ["t1", "t2"] }
id = "{{ id }}"
experiment = "loss"
point = "p=1%"
series = ["cwnd_bytes"]
interval = "1s"
"#;

const THEIR_QUANTITIES: &str = r#"
[[quantity]]
for = { id = ["t1", "t2"] }
name = "q.{{ id }}"
is = "{{ trace(id).series('cwnd_bytes', 0).mean(20) / 1460 }}"
"#;

const THEIR_CLAIMS: &str = r#"
[[claim]]
for = { id = ["t1", "t2"] }
id = "q.{{ id }}"
source = "x"
quantity = "mean window by trace {{ id }}"
unit = "1"
paper = 12.0
measure = { trace = "q.{{ id }}" }
tolerance = { relative = 0.9, reason = "an example" }
"#;

#[test]
fn two_traces_of_one_run_yield_both_their_quantities() {
    let dir = tempfile::tempdir().unwrap();
    let more = [
        ("experiments.toml", TWO_TRACES),
        ("quantities.toml", THEIR_QUANTITIES),
        ("claims.toml", THEIR_CLAIMS),
    ];
    let paper = folder(dir.path(), &[("network.toml", "200s", "20s")], &more);
    let outcome = paper_support::quick(&paper, &dir.path().join("out"));
    let of = |id: &str| outcome.judgements.iter().find(|j| j.id == id).unwrap();
    let (first, second) = (of("q.t1"), of("q.t2"));
    assert!(first.n >= 6 && first.measured.is_some(), "{first:?}");
    assert_eq!(
        (first.n, first.measured, first.verdict),
        (second.n, second.measured, second.verdict)
    );
}

const TRACE: &str = r#"
[[trace]]
id = "t"
experiment = "loss"
point = "p=1%"
series = ["cwnd_bytes", "rto_ns"]
"#;

const CLAIM: &str = r#"
[[claim]]
id = "traced"
source = "x"
quantity = "x"
unit = "1"
measure = { trace = "q" }
direction = { greater_than = { constant = 1.0 } }
"#;

/// The paper with one trace, and one quantity of it that a claim reads.
fn traced(dir: &Path, quantity: &str) -> Paper {
    let quantity = format!("[[quantity]]\nname = \"q\"\nis = \"{{{{ {quantity} }}}}\"\n");
    let more =
        [("experiments.toml", TRACE), ("quantities.toml", &quantity), ("claims.toml", CLAIM)];
    folder(dir, &[("network.toml", "200s", "5s")], &more)
}

#[test]
fn a_quantity_that_its_trace_cannot_have_is_an_error() {
    for (quantity, expected) in [
        (
            "trace('t').series('srtt_ns').max",
            "does not record `srtt_ns`; it records cwnd_bytes, rto_ns: add it to `series`",
        ),
        (
            "trace('t').series('cwnd_bytes', 9).max",
            "trace `t` has no flow 9; expected an index from 0 to 0, or a name: transfer",
        ),
        (
            "trace('t').series('cwnd_bytes', 'trnsfer').max",
            "trace `t` has no flow `trnsfer`; did you mean `transfer`?",
        ),
        (
            "trace('t').series('cwnd_bytes', -1).max",
            "`-1` is neither a flow's name nor its index; expected one of transfer",
        ),
        ("trace('t').series('cwnd').max", "there is no series `cwnd`; did you mean `cwnd_bytes`?"),
        (
            "trace('t').packets([0], 'delivered').n",
            "trace `t` captures no packets: add a link to `capture`",
        ),
        ("trace('t').exchange().rtt", "trace `t` captures no packets"),
        ("trace('u').series('cwnd_bytes').max", "there is no trace `u`; did you mean `t`?"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let errors = check(&traced(dir.path(), quantity)).expect_err(quantity);
        let said = paper_support::said(&errors);
        assert!(
            said.contains("quantities.toml:3:6: ") && said.contains(expected),
            "{quantity}: {said}"
        );
    }
    let dir = tempfile::tempdir().unwrap();
    check(&traced(dir.path(), "trace('t').series('cwnd_bytes', 'transfer').max")).unwrap();
}

#[test]
fn a_quantity_without_a_value_has_the_reason_in_its_verdict() {
    for (quantity, expected) in [
        (
            "trace('t').series('cwnd_bytes', 'transfer').at(-1)",
            "No traced run yields `q`: `.at(-1)` is before the first value, at 0 s.",
        ),
        (
            "trace('t').series('cwnd_bytes').since(99).max",
            "No traced run yields `q`: `.max` of a series without a value.",
        ),
        (
            "trace('t').series('cwnd_bytes').since(99).mean(5)",
            "`.mean(5)` of a series without a value.",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let paper = traced(dir.path(), quantity);
        check(&paper).unwrap_or_else(|e| panic!("{}", paper_support::said(&e)));
        let outcome = paper_support::quick(&paper, &dir.path().join("out"));
        let traced = outcome.judgements.iter().find(|j| j.id == "traced").unwrap();
        assert!(traced.note.contains(expected), "{quantity}: {}", traced.note);
    }
}
