//! What the reports of all papers are made of: cells, tables of verdicts, commands, series, notes.

pub(crate) mod cells;
pub(crate) mod commands;
pub(crate) mod notes;
pub(crate) mod series;
pub(crate) mod tables;
pub(crate) mod verdicts;
