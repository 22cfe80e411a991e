//! Tests with a paper of two questions, of which one changes verdicts.

use std::path::{Path, PathBuf};

use super::*;
use crate::claims::Verdict;
use crate::papers::{self, Paper};
use crate::reproduce::{Options, Reproduction};
use crate::run::Runner;

const NETWORK: &str = r#"
duration = "30s"
[[link]]
name = "wire"
between = ["a", "b"]
rate = "1Mbps"
delay = "10ms"
queue = "100pkt"
[[flow]]
name = "download"
from = "a"
to = "b"
algorithm = "reno"
traffic = { kind = "bulk", bytes = "200kB" }
"#;
const EXPERIMENTS: &str = "[[experiment]]\nid = 'one'\ntitle = 't'\nscenario = 'network.toml'\n\
    seeds = 12\nquick_seeds = 1\n";
const READINGS: &str = r#"
[[axis]]
id = "X-1"
question = "How fast is the wire?"
[[axis.alternative]]
name = "one"
why = "The text says 1 Mbps"
kind = "literal"
[[axis.alternative]]
name = "four"
why = "The figure says 4 Mbps"
kind = "other"
set = { "link.wire.rate" = "4Mbps" }

[[axis]]
id = "X-2"
question = "How long is the queue?"
[[axis.alternative]]
name = "hundred"
why = "The default of the simulator"
kind = "simulator"
[[axis.alternative]]
name = "thousand"
why = "Linux has it so"
kind = "other"
set = { "link.*.queue" = "1000pkt" }
[[axis.alternative]]
name = "none"
why = "The text has no queue"
kind = "literal"
fails = "nothing is ever sent"
"#;
const NOTES: &str = "# Notes\n\n## X-1: the rate\n\nProblem: p\n\nChoice: c\n\nConsequence: n\n\n\
    ## X-2: the queue\n\nProblem: p\n\nChoice: c\n\nConsequence: n\n";

/// Claims about the completion time of the download: one holds at one rate, one at both rates, one at neither.
fn claims() -> String {
    let claim = |id: &str, direction: &str, bound: f64| {
        format!(
            "[[claim]]\nid = '{id}'\nsource = 's'\nquantity = 'q'\nunit = 's'\n\
             measure = {{ metric = {{ path = 'flow.download.completion_s', at = 'one/all' }} }}\n\
             direction = {{ {direction} = {{ constant = {bound:?} }} }}\n"
        )
    };
    let all = [
        claim("slow", "greater_than", 1.2),
        claim("real", "greater_than", 0.1),
        claim("quick", "less_than", 0.1),
    ];
    all.concat()
}

fn paper(folder: &Path, readings: &str) -> Paper {
    let folder = folder.join("tiny");
    if !folder.exists() {
        papers::new(&folder).unwrap();
    }
    let files = [
        ("network.toml", NETWORK),
        ("experiments.toml", EXPERIMENTS),
        ("claims.toml", &claims()),
        ("readings.toml", readings),
        ("fidelity.md", NOTES),
        ("findings.md", ""),
    ];
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    for file in ["report.toml", "models.toml", "measures.toml"] {
        let _ = std::fs::remove_file(folder.join(file));
    }
    Paper::read(&folder).unwrap()
}

fn survey(paper: &Paper, out: &Path, budget: Budget) -> Outcome {
    let survey = Survey::prepare(paper, out, budget, None).unwrap().unwrap();
    let (outcome, failed) = survey.work(&Runner::new(1), &|_| ()).unwrap();
    assert_eq!(failed, []);
    outcome
}

const WHOLE: Budget = Budget { events: None };

