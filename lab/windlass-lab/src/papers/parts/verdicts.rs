//! The contradicted and the undecided statements, in sentences.

use super::cells;
use crate::claims::{Basis, Claim, Judgement, Statement, Verdict, headline, statements};
use crate::papers::material::{FINDINGS, Material};
use crate::report::model::{Block, Section};

/// The section: findings, the number of statements by verdict, the contradicted statements, and the undecided ones.
pub(crate) fn findings(m: &Material, paragraphs: &[String]) -> Section {
    let mut blocks = Vec::new();
    if !paragraphs.is_empty() {
        blocks.push(Block::Text { text: paragraphs.join("\n\n") });
    }
    if !m.judgements.is_empty() {
        let items = headline(m.judgements).lines().map(|l| format!("{l}.")).collect();
        blocks.push(Block::List { items });
    }
    blocks.extend(Basis::ALL.into_iter().flat_map(|kind| contradicted(m, kind)));
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

/// The judgements that give statements of a kind their verdict, and the number of these statements.
fn standing<'a>(
    all: &[Statement<'a>],
    kind: Basis,
    verdict: Verdict,
) -> (usize, Vec<&'a Judgement>) {
    let with = all.iter().filter(|s| (s.kind, s.verdict) == (kind, verdict));
    let decisive = |s: &Statement<'a>| -> Vec<&'a Judgement> {
        let own: Vec<&Judgement> =
            s.claims.iter().copied().filter(|j| j.verdict == verdict).collect();
        // If the parts hold in different interpretations, only the whole statement has this verdict.
        if own.is_empty() { s.claims[..1].to_vec() } else { own }
    };
    (with.clone().count(), with.flat_map(decisive).collect())
}

/// Contradicted statements of a kind. Adjacent statements with the same source and reason share a list item.
fn contradicted(m: &Material, kind: Basis) -> Vec<Block> {
    let all = statements(m.judgements);
    let (count, wrong) = standing(&all, kind, Verdict::Contradicted);
    if count == 0 {
        return Vec::new();
    }
    let wrong: Vec<(&Claim, &Judgement)> = wrong
        .into_iter()
        .filter_map(|j| Some((m.claims.iter().find(|c| c.id == j.id)?, j)))
        .collect();
    let of = all.iter().filter(|s| s.kind == kind).count();
    let parts =
        if wrong.len() == count { String::new() } else { format!(", in {} parts", wrong.len()) };
    let text = format!("{count} of {of} {} statements contradicted{parts}:", kind.name());
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
        format!(
            "{} measured, {} published",
            cells::optional(j.measured),
            cells::printed(claim.paper)
        )
    };
    let values = listed(&group.iter().map(one).collect::<Vec<_>>());
    format!("{}: {} entries, {values}. {}", first.source, group.len(), first.note)
}

/// Statements with a verdict that leaves them open, by source and reason.
fn not_decided(m: &Material, verdict: Verdict) -> Vec<Block> {
    let all = statements(m.judgements);
    let (counts, open): (Vec<usize>, Vec<_>) =
        Basis::ALL.into_iter().map(|kind| standing(&all, kind, verdict)).unzip();
    let open = open.concat();
    if open.is_empty() {
        return Vec::new();
    }
    let same = |a: &&Judgement, b: &&Judgement| (&a.source, &a.note) == (&b.source, &b.note);
    let item = |group: &[&Judgement]| match group {
        [one] => format!("{}: {}. {}", one.source, one.quantity, one.note),
        more => format!("{}: {} entries. {}", more[0].source, more.len(), more[0].note),
    };
    let name = verdict.badge().heading();
    let count: usize = counts.iter().sum();
    let noun = if count == 1 { "statement" } else { "statements" };
    let text = format!("{name} ({count} {noun}):");
    vec![Block::Text { text }, Block::List { items: open.chunk_by(same).map(item).collect() }]
}
