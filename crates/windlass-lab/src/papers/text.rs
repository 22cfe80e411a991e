//! Tables for the terminal: aligned columns, the paper's figure beside ours, the verdict last.

use crate::claims::Verdict;
use crate::report::model::{Block, Row, Section, Table};

/// Widest cell before it is wrapped, characters.
const CELL: usize = 36;

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

/// One table with its caption and remarks; long cells are wrapped.
pub fn table(table: &Table) -> String {
    let verdicts = table.rows.iter().any(|r| r.verdict.is_some());
    let mut head = table.columns.clone();
    if verdicts {
        head.push("verdict".to_owned());
    }
    let body: Vec<Vec<String>> =
        table.rows.iter().flat_map(|r| wrapped(&cells(r, head.len(), verdicts))).collect();
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

/// A row as several when a cell is longer than [`CELL`].
fn wrapped(cells: &[String]) -> Vec<Vec<String>> {
    let columns: Vec<Vec<String>> = cells.iter().map(|c| wrap(c)).collect();
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let at = |k: usize| columns.iter().map(|c| c.get(k).cloned().unwrap_or_default()).collect();
    (0..height).map(at).collect()
}

/// Breaks text at spaces; a longer word stays whole.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(last) if last.is_empty() => last.push_str(word),
            Some(last) if width(last) + 1 + width(word) <= CELL => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
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

    #[test]
    fn long_cells_are_wrapped_between_words() {
        let lines = wrap("one two three four five six seven eight nine ten");
        assert_eq!(lines, ["one two three four five six seven", "eight nine ten"]);
        assert_eq!(wrap(""), [""]);
        let rows = wrapped(&["a".to_owned(), "x".repeat(30) + " " + &"y".repeat(50)]);
        assert_eq!((rows.len(), rows[1][0].as_str(), rows[1][1].len()), (2, "", 50));
    }
}