#[test]
fn claims_have_a_share_of_interpretations_and_a_deciding_question() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = survey(&paper(dir.path(), READINGS), dir.path(), WHOLE);
    let said = |id: &str| {
        let s = outcome.standing(id).unwrap();
        (s.share.holds, s.share.decided(), s.share.open, s.verdict, s.decided_by.clone())
    };
    // The headline and each alternative alone. The only combination of two answers is drawn.
    assert_eq!((outcome.readings.len(), outcome.total), (4, 4));
    assert_eq!(outcome.axes.iter().map(|a| a.moves).collect::<Vec<_>>(), [true, false]);
    assert_eq!(said("slow"), (2, 4, 0, Verdict::DependsOnReading, Some("X-1".to_owned())));
    assert_eq!(said("real"), (4, 4, 0, Verdict::Reproduced, None));
    assert_eq!(said("quick"), (0, 4, 0, Verdict::Contradicted, None));
    let charitable = &outcome.readings[outcome.charitable];
    assert_eq!(outcome.departures(charitable), Vec::<String>::new());
}

#[test]
fn a_killed_survey_resumes_and_has_the_same_result() {
    let dir = tempfile::tempdir().unwrap();
    let paper = paper(dir.path(), READINGS);
    let whole = survey(&paper, dir.path(), WHOLE);
    let journal = dir.path().join("tiny/readings/journal.jsonl");
    let text = std::fs::read(&journal).unwrap();
    // A kill leaves some runs and a truncated line.
    std::fs::write(&journal, &text[..text.len() / 3]).unwrap();
    assert_eq!(survey(&paper, dir.path(), WHOLE), whole);
    let lines = |text: &[u8]| text.iter().filter(|b| **b == b'\n').count();
    assert_eq!(lines(&std::fs::read(&journal).unwrap()), lines(&text));
    // All runs are finished, so that none is repeated.
    assert_eq!(survey(&paper, dir.path(), WHOLE), whole);
    assert_eq!(std::fs::read(&journal).unwrap().len(), text.len());
}

#[test]
fn a_survey_writes_its_result_after_each_interpretation() {
    let dir = tempfile::tempdir().unwrap();
    let paper = paper(dir.path(), READINGS);
    let kept = || Outcome::kept(&dir.path().join("tiny"), &paper).unwrap();
    let seen = std::cell::RefCell::new(Vec::new());
    let told = |_: &str| seen.borrow_mut().push((kept().readings.len(), kept().finished));
    let survey = Survey::prepare(&paper, dir.path(), WHOLE, None).unwrap().unwrap();
    survey.work(&Runner::new(1), &told).unwrap();
    assert_eq!(seen.take(), [(1, false), (2, false), (3, false), (4, false)]);
    assert_eq!((kept().readings.len(), kept().finished), (4, true));
}

#[test]
fn shards_make_all_runs_and_the_summary_repeats_none() {
    let dir = tempfile::tempdir().unwrap();
    let paper = paper(dir.path(), READINGS);
    let whole = survey(&paper, &dir.path().join("whole"), WHOLE);
    let (out, runner) = (dir.path().join("shards"), Runner::new(1));
    let options = |shard| Options {
        budget: None,
        seeds: None,
        on: Vec::new(),
        shard,
        out: out.clone(),
        command: String::new(),
    };
    let mut made = Vec::new();
    for shard in ["3/3", "1/3", "2/3"].map(|s| s.parse().ok()) {
        let mut part = Reproduction::prepare(&paper, &options(shard)).unwrap();
        made.push(part.total() - part.finished());
        part.work(&runner, |_| ()).unwrap();
        let readings = Survey::prepare(&paper, &out, WHOLE, shard).unwrap().unwrap();
        readings.work(&runner, &|_| ()).unwrap();
        assert!(!out.join("tiny/readings.json").exists(), "a shard writes no verdicts");
    }
    assert_eq!(made, [4, 4, 4]);
    let all = Reproduction::prepare(&paper, &options(None)).unwrap();
    assert_eq!((all.total(), all.finished()), (12, 12));
    drop(all);
    let lines = |file: PathBuf| std::fs::read_to_string(file).unwrap().lines().count();
    let parts = std::fs::read_dir(out.join("tiny/readings/parts")).unwrap();
    let before: usize = parts.map(|p| lines(p.unwrap().path().join("journal.jsonl"))).sum();
    assert_eq!(survey(&paper, &out, WHOLE), whole);
    assert_eq!(lines(out.join("tiny/readings/journal.jsonl")), before);
}

