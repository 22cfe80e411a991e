//! The report: one self-contained HTML file.
//!
//! A paper's code builds a [`model::Report`]; [`html::render`] turns it into one page that
//! opens from disk without a network: text, tables with verdicts, charts (Vega-Lite, drawn
//! by the embedded library), packet exchanges and maps of stations (SVG drawn here).
//!
//! ```
//! use windlass_lab::report::{html, model::Report};
//!
//! let report = Report { title: "An empty report".into(), ..Report::default() };
//! let page = html::render(&report)?;
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), windlass_lab::report::ReportError>(())
//! ```

mod chart;
mod chart_axes;
mod check;
mod heat;
pub mod html;
mod ladder;
mod ladder_layout;
mod map;
pub mod model;
mod palette;
mod prose;
mod thin;
mod view;

pub use check::ReportError;

#[cfg(test)]
mod tests;
