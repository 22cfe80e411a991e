//! The kernel as a home: an algorithm of [`windlass_cc`] as a congestion control of Linux, from the same source.
//!
//! `windlass kernel build` makes an [object] of an algorithm, by the recipe that also shows all of them to the
//! verifier. [`Algorithm::load`] puts one into the kernel that this process is on, with the parameters of a flow. Each event
//! that it is told of can be [recorded](record), and [replayed](replay) on the native core.

mod error;
mod kernel;
mod libbpf;
pub mod object;
mod options;
pub mod pins;
pub mod record;
pub mod replay;

pub use error::Error;
pub use kernel::{Algorithm, Release, check, params_of};
pub use libbpf::{Attached, Statistics};