#[test]
fn traced_runs_have_the_same_number_as_plain_runs_and_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    paper(dir.path(), READINGS);
    let folder = dir.path().join("tiny");
    let write = |file: &str, text: String| std::fs::write(folder.join(file), text).unwrap();
    let lossy = "queue = \"100pkt\"\nloss = { model = \"drop\", probability = 0.02 }";
    write("network.toml", NETWORK.replace("queue = \"100pkt\"", lossy));
    let trace = "[[trace]]\nid = 't'\nexperiment = 'one'\npoint = 'all'\nseries = ['cwnd_bytes']\n";
    write("experiments.toml", format!("{EXPERIMENTS}{trace}"));
    let largest = "is = { of = 'cwnd_bytes', take = 'max' }\n";
    write("quantities.toml", format!("[[quantity]]\nname = 'largest'\ntrace = 't'\n{largest}"));
    let wide = "[[claim]]\nid = 'wide'\nsource = 's'\nquantity = 'q'\nunit = 'B'\n\
                measure = { trace = 'largest' }\ndirection = { greater_than = { constant = 100.0 } }\n";
    write("claims.toml", wide.to_owned());
    let paper = Paper::read(&folder).unwrap();

    let out = dir.path().join("out");
    let seen = |outcome: Outcome| {
        outcome.readings.iter().map(|r| (r.seen[0].verdict, r.seen[0].n)).collect::<Vec<_>>()
    };
    let told = seen(survey(&paper, &out, WHOLE));
    assert_eq!(told, [(Verdict::Reproduced, 12); 4]);
    // The file is changed, to show that the traced runs are not repeated.
    let file = out.join("tiny/traced.json");
    let mut kept: serde_json::Value =
        serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    let runs = kept.as_object_mut().unwrap();
    assert_eq!(runs.len(), 4 * 12);
    runs.values_mut().for_each(|run| run["values"]["largest"] = 1.0.into());
    std::fs::write(&file, kept.to_string()).unwrap();
    assert_eq!(seen(survey(&paper, &out, WHOLE)), [(Verdict::Contradicted, 12); 4]);
}

#[test]
fn an_answer_that_leaves_a_scenario_unchanged_has_the_headlines_runs() {
    let dir = tempfile::tempdir().unwrap();
    let only =
        READINGS.replace("set = { \"link.wire", "experiments = ['one']\nset = { \"link.wire");
    paper(dir.path(), &only);
    let folder = dir.path().join("tiny");
    let write = |file: &str, text: String| std::fs::write(folder.join(file), text).unwrap();
    let two = EXPERIMENTS.replace("'one'", "'two'");
    write("experiments.toml", format!("{EXPERIMENTS}{two}").replace("seeds = 12", "seeds = 20"));
    let other = claims().replace("one/all", "two/all").replace("id = '", "id = 'other.");
    write("claims.toml", format!("{}{other}", claims()));
    let paper = Paper::read(&folder).unwrap();
    let (out, runner) = (dir.path().join("out"), Runner::new(1));
    let options = Options {
        budget: None,
        seeds: Some(20),
        on: Vec::new(),
        shard: None,
        out: out.clone(),
        command: String::new(),
    };
    Reproduction::prepare(&paper, &options).unwrap().work(&runner, |_| ()).unwrap();
    let outcome = survey(&paper, &out, WHOLE);
    let runs = |claim: &str| {
        let at = outcome.claims.iter().position(|c| c.id == claim).unwrap();
        outcome.readings.iter().map(|r| r.seen[at].n).collect::<Vec<_>>()
    };
    // The headline, another rate of `one` alone, another queue of both, and both answers.
    assert_eq!(runs("real"), [20, 12, 12, 12]);
    assert_eq!(runs("other.real"), [20, 20, 12, 12]);
    // The other rate changes no run of `two`, so that it does not count there.
    let counted = |claim: &str| outcome.standing(claim).unwrap().share.decided();
    assert_eq!((counted("real"), counted("other.real")), (4, 2));
}

