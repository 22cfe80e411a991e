//! The conformance kit: event vectors that any implementation of an algorithm can be held against.
//!
//! A vector is a file of events with the window, threshold and pacing rate that are expected after
//! each ([`format`](mod@format), described in `docs/src/inside/conformance.md`). The expected values come from
//! floating-point [`models`] of the RFCs' and papers' equations, which share nothing with the
//! integer algorithms; [`generate()`] plays the scripts of [`cases`] to them through a [`host`] in
//! miniature. [`check`] holds our algorithms against the files. [`bytes`] makes histories of
//! arbitrary bytes, for fuzzing. A [`recording`] is a vector that a host has made of what it told an algorithm.

#![forbid(unsafe_code)]

pub mod bytes;
pub mod cases;
pub mod check;
pub mod format;
mod generate;
pub mod host;
pub mod models;
pub mod parameters;
pub mod paths;
pub mod recording;
pub mod script;
pub mod subjects;
mod words;

pub use check::{CheckError, Mismatch, Outcome, check_file};
pub use generate::{File, generate};
