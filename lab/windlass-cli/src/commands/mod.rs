//! One module per verb.

pub mod adversary;
pub mod algorithms;
pub mod artefact;
pub mod assess;
pub mod audit;
pub mod book;
pub mod choose;
pub mod compare;
pub mod completions;
pub mod crosscheck;
pub mod diff;
pub mod doctor;
pub mod explain;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub mod kernel;
pub mod making;
pub mod new;
pub mod paper;
pub mod papers;
pub mod play;
pub mod presets;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub mod replay;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod schema;
pub mod slurm;
pub mod sweep;