#[test]
fn a_small_budget_runs_the_headline_and_counts_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let outcome = survey(&paper(dir.path(), READINGS), dir.path(), Budget { events: Some(1) });
    assert_eq!((outcome.readings.len(), outcome.readings[0].stage), (1, Stage::Headline));
    assert!(outcome.left_out >= 2, "{}", outcome.left_out);
    assert_eq!(outcome.standing("slow").unwrap().verdict, Verdict::Reproduced);
}

#[test]
fn an_answer_that_needs_no_run_is_asked_beyond_the_budget() {
    let dir = tempfile::tempdir().unwrap();
    let bound = "\n[[axis]]\nid = 'X-3'\nquestion = 'q'\n\
        [[axis.alternative]]\nname = 'first'\nwhy = 'w'\nkind = 'literal'\n\
        [[axis.alternative]]\nname = 'second'\nwhy = 'w'\nkind = 'other'\nclaims = { bound = 0.1 }\n";
    paper(dir.path(), &format!("{READINGS}{bound}"));
    let folder = dir.path().join("tiny");
    let write = |file: &str, text: &str| std::fs::write(folder.join(file), text).unwrap();
    let text = claims().replace("constant = 1.2", "constant = '{{ bound }}'");
    write("claims.toml", &format!("[let]\nbound = 1.2\n{text}"));
    write(
        "fidelity.md",
        &format!("{NOTES}\n## X-3: the bound\n\nProblem: p\n\nChoice: c\n\nConsequence: n\n"),
    );
    let paper = Paper::read(&folder).unwrap();
    let outcome = survey(&paper, dir.path(), Budget { events: Some(1) });
    let made: Vec<Vec<String>> = outcome.readings.iter().map(|m| outcome.departures(m)).collect();
    assert_eq!(made, [Vec::new(), vec!["X-3 second".to_owned()]]);
}

#[test]
fn unknown_names_in_an_alternative_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let cases = [
        (READINGS.replace("link.wire.rate", "link.wire.speed"), "speed"),
        (READINGS.replace("link.*.queue", "link.*.kew"), "kew"),
        (
            READINGS.replace("set = { \"link.*", "experiments = ['two']\nset = { \"link.*"),
            "experiment `two` not found",
        ),
        (
            READINGS.replace("set = { \"link.*", "algorithm = 'cubic'\nset = { \"link.*"),
            "it changes no point of any experiment, and no claim",
        ),
    ];
    for (text, expected) in cases {
        let paper = paper(dir.path(), &text);
        let errors = crate::papers::check::check(&paper).unwrap_err();
        let said = errors.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].contains("readings.toml:") && said[0].contains(expected), "{said:?}");
    }
}

#[test]
fn quantities_have_the_traces_that_they_are_read_from() {
    let paper = Paper::by_id("reno-ber").unwrap();
    let sources = paper.sources(&paper.plan().unwrap()).unwrap();
    assert_eq!(sources["cwnd_max.p=1%"], [3]);
    assert_eq!(sources["exchange.segments"], [8, 9]);
    assert_eq!(sources["growth.main.rtts"], [5]);
    assert!(sources.values().all(|at| !at.is_empty()), "{sources:?}");
}

/// A claim on points that set the queue themselves.
const PINNED: &str = "
[[claim]]
id = 'pinned'
source = 's'
quantity = 'q'
unit = '1'
measure = { ratio = [
  { metric = { path = 'flow.f3.goodput_bps', at = 'ablation/variant=as-printed,queue=100pkt,rate=1Mbps' } },
  { metric = { path = 'flow.f3.goodput_bps', at = 'ablation/variant=newreno,queue=100pkt,rate=1Mbps' } },
] }
direction = { greater_than = { constant = 1.0 } }
";

