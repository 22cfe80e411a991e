//! A radio channel that stations share under IEEE 802.11's distributed coordination function (DCF).
//!
//! The parts: what a scenario says of it (`config`, `phy`), which of it can be simulated (`check`).

pub mod check;
pub mod config;
pub mod modulation;
pub mod phy;
pub mod propagation;

pub use config::{
    FrameErrors, Hops, PathLoss, Position, RadioConfig, Retries, RtsThreshold, StationConfig,
};
pub use phy::{Phy, Rate};
