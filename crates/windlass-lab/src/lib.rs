//! The laboratory: scenarios, replications, statistics, claims and reports.
#![forbid(unsafe_code)]

pub mod capture;
pub mod claims;
pub mod compile;
pub mod experiment;
pub mod keep;
pub mod models;
pub mod outlook;
pub mod overview;
pub mod papers;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod scenario;
pub mod stats;
pub mod store;
pub mod units;

/// Version of Windlass, part of every stored result.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
