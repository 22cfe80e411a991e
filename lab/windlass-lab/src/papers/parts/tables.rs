//! Tables of verdicts.

use super::cells::{measured, printed};
use super::commands;
use crate::claims::{Claim, Judgement};
use crate::papers::material::Material;
use crate::report::model::{Block, Row, Section, Table};
use crate::report::numbers::number;

/// A section that ends with the commands that repeat its content.
pub(crate) fn section(
    id: &str,
    title: &str,
    mut blocks: Vec<Block>,
    commands: impl IntoIterator<Item = Block>,
) -> Section {
    for block in &mut blocks {
        if let Block::Table(t) = block {
            // Short rows are filled with empty cells.
            let columns = t.columns.len();
            t.rows.iter_mut().for_each(|r| r.cells.resize(columns, String::new()));
        }
    }
    blocks.extend(commands);
    Section { id: id.to_owned(), title: title.to_owned(), blocks }
}

/// Every claim with its verdict and tolerance.
pub(crate) fn every_claim(m: &Material) -> Section {
    let rows = m.judgements.iter().map(|j| {
        let claim = m.claims.iter().find(|c| c.id == j.id);
        let tolerance = claim.and_then(|c| c.tolerance.as_ref()).map_or(String::new(), |t| {
            let relative = t.relative.map(|r| format!("±{} %", number(100.0 * r)));
            let size =
                relative.unwrap_or_else(|| format!("±{}", number(t.absolute.unwrap_or(0.0))));
            format!("{size}: {}", t.reason)
        });
        let cells = vec![
            j.source.clone(),
            j.quantity.clone(),
            if j.unit == "1" { String::new() } else { j.unit.clone() },
            printed(j.paper),
            claim.map_or(String::new(), corrected),
            measured(j),
            tolerance,
        ];
        judged(cells, j)
    });
    let table = Table {
        id: "claims-table".to_owned(),
        caption:
            "Every claim with its tolerance. A corrected value replaces the published one in the comparison. \
            The last section lists the claims that were written or changed after results were known"
                .to_owned(),
        columns: columns(&[
            "where",
            "claim",
            "unit",
            "paper",
            "corrected",
            "measured [95 %]",
            "tolerance and its reason",
        ]),
        rows: rows.collect(),
        notes: vec![],
    };
    section("claims", "All claims", vec![Block::Table(table)], [commands::whole(m)])
}

/// The corrected value, which replaces the published value in the comparison.
fn corrected(claim: &Claim) -> String {
    claim.compare_with.as_ref().map_or(String::new(), |c| printed(Some(c.value)))
}

pub(crate) fn columns(names: &[&str]) -> Vec<String> {
    names.iter().map(|n| (*n).to_owned()).collect()
}

pub(crate) fn judged(cells: Vec<String>, j: &Judgement) -> Row {
    Row { cells, verdict: Some(j.verdict.badge()), note: Some(j.note.clone()) }
}
