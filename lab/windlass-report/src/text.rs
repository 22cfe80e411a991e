//! Text for the terminal: aligned tables with the published value next to the measured value and the verdict
//! last, and prose. All text is wrapped to a width.

use crate::model::{Answer, Block, Row, Section, Table, is_figure};

/// Maximum width of readable text, which is used if the terminal's width is unknown.
pub const WIDTH: usize = 120;

/// Minimum width of a column of words. A table that needs narrower columns is printed in parts.
const NARROWEST: usize = 12;

/// The tables of sections with their headings; sections without a table are left out.
pub fn tables<'a>(sections: impl IntoIterator<Item = &'a Section>, width: usize) -> String {
    let mut out = String::new();
    for section in sections {
        let mut tables = section.blocks.iter().filter_map(|b| match b {
            Block::Table(t) => Some(t),
            _ => None,
        });
        let Some(first) = tables.next() else { continue };
        out.push_str(&heading(&section.title));
        for t in std::iter::once(first).chain(tables) {
            out.push_str(&table_within(t, width));
            out.push('\n');
        }
    }
    out
}

/// The answers of a page, each with its verdict first.
pub fn answers(all: &[Answer], width: usize) -> String {
    let mut out = String::new();
    for answer in all {
        let first = format!("{} {}. {}", answer.badge.sign, answer.badge.name, answer.says);
        out.push_str(&indented(&first, "", width));
        for line in &answer.lines {
            for line in lines(line, width.saturating_sub(2)) {
                out.push_str(&format!("  {line}\n"));
            }
        }
        out.push('\n');
    }
    out
}

/// The paragraphs and lists of a section with its heading.
pub fn prose(section: &Section, width: usize) -> String {
    let mut out = heading(&section.title);
    for block in &section.blocks {
        match block {
            Block::Text { text } => {
                for paragraph in text.split("\n\n") {
                    out.push_str(&indented(paragraph, "", width));
                    out.push('\n');
                }
            }
            Block::List { items } => {
                items.iter().for_each(|item| out.push_str(&indented(item, "- ", width)));
                out.push('\n');
            }
            _ => {}
        }
    }
    out
}

fn heading(title: &str) -> String {
    format!("{title}\n{}\n\n", "=".repeat(length(title)))
}

/// One table with its caption and remarks. If the table is wider than `width`, cells are wrapped between
/// words; numbers and long words stay whole. A table that is still too wide is printed in parts, each with
/// the first column.
pub fn table_within(table: &Table, width: usize) -> String {
    let verdicts = table.rows.iter().any(|r| r.verdict.is_some());
    let mut head = table.columns.clone();
    if verdicts {
        head.push("verdict".to_owned());
    }
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|r| cells(r, head.len(), verdicts)).collect();
    let layout = Layout::of(&head, &rows, width);
    let mut out =
        if table.caption.is_empty() { String::new() } else { indented(&table.caption, "", width) };
    let rule: Vec<String> = layout.widths.iter().map(|w| "-".repeat(*w)).collect();
    for (k, part) in layout.parts(width).iter().enumerate() {
        if k > 0 {
            out.push('\n');
        }
        for row in [&head, &rule].into_iter().chain(&rows) {
            out.push_str(&layout.row(row, part));
        }
    }
    for note in &table.notes {
        out.push_str(&indented(note, "  ", width));
    }
    out
}

/// The columns of a table.
struct Layout {
    /// Width of each column, characters.
    widths: Vec<usize>,
    /// True for each column of numbers, which are aligned right.
    figures: Vec<bool>,
}

