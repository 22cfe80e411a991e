//! Medians, means and confidence intervals.
