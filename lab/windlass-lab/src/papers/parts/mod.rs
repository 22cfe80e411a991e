//! The parts of all papers' reports: cells, commands, notes, time series, tests of differences, and tables of
//! verdicts.

pub(crate) mod cells;
pub(crate) mod commands;
pub(crate) mod notes;
pub(crate) mod series;
pub(crate) mod significance;
pub(crate) mod tables;
pub(crate) mod verdicts;
