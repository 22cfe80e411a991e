//! Multipath TCP (RFC 8684): one stream over several subflows, each of them a TCP connection.
//!
//! * [`option`] is what the two ends tell each other in TCP options, as values.

pub mod option;

pub use option::{Dss, Mapping, MpOption};
