//! Paper folders of other authors: their results, and the errors of their mistakes.

use std::fs;
use std::path::Path;

use crate::paper_support;
use windlass_lab::papers::check::check;
use windlass_lab::papers::{Paper, new};
use windlass_lab::reproduce::{Options, Reproduction};

/// A new paper's folder with replaced and added texts.
fn folder(dir: &Path, changes: &[(&str, &str, &str)], more: &[(&str, &str)]) -> Paper {
    fs::create_dir_all(dir).unwrap();
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
trace = "{{ id }}"
is = { of = "cwnd_bytes", until = 20, take = "mean", unit = 1460 }
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
fn two_traces_of_one_run_both_give_their_quantities() {
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

/// A paper with one trace, and one quantity of this trace that a claim reads.
fn traced(dir: &Path, quantity: &str) -> Paper {
    let quantity = format!("[[quantity]]\nname = \"q\"\ntrace = \"t\"\nis = {{ {quantity} }}\n");
    let more =
        [("experiments.toml", TRACE), ("quantities.toml", &quantity), ("claims.toml", CLAIM)];
    folder(dir, &[("network.toml", "200s", "5s")], &more)
}

#[test]
fn a_quantity_that_its_trace_cannot_have_is_an_error() {
    for (quantity, expected) in [
        (
            "of = 'srtt_ns', take = 'max'",
            "13: trace `t` does not record `srtt_ns`; it records cwnd_bytes, rto_ns: add it to `series`",
        ),
        (
            "of = 'cwnd_bytes', flow = 9, take = 'max'",
            "34: trace `t` has no flow 9; expected an index from 0 to 0, or a name: transfer",
        ),
        (
            "of = 'cwnd_bytes', flow = 'trnsfer', take = 'max'",
            "34: trace `t` has no flow `trnsfer`; did you mean `transfer`?",
        ),
        (
            "of = 'cwnd_bytes', flow = -1, take = 'max'",
            "34: `-1` is neither a flow's name nor its index; expected one of transfer",
        ),
        ("of = 'cwnd', take = 'max'", "13: series `cwnd` not found; did you mean `cwnd_bytes`?"),
        (
            "packets = 'delivered', take = 'count'",
            "18: trace `t` captures no packets: add a link to `capture`",
        ),
        ("exchange = 'lost'", "19: trace `t` captures no packets"),
        (
            "trace = 'u', of = 'cwnd_bytes', take = 'max'",
            "16: `trace`: trace `u` not found; did you mean `t`?",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let errors = check(&traced(dir.path(), quantity)).expect_err(quantity);
        let said = paper_support::said(&errors);
        assert!(said.contains(&format!("quantities.toml:4:{expected}")), "{quantity}: {said}");
    }
    let dir = tempfile::tempdir().unwrap();
    check(&traced(dir.path(), "of = 'cwnd_bytes', flow = 'transfer', take = 'max'")).unwrap();
}

#[test]
fn a_quantity_without_a_value_has_the_reason_in_its_verdict() {
    for (quantity, expected) in [
        (
            "of = 'cwnd_bytes', flow = 'transfer', at = -1",
            "No traced run yields `q`: `at` -1 s is before the first value of `cwnd_bytes`, at 0 s.",
        ),
        (
            "of = 'cwnd_bytes', since = 99, take = 'max'",
            "No traced run yields `q`: `max`: `cwnd_bytes` has no value there.",
        ),
        ("of = 'cwnd_bytes', when = { change = 99999 }", "`cwnd_bytes` has no such moment."),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let paper = traced(dir.path(), quantity);
        check(&paper).unwrap_or_else(|e| panic!("{}", paper_support::said(&e)));
        let outcome = paper_support::quick(&paper, &dir.path().join("out"));
        let traced = outcome.judgements.iter().find(|j| j.id == "traced").unwrap();
        assert!(traced.note.contains(expected), "{quantity}: {}", traced.note);
    }
}

#[test]
fn a_folder_with_the_name_of_a_built_in_paper_does_not_replace_its_results() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    let prepare = |paper: &Paper| {
        let options = Options {
            budget: Some(1.0),
            seeds: None,
            on: vec![],
            shard: None,
            out: out.clone(),
            command: String::new(),
        };
        Reproduction::prepare(paper, &options).map(|_| ()).map_err(|e| e.to_string())
    };
    let built_in = Paper::by_id("ccm-ss").unwrap();
    prepare(built_in).unwrap();
    let named = [("paper.toml", "name = \"mine\"", "name = \"ccm-ss\"")];
    let said = prepare(&folder(dir.path(), &named, &[])).unwrap_err();
    assert!(
        said.contains("mine/paper.toml:4:9: ")
            && said.contains("has results of the built-in paper; give this paper another `name`"),
        "{said}"
    );
    // The folder of the built-in paper counts as the built-in paper.
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../papers/ccm-ss");
    prepare(&Paper::read(&own).unwrap()).unwrap();
}

#[test]
fn two_folders_of_one_name_do_not_share_results() {
    let dir = tempfile::tempdir().unwrap();
    let (one, other) = (dir.path().join("one"), dir.path().join("other"));
    let out = dir.path().join("out");
    let one = folder(&one, &[], &[]);
    paper_support::quick(&one, &out);
    let title = [("paper.toml", "title = \"", "title = \"Not ")];
    let other = folder(&other, &title, &[]);
    let said = Reproduction::revisit(&other, &out).map(|_| ()).unwrap_err().to_string();
    assert!(
        said.contains("mine has results of the paper in") && said.contains("one/mine"),
        "{said}"
    );
    Reproduction::revisit(&one, &out).map(|_| ()).unwrap();
}

#[test]
fn an_experiment_with_too_many_points_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let many = [("experiments.toml", "[\"0.1%\", \"1%\"]", "\"{{ range(20000)|list }}\"")];
    let paper = folder(dir.path(), &many, &[]);
    let said = paper_support::said(&check(&paper).unwrap_err());
    assert!(
        said.contains(
            "experiments.toml:4:6: experiment `loss` has 20000 points; an experiment of a paper has at most 10000"
        ),
        "{said}"
    );
}

#[test]
fn numbers_are_accepted_as_labels_and_values() {
    let dir = tempfile::tempdir().unwrap();
    let changes = [
        ("experiments.toml", "[\"0.1%\", \"1%\"]", "[0.001, 0.01]"),
        (
            "experiments.toml",
            "\"{{ p }}\" }",
            "\"{{ p }}\", \"flow.transfer.start\" = 0, \"stack.delayed_ack_segments\" = 1 }",
        ),
    ];
    let paper = folder(dir.path(), &changes, &[]);
    let plan = paper.plan().unwrap();
    let points = plan.experiments[0].points();
    let ids: Vec<&str> = points.iter().map(|p| p.id.as_str()).collect();
    assert_eq!(ids, ["p=0.001", "p=0.01"]);
    assert!(
        points[0]
            .overrides
            .contains(&("link.path.loss.probability".to_owned(), "0.001".to_owned()))
    );
}

#[test]
fn steady_metrics_leave_the_warm_up_out() {
    let dir = tempfile::tempdir().unwrap();
    let claim = r#"
[[claim]]
id = "steady"
source = "x"
quantity = "goodput after 10 s over goodput after all"
unit = "1"
measure = { ratio = [
  { metric = { path = "flow.transfer.steady_goodput_bps", at = "loss/p=0.1%" } },
  { metric = { path = "flow.transfer.goodput_bps", at = "loss/p=0.1%" } },
] }
direction = { greater_than = { constant = 0.1 } }
"#;
    let more = [("claims.toml", claim)];
    let warm = |warm_up: &str, name: &str| {
        let seeds = format!("seeds = 20\nwarmup = \"{warm_up}\"");
        let changes =
            [("experiments.toml", "seeds = 20", &*seeds), ("network.toml", "200s", "30s")];
        folder(&dir.path().join(name), &changes, &more)
    };
    let paper = warm("10s", "a");
    check(&paper).unwrap_or_else(|e| panic!("{}", paper_support::said(&e)));
    let out = dir.path().join("out");
    let measured = |paper: &Paper| {
        let outcome = paper_support::quick(paper, &out);
        let steady = outcome.judgements.iter().find(|j| j.id == "steady").unwrap();
        assert!(steady.n >= 6, "{}", steady.note);
        steady.measured.unwrap()
    };
    // Runs with another warm-up are different runs.
    let (after_10s, after_25s) = (measured(&paper), measured(&warm("25s", "b")));
    assert!(
        after_10s > 0.5 && after_25s > 0.1 && after_10s != after_25s,
        "{after_10s} {after_25s}"
    );
    let said = |paper: &Paper| paper_support::said(&check(paper).unwrap_err());
    let long = said(&warm("30s", "c"));
    assert!(long.contains("the warm-up leaves nothing of a run"), "{long}");
    assert!(said(&warm("soon", "d")).contains("experiments.toml:8:10: invalid warm-up `soon`"));
    let without = said(&folder(&dir.path().join("e"), &[], &more));
    assert!(
        without.contains("experiment `loss` has no warm-up in the simulator; give it `warmup"),
        "{without}"
    );
}
