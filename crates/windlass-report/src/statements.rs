//! All statements of a paper as rows, as SVG.

use std::fmt::Write;

use super::ladder::escape;
use super::model::{StatementRow, Statements, Tone};

/// What the caption must say about the symbols, in whole sentences.
const KEY: &str = "The dot is ours over the paper's value with its 95 % interval, on a scale of factors; the line in the \
    middle is the paper.";
/// The same of readings, if there are any.
const READINGS: &str = " The bar is the share of readings: filled where the statement is reproduced, hatched where its \
    direction alone is, empty where it is contradicted, and short of its frame by those that are undecided.";

const WIDTH: f64 = 1080.0;
const ROW: f64 = 19.0;
const TOP: f64 = 34.0;
/// Where the columns begin: label, the paper's value, ours, factors, readings, verdict.
const COLUMNS: [f64; 6] = [4.0, 380.0, 486.0, 664.0, 832.0, 948.0];
/// Width of the scale of factors and of the bar.
const SCALE: f64 = 140.0;
const BAR: f64 = 56.0;
/// Width of a label's character, about.
const LETTER: f64 = 5.6;

// Writing to a `String` cannot fail, so results of `write!` are dropped below.

/// Whether any statement was read in several ways.
fn has_readings(s: &Statements) -> bool {
    s.rows.iter().any(|row| row.readings.is_some())
}

/// What the caption must say of the symbols.
pub(super) fn key(s: &Statements) -> String {
    if has_readings(s) { [KEY, READINGS].concat() } else { KEY.to_owned() }
}

/// The SVG element, safe to put into a page and complete as a file of its own.
pub(super) fn draw(s: &Statements) -> String {
    let height = TOP + ROW * s.rows.len() as f64 + 10.0;
    let label =
        escape(&format!("{} statements of the paper. The table below holds them.", s.rows.len()));
    let mut svg = String::new();
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ladder-drawing tall\" role=\"img\" \
         aria-label=\"{label}\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-size=\"11\" font-family=\"'DejaVu Sans', Helvetica, Arial, sans-serif\" fill=\"currentColor\">\
         <defs><pattern id=\"{id}-half\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"2\" height=\"4\" fill=\"currentColor\" opacity=\"0.55\"/>\
         </pattern></defs>",
        id = s.id
    );
    let heads =
        ["statement", "paper", "ours [95 %]", "ours over the paper's", "readings", "verdict"];
    // Where there are no readings, their room is the labels'.
    let shift = if has_readings(s) { 0.0 } else { COLUMNS[5] - COLUMNS[4] };
    for (i, head) in heads.iter().enumerate().filter(|(i, _)| *i != 4 || shift == 0.0) {
        let x = COLUMNS[i] + if (1..4).contains(&i) { shift } else { 0.0 };
        let _ = write!(svg, "<text x=\"{x}\" y=\"12\" font-weight=\"bold\">{head}</text>");
    }
    let reach = reach(&s.rows);
    scale(&mut svg, (shift, reach), height - 10.0);
    for (i, row) in s.rows.iter().enumerate() {
        draw_row(&mut svg, &s.id, row, TOP + ROW * i as f64, (shift, reach));
    }
    svg.push_str("</svg>");
    svg
}

/// The largest factor of the scale: what the values reach, between 2 and 100.
fn reach(rows: &[StatementRow]) -> f64 {
    let factors = rows.iter().filter_map(|r| r.ratio).map(|r| r[0]).filter(|r| *r > 0.0);
    let largest = factors.map(|r| r.max(1.0 / r)).fold(2.0, f64::max);
    [2.0, 5.0, 10.0, 30.0, 100.0].into_iter().find(|e| largest <= *e).unwrap_or(100.0)
}

/// Where a factor stands on the scale, its ends where it is beyond them.
fn place(factor: f64, reach: f64) -> f64 {
    let share = if factor > 0.0 { factor.ln() / reach.ln() } else { -1.0 };
    COLUMNS[3] + SCALE / 2.0 * (1.0 + share.clamp(-1.0, 1.0))
}

fn scale(svg: &mut String, (shift, reach): (f64, f64), bottom: f64) {
    for (factor, label) in
        [(1.0 / reach, format!("1/{reach}")), (1.0, "1".to_owned()), (reach, format!("{reach}"))]
    {
        let x = shift + place(factor, reach);
        let _ = write!(
            svg,
            "<text x=\"{x:.1}\" y=\"26\" font-size=\"9\" text-anchor=\"middle\">{label}</text>\
             <line x1=\"{x:.1}\" y1=\"30\" x2=\"{x:.1}\" y2=\"{bottom:.1}\" stroke=\"currentColor\" \
             opacity=\"{}\"/>",
            if label == "1" { 0.6 } else { 0.2 }
        );
    }
}

