//! All statements of a paper as rows of a table, each with a small scale.

use std::fmt::Write;

use super::html::elements::{anchor, badge_of, each, prose};
use super::ladder::escape;
use super::model::{StatementRow, Statements};
use super::prose::spans;

/// Explanation of the symbols in the caption, in whole sentences.
const KEY: &str = "The dot is the measured value divided by the judged value, with its 95 % interval, on a logarithmic scale; \
    the line in its middle is the judged value, the grey band the tolerance.";

/// Width and height of a row's scale.
const SCALE: [f64; 2] = [120.0, 16.0];

// Writing to a `String` cannot fail, so results of `write!` are dropped below.

/// The table, safe to put into a page.
pub(super) fn table(s: &Statements) -> String {
    let reach = reach(&s.rows);
    let readings = s.rows.iter().any(|row| row.readings.is_some());
    let mut heads = vec!["Verdict", "Statement", "Published", "Measured"];
    if readings {
        heads.push("Interpretations");
    }
    format!(
        "<div class=\"table glance\" id=\"{id}\">\n<table>\n\
         <caption><span class=\"caption\">{caption} {KEY} The scale ends at 1/{reach} and {reach}. {anchor}</span></caption>\n\
         <thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>\n{rows}</tbody>\n</table>\n</div>\n",
        id = s.id,
        caption = prose(&spans(&s.caption)),
        anchor = anchor(&s.id, "this table"),
        heads = each(&heads, |head| format!("<th scope=\"col\">{head}</th>")),
        rows = each(&s.rows, |r| row(r, reach, readings)),
    )
}

fn row(row: &StatementRow, reach: f64, readings: bool) -> String {
    let part = match row.parts {
        0 | 1 => String::new(),
        n => format!(" <span class=\"liberty\">(the deciding one of {n} parts)</span>"),
    };
    let basis = match row.basis {
        "measured" => String::new(),
        basis => format!(" <span class=\"liberty\">({basis})</span>"),
    };
    let share = row.readings.map_or(String::new(), share);
    let last = if readings {
        format!("<td data-head=\"Interpretations\">{share}</td>\n")
    } else {
        String::new()
    };
    format!(
        "<tr data-basis=\"{}\">\n<td class=\"verdict\">{}</td>\n<th scope=\"row\">{}: {}{part}{basis}</th>\n\
         <td data-head=\"Published\">{}</td>\n<td data-head=\"Measured\">{}{}</td>\n{last}</tr>\n",
        row.basis,
        badge_of(row.badge),
        escape(&row.source),
        prose(&spans(&row.label)),
        escape(&row.paper),
        escape(&row.measured),
        row.ratio.map_or(String::new(), |ratio| dot(ratio, row.band, reach)),
    )
}

/// The number of interpretations by verdict, in words and as a bar.
fn share([holds, direction, fails, open]: [usize; 4]) -> String {
    let all = (holds + direction + fails + open).max(1);
    let part = |class: &str, n: usize| match n {
        0 => String::new(),
        n => format!("<span class=\"{class}\" style=\"flex-grow:{n}\"></span>"),
    };
    let words = match (all, direction) {
        (1, _) => "one".to_owned(),
        (_, 0) => format!("holds {holds}, fails {fails}, open {open}"),
        _ => format!("holds {holds}, direction only {direction}, fails {fails}, open {open}"),
    };
    format!(
        "{words}<div class=\"strip\" aria-hidden=\"true\">{}{}{}{}</div>",
        part("good", holds),
        part("near", direction),
        part("bad", fails),
        part("none", open)
    )
}

/// The largest factor on the scale: the largest value, between 2 and 100.
fn reach(rows: &[StatementRow]) -> f64 {
    let factors = rows.iter().filter_map(|r| r.ratio).map(|r| r[0]).filter(|r| *r > 0.0);
    let largest = factors.map(|r| r.max(1.0 / r)).fold(2.0, f64::max);
    [2.0, 5.0, 10.0, 30.0, 100.0].into_iter().find(|e| largest <= *e).unwrap_or(100.0)
}

/// Position of a factor on the scale. Factors outside the scale are at its ends.
fn place(factor: f64, reach: f64) -> f64 {
    let share = if factor > 0.0 { libm::log(factor) / libm::log(reach) } else { -1.0 };
    4.0 + (SCALE[0] - 8.0) / 2.0 * (1.0 + share.clamp(-1.0, 1.0))
}

fn dot([value, low, high]: [f64; 3], band: Option<[f64; 2]>, reach: f64) -> String {
    let [width, height] = SCALE;
    let y = height / 2.0;
    let mut svg = format!(
        "<svg class=\"dot\" role=\"img\" aria-label=\"{value:.2} times the judged value\" width=\"{width}\" \
         height=\"{height}\" viewBox=\"0 0 {width} {height}\">"
    );
    if let Some(ends) = band {
        let [from, to] = ends.map(|f| place(f, reach));
        let _ = write!(
            svg,
            "<rect x=\"{from:.1}\" y=\"1\" width=\"{:.1}\" height=\"{}\" fill=\"currentColor\" opacity=\"0.16\"/>",
            (to - from).max(0.5),
            height - 2.0
        );
    }
    let [x, from, to, middle] = [value, low, high, 1.0].map(|f| place(f, reach));
    let _ = write!(
        svg,
        "<line x1=\"{middle:.1}\" y1=\"0\" x2=\"{middle:.1}\" y2=\"{height}\" stroke=\"currentColor\" opacity=\"0.6\"/>\
         <line x1=\"{from:.1}\" y1=\"{y}\" x2=\"{to:.1}\" y2=\"{y}\" stroke=\"currentColor\" stroke-width=\"1.5\"/>\
         <circle cx=\"{x:.1}\" cy=\"{y}\" r=\"3.2\" fill=\"currentColor\"/></svg>"
    );
    svg
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Badge, Tone};

    fn row(ratio: Option<[f64; 3]>, readings: Option<[usize; 4]>) -> StatementRow {
        let badge = Badge { tone: Tone::Good, sign: "✓", name: "reproduced", meaning: "" };
        let [source, label, paper, measured] = ["Table 1", "a < b", "1", "2"].map(str::to_owned);
        let (parts, band, basis) = (2, Some([0.9, 1.1]), "measured");
        StatementRow { source, label, parts, paper, measured, ratio, band, readings, basis, badge }
    }

    #[test]
    fn the_judged_value_is_in_the_middle_and_values_beyond_the_scale_are_at_its_end() {
        assert_eq!(place(1.0, 10.0), SCALE[0] / 2.0);
        assert_eq!(place(1000.0, 10.0), SCALE[0] - 4.0);
        assert_eq!(place(-3.0, 10.0), 4.0);
        assert_eq!(reach(&[row(Some([0.25, 0.2, 0.3]), None)]), 5.0);
        assert_eq!(reach(&[row(Some([1e9, 1.0, 1e9]), None)]), 100.0);
    }

    #[test]
    fn a_row_has_the_whole_statement_and_three_numbers_of_interpretations() {
        let rows = vec![row(Some([1.0, 0.9, 1.2]), Some([2, 0, 3, 4]))];
        let text = table(&Statements { id: "s".into(), caption: String::new(), rows });
        for part in ["holds 2, fails 3, open 4", "a &lt; b", "one of 2 parts", "class=\"dot\""] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