impl Layout {
    /// Column widths. They begin with the widest cells. While the table is too wide, the widest column
    /// shrinks. First no column becomes narrower than [`NARROWEST`], then columns of numbers shrink to their
    /// longest word.
    fn of(head: &[String], rows: &[Vec<String>], width: usize) -> Layout {
        let column = |c: usize| rows.iter().map(move |r| r[c].as_str());
        let all = 0..head.len();
        let figures: Vec<bool> = all.clone().map(|c| c > 0 && column(c).all(is_figure)).collect();
        let widest = |c: usize, of: &dyn Fn(&str) -> usize| {
            column(c).chain([head[c].as_str()]).map(of).max().unwrap_or(0)
        };
        let longest: Vec<usize> = all.clone().map(|c| widest(c, &longest_word)).collect();
        let mut widths: Vec<usize> = all.clone().map(|c| widest(c, &length)).collect();
        let readable: Vec<usize> = longest.iter().map(|w| *w.max(&NARROWEST)).collect();
        let least: Vec<usize> =
            all.map(|c| if figures[c] { longest[c] } else { readable[c] }).collect();
        shrink(&mut widths, &readable, width);
        shrink(&mut widths, &least, width);
        Layout { widths, figures }
    }

    /// The columns that fit next to each other, in as many parts as needed.
    fn parts(&self, width: usize) -> Vec<Vec<usize>> {
        let mut parts = vec![vec![0]];
        let mut used = self.widths[0] + GAP;
        for (c, w) in self.widths.iter().enumerate().skip(1) {
            used += w + GAP;
            match parts.last_mut() {
                Some(part) if used <= width || part.len() == 1 => part.push(c),
                _ => {
                    parts.push(vec![0, c]);
                    used = self.widths[0] + w + 2 * GAP;
                }
            }
        }
        parts
    }

    /// These columns of a row as one line, or as several lines if cells are wrapped.
    fn row(&self, cells: &[String], part: &[usize]) -> String {
        let columns: Vec<(usize, Vec<String>)> =
            part.iter().map(|c| (*c, lines(&cells[*c], self.widths[*c]))).collect();
        let height = columns.iter().map(|(_, lines)| lines.len()).max().unwrap_or(0);
        (0..height).map(|k| self.line(&columns, k)).collect()
    }

    fn line(&self, columns: &[(usize, Vec<String>)], k: usize) -> String {
        let mut out = String::new();
        for (c, lines) in columns {
            let cell = lines.get(k).map_or("", String::as_str);
            let pad = " ".repeat(self.widths[*c].saturating_sub(length(cell)));
            out.push_str(if *c == 0 { "  " } else { "   " });
            let (before, after) = if self.figures[*c] { (&*pad, "") } else { ("", &*pad) };
            out.push_str(&format!("{before}{cell}{after}"));
        }
        format!("{}\n", out.trim_end())
    }
}

/// Shrinks the widest column while the total is too wide. No column becomes narrower than its minimum.
fn shrink(widths: &mut [usize], least: &[usize], width: usize) {
    while widths.iter().map(|w| w + GAP).sum::<usize>() > width {
        let may_shrink = |c: &usize| widths[*c] > least[*c];
        match (0..widths.len()).filter(may_shrink).max_by_key(|c| widths[*c]) {
            Some(c) => widths[c] -= 1,
            None => break,
        }
    }
}

/// Spaces before a column.
const GAP: usize = 3;

/// Text in lines. The first line begins with `lead`, and the other lines with as many spaces.
fn indented(text: &str, lead: &str, width: usize) -> String {
    let room = width.saturating_sub(length(lead)).max(NARROWEST);
    let blank = " ".repeat(length(lead));
    let line =
        |(k, line): (usize, String)| format!("{}{line}\n", if k == 0 { lead } else { &blank });
    lines(text, room).into_iter().enumerate().map(line).collect()
}

