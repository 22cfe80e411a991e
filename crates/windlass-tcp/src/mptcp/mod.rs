//! Multipath TCP (RFC 8684): one stream over several subflows, each of them a TCP connection.
//!
//! * [`option`] is what the two ends tell each other in TCP options, as values.
//! * [`keys`] is what they derive from the keys that they exchange.

pub mod keys;
pub mod option;

pub use option::{Dss, Mapping, MpOption};
