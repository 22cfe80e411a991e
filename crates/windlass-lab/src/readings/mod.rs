//! What a paper's claims come to under every plausible reading of it.
//!
//! A paper leaves much open, and a verdict under one reading says as much of the reading as of the paper. The file
//! `readings.toml` in a paper's folder asks one question an axis, and lists the answers that a careful reader might
//! give: what the text says, what the paper's simulator did by default, what the standard of its year was.
//!
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
//! `set` lies beneath what a point sets itself, `over` above it; `claims` gives names in the `let` table of
//! `claims.toml` other values; `experiments` limits it to some, `at` to points with one of the
//! coordinates that it lists, such as `p=1%`; `fails` says why an alternative cannot be run.
//! Exactly one alternative changes nothing, and it must be the one that the rule makes the headline's ([`Kind`]).
//!
//! A [`Survey`] makes the runs: the headline and each alternative alone; then all combinations on the axes that
//! moved a verdict; then readings drawn over all axes; then more seeds where claims are undecided. It stops when its
//! budget, counted in simulated events, is spent, and what it has run it never runs again. [`Outcome`] says of each
//! claim in how many readings it holds, and which question decides.

mod file;
mod order;
mod outcome;
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
