//! Runs of a scenario, many side by side, and the folder that keeps them.
//!
//! A [`Task`] is one run to be made: a scenario, a seed and the [`World`] that it runs in. A
//! [`Runner`] makes tasks on its [`Backend`]s, of which the simulator is built in; their number
//! or order changes no byte of any [`RunRecord`]. A [`store::Store`] keeps each finished run, in memory or in a
//! journal that survives a kill at any moment, and exports tables as Parquet, CSV and JSON; [`keep`] is a
//! folder with runs and their recordings, [`capture`] writes packets as pcapng.
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
//! Parquet is known to [`store`] only.
#![forbid(unsafe_code)]

mod backend;
pub mod capture;
mod course;
mod error;
pub mod fields;
pub mod keep;
mod key;
mod pcapng;
mod record;
mod runner;
mod simulator;
pub mod store;
mod task;
mod version;
mod world;

pub use backend::{Backend, Ran, RunError, no_kernels};
pub use course::{Course, Drops};
pub use error::Error;
pub use record::{RunRecord, Steady};
pub use runner::Runner;
pub use simulator::{Controllers, Simulator, simulate, simulate_as};
pub use task::{Failed, Task, form};
pub use version::VERSION;
pub use world::{KernelSeries, World};
