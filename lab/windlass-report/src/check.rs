//! Checks that a report can be drawn.

use std::collections::BTreeSet;

use super::model::{
    Block, Chart, Curve, HeatMap, Ladder, NetworkMap, Report, Scale, Section, Table,
};

/// Anchors that the page itself uses.
const RESERVED: [&str; 4] = ["content", "contents", "verdicts", "provenance"];

/// The reason why a report cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// An anchor is empty or has characters that do not work in a link.
    #[error(
        "the report's anchor {id:?} is not usable in a link; \
         use ASCII letters, digits, `-`, `_` and `.`, and begin with a letter"
    )]
    BadAnchor {
        /// The anchor.
        id: String,
    },
    /// Two parts of the report have the same anchor, or the page uses the anchor.
    #[error(
        "the report uses the anchor {id:?} twice; every section, table, chart and ladder needs its own (`content`, `contents`, `verdicts` and `provenance` are taken)"
    )]
    DuplicateAnchor {
        /// The anchor.
        id: String,
    },
    /// A row has more or fewer cells than the table has columns.
    #[error("row {row} of table {table:?} has {cells} cells for {columns} columns")]
    RowWidth {
        /// Anchor of the table.
        table: String,
        /// Row, counted from 1.
        row: usize,
        /// Cells in the row.
        cells: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// A value of a chart is infinite or not a number.
    #[error(
        "point {point} of series {series:?} in chart {chart:?} has a value that is not finite; leave points without a value out"
    )]
    NotFinite {
        /// Anchor of the chart.
        chart: String,
        /// Name of the series.
        series: String,
        /// Point, counted from 1.
        point: usize,
    },
    /// A value on a logarithmic axis is zero or negative.
    #[error(
        "point {point} of series {series:?} in chart {chart:?} is not positive on the logarithmic axis {axis:?}; use a linear axis or leave the point out"
    )]
    NotPositive {
        /// Anchor of the chart.
        chart: String,
        /// Name of the series.
        series: String,
        /// Point, counted from 1.
        point: usize,
        /// Label of the axis.
        axis: String,
    },
    /// A point on a category axis has no category.
    #[error(
        "point {point} of series {series:?} in chart {chart:?} has no category, though the horizontal axis is one of categories"
    )]
    NoCategory {
        /// Anchor of the chart.
        chart: String,
        /// Name of the series.
        series: String,
        /// Point, counted from 1.
        point: usize,
    },
    /// The vertical axis is one of categories.
    #[error(
        "the vertical axis of chart {chart:?} is one of categories; only the horizontal axis can be"
    )]
    CategoryValues {
        /// Anchor of the chart.
        chart: String,
    },
    /// Two series of a chart share a name.
    #[error("chart {chart:?} has two series named {series:?}; the legend needs distinct names")]
    DuplicateSeries {
        /// Anchor of the chart.
        chart: String,
        /// The name.
        series: String,
    },
    /// The times of a message are impossible.
    #[error(
        "message {message} of ladder {ladder:?} must have finite times and arrive no earlier than it left"
    )]
    MessageTimes {
        /// Anchor of the ladder.
        ladder: String,
        /// Message, counted from 1.
        message: usize,
    },
    /// A cell of a heat map is not a finite number.
    #[error("heat map {id:?} has a cell whose value is not a finite number; leave such cells out")]
    BadHeat {
        /// Anchor.
        id: String,
    },
    /// A value of a specification curve is not a finite number.
    #[error("curve {id:?} has a value that is not a finite number; leave such points out")]
    BadCurve {
        /// Anchor.
        id: String,
    },
    /// A station of a map has no finite place, or too many or too few cells, or a route has an
    /// unknown station.
    #[error(
        "map {id:?}: station {station} needs a finite place, a finite value or none, and a cell for \
         each of the {columns} further columns; routes lead over stations of the map only"
    )]
    BadMap {
        /// Anchor.
        id: String,
        /// Station, counted from 1.
        station: usize,
        /// Further columns of the map's table.
        columns: usize,
    },
    /// A value could not be written as JSON, which is a defect of this crate.
    #[error("a chart could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// Checks a whole report.
pub(super) fn check(report: &Report) -> Result<(), ReportError> {
    check_page(&report.sections).map_err(|(_, error)| error)
}