/// A claim on a point that sets the growth of the window itself.
const PINNED_GROWTH: &str = "
[[claim]]
id = 'pinned'
source = 's'
quantity = 'q'
unit = 's'
measure = { metric = { path = 'flow.download.completion_s', at = 'one-loss/growth=per-ack,loss=one' } }
direction = { greater_than = { constant = 1.0 } }
";

/// Messages of the check for a shipped paper with another `readings.toml`.
fn said_of(id: &str, axes: &str) -> Vec<String> {
    let mut paper = Paper::by_id(id).unwrap().clone();
    paper.files.insert(FILE.to_owned(), axes.to_owned());
    paper.claims += match id {
        "tcp-modified" => PINNED,
        "reno-ber" => PINNED_GROWTH,
        _ => "",
    };
    let plan = paper.plan().unwrap();
    Readings::check(&paper, &plan).iter().map(ToString::to_string).collect()
}

/// An axis of two answers, of which the second is `answer`.
fn axis(id: &str, answer: &str) -> String {
    format!(
        "[[axis]]\nid = '{id}'\nquestion = 'q'\n\
         [[axis.alternative]]\nname = 'first'\nwhy = 'w'\nkind = 'literal'\n\
         [[axis.alternative]]\nname = 'second'\nwhy = 'w'\nkind = 'other'\n{answer}\n"
    )
}

/// Five answers on which published verdicts once depended. Two change only one bound, one changes the algorithm of
/// one side, and two do not reach the point that a claim reads.
#[test]
fn answers_that_make_a_comparison_unfair_or_empty_are_refused() {
    let one_side = "the answer changes the first only";
    let cases = [
        (
            "ccm-ss",
            axis("CS-6", "at = ['start=ccm-ss']\nover = { 'flow.*.slow_start.mode' = 'repaired' }"),
            ["claim `sec6.bound` compares", one_side],
        ),
        (
            "ccm-ss",
            axis("CS-4", "at = ['start=ccm-ss']\nover = { 'flow.*.slow_start.clamp' = false }"),
            ["claim `sec6.bound` compares", one_side],
        ),
        (
            "reno-ber",
            axis("RB-19", "algorithm = 'reno'\nset = { 'flow.*.stack.recovery' = 'newreno' }"),
            ["claim `sec6.multiple` compares", one_side],
        ),
        (
            "reno-ber",
            axis("RB-12", "algorithm = 'reno'\nset = { 'flow.*.params.increase' = 'per-byte' }"),
            ["claim `pinned` reads point", "sets `flow.0.params.increase` itself"],
        ),
        (
            "tcp-modified",
            axis("TM-11", "set = { 'link.bottleneck.queue' = '1000pkt' }"),
            ["claim `pinned` reads point", "sets `link.bottleneck.queue` itself"],
        ),
    ];
    for (paper, axes, expected) in cases {
        let said = said_of(paper, &axes);
        let found = said.iter().any(|line| expected.iter().all(|part| line.contains(part)));
        assert!(found, "{paper}: {expected:?} is not in {said:#?}");
    }
}

const PAIR: &str = "[[experiment.axis]]\nname = 'end'\nvalue = [{ label = 'fast' }, \
    { label = 'slow', set = { 'link.wire.rate' = '500kbps' } }, \
    { label = 'slower', set = { 'link.wire.rate' = '250kbps' } }]\n";

