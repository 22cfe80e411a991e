//! What of a chart is drawn: its series with their points, and its categories.

use super::model::{Chart, ChartPoint, ChartSeries, Mark, Scale};
use super::thin::{LIMIT, thinned};

/// A chart whose lines have at most this many points each shows every point; any other shows the
/// curves alone, and the page's script reads the values out under the pointer.
const DOTTED_LINE: usize = 30;

/// A series with the points that are drawn.
pub(super) struct Drawn<'a> {
    /// The series.
    pub series: &'a ChartSeries,
    /// Its points: by rising x on a numeric axis for lines and steps, thinned where too many.
    pub points: Vec<&'a ChartPoint>,
}

impl Drawn<'_> {
    pub fn has_interval(&self) -> bool {
        self.points.iter().any(|p| p.lo.is_some() && p.hi.is_some())
    }

    pub fn has_interval_across(&self) -> bool {
        self.points.iter().any(|p| p.x_lo.is_some() && p.x_hi.is_some())
    }

    /// Whether it is drawn as a curve rather than as symbols or bars.
    pub fn is_curve(&self) -> bool {
        self.series.mark.is_curve()
    }
}

impl Mark {
    /// Whether it is a curve rather than symbols or bars.
    pub(super) fn is_curve(self) -> bool {
        matches!(self, Mark::Line | Mark::Step | Mark::Band)
    }
}

/// Whether the points of the lines are shown as symbols: on all of a chart's lines or on none.
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

/// Categories of a chart in the order of their first appearance; none on a numeric axis.
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
