//! What a report consists of. Papers build this; `html` draws it.

mod badge;
mod chart;

use serde::Serialize;

pub use badge::{Badge, Tone};
pub use chart::{
    Chart, ChartAxis, ChartPoint, ChartSeries, Curve, CurvePoint, HeatCell, HeatMap, Mark, Moment,
    MomentKind, Scale, Spell, SpellTone, Timeline,
};

/// A whole report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    /// Title of the page.
    pub title: String,
    /// Authors, and where and when it appeared; may be empty.
    pub byline: String,
    /// Digital object identifier, shown as a link; may be empty.
    pub doi: String,
    /// What the page answers, a sentence each, before anything else.
    pub answers: Vec<Answer>,
    /// One paragraph under the title.
    pub summary: String,
    /// Each verdict with the number of claims that have it, shown at the top of the page; empty when
    /// nothing was judged.
    pub verdicts: Vec<(Badge, usize)>,
    /// What these are counts of, where they are not of a paper's claims.
    pub counted: Option<Counted>,
    /// Label and value pairs: version, seeds, scenario hash, command, time taken.
    pub provenance: Vec<(String, String)>,
    /// Sections in order.
    pub sections: Vec<Section>,
}

/// What a page counts by verdicts.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    /// A sentence over the counts.
    pub caption: String,
    /// One word, in the plural.
    pub noun: String,
}

/// A section with a heading.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Section {
    /// Anchor.
    pub id: String,
    /// Heading.
    pub title: String,
    /// Content in order.
    pub blocks: Vec<Block>,
}

/// One piece of content.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph of plain text; a blank line begins a new one, `backquotes` mark code.
    Text {
        /// The text.
        text: String,
    },
    /// A list of points, each a line of plain text with `backquotes` for code.
    List {
        /// The points.
        items: Vec<String>,
    },
    /// A command line that remakes what stands above it.
    Command {
        /// What it makes, as a sentence; none when the section's whole content.
        about: Option<String>,
        /// The command.
        command: String,
        /// The scenario of one such run, where the simulator makes it: the laboratory in a browser makes it again.
        scenario: Option<String>,
    },
    /// A table.
    Table(Table),
    /// A chart.
    Chart(Chart),
    /// A heat map.
    Heat(HeatMap),
    /// A packet exchange.
    Ladder(Ladder),
    /// Stations where they stand, and the routes between them.
    Map(NetworkMap),
    /// All statements of a paper.
    Statements(Statements),
    /// What a claim comes to in many readings.
    Curve(Curve),
    /// Charts over one axis of time.
    Timeline(Timeline),
    /// Texts that can be opened, each with an anchor.
    Stories(Vec<Story>),
}

/// A table with an optional verdict a row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Table {
    /// Anchor.
    pub id: String,
    /// Caption.
    pub caption: String,
    /// Column headings, units included.
    pub columns: Vec<String>,
    /// Rows.
    pub rows: Vec<Row>,
    /// Remarks under the table.
    pub notes: Vec<String>,
}

/// Whether a cell reads as a figure and stands flush right: empty, a dash, or a digit after signs
/// and brackets without a word of more than three letters after it.
pub(crate) fn is_figure(cell: &str) -> bool {
    let bare = cell
        .trim()
        .trim_start_matches(['+', '-', '−', '±', '≈', '<', '>', '≤', '≥', '[', '(', ' ']);
    let wordless =
        || bare.split(|c: char| !c.is_alphabetic()).all(|word| word.chars().count() <= 3);
    bare.is_empty()
        || bare == "–"
        || bare == "—"
        || (bare.starts_with(|c: char| c.is_ascii_digit()) && wordless())
}

/// One row of a table.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Row {
    /// One cell a column.
    pub cells: Vec<String>,
    /// Verdict shown as a badge in a last column, if any row of the table has one.
    pub verdict: Option<Badge>,
    /// Shown on hovering over the verdict and in the print version under the row.
    pub note: Option<String>,
}