/// A paper whose claim compares two rates of the wire.
fn pair(dir: &Path, answer: &str) -> Vec<String> {
    paper(dir, &axis("X-1", answer));
    let folder = dir.join("tiny");
    std::fs::write(folder.join("experiments.toml"), format!("{EXPERIMENTS}{PAIR}")).unwrap();
    let at = |end: &str| {
        format!("{{ metric = {{ path = 'flow.download.completion_s', at = 'one/end={end}' }} }}")
    };
    let claim = format!(
        "[let]\nbound = 0.0\nend = 'slow'\n[[claim]]\nid = 'pair'\nsource = 's'\nquantity = 'q'\nunit = 's'\n\
         measure = {{ difference = [{}, {}] }}\ndirection = {{ greater_than = {{ constant = '{{{{ bound }}}}' }} }}\n",
        at("{{ end }}"),
        at("fast")
    );
    std::fs::write(folder.join("claims.toml"), claim).unwrap();
    let paper = Paper::read(&folder).unwrap();
    let plan = paper.plan().unwrap();
    Readings::check(&paper, &plan).iter().map(ToString::to_string).collect()
}

#[test]
fn each_fault_of_an_answer_has_its_message_and_its_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let queue = "set = { 'link.wire.queue' = '10pkt' }";
    let slow = "at = ['end=slow']\nset = { 'link.wire.queue' = '10pkt' }";
    let cases = [
        (queue.to_owned(), ""),
        (slow.to_owned(), "write `one_side = \"reason\"`"),
        (format!("{slow}\none_side = 'the text says so'"), ""),
        (format!("{queue}\none_side = 'no'"), "`one_side` has no use"),
        ("set = { 'link.wire.rate' = '2Mbps' }".to_owned(), "which sets `link.wire.rate` itself"),
        (
            "set = { 'link.wire.rate' = '2Mbps' }\nkeep = { 'end=slow' = 'as printed' }\n\
             one_side = 'as printed'"
                .to_owned(),
            "",
        ),
        (
            "over = { 'link.wire.rate' = '2Mbps' }".to_owned(),
            "both sides of claim `pair` become the same runs; add `not_for",
        ),
        ("over = { 'link.wire.rate' = '2Mbps' }\nnot_for = { pair = 'one rate' }".to_owned(), ""),
        (format!("{queue}\nnot_for = {{ pear = 'r' }}"), "claim `pear` not found; did you mean"),
        (format!("{queue}\nkeep = {{ 'end=slo' = 'r' }}"), "no point has the coordinate `end=slo`"),
        ("set = { 'link.wire.queue' = '100pkt' }".to_owned(), "it changes no point"),
        ("claims = { bound = 0.0 }".to_owned(), "it changes no point of any experiment, and no"),
        ("claims = { bond = 1.0 }".to_owned(), "claims.toml has no `let` name `bond`"),
        ("claims = { bound = 1.0 }".to_owned(), ""),
        (
            "claims = { end = 'slower' }".to_owned(),
            "change one side of the comparison of claim `pair`",
        ),
        ("claims = { end = 'slower' }\none_side = 'the text says so'".to_owned(), ""),
    ];
    for (answer, expected) in cases {
        let said = pair(dir.path(), &answer);
        let found = match expected {
            "" => said.is_empty(),
            expected => said.iter().any(|line| line.contains(expected)),
        };
        assert!(found, "{answer}: `{expected}` is not in {said:#?}");
    }
}

/// An interpretation that excludes a claim is not counted in the claim's three numbers.
#[test]
fn a_claim_that_an_answer_excludes_is_not_counted_there() {
    let dir = tempfile::tempdir().unwrap();
    let excluded = READINGS.replace(
        "set = { \"link.wire.rate\" = \"4Mbps\" }",
        "set = { \"link.wire.rate\" = \"4Mbps\" }\nnot_for = { slow = \"another rate\" }",
    );
    let outcome = survey(&paper(dir.path(), &excluded), dir.path(), WHOLE);
    let share = outcome.standing("slow").unwrap().share;
    assert_eq!((share.holds, share.decided(), share.open), (2, 2, 0));
    assert_eq!(outcome.standing("slow").unwrap().verdict, Verdict::Reproduced);
}
