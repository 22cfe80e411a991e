//! Error rate of the verdicts, and their stability, on synthetic papers whose true values are known.

use super::judge;
use crate::claims::fixtures::run;
use crate::claims::{Claim, Evidence, LeastEffect, Verdict, parse};
use crate::run::RunRecord;
use std::collections::BTreeMap;

const LOOKS: [usize; 4] = [6, 12, 20, 40];
const PAPERS: usize = 300;
/// Offset of the mean of a point's values from the published value. The tolerance is ±1, and the standard deviation 1.
const OFF: [f64; 6] = [0.0, 0.5, 0.9, 1.1, 1.5, 2.0];

/// Claims of a paper about each point. Size: the value is 10 ± 1. Direction: the value exceeds the baseline
/// by 2 or more. The baseline is the point with the offset −1, whose values are noise about 9.
fn claims() -> Vec<Claim> {
    let of = |at: f64| format!("{{ metric = {{ path = 'flow.f.completion_s', at = 'e/{at}' }} }}");
    let claim = |id: &str, at: f64, criterion: &str| {
        format!(
            "[[claim]]\nid='{id} {at}'\nsource='s'\nquantity='q'\nunit='s'\nmeasure = {}\n{criterion}\n",
            of(at)
        )
    };
    let size = "paper = 10.0\ntolerance = { absolute = 1.0, reason = 'r' }";
    let order = format!(
        "direction = {{ greater_than = {} }}\nleast_effect = {{ absolute = 2.0, reason = 'r' }}",
        of(-1.0)
    );
    let both = |at: &f64| claim("size", *at, size) + &claim("order", *at, &order);
    parse(&OFF.iter().map(both).collect::<String>(), "claims.toml")
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Approximately normal noise: the sum of twelve uniform values, minus 6.
fn noise(state: &mut u64) -> f64 {
    let mut uniform = || {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}

fn records(random: &mut u64) -> Vec<RunRecord> {
    let mut all = Vec::new();
    for seed in 1..=LOOKS[3] as u64 {
        for at in OFF.iter().chain(&[-1.0]) {
            all.push(run("e", &at.to_string(), seed, 10.0 + at + noise(random)));
        }
    }
    all
}

/// The correct verdict on a claim: reproduced if the size is within the tolerance, or the difference at least
/// the smallest effect that matters.
fn truth(claim: &Claim, off: f64) -> Verdict {
    let holds = if claim.id.starts_with("size") { off < 1.0 } else { off > 1.0 };
    if holds { Verdict::Reproduced } else { Verdict::Contradicted }
}

/// Counts of a claim at an offset: errors at each interim analysis, changes of side, and undecided claims at the end.
#[derive(Default)]
struct Count {
    wrong: [usize; LOOKS.len()],
    changed: usize,
    open: usize,
}

/// Compares verdicts at several numbers of runs, with the whole judge. A decided claim rarely changes its
/// verdict. At most 5 % of papers have a wrong verdict among their twelve. The table of the page on verdicts
/// has these numbers.
#[test]
fn error_rates_of_verdicts_equal_the_table_of_the_verdicts_page() {
    let (claims, models, traces) = (claims(), BTreeMap::new(), BTreeMap::new());
    let least = LeastEffect::default();
    let (mut random, mut papers_wrong) = (1, [0; LOOKS.len()]);
    let mut counts: Vec<Count> = claims.iter().map(|_| Count::default()).collect();
    for _ in 0..PAPERS {
        let all = records(&mut random);
        let mut sides: Vec<Vec<Verdict>> = vec![Vec::new(); claims.len()];
        for (look, n) in LOOKS.into_iter().enumerate() {
            let records = &all[..n * (OFF.len() + 1)];
            let evidence = Evidence {
                records,
                models: &models,
                traces: &traces,
                least: &least,
                planned: None,
            };
            let mut any = false;
            for (k, j) in judge(&claims, &evidence).iter().enumerate() {
                let decided = j.verdict != Verdict::Undecided;
                let wrong = decided && j.verdict != truth(&claims[k], OFF[k / 2]);
                counts[k].wrong[look] += usize::from(wrong);
                any |= wrong;
                counts[k].open += usize::from(!decided && look + 1 == LOOKS.len());
                sides[k].extend(decided.then_some(j.verdict));
            }
            papers_wrong[look] += usize::from(any);
        }
        for (count, sides) in counts.iter_mut().zip(&sides) {
            count.changed += usize::from(sides.windows(2).any(|pair| pair[0] != pair[1]));
        }
    }
    let percent = |n: usize| n as f64 * 100.0 / PAPERS as f64;
    assert!(papers_wrong.iter().all(|n| percent(*n) <= 5.0), "{papers_wrong:?}");
    let row = |name: String, wrong: [usize; 4], more: [String; 2]| {
        let wrong: Vec<String> = wrong.iter().map(|n| format!("{:.1}", percent(*n))).collect();
        format!("| {name} | {} | {} |", wrong.join(" | "), more.join(" | "))
    };
    let shown = |n: usize| format!("{:.1}", percent(n));
    let mut table: Vec<String> = Vec::new();
    for (claim, count) in claims.iter().zip(&counts) {
        assert!(percent(count.changed) <= 0.5, "{} changed side {} times", claim.id, count.changed);
        table.push(row(claim.id.clone(), count.wrong, [shown(count.changed), shown(count.open)]));
    }
    table.push(row("any of the twelve".to_owned(), papers_wrong, ["".into(), "".into()]));
    let page = include_str!("../../../../../docs/src/trust/verdicts.md");
    let table = table.join("\n");
    assert!(page.contains(&table), "the table has become:\n{table}");
}
