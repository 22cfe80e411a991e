//! Charts, heat maps and curves.

use serde::{Deserialize, Serialize};

use super::badge::{Badge, Tone};

/// Scale of an axis.
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
    /// True if the axis can show the value.
    pub fn fits(&self, value: f64) -> bool {
        self.scale != Scale::Log || value > 0.0
    }
}

/// Drawing style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Straight lines between points.
    Line,
    /// A step function: each value holds until the next point.
    Step,
    /// A step function through the middle of a band from `lo` to `hi`, the minimum and the maximum of many
    /// curves.
    #[serde(skip_deserializing)]
    Band,
    /// Points, with interval whiskers if `lo` and `hi` are set.
    Points,
    /// Bars with interval whiskers.
    Bars,
    /// Hollow diamonds for published values.
    Paper,
    /// Ticks in the colour of a tone, for bounds of a value.
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
    /// Upper end of this interval.
    pub x_hi: Option<f64>,
}

/// One series.
#[derive(Clone, Debug, Serialize)]
pub struct ChartSeries {
    /// Name in the legend.
    pub name: String,
    /// Drawing style.
    pub mark: Mark,
    /// Its values.
    pub points: Vec<ChartPoint>,
}

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// Anchor.
    pub id: String,
    /// Caption, which also states the conclusion.
    pub caption: String,
    /// Horizontal axis.
    pub x: ChartAxis,
    /// Vertical axis.
    pub y: ChartAxis,
    /// Series, drawn in order.
    pub series: Vec<ChartSeries>,
    /// True if the reader can zoom and pan.
    pub zoom: bool,
}

/// Charts over the same time axis, which are zoomed together.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timeline {
    /// The charts, each with the time on a linear horizontal axis. The first chart shows the moments.
    pub charts: Vec<Chart>,
    /// Spans of time behind the curves of all charts.
    pub spells: Vec<Spell>,
    /// Moments above the curves of the first chart.
    pub moments: Vec<Moment>,
}

/// A highlighted span of time.
#[derive(Clone, Debug, Serialize)]
pub struct Spell {
    /// Its beginning.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// Its kind.
    pub tone: SpellTone,
}

/// The kind of a span of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SpellTone {
    /// Losses are repaired.
    Recovery,
    /// The sender recovers from a timeout.
    Timeout,
}

/// A point in time with an event.
#[derive(Clone, Debug, Serialize)]
pub struct Moment {
    /// Its time.
    pub at: f64,
    /// Its kind.
    pub kind: MomentKind,
    /// Text at the pointer.
    pub text: String,
    /// Anchor of the [`Story`](super::Story) with more details.
    pub story: Option<String>,
}

/// The kind of a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MomentKind {
    /// A loss was detected.
    Loss,
    /// A timer expired.
    Timeout,
    /// The sender responded to a congestion mark.
    Mark,
    /// A reduction that proved unfounded.
    Unfounded,
    /// Something else.
    Other,
}

/// A value for each pair of two categories, shown by colour and number.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatMap {
    /// Anchor.
    pub id: String,
    /// Caption, which also states the conclusion.
    pub caption: String,
    /// Label of the columns with unit.
    pub x: String,
    /// Label of the rows with unit.
    pub y: String,
    /// Label of the values with unit.
    pub value: String,
    /// Its cells, row by row. Columns and rows are in the order of their first appearance.
    pub cells: Vec<HeatCell>,
}

/// One cell of a heat map.
#[derive(Clone, Debug, Default, Serialize)]
pub struct HeatCell {
    /// Column.
    pub x: String,
    /// Row.
    pub y: String,
    /// Value, finite. Its sign determines the colour, its size the strength of the colour.
    pub value: f64,
}

/// The estimates of a quantity in many interpretations, with the answers of each interpretation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Curve {
    /// Anchor.
    pub id: String,
    /// Caption, which also states the conclusion.
    pub caption: String,
    /// Label of the values with unit.
    pub value: String,
    /// The values that agree with the published value.
    pub band: Option<[f64; 2]>,
    /// The interpretations in any order.
    pub points: Vec<CurvePoint>,
    /// Questions with their answers.
    pub axes: Vec<(String, Vec<String>)>,
}

/// The result of an interpretation.
#[derive(Clone, Debug, Serialize)]
pub struct CurvePoint {
    /// The estimate, finite.
    pub value: f64,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of this interval.
    pub high: Option<f64>,
    /// The verdict in this interpretation.
    pub badge: Badge,
    /// Index of its answer to each question.
    pub choice: Vec<usize>,
    /// True if it is the headline's interpretation.
    pub headline: bool,
}
