//! Folders of papers: the built-in papers are valid, a new paper is valid and runs, and each kind of mistake is
//! one error with its place.

use std::fs;
use std::path::Path;

use crate::paper_support;
use windlass_lab::papers::check::check;
use windlass_lab::papers::{PAPERS, Paper, new};

#[test]
fn every_built_in_paper_is_valid() {
    assert_eq!(PAPERS.len(), 6);
    for paper in PAPERS.iter() {
        let checked = check(paper).unwrap_or_else(|e| panic!("{}", paper_support::said(&e)));
        assert!(checked.claims >= 5 && checked.notes >= 5, "{}: {checked:?}", paper.id);
        assert_eq!(
            (checked.undecidable, checked.old_scheme),
            (0, false),
            "{}: {checked:?}",
            paper.id
        );
    }
}

/// A change of this file changes the values that papers are compared with.
#[test]
fn closed_forms_of_built_in_papers_keep_their_values() {
    let known = include_str!("golden/models.txt").lines().filter(|line| !line.starts_with('#'));
    let mut now: Vec<String> = Vec::new();
    for paper in PAPERS.iter() {
        let all = paper.models().expect("its closed forms");
        now.extend(all.iter().map(|(name, value)| format!("{} {name} {value:?}", paper.id)));
    }
    let (mut known, mut now): (Vec<&str>, Vec<&str>) =
        (known.collect(), now.iter().map(String::as_str).collect());
    known.sort_unstable();
    now.sort_unstable();
    assert_eq!(known, now);
}

#[test]
fn a_check_counts_the_claims_that_have_too_few_runs_to_be_decided() {
    let dir = tempfile::tempdir().unwrap();
    let folder = new(&dir.path().join("mine")).unwrap();
    let path = folder.join("experiments.toml");
    let text = fs::read_to_string(&path).unwrap();
    let checked = |seeds: u64| {
        let lines = text.lines().map(|line| match line.starts_with("seeds = ") {
            true => format!("seeds = {seeds}\n"),
            false => format!("{line}\n"),
        });
        fs::write(&path, lines.collect::<String>()).unwrap();
        check(&Paper::read(&folder).unwrap()).unwrap()
    };
    let (few, enough) = (checked(5), checked(6));
    assert!(few.undecidable > 0, "{few:?}");
    assert_eq!((few.least_runs, enough.undecidable), (6, 0), "{enough:?}");
}

#[test]
fn a_new_paper_is_valid_and_reproduces_its_claims() {
    let dir = tempfile::tempdir().unwrap();
    let folder = new(&dir.path().join("mine")).unwrap();
    let paper = Paper::read(&folder).unwrap();
    check(&paper).unwrap_or_else(|e| panic!("{}", paper_support::said(&e)));
    let outcome = paper_support::quick(&paper, &dir.path().join("out"));
    assert_eq!(outcome.judgements.len(), 3);
    for j in &outcome.judgements {
        assert_eq!((j.verdict.badge().name, j.n), ("reproduced", 6), "{}: {}", j.id, j.note);
    }
    let charts = outcome.sections.iter().find(|s| s.id == "loss").expect("its section");
    assert_eq!(charts.blocks.len(), 3);
}

#[test]
fn a_report_is_written_even_if_points_have_no_place_on_a_logarithmic_axis() {
    let dir = tempfile::tempdir().unwrap();
    let folder = new(&dir.path().join("mine")).unwrap();
    for (file, from, to) in [
        ("network.toml", "200s", "2s"),
        ("report.toml", "\"Goodput (Mbit/s)\"", "\"Timeouts\", scale = \"log\""),
        ("report.toml", "goodput('loss/p=' ~ p) }}\" }]", "timeouts('loss/p=' ~ p) }}\" }]"),
    ] {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        fs::write(folder.join(file), text.replace(from, to)).unwrap();
    }
    let outcome = paper_support::quick(&Paper::read(&folder).unwrap(), &dir.path().join("out"));
    let report = fs::read_to_string(outcome.report.expect("a report")).unwrap();
    assert!(report.contains("2 of its points have no place on a logarithmic axis."));
}

