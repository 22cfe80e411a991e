//! Charts as the figures of papers need them.

use crate::report::model::{Chart, ChartAxis, ChartPoint, ChartSeries, Mark, Scale};

/// An axis.
pub(crate) fn axis(label: &str, scale: Scale) -> ChartAxis {
    ChartAxis { label: label.to_owned(), scale }
}

/// A series.
pub(crate) fn series(name: &str, mark: Mark, points: Vec<ChartPoint>) -> ChartSeries {
    ChartSeries { name: name.to_owned(), mark, points }
}

/// Something over the time of a run.
pub(crate) fn over_time(id: &str, caption: &str, y: &str, all: Vec<ChartSeries>) -> Chart {
    Chart {
        id: id.to_owned(),
        caption: caption.to_owned(),
        x: axis("Time (s)", Scale::Linear),
        y: axis(y, Scale::Linear),
        series: all.into_iter().filter(|s| !s.points.is_empty()).collect(),
        zoom: true,
    }
}
