//! Tests of the first screen, with a paper of two claims.

use super::*;
use crate::claims::{Judgement, Verdict, parse};
use crate::papers::{Paper, Traces, new};

const CLAIMS: &str = "
[[claim]]
id = 'half'
source = 'Table 1'
quantity = 'One half'
unit = 's'
paper = 0.5
measure = { constant = 0.5 }
tolerance = { absolute = 0.1, reason = 'r' }

[[claim]]
id = 'later'
source = 'Table 2'
quantity = 'Goodput'
unit = 'bit/s'
measure = { metric = { path = 'run.goodput_bps', at = 'loss/p=1%' } }
direction = { greater_than = { constant = 1.0 } }
";

/// The answers of the new paper's folder with these claims and this `abstract.toml`, without a run.
fn answers_to(text: &str) -> Result<Vec<crate::report::model::Answer>, String> {
    let dir = tempfile::tempdir().unwrap();
    let folder = new(&dir.path().join("p")).unwrap();
    std::fs::write(folder.join("claims.toml"), CLAIMS).unwrap();
    std::fs::write(folder.join(FILE), text).unwrap();
    let paper = Paper::read(&folder).unwrap();
    let (plan, claims) = (paper.plan().unwrap(), parse(CLAIMS, "claims.toml").unwrap());
    let judgements: Vec<Judgement> = paper.judge(&plan, &claims, &[], &Traces::new()).unwrap();
    let asked = Asked {
        paper: &paper,
        plan: &plan,
        claims: &claims,
        judgements: &judgements,
        outcome: None,
    };
    answers(&asked).map_err(|e| e.to_string())
}

#[test]
fn each_claim_of_the_abstract_has_its_verdict_and_its_evidence() {
    let text = "[[claim]]\nsays = 'One is half of two.'\ntests = ['h*']\n\
        [[claim]]\nsays = 'The goodput is high.'\ntests = ['later']\n\
        [[claim]]\nsays = 'All is well.'\nuntested = 'no number'\n\
        [[claim]]\nsays = 'Both hold.'\ntests = ['half', 'later']\ndecides = 'The second one.'\n";
    let told = answers_to(text).unwrap();
    let verdicts: Vec<&str> = told.iter().map(|a| a.badge.name).collect();
    assert_eq!(verdicts, ["reproduced", "not run", "not tested", "not run"]);
    assert_eq!(told[0].says, "The paper: One is half of two.");
    assert_eq!(told[0].lines, ["“One half”. Measured: 0.5 s (recomputed); published 0.5 s ± 0.1."]);
    assert!(
        told[1].lines[0].contains("runs it. The runs of this claim take about "),
        "{:?}",
        told[1].lines
    );
    assert_eq!(told[2].lines, ["Not tested: no number"]);
    assert!(
        told[3].lines[0].starts_with("2 tests: 1 reproduced, 1 not run."),
        "{:?}",
        told[3].lines
    );
    assert_eq!(told[3].lines.last().map(String::as_str), Some("The second one."));
    assert_eq!(told[3].badge.name, Verdict::NotRun.badge().name);
}

#[test]
fn mistakes_of_the_file_are_located() {
    let cases = [
        ("[[claim]]\nsays = ' '\ntests = ['half']\n", "abstract.toml:2:8: `says` is empty"),
        ("[[claim]]\nsays = 'a'\n", "2:8: a claim of the abstract needs either `tests`"),
        ("[[claim]]\nsays = 'a'\ntests = ['halve']\n", "3:10: claims.toml has no claim `halve`"),
        ("[[claim]]\nsay = 'a'\n", "unknown field `say`"),
    ];
    for (text, expected) in cases {
        let said = answers_to(text).unwrap_err();
        assert!(said.contains(expected), "{said} does not contain {expected}");
    }
}
