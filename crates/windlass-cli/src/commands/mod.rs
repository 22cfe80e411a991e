//! One module a verb.

pub mod algorithms;
pub mod bench;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub mod calibrate;
pub mod compare;
pub mod completions;
pub mod conform;
pub mod crosscheck;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub mod interop;
pub mod making;
pub mod paper;
pub mod papers;
pub mod presets;
pub mod report;
pub mod reproduce;
pub mod run;
#[cfg(all(feature = "linux", target_os = "linux"))]
pub mod script;
pub mod sweep;
