//! Median or mean.

use serde::Deserialize;

/// Summary of the runs of a point in cells and charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Summing {
    /// Median, with the interval between two order statistics.
    #[default]
    Median,
    /// Mean, with Student's interval.
    Mean,
}
