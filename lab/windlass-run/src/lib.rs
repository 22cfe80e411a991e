//! Executes runs of scenarios, several at a time, and stores them in a folder.
//!
//! A [`Task`] is one run: a scenario, a seed and a [`World`], which is the backend. A [`Runner`] executes tasks
//! on its [`Backend`]s; the simulator is always one of them. The number and order of the tasks do not change a
//! byte of any [`RunRecord`].
//!
//! A [`store::Store`] keeps each finished run, in memory or in a journal that survives a kill at any time. It
//! exports tables as Parquet, CSV and JSON. A [`campaign`] makes the runs of a verb in a folder, and
//! [`capture`] writes packets as pcapng.
//!
//! ```
//! use windlass_run::simulate;
//! use windlass_scenario::Scenario;
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
//! Only [`store`] depends on Parquet.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod backend;
pub mod campaign;
pub mod capture;
mod course;
mod error;
pub mod fields;
mod key;
mod outside;
mod pcapng;
mod record;
mod recordings;
pub mod remote;
mod runner;
mod shard;
mod simulator;
pub mod store;
mod task;
mod version;
mod world;

pub use backend::{Backend, Ran, RunError, no_classes, no_kernels};
pub use campaign::{Campaign, Filled, Folder};
pub use course::{Course, Drops};
pub use error::Error;
pub use record::{RunRecord, Steady};
pub use runner::Runner;
pub use shard::Shard;
pub use simulator::{Controllers, Simulator, simulate, simulate_as};
pub use task::{Failed, Task, form};
pub use version::VERSION;
pub use world::{KernelSeries, World};
