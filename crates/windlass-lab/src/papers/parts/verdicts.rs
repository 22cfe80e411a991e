//! Which claims are contradicted and which cannot be decided, in sentences.

use super::cells;
use crate::claims::{Claim, Judgement, Verdict, headline};
use crate::papers::{FINDINGS, Material};
use crate::report::model::{Block, Section};

/// The section: what the runs say, how many statements have which verdict, what is contradicted, and what is not decided.
pub(crate) fn findings(m: &Material, paragraphs: &[String]) -> Section {
    let mut blocks = Vec::new();
    if !paragraphs.is_empty() {
        blocks.push(Block::Text { text: paragraphs.join("\n\n") });
    }
    if !m.judgements.is_empty() {
        let items = headline(m.judgements).lines().map(|l| format!("{l}.")).collect();
        blocks.push(Block::List { items });
    }
    blocks.extend(contradicted(m));
    let open =
        [Verdict::DependsOnReading, Verdict::Undecided, Verdict::NotRun, Verdict::NotComparable];
    blocks.extend(open.into_iter().flat_map(|v| not_decided(m, v)));
    Section { id: FINDINGS.to_owned(), title: "Findings".to_owned(), blocks }
}

/// `a, b and c`.
pub(crate) fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Contradicted claims; neighbours in one table with one reason share a point.
fn contradicted(m: &Material) -> Vec<Block> {
    let wrong: Vec<(&Claim, &Judgement)> = m
        .judgements
        .iter()
        .filter(|j| j.verdict == Verdict::Contradicted)
        .filter_map(|j| Some((m.claims.iter().find(|c| c.id == j.id)?, j)))
        .collect();
    if wrong.is_empty() {
        return Vec::new();
    }
    let text = format!("Contradicted are {} of {} claims:", wrong.len(), m.judgements.len());
    let same = |a: &(&Claim, &Judgement), b: &(&Claim, &Judgement)| {
        !a.0.note.is_empty() && (&a.0.source, &a.0.note) == (&b.0.source, &b.0.note)
    };
    let items = wrong.chunk_by(same).map(reason).collect();
    vec![Block::Text { text }, Block::List { items }]
}

fn reason(group: &[(&Claim, &Judgement)]) -> String {
    let (first, judgement) = group[0];
    if group.len() == 1 {
        return format!("{}: {}. {}", first.source, first.quantity, judgement.note);
    }
    let one = |(claim, j): &(&Claim, &Judgement)| {
        format!("{} against {}", cells::optional(j.measured), cells::printed(claim.paper))
    };
    let values = listed(&group.iter().map(one).collect::<Vec<_>>());
    format!("{}: {} entries, {values}. {}", first.source, group.len(), first.note)
}

/// Claims with a verdict that leaves them open, by source and reason.
fn not_decided(m: &Material, verdict: Verdict) -> Vec<Block> {
    let open: Vec<&Judgement> = m.judgements.iter().filter(|j| j.verdict == verdict).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let same = |a: &&Judgement, b: &&Judgement| (&a.source, &a.note) == (&b.source, &b.note);
    let item = |group: &[&Judgement]| {
        let entries = if group.len() == 1 { "entry" } else { "entries" };
        format!("{}: {} {entries}. {}", group[0].source, group.len(), group[0].note)
    };
    let name = verdict.badge().name;
    let text = format!("{}{} are {}:", name[..1].to_uppercase(), &name[1..], open.len());
    vec![Block::Text { text }, Block::List { items: open.chunk_by(same).map(item).collect() }]
}
