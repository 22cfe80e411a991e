//! The first screen of a report: the claims of the abstract with their verdicts, then every statement.

mod answers;
mod file;
mod rows;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use answers::{Asked, answers};
pub(crate) use file::{FILE, sentences};
pub(crate) use rows::glance;
