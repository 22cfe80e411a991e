//! Results on a page: one self-contained HTML file, or [`text`] for a terminal.
//!
//! A program with results builds a [`model::Report`]. [`html::render`] turns it into one page that opens from disk
//! without a network. A page has text, tables with verdicts, charts (Vega-Lite, drawn by the embedded library) and SVG
//! drawings: packet exchanges, maps of stations, statements and specification curves.
//!
//! ```
//! use windlass_report::{html, model::Report};
//!
//! let report = Report { title: "An empty report".into(), ..Report::default() };
//! let page = html::render(&report)?;
//! assert!(page.starts_with("<!doctype html>"));
//! # Ok::<(), windlass_report::ReportError>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod chart;
mod chart_axes;
mod check;
mod curve;
mod drawn;
mod heat;
pub mod html;
pub mod laboratory;
mod ladder;
mod ladder_layout;
mod map;
pub mod markdown;
pub mod model;
pub mod numbers;
mod palette;
mod prose;
mod statements;
pub mod text;
mod thin;
mod timeline;
mod view;

pub use check::{ReportError, check_page};

#[cfg(test)]
mod tests;
