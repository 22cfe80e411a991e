//! Charts, heat maps and curves.

use serde::{Deserialize, Serialize};

use super::badge::{Badge, Tone};

/// How an axis is scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// Linear.
    #[default]
    Linear,
    /// Logarithmic; all values are positive.
    Log,
    /// Categories, in the order of their first appearance.
    Category,
}

/// One axis of a chart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartAxis {
    /// Label with unit, such as `Response time (s)`.
    pub label: String,
    /// Scale.
    #[serde(default)]
    pub scale: Scale,
}

impl ChartAxis {
    /// Whether a value has a place on it.
    pub fn fits(&self, value: f64) -> bool {
        self.scale != Scale::Log || value > 0.0
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Straight lines between points.
    Line,
    /// A step function: each value holds until the next point.
    Step,
    /// A step function through the middle of a band from `lo` to `hi`: the lowest and the highest of many curves.
    #[serde(skip_deserializing)]
    Band,
    /// Points with interval whiskers where `lo` and `hi` are given.
    Points,
    /// Bars with interval whiskers.
    Bars,
    /// Hollow diamonds: the paper's own figures.
    Paper,
    /// Ticks in the colour of a tone: bounds that a value keeps or breaks.
    #[serde(skip)]
    Bound(Tone),
}

/// One value of a series.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ChartPoint {
    /// Position on a linear or logarithmic x axis.
    pub x: f64,
    /// Name on a category axis.
    pub category: Option<String>,
    /// Value.
    pub y: f64,
    /// Lower end of the 95 % interval.
    pub lo: Option<f64>,
    /// Upper end of the 95 % interval.
    pub hi: Option<f64>,
    /// Lower end of the 95 % interval of the position on a linear x axis.
    pub x_lo: Option<f64>,
    /// Upper end of it.
    pub x_hi: Option<f64>,
}

/// One series.
#[derive(Clone, Debug, Serialize)]
pub struct ChartSeries {
    /// Name in the legend.
    pub name: String,
    /// How it is drawn.
    pub mark: Mark,
    /// Its values.
    pub points: Vec<ChartPoint>,
}

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Anchor.
    pub id: String,
    /// Caption, which also says what to see.
    pub caption: String,
    /// Horizontal axis.
    pub x: ChartAxis,
    /// Vertical axis.
    pub y: ChartAxis,
    /// Series, drawn in order.
    pub series: Vec<ChartSeries>,
    /// Whether the reader can zoom and pan.
    pub zoom: bool,
}

/// Charts over the same axis of time, which are zoomed together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timeline {
    /// The charts, each with the time on a linear horizontal axis; the first shows the moments.
    pub charts: Vec<Chart>,
    /// Spans of time behind the curves of all charts.
    pub spells: Vec<Spell>,
    /// Moments above the curves of the first.
    pub moments: Vec<Moment>,
}

/// A span of time that a reader should see.
#[derive(Clone, Debug, Serialize)]
pub struct Spell {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What it is.
    pub tone: SpellTone,
}

/// What a span of time is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpellTone {
    /// Losses are being repaired.
    Recovery,
    /// A timeout is being recovered from.
    Timeout,
}

/// A moment at which something happened.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// When.
    pub at: f64,
    /// What it is.
    pub kind: MomentKind,
    /// Shown beside the pointer.
    pub text: String,
    /// Anchor of the [`Story`](super::Story) that tells more.
    pub story: Option<String>,
}

/// What happened at a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentKind {
    /// A loss was found.
    Loss,
    /// A timer expired.
    Timeout,
    /// A congestion mark was answered.
    Mark,
    /// A decision that proved unfounded.
    Unfounded,
    /// Something else.
    Other,
}

/// A value for each pair of two categories, shown by colour and figure.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatMap {
    /// Anchor.
    pub id: String,
    /// Caption, which also says what to see.
    pub caption: String,
    /// Label of the columns with unit.
    pub x: String,
    /// Label of the rows with unit.
    pub y: String,
    /// Label of the values with unit.
    pub value: String,
    /// Its cells, row by row; columns and rows stand in the order of their first appearance.
    pub cells: Vec<HeatCell>,
}

/// One cell of a heat map.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatCell {
    /// Column.
    pub x: String,
    /// Row.
    pub y: String,
    /// Value, finite. Its sign decides the colour, its size how strong that is.
    pub value: f64,
}

/// The estimates of a quantity in many readings, and what each reading chose.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curve {
    /// Anchor.
    pub id: String,
    /// Caption, which also says what to see.
    pub caption: String,
    /// Label of the values with unit.
    pub value: String,
    /// The values that agree with the paper.
    pub band: Option<[f64; 2]>,
    /// The readings in any order.
    pub points: Vec<CurvePoint>,
    /// Questions with their answers.
    pub axes: Vec<(String, Vec<String>)>,
}

/// What a reading comes to.
#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    /// The estimate, finite.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of it.
    pub high: Option<f64>,
    /// The verdict in this reading.
    pub badge: Badge,
    /// Place of its answer to each question.
    pub choice: Vec<usize>,
    /// Whether it is the headline's.
    pub headline: bool,
}