fn draw_row(svg: &mut String, id: &str, row: &StatementRow, top: f64, (shift, reach): (f64, f64)) {
    let base = top + 13.0;
    let room = ((COLUMNS[1] + shift - COLUMNS[0]) / LETTER) as usize;
    let short: String = match row.label.chars().count() {
        n if n > room => row.label.chars().take(room - 1).chain(['…']).collect(),
        _ => row.label.clone(),
    };
    let _ = write!(
        svg,
        "<g><title>{}</title><text x=\"{}\" y=\"{base:.1}\" font-size=\"10\">{}</text>",
        escape(&row.label),
        COLUMNS[0],
        escape(&short)
    );
    for (x, text) in [(COLUMNS[1] + shift, &row.paper), (COLUMNS[2] + shift, &row.ours)] {
        let _ =
            write!(svg, "<text x=\"{x}\" y=\"{base:.1}\" font-size=\"10\">{}</text>", escape(text));
    }
    if let Some([value, low, high]) = row.ratio {
        let y = top + 9.0;
        let [x, from, to] = [value, low, high].map(|f| shift + place(f, reach));
        let _ = write!(
            svg,
            "<line x1=\"{from:.1}\" y1=\"{y:.1}\" x2=\"{to:.1}\" y2=\"{y:.1}\" stroke=\"currentColor\" \
             stroke-width=\"1.5\"/><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\"/>"
        );
    }
    if let Some([holds, half, against, undecided]) = row.readings {
        bar(svg, id, [holds, half, against, undecided], top + 3.5);
        let of = holds + half + against;
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{base:.1}\" font-size=\"10\">{holds}/{of}</text>",
            COLUMNS[4] + BAR + 5.0
        );
    }
    let colour = match row.badge.tone {
        Tone::Good => "var(--good, #00664a)",
        Tone::Near => "var(--near, #0b4f8a)",
        Tone::Bad => "var(--bad, #a33a00)",
        Tone::None => "currentColor",
    };
    let _ = write!(
        svg,
        "<text x=\"{}\" y=\"{base:.1}\" font-size=\"10\" style=\"fill:{colour}\">{} {}</text></g>",
        COLUMNS[5], row.badge.sign, row.badge.name
    );
}

/// Readings in which it holds, holds by half, does not, and is undecided.
fn bar(svg: &mut String, id: &str, [holds, half, against, undecided]: [usize; 4], y: f64) {
    let all = (holds + half + against + undecided).max(1) as f64;
    let (x, unit) = (COLUMNS[4], BAR / all);
    let (filled, hatched) = (holds as f64 * unit, half as f64 * unit);
    let decided = filled + hatched + against as f64 * unit;
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y:.1}\" width=\"{BAR}\" height=\"10\" fill=\"none\" stroke=\"currentColor\" \
         opacity=\"0.3\" stroke-dasharray=\"2 2\"/>\
         <rect x=\"{x}\" y=\"{y:.1}\" width=\"{decided:.1}\" height=\"10\" fill=\"none\" stroke=\"currentColor\"/>\
         <rect x=\"{x}\" y=\"{y:.1}\" width=\"{filled:.1}\" height=\"10\" style=\"fill:var(--good, #00664a)\"/>\
         <rect x=\"{:.1}\" y=\"{y:.1}\" width=\"{hatched:.1}\" height=\"10\" fill=\"url(#{id}-half)\"/>",
        x + filled
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Badge;

    fn row(ratio: Option<[f64; 3]>, readings: Option<[usize; 4]>) -> StatementRow {
        let badge = Badge { tone: Tone::Good, sign: "✓", name: "reproduced", meaning: "" };
        let [label, paper, ours] = ["a < b", "1", "2"].map(str::to_owned);
        StatementRow { label, paper, ours, ratio, readings, basis: "measured", badge }
    }

    #[test]
    fn the_papers_value_is_in_the_middle_and_what_is_beyond_the_scale_stands_at_its_end() {
        let middle = COLUMNS[3] + SCALE / 2.0;
        assert_eq!(place(1.0, 10.0), middle);
        assert_eq!(place(1000.0, 10.0), COLUMNS[3] + SCALE);
        assert_eq!(place(-3.0, 10.0), COLUMNS[3]);
        assert_eq!(reach(&[row(Some([0.25, 0.2, 0.3]), None)]), 5.0);
        assert_eq!(reach(&[row(Some([1e9, 1.0, 1e9]), None)]), 100.0);
    }

    #[test]
    fn a_drawing_says_in_how_many_readings_of_those_decided_it_holds() {
        let rows = vec![row(None, Some([2, 1, 3, 4]))];
        let svg = draw(&Statements { id: "s".into(), caption: String::new(), rows });
        assert!(svg.contains(">2/6<") && svg.contains("a &lt; b"), "{svg}");
        // Ten readings: two fill a fifth of the bar, six are decided.
        assert!(svg.contains("width=\"11.2\"") && svg.contains("width=\"33.6\""), "{svg}");
    }
}
