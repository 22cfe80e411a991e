//! The kernel integration: an algorithm of [`windlass_cc`] as a congestion control of Linux, built from the
//! same source.
//!
//! `windlass kernel build` builds an [object] of an algorithm. The same recipe also passes all algorithms to
//! the verifier. [`Algorithm::load`] loads an object into the running kernel, with the parameters of a flow.
//! Each event that the algorithm receives can be [recorded](record), and [replayed](replay) on the native
//! core.

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