/// Breaks text between words; a longer word stays whole.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in words(text) {
        match lines.last_mut() {
            Some(last) if last.is_empty() => last.push_str(word),
            Some(last) if length(last) + 1 + length(word) <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Words between which a line may be broken. An interval `[a, b]` is one word.
fn words(text: &str) -> Vec<&str> {
    let mut open = false;
    text.split(|c: char| {
        open = (open || c == '[') && c != ']';
        c.is_whitespace() && !open
    })
    .filter(|word| !word.is_empty())
    .collect()
}

fn longest_word(text: &str) -> usize {
    words(text).into_iter().map(length).max().unwrap_or(0)
}

fn cells(row: &Row, columns: usize, verdicts: bool) -> Vec<String> {
    let mut cells = row.cells.clone();
    cells.resize(columns - usize::from(verdicts), String::new());
    if verdicts {
        cells.push(row.verdict.map_or(String::new(), |badge| badge.name.to_owned()));
    }
    cells
}

fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Badge, Tone};

    const GOOD: Badge =
        Badge { tone: Tone::Good, sign: "✓", name: "reproduced", meaning: "as the paper has it" };

    fn row(cells: &[&str], verdict: Option<Badge>) -> Row {
        Row { cells: cells.iter().map(|c| (*c).to_owned()).collect(), verdict, note: None }
    }

    fn two_columns(rows: Vec<Row>) -> Table {
        Table {
            id: "t".to_owned(),
            caption: "Caption".to_owned(),
            columns: vec!["p".to_owned(), "paper (s)".to_owned()],
            rows,
            notes: vec!["Remark.".to_owned()],
        }
    }

    #[test]
    fn columns_line_up_and_short_rows_are_filled() {
        let rows = vec![row(&["0.01 %", "60.42"], Some(GOOD)), row(&["µ"], None)];
        let expected = "Caption\n  p        paper (s)   verdict\n  ------   ---------   ----------\n  \
            0.01 %       60.42   reproduced\n  µ\n  Remark.\n";
        assert_eq!(table_within(&two_columns(rows), WIDTH), expected);
    }

    #[test]
    fn a_table_fits_the_width_and_wrapped_words_stay_flush_left() {
        let long = "60,000 words in a cell that has to be wrapped since it is long";
        let text = table_within(&two_columns(vec![row(&["1 %", long], None)]), 40);
        assert!(text.lines().all(|line| length(line) <= 40), "{text}");
        let cell = text.lines().skip(3).take_while(|l| !l.contains("Remark"));
        assert!(cell.clone().count() > 1);
        for line in cell {
            assert!(line.len() > 9 && line[8..].starts_with(|c: char| c != ' '), "{text}");
        }
    }

    #[test]
    fn a_table_of_many_figures_is_printed_in_parts_with_the_first_column() {
        let columns = ["flow", "goodput (Mbps)", "retransmissions", "utilisation (%)"];
        let table = Table {
            columns: columns.map(str::to_owned).to_vec(),
            rows: vec![row(&["download", "1.9", "69", "99.7"], None)],
            ..two_columns(vec![])
        };
        let lines = |width| table_within(&table, width).lines().map(length).max().unwrap_or(0);
        assert_eq!((lines(80), lines(60), lines(40)), (63, 59, 38));
        let narrow = table_within(&table, 40);
        assert_eq!(narrow.matches("download").count(), 2, "{narrow}");
    }

    #[test]
    fn an_interval_is_never_broken() {
        let text = table_within(&two_columns(vec![row(&["1 %", "81 [77.1, 82.2]"], None)]), 24);
        assert!(text.contains("[77.1, 82.2]"), "{text}");
        assert_eq!(words("a [1, 2] b c"), ["a", "[1, 2]", "b", "c"]);
        assert_eq!(lines("", 9), [""]);
    }

    #[test]
    fn prose_is_wrapped_and_points_are_marked() {
        let section = Section {
            title: "Findings".to_owned(),
            blocks: vec![
                Block::Text { text: "One two three four.".to_owned() },
                Block::List { items: vec!["five six seven".to_owned()] },
            ],
            ..Section::default()
        };
        let expected = "Findings\n========\n\nOne two three\nfour.\n\n- five six\n  seven\n\n";
        assert_eq!(prose(&section, 14), expected);
    }
}
