//! TCP endpoints without input or output.
#![forbid(unsafe_code)]

pub mod endpoint;
pub mod reassembly;
pub mod segment;
pub mod seq;
pub mod stack;
pub mod wire;

pub use endpoint::{Endpoint, Failure, Profile, State, Stats};
pub use segment::{Flags, Options, SackBlock, Segment, Timestamps};
pub use seq::Seq;
pub use stack::{InitialWindow, Preset, StackConfig};
