//! A deterministic discrete-event network.
#![forbid(unsafe_code)]

pub mod results;

pub use results::{FlowResult, LinkResult, PacketEvent, PacketFate, RunResult, Sample, Series};