/// Checks the sections of one page.
///
/// # Errors
///
/// The error, and the anchor of the section or block with the error.
pub fn check_page(sections: &[Section]) -> Result<(), (&str, ReportError)> {
    let mut seen: BTreeSet<&str> = RESERVED.into();
    let mut part = |id, right: Result<(), ReportError>| {
        claim_anchor(&mut seen, id).and(right).map_err(|error| (id, error))
    };
    for section in sections {
        part(&section.id, Ok(()))?;
        for block in &section.blocks {
            match block {
                Block::Text { .. } | Block::List { .. } | Block::Command { .. } => {}
                Block::Table(table) => part(&table.id, check_table(table))?,
                Block::Chart(chart) => part(&chart.id, check_chart(chart))?,
                Block::Heat(map) => part(&map.id, check_heat(map))?,
                Block::Ladder(ladder) => part(&ladder.id, check_ladder(ladder))?,
                Block::Map(map) => part(&map.id, check_map(map))?,
                Block::Statements(s) => part(&s.id, Ok(()))?,
                Block::Curve(c) => part(&c.id, check_curve(c))?,
                Block::Timeline(t) => {
                    t.charts.iter().try_for_each(|chart| part(&chart.id, check_chart(chart)))?;
                }
                Block::Stories(stories) => {
                    for story in stories {
                        part(&story.id, Ok(()))?;
                        if let Some(ladder) = &story.ladder {
                            part(&ladder.id, check_ladder(ladder))?;
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

fn check_heat(map: &HeatMap) -> Result<(), ReportError> {
    match map.cells.iter().all(|c| c.value.is_finite()) {
        true => Ok(()),
        false => Err(ReportError::BadHeat { id: map.id.clone() }),
    }
}

fn check_curve(curve: &Curve) -> Result<(), ReportError> {
    let ends = curve.points.iter().flat_map(|p| [Some(p.value), p.low, p.high]);
    match ends.flatten().all(f64::is_finite) {
        true => Ok(()),
        false => Err(ReportError::BadCurve { id: curve.id.clone() }),
    }
}

fn check_map(map: &NetworkMap) -> Result<(), ReportError> {
    let columns = map.columns.len();
    let bad = map.places.iter().position(|p| {
        let finite = p.at.iter().chain(&p.value).all(|v| v.is_finite());
        !finite || p.more.len() != columns
    });
    let beyond = map.routes.iter().flatten().find(|at| **at >= map.places.len());
    match bad.or(beyond.copied()) {
        None => Ok(()),
        Some(at) => Err(ReportError::BadMap { id: map.id.clone(), station: at + 1, columns }),
    }
}

fn claim_anchor<'a>(seen: &mut BTreeSet<&'a str>, id: &'a str) -> Result<(), ReportError> {
    let usable = id.starts_with(|c: char| c.is_ascii_alphabetic())
        && id.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if !usable {
        return Err(ReportError::BadAnchor { id: id.to_owned() });
    }
    if !seen.insert(id) {
        return Err(ReportError::DuplicateAnchor { id: id.to_owned() });
    }
    Ok(())
}

fn check_table(table: &Table) -> Result<(), ReportError> {
    let columns = table.columns.len();
    match table.rows.iter().position(|row| row.cells.len() != columns) {
        None => Ok(()),
        Some(at) => Err(ReportError::RowWidth {
            table: table.id.clone(),
            row: at + 1,
            cells: table.rows[at].cells.len(),
            columns,
        }),
    }
}

fn check_chart(chart: &Chart) -> Result<(), ReportError> {
    if chart.y.scale == Scale::Category {
        return Err(ReportError::CategoryValues { chart: chart.id.clone() });
    }
    let mut names = BTreeSet::new();
    for series in &chart.series {
        if !names.insert(&series.name) {
            return Err(ReportError::DuplicateSeries {
                chart: chart.id.clone(),
                series: series.name.clone(),
            });
        }
        for (at, point) in series.points.iter().enumerate() {
            let place = || (chart.id.clone(), series.name.clone(), at + 1);
            let categorical = chart.x.scale == Scale::Category;
            if categorical && point.category.is_none() {
                let (chart, series, point) = place();
                return Err(ReportError::NoCategory { chart, series, point });
            }
            let x = (!categorical).then_some(point.x);
            let values = [x, Some(point.y), point.lo, point.hi, point.x_lo, point.x_hi];
            if values.iter().flatten().any(|v| !v.is_finite()) {
                let (chart, series, point) = place();
                return Err(ReportError::NotFinite { chart, series, point });
            }
            for (axis, value) in [(&chart.x, point.x), (&chart.y, point.y)] {
                if !axis.fits(value) {
                    let (chart, series, point) = place();
                    let axis = axis.label.clone();
                    return Err(ReportError::NotPositive { chart, series, point, axis });
                }
            }
        }
    }
    Ok(())
}

fn check_ladder(ladder: &Ladder) -> Result<(), ReportError> {
    let sound = |sent: f64, received: Option<f64>| {
        sent.is_finite() && received.is_none_or(|at| at.is_finite() && at >= sent)
    };
    match ladder.messages.iter().position(|m| !sound(m.sent_s, m.received_s)) {
        None => Ok(()),
        Some(at) => Err(ReportError::MessageTimes { ladder: ladder.id.clone(), message: at + 1 }),
    }
}
