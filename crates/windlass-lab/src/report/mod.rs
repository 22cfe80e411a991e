//! The report: one self-contained HTML file.

pub mod model;
