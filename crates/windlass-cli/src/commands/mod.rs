//! One module a verb.

pub mod algorithms;
pub mod bench;
pub mod completions;
pub mod conform;
pub mod crosscheck;
pub mod papers;
pub mod presets;
pub mod report;
pub mod reproduce;
pub mod run;
