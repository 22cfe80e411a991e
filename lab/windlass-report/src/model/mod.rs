//! The parts of a report. Papers build a report; `html` draws it.

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
    /// The answers of the page, one sentence each, before all other content.
    pub answers: Vec<Answer>,
    /// One paragraph under the title.
    pub summary: String,
    /// Each verdict with the number of its claims, at the top of the page; empty if nothing was judged.
    pub verdicts: Vec<(Badge, usize)>,
    /// The counted items, if they are not claims of a paper.
    pub counted: Option<Counted>,
    /// Label and value pairs: version, seeds, scenario hash, command, time taken.
    pub provenance: Vec<(String, String)>,
    /// Sections in order.
    pub sections: Vec<Section>,
}

/// Items that a page counts by verdicts.
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

/// A part of the content.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// A paragraph of plain text. A blank line begins a new paragraph, and `backquotes` mark code.
    Text {
        /// The text.
        text: String,
    },
    /// A list of items, each a line of plain text with `backquotes` for code.
    List {
        /// The points.
        items: Vec<String>,
    },
    /// A command line that produces the content above it.
    Command {
        /// The output of the command, as a sentence; `None` for the section's whole content.
        about: Option<String>,
        /// The command.
        command: String,
        /// The scenario of one such run, if the simulator executes it. The laboratory in a browser repeats this run.
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
    /// Stations at their places, and the routes between them.
    Map(NetworkMap),
    /// All statements of a paper.
    Statements(Statements),
    /// The results of a claim in many interpretations.
    Curve(Curve),
    /// Charts over one axis of time.
    Timeline(Timeline),
    /// Texts that can be opened, each with an anchor.
    Stories(Vec<Story>),
}

/// A table with an optional verdict per row.
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

/// True if a cell is a number, which is aligned right: empty, a dash, or a digit after signs and brackets, without a
/// word of more than three letters after it.
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
    /// One cell per column.
    pub cells: Vec<String>,
    /// Verdict shown as a badge in a last column, if any row of the table has one.
    pub verdict: Option<Badge>,
    /// Shown when the pointer is over the verdict, and below the row in print.
    pub note: Option<String>,
}

/// A text that can be opened.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Story {
    /// Anchor.
    pub id: String,
    /// The line that is always visible.
    pub title: String,
    /// Plain text.
    pub paragraphs: Vec<String>,
    /// A packet exchange as illustration.
    pub ladder: Option<Ladder>,
}

/// A packet exchange between two ends; time runs downwards.
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
    /// Sending time in seconds.
    pub sent_s: f64,
    /// Arrival time in seconds; `None` if it was lost.
    pub received_s: Option<f64>,
    /// True from left to right.
    pub rightward: bool,
    /// Text along the arrow, such as `seq 321201 len 1460`.
    pub label: String,
    /// Remark at the sending end, such as `fast retransmit` or `3rd duplicate`.
    pub remark: Option<String>,
}

/// Stations at their places, coloured by a value, and the routes between them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NetworkMap {
    /// Anchor.
    pub id: String,
    /// Caption, which also states the conclusion.
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
    /// The claim, as one sentence.
    pub says: String,
    /// The measured value, the number of interpretations in which the claim holds, and the deciding criterion, as one
    /// sentence each.
    pub lines: Vec<String>,
    /// The verdict.
    pub badge: Badge,
}

/// The statements of a paper, one per row.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Statements {
    /// Anchor.
    pub id: String,
    /// Caption, which also states the conclusion.
    pub caption: String,
    /// The statements in order.
    pub rows: Vec<StatementRow>,
}

/// A statement and its verdict. If it has several parts, its deciding part.
#[derive(Clone, Debug, Serialize)]
pub struct StatementRow {
    /// Its place in the paper.
    pub source: String,
    /// Its text.
    pub label: String,
    /// Number of its parts. `label` and the values show the deciding part.
    pub parts: usize,
    /// The published value with its unit, and the value and tolerance that it is judged by; may be empty.
    pub paper: String,
    /// The measured value with its unit and interval, and both sides of a comparison; may be empty.
    pub measured: String,
    /// The measured value over the judged one, with the ends of its interval; positive.
    pub ratio: Option<[f64; 3]>,
    /// The ends of the tolerance over the judged value.
    pub band: Option<[f64; 2]>,
    /// Numbers of interpretations in which it is reproduced, in which only its direction is, in which it is
    /// contradicted, and in which it is undecided.
    pub readings: Option<[usize; 4]>,
    /// The basis of the verdict, in a word: runs, the paper's arithmetic, or given data.
    pub basis: &'static str,
    /// The verdict.
    pub badge: Badge,
}

/// The role of a station on a map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It forwards the data of other stations.
    #[default]
    Relay,
    /// It sends data.
    Sender,
    /// It receives the data.
    Base,
}

/// A station of a map.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Place {
    /// Name.
    pub name: String,
    /// Metres to the east, and to the north.
    pub at: [f64; 2],
    /// Its role.
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
