//! Which claims are contradicted and which cannot be decided, in sentences.

use super::cells;
use crate::claims::{Claim, Judgement, Verdict};
use crate::papers::{FINDINGS, Material};
use crate::report::model::{Block, Section};

/// The section: what the runs say, then what they contradict, and what cannot be decided.
pub(crate) fn findings(m: &Material, paragraphs: &[String]) -> Section {
    let mut blocks = Vec::new();
    if !paragraphs.is_empty() {
        blocks.push(Block::Text { text: paragraphs.join("\n\n") });
    }
    blocks.extend(contradicted(m));
    blocks.extend(not_comparable(m));
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
    let arithmetic = wrong.iter().filter(|(_, j)| j.n == 0).count();
    let text = format!(
        "Contradicted are {} of {} claims, {arithmetic} of them by the paper's own arithmetic done \
         again:",
        wrong.len(),
        m.judgements.len()
    );
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

/// Claims that nothing can decide yet, by source and reason.
fn not_comparable(m: &Material) -> Vec<Block> {
    let open: Vec<&Judgement> =
        m.judgements.iter().filter(|j| j.verdict == Verdict::NotComparable).collect();
    if open.is_empty() {
        return Vec::new();
    }
    let same = |a: &&Judgement, b: &&Judgement| (&a.source, &a.note) == (&b.source, &b.note);
    let item = |group: &[&Judgement]| {
        let entries = if group.len() == 1 { "entry" } else { "entries" };
        format!("{}: {} {entries}. {}", group[0].source, group.len(), group[0].note)
    };
    let text = format!("Not comparable are {}:", open.len());
    vec![Block::Text { text }, Block::List { items: open.chunk_by(same).map(item).collect() }]
}
