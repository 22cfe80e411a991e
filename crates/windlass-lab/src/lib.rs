//! The laboratory: from a scenario file to verdicts on a paper's claims.
//!
//! # The way of a result
//!
//! 1. A [`scenario`] file says what to simulate, with units; [`compile`] turns it into what the
//!    simulator takes. The [`world`] it runs in is the simulator, this machine's kernel, or a kernel
//!    in virtual time ([`guest`]).
//! 2. An [`experiment`] varies a scenario along axes and repeats each point over seeds. Every run
//!    is a [`run::Task`]; [`run::execute`] makes many side by side, and their number or order
//!    changes no byte of any result.
//! 3. The [`store`] keeps each finished run in a journal that survives a kill at any moment, and
//!    exports tables as Parquet, CSV and JSON; [`capture`] writes packets as pcapng.
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
//! Quantities with units are in [`units`]. What the command line prints of a scenario and its runs
//! is in [`overview`], [`outlook`] and [`hindsight`]; what `windlass run --out` writes is in [`keep`].
//! Algorithms are held against each other in [`compare`]; Windlass's are held against a kernel's in [`crosscheck`]. Arrow and Parquet are known
//! to [`store`] only, TOML to [`scenario`], [`experiment`] and [`claims`], HTML to [`report`].
#![forbid(unsafe_code)]

pub mod calibration;
pub mod capture;
pub mod catalogue;
pub mod claims;
pub mod compare;
pub mod crosscheck;
pub mod experiment;
pub mod guest;
pub mod hindsight;
pub mod keep;
pub mod overview;
pub mod papers;
pub mod reproduce;
pub mod run;
pub mod store;
pub mod sweep;
pub mod world;

pub use windlass_report as report;
pub use windlass_scenario as scenario;
pub use windlass_scenario::{compile, outlook, units};
pub use windlass_stats as stats;
pub use windlass_stats::models;

/// Version of Windlass with a fingerprint of the sources that decide what a run yields, part of
/// every stored result: runs made by other code are made again.
pub const VERSION: &str = env!("WINDLASS_VERSION");

/// The same for runs on kernels, which the simulator's endpoints and algorithms have no part in.
pub const TESTBED_VERSION: &str = env!("WINDLASS_TESTBED_VERSION");
