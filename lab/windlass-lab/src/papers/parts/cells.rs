//! Judgements and summaries as text for cells and sentences.

pub(crate) use windlass_report::numbers::{NONE, interval, optional, printed, signed};

use crate::claims::Judgement;
use crate::report::numbers::number;
use crate::stats::Summary;

/// Value and interval of a judgement.
pub(crate) fn measured(j: &Judgement) -> String {
    match (j.measured, j.ci95) {
        (Some(v), Some([low, high])) if low < high => interval(v, low, high),
        (v, _) => optional(v),
    }
}

/// Median and interval of a summary.
pub(crate) fn median(s: &Summary) -> String {
    match s.ci95_median {
        Some([low, high]) if low < high && s.median.is_finite() => interval(s.median, low, high),
        _ => number(s.median),
    }
}

/// Mean and interval of a summary, or the sign of a missing value.
pub(crate) fn mean(s: Option<Summary>) -> String {
    match s {
        None => NONE.to_owned(),
        Some(Summary { mean, ci95_mean: Some([low, high]), .. }) if low < high => {
            interval(mean, low, high)
        }
        Some(s) => number(s.mean),
    }
}
