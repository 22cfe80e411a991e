//! Paper folders that a stranger would write: what they yield, and what is said of their mistakes.

use std::fs;
use std::path::Path;

use crate::paper_support;
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
