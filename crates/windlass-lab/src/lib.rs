//! The laboratory: from a scenario file to verdicts on a paper's claims.
//!
//! # The way of a result
//!
//! 1. A [`scenario`] file says what to simulate, with units; [`compile`] turns it into what the
//!    simulator takes.
//! 2. An [`experiment`] varies a scenario along axes and repeats each point over seeds. Every run
//!    is a [`run::Task`]; a [`run::Runner`] makes many side by side, in the simulator, on this machine's kernel
//!    or on one in virtual time, and their number or order changes no byte of any result.
//! 3. The [`run::store`] keeps each finished run in a journal that survives a kill at any moment, and
//!    exports tables as Parquet, CSV and JSON; [`run::capture`] writes packets as pcapng.
//!    A [`sweep`] makes an experiment of any scenario, and as many runs as its intervals need.
//! 4. [`stats`] sums up runs as medians and means with 95 % intervals; [`models`] are the closed
//!    forms to hold them against.
//! 5. [`claims`] are the statements of a paper in checkable form; judging them on the runs gives
//!    one of four verdicts each.
//! 6. A paper ([`papers`]) is a folder of scenarios, experiments, claims and fidelity notes and a
//!    module that draws its tables and figures; [`reproduce`] does all of the above for it, and
//!    [`report`] makes one HTML file of it.
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
//! # Where things are
//!
//! Scenarios, runs, statistics and reports are crates of their own, under names of this one. What the
//! command line prints of a scenario and its runs is in [`overview`], [`outlook`] and [`hindsight`].
//! [`assess`] puts an algorithm through an
//! examination, [`choose`] advises one for a network, and an
//! [`adversary`] searches for the worst that can be done to one. [`why`] says why a window fell, and [`diff`] holds two folders of results against each other. Algorithms are held against each other in [`compare`]; Windlass's are held against a kernel's in
//! [`crosscheck`]. TOML is known to [`scenario`], [`experiment`] and [`claims`] only.
#![forbid(unsafe_code)]

pub mod adversary;
pub mod assess;
pub mod catalogue;
pub mod choose;
pub mod claims;
pub mod compare;
pub mod crosscheck;
mod dice;
pub mod diff;
mod error;
pub mod experiment;
mod front;
mod hash;
pub mod hindsight;
pub mod overview;
pub mod papers;
mod passage;
pub mod readings;
pub mod reproduce;
pub mod run_page;
mod shard;
mod stations;
pub mod sweep;
mod template;
pub mod why;

pub use error::Error;
pub use shard::Shard;
pub use windlass_report as report;
pub use windlass_run as run;
pub use windlass_scenario as scenario;
pub use windlass_scenario::{compile, outlook, units};
pub use windlass_stats as stats;
pub use windlass_stats::models;
