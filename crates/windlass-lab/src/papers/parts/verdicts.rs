//! Which claims are contradicted and which cannot be decided, in sentences.

use super::cells;
use crate::claims::{Basis, Claim, Judgement, Statement, Verdict, headline, statements};
use crate::papers::material::{FINDINGS, Material};
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

/// The judgements that give statements of a kind their verdict, and how many statements these are.
fn standing<'a>(
    all: &[Statement<'a>],
    kind: Basis,
    verdict: Verdict,
) -> (usize, Vec<&'a Judgement>) {
    let with = all.iter().filter(|s| (s.kind, s.verdict) == (kind, verdict));
    let decisive = |j: &&&'a Judgement| (j.kind, j.verdict) == (kind, verdict);
    (with.clone().count(), with.flat_map(|s| s.claims.iter().filter(decisive).copied()).collect())
}

/// Contradicted statements of a kind; neighbours in one table with one reason share a point.
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
    let text = format!("Contradicted are {count} of {of} {} statements:", kind.name());
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
    let name = verdict.badge().name;
    let count: usize = counts.iter().sum();
    let text = match count {
        1 => format!("One statement is {name}:"),
        n => format!("{}{} are {n} statements:", name[..1].to_uppercase(), &name[1..]),
    };
    vec![Block::Text { text }, Block::List { items: open.chunk_by(same).map(item).collect() }]
}
