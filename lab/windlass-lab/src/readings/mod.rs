//! Verdicts on a paper's claims under every plausible interpretation of the paper.
//!
//! A paper leaves questions open, and a verdict under one interpretation depends on its answers. The file
//! `readings.toml` in a paper's folder has one axis for each question. An axis lists the answers that a careful
//! reader might give, such as the paper's text, the default of its simulator, or the standard of its year.
//! ```toml
//! [[axis]]
//! id = "TM-11"                      # the fidelity note
//! question = "Which queue is at the bottleneck?"
//! [[axis.alternative]]
//! name = "traffic-control"
//! why = "The simulator's default"
//! kind = "simulator"                # or literal, standard, other
//! [[axis.alternative]]
//! name = "device"
//! why = "The device queue alone"
//! kind = "other"
//! algorithm = "cubic"               # only if a flow runs it, and flow.* means these flows
//! set = { "link.bottleneck.queue" = "100pkt" }
//! ```
//!
//! - `set` changes the scenario before the point's own settings, and `over` after them.
//! - `claims` changes values in the `let` table of `claims.toml`.
//! - `experiments` limits the alternative to some experiments, and `at` to points with one of its coordinates, such
//!   as `p=1%`.
//! - `fails` is the reason why an alternative cannot run.
//!
//! Exactly one alternative changes nothing. It must be the headline's answer by the rule of [`Kind`].
//!
//! A [`Survey`] makes the runs in this order:
//!
//! 1. the headline, and each alternative alone
//! 2. all combinations on the axes that moved a verdict
//! 3. interpretations drawn over all axes
//! 4. more seeds for undecided claims
//!
//! It stops when its budget of simulated events is used up, and it never repeats a finished run. The [`Outcome`]
//! has, for each claim, the number of interpretations in which it holds, and the question that decides.

mod file;
mod order;
mod outcome;
mod overlap;
mod page;
mod symmetry;
mod work;

pub use file::{Alternative, Axis, FILE, Kind, Reading, Readings};
pub use outcome::{Asked, Made, Outcome, Seen, Stage, Standing};
pub use page::SECTION;
pub(crate) use page::section;
pub use work::{Budget, Survey};

#[cfg(test)]
mod tests;
