//! One module a verb.

pub mod algorithms;
pub mod bench;
pub mod calibrate;
pub mod compare;
pub mod completions;
pub mod conform;
pub mod crosscheck;
pub mod interop;
pub mod making;
pub mod papers;
pub mod presets;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod script;
pub mod sweep;
