//! TCP endpoints without input or output.
#![forbid(unsafe_code)]

pub mod segment;
pub mod seq;
pub mod stack;
pub mod wire;

pub use segment::{Flags, Options, SackBlock, Segment, Timestamps};
pub use seq::Seq;
pub use stack::{InitialWindow, Preset, StackConfig};