#[test]
fn a_new_paper_needs_a_valid_name_and_does_not_overwrite_a_folder() {
    let dir = tempfile::tempdir().unwrap();
    let said = |name: &str| new(&dir.path().join(name)).unwrap_err().to_string();
    assert!(said("a b").contains("letters, digits and dashes"));
    new(&dir.path().join("a")).unwrap();
    assert!(said("a").contains("exists already"));
}

/// A mistake: the file, a text in it, its replacement, and the error without the folder.
type Mistake = (&'static str, &'static str, &'static str, &'static str);

const MISTAKES: &[Mistake] = &[
    ("paper.toml", "title =", "titel =", "paper.toml:5:1: unknown field `titel`"),
    ("paper.toml", "title =", "titel =", "; did you mean `title`?"),
    ("paper.toml", "name = \"m", "name = \"../m", "paper.toml:4:8: invalid name `../m"),
    (
        "experiments.toml",
        "seeds = 20",
        "seeds = -1",
        "integer `-1`, expected a whole number from 0",
    ),
    ("claims.toml", "paper = 1.0", "paper = nan", "has a value that is not a finite number"),
    ("claims.toml", "id = \"order\"", "id = \"\"", "needs an `id` of printable characters"),
    (
        "models.toml",
        "mathis(0.1, p, 1.0)",
        "sqrt(-p)",
        "`rate.0.1%` is `NaN`, which is not a number",
    ),
    ("models.toml", "rate.{{ name }}", "rate", "models.toml:7:6: `rate` exists already"),
    (
        "models.toml",
        "rate.{{ name }}",
        "*.{{ name }}",
        "models.toml:6:8: `*` in `name` needs `values`",
    ),
    (
        "models.toml",
        "is = \"",
        "values = { a = 1 }\ncount = [{ is = true }]\nis = \"",
        "needs one of `is`, `values`",
    ),
    ("models.toml", "is = \"", "iz = \"", "models.toml:7:1: unknown field `iz`"),
    (
        "models.toml",
        "{{ 1448",
        "{% set a = 1 %}{{ 1448",
        "models.toml:7:7: this file has no template statements",
    ),
    (
        "models.toml",
        "mathis(0.1, p, 1.0)",
        "mathis(0.1, q, 1.0)",
        "models.toml:7:6: name `q` not found",
    ),
    (
        "measures.toml",
        "\"timeouts\"",
        "\"goodput\"",
        "measures.toml:11:8: `goodput` is something else already",
    ),
    (
        "measures.toml",
        "\"timeouts\"",
        "\"model\"",
        "measures.toml:11:8: `model` is something else already",
    ),
    (
        "measures.toml",
        "('flow.transfer.goodput_bps') / 1e6",
        "('flow.transfer.goodptu_bps') / 1e6",
        "measures.toml:7:6: metric `flow.transfer.goodptu_bps` ends in an unknown field; did you mean",
    ),
    (
        "measures.toml",
        "flow.transfer.rto_count",
        "flow.transfre.rto_count",
        "report.toml:16:53: flow `transfre` not found; did you mean `transfer`?",
    ),
    (
        "fidelity.md",
        "## EX-1: Slow start and timeouts",
        "## EX-1: Slow start\n\nProblem: P\n\nChoice: C\n\nConsequence: C\n\n## EX-1: And timeouts",
        "fidelity.md:13:1: note EX-1 exists already",
    ),
    (
        "report.toml",
        "claim = \"model.{{ p }}\"",
        "claim = \"modle\"",
        "report.toml:15:10: claim `modle` not found",
    ),
    (
        "report.toml",
        "claim = \"model.",
        "claim = \"modle.",
        "report.toml:9:7: claim `modle.0.1%` not found",
    ),
    (
        "report.toml",
        "for = { p = \"{{ labels('loss', 'p') }}\" }\n",
        "for = { p = \"{{ labels('loss', 'p') }}\" }\nif = \"{{ nope }}\"\n",
        "report.toml:15:6: name `nope` not found",
    ),
    (
        "report.toml",
        "id = \"loss-chart\"",
        "id = \"loss-table\"",
        "report.toml:20:1: the report uses the anchor \"loss-table\" twice",
    ),
    (
        "report.toml",
        "id = \"loss\"",
        "id = \"a b\"",
        "report.toml:4:1: the report's anchor \"a b\" is not usable in a link",
    ),
    (
        "report.toml",
        ", \"over the model\"]",
        "]",
        "report.toml:9:7: a row of `loss-table` has 4 cells for 3 columns",
    ),
    (
        "report.toml",
        "of = \"{{ goodput('loss/p=' ~ p) }}\"",
        "of = \"seven\"",
        "report.toml:28:84: `seven` is not a value that can be drawn",
    ),
    (
        "report.toml",
        "kind = \"command\"",
        "kind = \"exchange\"\nid = \"x\"\ncaption = \"\"\nof = \"nope\"\nleft = \"\"\nright = \"\"\n[[section.block]]\nkind = \"command\"",
        "report.toml:34:7: trace `nope` not found; none exists",
    ),
    (
        "experiments.toml",
        "\"network.toml\"",
        "\"netwerk.toml\"",
        "experiments.toml:6:12: netwerk.toml not found; did you mean `network.toml`?",
    ),
    (
        "experiments.toml",
        "link.path.loss",
        "link.peth.loss",
        "experiments.toml:17:10: point `p=0.1%` of `loss` cannot be read",
    ),
    (
        "network.toml",
        "\"drop\"",
        "\"drip\"",
        "network.toml:19:18: `model`: unknown value `drip`; did you mean `drop`?",
    ),
    (
        "claims.toml",
        "at = \"loss/p=1%\" } },\n] }\ndirection",
        "at = \"loss/p=2%\" } },\n] }\ndirection",
        "claims.toml:23:52: claim `order`: experiment `loss` has no point `p=2%`; did you mean `p=1%`?",
    ),
    (
        "claims.toml",
        "\"flow.transfer.goodput_bps\", at = \"loss/p=0.1%\"",
        "\"flow.transfre.goodput_bps\", at = \"loss/p=0.1%\"",
        "claims.toml:22:16: claim `order`: flow `transfre` not found; did you mean `transfer`?",
    ),
    (
        "claims.toml",
        "\"flow.transfer.goodput_bps\", at = \"loss/p=0.1%\"",
        "\"flow.transfer.godput_bps\", at = \"loss/p=0.1%\"",
        "claims.toml:22:16: claim `order` metric `flow.transfer.godput_bps` ends in an unknown field",
    ),
    (
        "claims.toml",
        "rate.{{ p }}",
        "rete.{{ p }}",
        "claims.toml:12:5: claim `model.0.1%`: models.toml has no model `rete.0.1%`; did you mean `rate.0.1%`?",
    ),
    (
        "claims.toml",
        "quantity = \"Goodput over the model's rate at a loss of {{ p }}\"",
        "quantity = \"Goodput over the model's rate at a loss of {{ q }}\"",
        "claims.toml:7:12: name `q` not found",
    ),
    (
        "models.toml",
        "mathis(0.1, p, 1.0)",
        "mathi(0.1, p, 1.0)",
        "models.toml:7:6: name `mathi` not found; did you mean `mathis`?",
    ),
    ("claims.toml", "(EX-1)", "(EX-7)", "claims.toml:14:87: fidelity.md has no note EX-7"),
    (
        "fidelity.md",
        "Choice: ",
        "Chosen: ",
        "fidelity.md:5:1: note EX-1 has no paragraph that begins with `Choice: `",
    ),
    ("measures.toml", "flow.transfer.rto_count", "flow.transfer.rto_cuont", "measures.toml:12:6: "),
    (
        "report.toml",
        "labels('loss', 'p') }}\" }\nclaim",
        "labels('loss', 'q') }}\" }\nclaim",
        "report.toml:14:13: experiment `loss` has no axis `q`; did you mean `p`?",
    ),
    (
        "report.toml",
        "claim('model.' ~ p)",
        "claim('modle.' ~ p)",
        "report.toml:16:86: claim `modle.0.1%` not found",
    ),
    (
        "report.toml",
        "runs = \"loss/p=1%\"",
        "runs = \"loss/p=3%\"",
        "report.toml:33:9: experiment `loss` has no point `p=3%`; did you mean `p=1%`?",
    ),
    (
        "report.toml",
        "id = \"loss\"",
        "id = \"readings\"",
        "report.toml:4:1: every report already has a section `readings`; choose another `id`",
    ),
    (
        "report.toml",
        "runs = \"loss/p=1%\"",
        "trace = \"loss\"",
        "report.toml:31:1: a command has `runs`, or `trace` with `record`, or neither",
    ),
    (
        "experiments.toml",
        "= \"{{ p }}\" }",
        "= \"{{ p }}bps\" }",
        "point `p=0.1%` of `loss` cannot be read: --set link.path.loss.probability=0.1%bps: ",
    ),
    ("report.toml", "caption = \"Goodput by", "captoin = \"Goodput by", "unknown field `captoin`"),
    (
        "findings.md",
        "goodput('loss/p=1%') }}",
        "goodputt('loss/p=1%') }}",
        "findings.md:1:1: unknown function",
    ),
];

