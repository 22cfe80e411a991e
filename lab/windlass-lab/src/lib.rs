//! The laboratory: from a scenario file to verdicts on a paper's claims.
//!
//! # From scenario to verdict
//!
//! 1. A [`scenario`] file describes a network and its flows, with units. [`compile`] turns it into the
//!    simulator's configuration.
//! 2. An [`experiment`] varies a scenario along axes and repeats each point over seeds. Every run
//!    is a [`run::Task`]. A [`run::Runner`] runs many in parallel, in the simulator, on this machine's
//!    kernel or on a kernel in virtual time. The number and order of parallel runs change no byte of a
//!    result.
//! 3. The [`run::store`] keeps each finished run in a journal that survives a kill at any time, and exports
//!    tables as Parquet, CSV and JSON. [`run::capture`] writes packets as pcapng. A [`sweep`] makes an
//!    experiment of any scenario, and adds runs until its intervals are narrow enough.
//! 4. [`stats`] summarises runs as medians and means with 95 % intervals. [`models`] has closed
//!    forms to compare them with.
//! 5. [`claims`] are the statements of a paper in checkable form. Judging them on the runs gives
//!    each a verdict.
//! 6. A paper ([`papers`]) is a folder of scenarios, experiments, claims, fidelity notes, and the
//!    tables and figures of its report. [`reproduce`] does all these steps for it, and [`report`]
//!    writes one HTML file.
//!
//! # Example
//!
//! ```
//! use windlass_lab::run::simulate;
//! use windlass_lab::scenario::Scenario;
//!
//! let text = r#"
//!     duration = "20s"
//!     [[link]]
//!     between = ["sensor", "gateway"]
//!     rate = "250kbps"
//!     delay = "20ms"
//!     [[flow]]
//!     from = "sensor"
//!     to = "gateway"
//!     algorithm = "reno"
//!     traffic = { kind = "bulk", bytes = "100kB" }
//! "#;
//! let scenario = Scenario::from_str(text, "sensor.toml")?;
//! let result = simulate(&scenario, scenario.seed)?;
//! assert_eq!(result.flows[0].delivered_bytes, 100_000);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! Scenarios, runs, statistics and reports are separate crates, which this crate re-exports.
//!
//! * [`overview`], [`outlook`] and [`hindsight`] make the tables, the summary and the warnings that the
//!   command line prints.
//! * [`audit`] judges TCP and QUIC stacks by their packets.
//! * [`assess`] grades an algorithm by a set of criteria.
//! * [`choose`] recommends an algorithm for a network.
//! * [`adversary`] searches for the network behaviour that harms an algorithm most.
//! * [`why`] explains each cwnd reduction.
//! * [`diff`] compares two folders of results.
//! * [`compare`] compares algorithms with each other.
//! * [`crosscheck`] compares Windlass's algorithms with a kernel's.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod adversary;
pub mod assess;
pub mod audit;
pub mod catalogue;
pub mod choose;
pub mod claims;
pub mod compare;
mod cost;
pub mod crosscheck;
mod dice;
pub mod diff;
mod error;
pub mod experiment;
mod front;
mod hash;
pub mod hindsight;
pub mod overview;
pub mod pack;
pub mod papers;
mod passage;
pub mod readings;
pub mod reproduce;
pub mod run_page;
mod stations;
pub mod sweep;
mod template;
pub mod why;

pub use error::Error;
pub use windlass_report as report;
pub use windlass_run as run;
pub use windlass_run::Shard;
pub use windlass_scenario as scenario;
pub use windlass_scenario::{compile, outlook, units};
pub use windlass_stats as stats;
pub use windlass_stats::models;
