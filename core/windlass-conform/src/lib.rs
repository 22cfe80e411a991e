//! The test vectors (conformance vectors): event files for a comparison with any implementation of an
//! algorithm.
//!
//! A vector is a file of events with the expected cwnd, ssthresh and pacing rate after each event
//! ([`format`](mod@format), described in `docs/src/inside/conformance.md`). The expected values come from
//! floating-point [`models`] of the equations of RFCs and papers. The models share no code with the integer
//! algorithms. [`vectors()`] plays the scripts of [`cases`] to them through a small [`host`].
//!
//! [`check`] compares Windlass's algorithms with the files. [`bytes`] converts arbitrary bytes to histories,
//! for fuzzing. A [`recording`] is a vector that a host has written of the events that it gave an algorithm.

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
pub mod words;

pub use check::{CheckError, Mismatch, Outcome, check_file};
pub use generate::{File, vectors, write};