#[test]
fn each_kind_of_mistake_is_one_error_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let mut odd = Vec::new();
    for (k, (file, right, wrong, expected)) in MISTAKES.iter().enumerate() {
        let folder = new(&dir.path().join(format!("m{k}"))).unwrap();
        let said = mistaken(&folder, file, right, wrong);
        let begins = said.starts_with(&folder.display().to_string());
        if said.lines().count() != 1 || !begins || !said.contains(expected) {
            odd.push(format!("{file}, {wrong}: {said} is not {expected}"));
        }
    }
    assert!(odd.is_empty(), "{}", odd.join("\n"));
}

/// The errors of a check of a folder with one mistake.
fn mistaken(folder: &Path, file: &str, right: &str, wrong: &str) -> String {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(right), "{file} has no {right}");
    fs::write(&path, text.replacen(right, wrong, 1)).unwrap();
    match Paper::read(folder) {
        Err(e) => e.to_string(),
        Ok(paper) => {
            let errors = check(&paper).expect_err("a mistake is found");
            paper_support::said(&errors)
        }
    }
}

#[test]
fn the_error_of_a_folder_without_a_file_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let folder = new(&dir.path().join("mine")).unwrap();
    fs::remove_file(folder.join("claims.toml")).unwrap();
    let said = Paper::read(&folder).unwrap_err().to_string();
    assert!(
        said.ends_with("has no claims.toml; `windlass paper new` writes a folder with all files")
    );
    let said = Paper::read(&dir.path().join("none")).unwrap_err().to_string();
    assert!(said.contains("none: "), "{said}");
}

