//! Tables for the terminal: aligned columns, the paper's figure beside ours, the verdict last.

use crate::claims::Verdict;
use crate::report::model::{Block, Row, Section, Table};

/// The tables of all sections with their headings, as plain text.
pub fn sections(sections: &[Section]) -> String {
    let mut out = String::new();
    for section in sections {
        let mut tables = section.blocks.iter().filter_map(|b| match b {
            Block::Table(t) => Some(t),
            _ => None,
        });
        let Some(first) = tables.next() else { continue };
        out.push_str(&format!("{}\n{}\n\n", section.title, "=".repeat(width(&section.title))));
        for t in std::iter::once(first).chain(tables) {
            out.push_str(&table(t));
            out.push('\n');
        }
    }
    out
}

/// One table with its caption and remarks.
pub fn table(table: &Table) -> String {
    let verdicts = table.rows.iter().any(|r| r.verdict.is_some());
    let mut head = table.columns.clone();
    if verdicts {
        head.push("verdict".to_owned());
    }
    let body: Vec<Vec<String>> =
        table.rows.iter().map(|r| cells(r, head.len(), verdicts)).collect();
    let widths: Vec<usize> = (0..head.len())
        .map(|c| body.iter().chain([&head]).map(|row| width(&row[c])).max().unwrap_or(0))
        .collect();
    let rule: Vec<String> = widths.iter().map(|w| "-".repeat(*w)).collect();
    let mut out = format!("{}\n", table.caption);
    for row in [&head, &rule].into_iter().chain(&body) {
        out.push_str(&line(row, &widths));
    }
    for note in &table.notes {
        out.push_str(&format!("  {note}\n"));
    }
    out
}

/// The word for a verdict, as in `verdicts.json`.
pub fn verdict(v: Verdict) -> &'static str {
    match v {
        Verdict::Reproduced => "reproduced",
        Verdict::SameDirection => "same direction",
        Verdict::Contradicted => "contradicted",
        Verdict::NotComparable => "not comparable",
    }
}

fn cells(row: &Row, columns: usize, verdicts: bool) -> Vec<String> {
    let mut cells = row.cells.clone();
    cells.resize(columns - usize::from(verdicts), String::new());
    if verdicts {
        cells.push(row.verdict.map_or(String::new(), |v| verdict(v).to_owned()));
    }
    cells
}

/// The first column and words to the left, numbers to the right.
fn line(row: &[String], widths: &[usize]) -> String {
    let mut out = String::new();
    for (c, (cell, w)) in row.iter().zip(widths).enumerate() {
        let pad = " ".repeat(w - width(cell));
        let number = c > 0 && cell.starts_with(|ch: char| ch.is_ascii_digit() || "-+".contains(ch));
        let gap = if c == 0 { "  " } else { "   " };
        out.push_str(gap);
        if number { out.push_str(&(pad + cell)) } else { out.push_str(&(cell.clone() + &pad)) }
    }
    format!("{}\n", out.trim_end())
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_and_short_rows_are_filled() {
        let row = |cells: &[&str], verdict| Row {
            cells: cells.iter().map(|c| (*c).to_owned()).collect(),
            verdict,
            note: None,
        };
        let t = Table {
            id: "t".to_owned(),
            caption: "Caption".to_owned(),
            columns: vec!["p".to_owned(), "paper (s)".to_owned()],
            rows: vec![row(&["0.01 %", "60.42"], Some(Verdict::Reproduced)), row(&["µ"], None)],
            notes: vec!["Remark.".to_owned()],
        };
        let expected = "Caption\n  p        paper (s)   verdict\n  ------   ---------   ----------\n  \
            0.01 %       60.42   reproduced\n  µ\n  Remark.\n";
        assert_eq!(table(&t), expected);
    }
}
