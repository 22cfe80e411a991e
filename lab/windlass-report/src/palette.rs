//! Colours, symbols and dashes. A series' name has the same style throughout a report.

use std::collections::BTreeMap;

use super::model::{Block, ChartSeries, Mark, Report, Tone};

/// The colour of text and axes, which follows the page's light or dark mode.
pub(super) const INK: &str = "currentColor";

/// Okabe and Ito's colours, which are distinguishable with any colour vision (M. Okabe and K. Ito,
/// "Color Universal Design", 2008). The colours with the best contrast on white and on near-black
/// are first. Their yellow is left out (1.3:1 on white); their black is [`INK`].
const COLOURS: [&str; 6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];

/// Vega's symbol names, so that points differ without colour. The diamond is for published values.
const SHAPES: [&str; 6] =
    ["circle", "square", "triangle-up", "triangle-down", "cross", "triangle-right"];

/// Dashes in pixels; a new dash for each round through the colours.
const DASHES: [&[u8]; 4] = [&[], &[7, 3], &[2, 2], &[9, 3, 2, 3]];

/// The style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Style {
    /// CSS colour.
    pub colour: &'static str,
    /// Vega symbol for its points.
    pub shape: &'static str,
    /// Dash of its lines; empty for a solid line.
    pub dash: &'static [u8],
}

impl Style {
    const PAPER: Style = Style { colour: INK, shape: "diamond", dash: &[] };

    fn nth(n: usize) -> Style {
        Style {
            colour: COLOURS[n % COLOURS.len()],
            shape: SHAPES[n % SHAPES.len()],
            dash: DASHES[n / COLOURS.len() % DASHES.len()],
        }
    }
}

/// The styles of all series names of a report.
#[derive(Clone, Debug)]
pub(super) struct Palette {
    styles: BTreeMap<String, Style>,
}

impl Palette {
    /// Gives every name a style in the order of first appearance. The first name of published
    /// values gets the ink, so that they look like print next to the coloured series.
    pub fn of(report: &Report) -> Palette {
        let mut styles = BTreeMap::new();
        let mut given = 0;
        let mut ink_free = true;
        for series in all_series(report) {
            if styles.contains_key(&series.name) || matches!(series.mark, Mark::Bound(_)) {
                continue;
            }
            let style = if series.mark == Mark::Paper && ink_free {
                ink_free = false;
                Style::PAPER
            } else {
                given += 1;
                Style::nth(given - 1)
            };
            styles.insert(series.name.clone(), style);
        }
        Palette { styles }
    }

    /// The style of a series: the style of its name, with the diamond for published values.
    pub fn style(&self, series: &ChartSeries) -> Style {
        let style = self.styles.get(&series.name).copied().unwrap_or(Style::PAPER);
        match series.mark {
            Mark::Bound(tone) => Style { colour: tone_colour(tone), shape: "stroke", dash: &[] },
            Mark::Paper => Style { shape: "diamond", ..style },
            _ => style,
        }
    }
}

/// The colour of a verdict's badge, as in the style sheet for print.
fn tone_colour(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "#00664a",
        Tone::Near => "#0b4f8a",
        Tone::Bad => "#a33a00",
        Tone::None => "#777777",
    }
}

fn all_series(report: &Report) -> impl Iterator<Item = &ChartSeries> {
    report
        .sections
        .iter()
        .flat_map(|section| &section.blocks)
        .flat_map(|block| match block {
            Block::Chart(chart) => vec![chart],
            Block::Timeline(timeline) => timeline.charts.iter().collect(),
            _ => Vec::new(),
        })
        .flat_map(|chart| &chart.series)
}