/// The files that the guide add-a-paper.md has in full, in its order: name and text.
fn of_the_tutorial() -> Vec<(String, String)> {
    let page = include_str!("../../../docs/src/guides/add-a-paper.md");
    let blocks = page.split("<!-- file: ").skip(1);
    let one = |rest: &str| {
        let (name, rest) = rest.split_once(" -->\n```").expect("a block");
        let (_, rest) = rest.split_once('\n').expect("its language");
        let (text, _) = rest.split_once("\n```").expect("its end");
        (name.to_owned(), format!("{text}\n"))
    };
    blocks.map(one).collect()
}

#[test]
fn the_files_of_the_guide_are_a_valid_paper_with_its_results() {
    let dir = tempfile::tempdir().unwrap();
    let folder = new(&dir.path().join("cubic-response")).unwrap();
    let files = of_the_tutorial();
    assert_eq!(files.len(), 9);
    for (name, text) in &files {
        assert!(folder.join(name).is_file(), "the new folder has no {name}");
        fs::write(folder.join(name), text).unwrap();
    }
    let paper = Paper::read(&folder).unwrap();
    check(&paper).unwrap_or_else(|e| panic!("{}", paper_support::said(&e)));
    let outcome = paper_support::quick(&paper, &dir.path().join("out"));
    let verdicts: Vec<(&str, &str)> =
        outcome.judgements.iter().map(|j| (j.id.as_str(), j.verdict.badge().name)).collect();
    assert_eq!(verdicts.len(), 6);
    assert!(verdicts.iter().all(|(_, v)| *v != "not comparable"), "{verdicts:?}");
    let of = |id: &str| verdicts.iter().find(|(known, _)| *known == id).expect("a claim").1;
    assert_eq!(of("larger.0.02%"), "reproduced");
    let told = windlass_lab::report::text::prose(&outcome.sections[0], usize::MAX);
    assert!(told.contains("At a loss of 0.02 % CUBIC's mean window is "), "{told}");
}
