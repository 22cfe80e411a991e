//! Tables as Markdown.

use crate::model::Table;

/// The caption, and the table under it. If any row has a verdict, the last column has the verdicts.
pub fn table(table: &Table) -> String {
    let verdicts = table.rows.iter().any(|r| r.verdict.is_some());
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut head = table.columns.clone();
    let mut rules: Vec<String> = (0..table.columns.len()).map(|c| rule(table, c)).collect();
    if verdicts {
        head.push("verdict".to_owned());
        rules.push("---".to_owned());
    }
    let mut out = format!("{}\n\n{}{}", table.caption, line(head), line(rules));
    for row in &table.rows {
        let mut cells = row.cells.clone();
        if verdicts {
            cells.push(row.verdict.map_or(String::new(), |v| format!("{} {}", v.sign, v.name)));
        }
        out += &line(cells);
    }
    out
}

fn rule(table: &Table, column: usize) -> String {
    let figures = table.rows.iter().all(|r| is_number(&r.cells[column]));
    if figures { "---:" } else { "---" }.to_owned()
}

fn is_number(cell: &str) -> bool {
    cell.trim_start_matches(['+', '-']).starts_with(|c: char| c.is_ascii_digit())
        && !cell.contains(',')
}
