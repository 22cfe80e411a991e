//! One module a verb.

pub mod adversary;
pub mod algorithms;
pub mod assess;
pub mod choose;
pub mod compare;
pub mod completions;
pub mod crosscheck;
pub mod explain;
pub mod making;
pub mod paper;
pub mod papers;
pub mod presets;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod schema;
pub mod slurm;
pub mod sweep;
