//! What the reports of all papers are made of: cells, commands, notes, time series, tests of differences,
//! tables of verdicts.

pub(crate) mod cells;
pub(crate) mod commands;
pub(crate) mod notes;
pub(crate) mod series;
pub(crate) mod significance;
pub(crate) mod tables;
pub(crate) mod verdicts;
