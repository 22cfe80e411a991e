//! The drawn parts of a chart: its series with their points, and its categories.

use super::model::{Chart, ChartPoint, ChartSeries, Mark, Scale};
use super::thin::{LIMIT, thinned};

/// Maximum number of points per line for which a chart shows every point. Otherwise the chart shows
/// only the curves, and the page's script shows the values at the pointer.
const DOTTED_LINE: usize = 30;

/// A series with the points that are drawn.
pub(super) struct Drawn<'a> {
    /// The series.
    pub series: &'a ChartSeries,
    /// Its points. For lines and steps they are in order of x on a numeric axis, and thinned if
    /// there are too many.
    pub points: Vec<&'a ChartPoint>,
}

impl Drawn<'_> {
    pub fn has_interval(&self) -> bool {
        self.points.iter().any(|p| p.lo.is_some() && p.hi.is_some())
    }

    pub fn has_interval_across(&self) -> bool {
        self.points.iter().any(|p| p.x_lo.is_some() && p.x_hi.is_some())
    }

    /// True if it is drawn as a curve instead of symbols or bars.
    pub fn is_curve(&self) -> bool {
        self.series.mark.is_curve()
    }
}

impl Mark {
    /// True if it is a curve instead of symbols or bars.
    pub(super) fn is_curve(self) -> bool {
        matches!(self, Mark::Line | Mark::Step | Mark::Band)
    }
}

/// True if the points of lines are shown as symbols, on all lines of a chart.
pub(super) fn dotted(drawn: &[Drawn<'_>]) -> bool {
    drawn.iter().all(|d| !d.is_curve() || d.points.len() <= DOTTED_LINE)
}

/// The points a chart draws.
pub(super) fn drawn(chart: &Chart) -> Vec<Drawn<'_>> {
    let numeric = chart.x.scale != Scale::Category;
    let draw = |series: &'_ ChartSeries| -> Vec<usize> {
        let mut order: Vec<usize> = (0..series.points.len()).collect();
        if numeric && series.mark.is_curve() {
            order.sort_by(|&a, &b| series.points[a].x.total_cmp(&series.points[b].x));
        }
        order
    };
    let pick = |series| {
        let ordered = draw(series).into_iter().map(|at| &series.points[at]).collect();
        let points = if numeric { thinned(ordered, LIMIT) } else { ordered };
        Drawn { series, points }
    };
    chart.series.iter().map(pick).collect()
}

/// Categories of a chart in the order of their first appearance; empty on a numeric axis.
pub(super) fn categories(chart: &Chart) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::new();
    if chart.x.scale == Scale::Category {
        let names =
            chart.series.iter().flat_map(|s| &s.points).filter_map(|p| p.category.as_deref());
        for name in names {
            if !out.contains(&name) {
                out.push(name);
            }
        }
    }
    out
}