/// A text that can be opened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Story {
    /// Anchor.
    pub id: String,
    /// The line that is always there.
    pub title: String,
    /// Plain text.
    pub paragraphs: Vec<String>,
    /// A packet exchange that shows it.
    pub ladder: Option<Ladder>,
}

/// A packet exchange between two ends, time running down.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Ladder {
    /// Anchor.
    pub id: String,
    /// Caption.
    pub caption: String,
    /// Name of the left end.
    pub left: String,
    /// Name of the right end.
    pub right: String,
    /// Messages in order of sending.
    pub messages: Vec<Message>,
}

/// One packet of a ladder.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Message {
    /// Seconds when it left.
    pub sent_s: f64,
    /// Seconds when it arrived; `None` when it was lost.
    pub received_s: Option<f64>,
    /// True from left to right.
    pub rightward: bool,
    /// Text along the arrow, such as `seq 321201 len 1460`.
    pub label: String,
    /// Remark at the sending end, such as `fast retransmit` or `3rd duplicate`.
    pub remark: Option<String>,
}

/// Stations where they stand, coloured by a value, and the routes between them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NetworkMap {
    /// Anchor.
    pub id: String,
    /// Caption, which also says what to see.
    pub caption: String,
    /// Label of the values with unit.
    pub value: String,
    /// Headings of [`Place::more`], units included.
    pub columns: Vec<String>,
    /// The stations.
    pub places: Vec<Place>,
    /// Routes as the stations on them, by their position in `places`.
    pub routes: Vec<Vec<usize>>,
}

/// One question and its answer, on the first screen.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// What is claimed, as one sentence.
    pub says: String,
    /// What was measured, in how many interpretations it holds, and what decides it, as one sentence each.
    pub lines: Vec<String>,
    /// The verdict.
    pub badge: Badge,
}

/// The statements of a paper, a row each.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statements {
    /// Anchor.
    pub id: String,
    /// Caption, which also says what to see.
    pub caption: String,
    /// The statements in order.
    pub rows: Vec<StatementRow>,
}

/// A statement, and how it stands: by its deciding part, if it has several.
#[derive(Clone, Debug, Serialize)]
pub struct StatementRow {
    /// Where it stands in the paper.
    pub source: String,
    /// What it says.
    pub label: String,
    /// Number of its parts, of which `label` and the values show the deciding one.
    pub parts: usize,
    /// The published value with its unit, and the value and tolerance that it is judged by; may be empty.
    pub paper: String,
    /// The measured value with its unit and interval, and both sides of a comparison; may be empty.
    pub measured: String,
    /// The measured value over the judged one, with the ends of its interval; positive.
    pub ratio: Option<[f64; 3]>,
    /// The ends of the tolerance over the judged value.
    pub band: Option<[f64; 2]>,
    /// Interpretations in which it is reproduced, in which its direction alone is, in which it is contradicted, and in
    /// which it is open.
    pub readings: Option<[usize; 4]>,
    /// What the statement rests on, in a word: runs, the paper's own arithmetic, or what is given.
    pub basis: &'static str,
    /// The verdict.
    pub badge: Badge,
}

/// What a station of a map is there for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It passes on what others send.
    #[default]
    Relay,
    /// It sends data of its own.
    Sender,
    /// The data are for it.
    Base,
}

/// A station of a map.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Place {
    /// Name.
    pub name: String,
    /// Metres to the east, and to the north.
    pub at: [f64; 2],
    /// What it is there for.
    pub role: Role,
    /// Its value, if it has one.
    pub value: Option<f64>,
    /// Further cells of its row in the table of data.
    pub more: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_signs_brackets_and_dashes_count_as_figures_and_phrases_do_not() {
        for cell in ["", "–", "45.66", "−3 %", "[44.1, 46.2]", "≈ 10", "81.0 [77.0, 82.2]", "1e-5"]
        {
            assert!(is_figure(cell), "{cell}");
        }
        for cell in
            ["p = 1 %", "Reno", "- none", "65,535 bytes (RFC 2001)", "±5 %: as without loss"]
        {
            assert!(!is_figure(cell), "{cell}");
        }
    }
}
