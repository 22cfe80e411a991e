//! A configuration on this machine: kernel sockets in network namespaces, joined by the simulator.

mod error;
mod lateness;
pub mod namespace;
pub mod netlink;
pub(crate) mod sys;
pub mod tun;

pub use error::Error;
pub use lateness::{Bound, Lateness};
